"""Reports and promises of local recoding: how fine each column stays, and what the order of nodes gives away."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from sqlanon.methods.local.local_classes import LocalClasses
from sqlanon.methods.local.local_table import settings_of
from sqlanon.model.policy.policy import Policy
from sqlanon.model.release import CUSTODIAN_FIELDS, Guarantee, Report
from sqlanon.model.release.measurement import models_table
from sqlanon.nodes.table import EncodedTable
from sqlanon.nodes.unknown import unknown_notes
from sqlanon.release.guarantee import CHOSEN_NODE
from sqlanon.release.guarantee import guarantee as of_full_domain
from sqlanon.report.document import Part, Table, paragraph, percent

PRIVATE = CUSTODIAN_FIELDS | {"minimality_rows", "minimality_cell_rows"}
"""What does not travel with a release: how many rows were in classes that no release shows."""


class LocalReport(Report):
    """The numbers of a run of local recoding.

    Attributes:
        level_shares: by quasi-identifier the share of the released rows whose label is of each level, from 0 to the
            top, where all rows have one label.
        used_nodes: how many nodes of the lattice have classes in the release.
        minimality_rows: rows that were in a class of enough rows which violated another privacy model than that of its
            size; whoever knows the method can conclude that the class had too few values, or too alike ones. None if
            there are none.
        minimality_cell_rows: those of them at the bottom of the lattice, in classes of equal rows.
    """

    level_shares: dict[str, tuple[float, ...]]
    used_nodes: int = Field(title="nodes of the lattice with classes")
    minimality_rows: int | None = Field(None, title="rows once in large classes that violated a model")
    minimality_cell_rows: int | None = Field(None, title="of these, rows of equal quasi-identifiers")

    @property
    def search_in_words(self) -> str:
        """The number of classes, the nodes that they are at, and the gap of their loss."""
        seconds = f"{sum(self.seconds.values()):.2f} s"
        found = f"{self.class_count:,} classes at {self.used_nodes:,} of {self.lattice_nodes:,} nodes in {seconds}"
        return f"Not proven optimal: {self.quality} loss {self.loss:.4g}, {found}{self._gap_in_words}."

    def summary(self) -> Iterator[Part]:
        """Show how the classes were found, how fine columns are, the privacy models, and what minimality gives away."""
        yield paragraph(self.search_in_words)
        yield self._levels_table()
        yield models_table(self.models)
        yield from self.of_method()

    def _levels_table(self) -> Table:
        highest = max(map(len, self.level_shares.values()))
        rows = []
        for name, shares in self.level_shares.items():
            below = [percent(share) for share in shares[:-1]]
            rows.append((name, *below, *[""] * (highest - len(shares)), percent(shares[-1])))
        levels = [f"level {level}" for level in range(highest - 1)]
        return Table(("quasi-identifier", *levels, "top"), rows, numbers=tuple(range(1, highest + 1)))


def run_notes(table: EncodedTable, classes: LocalClasses) -> Iterator[str]:
    """Write notes on the classes of a run."""
    policy = table.bound.policy
    if not classes.is_final:
        yield "the search was stopped: rows that were in no class by then have more general labels than they could have"
    yield from unknown_notes(policy, table.unknown)
    if policy.row_weight is not None:
        yield f'the loss counts the weights of "{policy.row_weight}"; all other measures count rows'


def guarantee(policy: Policy, report: LocalReport) -> Guarantee:
    """The claims of a release: those of its classes, and what the order in which they were taken gives away."""
    plain = of_full_domain(policy, report)
    return Guarantee(
        claims=(*plain.claims, "every row stands for one row of the source, whose values are under its labels"),
        conditions=plain.conditions,
        not_covered=(*(each for each in plain.not_covered if each != CHOSEN_NODE), *_not_covered(policy, report)),
    )


def _not_covered(policy: Policy, report: LocalReport) -> Iterator[str]:
    yield "that a row is in a coarse class says that no finer one of its rows met the privacy models (minimality)"
    yield (
        "every label is the finest that all rows of its class share, so that these rows stand under two or more finer "
        "labels: each of two rows under another one, and who knows all rows of a class but one may learn that of the "
        "last (downcoding); a larger k makes that rare"
    )
    if report.minimality_rows:
        yield (
            f"{report.minimality_rows:,} rows were in a class of enough rows that violated another privacy model: who "
            "knows the method can conclude that the sensitive values of such a class were too few or too alike"
        )
    for name, kind in settings_of(policy).aggregate.items():
        if kind == "range":
            yield f'the least and the greatest "{name}" of each class are published: they are values of single rows'
        else:
            yield (
                f'the {kind} of "{name}" is published of each class as it is: who knows that value in all rows of a '
                "class but one can work it out for that one, or narrow it down"
            )
