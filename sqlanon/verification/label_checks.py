"""Comparison of a release's labels with its provenance: the levels of a node, or a cut."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from sqlanon.binding import stored_taxonomies
from sqlanon.engines.duckdb import Compute, Engine
from sqlanon.model.labels import ClassesRecord, CutRecord, NodeRecord
from sqlanon.model.policy.policy import Policy
from sqlanon.model.record import Record
from sqlanon.queries import measures as queries
from sqlanon.queries import taxonomies
from sqlanon.queries.kit.macros import table_call
from sqlanon.queries.kit.nodes import Relation, Step, counted_rows, names, subquery
from sqlanon.queries.source import both_spellings, with_whole_numbers

CLASSES = Relation("anon_released_labels", "class")
LISTED = Relation("anon_listed_classes", "class")


def foreign_labels(engine: Engine, relation: exp.Expr, policy: Policy, record: Record) -> tuple[list[str], list[str]]:
    names = policy.quasi_identifiers
    listed = [*unlisted_classes(engine, relation, record.labels)] if isinstance(record.labels, ClassesRecord) else []
    labels = record.labels
    if labels is not None:
        labels = labels.of(stored_taxonomies.unchanged(engine, names, record.taxonomy_sha256))
    items = labels.items if isinstance(labels, CutRecord) else ()
    compared = {*items} if labels is None else {*labels.columns, *items}
    unknown = ", ".join(f'"{name}"' for name in names if name not in compared)
    notes = [
        f"the labels of {unknown} are not compared with their taxonomies: those of the release are not loaded here"
    ]
    if labels is None or not labels.columns:
        return listed, notes
    roots = _labels_of_top(engine, policy, labels) if isinstance(labels, NodeRecord) else {}
    check = LabelsCheck(engine, labels, roots)
    masked = 0 if record.rows is None else record.rows.masked
    shortfalls = [*listed, *(_other_masks(check, relation, names, masked) if masked else ())]
    # A private method masks what it leaves out, and does not record the number of masked rows.
    if masked or policy.has_private_method:
        relation = subquery(queries.unmasked_rows(relation, names), "anon_unmasked")
    shortfalls += [
        f'column "{row["attribute"]}" has {row["foreign_labels"]:,} labels, in {row["foreign_rows"]:,} rows, that '
        f"{check.mismatch(row['attribute'])} of the release"
        for row in check.foreign_in_rows(relation)
    ]
    return shortfalls, notes if unknown else []


# guarded: tests/unit/test_guarded_verification.py
def unlisted_classes(engine: Compute, relation: exp.Expr, recorded: ClassesRecord) -> Iterator[str]:
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
        yield f"{found['differing']:,} classes have a different number of rows than was released"


@dataclass(frozen=True)
class LabelsCheck:
    engine: Engine
    labels: NodeRecord | CutRecord
    roots: Mapping[str, str]  # for a node, the labels that the policy gives unknown values, by column

    def mismatch(self, column: str) -> str:
        """Return the words between "labels that" and "of the release" for a column with foreign labels."""
        if isinstance(self.labels, NodeRecord):
            return f"its taxonomy does not have at level {self.labels.levels[column]}, that"
        if column in self.labels.intervals:
            return "are none of the intervals"
        return "its taxonomy does not have in the cut"

    def foreign_in_rows(self, relation: exp.Expr) -> list[dict[str, Any]]:
        """Do as :meth:`foreign`, but ask the few classes first: they have every label of the rows."""
        self.engine.run(
            Step(CLASSES, queries.distinct_labels(relation, self.labels.columns), "the classes of a release")
        )
        try:
            if not self.foreign(CLASSES.table):
                return []
        finally:
            self.engine.drop(CLASSES)
        return self.foreign(relation)

    def foreign(self, relation: exp.Expr) -> list[dict[str, Any]]:
        """Fetch attribute, foreign_labels and foreign_rows of every column with foreign labels."""
        at_the_bottom = [name for name, level in self.labels.used_levels if level == 0]
        relation = with_whole_numbers(relation, at_the_bottom, self.engine.taxonomy)
        found = (self.engine.fetch(query, "verify labels") for query in self._queries(relation))
        return [row for rows in found for row in rows if row["foreign_rows"]]

    def _queries(self, relation: exp.Expr) -> Iterator[exp.Query]:
        taxonomy = self.engine.taxonomy
        match self.labels:
            case NodeRecord(levels=levels):
                if known := {name: level for name, level in levels.items() if name not in self.roots}:
                    yield queries.foreign_labels(relation, known, taxonomy)
                for name, root in self.roots.items():
                    others = subquery(queries.rows_without(relation, name, root), "anon_known_labels")
                    yield queries.foreign_labels(others, {name: levels[name]}, taxonomy)
            case CutRecord(labels=labels, interval_labels=intervals):
                for name, of_name in labels.items():
                    yield queries.labels_outside(relation, name, both_spellings(of_name), taxonomy)
                for name, texts in intervals.items():
                    yield queries.other_labels(relation, name, texts)


def _labels_of_top(engine: Engine, policy: Policy, node: NodeRecord) -> dict[str, str]:
    names = [name for name in policy.columns_with("top") if name in node.levels]
    found = engine.fetch(taxonomies.roots(engine.taxonomy, names), "labels of the top", "node") if names else []
    return {row["attribute"]: row["root"] for row in found}


def _other_masks(check: LabelsCheck, relation: exp.Expr, names: tuple[str, ...], masked: int) -> Iterator[str]:
    """Find a wrong number of masked rows, unless the mask is itself a label of a class."""
    rows = subquery(queries.masked_rows(relation, names), "anon_masked")
    count = int(check.engine.fetch(counted_rows(rows), "masked rows")[0]["rows"])
    if count != masked and (count == 0 or check.foreign(rows)):
        yield f"it has {count:,} masked rows where {masked:,} were released"


def pseudonym_problems(engine: Compute, relation: exp.Expr, columns: Sequence[str]) -> Iterator[str]:
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
