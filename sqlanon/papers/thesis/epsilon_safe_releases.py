"""Utility of ε-safe releases of UCI Adult, beside k-anonymity and IPA."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.chance.word_sources import SeededSource
from sqlanon.evaluation.results import Row
from sqlanon.model.budget import Budget
from sqlanon.model.lattice import Levels
from sqlanon.model.methods.noisy import IPA
from sqlanon.model.methods.sampled_methods import EpsilonSafe
from sqlanon.model.policy.policy import Policy
from sqlanon.model.privacy import KAnonymity
from sqlanon.model.quality import Prec
from sqlanon.papers import adult
from sqlanon.papers.methods import EpsilonSafeAsPublished
from sqlanon.papers.reproductions import Announce
from sqlanon.papers.thesis.epsilon_safe_choice import (
    AS_PUBLISHED,
    BETA,
    EPSILON_SAMPLING,
    FACTORS,
    ON_SAMPLE,
    ON_TABLE,
    QUASI_IDENTIFIERS,
    SAMPLE_WEIGHT,
    WEIGHTS,
    K,
)
from sqlanon.papers.thesis.income_accuracy import THESIS
from sqlanon.queries import taxonomy_queries as taxonomies
from sqlanon.queries.kit.macros import table_call, text
from sqlanon.queries.kit.nodes import all_of, column, counted_rows, number, string
from sqlanon.queries.layout import MASK
from sqlanon.queries.measures import level_map

if TYPE_CHECKING:
    from sqlanon.api.session import Session

FOUR = "releases of four quasi-identifiers"
NINE = "releases of nine quasi-identifiers"
NINE_QUASI_IDENTIFIERS = THESIS.quasi_identifiers

EPSILON_NODE = "0.1"
DELTA_ON_SAMPLE = "0.0035"  # what a node costs that is drawn on the sample, of 108; rounded up
LIMIT = 0.05  # the share of rows that k-anonymity may suppress

RELEASED = "released"


@dataclass(frozen=True)
class Contender:
    """Releases to make, one for each seed if something is drawn."""

    part: str  # their table of the summary
    method: str  # what makes them, in words
    policy: Policy  # what is asked for
    budget: Budget | None = None  # what a release costs, None if it promises no differential privacy
    weight: int | None = None  # of a suppressed row, if it has one

    def __str__(self) -> str:
        """In words, as progress is reported."""
        return f"{self.part}: {self.method}{'' if self.weight is None else f', weight {self.weight}'}"


@dataclass(frozen=True)
class Outcome:
    """A release: its node, and shares of all rows; rows that are shown have labels."""

    node: Mapping[str, int]
    shown: float
    precision: float
    lm: float
    seconds: float


def contenders() -> Iterator[Contender]:
    """All releases, those of one method together."""
    yield from (_safe(FOUR, QUASI_IDENTIFIERS, weight) for weight in WEIGHTS)
    settings = {"delta": DELTA_ON_SAMPLE, "select_on": "sample", "suppressed_weight": SAMPLE_WEIGHT}
    on_sample = _method(EpsilonSafe, **settings)
    yield Contender(FOUR, ON_SAMPLE, _policy(QUASI_IDENTIFIERS, on_sample), on_sample.budget, SAMPLE_WEIGHT)
    for penalty in FACTORS:
        as_published = _method(EpsilonSafeAsPublished, penalty=penalty)
        yield Contender(FOUR, f"{AS_PUBLISHED}, penalty for {penalty}", _policy(QUASI_IDENTIFIERS, as_published))
    yield from (_safe(NINE, NINE_QUASI_IDENTIFIERS, weight) for weight in WEIGHTS)
    for limit in (0.0, LIMIT):
        anonymous = Policy(
            quasi_identifiers=NINE_QUASI_IDENTIFIERS,
            identifiers=[adult.TARGET],
            privacy=[KAnonymity(K)],
            quality=Prec(),
            suppression_limit=limit,
        )
        yield Contender(NINE, f"k-anonymity, {100 * limit:g} % suppressed" if limit else "k-anonymity", anonymous)
    for ipa in (IPA(), IPA(budget=_method().budget)):
        with_income = Policy(quasi_identifiers=NINE_QUASI_IDENTIFIERS, sensitive=[adult.TARGET], method=ipa)
        yield Contender(NINE, f"IPA, with {adult.TARGET}", with_income, ipa.budget)


def rows(
    session: Session, tables: Mapping[str, str], good: AbstractSet[Levels], seeds: Sequence[int], announce: Announce
) -> Iterator[Row]:
    """A row for each contender; of drawn releases figures are means.

    Args:
        session: where the tables are.
        tables: the table of each part.
        good: the good nodes of four quasi-identifiers.
        seeds: one for each release that is drawn.
        announce: takes each contender in words, and in the end how long a release took: no row may depend on that.
    """
    took = []
    for contender in contenders():
        announce(str(contender))
        drawn = seeds if contender.policy.method.draws else seeds[:1]
        outcomes = [_released(session, tables[contender.part], contender.policy, seed) for seed in drawn]
        took.append(f"{contender}, {fmean(each.seconds for each in outcomes):.1f} s")
        nodes = Counter(tuple(each.node.values()) for each in outcomes)
        ((node, _),) = nodes.most_common(1)
        is_four = contender.part == FOUR
        yield {
            "part": contender.part,
            "method": contender.method,
            "weight": contender.weight,
            "epsilon": None if contender.budget is None else float(contender.budget.epsilon),
            "delta": None if contender.budget is None else f"{float(contender.budget.delta):.4g}",
            "releases": len(outcomes),
            "node": " ".join(map(str, node)),
            "good": sum(count for each, count in nodes.items() if each in good) / len(outcomes) if is_four else None,
            **{name: fmean(getattr(each, name) for each in outcomes) for name in ("shown", "precision", "lm")},
        }
    announce(f"How long a release took: {'; '.join(took)}")


def findings(rows: Sequence[Row]) -> Iterator[str]:
    """Compare how much is kept of nine quasi-identifiers."""
    for row in rows:
        if row["part"] == NINE:
            kept = f"{100 * row['shown']:.1f} % of the rows, Prec {row['precision']:.3f}, LM {row['lm']:.3f}"
            yield f"Nine quasi-identifiers, {named(row)}: {kept}"


def named(row: Row) -> str:
    """A row of nine quasi-identifiers in words: by its weight, or by ε if it has one."""
    if row["weight"] is not None:
        return f"EpsilonSafe, weight {row['weight']}"
    return str(row["method"]) if row["epsilon"] is None else f"{row['method']}, ε = {row['epsilon']:g}"


def _safe(part: str, quasi_identifiers: Sequence[str], weight: int) -> Contender:
    method = _method(suppressed_weight=weight)
    return Contender(part, ON_TABLE, _policy(quasi_identifiers, method), method.budget, weight)


def _method(kind: type[EpsilonSafe] = EpsilonSafe, **settings: object) -> EpsilonSafe:
    return kind.model_validate(
        {"k": K, "beta": BETA, "epsilon_node": EPSILON_NODE, "epsilon_sampling": EPSILON_SAMPLING, **settings}
    )


def _policy(quasi_identifiers: Sequence[str], method: EpsilonSafe) -> Policy:
    return Policy(quasi_identifiers=quasi_identifiers, rest="identifier", method=method)


def _released(session: Session, table: str, policy: Policy, seed: int) -> Outcome:
    started = time.perf_counter()
    source = SeededSource(seed) if policy.method.draws else None
    release = session.anonymize(table, policy, RELEASED, replace=True, random_source=source)
    seconds = time.perf_counter() - started
    engine = session._engine
    original, released = (engine.resolve(name).relation for name in (table, RELEASED))
    names = policy.quasi_identifiers
    is_masked = all_of([exp.EQ(this=text(column(name)), expression=string(MASK)) for name in names])
    labelled = counted_rows(released).where(exp.Not(this=exp.Paren(this=is_masked)))
    [shown] = engine.fetch(labelled, "rows that show a label")
    [row_count] = engine.fetch(counted_rows(original), "rows")
    lm = table_call("lm", original.copy(), level_map(release.node), number(1))
    [labels] = engine.fetch(taxonomies.at(lm, engine.taxonomy), "LM of original rows")
    heights = release.report.heights
    precision = fmean(level / heights[name] if heights[name] else 0 for name, level in release.node.items())
    return Outcome(release.node, shown["rows"] / row_count["rows"], precision, labels["lm"], seconds)
