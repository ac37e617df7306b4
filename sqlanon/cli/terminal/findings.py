"""What a policy leaves open, for people."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import RenderableType
from rich.table import Table

from sqlanon.cli.terminal.tables import count, percent, plain, sentence_list, table
from sqlanon.model.release import Findings, Suppression


def findings_view(findings: Findings | None) -> list[RenderableType]:
    """What the policy leaves open, if there is anything."""
    if findings is None:
        return []
    heading = "Findings (for you alone: they do not travel with the release)"
    found: list[RenderableType] = [sentence_list(heading, findings.sentences)] if findings.sentences else []
    return [*found, _suppression_table(findings.suppression)] if findings.suppression else found


def _suppression_table(suppression: Iterable[Suppression]) -> Table:
    """The most and the least suppressed label of each quasi-identifier."""
    made = table(
        *("quasi-identifier", "level", "most suppressed", "", "least suppressed", ""),
        numbers=(1, 3, 5),
        title="How suppression falls (for you alone)",
    )
    for each in suppression:
        most, least = (f"{percent(group.share)} of {count(group.rows)}" for group in (each.most, each.least))
        names = plain(each.quasi_identifier), plain(each.most.name), plain(each.least.name)
        made.add_row(names[0], str(each.level), names[1], most, names[2], least)
    return made
