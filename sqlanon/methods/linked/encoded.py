"""Linked tables as cells: those of each table's path, and one lattice for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from sqlanon.binding.linked import BoundLinked, BoundTable
from sqlanon.binding.unknown_values import unknown_values
from sqlanon.engines.duckdb import Compute
from sqlanon.errors import TaxonomyError
from sqlanon.methods.linked.keyed_rows import KeyedRows
from sqlanon.methods.linked.linked_loss import UNITS, LinkedLoss
from sqlanon.model.lattice import LevelLosses, Levels, LossContext, Table
from sqlanon.model.policy.linked_policy import LinkedPolicy
from sqlanon.nodes.table import EncodedTable, encode_table
from sqlanon.queries.source_rows import UNKNOWN


@dataclass(frozen=True)
class EncodedLinked:
    """The cells of all tables, and the context of their loss.

    Each table has the cells of its path: of its own quasi-identifiers and those of the rows above, by person. The
    lattice has the quasi-identifiers of all tables, in their order.
    """

    bound: BoundLinked
    tables: Mapping[str, EncodedTable]  # by name, parents first
    context: LossContext  # of all tables; rows are counted in :data:`~.linked_loss.UNITS`
    quality: LinkedLoss

    @property
    def policy(self) -> LinkedPolicy:
        return self.bound.policy

    def path_levels(self, table: str, levels: Levels) -> Levels:
        """Return the levels of a node in the quasi-identifiers of a table's path."""
        return tuple(levels[place] for place in self._path_places[table])

    def own_levels(self, table: str, levels: Levels) -> Levels:
        return tuple(levels[place] for place in self._own_places[table])

    def chains(self, levels: Levels) -> dict[str, list[Levels]]:
        """Return the levels of a node by table, as rungs."""
        return {name: [self.own_levels(name, levels)] for name in self.tables}

    def rows(self, table: str) -> int:
        """Return the rows of a table that belong to persons: its losses are means over them."""
        return self.bound.tables[table].counts.linked

    def allowed(self, table: str) -> int:
        """Return how many rows of a table may be left out beside those that belong to nobody or are cut."""
        counts = self.bound.tables[table].counts
        path = self.bound.tables[table].path.policy
        most = path.allowed_rows(counts.linked - counts.cut, counts.orphans + counts.cut)
        return min(most, counts.linked - 1) if table == self.policy.root else most  # somebody is released

    @cached_property
    def keyed(self) -> dict[str, KeyedRows]:
        """The rows of all tables by number, with what is kept of them; :func:`encode_linked` makes them."""
        return {name: KeyedRows(self, name) for name in self.tables}

    @cached_property
    def weights(self) -> dict[str, float]:
        """The weight of each table's quasi-identifiers in the loss; they add up to 1."""
        shares = self.quality.shares(self.context.lattice.quasi_identifiers)
        return {name: sum(shares[place] for place in places) for name, places in self._own_places.items()}

    def known_loss(self, table: str, own: Levels) -> float:
        """Return the weighted loss of a table at levels of its own columns where all of its rows are released."""
        return sum(self._known[place][level] for place, level in zip(self._own_places[table], own, strict=True))

    def known_mean(self, table: str, levels: Levels) -> float:
        """Return :meth:`known_loss` at a node of all tables, without the weight of the table."""
        weight = self.weights[table]
        return self.known_loss(table, self.own_levels(table, levels)) / weight if weight else 0.0

    @cached_property
    def _known(self) -> Table:
        return self.quality.known_bounds(self.context)

    @cached_property
    def _own_places(self) -> dict[str, tuple[int, ...]]:
        places = {name: place for place, name in enumerate(self.context.lattice.quasi_identifiers)}
        return {name: tuple(places[each] for each in table.own) for name, table in self.bound.tables.items()}

    @cached_property
    def _path_places(self) -> dict[str, tuple[int, ...]]:
        own = self._own_places
        return {name: tuple(place for each in self.policy.path(name) for place in own[each]) for name in own}


def encode_linked(engine: Compute, bound: BoundLinked) -> EncodedLinked:
    """Make the cells of every table's path, and its rows with keys; the rows of the sources are dropped.

    Raises:
        TaxonomyError: a table has values that a taxonomy lacks.
    """
    tables = {name: _encoded(engine, table) for name, table in bound.tables.items()}
    places = tuple(place for place, table in enumerate(bound.tables.values()) for _ in table.own)
    quality = LinkedLoss(weights=bound.policy.quality.weights, tables=places)
    context = LossContext(bound.lattice, _losses(bound, tables), row_count=UNITS, allowed_rows=UNITS, k=bound.policy.k)
    encoded = EncodedLinked(bound, tables, context, quality)
    for keyed in encoded.keyed.values():
        engine.run(keyed.step())
    for table in bound.tables.values():
        engine.drop(table.rows.relation)
    return encoded


def _encoded(engine: Compute, table: BoundTable) -> EncodedTable:
    has_persons = table.rows.parent is not None  # in its cells
    prefix = f"anon_{table.rows.place}"
    try:
        encoded = encode_table(engine, table.path, label_losses=("lm",), row_by_row=has_persons, prefix=prefix)
    except TaxonomyError:
        # Its query would list the values of temporary tables.
        path, source, actions = table.path, table.source, "label the values at the top"
        columns = dict.fromkeys(table.own, source.relation)
        raise unknown_values(engine, source.description, columns, path.taxonomy, path.known, actions=actions) from None
    if table.path.unknown is not None:
        engine.drop(UNKNOWN)
    # Several tables have labels at a time: they stay texts, since types would need names of their own.
    return replace(encoded, encoding=replace(encoded.encoding, has_label_texts=True))


def _losses(bound: BoundLinked, tables: Mapping[str, EncodedTable]) -> LevelLosses:
    """Return the losses of the levels of all tables, as if they were one; rows that are cut lose 1."""
    lm: list[tuple[float, ...]] = []
    entropy: list[tuple[float, ...]] = []
    largest: list[tuple[float, ...]] = []
    width = len(bound.lattice.quasi_identifiers)
    for name, table in bound.tables.items():
        of_path, cut = tables[name].context.losses, table.counts.cut / table.counts.linked
        first = len(of_path.lm) - len(table.own)  # after the columns of the rows above
        for losses in of_path.lm[first:]:
            lm.append(tuple(((1 - cut) * loss * len(of_path.lm) + cut) / width for loss in losses))
        entropy += of_path.entropy[first:]
        largest += of_path.largest_lm[first:]
    return LevelLosses(prec=(), entropy=tuple(entropy), lm=tuple(lm), ncp=(), largest_lm=tuple(largest))
