"""The naive answer to a whole run: every node of the lattice measured by the oracle, and the best by the tie rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import sqlanon as sa
from tests import oracle
from tests.oracle import Row, Rows, Taxonomies

SLACK = 1e-9
"""How far two sums of floats may be apart and still count as equal."""

Share = Callable[[int, int], float]
Levels = tuple[int, ...]


@dataclass(frozen=True)
class Measured:
    """One node, as the oracle sees it."""

    node: Mapping[str, int]
    class_count: int
    min_class_size: int
    kept_class_count: int
    suppressed_rows: int
    satisfies: bool
    losses: Mapping[str, float | None]

    @property
    def levels(self) -> Levels:
        """The node as its levels."""
        return tuple(self.node.values())

    @property
    def height(self) -> int:
        """The sum of the levels."""
        return sum(self.levels)


@dataclass(frozen=True)
class Answer:
    """What a run must come to."""

    best: Measured
    loss: float
    ties: frozenset[Levels]


def meets(members: Rows, models: Sequence[object]) -> bool:
    """Whether these rows may be published as one class."""
    return all(attains(members, model) >= threshold(model) for model in models)


def attains(members: Rows, model: object) -> float:
    """The measure of one class."""
    match model:
        case sa.KAnonymity():
            return len(members)
        case sa.DistinctLDiversity(column=column):
            return oracle.distinct_diversity(row[column] for row in members)
        case sa.EntropyLDiversity(column=column):
            return oracle.entropy_diversity(row[column] for row in members)
        case _:
            raise AssertionError(model)


def threshold(model: object) -> float:
    """The smallest measure that passes; entropies are sums of logarithms, so they have slack."""
    match model:
        case sa.KAnonymity(k=bound) | sa.DistinctLDiversity(l=bound):
            return bound
        case sa.EntropyLDiversity(l=bound):
            return bound * (1 - SLACK)
        case _:
            raise AssertionError(model)


def allowed_rows(limit: float, row_count: int) -> int:
    """The suppression limit as the fraction that it is written as, of all rows, rounded down."""
    return int(Fraction(str(limit)) * row_count)


def classes_at(rows: Rows, taxonomies: Taxonomies, node: Mapping[str, int]) -> list[Rows]:
    """The source rows of every class of a node."""
    labelled = oracle.generalize(rows, taxonomies, node)
    found: dict[tuple[object, ...], Rows] = {}
    for row, generalized in zip(rows, labelled, strict=True):
        found.setdefault(tuple(generalized[name] for name in node), []).append(row)
    return list(found.values())


def measured(rows: Rows, taxonomies: Taxonomies, node: Mapping[str, int], policy: sa.Policy) -> Measured:
    """Every measure of a node."""
    classes = classes_at(rows, taxonomies, node)
    kept = [members for members in classes if meets(members, policy.privacy)]
    suppressed = len(rows) - sum(map(len, kept))
    allowed = allowed_rows(policy.suppression_limit, len(rows))
    sizes = [len(members) for members in classes]
    return Measured(
        node=dict(node),
        class_count=len(classes),
        min_class_size=min(sizes),
        kept_class_count=len(kept),
        suppressed_rows=suppressed,
        satisfies=bool(kept) and suppressed <= allowed,
        losses={
            "prec": oracle.prec(taxonomies, node),
            "entropy": oracle.entropy_loss(rows, taxonomies, node),
            "lm": _mean_loss(classes, taxonomies, node, policy, oracle.lm_share),
            "ncp": _mean_loss(classes, taxonomies, node, policy, oracle.ncp_share),
            "dm_star": oracle.dm_star(sizes),
            "dm": sum(len(members) ** 2 for members in kept) + suppressed * len(rows),
            "aecs": sum(map(len, kept)) / len(kept) / policy.k if kept else None,
        },
    )


def lattice(rows: Rows, taxonomies: Taxonomies, policy: sa.Policy) -> list[Measured]:
    """Every node, measured."""
    names = policy.quasi_identifiers
    return [measured(rows, taxonomies, node, policy) for node in oracle.lattice(taxonomies, names)]


def answer(nodes: Sequence[Measured], policy: sa.Policy) -> Answer | None:
    """The node to publish by spec/ola.md step 5, None if no node satisfies the policy."""
    measure = policy.quality.measure
    candidates = [node for node in nodes if node.satisfies]
    if not candidates:
        return None
    loss = min(loss_of(node, measure) for node in candidates)
    ties = [node for node in candidates if _equal(loss_of(node, measure), loss)]
    least = min(loss_of(node, "entropy") for node in ties)
    first = min(
        (node for node in ties if _equal(loss_of(node, "entropy"), least)),
        key=lambda node: (node.suppressed_rows, node.height, node.levels),
    )
    return Answer(first, loss, frozenset(node.levels for node in ties))


def released(rows: Rows, taxonomies: Taxonomies, node: Mapping[str, int], policy: sa.Policy) -> Rows:
    """The rows that a release at a node has: kept and, if that is asked for and safe, masked."""
    kept: Rows = []
    suppressed: Rows = []
    for members in classes_at(rows, taxonomies, node):
        (kept if meets(members, policy.privacy) else suppressed).extend(members)
    result = oracle.generalize(kept, taxonomies, node)
    if policy.suppression == "mask" and suppressed and meets(suppressed, policy.privacy):
        result += [{**row, **dict.fromkeys(node, "*")} for row in suppressed]
    return [_without(row, policy.identifiers) for row in result]


def _without(row: Row, names: Sequence[str]) -> Row:
    return {name: value for name, value in row.items() if name not in names}


def loss_of(node: Measured, measure: str) -> float:
    """A loss of a node where it is defined."""
    loss = node.losses[measure]
    assert loss is not None
    return loss


def _equal(left: float, right: float) -> bool:
    return abs(left - right) <= SLACK * max(1.0, abs(right))


def _mean_loss(
    classes: list[Rows], taxonomies: Taxonomies, node: Mapping[str, int], policy: sa.Policy, share: Share
) -> float:
    """LM or NCP, row policy ``real``: a row of a class that is not published loses 1."""
    total = 0.0
    for members in classes:
        labels = oracle.generalize(members[:1], taxonomies, node)[0]
        shares = [
            share(oracle.leaves(taxonomies[name], level, labels[name]), len(taxonomies[name]))
            for name, level in node.items()
        ]
        total += len(members) * (sum(shares) / len(shares) if meets(members, policy.privacy) else 1.0)
    return total / sum(map(len, classes))


def best_k(class_sizes: Sequence[int], allowed: int) -> int:
    """The largest k, at most the number of rows, for which the rows of smaller classes may be suppressed."""
    fit = [k for k in range(1, sum(class_sizes) + 1) if sum(size for size in class_sizes if size < k) <= allowed]
    return max(fit)


def covers(levels: Levels, other: Levels) -> bool:
    """Whether a node is another one or more general."""
    return all(level >= less for level, less in zip(levels, other, strict=True))


def minimal(nodes: set[Levels]) -> set[Levels]:
    """The nodes with no other one of them below."""
    return {node for node in nodes if not any(covers(node, other) for other in nodes - {node})}


def maximal(nodes: set[Levels]) -> set[Levels]:
    """The nodes with no other one of them above."""
    return {node for node in nodes if not any(covers(other, node) for other in nodes - {node})}
