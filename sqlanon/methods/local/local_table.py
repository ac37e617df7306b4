"""The table that local recoding peels: cells, keys and labels in the database, facts on nodes in Python."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.model.criteria import CLASS_SIZE, Bound
from sqlanon.model.lattice import Levels, Table
from sqlanon.model.policy.policy import Policy
from sqlanon.model.quality import LM, NCP
from sqlanon.nodes.table import EncodedTable
from sqlanon.queries.class_measures import class_relation, within
from sqlanon.queries.encoding import ROW_COUNT, WEIGHT, Encoding
from sqlanon.queries.grouping import Grouping, mask_column
from sqlanon.queries.joint_classes import with_values_within
from sqlanon.queries.kit.named import Queries, Role
from sqlanon.queries.kit.nodes import Relation, Step, aliased, cast, column, double, f, number, select, subquery, values
from sqlanon.queries.source_rows import number_of_key

UNITS = 2**30
"""Losses of labels and masses of keys are integers in units of 1 / 2^30, so their products and sums are exact."""

KEY = "anon_key"  # the number of a key, from 1 in key order
CLASS = "anon_class"  # the number of a class, from 1; 0 is that of masked rows
NUMBER = "anon_number"  # the number of the joint class in earlier releases, or 0

KEYS = Relation("anon_weighed_keys", "cell")  # the keys, each once, with numbers, words, rows and mass
CELLS = Relation("anon_peeled_cells", "cell")  # the cells with their keys, if bounds look at more than rows
LABELS = Relation("anon_weighed_labels", "node")  # by position, depth and words of keys, the loss of a label per row
PARTS = Relation("anon_parts", "cell")  # the class of each key: 0 if open, -1 if left out
LEVELS = Relation("anon_levels_of_classes", "class")  # by class and position, the depth and the bits of the label


class LocalTable:
    """A table to peel; :meth:`make` makes its keys, cells and labels."""

    def __init__(self, engine: Compute, source: EncodedTable) -> None:
        has_earlier = source.encoding.spec.earlier is not None
        looks_at_cells = source.encoding.criteria.looks_at_values or has_earlier
        encoding = (source if looks_at_cells else source.without_values()).encoding
        # The weights of rows in the cells, if bounds look at them; the loss has them as masses of keys.
        self.weights = [WEIGHT] if any(each.measure.view == "sample" for each in encoding.criteria.bounds) else []
        if not self.weights:
            encoding = replace(encoding, spec=replace(encoding.spec, row_weight=None))
        bounds = encoding.criteria.class_bounds
        shares = shares_of(source.bound.policy)
        losses = zip(level_losses(source), (share * len(shares) * UNITS for share in shares), strict=True)
        self.engine, self.source = engine, source
        self.policy, self.lattice = source.bound.policy, source.bound.lattice
        # The table's loss per row in UNITS, by quasi-identifier and level.
        self.level_losses: Table = tuple(tuple(round(loss * scale) for loss in of) for of, scale in losses)
        self.encoding = encoding  # of the cells, without values if no model looks at them
        self.words = key_words(encoding)
        self.bits = [*map(mask_column, range(len(self.words)))]
        self.cells = CELLS if encoding.distinguishing else KEYS  # that classes are judged by
        self.numbered = [NUMBER] if has_earlier else []
        self.carried = [*encoding.carried, *self.numbered]  # the columns of cells that classes are judged by
        # The minimum number of rows or individuals in a class.
        self.least_size = max((int(each.threshold) for each in bounds if each.measure == CLASS_SIZE), default=1)
        # Whether a class that meets all bounds still does with any further cells.
        self.is_monotonic = not has_earlier and all(each.monotonic for each in bounds)
        roles: dict[str, Role] = {"weighed": KEYS, "labels": LABELS, "units": UNITS, "weights": self.weights}
        self.sql = Queries("peeling", {**key_roles(encoding), **roles})

    def make(self) -> None:
        encoding, weight = self.encoding, ROW_COUNT
        mass: exp.Expr = column("anon_mass")
        if self.source.encoding.spec.row_weight is not None:
            weight = WEIGHT
            mass = f.greatest(f.round(mass * UNITS / exp.Window(this=exp.Sum(this=column("anon_mass")))), 1)
        sql = self.sql.given(cells=with_words(encoding, encoding.cells))
        joint = number_of_key(encoding) if self.numbered else 0
        self.engine.run(sql.step(KEYS, "numbered_keys", weight=weight, mass=mass, number=joint))
        if self.cells is CELLS:
            names, labels = encoding.distinguishing, encoding.sensitive_labels
            self.engine.run(sql.step(CELLS, "cells_with_keys", distinguishing=names, labels=labels))
        labelled = with_words(encoding, encoding.labels)
        self.engine.run(sql.step(LABELS, "weighed_labels", labels=labelled, **loss_roles(self.policy)))

    def masks(self, levels: Levels) -> list[int]:
        masks = self.encoding.keys.node_masks(levels)
        return [masks.get(word, 0) for word in range(len(self.words))]

    def is_met(self) -> exp.Expr:
        """Return whether a class, with its key, meets the bounds, including those beside earlier releases."""
        encoding = self.encoding
        met = within(encoding, encoding.criteria.class_bounds)
        changed = [each for each in encoding.spec.shown_values if each.column != each.bounded]
        if changed:
            met = exp.and_(met, with_values_within(encoding, changed, [column(NUMBER)]), copy=False)
        return exp.func("coalesce", met, exp.false())

    def classes(self, cells: exp.Query, keys: Sequence[str]) -> exp.Select:
        measured_from = 1 if self.encoding.criteria.counts_individuals else self.least_size
        return class_relation(self.grouping(cells, keys), with_keys=True, measured_from=measured_from)

    def grouping(self, cells: exp.Query, keys: Sequence[str]) -> Grouping:
        earlier, relation = self.encoding.spec.earlier, subquery(cells, "anon_judged_cells")
        gaps = earlier is not None and earlier.is_by_person
        return Grouping(self.encoding, (*keys, *self.numbered), relation.copy, relation.copy, gaps=gaps)


def key_words(encoding: Encoding) -> list[str]:
    return [encoding.key(word) for word in range(max(encoding.keys.word_count, 1))]


def with_words(encoding: Encoding, relation: Relation) -> Relation | exp.Query:
    if encoding.keys.word_count:
        return relation
    return select([exp.Star(), aliased(cast(number(0), "BIGINT"), encoding.key(0))], relation.table)


def key_roles(encoding: Encoding) -> dict[str, Role]:
    """Return the words of keys and ``masks``: by position and depth, the bits of each word that distinguish labels."""
    keys, rows = key_words(encoding), []
    bits = [*map(mask_column, range(len(keys)))]
    for place, shape in enumerate(encoding.spec.shapes):
        for depth in range(shape.height + 1):
            masks = encoding.keys.label_masks(place, depth)
            rows.append([*map(number, (place, depth, *(masks.get(word, 0) for word in range(len(keys)))))])
    return {"keys": keys, "bits": bits, "masks": values("anon_masks", ("position", "depth", *bits), rows)}


def shares_of(policy: Policy) -> tuple[float, ...]:
    """Return the weight of each quasi-identifier in the loss, as a share of 1."""
    weights = getattr(policy.method, "importance", {}) or getattr(policy.quality, "weights", {})
    return LM(weights=weights).shares(policy.quasi_identifiers)


def loss_roles(policy: Policy) -> dict[str, Role]:
    shares = enumerate(shares_of(policy))
    weighed = values("anon_shares", ("position", "share"), ([number(place), double(share)] for place, share in shares))
    return {"loss": column("ncp" if isinstance(policy.quality, NCP) else "lm"), "shares": weighed, "units": UNITS}


def level_losses(source: EncodedTable) -> Table:
    losses = source.context.losses
    return losses.ncp if isinstance(source.bound.policy.quality, NCP) else losses.lm


OF_ONE_NODE = ("attacker", "population", "labels")
"""Views that only the classes of one node have."""


def judges_no_classes(bounds: Iterable[Bound]) -> list[Bound]:
    """Return the bounds that are only defined for the classes of one node."""
    return [bound for bound in bounds if bound.grain == "node" or bound.measure.view in OF_ONE_NODE]


def make_empty(engine: Compute, relation: Relation, columns: Sequence[str], purpose: str) -> None:
    query = exp.Select(expressions=[aliased(cast(number(0), "BIGINT"), name) for name in columns])
    engine.run(Step(relation, query.where(exp.false(), copy=False), purpose))
