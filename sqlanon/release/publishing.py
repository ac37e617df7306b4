"""Rows of a release: the kept classes, their rows in groups of equal ones, and the query that is written."""

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
from sqlanon.verification.verify import pseudonym_problems

# Beyond this many rows, repeated identifiers are counted in a sample of their values, which can miss a few repeats;
# these hardly change the classes. Measured by tests.benchmarks.findings.
SIEVED_ROWS = 100_000

GROUPED = 0.5  # maximum expected groups per row at which grouping before the sort pays; see tests.benchmarks.tuning

CUT_MISFITS = {"without": "have none of the labels", "several": "have more than one"}

MAX_ENUM_TEXTS = 1000  # maximum number of texts of an ENUM column: a file may repeat them in every row group
MAX_ENUM_TEXT_BYTES = 1000
TYPED_GROUPS = 0.25  # with more groups per row, kept texts get no ENUM: finding it takes too long


@dataclass(frozen=True)
class PublishedNode:
    table: EncodedTable  # the cells of the source
    summary: NodeSummary
    suppresses: bool  # whether classes that violate a privacy model are suppressed
    finer: tuple[FinerNode, ...] = ()  # nodes that would have kept a quasi-identifier finer


@dataclass(frozen=True)
class GroupedRows:
    bound: BoundPolicy
    source_rows: int  # rows read, without those left out for unknown values
    labels: tuple[str, ...]  # the label columns of the groups, which define classes
    identifier_counts: Mapping[str, int] | None = None  # by ``queries.exposures``, if counted in a scan made anyway
    table: EncodedTable | None = None  # the cells of the source; None if its exposure is not counted
    # None without a node, or if it has rows that are not in the source: findings on the source's rows would
    # distinguish them.
    node: PublishedNode | None = None
    relation: exp.Expr = field(default_factory=lambda: EQUAL_ROWS.table)

    @property
    def counted_identifiers(self) -> tuple[str, ...]:
        """The identifiers to count: none if the policy names the column of individuals."""
        policy = self.bound.policy
        return () if policy.individual is not None else policy.identifiers

    @property
    def one_in(self) -> int:
        """The sampling rate: one identifier value in this many is counted."""
        return max(self.source_rows // SIEVED_ROWS, 1)

    def as_written(self, engine: Compute, written: exp.Expr) -> GroupedRows:
        """Return remote rows as written: each finding would otherwise make them anew."""
        if not engine.is_far(self.relation):
            return self
        return replace(self, relation=groups_as_written(self.bound.policy, self.labels, written))


def groups_as_written(policy: Policy, labels: Sequence[str], written: exp.Expr) -> exp.Subquery:
    """Return written rows as groups of one row each, with quasi-identifiers renamed to label columns."""
    named = [aliased(column(name), label) for name, label in zip(policy.quasi_identifiers, labels, strict=True)]
    kept = map(column, (*policy.sensitive, *policy.insensitive))
    groups = select([*named, *kept, aliased(number(1), ROW_COUNT)], written.copy())
    return subquery(groups, EQUAL_ROWS.name)


def keep_classes(engine: Compute, recoding: Recoding) -> Relation:
    engine.run(Step(KEPT_CLASSES, recoding.coded_classes(evaluate.kept_keys, "anon_kept"), "kept classes"))
    return KEPT_CLASSES


def attained_measures(engine: Compute, grouping: Grouping) -> list[float]:
    row = engine.fetch(evaluate.attained(grouping), "attained measures", "node")[0]
    return [row[f"attained_{index}"] for index in range(len(grouping.encoding.criteria.bounds))]


def attained_at(engine: Compute, recoding: Recoding) -> list[float]:
    return attained_measures(engine, recoding.grouping())


def masked_rows_fall_short(engine: Compute, table: EncodedTable, recoding: Recoding) -> list[PrivacyModel]:
    """Return the privacy models that the suppressed rows, as one class, do not meet."""
    row = engine.fetch(evaluate.masked_class(recoding, KEPT_CLASSES.table), "masked rows", "class")[0]
    policy = table.bound.policy
    attained = {bound.measure: row[f"attained_{index}"] for index, bound in enumerate(policy.criteria.bounds)}
    return [
        model for model in policy.privacy if not all(bound.met_by(attained[bound.measure]) for bound in model.bounds)
    ]


def make_cuts(engine: Compute, recoding: AtCut) -> None:
    """Make the labels of cuts before anything is grouped by them; refuse a value without exactly one label."""
    for position, name in enumerate(recoding.encoding.spec.quasi_identifiers):
        engine.run(recoding.step(position))
        found = engine.fetch(cut_misfits(position), "values of a cut")[0]
        problems = [f"{found[which]:,} values {what}" for which, what in CUT_MISFITS.items() if found[which]]
        if problems:
            raise PolicyError(f'the labels are not a cut of the taxonomy of "{name}":', problems)


def make_labels(engine: Compute, recoding: Recoding) -> None:
    for statement in label_types(recoding):
        engine.execute(statement, "types of labels")


def released_sizes(engine: Compute) -> tuple[int, int]:
    found = engine.fetch(group_sizes(EQUAL_ROWS.table), "published rows")[0]
    return int(found["rows"]), int(found["groups"])


def row_mismatches(engine: Compute, unlike: exp.Query) -> list[str]:
    """Return a sentence if the written rows differ from those made; ``unlike`` counts the groups that differ."""
    found = engine.fetch(unlike, "what was written")[0]["unlike"]
    return [f"{found:,} groups of equal rows differ in their number of rows"] if found else []


# More than six parameters: the rows that a recoding shows, and the columns that a method adds.
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
    """Make the table of published rows, from the kept classes and, if ``masked``, from the others.

    Repeating rows while they are being sorted takes three times as long, so they are written from this table in order.

    Args:
        is_examined: whether findings will be made, for which identifiers are counted.
        with_added: adds columns to the groups of equal rows.
        parameters: the blocks of the key, if there are pseudonyms.
    """
    make_labels(engine, recoding)
    made = GroupedRows(table.bound, table.context.row_count, table.encoding.label_columns)
    names = made.counted_identifiers if is_examined else ()
    counts = identifier_counts(names, made.one_in) if len(names) <= COUNTED_BESIDE else []
    # Grouping is an optimization: skip it where it is likely to cost more than it saves.
    expected = expected_groups(table.encoding, counts)
    is_grouped, counted = expected is None, None
    if expected is not None and not engine.is_far(expected):  # remote rows would take another scan
        counted = engine.fetch(expected, "expected groups")[0]
        is_grouped = bool(counted["groups"] <= GROUPED * table.context.row_count)
    groups = equal_rows(recoding, masked=masked, is_grouped=is_grouped)
    engine.run(Step(EQUAL_ROWS, with_added(groups), "equal rows"), parameters)
    return replace(made, identifier_counts=counted if counts else None)


COUNTED_BESIDE = 50  # maximum number of identifiers counted in a shared scan: DuckDB takes long to plan many aggregates
NO_KEY = (bytes(BLOCK_BYTES), bytes(BLOCK_BYTES))  # for a dry run, which hashes no row


def make_rows(
    engine: Compute, table: EncodedTable, recoding: Recoding, key: PseudonymKey | None, *, masked: bool
) -> GroupedRows:
    """Make the table of published rows, see :func:`group_rows`; refuse a pseudonym in two of them."""
    policy = table.bound.policy
    made = group_rows(engine, table, recoding, masked=masked, parameters=key_blocks(policy, key))
    refuse_repeated(engine, policy)
    return replace(made, table=table)


def key_blocks(policy: Policy, key: PseudonymKey | None) -> Sequence[object]:
    """Return the parameters of a statement that makes pseudonyms; none if there are none."""
    return () if not policy.pseudonyms else NO_KEY if key is None else key.blocks


def refuse_repeated(engine: Compute, policy: Policy) -> None:
    """Refuse a pseudonym in two of the published rows."""
    if problems := list(pseudonym_problems(engine, EQUAL_ROWS.table, policy.pseudonyms)):
        raise PolicyError(
            "the release would have several rows with one pseudonym, which links them; make one row of them with "
            "`sqlanon flatten` (Session.flatten), or list the column under identifiers:",
            problems,
        )


def released_rows(engine: Compute, encoding: Encoding, takes_enums: Callable[[str], bool]) -> exp.Query:
    """Return the query of the published rows; ``takes_enums``: whether the target takes a column as an ENUM."""
    typed = _typed(engine, encoding, [name for name in published_texts(encoding) if takes_enums(name)])
    for name in typed:
        engine.execute(text_type(encoding, name, EQUAL_ROWS.table), "types of texts")
    return release(encoding, typed)


def _typed(engine: Compute, encoding: Encoding, names: list[str]) -> list[str]:
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
