"""Second draws of a column: whoever has two of them can average them out, or intersect what they leave possible."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlanon.engines.duckdb import Engine
from sqlanon.errors import PolicyError
from sqlanon.model.destination import Destination
from sqlanon.model.names import enumerated, folded, in_quotes
from sqlanon.model.policy.policy import Policy
from sqlanon.model.record import readable_record
from sqlanon.publish.targets import target_at
from sqlanon.releases.listing import known_rows, policy_at
from sqlanon.releases.release_table import Row, have_common


def refuse_second_draws(engine: Engine, policy: Policy, datasets: Sequence[str], into: Destination) -> None:
    """Refuse to perturb a column that a listed release of the same data sets has perturbed, unless ``again`` is set.

    The list has the columns, wherever a release is now, but not in rows of earlier versions. A release at the target
    counts, too, if it is on no list, whatever it was made from.

    Raises:
        PolicyError: names the columns and the releases.
    """
    drawn = [name for name, each in policy.changes if not each.again]
    if not drawn:
        return

    def both(perturbed: Iterable[str]) -> str:
        before = {*map(folded, perturbed)}
        return enumerated(in_quotes(name) for name in sorted(drawn) if folded(name) in before)

    rows, held = known_rows(engine), readable_record(target_at(engine, into).held_note())
    problems = [
        f"{columns} in {row.target}"
        for row in rows
        if row.forgotten_at is None
        and have_common(datasets, row.datasets)
        and (columns := both(_perturbed(engine, row, policy)))
    ]
    listed = {row.record_sha256 for row in rows}
    unlisted = None if held is None or held.record_sha256 in listed else held.policy
    if unlisted is not None and (columns := both(unlisted.perturbed_columns)):
        problems.append(f"{columns} in {into.name}, which the run would replace")
    if problems:
        raise PolicyError(
            "listed releases of the same data have these columns perturbed, and two draws show more than one does: "
            "publish the earlier release, or set again = true in [perturbation.COLUMN] if nobody has both; a release "
            "that was never handed out can be forgotten (`sqlanon releases`):",
            problems,
        )


def _perturbed(engine: Engine, row: Row, policy: Policy) -> Sequence[str]:
    """Return the columns that a listed release perturbs; none if neither its row nor its record has them.

    A row of an earlier version has the hash of its policy, which may be that of the run.
    """
    if row.perturbed is not None:
        return row.perturbed
    if row.policy_sha256 == policy.sha256():
        return policy.perturbed_columns
    recorded = policy_at(engine, row)
    return () if recorded is None else recorded.perturbed_columns
