"""The report of a release of linked tables, and the release itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic import Field, PrivateAttr

from sqlanon.model.release.linked import LinkedMeasurement
from sqlanon.model.release.measurement import PartialResult, Result
from sqlanon.model.release.reports import Guarantee
from sqlanon.report.document import Part, Table, count, facts, figure, notes, percent


class LinkedRowCounts(Result):
    """What became of the rows of a table.

    Attributes:
        source: rows read.
        orphans: rows that belong to nobody, left out.
        cut: rows above the cap of the policy, left out.
        suppressed: rows of persons who are not released; in the table of persons these persons.
        hidden: rows of released persons that are left out by class.
        released: rows of the release.
    """

    source: int
    orphans: int = 0
    cut: int = 0
    suppressed: int = 0
    hidden: int = 0
    released: int

    @property
    def shown(self) -> tuple[int, int, int, int]:
        """The counts that a table of them shows."""
        return self.source, self.released, self.suppressed, self.hidden


class LinkedReport(PartialResult):
    """The numbers of a run over linked tables, without any cell value.

    Attributes:
        sources, into: in words; sources by table.
        method: the name of the method.
        models: the models of privacy, in words.
        tables: counts of rows by table.
        persons_without_rows: source persons with no row in any other table.
        node, heights: the level of each quasi-identifier, such as ``"visits.day"``, and the height of its taxonomy.
        rungs: by table, the levels of its quasi-identifiers, finest first, where rows are shown at several levels.
        limits: by table, the share of its rows that may be left out.
        loss, losses: the loss that was minimized, and that of each table before its weight.
        lattice_nodes, checked_nodes, proven_optimal, lower_bound, gap: as in :class:`Report`.
        measured: what the written tables show of persons.
        domains: whether each taxonomy's domain was declared, stated by a file or observed.
        notes: remarks for readers.
        seconds: wall time of each stage.
    """

    sources: dict[str, str]
    into: str
    method: str
    models: tuple[str, ...]
    tables: dict[str, LinkedRowCounts]
    persons_without_rows: int | None = None
    node: dict[str, int]
    heights: dict[str, int]
    rungs: dict[str, tuple[dict[str, int], ...]] = Field(default_factory=dict)
    limits: dict[str, float]
    loss: float
    losses: dict[str, float]
    lattice_nodes: int
    checked_nodes: int
    proven_optimal: bool
    lower_bound: float | None = None
    gap: float | None = None
    measured: LinkedMeasurement
    domains: dict[str, str]
    notes: tuple[str, ...] = ()
    seconds: dict[str, float]

    @property
    def heading(self) -> str:
        return f"Release {self.into}"

    def parts(self) -> Iterator[Part]:
        yield facts([("loss", figure(self.loss)), ("models", ", ".join(self.models))])
        yield Table(
            ("table", "source", "released", "suppressed", "hidden", "of its loss"),
            [
                (
                    name,
                    *map(count, (rows.source, rows.released, rows.suppressed, rows.hidden)),
                    percent(self.losses[name]),
                )
                for name, rows in self.tables.items()
            ],
            numbers=(1, 2, 3, 4, 5),
        )
        yield self.measured.knowledge()
        yield from notes("Notes", self.notes)


class LinkedRelease(PartialResult):
    """Published tables that belong together.

    Attributes:
        into: the folder or the schema.
        tables: the file or table of each table of the policy.
        node: the level of each quasi-identifier, e.g. ``{"patients.born": 1, "visits.day": 2}``.
        guarantee: the guarantee.
        report: the numbers of the run that wrote it.
    """

    into: str
    tables: dict[str, str]
    node: dict[str, int]
    guarantee: Guarantee
    report: LinkedReport
    _rows: Callable[..., Any] | None = PrivateAttr(default=None)

    @property
    def heading(self) -> str:
        return self.report.heading

    def parts(self) -> Iterator[Part]:
        yield from self.report.parts()
        yield from self.guarantee.parts()


def levels_by_table(node: Mapping[str, int], tables: Mapping[str, object]) -> dict[str, dict[str, int]]:
    """Return the levels of a node by table, with the names of its columns."""
    found: dict[str, dict[str, int]] = {}
    for name in tables:
        prefix = f"{name}."
        found[name] = {
            column.removeprefix(prefix): level for column, level in node.items() if column.startswith(prefix)
        }
    return found
