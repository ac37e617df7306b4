"""Proofs over intervals of nodes from the cells of a table, for privacy models that have scores.

One statement over the cells of their lowest nodes, or of nodes below, proves any number of intervals. It is a chain of
GROUP BYs over cells that are made once: value counts in cells and in classes, the excesses of classes, and the scores
of their cells.

Source: spec/bounds2.md; the scores and their proofs are macros (``sql/macros/58_interval_rows.sql``).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.model.criteria import CLASS_SIZE, DISTINCT_DIVERSITY, Bound
from sqlanon.model.lattice import Levels, NodeSummary, is_below
from sqlanon.nodes.counting import SizesFirst
from sqlanon.nodes.roll_up import ClassCounts
from sqlanon.nodes.table import EncodedTable
from sqlanon.queries.encoding import Encoding
from sqlanon.queries.grouping import NODE
from sqlanon.queries.kit.macros import scalar_call
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    PreparedQuery,
    Relation,
    Step,
    aliased,
    bits,
    cast,
    column,
    count_rows,
    counted_rows,
    double,
    filtered,
    given_lists,
    identifier,
    made_once,
    number,
    select,
    subquery,
    union_all,
)
from sqlanon.search import Answers, Inquiry, Proof

DECISIVE = 0.1
"""Intervals pay if scores suppress this share of rows beyond class sizes, halfway up the lattice.

