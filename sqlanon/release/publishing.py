"""The rows that are published: of the classes that are kept, in groups of equal ones, and as they are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.duckdb import Compute
from sqlanon.errors import PolicyError
from sqlanon.model.lattice import NodeSummary
from sqlanon.model.policy.policy import Policy
from sqlanon.model.privacy import PrivacyModel
from sqlanon.model.pseudonym_key import BLOCK_BYTES, PseudonymKey
from sqlanon.model.release import FinerNode
from sqlanon.nodes.table import EncodedTable
from sqlanon.queries import summaries as evaluate
from sqlanon.queries.encoding import ROW_COUNT, Encoding
from sqlanon.queries.exposures import identifier_counts
from sqlanon.queries.grouping import Grouping
from sqlanon.queries.kit.nodes import Relation, Step, aliased, column, number, select, subquery
from sqlanon.queries.layout import group_sizes, label_types, published_texts, text_counts, text_type
from sqlanon.queries.published_rows import EQUAL_ROWS, KEPT_CLASSES, equal_rows, expected_groups, release
from sqlanon.queries.recodings import AtCut, Recoding, cut_misfits
from sqlanon.verification.label_checks import pseudonym_problems

SIEVED_ROWS = 100_000
"""Rows by whose values identifiers are found that repeat; of more, one value in several. Where fewer values than that
repeat, which hardly changes what classes count, they can be missed. Measured by tests.benchmarks.findings."""

GROUPED = 0.5
"""The most groups per row, as expected, at which the rows of a release are grouped before they are sorted.

Measured by tests.benchmarks.tuning.
"""

CUT_MISFITS = {"without": "have none of the labels", "several": "have more than one"}

MAX_ENUM_TEXTS = 1000
"""The most texts of a column that is written as an ENUM: a file may repeat all of them for every row group."""

MAX_ENUM_TEXT_BYTES = 1000  # the most bytes of such a text

TYPED_GROUPS = 0.25
"""The fewest groups per row at which texts that are released as they are get no ENUM: to find it takes too long."""


@dataclass(frozen=True)
class PublishedNode:
    """A node at which rows of the source are published, each at its own labels or suppressed."""

    table: EncodedTable  # the cells of the source
    summary: NodeSummary
    suppresses: bool  # whether rows of classes that violate a privacy model are suppressed there
    finer: tuple[FinerNode, ...] = ()  # nodes that would have kept a quasi-identifier finer


@dataclass(frozen=True)
class GroupedRows:
    """Rows in groups of equal ones, and what they are made from."""

    bound: BoundPolicy
    source_rows: int  # rows of the source that were read, without those that are left out for unknown values
    labels: tuple[str, ...]  # the columns of the groups with the labels of the quasi-identifiers, which define classes
    # What ``queries.exposures`` counts of identifiers, where the source was read for something else; else None.
    identifier_counts: Mapping[str, int] | None = None
    table: EncodedTable | None = None  # the cells of the source, whose exposure is counted; None if it is not to be
    # The node that is published. None if there is none, or if rows stand there that are not those of the source: what
    # holds of these alone would distinguish them from the others.
    node: PublishedNode | None = None
    relation: exp.Expr = field(default_factory=lambda: EQUAL_ROWS.table)  # the groups

    @property
    def counted_identifiers(self) -> tuple[str, ...]:
        """The identifiers whose values are counted: none if the policy names the column of individuals."""
        policy = self.bound.policy
        return () if policy.individual is not None else policy.identifiers

    @property
    def one_in(self) -> int:
        """One value of an identifier in how many is counted."""
        return max(self.source_rows // SIEVED_ROWS, 1)

    def as_written(self, engine: Compute, written: exp.Expr) -> GroupedRows:
        """Return the rows as they were written, if they are far: else each finding would make them anew."""
        if not engine.is_far(self.relation):
            return self
        return replace(self, relation=groups_as_written(self.bound.policy, self.labels, written))


def groups_as_written(policy: Policy, labels: Sequence[str], written: exp.Expr) -> exp.Subquery:
    """Written rows as groups of one row each, with the quasi-identifiers as the columns of labels."""
    named = [aliased(column(name), label) for name, label in zip(policy.quasi_identifiers, labels, strict=True)]
    kept = map(column, (*policy.sensitive, *policy.insensitive))
    groups = select([*named, *kept, aliased(number(1), ROW_COUNT)], written.copy())
    return subquery(groups, EQUAL_ROWS.name)


def keep_classes(engine: Compute, recoding: Recoding) -> Relation:
    """Make the table of the classes that are kept."""
    engine.run(Step(KEPT_CLASSES, recoding.coded_classes(evaluate.kept_keys, "anon_kept"), "kept classes"))
    return KEPT_CLASSES


def attained_measures(engine: Compute, grouping: Grouping) -> list[float]:
    """Measure what the kept classes attain in each bound of the privacy models, in the policy's order."""
    row = engine.fetch(evaluate.attained(grouping), "attained measures", "node")[0]
    return [row[f"attained_{index}"] for index in range(len(grouping.encoding.criteria.bounds))]


def attained_at(engine: Compute, recoding: Recoding) -> list[float]:
    """Measure what the kept classes of a recoding attain, as :func:`attained_measures`."""
    return attained_measures(engine, recoding.grouping())


def masked_rows_fall_short(engine: Compute, table: EncodedTable, recoding: Recoding) -> list[PrivacyModel]:
    """Return the privacy models that the suppressed rows do not meet as one class of their own."""
    row = engine.fetch(evaluate.masked_class(recoding, KEPT_CLASSES.table), "masked rows", "class")[0]
    policy = table.bound.policy
    attained = {bound.measure: row[f"attained_{index}"] for index, bound in enumerate(policy.criteria.bounds)}
    return [
        model for model in policy.privacy if not all(bound.met_by(attained[bound.measure]) for bound in model.bounds)
    ]


