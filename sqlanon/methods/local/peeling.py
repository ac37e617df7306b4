"""Peeling: visit nodes from fine to coarse, and take the classes that meet every privacy model out of the table.

So every row gets the labels of the finest node, ordered by the table's loss, at which it is in a class that meets the
models among the remaining rows. A batch of nodes is tried at once over the remaining rows. A class is taken if none of
its rows is in a passing class of an earlier node; the nodes are tried again with the rest until they take nothing.

If unions of rows never fail a model that one of them meets, a batch takes what its nodes would take one after the
other. Proof: let L be the remaining rows. If a class of L at a node is taken, its rows are in no passing class of L at
an earlier node, so in none of any part of L either: in sequence, they are all there when it is the turn of the node,
and are taken then. Earlier nodes have none of them in a passing class, and later ones never see them. So the other rows
find the same in L without the class, and the rest follows by induction: the first node with a passing class takes all
of them each time. For other models the batch is part of the method's definition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from sqlglot import exp

from sqlanon.methods.local.local_table import CLASS, KEY, LocalTable, make_empty
from sqlanon.methods.stages import Stopped, never
from sqlanon.model.criteria import CLASS_SIZE
from sqlanon.model.lattice import total
from sqlanon.model.methods.full_domain import LocalRecoding
from sqlanon.queries.encoding import INDIVIDUAL, ROW_COUNT, row_sum
from sqlanon.queries.grouping import CLASS_ROWS, NODE, measure_column
from sqlanon.queries.kit.nodes import PreparedQuery, Relation, Step, column, count_distinct, given_lists, number

BATCH_ROWS = 2_000_000  # the cells that a batch of nodes reads: each remaining cell once per node
MAX_BATCH_NODES = 512
MAX_JUDGED_NODES = 32  # under non-monotonic models, where the classes of a node depend on earlier nodes
SHRUNK = 0.7  # copy the remaining cells once fewer than this share are left

LEFT = Relation("anon_left_cells", "cell")  # the cells that remained at the last copy
TRIED = Relation("anon_tried_classes", "class")  # classes of enough rows, by trial, and whether they meet the models
TAKEN = Relation("anon_taken_keys", "cell")  # the keys in a class, the place of its node, and its first key
FAILED = Relation("anon_failed_keys", "cell")  # the keys of large classes that failed a bound on values before


class Watch:
    """Reports the progress of peeling and joining, and ends it early.

    ``observer`` is called with the numbers of checked nodes and remaining rows after each batch of nodes and each round
    in which keys join classes. ``stopped`` is asked at the same times whether to make do with the classes so far.
    """

    def __init__(self, observer: Callable[[int, int], None] = lambda *_: None, stopped: Stopped = never) -> None:
        self._observer, self._stopped = observer, stopped
        self.left_rows = self.checked_nodes = 0
        self.is_stopped = False  # whether ``stopped`` has returned True

    def look(self) -> None:
        self._observer(self.checked_nodes, self.left_rows)
        self.is_stopped = self.is_stopped or self._stopped()

    def finish(self, left_rows: int) -> None:
        self.left_rows = left_rows
        self._observer(self.checked_nodes, left_rows)


class Peeling:
    def __init__(self, table: LocalTable, watch: Watch) -> None:
        self._table, self._engine, self._watch = table, table.engine, watch
        self._nodes = sorted(table.lattice.nodes(), key=partial(total, table.level_losses))
        self._left, self._cell_count = table.cells, 0
        self._sql = table.sql.given(tried=TRIED, taken=TAKEN, failed=FAILED, since=0)
        self._looks_at_values = table.policy.criteria.looks_at_values
        self._least_rows = max(LocalRecoding.of(table.policy).min_share * table.source.context.row_count, 1)

    def take(self) -> tuple[int, int]:
        """Move passing classes into :data:`TAKEN`, and count the rows whose history their order reveals.

        A row of a coarse class was in no publishable class at earlier nodes. If such a class had enough rows, it failed
        a bound on its sensitive values, and whoever knows the method learns that. A class that fails in its node's turn
        has failed in some trial of its batch, with these rows and maybe more.

        Returns how many rows were in such a class, and how many in one at the least general node.
        """
        tried = ["anon_trial", CLASS, NODE, *self._table.words, CLASS_ROWS, "anon_is_met"]
        for relation, columns in ((TRIED, tried), (TAKEN, [KEY, NODE, "anon_first_key"]), (FAILED, [KEY])):
            make_empty(self._engine, relation, columns, "classes of nodes")
        self._prepare()
        self._count_left()
        finest, kept = 0, self._cell_count
        most = MAX_BATCH_NODES if self._table.is_monotonic else MAX_JUDGED_NODES
        # The first node, then batches, then after a stop single nodes at growing distances. The last node is always
        # among them: its labels are the most general ones, so few rows remain after it.
        place, step, last = 0, 1, len(self._nodes) - 1
        while place <= last and self._cell_count:
            is_single = place == 0 or self._watch.is_stopped
            size = 1 if is_single else min(max(BATCH_ROWS // self._cell_count, 1), most)
            batch = range(place, min(place + size, last + 1))
            self._take_from(batch)
            if place == 0:
                finest = self._failed_rows()
            self._count_left()
            if self._cell_count < SHRUNK * kept:
                self._engine.run(Step(LEFT, self._live, "cells that are left", is_again=True))
                self._left, kept = LEFT, self._cell_count
                self._sql = self._sql.given(since=batch[-1] + 1)
                self._prepare()
            self._watch.checked_nodes += len(batch)
            self._watch.look()
            step = 2 * step if self._watch.is_stopped else 1
            place = min(batch[-1] + step, last) if batch[-1] < last else last + 1
        return self._failed_rows(), finest

    def _take_from(self, batch: Sequence[int]) -> None:
        nodes, trial = [*batch], 0
        while nodes:
            self._execute("tried", nodes, trial)
            query = self._sql.query("rows_of_nodes", trial=trial)
            found = {row["node"]: row["rows"] for row in self._engine.fetch(query, "rows of nodes", "node")}
            nodes = [place for place in nodes if found.get(place, 0) >= self._least_rows]
            taking = nodes if self._least_rows == 1 else nodes[:1]  # after it, others may have too few rows
            if taking:
                self._execute("taken", taking, trial)
            trial += 1
        if self._looks_at_values:
            self._execute("failed", batch)
        self._engine.execute(exp.Delete(this=TRIED.table), "classes of nodes")

    def _execute(self, name: str, places: Sequence[int], *trial: int) -> None:
        masks = zip(*(self._table.masks(self._nodes[place]) for place in places), strict=True)
        query = PreparedQuery(f"anon_{name}", ([*places], *map(list, masks), *trial))
        self._engine.fetch(query, "peeling", "count")

    @property
    def _live(self) -> exp.Select:
        return self._sql.query("left_cells", cells=self._left)

    def _count_left(self) -> None:
        query = self._sql.query("left_counts", cells=self._live)
        row = self._engine.fetch(query, "rows that are left", "count")[0]
        self._cell_count, self._watch.left_rows = int(row["cells"]), int(row["rows"])

    def _failed_rows(self) -> int:
        if not self._looks_at_values:
            return 0
        return int(self._engine.fetch(self._sql.query("failed_rows"), "rows of failed classes", "count")[0]["rows"])

    def _prepare(self) -> None:
        """Plan the statements over the remaining cells; their parameters are nodes with masks, and the trial."""
        table, names = self._table, [NODE, *self._table.bits]
        sql = self._sql.given(nodes=given_lists(names), trial=exp.Placeholder(this=str(len(names) + 1)))
        cells = sql.query("at_nodes", cells=self._live, carried=table.carried)
        classes = table.classes(cells, [NODE, *table.words])
        large = exp.GTE(this=column(measure_column(table.encoding, CLASS_SIZE)), expression=number(table.least_size))
        found = sql.query("tried_classes", classes=classes, is_met=table.is_met(), is_large=large)
        self._plan("tried", TRIED, found)
        keys = sql.query("rows_of_keys", cells=self._live)
        pairs = sql.query("at_nodes", cells=keys, carried=[KEY, ROW_COUNT])
        self._plan("taken", TAKEN, sql.query("first_classes", pairs=pairs))
        if self._looks_at_values:
            cells = sql.query("cells_in_turn", cells=self._left)
            pairs = sql.query("at_nodes", cells=cells, carried=[KEY, "anon_turn", *table.carried])
            size = count_distinct(column(INDIVIDUAL)) if table.encoding.spec.individual else row_sum().this
            large = exp.GTE(this=size, expression=number(table.least_size))
            self._plan("failed", FAILED, sql.query("keys_of_failed", pairs=pairs, is_large=large))

    def _plan(self, name: str, relation: Relation, query: exp.Query) -> None:
        self._engine.prepare(f"anon_{name}", exp.Insert(this=relation.table, expression=query), "peeling")
