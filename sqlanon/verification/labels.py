"""The labels of a release, held against those that its provenance records: of a node, or of a cut."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlglot import exp

from sqlanon.binding import stored_taxonomies as taxonomies
from sqlanon.engines.duckdb import Compute, Engine
from sqlanon.model.labels import ClassesRecord, CutRecord, NodeRecord
from sqlanon.model.policy.policy import Policy
from sqlanon.model.record import Record
from sqlanon.queries import measures as queries
from sqlanon.queries import taxonomy_queries
from sqlanon.queries.kit.macros import table_call
from sqlanon.queries.kit.nodes import Relation, Step, counted_rows, names, subquery
from sqlanon.queries.spelled import both_spellings, with_whole_numbers

CLASSES = Relation("anon_released_labels", "class")
LISTED = Relation("anon_listed_classes", "class")


def foreign_labels(engine: Engine, relation: exp.Expr, policy: Policy, record: Record) -> tuple[list[str], list[str]]:
    """Labels that are none of the recorded ones, as shortfalls; and a note on those that cannot be compared."""
    names = policy.quasi_identifiers
    listed = [*unlisted_classes(engine, relation, record.labels)] if isinstance(record.labels, ClassesRecord) else []
    shapes = taxonomies.shapes(engine, names)
    same = [name for name in names if name in shapes and shapes[name].sha256 == record.taxonomy_sha256.get(name)]
    labels = None if record.labels is None else record.labels.of(same)
    items = labels.items if isinstance(labels, CutRecord) else ()
    compared = {*items} if labels is None else {*labels.columns, *items}
    unknown = ", ".join(f'"{name}"' for name in names if name not in compared)
    notes = [
        f"the labels of {unknown} are not compared with their taxonomies: those that the release was made with are not "
        "loaded here"
    ]
    if labels is None or not labels.columns:
        return listed, notes
    check = _check_of(engine, policy, labels)
    masked = 0 if record.rows is None else record.rows.masked
    shortfalls = [*listed, *(_other_masks(engine, relation, names, check, masked) if masked else ())]
    # A private method shows what was left out as masked rows, and does not record their number.
    if masked or policy.has_private_method:
        relation = subquery(queries.unmasked_rows(relation, names), "anon_unmasked")
    shortfalls += [
        f'column "{row["attribute"]}" has {row["foreign_labels"]:,} labels, in {row["foreign_rows"]:,} rows, that '
        f"{check.mismatch(row['attribute'])} of the release"
        for row in _foreign_rows(engine, relation, check)
    ]
    return shortfalls, notes if unknown else []


# guarded: tests/unit/test_guarded_verification.py
def unlisted_classes(engine: Compute, relation: exp.Expr, recorded: ClassesRecord) -> Iterator[str]:
    """Combinations of labels that the record does not list, and those of another number of rows."""
    import pyarrow as pa

    names = recorded.columns
    rows, *places = zip(*recorded.classes, strict=True) if recorded.classes else [()] * (len(names) + 1)
    texts = [[label for _, label in recorded.labels[name]] for name in names]
    columns = {
        name: pa.array([of_name[place] for place in found], pa.string())
        for name, of_name, found in zip(names, texts, places, strict=True)
    }
    engine.put(LISTED, pa.table({**columns, "anon_rows": pa.array(rows, pa.int64())}))
    found = engine.fetch(queries.class_mismatches(relation, names, LISTED), "classes of a release")[0]
    engine.drop(LISTED)
    if found["unlisted"]:
        yield (
            f"{found['unlisted']:,} combinations of labels, in {found['unlisted_rows']:,} rows, are not among the "
            "classes of the release"
        )
    if found["differing"]:
        yield f"{found['differing']:,} classes have another number of rows than was released"


@dataclass(frozen=True)
class NodeCheck:
    """Holds the labels of a table against the levels of a node."""

    labels: NodeRecord
    taxonomy: exp.Table
    roots: Mapping[str, str]  # the labels that unknown values have by the policy, by column

    def foreign(self, relation: exp.Expr) -> list[exp.Query]:
        """Ask for columns that have labels which are not recorded: attribute, foreign_labels, foreign_rows."""
        levels = self.labels.levels
        known = {name: level for name, level in levels.items() if name not in self.roots}
        asked: list[exp.Query] = [queries.foreign_labels(relation, known, self.taxonomy)] if known else []
        for name, root in self.roots.items():
            others = subquery(queries.rows_without(relation, name, root), "anon_known_labels")
            asked.append(queries.foreign_labels(others, {name: levels[name]}, self.taxonomy))
        return asked

    def mismatch(self, column: str) -> str:
        """Return the words between "labels that" and "of the release" about such labels of a column."""
        return f"its taxonomy does not have at level {self.labels.levels[column]}, that"


@dataclass(frozen=True)
class CutCheck:
    """Holds the labels of a table against cuts, as :class:`NodeCheck` does."""

    labels: CutRecord
    taxonomy: exp.Table

    def foreign(self, relation: exp.Expr) -> list[exp.Query]:
        return [
            *(
                queries.labels_outside(relation, name, both_spellings(labels), self.taxonomy)
                for name, labels in self.labels.labels.items()
            ),
            *(queries.other_labels(relation, name, labels) for name, labels in self.labels.interval_labels.items()),
        ]

    def mismatch(self, column: str) -> str:
        if column in self.labels.intervals:
            return "are none of the intervals"
        return "its taxonomy does not have in the cut"


LabelsCheck: TypeAlias = NodeCheck | CutCheck


def _check_of(engine: Engine, policy: Policy, labels: NodeRecord | CutRecord) -> LabelsCheck:
    match labels:
        case NodeRecord():
            return NodeCheck(labels, engine.taxonomy, labels_of_top(engine, policy, labels))
        case CutRecord():
            return CutCheck(labels, engine.taxonomy)


def labels_of_top(engine: Engine, policy: Policy, node: NodeRecord) -> dict[str, str]:
    """The label that unknown values have by the policy, by column."""
    names = [name for name in policy.columns_with("top") if name in node.levels]
    found = engine.fetch(taxonomy_queries.roots(engine.taxonomy, names), "labels of the top", "node") if names else []
    return {row["attribute"]: row["root"] for row in found}


def _other_masks(
    engine: Engine, relation: exp.Expr, names: tuple[str, ...], check: LabelsCheck, masked: int
) -> Iterator[str]:
    """More or fewer masked rows than were released, unless the mask is a label of it: then they are a class."""
    rows = subquery(queries.masked_rows(relation, names), "anon_masked")
    count = int(engine.fetch(counted_rows(rows), "masked rows")[0]["rows"])
    if count != masked and (count == 0 or _foreign(engine, rows, check)):
        yield f"it has {count:,} masked rows where {masked:,} were released"


def _foreign_rows(engine: Engine, relation: exp.Expr, check: LabelsCheck) -> list[dict[str, Any]]:
    """Like :func:`_foreign`, which is asked about the classes first: they are few, and have every label of the rows."""
    engine.run(Step(CLASSES, queries.distinct_labels(relation, check.labels.columns), "the classes of a release"))
    try:
        if not _foreign(engine, CLASSES.table, check):
            return []
    finally:
        engine.drop(CLASSES)
    return _foreign(engine, relation, check)


def _foreign(engine: Engine, relation: exp.Expr, check: LabelsCheck) -> list[dict[str, Any]]:
    """attribute, foreign_labels and foreign_rows of every column that has labels which it should not have."""
    at_the_bottom = [name for name, level in check.labels.used_levels if level == 0]
    relation = with_whole_numbers(relation, at_the_bottom, engine.taxonomy)
    return [
        row for query in check.foreign(relation) for row in engine.fetch(query, "verify labels") if row["foreign_rows"]
    ]


def pseudonym_problems(engine: Compute, relation: exp.Expr, columns: Sequence[str]) -> Iterator[str]:
    """What is wrong with the columns of pseudonyms of a table, a sentence each."""
    if not columns:
        return
    query = table_call("pseudonym_problems", relation.copy(), names(list(columns)))
    for found in engine.fetch(query, "pseudonyms"):
        name = found["attribute"]
        if found["repeated_values"]:
            values, rows = found["repeated_values"], found["repeated_rows"]
            yield f'"{name}": {values:,} values repeat, in {rows:,} rows, which their pseudonyms link'
        if found["malformed_rows"]:
            yield f'"{name}": {found["malformed_rows"]:,} rows have a value that is not a pseudonym (64 hex digits)'
