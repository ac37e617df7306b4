"""Whole trees: persons who look alike in all of their rows, at least k of them, or left out with all of their rows.

Classes only become unions of classes towards the top, so what is left out is monotone. Persons are compared by
signatures. Equal sums of hashes may be of different trees; a run compares what it wrote by sorted lists.

Source: Nergiz, Clifton and Nergiz 2009; spec/linked.md, theorem A.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.methods.linked.encoded import EncodedLinked
from sqlanon.methods.linked.keyed_rows import SQL as KEYED
from sqlanon.methods.linked.keyed_rows import ShownRows, TableCounts
from sqlanon.methods.linked.node_counts import NodeCounts
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

PERSONS, IS_KEPT = "anon_persons", "anon_is_kept"
MAX_PARTS = 12
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
            home = next(table for table in encoded.keyed.values() if name in table.columns)
            roles = SQL.given(rows=home.relation, value=exact_text(column(name)))
            values = roles.query("values_of_persons", person_count=encoded.rows(encoded.policy.root))
            engine.run(Step(relation, values, f'persons who have values of "{name}"', is_again=True))

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
        self._rows = TreeRows(encoded)
        self._parts: dict[Levels, Relation] = {}
        self._made = 0
        self._shares = TreeShares(engine, encoded)
        self._known: dict[Levels, NodeCounts] = {}  # without losses

    def bounds(self, nodes: Sequence[Levels]) -> list[NodeCounts]:
        """Count nodes: what is left out by the columns of persons alone would rule out little."""
        return self.counts(nodes, with_losses=False)

    def counts(self, nodes: Sequence[Levels], *, with_losses: bool) -> list[NodeCounts]:
        new = {levels for levels in nodes if levels not in self._known}
        for _, alike in itertools.groupby(sorted(new, key=self._part), key=self._part):
            together = [*alike]
            for levels, row in zip(together, self._totals(together), strict=True):
                tables = {name: self._table_counts(name, row) for name in self._encoded.tables}
                self._known[levels] = NodeCounts(levels, tables, row["class_count"], row["kept_class_count"])
        counted = [self._known[levels] for levels in nodes]
        return [*map(self._with_losses, counted)] if with_losses else counted

    def show(self, levels: Levels) -> dict[str, ShownRows]:
        kept, shown = self._kept_persons(levels), {}
        for name, table in self._rows.tables.items():
            found = Relation(f"anon_shown_{table.bound.rows.place}", "row")
            self._engine.run(KEYED.step(found, "rows_of_persons", rows=table.relation, persons=kept))
            shown[name] = ShownRows(table, [(found, self._encoded.own_levels(name, levels))])
        return shown

    def _with_losses(self, counts: NodeCounts) -> NodeCounts:
        """Add the losses of tables whose rows are left out; others follow from the levels."""
        lacking = [name for name, each in counts.tables.items() if each.left_out and self._encoded.weights[name]]
        if not lacking:
            return counts
        kept, tables = self._kept_persons(counts.levels), dict(counts.tables)
        for name in lacking:
            table, own = self._rows.tables[name], self._encoded.own_levels(name, counts.levels)
            rows = KEYED.given(rows=table.relation, keys=table.keys, masks=table.masks(own))
            labels = rows.query("labels_of_persons", persons=kept)
            found = table.label_counts(self._engine, subquery(labels, "anon_labels"), own)
            tables[name] = table.counts(found["rows"], found["lost"], tables[name].certain)
        return replace(counts, tables=tables)

    def _kept_persons(self, levels: Levels) -> Relation:
        kept, keys, persons = Relation("anon_kept_persons", "row"), self._keys(levels), self._persons(levels)
        sql = SQL.given(persons=persons, values=[*keys.values()], keys=[*keys], classes=self._classes(persons, levels))
        self._engine.run(replace(sql.step(kept, "kept_persons"), is_again=True))
        return kept

    def _part(self, levels: Levels) -> Levels:
        """Return the levels of tables below persons."""
        return levels[len(self._encoded.bound.root.own) :]

    def _persons(self, levels: Levels) -> Relation:
        """Return the persons with the signatures of their rows, made once for the nodes that share them."""
        part = self._part(levels)
        relation = self._parts.pop(part, None)
        if relation is None:
            self._made += 1
            relation = Relation(f"anon_persons_{self._made}", "row")
            self._engine.run(Step(relation, self._rows.persons(levels), "persons with signatures of their rows"))
        self._parts[part] = relation  # the latest one is the last
        if len(self._parts) > MAX_PARTS:
            self._engine.drop(self._parts.pop(next(iter(self._parts))))
        return relation

    def _table_counts(self, name: str, found: Mapping[str, Any]) -> TableCounts:
        rows = self._rows_column(name)
        return TableCounts(int(found[rows]), int(found.get(f"certain_{rows}", found[rows])))

    def _totals(self, nodes: Sequence[Levels]) -> list[dict[str, Any]]:
        """Return the counts of nodes of one part, with the rows of each table that are left out."""
        persons, columns = self._persons(nodes[0]), []
        for rows in map(self._rows_column, self._encoded.tables):
            columns.append(_sum_of(column(rows), exp.not_(column(IS_KEPT)), rows))
            if self._shares.bounds:
                columns.append(_sum_of(column(rows), column(PERSONS) < self._encoded.policy.k, f"certain_{rows}"))
        counted = (
            SQL.query("counts", classes=self._classes(persons, levels), node=place, left_out=columns)
            for place, levels in enumerate(nodes)
        )
        found = self._engine.fetch(union_all(counted), "classes of persons", "node")
        return sorted(found, key=lambda row: int(row["node"]))

    def _classes(self, persons: Relation, levels: Levels) -> exp.Select:
        """Select the classes of persons at a node, with their rows, and whether they are kept."""
        keys = self._keys(levels)
        below = (self._rows_column(name) for name in self._encoded.tables if name != self._root)
        sums = [aliased(exp.Sum(this=column(each)), each) for each in below]
        names = [aliased(value.copy(), name) for name, value in keys.items()]
        classes = SQL.query("classes", persons=persons, columns=names, values=[*keys.values()], carried=sums)
        return self._shares.judged(classes, persons.table, keys)

    def _keys(self, levels: Levels) -> dict[str, exp.Expr]:
        return {**self._rows.own_bits(self._root, levels), SIGNATURE: column(SIGNATURE)}

    def _rows_column(self, name: str) -> str:
        return PERSONS if name == self._root else self._rows.of(name, ROWS)


def _sum_of(value: exp.Expr, condition: exp.Expr, name: str) -> exp.Alias:
    return aliased(f.coalesce(filtered(exp.Sum(this=value), condition), 0), name)
