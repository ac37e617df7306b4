"""Classes of a release at a cut, to be compared with other releases."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.binding.unknown_values import refuse_unlabelled
from sqlanon.engines.duckdb import Compute
from sqlanon.model.labels import CutRecord
from sqlanon.queries.released_classes import (
    CUT_LABELS,
    CUT_PARTS,
    CutClasses,
    Predictors,
    cut_of,
    cut_step,
    noted_labels,
    noted_parts,
    rows_without_label,
)


def cut_classes(engine: Compute, bound: BoundPolicy, cut: CutRecord, released: exp.Expr, place: int) -> CutClasses:
    """Make the table of the classes of a release at a cut, the release at ``place``.

    Raises:
        PolicyError: values of the source have no label at the cut.
    """
    engine.put(CUT_LABELS, noted_labels(cut))
    engine.put(CUT_PARTS, noted_parts(cut))
    relation, predictors = cut_of(place), Predictors.of(cut)
    engine.run(cut_step(bound.taxonomy, relation))
    for noted in (CUT_LABELS, CUT_PARTS):
        engine.drop(noted)
    unlabelled = rows_without_label(bound.source, predictors, relation)
    refuse_unlabelled(engine, bound.description, unlabelled, "its release")
    return CutClasses.of(predictors, bound.source, released, place)
