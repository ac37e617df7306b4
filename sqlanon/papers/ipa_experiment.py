"""Lee & Chung 2020 on a similar table: losses and query errors of IPA, k-anonymity and the noisy histogram."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.evaluation.answers import query_errors, stroke_queries
from sqlanon.evaluation.results import Row, required_altair, spelled
from sqlanon.model.budget import Budget
from sqlanon.model.methods.counterfeiting import HCeiling
from sqlanon.model.methods.noisy import IPA, Histogram
from sqlanon.model.policy.policy import Policy
from sqlanon.model.privacy import KAnonymity
from sqlanon.model.quality import NCP
from sqlanon.model.release import PrivateReport
from sqlanon.model.taxonomy.taxonomy import TOP, Taxonomy
from sqlanon.papers import LISTED
from sqlanon.papers.charts import hues, panel
from sqlanon.papers.experiments import (
    RELEASED,
    Contender,
    Part,
    averaged,
    of_parts,
    parts_of,
    printed_beside,
    spelled_node,
)
from sqlanon.papers.ipa_series import (
    LEVELS,
    PARTS,
    PRINTED,
    QUERIES,
    YEARS,
    answers,
    losses_by_level,
    mean_losses,
    series,
)
from sqlanon.papers.ipa_series import drawn as drawn_series
from sqlanon.papers.methods import IPAAsPublished
from sqlanon.queries import taxonomies
from sqlanon.queries.kit.macros import table_call
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import identifier, select, string
from sqlanon.queries.measures import level_map

if TYPE_CHECKING:
    from sqlanon.api.session import Session

ROW_COUNT = 1_361_000  # as in the paper's table, the National Patients Sample of Korea in 2011

DATA_SEED = 1
SOURCE = "patients"
TENTH = "some_patients"  # whose nodes are all perturbed, which takes 20 GB of memory for all patients and ε = 0.1
QUASI_IDENTIFIERS = ("age", "sex", "length_of_stay", "location", "surgery")
DISEASE = "disease"
STROKE = "stroke"
DISEASE_COUNT = 500

K = 10
EPSILON = "1"
EPSILONS = ("0.1", "0.5", "1", "2")

AS_PUBLISHED = "IPA as published"
PRIVATE = "IPA"
ANONYMOUS = f"k-anonymity, k = {K}"
H = 0.2  # of figure 11 of Lee et al. 2017, with the same k
CEILED = f"h-ceiling, h = {H:g}, k = {K}"
HISTOGRAM = "noisy histogram"

# Figure 6, with ε = 1: a third of the information loss.
PUBLISHED_LOSS: Mapping[str, float] = {AS_PUBLISHED: 0.28, ANONYMOUS: 0.43, HISTOGRAM: 0.69}


SERIES = (AS_PUBLISHED, PRIVATE, ANONYMOUS, CEILED)  # methods whose answers by age are shown

TABLES_BY = "part"

RELEASES = LISTED["ipa"]["title"]


def prepare(session: Session, _folder: Path) -> None:
    invent(session, ROW_COUNT)
    invent(session, ROW_COUNT // 10, TENTH)


def parts(seeds: Sequence[int]) -> Iterator[Part]:
    yield from parts_of(contenders(), measured, seeds)
    for epsilon in EPSILONS:
        policy = policy_of(method=IPAAsPublished(budget=Budget(epsilon)))
        losses = partial(losses_by_level, source=TENTH, policy=policy, epsilon=epsilon, seed=seeds[0])
        yield Part(f"losses of all nodes, {AS_PUBLISHED}, ε = {epsilon}", losses)


def contenders() -> Iterator[Contender]:
    yield _contender(AS_PUBLISHED, EPSILON, method=IPAAsPublished(budget=Budget(EPSILON)))
    for epsilon in EPSILONS:
        yield _contender(PRIVATE, epsilon, method=IPA(budget=Budget(epsilon, "1e-6")))
    yield _contender(ANONYMOUS, privacy=[KAnonymity(K)], quality=NCP())
    yield _contender(CEILED, method=HCeiling(K, h=H))
    yield _contender(HISTOGRAM, EPSILON, method=Histogram(budget=Budget(EPSILON)))


def _contender(name: str, epsilon: str | None = None, **settings: Any) -> Contender:
    setting = {"method": name, "epsilon": epsilon}
    return Contender(_named(setting), policy_of(**settings), setting)


def invent(session: Session, row_count: int, name: str = SOURCE) -> None:
    """Make the table, and its public taxonomies."""
    engine = session._engine
    settings = exp.values([(DATA_SEED, row_count, DISEASE_COUNT)], "settings", ["seed", "row_count", "disease_count"])
    # Stroke patients without surgery by age, and their mean lengths of stay.
    printed = [
        (sex, age, row["truth"] / ROW_COUNT, PRINTED[stays, age]["truth"])
        for sex, patients, stays in (("M", "q1", "q3"), ("F", "q2", "q4"))
        for (query, age), row in PRINTED.items()
        if query == patients
    ]
    strokes = exp.values(printed, "strokes", ["sex", "youngest", "patients", "stay"])
    query = Queries("ipa_stand_in").query(
        "patients", settings=select([exp.Star()], settings), strokes=select([exp.Star()], strokes), width=YEARS
    )
    engine.execute(exp.Create(this=exp.Table(this=identifier(name)), kind="TABLE", expression=query), "patients")
    # Three levels above the values; one for sex, surgery and disease.
    provinces = [f"province {number:02d}" for number in range(16)]
    regions = [
        (name, f"region {place // 3}", "mainland" if place < len(provinces) - 1 else "island", TOP)
        for place, name in enumerate(provinces)
    ]
    taxonomies = {
        "age": Taxonomy.intervals([10, 30], minimum=0, maximum=89),
        "sex": Taxonomy.flat(["F", "M"]),
        "length_of_stay": Taxonomy.intervals([10, 100], minimum=0, maximum=399),
        "location": Taxonomy.from_rows(regions),
        "surgery": Taxonomy.flat(["N", "Y"]),
        DISEASE: Taxonomy.flat([STROKE, *(f"disease {number:03d}" for number in range(DISEASE_COUNT))]),
    }
    session.taxonomies.load_all(taxonomies)


def measured(session: Session, contender: Contender, seeds: Sequence[int]) -> Iterator[Row]:
    method, epsilon = contender.setting["method"], contender.setting["epsilon"]
    release = contender.release(session, SOURCE, seeds[0])
    report, engine = release.report, session._engine
    original, shown = (session._opened.resolve(name).relation for name in (SOURCE, RELEASED))
    loss = table_call("information_loss", original, shown, level_map(release.node), string(DISEASE))
    [found] = engine.fetch(taxonomies.at(loss, engine.taxonomy), "information loss")
    errors = query_errors(session, SOURCE, RELEASED, stroke_queries(), without_masked=QUASI_IDENTIFIERS).to_pylist()
    if isinstance(report, PrivateReport):
        released_rows = report.released_rows
    else:
        assert report.rows is not None
        released_rows = report.rows.released
    yield {
        "part": RELEASES,
        **contender.setting,
        "node": spelled_node(release.node),
        "released_rows": released_rows,
        "information_loss": found["normalized_information_loss"],
        "ncp": found["ncp"],
        "total_variation": found["total_variation"],
        "rate": found["rate"],
        "paper_loss": PUBLISHED_LOSS.get(method) if epsilon in (None, EPSILON) else None,
        **{name: row["mean_relative_error"] for name, row in zip(QUERIES, errors, strict=True)},
    }
    if method in SERIES and epsilon in (None, EPSILON):
        for row in answers(session, SOURCE, RELEASED, QUASI_IDENTIFIERS):
            yield {"method": method, **row}


def policy_of(**settings: Any) -> Policy:
    return Policy(quasi_identifiers=QUASI_IDENTIFIERS, sensitive=[DISEASE], **settings)


def findings(rows: Sequence[Row]) -> Iterator[str]:
    mean = ", ".join(f"{loss:.4f} for ε = {epsilon}" for epsilon, loss in mean_losses(of_parts(rows, LEVELS)).items())
    rows = of_parts(rows, RELEASES)
    at_one = {row["method"]: row for row in rows if row["epsilon"] in (None, EPSILON)}
    for method, other in itertools.product((AS_PUBLISHED, PRIVATE), (ANONYMOUS, HISTOGRAM)):
        mine, theirs = at_one[method], at_one[other]
        verb = "is" if _is_less(mine["information_loss"], theirs["information_loss"]) else "is not"
        losses = [spelled(row["information_loss"]) for row in (mine, theirs)]
        yield f"{method}, ε = {EPSILON}: IL of {losses[0]} {verb} below the {losses[1]} of {other}"
        wins = sum(_is_less(mine[name], theirs[name]) for name in QUERIES)
        yield f"{method}, ε = {EPSILON}: errors of {wins} of {len(QUERIES)} queries are below those of {other}"
    # A small table may have a release without rows, which has no loss.
    by_epsilon = [row["information_loss"] for row in rows if row["method"] == PRIVATE]
    falls = all(_is_less(less, more) for more, less in itertools.pairwise(by_epsilon))
    trend = "falls with every larger" if falls else "does not fall with every larger"
    yield f"{PRIVATE}: IL {trend} ε, from {spelled(by_epsilon[0])} to {spelled(by_epsilon[-1])}"
    yield f"{AS_PUBLISHED}: the expected IL of the drawn node is {mean}"


def _is_less(mine: float | None, theirs: float | None) -> bool:
    return mine is not None and (theirs is None or mine < theirs)


def chart(rows: Sequence[Row]) -> Any:
    by_age, by_level = of_parts(rows, *QUERIES.values()), of_parts(rows, LEVELS)
    return required_altair().vconcat(drawn_releases(of_parts(rows, RELEASES)), drawn_series(by_age, by_level))


def drawn_releases(rows: Sequence[Row]) -> Any:
    altair = required_altair()
    parts = [
        {"release": _named(row), "part": title, "loss": row[name] / 3}
        for row in rows
        for name, title in PARTS.items()
        if row[name] is not None
    ]
    errors = [
        {"release": _named(row), "query": name.upper(), "error": row[name]}
        for row in rows
        for name in QUERIES
        if row[name] is not None
    ]
    releases = altair.Y("release:N", title=None, sort=None)
    size = (300, altair.Undefined)
    title, x = "information loss: the lower, the better", altair.X("loss:Q", title="IL")
    losses = panel(parts, "bar", title, size, x=x, y=releases, color=hues("part"))
    title, mark = "errors of queries: the lower, the better", {"type": "point", "filled": True, "size": 60}
    scale = altair.Scale(type="symlog", constant=0.1)
    x = altair.X("error:Q", title="mean relative error", scale=scale)
    answers = panel(errors, mark, title, size, x=x, y=releases, color=hues("query"))
    return altair.hconcat(losses, answers).resolve_scale(color="independent")


def _named(row: Row) -> str:
    return row["method"] if row["epsilon"] is None else f"{row['method']}, ε = {row['epsilon']}"


def printed(rows: Sequence[Row]) -> Iterator[Row]:
    released = of_parts(rows, RELEASES)
    return printed_beside(released, "Figure 6: IL", "paper_loss", "information_loss", lambda row: row["method"])


def rows(measures: Sequence[Row]) -> Iterator[Row]:
    yield from averaged(of_parts(measures, RELEASES), by=("method", "epsilon"))
    asked = averaged(of_parts(measures, *QUERIES.values()), by=("part", "method", "age"))
    yield from series(asked, AS_PUBLISHED, ANONYMOUS)
    yield from averaged(of_parts(measures, LEVELS), by=("epsilon", "level"))
