"""Mazzone 2019, section 6.3, on UCI Adult: CPU times, in units of what OLA takes to check a node."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from sqlanon.evaluation.results import Row
from sqlanon.model.policy.policy import Policy
from sqlanon.model.privacy import KAnonymity
from sqlanon.model.quality import Prec
from sqlanon.papers import ola_runs
from sqlanon.papers.epsilon_safe_probabilities import QUASI_IDENTIFIERS, K
from sqlanon.papers.experiments import RELEASED, Contender, Part, printed_beside
from sqlanon.papers.income_accuracy import LOSSES, THESIS
from sqlanon.papers.methods import EpsilonSafeAsPublished
from sqlanon.papers.ola_runs import DEMOGRAPHICS, MODELS, SECRETS, SOURCE, of_attacker

if TYPE_CHECKING:
    from sqlanon.api.session import Session

FILES = ola_runs.FILES
prepare = ola_runs.prepare

OLA = "OLA, {}: a checked node"  # by loss
INVERSE = "Inverse OLA, Prec: a checked node"
CONCEALING = "1/m of a release"
SAFE = "ε-safe as published, penalty for {}: a node"

# k and the percentage of rows that may be suppressed, with few and with many checked nodes.
SETTINGS = ((5, 1), (25, 5), (100, 1), (100, 10))
BOUNDS = ((0.5, 10), (0.8, 0), (0.8, 50))
UNIT = "Prec"
WITH_MINIMAL = [OLA.format(loss) for loss in LOSSES if loss != UNIT]  # whose minimal nodes count as well

# In seconds, the most that the thesis states; its unit is that of a node that OLA checks.
PUBLISHED_UNIT = 2
PUBLISHED = {**{OLA.format(loss): 2 for loss in LOSSES}, INVERSE: 2, CONCEALING: 4}


def timed() -> Iterator[Contender]:
    of_nine = partial(Policy, quasi_identifiers=THESIS.quasi_identifiers, rest="identifier")
    for (name, loss), (k, percent) in itertools.product(LOSSES.items(), SETTINGS):
        policy = of_nine(privacy=[KAnonymity(k)], quality=loss, suppression_limit=percent / 100, search="ola")
        yield _timed(OLA.format(name), f"k = {k}, up to {percent} % suppressed", policy)
    for most, percent in BOUNDS:
        policy = of_nine(quality=Prec(), suppression_limit=percent / 100, objective="privacy", max_loss=most)
        yield _timed(INVERSE, f"Prec up to {most}, up to {percent} % suppressed", policy)
    for penalty in ("k-anonymity", "suppression"):
        method = EpsilonSafeAsPublished(k=K, beta="0.75", epsilon_node="0.1", epsilon_sampling=2, penalty=penalty)
        policy = Policy(quasi_identifiers=QUASI_IDENTIFIERS, rest="identifier", method=method)
        yield _timed(SAFE.format(penalty), "four quasi-identifiers", policy)


def _timed(what: str, setting: str, policy: Policy) -> Contender:
    return Contender(f"{what.partition(':')[0]}, {setting}", policy, {"what": what, "setting": setting})


def parts(seeds: Sequence[int]) -> Iterator[Part]:
    for seed in seeds:
        for each in timed():
            yield Part(f"{each.name}, run {seed}", partial(released, contender=each, seed=seed))
        yield Part(f"{CONCEALING}, run {seed}", concealed)


def released(session: Session, contender: Contender, seed: int) -> Iterator[Row]:
    """Time a release; nodes are those that its search checked, or all of the lattice where it has no search."""
    began = time.process_time()
    report = contender.release(session, SOURCE, seed).report
    seconds = time.process_time() - began
    nodes = (report.lattice_nodes if contender.policy.method.draws else report.checked_nodes) or 0
    if contender.setting["what"] in WITH_MINIMAL:
        nodes += report.minimal_nodes or 0
    yield {**contender.setting, "seconds": seconds, "nodes": nodes}


def concealed(session: Session) -> Iterator[Row]:
    """Time 1/m of a release of demographics, by each model of the attacker."""
    policy = Policy(quasi_identifiers=DEMOGRAPHICS, sensitive=SECRETS, rest="identifier", privacy=[KAnonymity(5)])
    session.anonymize(SOURCE, policy, RELEASED, replace=True)
    for name, probabilities in MODELS.items():
        policy = of_attacker(probabilities)
        began = time.process_time()
        session.measure(RELEASED, policy)
        seconds = time.process_time() - began
        yield {"what": CONCEALING, "setting": f"model {name}", "seconds": seconds, "nodes": 1}


def rows(measures: Sequence[Row]) -> Iterator[Row]:
    """Divide the seconds of a node by those of a node that OLA checks; of the runs of a setting the fastest counts."""
    fastest: dict[tuple[str, str], Row] = {}
    for row in sorted(measures, key=lambda row: row["seconds"]):
        fastest.setdefault((row["what"], row["setting"]), row)
    totals = {
        name: [sum(row[figure] for row in fastest.values() if row["what"] == name) for figure in ("seconds", "nodes")]
        for name in dict.fromkeys(row["what"] for row in measures)
    }
    unit = totals[OLA.format(UNIT)][0] / totals[OLA.format(UNIT)][1]
    for name, (seconds, nodes) in totals.items():
        thesis = PUBLISHED[name] / PUBLISHED_UNIT if name in PUBLISHED else None
        yield {"what": name, "seconds": seconds, "nodes": nodes, "ratio": seconds / nodes / unit, "thesis": thesis}


def findings(rows: Sequence[Row]) -> Iterator[str]:
    found = {row["what"]: row for row in rows}
    unit = found[OLA.format(UNIT)]["seconds"] / found[OLA.format(UNIT)]["nodes"]
    yield (
        f"OLA takes {1000 * unit:.1f} ms of CPU time for a node that it checks; the thesis has up to {PUBLISHED_UNIT} s"
    )
    counted, fixed = (found[SAFE.format(penalty)]["ratio"] for penalty in ("suppression", "k-anonymity"))
    yield (
        f"ε-safe as published takes {counted / fixed:.2f} times as long with the penalty for suppression as with that "
        "for k-anonymity; in the thesis considerably longer"
    )


def printed(rows: Sequence[Row]) -> Iterator[Row]:
    return printed_beside(rows, "Section 6.3: ratios", "thesis", "ratio", lambda row: row["what"])
