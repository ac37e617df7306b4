"""Whole trees: persons who look alike in all of their rows, at least k of them, or left out with all of their rows.

Classes only become unions of classes towards the top, so what is left out is monotone. A search counts by signatures;
what it chooses is counted again by sorted lists, since equal sums of hashes may be of different trees.

Source: Nergiz, Clifton and Nergiz 2009; spec/linked.md, theorem A.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.errors import VerificationError
from sqlanon.methods.linked.encoded import EncodedLinked
from sqlanon.methods.linked.keyed_rows import LOSS
from sqlanon.methods.linked.node_counts import NodeCounts, TableCounts, choose_linked_node
from sqlanon.methods.linked.shown_rows import labelled_rows, shown
from sqlanon.methods.linked.tree_rows import ROWS, SIGNATURE, SQL, TreeRows, TreesAt
from sqlanon.model.criteria import Bound
from sqlanon.model.lattice import Levels
from sqlanon.nodes.choice import Observer
from sqlanon.queries.grouping import passing
from sqlanon.queries.kit.macros import exact_text
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_columns,
    all_of,
    called,
    column,
    equal_in,
    f,
    filtered,
    left_join,
    select,
    subquery,
    union_all,
)
from sqlanon.queries.linked import PERSON, ROW
from sqlanon.search import SearchOutcome

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
        self.counted: tuple[str, ...] = (encoded.policy.root,)
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
            rows = self._totals(self._persons(together[0], with_losses), together, with_losses)
            for levels, row in zip(together, rows, strict=True):
                tables = {name: self._table_counts(name, levels, row) for name in self._encoded.tables}
                counts = NodeCounts(levels, row["class_count"], row["kept_class_count"], tables)
                self._known[levels, with_losses] = counts
        return [self._known[levels, with_losses] for levels in nodes]

    def show(self, levels: Levels) -> None:
        """Show the rows of persons whose trees, compared by sorted lists, at least k have."""
        persons, kept = self._exact(levels), Relation("anon_kept_persons", "row")
        keys, classes = self._keys(levels), subquery(self._classes(persons.table, levels), "anon_classes")
        columns = [column(PERSON), *(aliased(value, name) for name, value in keys.items())]
        query = select([column(PERSON, "anon_all")], subquery(select(columns, persons.table), "anon_all"))
        query = query.join(classes, on=equal_in(keys, "anon_all", "anon_classes"), copy=False)
        query = query.where(column(IS_KEPT, "anon_classes"), copy=False)
        self._engine.run(Step(kept, query, "persons to release", is_again=True))
        for name, table in self._encoded.bound.tables.items():
            query = labelled_rows(self._encoded, name, levels)
            rows, persons_kept = called(table.rows.relation.table, "anon_numbers"), called(kept.table, "anon_kept")
            query = query.join(rows, on=column(ROW, "anon_numbers").eq(column(ROW, "anon_rows")), copy=False)
            query = query.join(persons_kept, on=equal_in([PERSON], "anon_kept", "anon_numbers"), copy=False)
            self._engine.run(Step(shown(table), query, f'rows of "{name}" to release'))

    def is_exact(self, levels: Levels) -> bool:
        """Return whether the counts by signatures are those by sorted lists."""
        return self._totals(self._persons(levels, False), [levels]) == self._totals(self._exact(levels), [levels])

    def _exact(self, levels: Levels) -> Relation:
        """Make the table of persons with sorted lists of what their rows show in place of signatures."""
        relation = Relation("anon_exact_trees", "row")
        persons = TreesAt(self._rows, levels, is_exact=True).persons()
        self._engine.run(Step(relation, persons, "persons with lists of their rows", is_again=True))
        return relation

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
            persons = TreesAt(self._rows, levels, with_losses).persons()
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

    def _totals(self, persons: Relation, nodes: Sequence[Levels], with_losses: bool = False) -> list[dict[str, Any]]:
        """Return the counts of nodes of one part, with the sums of what is left out by the columns of tables."""
        is_left_out, is_small = exp.not_(column(IS_KEPT)), column(PERSONS) < self._encoded.policy.k
        columns = []
        for rows, losses in map(self._columns, self._encoded.tables):
            columns.append(_sum_of(column(rows), is_left_out, rows))
            if self._shares.bounds:
                columns.append(_sum_of(column(rows), is_small, f"certain_{rows}"))
            if with_losses:
                of_class = exp.Mul(this=column(rows), expression=column(LOSS)) if rows == PERSONS else column(losses)
                columns.append(_sum_of(of_class, is_left_out, losses))
        counted = []
        for place, levels in enumerate(nodes):
            classes = self._classes(persons.table, levels, with_losses)
            counted.append(SQL.query("counts", classes=classes, node=place, left_out=columns))
        found = self._engine.fetch(union_all(counted), "classes of persons", "node")
        return sorted(found, key=lambda row: int(row["node"]))

    def _classes(self, persons: exp.Table, levels: Levels, with_losses: bool = False) -> exp.Select:
        """Select the classes of persons at a node, with what is below them, and whether they are kept."""
        keys, root = self._keys(levels), self._encoded.policy.root
        names = [aliased(value.copy(), name) for name, value in keys.items()]
        below = TreesAt(self._rows, levels, with_losses).below(root)
        sums = [aliased(exp.Sum(this=column(each)), each) for each in below]
        classes = SQL.query("classes", persons=persons, columns=names, values=[*keys.values()], carried=sums)
        if with_losses:
            classes = self._rows.with_loss(root, classes, levels)
        return self._shares.judged(classes, persons, self._keys(levels))

    def _keys(self, levels: Levels) -> dict[str, exp.Expr]:
        return {**self._rows.own_bits(self._encoded.policy.root, levels), SIGNATURE: column(SIGNATURE)}

    def _columns(self, name: str) -> tuple[str, str]:
        if name == self._encoded.policy.root:
            return PERSONS, LOSS
        return f"{ROWS}_{self._rows.place(name)}", f"{LOSS}_{self._rows.place(name)}"


def _sum_of(value: exp.Expr, condition: exp.Expr, name: str) -> exp.Alias:
    return aliased(f.coalesce(filtered(exp.Sum(this=value), condition.copy()), 0), name)


MAX_SALTS = 2


def choose_tree_node(
    engine: Compute, encoded: EncodedLinked, observer: Observer, stopped: Callable[[], bool]
) -> tuple[TreeCounter, SearchOutcome]:
    """Search for the node of least loss, and count it exactly; search again with another salt if counts differ.

    Raises:
        VerificationError: they differ again.
    """
    for _ in range(MAX_SALTS):
        counter = TreeCounter(engine, encoded)
        outcome = choose_linked_node(encoded, counter, observer, stopped)
        if outcome.best is None or counter.is_exact(outcome.best.levels):
            return counter, outcome
    problem = "persons whose rows differ have equal signatures, whatever they are made of"
    raise VerificationError("the classes of persons were not counted as they are; nothing was published:", [problem])
