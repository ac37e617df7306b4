"""ε-safe anonymization of UCI Adult: the scores of its 108 nodes, and the choice that they lead to, as in the spec."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import sqlanon as sa
from sqlanon.audits.exact_audit import permute_and_flip
from sqlanon.methods.noisy_node.epsilon_safe import scores
from sqlanon.methods.noisy_node.shared import prepared
from sqlanon.nodes.table import encode_table
from sqlanon.queries.noise import WHOLE
from tests.conftest import UCI_COLUMNS, reading
from tests.engines import engine_of

DIMENSIONS = ["workclass", "marital_status", "occupation", "native_country"]
ROWS = 32_561
K = 50
CUTOFF = 67
"""K / 0.75, rounded up: from so many rows on a class is expected to have k in a sample."""

METHOD = sa.EpsilonSafe(k=K, beta=0.75, epsilon_node="0.1", epsilon_sampling=2)
POLICY = sa.Policy(
    quasi_identifiers=DIMENSIONS, identifiers=[name for name in UCI_COLUMNS if name not in DIMENSIONS], method=METHOD
)

pytestmark = pytest.mark.adult

Node = tuple[int, ...]


@pytest.fixture(scope="module")
def session(uci_adult: Path) -> Iterator[sa.Session]:
    with reading(uci_adult) as found:
        yield found


class Scored:
    """The nodes of the lattice with what they lose, and the probability of each to be chosen with a weight and an ε."""

    def __init__(self, session: sa.Session) -> None:
        engine = engine_of(session)
        bound = prepared(engine, engine.resolve("adult"), POLICY)
        self.nodes = list(bound.lattice.nodes())
        with engine.transaction(), engine.scratch():
            table = encode_table(engine, bound, label_losses=())
            self.scores = {
                weight: scores(engine, table, threshold=CUTOFF, weight=weight, reach=weight * WHOLE * ROWS) / WHOLE
                for weight in (1, 5, 10)
            }
        heights = bound.lattice.heights
        self.losses = np.array(
            [sum(level / height for level, height in zip(node, heights, strict=True)) / 4 for node in self.nodes]
        )
        self.suppressed = self._suppressed(session)

    def _suppressed(self, session: sa.Session) -> np.ndarray:
        """Of each node, the share of rows in classes of fewer rows than are expected to be shown."""
        policy = sa.Policy(
            quasi_identifiers=DIMENSIONS,
            identifiers=POLICY.identifiers,
            privacy=[sa.KAnonymity(CUTOFF)],
            quality=sa.Prec(),
        )
        rows = session.lattice("adult", policy).select(["node", "suppressed_rows"]).to_pylist()
        found = {tuple(dict(row["node"])[name] for name in DIMENSIONS): row["suppressed_rows"] / ROWS for row in rows}
        return np.array([found[node] for node in self.nodes])

    def probabilities(self, weight: int, epsilon: float) -> np.ndarray:
        exponents = epsilon * self.scores[weight] / (2 * weight)
        chances = np.exp(exponents - exponents.max())
        return chances / chances.sum()


@pytest.fixture(scope="module")
def scored(session: sa.Session) -> Scored:
    return Scored(session)


def test_there_are_108_nodes_and_few_of_them_are_good(scored: Scored) -> None:
    assert len(scored.nodes) == 108
    is_good = (scored.losses < 0.5) & (scored.suppressed < 0.05)
    assert round(float(is_good.mean()), 4) == 0.0648
    assert round(float(scored.suppressed.mean()), 4) == 0.0577


@pytest.mark.parametrize(
    ("weight", "epsilon", "mode", "probability"),
    [
        (1, 0.01, (0, 0, 1, 0), 0.897),
        (1, 0.05, (0, 0, 1, 0), 1.000),
        (5, 0.05, (0, 0, 2, 3), 0.629),
        (5, 0.1, (0, 0, 2, 3), 0.790),
        (5, 0.5, (0, 0, 2, 3), 0.999),
        (10, 0.05, (0, 1, 2, 3), 0.969),
    ],
)
def test_the_most_likely_node(scored: Scored, weight: int, epsilon: float, mode: Node, probability: float) -> None:
    chances = scored.probabilities(weight, epsilon)
    assert scored.nodes[int(chances.argmax())] == mode
    assert round(float(chances.max()), 3) == probability
    best = permute_and_flip((epsilon * scored.scores[weight] / (2 * weight)).tolist(), 1)
    assert best[scored.nodes.index(mode)] >= float(chances.max()) - 1e-12


@pytest.mark.parametrize(
    ("weight", "epsilon", "precision", "suppressed"),
    [(1, 0.05, 0.1250, 0.1237), (5, 0.05, 0.4598, 0.0245), (5, 0.1, None, 0.0213), (10, 0.05, 0.6241, 0.0008)],
)
def test_what_is_expected_to_be_lost(
    scored: Scored, weight: int, epsilon: float, precision: float | None, suppressed: float
) -> None:
    chances = scored.probabilities(weight, epsilon)
    assert precision is None or round(float(chances @ scored.losses), 4) == precision
    assert round(float(chances @ scored.suppressed), 4) == suppressed


def test_how_often_the_node_is_good(scored: Scored) -> None:
    is_good = (scored.losses < 0.5) & (scored.suppressed < 0.05)
    assert round(float(scored.probabilities(5, 0.05)[is_good].sum()), 4) == 0.3234
