"""Lee & Chung 2020 on invented patients: IPA, k-anonymity and the noisy histogram.

Losses and query errors of releases, answers by age (tables 9 to 12), and losses by level of nodes (figure 8).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from sqlanon.chance.accountant import Accountant
from sqlanon.chance.random_source import SeededSource
from sqlanon.evaluation.answers import query_answers, query_errors, stroke_queries
from sqlanon.evaluation.results import Row, required_altair, spelled
from sqlanon.methods.noisy_node.shared import Draws, prepared
from sqlanon.model.budget import Budget
from sqlanon.model.methods.counterfeiting import HCeiling
from sqlanon.model.methods.noisy import IPA, Histogram
from sqlanon.model.policy.policy import Policy
from sqlanon.model.privacy import KAnonymity
from sqlanon.model.quality import NCP
from sqlanon.model.release import PrivateReport
from sqlanon.model.taxonomy.taxonomy import TOP, Taxonomy
from sqlanon.nodes.table import encode_table
from sqlanon.papers import LISTED
from sqlanon.papers.charts import LINES, colours, figures, hues, panel, unpivoted
from sqlanon.papers.experiments import (
    RELEASED,
    Contender,
    Part,
    averaged,
    of_parts,
    parts_of,
    printed_beside,
    spelled_node,
    table_rows,
)
from sqlanon.papers.ipa_as_published import MAX_LOSS, losses_of_nodes
from sqlanon.papers.methods import CANDIDATES, IPAAsPublished
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

QUERIES = {
    "q1": "Q1, Table 9: men by age",
    "q2": "Q2, Table 10: women by age",
    "q3": "Q3, Table 11: stays of men by age",
    "q4": "Q4, Table 12: stays of women by age",
}
LEVELS = "Figure 8: parts of the loss by level of the node, IPA as published"

TRUTH = "rows as they are"

# By query and first year of age, the answers in the tables: those of IPA and true stays are by ten years, those of
# k-anonymity by thirty.
PRINTED = {(row["query"], row["age"]): row for row in table_rows("stroke_answers")}
YEARS = 5

PARTS = {"ncp": "NCP", "total_variation": "TVD", "rate": "rate"}

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
        for part, query in zip(QUERIES.values(), stroke_queries(), strict=True):
            for row in query_answers(session, SOURCE, RELEASED, query, without_masked=QUASI_IDENTIFIERS).to_pylist():
                answers = {"truth": row["truth"], "answer": row["answer"]}
                yield {"method": method, "part": part, "age": int(row["group_start"]), **answers}


def series(rows: Sequence[Row]) -> list[Row]:
    """Make a row per query and age group, with the answers of all methods, and those in the paper."""
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for row in rows:
        at = found.setdefault((row["part"], row["age"]), {"part": row["part"], "age": row["age"]})
        at |= {TRUTH: row["truth"] if row["truth"] is not None else at.get(TRUTH), row["method"]: row["answer"]}
    for (name, age), printed in PRINTED.items():
        if (key := (QUERIES[name], age)) in found:
            found[key][f"{AS_PUBLISHED}, in the paper"] = printed["ipa"]
            found[key][f"{ANONYMOUS}, in the paper"] = printed["k_anonymity"]
    return [found[key] for key in sorted(found)]


def losses_by_level(session: Session, source: str, policy: Policy, epsilon: str, seed: int) -> Iterator[Row]:
    """Perturb all nodes once, and yield the mean parts of their losses by level, and how likely a level is drawn.

    The level of a node is the sum of its levels.
    """
    engine, method = session._engine, policy.method
    assert isinstance(method, IPAAsPublished)
    charges = Accountant(None, dataset="", method="", policy_sha256="").charge(method.budgets)
    with engine.transaction(), engine.scratch():
        bound = prepared(engine, engine.resolve(source), policy)
        table = encode_table(engine, bound, label_losses=("ncp",))
        found = [*losses_of_nodes(engine, table, Draws(method, SeededSource(seed), charges))]
    losses = np.array([[row[name] for name in PARTS] for _, row in found])
    heights = np.array([sum(levels) for levels, _ in found])
    weights = float(charges[CANDIDATES].budget.epsilon) * -losses.sum(axis=1) / (2 * MAX_LOSS)
    chances = np.exp(weights - weights.max())
    chances /= chances.sum()
    for level in range(int(heights.max()) + 1):
        here = heights == level
        means = dict(zip(PARTS, losses[here].mean(axis=0).tolist(), strict=True))
        chance = float(chances[here].sum())
        loss = float(chances[here] @ losses[here].sum(axis=1)) / chance / len(PARTS)
        yield {"part": LEVELS, "epsilon": epsilon, "level": level, **means, "chance": chance, "information_loss": loss}


def mean_losses(rows: Sequence[Row]) -> dict[str, float]:
    """Return the expected information loss of the drawn node, by ε."""
    found: dict[str, float] = {}
    for row in rows:
        found[row["epsilon"]] = found.get(row["epsilon"], 0) + row["chance"] * row["information_loss"]
    return found


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
    queries = {name: name.upper() for name in QUERIES}
    errors = unpivoted(rows, queries, "query", "error", lambda row: {"release": _named(row)})
    releases = altair.Y("release:N", title=None, sort=None)
    size = (300, altair.Undefined)
    title, x = "information loss: the lower, the better", altair.X("loss:Q", title="IL")
    losses = panel(parts, "bar", title, size, x=x, y=releases, color=hues("part"))
    title, mark = "errors of queries: the lower, the better", {"type": "point", "filled": True, "size": 60}
    scale = altair.Scale(type="symlog", constant=0.1)
    x = altair.X("error:Q", title="mean relative error", scale=scale)
    answers = panel(errors, mark, title, size, x=x, y=releases, color=hues("query"))
    return altair.hconcat(losses, answers).resolve_scale(color="independent")


def drawn_series(by_age: Sequence[Row], by_level: Sequence[Row]) -> Any:
    altair = required_altair()
    shades = ("#222222", "#d62728", "#2ca02c", "#7f7f7f", "#ff9f43", "#f4a6a6", "#c7c7c7")
    known = dict.fromkeys(name for row in by_age for name, value in row.items() if value is not None)
    names = [name for name in known if name not in ("part", "age")]
    colour = colours("of", names, shades, columns=2, labelLimit=300)
    size = (300, altair.Undefined)
    panels = []
    for part in QUERIES.values():
        answers = dict(zip(names, names, strict=True))
        points = unpivoted(of_parts(by_age, part), answers, "of", "answer", lambda row: {"age": row["age"]})
        panels.append(panel(points, LINES, part, size, x="age:Q", y=figures("answer", type="symlog"), color=colour))
    colour = colours("of", PARTS.values(), ("#08306b", "#d62728", "#ff9f43"))
    for epsilon in dict.fromkeys(row["epsilon"] for row in by_level):
        levels = (row for row in by_level if row["epsilon"] == epsilon)
        points = unpivoted(levels, PARTS, "of", "loss", lambda row: {"level": row["level"]})
        title = f"Figure 8, ε = {epsilon}"
        panels.append(panel(points, LINES, title, size, x="level:Q", y=figures("loss"), color=colour))
    return altair.concat(*panels, columns=4).resolve_scale(color="independent")


def _named(row: Row) -> str:
    return row["method"] if row["epsilon"] is None else f"{row['method']}, ε = {row['epsilon']}"


def printed(rows: Sequence[Row]) -> Iterator[Row]:
    released = of_parts(rows, RELEASES)
    return printed_beside(released, "Figure 6: IL", "paper_loss", "information_loss", lambda row: row["method"])


def rows(measures: Sequence[Row]) -> Iterator[Row]:
    yield from averaged(of_parts(measures, RELEASES), by=("method", "epsilon"))
    asked = averaged(of_parts(measures, *QUERIES.values()), by=("part", "method", "age"))
    yield from series(asked)
    yield from averaged(of_parts(measures, LEVELS), by=("epsilon", "level"))
