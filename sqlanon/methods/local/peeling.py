"""Peeling: nodes from fine to coarse, whose classes that meet every privacy model are taken out of the table.

So every row has the labels of the finest node, in the order of what the table would lose there, at which the rows that
are left let it be in a class that meets the models. A batch of nodes is tried at once, over the rows that are left. A
class is taken if none of its rows is in a class that meets the models at a node before; the nodes are tried again with
the rest, until they take nothing.

Where no union of rows fails a model that one of them meets, a batch takes what its nodes take one after the other.
Proof: let L be the rows that are left. If a class of L at a node is taken, its rows are in no class of L at a node
before that meets the models, so in none of a part of L either: one after the other, they are all there when it is the
turn of the node, and are taken then. The nodes before have none of them in a class that meets the models, and those
after never see them. So the other rows find the same in L without the class, and the rest follows by induction: the
first node with a class that meets the models takes all of them each time. For other models the batch is part of what
the method is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.methods.local.recoding import CLASS
from sqlanon.methods.local.table import KEY, KEYS, SQL, LocalTable, settings_of
from sqlanon.methods.local.watching import Watch
from sqlanon.model.lattice import Levels
from sqlanon.queries.cells.encoding import INDIVIDUAL, ROW_COUNT, row_sum
from sqlanon.queries.classes.grouping import CLASS_ROWS, NODE, NODES
from sqlanon.queries.kit.nodes import (
    PreparedQuery,
    Relation,
    Step,
    aliased,
    cast,
    column,
    count_distinct,
    cross_join,
    given_lists,
    identifier,
    number,
    select,
    subquery,
)

BATCH_ROWS = 2_000_000
"""How many cells are read for a batch of nodes: each cell that is left once for each node."""

MAX_BATCH_NODES = 512
"""The most nodes of a batch."""

MAX_JUDGED_NODES = 32
"""The same where a class may fail a model that a part of it meets: what nodes take depends on those before them."""

SHRUNK = 0.7
"""The share of the cells that are left below which the others are put aside."""

TRIED = Relation("anon_tried_classes", "class")
"""The classes of enough rows of the nodes of a batch, by trial, and whether they meet the models."""

TAKEN = Relation("anon_taken_keys", "cell")
"""The keys that are in a class, with the place of its node in the order, and the first key of the class."""

FAILED = Relation("anon_failed_keys", "cell")
"""The keys that were in a class of enough rows that failed a bound on values, at a node before theirs."""

FIRST = "anon_first_key"
TRIAL = "anon_trial"
IS_MET = "anon_is_met"


@dataclass(frozen=True)
class Minimality:
    """What follows from the order of the nodes for whoever knows it.

    A row of a coarse class was in no class that could be published at the nodes before. If one of these had enough
    rows, it failed a bound on its sensitive values: that is known of it. A class that fails when it is the turn of its
    node has failed in some trial of its batch, with these rows and maybe more.

    Attributes:
        rows: how many rows were in such a class.
        finest_rows: how many were in one at the least general node.
    """

    rows: int
    finest_rows: int


class Peeling:
    """Cells that are peeled, node by node.

    Args:
        table: the table.
        nodes: the nodes in their order.
        watch: follows it.
    """

    def __init__(self, table: LocalTable, nodes: Sequence[Levels], watch: Watch) -> None:
        self._table, self._engine, self._nodes, self._watch = table, table.engine, nodes, watch
        self._left, self._since, self._generation = table.cells, 0, 0
        self._looks_at_values = table.policy.criteria.looks_at_values
        self._least_rows = max(settings_of(table.policy).min_share * table.source.context.row_count, 1)

    def take(self) -> Minimality:
        """Take classes that meet the bounds out of the table (:data:`TAKEN`)."""
        for relation, numbers in ((TRIED, self._tried_columns), (TAKEN, [KEY, NODE, FIRST]), (FAILED, [KEY])):
            shown = [aliased(cast(number(0), "BIGINT"), name) for name in numbers]
            self._engine.run(Step(relation, exp.Select(expressions=shown).where(exp.false()), "classes of nodes"))
        self._prepare()
        finest, self._cell_count = 0, self._count_left()
        kept = self._cell_count
        for batch in self._watch.batches(len(self._nodes), self._batch_size):
            if not self._cell_count:
                break
            self._take_from(batch)
            if batch[0] == 0:
                finest = self._failed_rows()
            self._cell_count = self._count_left()
            if self._cell_count < SHRUNK * kept:
                self._put_aside(batch[-1] + 1)
                kept = self._cell_count
        return Minimality(self._failed_rows(), finest)

    def _batch_size(self) -> int:
        most = MAX_BATCH_NODES if self._table.is_monotonic else MAX_JUDGED_NODES
        return min(max(BATCH_ROWS // max(self._cell_count, 1), 1), most)

    def _take_from(self, batch: Sequence[int]) -> None:
        """Take classes of a batch of nodes until there are none."""
        nodes, trial = [*batch], 0
        while nodes:
            self._execute("tried", nodes, trial)
            query = SQL.query("rows_of_nodes", tried=TRIED, trial=trial)
            found = {row["node"]: row["rows"] for row in self._engine.fetch(query, "rows of nodes", "node")}
            nodes = [place for place in nodes if found.get(place, 0) >= self._least_rows]
            taking = nodes if self._least_rows == 1 else nodes[:1]  # a node may have too few rows after those before it
            if taking:
                self._execute("taken", taking, trial)
            trial += 1
        if self._looks_at_values:
            self._execute("failed", batch)
        self._engine.execute(exp.Delete(this=TRIED.table), "classes of nodes")

    def _execute(self, name: str, places: Sequence[int], *trial: int) -> None:
        masks = zip(*(self._table.masks(self._nodes[place]) for place in places), strict=True)
        query = PreparedQuery(f"anon_{name}_{self._generation}", ([*places], *map(list, masks), *trial))
        self._engine.fetch(query, "peeling", "count")

    def _put_aside(self, since: int) -> None:
        """Keep the cells that are left alone."""
        left = Relation(f"anon_left_{self._generation}", "cell")
        self._engine.run(Step(left, self._live, "cells that are left"))
        if self._left is not self._table.cells:
            self._engine.drop(self._left)
        self._left, self._since, self._generation = left, since, self._generation + 1
        self._prepare()

    @property
    def _live(self) -> exp.Select:
        """The cells that are left."""
        return SQL.query("left_cells", cells=self._left, taken=TAKEN, since=self._since)

    def _count_left(self) -> int:
        query = SQL.query("left_counts", cells=self._live)
        row = self._engine.fetch(query, "rows that are left", "count")[0]
        self._watch.left_rows = int(row["rows"])
        return int(row["cells"])

    def _failed_rows(self) -> int:
        if not self._looks_at_values:
            return 0
        query = SQL.query("failed_rows", failed=FAILED, weighed=KEYS)
        return int(self._engine.fetch(query, "rows of failed classes", "count")[0]["rows"])

    @property
    def _tried_columns(self) -> list[str]:
        return [TRIAL, CLASS, NODE, *self._table.words, CLASS_ROWS, IS_MET]

    def _prepare(self) -> None:
        """Plan the statements over the cells that are left: they are given nodes with their masks, and the trial."""
        table, words = self._table, self._table.words
        names = [NODE, *table.mask_columns]
        trial = exp.Placeholder(this=str(len(names) + 1))
        nodes = subquery(given_lists(names), NODES)

        def at_nodes(cells: exp.Query, shown: Sequence[exp.Expr]) -> exp.Select:
            return cross_join(select([*table.masked("anon_live", NODES), *shown], subquery(cells, "anon_live")), nodes)

        cells = at_nodes(self._live, [column(NODE, NODES), *table.carried("anon_live")])
        roles = SQL.given(keys=words)
        classes = table.classes(cells, [NODE, *words])
        large = exp.GTE(this=column(table.size_column), expression=number(table.least_size))
        found = roles.query("tried_classes", trial=trial, classes=classes, is_met=table.is_met(), is_large=large)
        self._plan("tried", TRIED, self._tried_columns, found)
        keys = SQL.query("rows_of_keys", cells=self._live, keys=words)
        pairs = at_nodes(keys, [column(NODE, NODES), *(column(name, "anon_live") for name in (KEY, ROW_COUNT))])
        self._plan(
            "taken",
            TAKEN,
            [KEY, NODE, FIRST],
            roles.query("first_classes", trial=trial.copy(), pairs=pairs, tried=TRIED),
        )
        if self._looks_at_values:
            cells = SQL.query("cells_in_turn", cells=self._left, taken=TAKEN, since=self._since)
            names = [KEY, "anon_turn", *(each.name for each in table.carried())]
            pairs = at_nodes(cells, [column(NODE, NODES), *(column(name, "anon_live") for name in names)])
            size = count_distinct(column(INDIVIDUAL)) if table.encoding.spec.individual else row_sum().this
            large = exp.GTE(this=size, expression=number(table.least_size))
            found = roles.query("keys_of_failed", pairs=pairs, tried=TRIED, failed=FAILED, is_large=large)
            self._plan("failed", FAILED, [KEY], found)

    def _plan(self, name: str, relation: Relation, columns: Sequence[str], query: exp.Query) -> None:
        schema = exp.Schema(this=relation.table, expressions=[*map(identifier, columns)])
        insert = exp.Insert(this=schema, expression=query)
        self._engine.prepare(f"anon_{name}_{self._generation}", insert, "peeling")
