"""The table that local recoding peels: its cells, keys and labels in the database, and what Python knows of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.model.bounds import CLASS_SIZE, Bound
from sqlanon.model.lattice import Lattice, Levels, Table, total
from sqlanon.model.methods.local import LocalRecoding
from sqlanon.model.policy.policy import Policy
from sqlanon.model.quality import NCP
from sqlanon.nodes.table import EncodedTable
from sqlanon.queries.class_measures import class_relation, within
from sqlanon.queries.encoding import ROW_COUNT, WEIGHT, Encoding
from sqlanon.queries.grouping import Grouping, mask_column, measure_column
from sqlanon.queries.joint_classes import with_values_within
from sqlanon.queries.kit.named import Queries, Role
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    c,
    cast,
    column,
    double,
    f,
    number,
    select,
    subquery,
    values,
)
from sqlanon.queries.source_rows import number_of_key

UNITS = 2**30
"""Losses of labels, and masses of keys, are integers in units of 1 / 2^30: their products and sums are exact."""

KEYS = Relation("anon_weighed_keys", "cell")
"""The keys, each once, with a number from 1 in their order (``anon_key``), their words, rows and mass.

``anon_number`` is the number of the joint class in earlier releases, or 0.
"""

CELLS = Relation("anon_peeled_cells", "cell")
"""The cells, with the number and the words of their key and what classes are judged by, if that is more than rows."""

LABELS = Relation("anon_weighed_labels", "node")
"""By position, depth and words of keys the number of the label, and what it loses of a row in :data:`UNITS`."""

PARTS = Relation("anon_parts", "cell")
"""The keys, and the class of each: 0 if it is in none yet, -1 if it is left out."""

LEVELS = Relation("anon_levels_of_classes", "class")
"""By class and quasi-identifier (``position``) the level (``depth``), and the bits of the label in words of keys."""

CLASS = "anon_class"
"""The column with the number of a class, from 1; among rows that are published 0 is that of masked ones."""

KEY = "anon_key"
NUMBER = "anon_number"


@dataclass(frozen=True)
class LocalTable:
    """A table that is peeled; :meth:`make` makes its keys, cells and labels."""

    engine: Compute
    source: EncodedTable  # the cells of the run
    encoding: Encoding  # of these, without values if no model looks at them

    @classmethod
    def of(cls, engine: Compute, source: EncodedTable) -> LocalTable:
        """Find out what classes of some cells are judged by."""
        looks = source.encoding.criteria.looks_at_values or source.encoding.spec.earlier is not None
        encoding = (source if looks else source.without_values()).encoding
        return cls(engine, source, replace(encoding, spec=replace(encoding.spec, row_weight=None)))

    def make(self) -> None:
        """Make :data:`KEYS`, :data:`LABELS`, and :data:`CELLS` if classes are judged by these."""
        encoding, weight = self.encoding, ROW_COUNT
        mass: exp.Expr = c.anon_mass
        if self.source.encoding.spec.row_weight is not None:
            weight = WEIGHT
            mass = f.greatest(f.round(mass * UNITS / exp.Window(this=exp.Sum(this=c.anon_mass))), 1)
        sql = self.sql.given(cells=with_words(encoding, encoding.cells))
        joint = number_of_key(encoding) if self._numbered else 0
        self.engine.run(sql.step(KEYS, "numbered_keys", weight=weight, mass=mass, number=joint))
        if self.cells is CELLS:
            names, labels = encoding.distinguishing, encoding.sensitive_labels
            self.engine.run(sql.step(CELLS, "cells_with_keys", distinguishing=names, labels=labels))
        labelled = with_words(encoding, encoding.labels)
        self.engine.run(sql.step(LABELS, "weighed_labels", labels=labelled, **loss_roles(self.policy)))

    @property
    def policy(self) -> Policy:
        """The policy that its classes meet."""
        return self.source.bound.policy

    @cached_property
    def lattice(self) -> Lattice:
        """The levels that may be published."""
        return self.source.bound.lattice

    @cached_property
    def cells(self) -> Relation:
        """The cells by which classes are judged; the keys if by their rows alone."""
        return CELLS if self.encoding.distinguishing else KEYS

    @cached_property
    def words(self) -> list[str]:
        """The words of a key, by :func:`key_words`."""
        return key_words(self.encoding)

    @cached_property
    def bits(self) -> list[str]:
        """The columns with the bits of masks, by :func:`mask_columns`."""
        return mask_columns(self.encoding)

    @cached_property
    def roles(self) -> dict[str, Role]:
        """The roles that queries of peeling and settling share."""
        return {**key_roles(self.encoding), "weighed": KEYS, "labels": LABELS, "units": UNITS}

    @cached_property
    def sql(self) -> Queries:
        """The queries of peeling."""
        return Queries("peeling", self.roles)

    @cached_property
    def least_size(self) -> int:
        """The rows, or individuals, that every class has at least."""
        bounds = self.encoding.criteria.class_bounds
        return max((int(bound.threshold) for bound in bounds if bound.measure == CLASS_SIZE), default=1)

    @cached_property
    def is_monotonic(self) -> bool:
        """Whether a class that meets all bounds meets them with any other cells, too."""
        return self.encoding.spec.earlier is None and all(
            bound.monotonic for bound in self.encoding.criteria.class_bounds
        )

    def masks(self, levels: Levels) -> list[int]:
        """The bits of each word that distinguish the classes of a node."""
        masks = self.encoding.keys.node_masks(levels)
        return [masks.get(word, 0) for word in range(len(self.words))]

    def is_met(self) -> exp.Expr:
        """Whether a class, with its key, meets the bounds, also on what earlier releases show of it."""
        encoding = self.encoding
        met = within(encoding, encoding.criteria.class_bounds)
        changed = [each for each in encoding.spec.shown_values if each.column != each.bounded]
        if changed:
            met = exp.and_(met, with_values_within(encoding, changed, [column(NUMBER)]), copy=False)
        return exp.func("coalesce", met, exp.false())

    def is_large(self) -> exp.Expr:
        """Whether a class has the rows, or individuals, that every class has at least."""
        return exp.GTE(this=column(measure_column(self.encoding, CLASS_SIZE)), expression=number(self.least_size))

    def classes(self, cells: exp.Query, keys: Sequence[str]) -> exp.Select:
        """Classes of cells with their keys and measures; small ones need not have their values measured."""
        measured_from = 1 if self.encoding.criteria.counts_individuals else self.least_size
        return class_relation(self.grouping(cells, keys), with_keys=True, measured_from=measured_from)

    def grouping(self, cells: exp.Query, keys: Sequence[str]) -> Grouping:
        """Cells that are grouped by some of their columns, and by the number of their joint class if there is one."""
        earlier, relation = self.encoding.spec.earlier, subquery(cells, "anon_judged_cells")
        gaps = earlier is not None and earlier.is_by_person
        return Grouping(self.encoding, (*keys, *self._numbered), relation.copy, relation.copy, gaps=gaps)

    @cached_property
    def carried(self) -> list[str]:
        """The columns of cells that classes are judged by."""
        return [*self.encoding.carried, *self._numbered]

    @property
    def _numbered(self) -> list[str]:
        """The column of the number of a joint class, if earlier releases make such."""
        return [] if self.encoding.spec.earlier is None else [NUMBER]

    @cached_property
    def level_losses(self) -> Table:
        """By quasi-identifier and level, what the whole table loses of a row, in :data:`UNITS`."""
        shares = settings_of(self.policy).shares(self.policy)
        scaled = zip(level_losses(self.source), (share * len(shares) * UNITS for share in shares), strict=True)
        return tuple(tuple(round(loss * scale) for loss in of) for of, scale in scaled)

    def ordered_nodes(self) -> list[Levels]:
        """The nodes by what the table loses at them, the least first, and then in lexicographic order."""
        return sorted(self.lattice.nodes(), key=partial(total, self.level_losses))


def key_words(encoding: Encoding) -> list[str]:
    """The columns of keys; a single one of zeros if all quasi-identifiers have one label each."""
    return [encoding.key(word) for word in range(max(encoding.keys.word_count, 1))]


def with_words(encoding: Encoding, relation: Relation) -> Relation | exp.Query:
    """A relation with keys, with a word of zeros if these have none."""
    if encoding.keys.word_count:
        return relation
    return select([exp.Star(), aliased(cast(number(0), "BIGINT"), encoding.key(0))], relation.table)


def mask_columns(encoding: Encoding) -> list[str]:
    """The columns with the bits that a mask shows of each of :func:`key_words`."""
    return [mask_column(word) for word, _ in enumerate(key_words(encoding))]


def key_roles(encoding: Encoding) -> dict[str, Role]:
    """The words of keys, and ``masks``: by position and depth the bits of each word that distinguish labels there."""
    names, rows = mask_columns(encoding), []
    for place, shape in enumerate(encoding.spec.shapes):
        for depth in range(shape.height + 1):
            masks = encoding.keys.label_masks(place, depth)
            rows.append([*map(number, (place, depth, *(masks.get(word, 0) for word, _ in enumerate(names))))])
    masks_of_labels = values("anon_masks", ("position", "depth", *names), rows)
    return {"keys": key_words(encoding), "bits": names, "masks": masks_of_labels}


def loss_roles(policy: Policy) -> dict[str, Role]:
    """The loss of labels by the quality model of a policy, and how much each quasi-identifier counts in it."""
    shares = enumerate(settings_of(policy).shares(policy))
    weighed = values("anon_shares", ("position", "share"), ([number(place), double(share)] for place, share in shares))
    return {"loss": column("ncp" if isinstance(policy.quality, NCP) else "lm"), "shares": weighed, "units": UNITS}


def settings_of(policy: Policy) -> LocalRecoding:
    """Return the settings of a policy for local recoding."""
    assert isinstance(policy.method, LocalRecoding)
    return policy.method


def level_losses(source: EncodedTable) -> Table:
    """By quasi-identifier and level, what a table loses by the quality model of its policy."""
    losses = source.context.losses
    return losses.ncp if isinstance(source.bound.policy.quality, NCP) else losses.lm


def judges_no_classes(bounds: Iterable[Bound]) -> list[Bound]:
    """The bounds that are defined for the classes of one node alone."""
    return [bound for bound in bounds if bound.grain == "node" or bound.measure.view in ("attacker", "population")]


def make_empty(engine: Compute, relation: Relation, columns: Sequence[str], purpose: str) -> None:
    """Make a table of whole numbers that has no rows yet."""
    query = exp.Select(expressions=[aliased(cast(number(0), "BIGINT"), name) for name in columns])
    engine.run(Step(relation, query.where(exp.false(), copy=False), purpose))