ARX's Adult by occupation, k = 5, 5 % suppressed, 30,162 rows and 1,000,000 with redrawn columns: δ-disclosure .85 and
.72; β-likeness .46 and .17, where a run of 1,000,000 rows took 19 CPU s by intervals and 50 s by nodes; t-closeness in
order .03 and .01.
"""
FEW_ROWS = 10_000  # cells of fewer rows are read again and again rather than rolled up
LESS = 0.7  # cells are rolled up only if this reduces their rows to this share
BUDGET = 16  # the maximum rows of all rolled up cells together, in multiples of the first cells
Interval = tuple[Levels, Levels]  # from the least to the most general node


@dataclass(frozen=True)
class NodeCells:
    """The cells of a node with their values, and the number of their rows."""

    number: int
    levels: Levels
    row_count: int


class IntervalProofs:
    """Proves how many rows all nodes of an interval suppress, with tables in the surrounding scratch scope.

    All bounds need scores; ``counter`` counts single nodes.
    """

    def __init__(self, engine: Compute, table: EncodedTable, counter: SizesFirst) -> None:
        self._engine, self._encoding, self._counter = engine, table.encoding, counter
        self._classes = ClassCounts(table.context.losses.distinct_labels)
        for step in (*value_tables(self._encoding), first_cells(self._encoding)):
            engine.run(step)
        rows = int(engine.fetch(counted_rows(CELLS.table), "cells with their values")[0]["rows"])
        self._made = [NodeCells(0, (0,) * len(table.context.lattice.bottom), rows)]
        self._room = BUDGET * rows
        self._row_count = table.context.row_count
        self._prepared: set[str] = set()

    def answer(self, inquiry: Inquiry) -> Answers:
        """Answer inquiries about intervals by proofs, and about nodes by counting."""
        return self.prove(inquiry.intervals) if inquiry.asks == "proofs" else self._counter.answer(inquiry)

    def prove(self, intervals: Sequence[Interval]) -> list[Proof]:
        nodes = list(dict.fromkeys(high for low, high in intervals if low == high))
        summaries = self._counter.answer(Inquiry(nodes, None, lambda: None, "counts")) if nodes else []
        found = {(each.levels, each.levels): Proof(each.suppressed_rows, each) for each in summaries}
        sources = {each: self._cells_for(each[0]) for each in intervals if each not in found}
        for are_of_low in (True, False):
            asked = {each: cells for each, cells in sources.items() if (cells.levels == each[0]) == are_of_low}
            found.update(self._proven(asked, are_of_low=are_of_low) if asked else ())
        return [found[interval] for interval in intervals]

    def are_decisive(self, levels: Levels) -> bool:
        """Return whether scores suppress many more rows of a node than class sizes do."""
        cells = self._cells_for(levels)
        [(_, proof)] = self._proven({(levels, levels): cells}, are_of_low=cells.levels == levels)
        by_scores = proof.summary.suppressed_rows - proof.summary.certain_suppressed_rows
        return by_scores >= DECISIVE * self._row_count

    def _proven(self, sources: Mapping[Interval, NodeCells], *, are_of_low: bool) -> Iterator[tuple[Interval, Proof]]:
        name = f"anon_proofs_{'of' if are_of_low else 'above'}_cells"
        if name not in self._prepared:
            query = interval_proofs(self._encoding, are_of_low=are_of_low)
            self._engine.prepare(name, query, "intervals of nodes")
            self._prepared.add(name)
        intervals = list(sources)
        numbers = [cells.number for cells in sources.values()]
        masks = [self._masks(levels) for levels in zip(*intervals, strict=True)]
        given = (list(range(len(intervals))), numbers, *itertools.chain.from_iterable(masks))
        for row in self._engine.fetch(PreparedQuery(name, given), "intervals of nodes", "node"):
            interval = intervals[row.pop("node")]
            proven = int(row.pop("proven_rows"))
            summary = NodeSummary.of_row(interval[1], row)
            self._classes.learn(interval[1], summary.class_count)
            yield interval, Proof(proven, summary)

    def _masks(self, nodes: Sequence[Levels]) -> list[list[int]]:
        """Return, by word of keys, its masks at the nodes."""
        masks = [self._encoding.keys.node_masks(levels) for levels in nodes]
        return [[each.get(word, 0) for each in masks] for word in range(self._encoding.keys.word_count)]

    def _cells_for(self, levels: Levels) -> NodeCells:
        """Return the fewest cells of a node or of one below it, rolled up if that reduces them much."""
        source = min((each for each in self._made if is_below(each.levels, levels)), key=lambda each: each.row_count)
        if source.row_count <= FEW_ROWS or source.levels == levels:
            return source
        classes, known = self._classes.expected([levels, source.levels])
        if source.row_count * classes / known > min(LESS * source.row_count, self._room):
            return source
        name, number = "anon_more_interval_cells", len(self._made)
        if name not in self._prepared:
            self._engine.prepare(name, more_cells(self._encoding), "cells with their values")
            self._prepared.add(name)
        query = PreparedQuery(name, ([source.number], *self._masks([levels]), number))
        [made] = self._engine.fetch(query, "cells with their values")
        self._made.append(NodeCells(number, levels, int(made["Count"])))
        self._room -= self._made[-1].row_count
        return self._made[-1]


def proofs_of(engine: Compute, table: EncodedTable, counter: SizesFirst) -> IntervalProofs | None:
    """Return proofs by the cells of a table; None if some models have no scores, or intervals would prove little."""
    encoding, lattice, spec = table.encoding, table.context.lattice, table.encoding.spec
    is_plain = spec.individual is None and spec.earlier is None and not engine.is_far(encoding.cells.table)
    has_cells = encoding.keys.word_count > 0 and table.context.row_count > 0
    if not (is_plain and has_cells and have_scores(encoding.criteria.bounds)):
        return None
    proofs = IntervalProofs(engine, table, counter)
    halfway = tuple((least + most) // 2 for least, most in zip(lattice.bottom, lattice.top, strict=True))
    return proofs if proofs.are_decisive(halfway) else None


SQL = Queries("intervals")

SHARES = Relation("anon_interval_shares", "node")  # shares of sensitive values, with their limits in a class
SETS = Relation("anon_interval_sets", "node")  # sets of sensitive values by which distances are measured
CELLS = Relation("anon_interval_cells", "cell")  # the cells of some nodes with their values, and the rows of both

INTERVAL = "anon_interval"
LOW, HIGH = "anon_low", "anon_high"
"""The keys of cells and of classes of the more general node; masks of intervals append the word."""

DISTANCES = ("equal_distance", "ordered_distance", "hierarchical_distance")
SHARE_LIMITS = {
    "largest": ("largest_share", "basic_likeness", "enhanced_likeness", "disclosure"),
    "least": ("disclosure",),
}
"""The measures that bound the share of a value from above or from below."""
MONOTONIC = (CLASS_SIZE.name, DISTINCT_DIVERSITY)  # a node that violates their bounds rules out all nodes below it


def have_scores(bounds: Sequence[Bound]) -> bool:
    """Return whether there are bounds that aren't monotonic, and all of them have scores."""
    names = {bound.measure.name for bound in bounds} - {*MONOTONIC}
    return bool(names) and names <= {*DISTANCES, *SHARE_LIMITS["largest"]}


