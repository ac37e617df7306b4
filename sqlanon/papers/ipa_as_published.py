"""IPA as it was published, for comparison: it is not differentially private, and claims nothing.

Every node is perturbed: small classes are masked, and others get counterfeit rows. One node is drawn by its utility.
The random numbers of that node are kept, and its rows are made from them again.

Random numbers come as tables; every other step is SQL. Classes and values are numbered, so that only the first and the
last step depend on the policy. Relations that depend on chance have a column for the run, as in
:mod:`sqlanon.queries.noise`, whose relations hold the final output.

Source: Lee & Chung 2020, as decided in spec/ipa.md B1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sqlglot import exp

from sqlanon.chance.exact import Floats, Integers
from sqlanon.engines.duckdb import Compute
from sqlanon.errors import PolicyError
from sqlanon.methods.noisy_node.ipa import Domains, NoisyCountsRun
from sqlanon.methods.noisy_node.shared import DrawnNode, Draws, public_node
from sqlanon.model.lattice import Levels
from sqlanon.nodes.roll_up import RolledUp, RollUps
from sqlanon.nodes.table import EncodedTable
from sqlanon.papers.methods import CANDIDATES, INSERTION, SUPPRESSION, VALUE, IPAAsPublished
from sqlanon.queries import noise as private
from sqlanon.queries.encoding import ROW_COUNT, Encoding, row_sum
from sqlanon.queries.grouping import NODE, Grouping, by_key, of_all_nodes
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    ascending,
    cast,
    column,
    count_rows,
    double,
    grouped,
    identifier,
    number,
    select,
    subquery,
)
from sqlanon.queries.label_losses import LabelLosses
from sqlanon.queries.noise import IS_SHOWN, NOISY, NOISY_COMBINATIONS, NOISY_LEFT_OVER, PLACE_OF_VALUE, RUN
from sqlanon.queries.recodings import AtNode
from sqlanon.search import batches

CLASS = "anon_class"
THRESHOLD = "anon_threshold"
UNIFORM = "anon_uniform"

VALUES = Relation("anon_paper_values", "node")  # sensitive values of the source, by place, with their rows
CELLS = Relation("anon_paper_cells", "cell")  # rows by class number and position of the value, for some nodes
PRESENT = Relation("anon_paper_present", "cell")  # CELLS with the weights of values for counterfeit rows
GAPS = Relation("anon_paper_gaps", "cell")  # between a class's values, where its missing values lie
CLASSES = Relation("anon_paper_classes", "class")
THRESHOLDS = Relation("anon_paper_thresholds", "class")  # per run and class, the noisy threshold
UNIFORMS = Relation("anon_paper_uniforms", "cell")  # per run and class, kept or not, a number per counterfeit row
PERTURBED_CLASSES = Relation("anon_paper_perturbed_classes", "class")
COUNTERFEITS = Relation("anon_paper_counterfeits", "cell")

RELATIONS = (VALUES, CELLS, PRESENT, GAPS, CLASSES, THRESHOLDS, UNIFORMS, PERTURBED_CLASSES, COUNTERFEITS)

SQL = Queries("ipa_as_published", {relation.name.removeprefix("anon_paper_"): relation for relation in RELATIONS})


class AsPublishedRun(NoisyCountsRun):
    """The algorithm of the paper, which draws in floating point, and knows no domain."""

    theorem = "none"

    @staticmethod
    def public_domains(engine: Compute, table: EncodedTable) -> Domains:
        return Domains({}, 0)

    @staticmethod
    def drawn_nodes(
        engine: Compute, table: EncodedTable, draws: Draws, domains: Domains, runs: int = 1
    ) -> Iterator[DrawnNode]:
        for chosen in chosen_nodes(engine, table, draws, runs):
            drawing = partial(draw_counts, engine, table, draws, chosen)
            yield DrawnNode(chosen.levels, len(chosen.perturbation.runs), drawing, True, {})


NODES_AT_ONCE = 64  # nodes per batch, after which the source of the next counts is reconsidered
MAX_LOSS = 3  # a node's three losses are at most 1 each, which the paper also takes for their sensitivity
MAX_COUNTERFEITS = 100_000_000  # most expected counterfeit rows per statement: each takes three numbers


@dataclass(frozen=True)
class Perturbation:
    runs: Integers
    thresholds: Floats  # a class with more rows is kept; shape (runs, classes)
    counterfeits: Integers  # rows added to a kept class; shape (runs, classes)
    uniforms: Floats  # in [0, 1], per counterfeit row, by run and class

    @classmethod
    def drawn(cls, draws: Draws, runs: int, classes: int) -> Perturbation:
        """Draw the noise of ``classes`` classes; a threshold t of 1 gets none."""
        assert isinstance(draws.method, IPAAsPublished)
        t, size, scale = draws.method.threshold, runs * classes, 1 / _epsilon(draws, INSERTION)
        # Half of the noise is positive, and equals its scale on average.
        expected = size * scale / 2
        if expected > MAX_COUNTERFEITS:
            raise PolicyError(
                f"{expected:.0e} counterfeit rows would be drawn for the classes of a few nodes; raise ε or the share "
                f'of "{INSERTION}" in it, or take more general nodes with minimum_levels or a public node'
            )
        thresholds = t + draws.source.laplace(size, (t - 1) / _epsilon(draws, SUPPRESSION))
        # Round halves away from 0; a negative number adds no rows.
        counterfeits = np.maximum(np.floor(draws.source.laplace(size, scale) + 0.5), 0).astype(np.int64)
        return cls(
            np.arange(runs),
            thresholds.reshape(runs, classes),
            counterfeits.reshape(runs, classes),
            draws.source.uniform(int(counterfeits.sum())),
        )

    def part(self, runs: NDArray[np.bool_], classes: slice = slice(None)) -> Perturbation:
        """Return the part for some runs, and for consecutive classes."""
        is_wanted = np.zeros(self.counterfeits.shape, dtype=np.bool_)
        is_wanted[runs, classes] = True
        uniforms = self.uniforms[np.repeat(is_wanted.ravel(), self.counterfeits.ravel())]
        return Perturbation(self.runs[runs], self.thresholds[runs, classes], self.counterfeits[runs, classes], uniforms)


@dataclass(frozen=True)
class ChosenNode:
    """A node that is drawn in some runs, and its random numbers there."""

    levels: Levels
    perturbation: Perturbation


def chosen_nodes(engine: Compute, table: EncodedTable, draws: Draws, runs: int = 1) -> list[ChosenNode]:
    """Draw nodes, each with its runs; a public node has all runs.

    Nodes come in batches: each time, a run's present node competes with the new ones, with the weight of all before,
    which equals one choice among all nodes at the end.
    """
    engine.run(values(table.encoding))
    if (node := public_node(table.bound)) is not None:
        _, perturbation = _perturbed(engine, table, [node], draws, runs)
        return [ChosenNode(node, perturbation)]
    held: list[ChosenNode] = []
    log_weight = np.full(runs, -np.inf)
    for nodes, class_counts, perturbation in _all_perturbed(engine, table, draws, runs):
        worth = np.full((runs, len(nodes)), float(MAX_LOSS))  # nothing is lost without rows
        for row in engine.fetch(utilities(), "utilities of nodes", "node"):
            worth[row["run"], row["node"]] = row["utility"]
        weights = _epsilon(draws, CANDIDATES) * worth / (2 * MAX_LOSS)
        candidates = np.column_stack([log_weight, weights])
        drawn = draws.source.softmax_choice(candidates, runs=runs)
        # Runs that drew the first candidate keep their node.
        stays = [(chosen, drawn[chosen.perturbation.runs] == 0) for chosen in held]
        held = [ChosenNode(chosen.levels, chosen.perturbation.part(where)) for chosen, where in stays if where.any()]
        held += _newly_held(nodes, class_counts, perturbation, drawn)
        log_weight = np.logaddexp.reduce(candidates, axis=1)
    return held


def draw_counts(engine: Compute, table: EncodedTable, draws: Draws, chosen: ChosenNode) -> list[Relation]:
    """Make the output at a node from its random numbers, as :func:`.ipa.draw_counts` does."""
    _remake(engine, class_steps(table.encoding, [chosen.levels], _epsilon(draws, VALUE)))
    _put(engine, chosen.perturbation)
    _remake(engine, shown_steps(table.encoding, chosen.levels))
    return [private.NOISY_COMBINATIONS]


def _all_perturbed(
    engine: Compute, table: EncodedTable, draws: Draws, runs: int
) -> Iterator[tuple[list[Levels], Integers, Perturbation]]:
    """Perturb all nodes in batches: their numbers of classes, and random numbers by class."""
    context = table.context
    roll_ups = RollUps.of(engine, table)
    with engine.scratch():
        for batch in batches(context.lattice.nodes(), max(1, NODES_AT_ONCE // runs)):
            for source, nodes in roll_ups.statements(batch):
                yield nodes, *_perturbed(engine, table, nodes, draws, runs, source)


def _perturbed(
    engine: Compute,
    table: EncodedTable,
    nodes: Sequence[Levels],
    draws: Draws,
    runs: int,
    source: RolledUp | None = None,
) -> tuple[Integers, Perturbation]:
    """Make and count the classes of some nodes, from all cells or a node below, and draw their random numbers."""
    cells, apart = (None, False) if source is None else (source.cells, source.is_big)
    _remake(engine, class_steps(table.encoding, nodes, _epsilon(draws, VALUE), cells=cells, apart=apart))
    class_counts = np.zeros(len(nodes), dtype=np.int64)
    columns = [aliased(column(NODE), "node"), aliased(count_rows(), "classes")]
    counted = grouped(select(columns, CLASSES.table), [column(NODE)])
    for row in engine.fetch(counted, "classes of nodes", "node"):
        class_counts[row["node"]] = row["classes"]
    perturbation = Perturbation.drawn(draws, runs, int(class_counts.sum()))
    _put(engine, perturbation)
    return class_counts, perturbation


def _put(engine: Compute, perturbation: Perturbation) -> None:
    runs, classes = perturbation.thresholds.shape
    places = {private.RUN: np.repeat(perturbation.runs, classes), CLASS: np.tile(np.arange(classes), runs)}
    added = perturbation.counterfeits.ravel()
    counterfeits = {name: np.repeat(found, added) for name, found in places.items()}
    drawn = {
        THRESHOLDS: {**places, THRESHOLD: perturbation.thresholds.ravel()},
        UNIFORMS: {**counterfeits, UNIFORM: perturbation.uniforms},
    }
    for relation, columns in drawn.items():
        engine.drop(relation)
        engine.put(relation, pa.table(columns))
    perturbed = Step(PERTURBED_CLASSES, SQL.query("perturbed_classes"), "classes that are kept")
    _remake(engine, [perturbed, Step(COUNTERFEITS, SQL.query("counterfeits"), "counterfeit rows")])


def _remake(engine: Compute, steps: Sequence[Step]) -> None:
    for step in steps:
        engine.drop(step.makes)
        engine.run(step)


def _newly_held(
    nodes: Sequence[Levels], class_counts: Integers, perturbation: Perturbation, drawn: Integers
) -> Iterator[ChosenNode]:
    ends = np.cumsum(class_counts)
    for place, levels in enumerate(nodes):
        chose = drawn == place + 1
        if chose.any():
            classes = slice(int(ends[place] - class_counts[place]), int(ends[place]))
            yield ChosenNode(levels, perturbation.part(chose, classes))


def _epsilon(draws: Draws, step: str) -> float:
    return float(draws.charges[step].budget.epsilon)


def values(encoding: Encoding) -> Step:
    (name,) = encoding.spec.protected
    code, raw = column(encoding.sensitive(name)), encoding.raw(name)
    columns = [aliased(_place(code), PLACE_OF_VALUE), aliased(exp.AnyValue(this=column(raw)), raw), row_sum()]
    return Step(VALUES, grouped(select(columns, encoding.cells.table), [code.copy()]), "values of the source")


def class_steps(
    encoding: Encoding,
    batch: Sequence[Levels],
    value_epsilon: float,
    *,
    cells: Relation | None = None,
    apart: bool = False,
) -> list[Step]:
    """Make the classes of a batch of nodes after :data:`VALUES`, numbered node by node in key order.

    ``cells`` are rolled up to a node below all of them, if given; ``value_epsilon`` draws values of counterfeit rows.
    """
    known = [
        aliased(exp.Subquery(this=select([count_rows()], VALUES.table)), "anon_value_count"),
        aliased(double(value_epsilon), "anon_value_epsilon"),
    ]
    present = SQL.query("present", cells=select([exp.Star(), *known], CELLS.table))
    return [
        Step(CELLS, _cells(encoding, batch, cells, apart=apart), "combinations of nodes"),
        Step(PRESENT, present, "weights of values"),
        Step(GAPS, SQL.query("gaps"), "gaps between values"),
        Step(CLASSES, SQL.query("classes"), "classes of nodes"),
    ]


def losses_of_nodes(engine: Compute, table: EncodedTable, draws: Draws) -> Iterator[tuple[Levels, Mapping[str, float]]]:
    """Perturb all nodes, and yield each with its NCP, the distance of its values, and its rate of counterfeit rows."""
    engine.run(values(table.encoding))
    for nodes, _, _ in _all_perturbed(engine, table, draws, 1):
        for row in engine.fetch(utilities(), "utilities of nodes", "node"):
            yield nodes[row["node"]], row


def utilities() -> exp.Query:
    """Select ``run``, ``node``, the parts of its loss and ``utility``, 3 - IL, for nodes with classes."""
    return SQL.query("utilities")


def shown_steps(encoding: Encoding, levels: Levels) -> list[Step]:
    """Make the output at the single node whose classes exist."""
    grouping, node = by_key(encoding, levels), AtNode(encoding, levels)
    number_of_class = aliased(_number_of_class(grouping.columns()), CLASS)
    classes = select([*grouping.columns(), number_of_class], grouping.cells()).distinct(copy=False)
    labelled = select([column(CLASS, "anon_numbered")], subquery(classes, "anon_numbered"))
    labelled = node.join_codes(labelled, "anon_numbered")
    kept = _with_values(encoding, "kept")
    kept.set("expressions", [*(column(code, "anon_labelled") for code in node.keys), *kept.expressions])
    kept = kept.join(subquery(labelled, "anon_labelled"), using=[identifier(CLASS)], copy=False)
    return [
        Step(NOISY_COMBINATIONS, kept, "rows of the classes that are kept"),
        Step(NOISY_LEFT_OVER, _with_values(encoding, "pooled"), "rows of the others"),
    ]


def _cells(encoding: Encoding, batch: Sequence[Levels], cells: Relation | None, *, apart: bool) -> exp.Query:
    (name,) = encoding.spec.protected
    sensitive = encoding.sensitive(name)

    def rows_by_value(grouping: Grouping) -> exp.Select:
        return grouping.select([row_sum()], grouping.cells(), column(sensitive))

    combinations = of_all_nodes(encoding, batch, cells, rows_by_value, apart=apart)
    keys = [NODE, *encoding.word_columns]
    known = combinations.named_selects
    keyed = [column(key) for key in keys if key in known]
    columns = [
        *keyed,
        *([] if NODE in known else [aliased(number(0), NODE)]),
        aliased(_place(column(sensitive)), PLACE_OF_VALUE),
        column(ROW_COUNT),
        aliased(_number_of_class([key.copy() for key in keyed]), CLASS),
    ]
    numbered = select(columns, subquery(combinations, "anon_combinations"))
    return LabelLosses(encoding, batch, ("ncp",)).beside(numbered)


def _with_values(encoding: Encoding, name: str) -> exp.Select:
    raw = encoding.raw(*encoding.spec.protected)
    columns = [
        column(RUN, "anon_counted"),
        column(raw, "anon_values"),
        aliased(column(ROW_COUNT, "anon_counted"), NOISY),
        aliased(exp.true(), IS_SHOWN),
    ]
    query = select(columns, subquery(SQL.query(name), "anon_counted"))
    return query.join(exp.alias_(VALUES.table, "anon_values", table=True), using=[identifier(PLACE_OF_VALUE)])


def _number_of_class(keys: Sequence[exp.Expr]) -> exp.Expr:
    """Return the rank of a row's key from 0; without a key, all rows are in one class."""
    if not keys:
        return number(0)
    rank = exp.Window(this=exp.func("dense_rank"), order=ascending(*keys))
    return exp.Sub(this=rank, expression=number(1))


def _place(code: exp.Column) -> exp.Expr:
    """Return the position of a value from 0; codes are consecutive from 1."""
    return exp.Sub(this=cast(code, "BIGINT"), expression=number(1))
