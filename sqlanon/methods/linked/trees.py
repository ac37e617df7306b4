"""Whole trees: persons who look alike in all of their rows, at least k of them, or left out with all of their rows.

Classes only become unions of classes towards the top, so what is left out is monotone. Persons are compared by
signatures. Equal sums of hashes may be of different trees; a run compares what it wrote by sorted lists.

Source: Nergiz, Clifton and Nergiz 2009; spec/linked.md, theorem A.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.methods.linked.encoded import EncodedLinked
from sqlanon.methods.linked.keyed_rows import LOSS, ShownRows
from sqlanon.methods.linked.node_counts import NodeCounts, TableCounts
from sqlanon.methods.linked.tree_rows import ROWS, SIGNATURE, SQL, TreeRows
from sqlanon.model.criteria import Bound
from sqlanon.model.lattice import Levels
from sqlanon.queries.grouping import passing
from sqlanon.queries.kit.macros import exact_text
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_columns,
    all_of,
    column,
    equal_in,
    f,
    filtered,
    left_join,
    select,
    subquery,
    union_all,
)
from sqlanon.queries.linked import PERSON

PERSONS, IS_KEPT = "anon_persons", "anon_is_kept"
MAX_PARTS = 6
"""Tables of persons that a search keeps: each has a row per person (tests.benchmarks.linked)."""


class TreeShares:
    """Judges classes of persons by their size, and by the share of persons who have a sensitive value in some row.

    Values cannot be counted: a person may have several, so that a class with two diagnoses can be one in which all
    persons have one of them. NULL is a value; a person without rows has none.
    """

    def __init__(self, engine: Compute, encoded: EncodedLinked) -> None:
        self._k = encoded.policy.k
        self.bounds: dict[str, list[Bound]] = {}  # by sensitive column
        for bound in (bound for model in encoded.policy.privacy if hasattr(model, "bounds") for bound in model.bounds):
            if bound.measure.column is not None:
                self.bounds.setdefault(bound.measure.column, []).append(bound)
        self._values = {name: Relation(f"anon_held_{place}", "rows") for place, name in enumerate(self.bounds)}
        for name, relation in self._values.items():
            home = next(table for table in encoded.bound.tables.values() if name in table.rows.columns)
            rows = home.rows.rows([name], numbers=[PERSON])
            roles = SQL.given(rows=rows, value=exact_text(column(name)), person_count=encoded.rows(encoded.policy.root))
            engine.run(
                Step(relation, roles.query("values_of_persons"), f'persons who have values of "{name}"', is_again=True)
            )

    def judged(self, classes: exp.Select, persons: exp.Table, keys: Mapping[str, exp.Expr]) -> exp.Select:
        """Add to classes of persons by keys whether they are kept: ``anon_is_kept``."""
        query = select([all_columns("anon_classes")], subquery(classes, "anon_classes"))
        kept: list[exp.Expr] = [column(PERSONS, "anon_classes") >= self._k]
        for name, bounds in self.bounds.items():
            alias = self._values[name].name
            measures = subquery(self._measures(classes, persons, keys, self._values[name]), alias)
            query = left_join(query, measures, equal_in(keys, "anon_classes", alias))
            kept += [f.coalesce(passing(bound, column(bound.measure.name, alias)), True) for bound in bounds]
        return query.select(aliased(all_of(kept), IS_KEPT), copy=False)

    def _measures(
        self, classes: exp.Select, persons: exp.Table, keys: Mapping[str, exp.Expr], values: Relation
    ) -> exp.Select:
        shown = [aliased(value.copy(), name) for name, value in keys.items()]
        groups = [value.copy() for value in keys.values()]
        holders = SQL.query("holders", persons=persons, values=values, columns=shown, groups=groups)
        return SQL.query("value_measures", holders=holders, classes=classes, keys=[*keys])


class TreeCounter:
    """Counts what nodes leave out so that k persons look alike in all of their rows, and keep the bounds of shares."""

    def __init__(self, engine: Compute, encoded: EncodedLinked) -> None:
        self._engine = engine
        self._encoded = encoded
        self._root = encoded.policy.root
        self.counted: tuple[str, ...] = (self._root,)
        self._rows = TreeRows(engine, encoded)
        self._parts: dict[tuple[Levels, bool], Relation] = {}
        self._made = 0
        self._shares = TreeShares(engine, encoded)
        self._known: dict[tuple[Levels, bool], NodeCounts] = {}  # with losses or without

    def bounds(self, nodes: Sequence[Levels]) -> list[NodeCounts]:
        """Count nodes: what is left out by the columns of persons alone would rule out little."""
        return self.counts(nodes, with_losses=False)

    def counts(self, nodes: Sequence[Levels], *, with_losses: bool) -> list[NodeCounts]:
        new = {levels for levels in nodes if (levels, with_losses) not in self._known}
        for _, alike in itertools.groupby(sorted(new, key=self._part), key=self._part):
            together = [*alike]
            for levels, row in zip(together, self._totals(together, with_losses), strict=True):
                tables = {name: self._table_counts(name, levels, row) for name in self._encoded.tables}
                counts = NodeCounts(levels, tables, row["class_count"], row["kept_class_count"])
                self._known[levels, with_losses] = counts
        return [self._known[levels, with_losses] for levels in nodes]

    def show(self, levels: Levels) -> dict[str, ShownRows]:
        persons, kept = self._persons(levels, False), Relation("anon_kept_persons", "row")
        keys, classes = self._keys(levels), self._classes(persons, levels, False)
        sql = SQL.given(persons=persons, values=[*keys.values()], keys=[*keys], classes=classes)
        self._engine.run(sql.step(kept, "kept_persons"))
        shown = {}
        for name, table in self._rows.tables.items():
            found = Relation(f"anon_shown_{table.bound.rows.place}", "row")
            self._engine.run(SQL.step(found, "rows_of_persons", rows=table.relation, persons=kept))
            shown[name] = ShownRows(table, [(found, self._encoded.own_levels(name, levels))])
        return shown

    def _part(self, levels: Levels) -> Levels:
        """Return the levels of tables below persons."""
        return levels[len(self._encoded.bound.root.own) :]

    def _persons(self, levels: Levels, with_losses: bool) -> Relation:
        """Return the persons with the signatures of their rows, made once for the nodes that share them."""
        part = self._part(levels), with_losses
        relation = self._parts.pop(part, None)
        if relation is None:
            self._made += 1
            relation = Relation(f"anon_persons_{self._made}", "row")
            persons = self._rows.persons(levels, with_losses=with_losses)
            self._engine.run(Step(relation, persons, "persons with signatures of their rows", is_again=True))
        self._parts[part] = relation  # the latest one is the last
        if len(self._parts) > MAX_PARTS:
            self._engine.drop(self._parts.pop(next(iter(self._parts))))
        return relation

    def _table_counts(self, name: str, levels: Levels, found: Mapping[str, Any]) -> TableCounts:
        rows, losses = self._columns(name)
        left_out, loss = int(found[rows]), None
        if left_out and losses in found and self._encoded.weights[name]:
            known, gain = self._encoded.known_mean(name, levels), left_out - found[losses]
            loss = known + gain / self._encoded.rows(name)
        return TableCounts(left_out, int(found.get(f"certain_{rows}", left_out)), loss)

    def _totals(self, nodes: Sequence[Levels], with_losses: bool) -> list[dict[str, Any]]:
        """Return the counts of nodes of one part, with the sums of what is left out by the columns of tables."""
        persons, is_left_out = self._persons(nodes[0], with_losses), exp.not_(column(IS_KEPT))
        columns = []
        for rows, losses in map(self._columns, self._encoded.tables):
            columns.append(_sum_of(column(rows), is_left_out, rows))
            if self._shares.bounds:
                columns.append(_sum_of(column(rows), column(PERSONS) < self._encoded.policy.k, f"certain_{rows}"))
            if with_losses:
                of_class = exp.Mul(this=column(rows), expression=column(LOSS)) if rows == PERSONS else column(losses)
                columns.append(_sum_of(of_class, is_left_out, losses))
        counted = (
            SQL.query("counts", classes=self._classes(persons, levels, with_losses), node=place, left_out=columns)
            for place, levels in enumerate(nodes)
        )
        found = self._engine.fetch(union_all(counted), "classes of persons", "node")
        return sorted(found, key=lambda row: int(row["node"]))

    def _classes(self, persons: Relation, levels: Levels, with_losses: bool) -> exp.Select:
        """Select the classes of persons at a node, with what is below them, and whether they are kept."""
        keys = self._keys(levels)
        below = [each for name in self._encoded.tables if name != self._root for each in self._columns(name)]
        sums = [aliased(exp.Sum(this=column(each)), each) for each in below if with_losses or not each.startswith(LOSS)]
        names = [aliased(value.copy(), name) for name, value in keys.items()]
        classes = SQL.query("classes", persons=persons, columns=names, values=[*keys.values()], carried=sums)
        if with_losses:
            classes = self._rows.with_loss(self._root, classes, levels)
        return self._shares.judged(classes, persons.table, keys)

    def _keys(self, levels: Levels) -> dict[str, exp.Expr]:
        return {**self._rows.own_bits(self._root, levels), SIGNATURE: column(SIGNATURE)}

    def _columns(self, name: str) -> tuple[str, str]:
        if name == self._root:
            return PERSONS, LOSS
        return self._rows.of(name, ROWS), self._rows.of(name, LOSS)


def _sum_of(value: exp.Expr, condition: exp.Expr, name: str) -> exp.Alias:
    return aliased(f.coalesce(filtered(exp.Sum(this=value), condition.copy()), 0), name)