def judged_columns(encoding: Encoding) -> tuple[str, ...]:
    """Return the sensitive columns with bounds, in the order of their numbers."""
    bounds = encoding.criteria.bounds
    return tuple(dict.fromkeys(bound.measure.column for bound in bounds if bound.measure.column is not None))


def value_tables(encoding: Encoding) -> Iterator[Step]:
    """Make the tables of values for all statements."""
    yield Step(SHARES, union_all(_shares(encoding, name) for name in judged_columns(encoding)), "shares of values")
    if sets := list(_sets(encoding)):
        yield SQL.step(SETS, "value_sets", sets=union_all(sets), shares=SHARES)


def first_cells(encoding: Encoding) -> Step:
    """Make :data:`CELLS` from the cells of the source: the cells of the bottom, node 0."""
    words = [*encoding.word_columns]
    values = [_numbered(encoding, name, column(encoding.sensitive(name))) for name in judged_columns(encoding)]
    every = union_all(
        SQL.query("cells_with_values", cells=encoding.cells, words=words, value=value) for value in values
    )
    return Step(CELLS, _cells_of_node(encoding, every, words, number(0)), "cells with their values")


def more_cells(encoding: Encoding) -> exp.Insert:
    """Add the cells of a node to :data:`CELLS`, from the cells of a node below it, as a statement to prepare.

    Its parameters are lists of length one, with the number of the node below and the masks of words of keys, and then
    the new number.
    """
    words = [*encoding.word_columns]
    keys = [aliased(bits(column(word, "anon_cells"), column(word, "anon_given")), word) for word in words]
    given = subquery(given_lists([NODE, *words]), "anon_given")
    query = _joined([*keys, *map(column, ("anon_value", "anon_rows"))], given)
    made = exp.Placeholder(this=str(len(words) + 2))
    return exp.Insert(this=CELLS.table, expression=_cells_of_node(encoding, query, words, made))


def _cells_of_node(encoding: Encoding, values: exp.Query, words: Sequence[str], node: exp.Expr) -> exp.Select:
    cells = _sized(encoding, subquery(values, "anon_values_of_cells"), words)
    return SQL.query("cells_of_node", cells=cells, words=words, node=node)


def _joined(columns: Sequence[exp.Expr], given: exp.Subquery | exp.Table) -> exp.Select:
    """Select columns of cells, once for every given row of their node."""
    of_node = column(NODE, given.alias_or_name).eq(column(NODE, "anon_cells"))
    query = select(columns, exp.alias_(CELLS.table, "anon_cells", table=True))
    return query.join(given, on=of_node, copy=False)


class _Steps:
    def __init__(self) -> None:
        self.ctes: list[exp.CTE] = []

    def add(self, name: str, query: exp.Query, *, is_kept: bool = True) -> exp.Table:
        """Add a query, materialized unless it is cheaper to compute again."""
        cte = made_once(name, query)
        cte.set("materialized", is_kept)
        self.ctes.append(cte)
        return exp.Table(this=identifier(name))


