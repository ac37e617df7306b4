"""Mazzone 2019, section 6.3, on UCI Adult: CPU times, in units of what OLA takes to check a node."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from sqlanon.chance.random_source import SeededSource
from sqlanon.evaluation.results import Reproduced, Row
from sqlanon.model.policy.policy import Policy
from sqlanon.model.privacy import KAnonymity, MConcealing
from sqlanon.model.quality import Prec
from sqlanon.papers import adult, ola_runs
from sqlanon.papers.epsilon_safe_probabilities import QUASI_IDENTIFIERS, K
from sqlanon.papers.experiments import Part, Reproduction, printed_beside
from sqlanon.papers.income_accuracy import LOSSES, THESIS
from sqlanon.papers.methods import EpsilonSafeAsPublished
from sqlanon.papers.ola_runs import DEMOGRAPHICS, MODELS, RELEASED, SECRETS, SOURCE

if TYPE_CHECKING:
    from sqlanon.api.session import Session

OLA = "OLA, {}: a checked node"  # by loss; for DM* and Entropy, minimal nodes count as well
INVERSE = "Inverse OLA, Prec: a checked node"
CONCEALING = "1/m of a release"
SAFE = "ε-safe as published, penalty for {}: a node"

# k and the percentage of rows that may be suppressed, with few and with many checked nodes.
SETTINGS = ((5, 1), (25, 5), (100, 1), (100, 10))
BOUNDS = ((0.5, 10), (0.8, 0), (0.8, 50))
UNIT = "Prec"

# In seconds, the most that the thesis states; its unit is that of a node that OLA checks.
PUBLISHED_UNIT = 2
PUBLISHED = {**{OLA.format(loss): 2 for loss in LOSSES}, INVERSE: 2, CONCEALING: 4}

SHOWN = {"what": "what", "seconds": "CPU seconds", "nodes": "nodes", "ratio": "ratio", "thesis": "thesis, at most"}


@dataclass(frozen=True)
class Timed:
    """A run whose time counts."""

    what: str
    setting: str
    policy: Policy
    with_minimal: bool = False  # whether minimal nodes count as well as checked ones

    def __str__(self) -> str:
        return f"{self.what.partition(':')[0]}, {self.setting}"


def timed() -> Iterator[Timed]:
    of_nine = partial(Policy, quasi_identifiers=THESIS.quasi_identifiers, rest="identifier")
    for (name, loss), (k, percent) in itertools.product(LOSSES.items(), SETTINGS):
        policy = of_nine(privacy=[KAnonymity(k)], quality=loss, suppression_limit=percent / 100, search="ola")
        yield Timed(OLA.format(name), f"k = {k}, up to {percent} % suppressed", policy, name != UNIT)
    for most, percent in BOUNDS:
        policy = of_nine(quality=Prec(), suppression_limit=percent / 100, objective="privacy", max_loss=most)
        yield Timed(INVERSE, f"Prec up to {most}, up to {percent} % suppressed", policy)
    for penalty in ("k-anonymity", "suppression"):
        method = EpsilonSafeAsPublished(k=K, beta="0.75", epsilon_node="0.1", epsilon_sampling=2, penalty=penalty)
        policy = Policy(quasi_identifiers=QUASI_IDENTIFIERS, rest="identifier", method=method)
        yield Timed(SAFE.format(penalty), "four quasi-identifiers", policy)


def parts(seeds: Sequence[int]) -> Iterator[Part]:
    for seed in seeds:
        for each in timed():
            yield Part(f"{each}, run {seed}", partial(released, timed=each, seed=seed))
        yield Part(f"{CONCEALING}, run {seed}", concealed)


def released(session: Session, timed: Timed, seed: int) -> Iterator[Row]:
    """Time a release; nodes are those that its search checked, or all of the lattice where it has no search."""
    source = SeededSource(seed) if timed.policy.method.draws else None
    began = time.process_time()
    report = session.anonymize(SOURCE, timed.policy, RELEASED, replace=True, random_source=source).report
    seconds = time.process_time() - began
    nodes = (report.lattice_nodes if source is not None else report.checked_nodes) or 0
    if timed.with_minimal:
        nodes += report.minimal_nodes or 0
    yield {"what": timed.what, "setting": timed.setting, "seconds": seconds, "nodes": nodes}


def concealed(session: Session) -> Iterator[Row]:
    """Time 1/m of a release of demographics, by each model of the attacker."""
    policy = Policy(quasi_identifiers=DEMOGRAPHICS, sensitive=SECRETS, rest="identifier", privacy=[KAnonymity(5)])
    session.anonymize(SOURCE, policy, RELEASED, replace=True)
    for name, probabilities in MODELS.items():
        prior = dict(zip(SECRETS, probabilities, strict=False))
        model = MConcealing(1, prior)
        of_model = Policy(quasi_identifiers=DEMOGRAPHICS, sensitive=[*prior], rest="identifier", privacy=[model])
        began = time.process_time()
        session.measure(RELEASED, of_model)
        seconds = time.process_time() - began
        yield {"what": CONCEALING, "setting": f"model {name}", "seconds": seconds, "nodes": 1}


def results(measures: Sequence[Row], seeds: Sequence[int]) -> Reproduced:
    """Divide the seconds of a node by those of a node that OLA checks; of the runs of a setting the fastest counts."""
    fastest: dict[tuple[str, str], Row] = {}
    for row in sorted(measures, key=lambda row: row["seconds"]):
        fastest.setdefault((row["what"], row["setting"]), row)
    totals = {
        name: [sum(row[figure] for row in fastest.values() if row["what"] == name) for figure in ("seconds", "nodes")]
        for name in dict.fromkeys(row["what"] for row in measures)
    }
    unit = totals[OLA.format(UNIT)][0] / totals[OLA.format(UNIT)][1]
    rows = [
        {
            "what": name,
            "seconds": seconds,
            "nodes": nodes,
            "ratio": seconds / nodes / unit,
            "thesis": PUBLISHED[name] / PUBLISHED_UNIT if name in PUBLISHED else None,
        }
        for name, (seconds, nodes) in totals.items()
    ]
    ratios = {row["what"]: row["ratio"] for row in rows}
    counted, fixed = (ratios[SAFE.format(penalty)] for penalty in ("suppression", "k-anonymity"))
    return Reproduced(
        title="Run times on UCI Adult as ratios, after Mazzone 2019, section 6.3",
        rows=rows,
        shown=SHOWN,
        findings=[
            f"OLA takes {1000 * unit:.1f} ms of CPU time for a node that it checks; the thesis has up to "
            f"{PUBLISHED_UNIT} s",
            f"ε-safe as published takes {counted / fixed:.2f} times as long with the penalty for suppression as with "
            "that for k-anonymity; in the thesis considerably longer",
        ],
        notes=[
            "A ratio is the CPU time of a run by its nodes, over that of a node that OLA checks with Prec. It differs "
            f"from run to run, and with what else the machine does: the fastest of {len(seeds)} counts.",
            "The thesis states the most seconds by node; its ratios are those over its 2 seconds for OLA with Prec.",
        ],
        chart=None,
        printed=[*printed_beside(rows, "Section 6.3: ratios", "thesis", "ratio", lambda row: row["what"])],
    )


REPRODUCTION = Reproduction(
    name="run-times",
    source="Mazzone 2019",
    seeds=range(3),
    prepare=ola_runs.prepare,
    parts=parts,
    results=results,
    files=adult.needed(THESIS.quasi_identifiers),
)