def make_cuts(engine: Compute, recoding: AtCut) -> None:
    """Make the labels of cuts, before anything is grouped by them; a cut has one label for each value."""
    for position, name in enumerate(recoding.encoding.spec.quasi_identifiers):
        engine.run(recoding.step(position))
        found = engine.fetch(cut_misfits(position), "values of a cut")[0]
        problems = [f"{found[which]:,} values {what}" for which, what in CUT_MISFITS.items() if found[which]]
        if problems:
            raise PolicyError(f'the labels are no cut of the taxonomy of "{name}":', problems)


def make_labels(engine: Compute, recoding: Recoding) -> None:
    """Make the types of the labels of a recoding."""
    for statement in label_types(recoding):
        engine.execute(statement, "types of labels")


def released_sizes(engine: Compute) -> tuple[int, int]:
    """Count the published rows, and their groups of equal ones."""
    found = engine.fetch(group_sizes(EQUAL_ROWS.table), "published rows")[0]
    return int(found["rows"]), int(found["groups"])


def row_mismatches(engine: Compute, unlike: exp.Query) -> list[str]:
    """Return a sentence if what was written has other rows than were made; ``unlike`` counts the groups that differ."""
    found = engine.fetch(unlike, "what was written")[0]["unlike"]
    return [f"{found:,} groups of equal rows differ in their number of rows"] if found else []


# More than six parameters: which rows a recoding shows, and what a method adds to them.
def group_rows(
    engine: Compute,
    table: EncodedTable,
    recoding: Recoding,
    *,
    masked: bool,
    is_examined: bool = True,
    with_added: Callable[[exp.Query], exp.Query] = lambda groups: groups,
    parameters: Sequence[object] = (),
) -> GroupedRows:
    """Make the table of the rows that a recoding publishes, of the classes that are kept and of the others if masked.

    They are written from a table because they come from it in their order without a sort: to repeat rows while they are
    still being sorted takes three times as long.

    Args:
        is_examined: whether findings are to be made of them, for which identifiers are counted.
        with_added: gives the groups of equal rows the columns that are added to those of the source.
        parameters: the blocks of the key, if there are pseudonyms.
    """
    make_labels(engine, recoding)
    made = GroupedRows(table.bound, table.context.row_count, table.encoding.label_columns)
    names = made.counted_identifiers if is_examined else ()
    counts = identifier_counts(names, made.one_in) if len(names) <= COUNTED_BESIDE else []
    # Rows come out the same if they are not grouped, where grouping is likely to take more than it saves.
    expected = expected_groups(table.encoding, counts)
    is_grouped, counted = expected is None, None
    if expected is not None and not engine.is_far(expected):  # to know more takes one more scan of rows that are far
        counted = engine.fetch(expected, "expected groups")[0]
        is_grouped = bool(counted["groups"] <= GROUPED * table.context.row_count)
    groups = equal_rows(recoding, masked=masked, is_grouped=is_grouped)
    engine.run(Step(EQUAL_ROWS, with_added(groups), "equal rows"), parameters)
    return replace(made, identifier_counts=counted if counts else None)


COUNTED_BESIDE = 50
"""Identifiers whose values are counted in one scan with something else: DuckDB plans few aggregates in a short time."""

NO_KEY = (bytes(BLOCK_BYTES), bytes(BLOCK_BYTES))  # the blocks of a dry run, which has no row to hash


def make_rows(
    engine: Compute, table: EncodedTable, recoding: Recoding, key: PseudonymKey | None, *, masked: bool
) -> GroupedRows:
    """Make the table of the rows that a recoding publishes, see :func:`group_rows`; no pseudonym is in two of them."""
    columns = table.bound.policy.pseudonyms
    blocks = () if not columns else NO_KEY if key is None else key.blocks
    made = group_rows(engine, table, recoding, masked=masked, parameters=blocks)
    if problems := list(pseudonym_problems(engine, EQUAL_ROWS.table, columns)):
        raise PolicyError(
            "the release would have several rows with the same pseudonym, so that what is known of each can be put "
            "together; make one row of them with `sqlanon flatten` (Session.flatten), or name the column among the "
            "identifiers:",
            problems,
        )
    return replace(made, table=table)


def released_rows(engine: Compute, encoding: Encoding, takes_enums: Callable[[str], bool]) -> exp.Query:
    """The published rows, once they are grouped; their target says of a column whether it may be of an ENUM type."""
    typed = _typed(engine, encoding, [name for name in published_texts(encoding) if takes_enums(name)])
    for name in typed:
        engine.execute(text_type(encoding, name, EQUAL_ROWS.table), "types of texts")
    return release(encoding, typed)


def _typed(engine: Compute, encoding: Encoding, names: list[str]) -> list[str]:
    """Return the columns of texts, of those named, that are written faster as ENUMs."""
    if not names:
        return []
    rows = EQUAL_ROWS.table
    sizes = engine.fetch(group_sizes(rows), "published rows")[0]
    if sizes["groups"] == 0 or sizes["groups"] > TYPED_GROUPS * sizes["rows"]:
        names = [name for name in names if name in encoding.spec.quasi_identifiers]
    if not names:
        return []
    counts = engine.fetch(text_counts(encoding, names, rows), "published texts", "node")[0]
    return [
        name
        for place, name in enumerate(names)
        if 0 < counts[f"count_{place}"] <= MAX_ENUM_TEXTS and counts[f"bytes_{place}"] <= MAX_ENUM_TEXT_BYTES
    ]
