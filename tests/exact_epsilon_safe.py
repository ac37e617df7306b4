"""The exact distribution of what ε-safe anonymization publishes of a small table, written apart from the engine."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import ceil, comb
from typing import Any

import sqlanon as sa
from sqlanon.audits.exact_audit import PROBABILITIES
from sqlanon.chance.scales import scale_for
from sqlanon.model.methods.noisy import NODE
from sqlanon.queries.noise import WHOLE
from tests.neighbours import Lost, node_score

Counts = tuple[int, ...]
"""How many rows each cell has."""

Output = tuple[int, Counts]
"""The node, and how many rows each of its classes shows: 0 for none."""


SQUARE = (
    Lost(0, ((0,), (1,), (2,), (3,))),
    Lost(WHOLE // 2, ((0, 1), (2, 3))),
    Lost(WHOLE // 2, ((0, 2), (1, 3))),
    Lost(2 * (WHOLE // 2), ((0, 1, 2, 3),)),
)
"""The lattice of two quasi-identifiers of two values each."""


def choice(method: sa.EpsilonSafe, nodes: Sequence[Lost], counts: Counts, threshold: int, part: int = 1) -> list[float]:
    """The probability of each node, with a sensitivity that is too small by a factor if that is not 1."""
    whole = method.suppressed_weight * WHOLE
    scores = [node_score(node, counts, whole=whole, threshold=threshold) for node in nodes]
    return PROBABILITIES[method.selection](scores, scale_for(method.budgets[NODE].epsilon, 2 * whole // part))


def sizes_of(node: Lost, counts: Counts) -> Counts:
    return tuple(sum(counts[cell] for cell in cells) for cells in node.together)


def on_table(method: sa.EpsilonSafe, nodes: Sequence[Lost], counts: Counts) -> Mapping[Output, float]:
    """The node is drawn on all rows, and each row is sampled."""
    sampling = method.sampling
    found: dict[Output, float] = defaultdict(float)
    chances = choice(method, nodes, counts, ceil(sampling.k / sampling.beta))
    for place, (node, chance) in enumerate(zip(nodes, chances, strict=True)):
        for shown, probability in sampled_classes(sizes_of(node, counts), sampling.k, float(sampling.beta)).items():
            found[place, shown] += chance * probability
    return found


def on_sample(method: sa.EpsilonSafe, nodes: Sequence[Lost], counts: Counts) -> Mapping[Output, float]:
    """Each row is sampled, and the node is drawn on the sample."""
    sampling = method.sampling
    found: dict[Output, float] = defaultdict(float)
    for sample, probability in _samples(counts, float(sampling.beta)):
        for place, chance in enumerate(choice(method, nodes, sample, sampling.k)):
            sizes = sizes_of(nodes[place], sample)
            found[place, tuple(size if size >= sampling.k else 0 for size in sizes)] += chance * probability
    return found


def sampled_classes(sizes: Counts, k: int, beta: float) -> Mapping[Counts, float]:
    """The distribution of what classes show."""
    found: dict[Counts, float] = defaultdict(float)
    for kept, probability in _samples(sizes, beta):
        found[tuple(size if size >= k else 0 for size in kept)] += probability
    return found


def _samples(counts: Counts, beta: float) -> Iterator[tuple[Counts, float]]:
    for sample in product(*(range(count + 1) for count in counts)):
        probability = 1.0
        for count, kept in zip(counts, sample, strict=True):
            probability *= comb(count, kept) * beta**kept * (1 - beta) ** (count - kept)
        yield sample, probability


def method(**options: Any) -> sa.EpsilonSafe:
    """A method whose classes of two rows are shown, with much to spend."""
    return sa.EpsilonSafe(**{"k": 2, "beta": "1/2", "epsilon_node": 1, "epsilon_sampling": 1, **options})
