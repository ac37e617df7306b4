"""DiffP-C4.5 against a plain tree where there is next to no noise, its budget, and the pruning of C4.5."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest

import sqlanon as sa
from sqlanon.chance.accountant import Portions
from sqlanon.chance.random_source import SeededSource
from sqlanon.model.budget import Budget
from sqlanon.model.taxonomy.taxonomy import TOP, Taxonomy
from sqlanon.papers import private_tree
from sqlanon.papers.private_tree import Node, added_errors, settle, tree_accuracy

COLOURS = ("blue", "green", "red")
PREDICTORS = {"age": (0, 100), "colour": Taxonomy.from_rows([(each, TOP) for each in COLOURS]), "weight": (40, 60)}
Row = tuple[int, str, int, str]


def rows_of(first: int, count: int) -> list[Row]:
    """Rows whose class depends on age among the blue ones, and is one for each other colour, but for every 13th."""
    found = []
    for number in range(first, first + count):
        age, colour = number * 37 % 100, COLOURS[number % 3]
        is_sick = (age >= 70 if colour == "blue" else colour == "red") != (number % 13 == 0)
        found.append((age, colour, 40 + number * 11 % 20, "sick" if is_sick else "well"))
    return found


def accuracy(training: Sequence[Row], test: Sequence[Row], epsilon: str, seed: int = 0) -> float:
    with sa.connect(":memory:") as session:
        for name, rows in (("training", training), ("test", test)):
            columns = zip(("age", "colour", "weight", "class"), zip(*rows, strict=True), strict=True)
            session.connection.from_arrow(pa.table(dict(columns))).create(name)
        return tree_accuracy(session, "training", "test", PREDICTORS, ("class", "sick"), Budget(epsilon), seed)


def best_split(rows: Sequence[Row]) -> tuple[int, Any]:
    """The attribute that Max takes, and where it splits a number: the first of the best."""
    options = [(0, at) for at in range(1, 100)] + [(1, None)] + [(2, at) for at in range(41, 60)]

    def score(option: tuple[int, Any]) -> int:
        return sum(max(Counter(row[3] for row in part).values()) for part in parts(rows, *option).values())

    return max(options, key=score)


def parts(rows: Sequence[Row], column: int, at: int | None) -> dict[Any, list[Row]]:
    found: dict[Any, list[Row]] = {}
    for row in rows:
        found.setdefault(row[column] if at is None else row[column] >= at, []).append(row)
    return found


def grown(training: Sequence[Row], epsilon: str, seed: int = 0) -> tuple[Node, list[dict[str, Any]]]:
    """The tree, and what its draws were given; rows for tests would change it if they counted."""
    roots, given = list[Node](), list[dict[str, Any]]()
    grow = private_tree.grow

    def kept(*arguments: Any) -> Node:
        roots.append(grow(*arguments))
        return roots[0]

    class Watched(SeededSource):
        def grouped_exponential_mechanism(self, *arguments: Any, **named: Any) -> Any:
            given.append(named)
            return super().grouped_exponential_mechanism(*arguments, **named)

    test = [(age, colour, weight, "sick" if weight >= 50 else "well") for age, colour, weight, _ in training * 3]
    with mock.patch.multiple(private_tree, grow=kept, SeededSource=Watched):
        accuracy(training, test, epsilon, seed)
    return roots[0], given


def inner(node: Node, rows: Sequence[Row]) -> Iterator[tuple[Node, list[Row]]]:
    """Each node below with its rows, by the attribute that splits its parent, which only the pieces show."""
    yield node, [*rows]
    if len(node.children) == len(COLOURS):
        for child, colour in zip(node.children, COLOURS, strict=True):
            assert child.pieces == {position: each for position, each in node.pieces.items() if position != 1}
            yield from inner(child, [row for row in rows if row[1] == colour])
    elif node.children:
        left, right = (child.pieces for child in node.children)
        [column] = (each for each in (0, 2) if left[each] != right[each])
        at = left[column].end
        assert (left[column].first, at, right[column].end) == (
            node.pieces[column].first,
            right[column].first,
            node.pieces[column].end,
        )
        yield from inner(node.children[0], [row for row in rows if row[column] < at])
        yield from inner(node.children[1], [row for row in rows if row[column] >= at])


def test_a_plain_tree_without_noise() -> None:
    training, test = rows_of(0, 600), rows_of(600, 200)
    column, at = best_split(training)
    assert (column, at) == (1, None)
    of_blue = parts(training, 1, None)["blue"]
    column, at = best_split(of_blue)
    assert column == 0 and at is not None and 60 < at <= 70
    right = sum(
        ("sick" if colour == "red" or (colour == "blue" and age >= at) else "well") == label
        for age, colour, _, label in test
    )
    assert accuracy(training, test, "100000") == pytest.approx(right / len(test), abs=0.01)


def test_counts_without_noise_are_those_of_training_rows() -> None:
    training = rows_of(0, 600)
    root, given = grown(training, "100000")
    assert len(root.children) == len(COLOURS)
    found = [*inner(root, training)]
    assert len(found) > 10
    for node, rows in found:
        sick = sum(row[3] == "sick" for row in rows)
        assert node.counts.tolist() == pytest.approx([len(rows) - sick, sick], abs=0.01)
    assert given and all(each["sensitivity"] == 1 and not each.get("monotonic") for each in given)


def test_small_nodes_are_leaves() -> None:
    """A node needs 248 noisy rows or more, at a standard deviation of 62."""
    training = rows_of(0, 2000)
    sizes = {
        seed: [len(rows) for node, rows in inner(grown(training, "0.5", seed)[0], training) if node.children]
        for seed in range(3)
    }
    assert all(found and min(found) > 50 for found in sizes.values())


def test_nothing_is_learnt_without_budget() -> None:
    training, test = rows_of(0, 600), rows_of(600, 200)
    found = {accuracy(training, test, "0.001", seed) for seed in range(8)}
    assert found == {sum(row[3] == label for row in test) / len(test) for label in ("sick", "well")}


def test_steps_add_up_to_the_budget() -> None:
    taken: list[Portions] = []
    grow = private_tree.grow

    def watched(engine: Any, attributes: Any, source: Any, portions: Portions) -> Node:
        taken.append(portions)
        return grow(engine, attributes, source, portions)

    with mock.patch.object(private_tree, "grow", watched):
        accuracy(rows_of(0, 3000), rows_of(0, 10), "400")
    [portions] = taken
    step = Fraction(400, 5 * (2 + 2) + 2)
    assert {charge.budget.epsilon for charge in portions.given} == {step}
    purposes = Counter(charge.purpose for charge in portions.given)
    assert purposes == {"nodes": 6, "splits": 10, "attributes": 5, "leaves": 1}
    assert portions.left == 0


class TestPruning:
    @pytest.mark.parametrize(("rows", "errors"), [(6, 0.206 * 6), (9, 0.143 * 9), (1, 0.75)])
    def test_leaves_without_errors(self, rows: float, errors: float) -> None:
        """The figures of Quinlan 1993, page 41."""
        assert added_errors(rows, 0) == pytest.approx(errors, abs=0.005)

    def test_other_leaves(self) -> None:
        assert added_errors(168, 60) == pytest.approx(5.1, abs=0.7)
        assert added_errors(10, 9.8) == pytest.approx(0.2)
        between = added_errors(16, 0.5)
        assert between == pytest.approx((added_errors(16, 0) + added_errors(16, 1)) / 2)

    def tree(self, *leaves: tuple[float, float]) -> Node:
        children = [
            Node(number, {}, rows=sum(counts), counts=np.array(counts), label=int(np.argmax(counts)))
            for number, counts in enumerate(leaves, 1)
        ]
        return Node(0, {}, rows=sum(child.rows for child in children), children=children, is_leaf=False)

    def test_leaves_that_agree_become_one(self) -> None:
        root = self.tree((30, 2), (40, 1))
        settle(root)
        assert root.is_leaf
        assert [*root.labels()] == [(1, 0), (2, 0)]

    def test_a_leaf_that_is_as_good_replaces_a_tree(self) -> None:
        root = self.tree((30, 2), (0, 0))
        settle(root)
        assert root.is_leaf

    def test_leaves_that_differ_stay(self) -> None:
        root = self.tree((30, 2), (1, 40))
        settle(root)
        assert not root.is_leaf
        assert [*root.labels()] == [(1, 0), (2, 1)]

    def test_rows_add_up(self) -> None:
        root = self.tree((30, 0), (0, 10))
        root.rows = 80
        settle(root)
        assert [child.rows for child in root.children] == [60, 20]
        assert root.counts.tolist() == [60, 20]

    def test_noise_below_zero_counts_nothing(self) -> None:
        root = self.tree((-3, -1), (0, 10))
        root.children[0].rows = 0
        settle(root)
        assert root.children[0].counts.tolist() == [0, 0]
        assert math.isfinite(root.counts.sum())
        assert [*root.labels()] == [(1, 1), (2, 1)]