def interval_proofs(encoding: Encoding, *, are_of_low: bool) -> exp.Select:
    """Prove intervals, as a statement to prepare: a row each, with the columns of a summary and ``proven_rows``.

    Values are counted in classes first. Cells are read again only in classes with an excess.

    Its parameters are lists: the numbers of the intervals, the nodes whose cells they read, and for each word of keys
    the masks of both ends. These nodes are the lowest ones of the intervals (``are_of_low``), or below.
    """
    steps, columns = _Steps(), len(judged_columns(encoding))
    ends = [f"{end}_{word}" for end in (LOW, HIGH) for word in range(encoding.keys.word_count)]
    intervals = steps.add("anon_intervals", given_lists([INTERVAL, NODE, *ends]))
    of_high = subquery(_cells(encoding, intervals, [HIGH]), "anon_cells_of_high")
    values = steps.add("anon_class_values", SQL.query("class_values", cells=of_high))
    counted = SQL.query("classes", values=values, columns=columns, is_small=_is_small(encoding))
    of_classes = SQL.given(values=values, classes=steps.add("anon_classes_between", counted))
    excesses = _excesses(encoding, steps, of_classes)
    each = [select([column(INTERVAL), column(HIGH)], table) for table in excesses.values()]
    failing = steps.add("anon_failing_classes", SQL.query("failing_classes", excesses=union_all(each)))
    if are_of_low:  # joining the cells for each excess costs less than copying them
        cells = _cells(encoding, intervals, [LOW, HIGH], "anon_cell_size")
    else:
        finer = subquery(_cells(encoding, intervals, [LOW, HIGH]), "anon_finer_cells")
        of_failing = SQL.query("cells_of_classes", cells=finer, classes=failing)
        cells = _sized(encoding, subquery(of_failing, "anon_values_of_cells"), [INTERVAL, LOW, HIGH])
    between = steps.add("anon_cells_between", cells, is_kept=not are_of_low)
    least_rows = [_least_rows(steps, between, side, table) for side, table in excesses.items()]
    query = of_classes.query(
        "proofs", least_rows=subquery(union_all(least_rows), "anon_least_rows_of_scores"), failing=failing
    )
    query.set("with_", exp.With(expressions=steps.ctes))
    return query


def _excesses(encoding: Encoding, steps: _Steps, of_classes: Queries) -> dict[str, exp.Table]:
    """Compute the excesses of classes, by distances and by shares of values, as far as they are bounded."""
    names, excesses = {bound.measure.name for bound in encoding.criteria.bounds}, {}
    sides = [side for side, of_side in SHARE_LIMITS.items() if names & {*of_side}]
    if sides:
        shares = steps.add("anon_values_with_shares", of_classes.query("values_with_shares", shares=SHARES))
        for side in sides:
            excesses[side] = steps.add(f"anon_{side}_excesses", SQL.query(f"{side}_share_excesses", values=shares))
    if names & {*DISTANCES}:
        surpluses = steps.add("anon_surpluses", of_classes.query("surpluses", sets=SETS))
        query = SQL.query("distance_excesses", surpluses=surpluses)
        excesses["distance"] = steps.add("anon_distance_excesses", query)
        query = SQL.query("potentials", surpluses=surpluses, excesses=excesses["distance"], sets=SETS)
        steps.add("anon_potentials", query)
    return excesses


def _least_rows(steps: _Steps, cells: exp.Table, side: str, excesses: exp.Table) -> exp.Select:
    """Compute the rows that make up for excesses, by the scores of cells."""
    if side == "distance":
        potentials = exp.Table(this=identifier("anon_potentials"))
        query = SQL.query("distance_scores", cells=cells, excesses=excesses, potentials=potentials)
    else:
        given = (("anon_rows", "anon_cells"), ("anon_cell_size", "anon_cells"), ("anon_share", "anon_excesses"))
        score = scalar_call(f"{side}_share_score", *(column(*each) for each in given))
        query = SQL.query("share_scores", cells=cells, excesses=excesses, score=score)
    scores = steps.add(f"anon_{side}_scores", query)
    excess: exp.Expr = column("anon_excess", "anon_excesses")
    if side == "least":
        sums = (("anon_score_sum", "anon_beyond"), ("anon_class_size", "anon_excesses"))
        excess = scalar_call("score_excess", *(column(*each) for each in sums))
    return SQL.query("least_rows", scores=scores, excesses=excesses, excess=excess)


def _numbered(encoding: Encoding, name: str, code: exp.Expr) -> exp.Expr:
    """Number a value among the values of all judged columns, by its code."""
    columns = judged_columns(encoding)
    if len(columns) == 1:
        return code
    of_columns = exp.Mul(this=cast(code, "BIGINT"), expression=number(len(columns)))
    return exp.Add(this=of_columns, expression=number(columns.index(name)))


