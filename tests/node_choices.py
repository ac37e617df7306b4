"""Which node a policy chooses, exactly: its own scores and charge, and the probabilities of permute-and-flip."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa

import sqlanon as sa
from sqlanon.audits.exact_audit import PROBABILITIES
from sqlanon.chance.accountant import Charge
from sqlanon.chance.exact import Integers
from sqlanon.chance.scales import scale_for
from sqlanon.methods.noisy_node.ipa import thresholds
from sqlanon.model.methods.noisy import CELLS, NODE, ROLLED_UP, NodeMethod, Selection
from sqlanon.queries.noise import Domain

Row = tuple[int, str, str]
"""Age, sex and diagnosis."""

ROW: Row = (0, "f", "flu")
ELSEWHERE: Row = (3, "m", "cold")


@dataclass(frozen=True)
class Neighbours:
    """The rows of people who have one each, and those of one more individual."""

    rows: Sequence[Row]
    more: Sequence[Row]

    def session(self) -> sa.Session:
        session = _session()
        owners = [*range(len(self.rows)), *[-1] * len(self.more)]
        columns = zip(*self.rows, *self.more, strict=True)
        people = pa.table({**dict(zip(("age", "sex", "diagnosis"), columns, strict=True)), "person": owners})
        for name, count in (("without", len(self.rows)), ("with_one", len(owners))):
            session.connection.register("anon_people", people.slice(0, count))
            session.connection.execute(f"CREATE OR REPLACE TABLE {name} AS FROM anon_people")
            session.connection.unregister("anon_people")
        return session


@cache
def _session() -> sa.Session:
    session = sa.connect(duckdb.connect(config={"threads": 1}))
    session.taxonomies.load("age", sa.Taxonomy.intervals([2], minimum=0, maximum=3))
    session.taxonomies.load("sex", sa.Taxonomy.flat(["f", "m"]))
    session.taxonomies.load("diagnosis", sa.Taxonomy.flat(["flu", "cold"]))
    return session


def method(
    rows: int = 1, *, node: str = "98/100", epsilon: str = "1", delta: str = "0.01", minimum_count: int = 1
) -> sa.IPA:
    """IPA with a share of ε for the choice of a node, by default nearly all of it."""
    rest = (1 - Fraction(node)) / 2
    return sa.IPA(
        budget=sa.Budget(epsilon, delta),
        split={NODE: node, CELLS: rest, ROLLED_UP: rest},
        rows_per_individual=rows,
        minimum_count=minimum_count,
    )


def threshold(wanted: sa.IPA) -> int:
    """T: how many rows a combination must have not to be at risk in whole, where sex is the quasi-identifier."""
    return thresholds(wanted, Domain((3,), 3))[CELLS]


def policy(wanted: sa.IPA, *quasi_identifiers: str) -> sa.Policy:
    """A policy for these tables; that of a method for individuals with several rows knows whose row it is."""
    names = quasi_identifiers or ("sex",)
    dropped = [name for name in ("age", "sex") if name not in names]
    return sa.Policy(
        quasi_identifiers=names,
        sensitive=["diagnosis"],
        identifiers=["person", *dropped],
        individual="person" if wanted.rows_per_individual > 1 else None,
        method=wanted,
    )


class NotedChoices(sa.SeededSource):
    """A source that keeps what it was asked to choose between, and how.

    Args:
        changed: the sensitivity that it draws at, of the one that it is told, to see that a wrong one is found.

    Attributes:
        probabilities: of each node, at the last choice.
    """

    def __init__(self, changed: Callable[[int], int] = int) -> None:
        super().__init__(1)
        self._changed = changed
        self.probabilities: list[float] = []

    def choice(self, scores: Integers, charge: Charge, *, by: Selection, sensitivity: int, **options: Any) -> Integers:
        drawn_at = self._changed(sensitivity)
        self.probabilities = PROBABILITIES[by](scores.tolist(), scale_for(charge.budget.epsilon, 2 * drawn_at))
        assert not options.pop("monotonic", False)
        return super().choice(scores, charge, by=by, sensitivity=drawn_at, **options)


class NodeChoice:
    """The choice of a node as a mechanism whose outputs are listed: an audit of it is exact.

    Scores, sensitivity and charge are those that a release draws with; only the last step, permute-and-flip at the
    scale that sources draw at, is computed and not drawn. So what is wrong before it shows without many runs.

    Attributes:
        claimed: ε of the step.
    """

    def __init__(self, session: sa.Session, asked: sa.Policy, source: NotedChoices) -> None:
        self._source = source
        self._mechanism = sa.evaluation.repeatable(session, asked, source)
        self.claimed = NodeMethod.of(asked).budgets[NODE]

    def distribution(self, table: str) -> Mapping[int, float]:
        self._mechanism.outcomes(table, 1)
        return dict(enumerate(self._source.probabilities))


def exact_audit(neighbours: Neighbours, asked: sa.Policy, changed: Callable[[int], int] = int) -> sa.evaluation.Audit:
    """What the choice of a node loses on these tables."""
    mechanism = NodeChoice(neighbours.session(), asked, NotedChoices(changed))
    return sa.evaluation.audit_privacy(mechanism, "without", "with_one")
