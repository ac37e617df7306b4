"""Rows at the cut of a release: the cut as a table, and the macros over it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from sqlanon.model.labels import CutRecord
from sqlanon.model.methods.cuts import as_text, interval_label
from sqlanon.queries import taxonomies
from sqlanon.queries.kit.macros import table_call
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import Relation, Step, column, names, select, subquery
from sqlanon.queries.spelled import Taxonomies

LABELS = Relation("anon_noted_labels", "node")
"""The labels of a cut: attribute, level, label, is_of_all."""

PARTS = Relation("anon_noted_parts", "node")
"""What has no values in a taxonomy: attribute, low, high, label of intervals, and of no items."""

CUTS = Relation("anon_cuts", "node")
"""The cut as ``anon.apply_cut`` takes it."""


@dataclass(frozen=True)
class Predictors:
    """The predictors of a cut, by what they are."""

    categories: tuple[str, ...]
    numbers: tuple[str, ...]
    sets: tuple[str, ...]

    @classmethod
    def of(cls, cut: CutRecord) -> Predictors:
        """Those of a cut."""
        return cls((*cut.labels,), (*cut.intervals,), (*cut.items,))

    @property
    def all(self) -> tuple[str, ...]:
        """Their names."""
        return (*self.categories, *self.numbers, *self.sets)


def noted_labels(cut: CutRecord) -> pa.Table:
    """The rows of :data:`LABELS`; a label at no level is that of all values."""
    found = {**cut.labels, **cut.items}.items()
    rows = [(name, level, label) for name, labels in found for level, label in labels if label is not None]
    columns = {
        "attribute": pa.array([attribute for attribute, _, _ in rows], pa.string()),
        "level": pa.array([level or 0 for _, level, _ in rows], pa.int64()),
        "label": pa.array([label for *_, label in rows], pa.string()),
        "is_of_all": pa.array([level is None for _, level, _ in rows], pa.bool_()),
    }
    return pa.table(columns)


def noted_parts(cut: CutRecord) -> pa.Table:
    """The rows of :data:`PARTS`."""
    rows = [*_parts(cut)]
    kinds = {"attribute": pa.string(), "low": pa.float64(), "high": pa.float64(), "label": pa.string()}
    return pa.table({name: pa.array([row[at] for row in rows], kind) for at, (name, kind) in enumerate(kinds.items())})


def _parts(cut: CutRecord) -> Iterator[tuple[str, float | None, float | None, str]]:
    for name, intervals in cut.intervals.items():
        for low, high in intervals:
            yield name, low, high, interval_label(as_text(low), as_text(high))
    for name, labels in cut.items.items():
        # As long as all items have one label, it is theirs.
        if all(label is not None for _, label in labels):
            yield from ((name, None, None, label) for _, label in labels if label is not None)


def cuts(taxonomy: Taxonomies, relation: Relation = CUTS) -> Step:
    """The step that makes :data:`CUTS`, or another relation, of what was noted of a cut."""
    query = Queries("cuts").query("noted_cut", noted_labels=LABELS, noted_parts=PARTS)
    return Step(relation, taxonomies.at(query, taxonomy), "the cut of a release")


def without_label(source: exp.Expr, predictors: Predictors, relation: Relation = CUTS) -> exp.Query:
    """``anon.rows_without_label``: attribute, row_count."""
    return table_call("rows_without_label", source.copy(), relation.table, *_lists(predictors))


def generalized(
    source: exp.Expr, columns: Sequence[str], predictors: Predictors, relation: Relation = CUTS
) -> exp.Select:
    """``anon.apply_cut``, with the columns in their order."""
    rows = table_call("apply_cut", source.copy(), relation.table, *_lists(predictors))
    return select([column(name) for name in columns], subquery(rows, "anon_generalized"))


def _lists(predictors: Predictors) -> list[exp.Array]:
    return [names(each) for each in (predictors.categories, predictors.numbers, predictors.sets)]
