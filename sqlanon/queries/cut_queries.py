"""Rows at the cut of a release: the cut as a table, the macros over it, and the classes that it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from sqlanon.model.labels import CutRecord
from sqlanon.model.methods.cut_methods import as_text, interval_label
from sqlanon.queries import taxonomy_queries as taxonomies
from sqlanon.queries.kit.macros import exact_text, table_call
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    all_of,
    column,
    names,
    same,
    select,
    subquery,
)
from sqlanon.queries.released_classes import ClassesOfRows, carried_columns, labels_by_place, released_labels
from sqlanon.queries.source_rows import persons_by
from sqlanon.queries.spelled import Taxonomies

LABELS = Relation("anon_noted_labels", "node")
"""The labels of a cut: attribute, level, label, is_of_all."""

PARTS = Relation("anon_noted_parts", "node")
"""Labels without values in a taxonomy: attribute, low, high, label of intervals, and of no items."""

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
        return cls((*cut.labels,), (*cut.intervals,), (*cut.items,))

    @property
    def all(self) -> tuple[str, ...]:
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
    rows: list[tuple[str, float | None, float | None, str]] = [
        (name, low, high, interval_label(as_text(low), as_text(high)))
        for name, intervals in cut.intervals.items()
        for low, high in intervals
    ]
    for name, labels in cut.items.items():
        # As long as all items have one label, it is theirs.
        if all(label is not None for _, label in labels):
            rows += ((name, None, None, label) for _, label in labels if label is not None)
    kinds = {"attribute": pa.string(), "low": pa.float64(), "high": pa.float64(), "label": pa.string()}
    return pa.table({name: pa.array([row[at] for row in rows], kind) for at, (name, kind) in enumerate(kinds.items())})


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


@dataclass(frozen=True)
class CutClasses(ClassesOfRows):
    """The classes of a release at a cut, which :func:`cut_of` has, in the order of their labels."""

    predictors: Predictors  # the columns that have labels of the cut
    source: exp.Expr  # the rows that it was made from

    @classmethod
    def of(cls, predictors: Predictors, source: exp.Expr, released: exp.Expr, place: int) -> CutClasses:
        return cls(released_labels(released, labels_by_place(predictors.all)), place, predictors, source)

    @property
    def labels(self) -> Mapping[str, str]:
        return labels_by_place(self.predictors.all)

    def rows(self, keys: Sequence[str], values: Mapping[str, str], *, as_text: bool) -> exp.Select:
        carried, names = [*persons_by(keys), *values], self.predictors.all
        source = exp.alias_(self.source.copy(), "anon_source", table=True)
        columns = carried_columns(keys, values, as_text=as_text)
        keyed = subquery(select([*columns, *(column(name, "anon_source") for name in names)], source), "anon_keyed")
        labelled = generalized(keyed, [*carried, *names], self.predictors, cut_of(self.place))
        query = select([column(name, "anon_labelled") for name in carried], subquery(labelled, "anon_labelled"))
        on = (
            same(column(label, "anon_released"), exact_text(column(name, "anon_labelled")))
            for name, label in self.labels.items()
        )
        return self.join_to(query, "anon_released", all_of([*on]))


def cut_of(place: int) -> Relation:
    """The cut of a release as a table."""
    return Relation(f"anon_cut_of_release_{place}", "node")
