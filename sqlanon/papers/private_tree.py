"""DiffP-C4.5 of Friedman and Schuster 2010: a decision tree by noisy counts and the exponential mechanism.

A tree of five levels takes 2 + numbers steps of ε' a level, and two more: ε' = ε / (5 (2 + numbers) + 2). A level
counts the rows of its nodes with noise, splits each number in each node by the exponential mechanism over its public
range, and draws an attribute for each node by the same mechanism; then two steps count the last nodes, and the classes
in leaves. The nodes of a step have no row in common, so that it costs as much for all of them as for one. Scores are
Max, whose sensitivity is 1. A node is a leaf if its noisy rows, for each class and each value of the largest attribute
that is left, are fewer than the standard deviation of the noise.

All else takes noisy counts: the rows of nodes are made to add up, from the root on, and C4.5's pruning follows.

Source: Friedman and Schuster 2010 ("Data mining with differential privacy", KDD), and their program, for the order of
the steps and for the pruning. Noise is discrete here, and splits are whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from sqlglot import exp

from sqlanon.chance.accountant import Accountant, Portions
from sqlanon.chance.exact import Floats, Integers
from sqlanon.chance.random_source import RandomSource, SeededSource
from sqlanon.engines.duckdb import Compute
from sqlanon.engines.locks import exclusive
from sqlanon.methods import points
from sqlanon.methods.cut_pieces import Piece
from sqlanon.methods.diffgen.draws import Scored, groups
from sqlanon.model.budget import Budget
from sqlanon.model.taxonomy.taxonomy import Taxonomy
from sqlanon.papers.adult import Bounds
from sqlanon.queries.kit.named import Queries, Role
from sqlanon.queries.kit.nodes import Relation, Step, column, string, union_all

if TYPE_CHECKING:
    from sqlanon.api.session import Session

DEPTH = 5
CONFIDENCE = 0.25  # of C4.5's pruning
DEVIATE = 0.6744897501960817  # of the normal distribution, with a probability of CONFIDENCE to be exceeded
SLACK = 0.1  # rows by which a leaf may err more than the tree that it replaces

VALUES = Relation("anon_tree_values", "row")
ROWS = Relation("anon_tree_rows", "row")
DOMAIN = Relation("anon_tree_domain", "node")
OPEN = Relation("anon_tree_open", "node")
SPLITS = Relation("anon_tree_splits", "node")
LABELS = Relation("anon_tree_labels", "node")

SQL = Queries("private_tree", {"values": VALUES, "rows": ROWS, "domain": DOMAIN, "open": OPEN, "splits": SPLITS})
CLASSES = 2


@dataclass(eq=False)
class Node:
    number: int
    pieces: Mapping[int, Piece]  # by attribute, the values that rows may have; categories that split above are gone
    rows: float = 0.0  # noisy, and once they add up a share of the parent's
    counts: Floats = field(default_factory=lambda: np.zeros(CLASSES))  # of each class
    label: int = 0  # the class that a leaf predicts
    children: list[Node] = field(default_factory=list)
    is_leaf: bool = True

    @property
    def leaf_errors(self) -> float:
        """The errors that C4.5 expects of a leaf here."""
        found = self.rows - float(self.counts.max())
        return found + added_errors(self.rows, found) if self.rows > 0 else 0.0

    @property
    def errors(self) -> float:
        return self.leaf_errors if self.is_leaf else sum(child.errors for child in self.children)

    def labels(self, above: int | None = None) -> Iterator[tuple[int, int]]:
        """Yield the nodes in which rows are, and the class that is predicted there."""
        label = self.label if above is None and self.is_leaf else above
        if not self.children:
            yield self.number, self.label if label is None else label
        for child in self.children:
            yield from child.labels(label)


class Attributes:
    """The places of each attribute by position: the public range of a number, or the values of a taxonomy."""

    def __init__(self, predictors: Mapping[str, Bounds | Taxonomy]) -> None:
        self.named = [*enumerate(predictors.items())]
        self.pieces: dict[int, Piece] = {}
        self.numbers: set[int] = set()
        self.values: list[tuple[int, int, str]] = []  # of categories: position, place, value
        for position, (_, known) in self.named:
            if isinstance(known, Taxonomy):
                assert known.rows is not None, "a taxonomy of rows lists its values"
                values = [str(row[0]) for row in known.rows]
                self.values += [(position, place, value) for place, value in enumerate(values)]
                self.pieces[position] = Piece(position, 0, len(values))
            else:
                self.numbers.add(position)
                self.pieces[position] = Piece(position, *known)

    @property
    def steps(self) -> int:
        return DEPTH * (2 + len(self.numbers)) + 2

    def places(self) -> exp.Query:
        """Select the place of each row in each attribute."""
        queries = []
        for position, (name, _) in self.named:
            roles: dict[str, Role] = {"position": position, "value": column(name, "anon_rows")}
            if position in self.numbers:
                piece = self.pieces[position]
                queries.append(SQL.query("places_of_numbers", first=piece.first, last=piece.end - 1, **roles))
            else:
                queries.append(SQL.query("places_of_values", **roles))
        return union_all(queries)


# More than six parameters: tables, the roles of columns, and the draws.
@exclusive
def tree_accuracy(
    session: Session,
    training: str,
    test: str,
    predictors: Mapping[str, Bounds | Taxonomy],
    target: tuple[str, str],  # the column of classes, and one of its two values
    budget: Budget,
    seed: int,
) -> float:
    """Grow a tree on training rows, and return the share of the test rows whose class it predicts."""
    engine, attributes = session._engine, Attributes(predictors)
    tables = {name: session._opened.resolve(table).relation for name, table in (("training", training), ("test", test))}
    accountant = Accountant(None, dataset=training, method="DiffP-C4.5", policy_sha256="")
    domain = {"attribute": pa.int64(), "place": pa.int64(), "value": pa.string()}
    with engine.transaction(), engine.scratch():
        engine.put(DOMAIN, points.table(domain, attributes.values))
        engine.run(SQL.step(ROWS, "roots", target=column(target[0]), one=string(target[1]), **tables))
        engine.run(Step(VALUES, attributes.places(), "places of values"))
        root = grow(engine, attributes, SeededSource(seed), accountant.charge_in_portions("tree", budget))
        engine.put(LABELS, points.table(dict.fromkeys(("node", "class"), pa.int64()), root.labels()))
        [found] = engine.fetch(SQL.query("accuracy", labels=LABELS), "accuracy")
        return float(found["accuracy"])


def grow(engine: Compute, attributes: Attributes, source: RandomSource, portions: Portions) -> Node:
    """Grow a tree on the training rows of :data:`ROWS`, and leave all rows in the nodes that they reach."""
    step = portions.whole.epsilon / attributes.steps
    root = Node(0, attributes.pieces)
    level, leaves, size = [root], list[Node](), 1
    for depth in range(DEPTH + 1):
        noisy = _counts(engine, level).sum(axis=1) + source.discrete_laplace(len(level), portions.take("nodes", step))
        for node, rows in zip(level, noisy, strict=True):
            node.rows = max(float(rows), 0.0)
            sizes = (2 if position in attributes.numbers else piece.size for position, piece in node.pieces.items())
            node.is_leaf = depth == DEPTH or node.rows / (max(sizes) * CLASSES) <= math.sqrt(2) / step
        leaves += [node for node in level if node.is_leaf]
        if not (grown := [node for node in level if not node.is_leaf]):
            break
        rows, level = list[tuple[int, int, int | None, int]](), []
        for node, (attribute, split) in zip(grown, _drawn(engine, attributes, grown, source, portions), strict=True):
            rows.append((node.number, attribute, split, size))
            node.children = [Node(size + place, each) for place, each in enumerate(_parts(node, attribute, split))]
            size += len(node.children)
            level += node.children
        engine.drop(SPLITS)
        engine.put(SPLITS, points.table(dict.fromkeys(("node", "attribute", "split", "first_child"), pa.int64()), rows))
        engine.run(Step(ROWS, SQL.query("moved"), "rows in the children of their nodes", is_again=True))
    noise = source.discrete_laplace(CLASSES * len(leaves), portions.take("leaves", step))
    for leaf, counts in zip(leaves, _counts(engine, leaves) + noise.reshape(-1, CLASSES), strict=True):
        leaf.counts, leaf.label = counts.astype(float), int(counts.argmax())
    settle(root)
    return root


def _counts(engine: Compute, nodes: Sequence[Node]) -> Integers:
    """Count the training rows of nodes; shape (nodes, classes)."""
    found = np.zeros((len(nodes), CLASSES), dtype=np.int64)
    places = {node.number: place for place, node in enumerate(nodes)}
    for row in engine.fetch(SQL.query("rows_of_nodes"), "rows of nodes", "node"):
        if (place := places.get(row["node"])) is not None:
            found[place, row["anon_class"]] = row["row_count"]
    return found


def _drawn(
    engine: Compute, attributes: Attributes, nodes: Sequence[Node], source: RandomSource, portions: Portions
) -> Iterator[tuple[int, int | None]]:
    """Draw the attribute of each node, and its split if it is a number."""
    step = portions.whole.epsilon / attributes.steps
    candidates = [(node, position) for node in nodes for position in node.pieces]
    scores = np.zeros(len(candidates), dtype=np.int64)
    splits: dict[int, int] = {}
    is_number = np.array([position in attributes.numbers for _, position in candidates])
    charges = {position: portions.take("splits", step) for position in sorted(attributes.numbers)}
    found = _scored(engine, candidates, np.flatnonzero(is_number), "split_scores")
    place, value, score = (np.array([row[name] for row in found]) for name in ("candidate", "value", "score"))
    ends = np.searchsorted(place, np.arange(len(candidates) + 1))
    for number in np.flatnonzero(is_number):
        node, position = candidates[number]
        part = slice(ends[number], ends[number + 1])
        first, counts, group_scores = groups(node.pieces[position], Scored(value[part], score[part]))
        if len(counts):
            group, offset = source.grouped_exponential_mechanism(group_scores, counts, charges[position], sensitivity=1)
            splits[int(number)], scores[number] = int(first[group[0]] + offset[0]), group_scores[group[0]]
    for row in _scored(engine, candidates, np.flatnonzero(~is_number), "specialization_scores"):
        scores[row["candidate"]] = row["score"]
    charge = portions.take("attributes", step)
    for node in nodes:
        possible = [
            number
            for number, (each, position) in enumerate(candidates)
            if each is node and (number in splits or position not in attributes.numbers)
        ]
        drawn = source.choice(scores[possible], charge, by="exponential", sensitivity=1)
        chosen = possible[int(drawn[0])]
        yield candidates[chosen][1], splits.get(chosen)


def _scored(
    engine: Compute, candidates: Sequence[tuple[Node, int]], wanted: Integers, macro: str
) -> list[dict[str, Any]]:
    """Score attributes of nodes by Max."""
    rows = ((int(number), candidates[number][0].number, candidates[number][1]) for number in wanted)
    engine.drop(OPEN)
    engine.put(OPEN, points.table(dict.fromkeys(("candidate", "node", "attribute"), pa.int64()), rows))
    return engine.fetch(points.scored(macro, SQL.query("counts"), "max", 1), "scores of attributes", "node")


def _parts(node: Node, attribute: int, split: int | None) -> Iterator[Mapping[int, Piece]]:
    piece = node.pieces[attribute]
    if split is None:
        others = {position: each for position, each in node.pieces.items() if position != attribute}
        yield from [others] * piece.size
    else:
        yield {**node.pieces, attribute: piece._replace(end=split)}
        yield {**node.pieces, attribute: piece._replace(first=split)}


def settle(node: Node) -> None:
    """Make the rows of the nodes below add up to those of a node, and prune them."""
    if node.is_leaf:
        shares = node.counts.clip(min=0)
        if not shares.any():
            shares[node.label] = 1
        node.counts = shares / shares.sum() * node.rows
        return
    total = sum(child.rows for child in node.children)
    for child in node.children:
        child.rows = child.rows / total * node.rows if total else 0.0
        settle(child)
    node.counts = np.sum([child.counts for child in node.children], axis=0)
    node.label = int(node.counts.argmax())
    node.is_leaf = node.leaf_errors <= node.errors + SLACK


def added_errors(rows: float, errors: float) -> float:
    """Return how many more errors C4.5 expects than it saw in a leaf, at :data:`CONFIDENCE`.

    Source: Quinlan 1993 ("C4.5"), section 4.2, as its program approximates the binomial limit.
    """
    if errors < 1:
        none = rows * (1 - math.pow(CONFIDENCE, 1 / rows))
        return none if errors <= 0 else none + errors * (added_errors(rows, 1.0) - none)
    if errors + 0.5 >= rows:
        return max(rows - errors, 0.0)
    share, square = (errors + 0.5) / rows, DEVIATE**2
    spread = DEVIATE * math.sqrt(share / rows - share**2 / rows + square / (4 * rows**2))
    return (share + square / (2 * rows) + spread) / (1 + square / rows) * rows - errors
