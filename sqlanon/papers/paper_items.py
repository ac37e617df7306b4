"""Items of the papers and their counterparts here: the rows of ``paper_items.csv``, as a document and as Markdown."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import Any

from sqlanon.papers import LISTED
from sqlanon.report.document import Document, Section, Table, paragraph

FOUND = "found again"
IN_SHAPE = "found again in shape"
NOT_FOUND = "not found again"
NOT_REPRODUCED = "not reproduced"
NOT_PUBLIC = "no public data"
NO_DATA = "nothing to reproduce"

MEANINGS = {  # of verdicts
    FOUND: "the printed numbers come out, within what chance or another classifier makes of them",
    IN_SHAPE: "the numbers differ, since data or hierarchies do, and what the paper concludes from them holds",
    NOT_FOUND: "the paper's conclusion does not hold here",
    NOT_REPRODUCED: "there are data, and nothing here computes them again",
    NOT_PUBLIC: "the data are not public, and nothing public stands in for them",
    NO_DATA: "an illustration or an example",
}

EXPERIMENTS = ("NAME", "paper", "minutes", "tables and figures")
ITEMS = ("item", "here", "verdict")

MARKDOWN = ".md"  # in the name of a guide, which may have an anchor


@dataclass(frozen=True)
class Item:
    """A definition, theorem, algorithm, table or figure."""

    paper: str  # as the source of a reproduction
    item: str  # as the paper numbers it
    subject: str
    names: tuple[str, ...]  # of Python (``sa.`` is the package), macros, guides, and tests of the repository
    note: str  # differences, the reason for a missing name, and the reason for the verdict
    verdict: str  # of tables and figures, empty for others
    experiment: str  # empty if there is none

    def cells(self, spelled: Callable[[str], str]) -> tuple[str, str, str]:
        here = ". ".join(filter(None, (", ".join(map(spelled, self.names)), self.note)))
        experiment = f" ({self.experiment})" if self.experiment else ""
        return (f"{self.item}: {self.subject}", here, f"{self.verdict}{experiment}")


@cache
def paper_items() -> tuple[Item, ...]:
    text = files("sqlanon.papers").joinpath("paper_items.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return tuple(Item(names=tuple(row.pop("names").split()), **row) for row in rows)


def by_paper() -> Iterator[tuple[str, list[Item]]]:
    return ((paper, [*items]) for paper, items in groupby(paper_items(), lambda each: each.paper))


def items_document() -> Document:
    """List the experiments with their minutes, the meanings of verdicts, and the items of each paper."""
    experiments = [
        (each["name"], each["paper"], str(each["minutes"]), "; ".join(each["items"])) for each in experiments_listed()
    ]
    return Document(
        "Experiments and items of the papers",
        (
            paragraph("sqlanon reproduce NAME --out DIR runs an experiment; minutes are of two idle cores."),
            Table(EXPERIMENTS, experiments, numbers=(2,), title="Experiments"),
            Table(("verdict", "what it means"), [*MEANINGS.items()], title="Verdicts"),
            *(
                Section(paper, (Table(ITEMS, [_without_marks(each.cells(_in_a_terminal)) for each in items]),))
                for paper, items in by_paper()
            ),
        ),
    )


def experiments_listed() -> list[dict[str, Any]]:
    """List each experiment with its paper, its minutes, and the items that it computes again."""
    return [
        {
            "name": name,
            "paper": row["source"],
            "minutes": int(row["minutes"]),
            "items": [each.item for each in paper_items() if each.experiment == name],
        }
        for name, row in LISTED.items()
    ]


def items_json() -> dict[str, Any]:
    return {"experiments": experiments_listed(), "items": [asdict(each) for each in paper_items()]}


def markdown_table(paper: str) -> str:
    """Write the items of a paper as the guide shows them, with links to other guides."""
    rows = [ITEMS, ("---",) * len(ITEMS)]
    rows += [each.cells(_in_a_guide) for each in paper_items() if each.paper == paper]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def _without_marks(cells: tuple[str, ...]) -> list[str]:
    return [cell.replace("`", "") for cell in cells]


def _in_a_terminal(name: str) -> str:
    page, is_guide, anchor = name.partition(MARKDOWN)
    return f"sqlanon guide {anchor.removeprefix('#') or page}" if is_guide else name


def _in_a_guide(name: str) -> str:
    page, is_guide, _ = name.partition(MARKDOWN)
    return f"[{page}]({name})" if is_guide else f"`{name}`"
