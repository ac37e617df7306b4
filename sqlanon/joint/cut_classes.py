"""The classes of a release at a cut, beside others."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.binding.unknown_values import refuse_unlabelled
from sqlanon.engines.duckdb import Compute
from sqlanon.model.labels import CutRecord
from sqlanon.queries import cut_queries as cuts
from sqlanon.queries.cut_queries import CutClasses, Predictors, cut_of


def cut_classes(engine: Compute, bound: BoundPolicy, cut: CutRecord, released: exp.Expr, place: int) -> CutClasses:
    """The classes of a release that ``place`` others precede, at a cut, whose table is made.

    Raises:
        PolicyError: values of its source have no label there.
    """
    engine.put(cuts.LABELS, cuts.noted_labels(cut))
    engine.put(cuts.PARTS, cuts.noted_parts(cut))
    relation, predictors = cut_of(place), Predictors.of(cut)
    engine.run(cuts.cuts(bound.taxonomy, relation))
    for noted in (cuts.LABELS, cuts.PARTS):
        engine.drop(noted)
    unlabelled = cuts.without_label(bound.source, predictors, relation)
    refuse_unlabelled(engine, bound.description, unlabelled, "its release")
    return CutClasses.of(predictors, bound.source, released, place)