def _sized(encoding: Encoding, values: exp.Subquery, cell: Sequence[str]) -> exp.Select:
    return SQL.query("sized_cells", values=values, cell=cell, columns=len(judged_columns(encoding)))


def _cells(encoding: Encoding, intervals: exp.Table, ends: Sequence[str], *others: str) -> exp.Select:
    """Select the values of the cells of each interval, with the keys of their classes at its ends."""
    keys = [aliased(_key(encoding, end), end) for end in ends]
    return _joined([column(INTERVAL), *keys, *map(column, ("anon_value", "anon_rows", *others))], intervals)


def _key(encoding: Encoding, end: str) -> exp.Expr:
    """Return the key of a cell at an end: one number, or a row of several."""
    words = range(encoding.keys.word_count)
    masked = [bits(column(encoding.key(word)), column(f"{end}_{word}", "anon_intervals")) for word in words]
    return masked[0] if len(masked) == 1 else exp.func("row", *masked)


def _is_small(encoding: Encoding) -> exp.Expr:
    """Compute whether a class has too few rows or too few values, as an aggregate over its values."""
    columns = judged_columns(encoding)
    size = exp.IntDiv(this=exp.Sum(this=column("anon_rows")), expression=number(len(columns)))
    is_small: list[exp.Expr] = [exp.LT(this=size, expression=number(encoding.criteria.k))]
    for bound in (bound for bound in encoding.criteria.bounds if bound.measure.name == DISTINCT_DIVERSITY):
        assert bound.measure.column is not None
        place = exp.Mod(this=column("anon_value"), expression=number(len(columns)))
        values = filtered(count_rows(), place.eq(number(columns.index(bound.measure.column))))
        is_small.append(exp.LT(this=values, expression=number(int(bound.required))))
    return exp.or_(*is_small, copy=False)


def _shares(encoding: Encoding, name: str) -> exp.Select:
    largest, least = [], []
    for bound in (bound for bound in encoding.criteria.bounds if bound.measure.column == name):
        share, threshold = column("anon_share"), float(bound.threshold)
        match bound.measure.name:
            case "largest_share":
                largest.append(double(threshold))
            case "basic_likeness" | "enhanced_likeness":
                largest.append(scalar_call(f"{bound.measure.name}_share", share, double(threshold)))
            case "disclosure":
                largest.append(scalar_call("disclosure_share", share, double(threshold)))
                least.append(scalar_call("disclosure_share", share.copy(), double(-threshold)))
    return SQL.query(
        "value_shares",
        cells=encoding.cells,
        value=encoding.sensitive(name),
        numbered=_numbered(encoding, name, column("anon_code")),
        number=judged_columns(encoding).index(name),
        largest=exp.func("least", *largest) if largest else exp.null(),
        least=exp.func("greatest", *least) if least else exp.null(),
    )


def _sets(encoding: Encoding) -> Iterator[exp.Select]:
    """Number the sets of the distances that are bounded."""
    columns = judged_columns(encoding)
    bounds = [bound for bound in encoding.criteria.bounds if bound.measure.name in DISTANCES]
    for distance, bound in enumerate(bounds):
        assert bound.measure.column is not None
        place = columns.index(bound.measure.column)
        if bound.measure.name == "hierarchical_distance":
            name = bound.measure.column
            levels = range(max(encoding.sensitive_height(name), 1))
            labels = exp.Array(expressions=[column(encoding.sensitive_label(name, level)) for level in levels])
            numbered = _numbered(encoding, name, column("anon_code"))
            roles = SQL.given(value=encoding.sensitive(name), numbered=numbered, labels=labels)
            sets = roles.query("label_sets", cells=encoding.cells)
        else:
            name = f"{bound.measure.name.removesuffix('_distance')}_sets"
            sets = SQL.query(name, shares=SHARES, number=place)
        known = [aliased(number(distance), "anon_distance"), aliased(double(float(bound.threshold)), "anon_t")]
        yield select([exp.Star(), *known], subquery(sets, "anon_sets"))
