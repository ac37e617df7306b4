"""Mazzone 2019 on UCI Adult: the cost δ of sampled classes, the chance of a good node, and losses of releases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.evaluation.results import Row, required_altair
from sqlanon.model.budget import Budget
from sqlanon.model.methods.noisy import IPA
from sqlanon.model.methods.sampled_methods import EpsilonSafe
from sqlanon.model.policy.policy import Policy
from sqlanon.model.privacy import KAnonymity
from sqlanon.model.quality import Prec
from sqlanon.papers import adult
from sqlanon.papers import epsilon_safe_probabilities as probabilities
from sqlanon.papers.charts import below, colours, figures, line_across, lines_of, panel, steps, unpivoted
from sqlanon.papers.epsilon_safe_probabilities import (
    AS_PUBLISHED,
    BETA,
    CHOICE,
    EPSILON_SAMPLING,
    FACTORS,
    GOOD_NODES,
    ON_SAMPLE,
    ON_TABLE,
    QUASI_IDENTIFIERS,
    SAMPLE_WEIGHT,
    TOLERATED,
    UNIFORM,
    WEIGHTS,
    K,
    table_and_samples,
)
from sqlanon.papers.experiments import RELEASED, Contender, Part, averaged, of_parts, parts_of, spelled_node
from sqlanon.papers.income_accuracy import THESIS
from sqlanon.papers.methods import EpsilonSafeAsPublished
from sqlanon.queries import taxonomies
from sqlanon.queries.kit.macros import table_call, text
from sqlanon.queries.kit.nodes import all_of, column, counted_rows, number, string
from sqlanon.queries.layout import MASK
from sqlanon.queries.measures import level_map

if TYPE_CHECKING:
    from sqlanon.api.session import Session

FOUR = "releases of four quasi-identifiers"
NINE = "releases of nine quasi-identifiers"
NINE_QUASI_IDENTIFIERS = THESIS.quasi_identifiers

FILES = adult.needed(NINE_QUASI_IDENTIFIERS)
TABLES_BY = "part"

EPSILON_NODE = "0.1"
DELTA_ON_SAMPLE = "0.0035"  # cost of drawing one of 108 nodes on the sample, rounded up
LIMIT = 0.05  # most rows that k-anonymity may suppress, as a share

TABLES = {FOUR: "adult_of_four", NINE: "adult_of_nine"}

SETTINGS = (
    *("part", "method", "weight", "penalty", "tolerated", "penalty_factor", "beta", "epsilon", "epsilon_node"),
    *("epsilon_sampling", "k", "delta", "computed", "printed", "computed_tight", "printed_tight"),
)


def contenders() -> Iterator[Contender]:
    yield from (_safe(FOUR, ON_TABLE, QUASI_IDENTIFIERS, weight) for weight in WEIGHTS)
    on_sample = {"delta": DELTA_ON_SAMPLE, "select_on": "sample"}
    yield _safe(FOUR, ON_SAMPLE, QUASI_IDENTIFIERS, SAMPLE_WEIGHT, **on_sample)
    for penalty in FACTORS:
        as_published = _method(EpsilonSafeAsPublished, penalty=penalty)
        yield _contender(FOUR, f"{AS_PUBLISHED}, penalty for {penalty}", _policy(QUASI_IDENTIFIERS, as_published))
    yield from (_safe(NINE, ON_TABLE, NINE_QUASI_IDENTIFIERS, weight) for weight in WEIGHTS)
    for limit in (0.0, LIMIT):
        anonymous = Policy(
            quasi_identifiers=NINE_QUASI_IDENTIFIERS,
            identifiers=[adult.TARGET],
            privacy=[KAnonymity(K)],
            quality=Prec(),
            suppression_limit=limit,
        )
        yield _contender(NINE, f"k-anonymity, {100 * limit:g} % suppressed" if limit else "k-anonymity", anonymous)
    for ipa in (IPA(), IPA(budget=_method().budget)):
        with_income = Policy(quasi_identifiers=NINE_QUASI_IDENTIFIERS, sensitive=[adult.TARGET], method=ipa)
        yield _contender(NINE, f"IPA, with {adult.TARGET}", with_income, ipa.budget)


def _contender(
    part: str, method: str, policy: Policy, budget: Budget | None = None, weight: int | None = None
) -> Contender:
    """Return releases of a table of the summary; the weight is of a suppressed row."""
    setting = {
        "part": part,
        "method": method,
        "weight": weight,
        "epsilon": None if budget is None else float(budget.epsilon),
        "delta": None if budget is None else f"{float(budget.delta):.4g}",
    }
    return Contender(f"{part}: {method}{'' if weight is None else f', weight {weight}'}", policy, setting)


def named(row: Row) -> str:
    """Name a row of nine quasi-identifiers by its weight, or by its ε."""
    if row["weight"] is not None:
        return f"EpsilonSafe, weight {row['weight']}"
    return str(row["method"]) if row["epsilon"] is None else f"{row['method']}, ε = {row['epsilon']:g}"


def _safe(part: str, name: str, quasi_identifiers: Sequence[str], weight: int, **settings: Any) -> Contender:
    method = _method(suppressed_weight=weight, **settings)
    return _contender(part, name, _policy(quasi_identifiers, method), method.budget, weight)


def _method(kind: type[EpsilonSafe] = EpsilonSafe, **settings: object) -> EpsilonSafe:
    return kind.model_validate(
        {"k": K, "beta": BETA, "epsilon_node": EPSILON_NODE, "epsilon_sampling": EPSILON_SAMPLING, **settings}
    )


def _policy(quasi_identifiers: Sequence[str], method: EpsilonSafe) -> Policy:
    return Policy(quasi_identifiers=quasi_identifiers, rest="identifier", method=method)


def released(session: Session, contender: Contender, seeds: Sequence[int]) -> Iterator[Row]:
    """Release, and yield the node, the share of rows shown, and the losses of their labels."""
    table, engine = TABLES[contender.setting["part"]], session._engine
    release = contender.release(session, table, seeds[0])
    original, shown = (engine.resolve(name).relation for name in (table, RELEASED))
    names = contender.policy.quasi_identifiers
    is_masked = all_of([exp.EQ(this=text(column(name)), expression=string(MASK)) for name in names])
    labelled = counted_rows(shown).where(exp.Not(this=exp.Paren(this=is_masked)))
    [kept] = engine.fetch(labelled, "rows that show a label")
    [rows] = engine.fetch(counted_rows(original), "rows")
    lm = table_call("lm", original.copy(), level_map(release.node), number(1))
    [labels] = engine.fetch(taxonomies.at(lm, engine.taxonomy), "LM of original rows")
    heights = release.report.heights
    yield {
        **contender.setting,
        "node": spelled_node(release.node),
        "shown": kept["rows"] / rows["rows"],
        "precision": fmean(level / heights[name] if heights[name] else 0 for name, level in release.node.items()),
        "lm": labels["lm"],
    }


def prepare(session: Session, folder: Path) -> None:
    session.taxonomies.load_all(adult.taxonomies(folder, NINE_QUASI_IDENTIFIERS))
    for part, names in ((FOUR, QUASI_IDENTIFIERS), (NINE, (*NINE_QUASI_IDENTIFIERS, adult.TARGET))):
        session.connection.from_arrow(adult.training_rows(folder, names)).create(TABLES[part])


def parts(seeds: Sequence[int]) -> Iterator[Part]:
    yield Part(probabilities.DELTA, lambda _: [*probabilities.deltas(), *probabilities.least_k()])
    yield Part(CHOICE, lambda session: probabilities.rows(*table_and_samples(session, TABLES[FOUR], seeds)))
    yield from parts_of(contenders(), released, seeds)


def rows(measures: Sequence[Row]) -> list[Row]:
    """Average releases over seeds, and count those of four quasi-identifiers by the nodes that are good."""
    good = {node for row in measures for node in row.get(GOOD_NODES, ())}
    found = [{**row, "good": float(row["node"] in good)} if row["part"] == FOUR else {**row} for row in measures]
    for row in found:
        row.pop(GOOD_NODES, None)
    return averaged(found, by=SETTINGS)


def findings(rows: Sequence[Row]) -> Iterator[str]:
    yield from probabilities.findings(rows)
    for row in rows:
        if row["part"] == NINE:
            shown = f"{100 * row['shown']:.1f} % of the rows, Prec {row['precision']:.3f}, LM {row['lm']:.3f}"
            yield f"Nine quasi-identifiers, {named(row)}: {shown}"


SHADES = ("#c6dbef", "#9ecae1", "#6baed6", "#3182bd", "#08306b")  # by ε', ascending
COLOURS = ("#9ecae1", "#2ca02c", "#3182bd", "#08306b", "#d62728")  # by method: private by weight, then on the sample

KEPT = {"shown": "rows shown", "precision": "Prec of their labels", "lm": "LM of their labels"}
LETTERS = 0.08  # height of letters on the axis of probabilities

WIDTH, HEIGHT = 260, 220


def chart(rows: Sequence[Row]) -> Any:
    choices = [row for row in rows if row["part"] == CHOICE]
    ((baseline,), thesis) = ([row for row in choices if row["method"] == method] for method in (UNIFORM, AS_PUBLISHED))
    first, second = (
        [_by_factor(thesis, penalty, tolerated, baseline) for tolerated in TOLERATED] for penalty in FACTORS
    )
    # Figures C.1 and C.2, each with the percentage that costs none where its good nodes come out as in the thesis.
    suppressed = (("k-anonymity", 5), ("suppression", 0))
    third = [_by_factor(thesis, *each, baseline, "suppressed") for each in suppressed]
    return below(
        ([*first, _by_epsilon(choices, baseline)], [*second, _kept(rows)], third),
        "UCI Adult: the probability of a good node, as published (not private) and private, and what releases keep; "
        "mean suppression",
    )


def _by_factor(rows: Sequence[Row], penalty: str, tolerated: float, baseline: Row, figure: str = "good") -> Any:
    points = [
        {"at": f"{row['penalty_factor']:g}", "line": f"{row['epsilon_node']:g}", "share": row[figure]}
        for row in rows
        if row["penalty"] == penalty and row["tolerated"] == tolerated
    ]
    from_when = "from the first row on" if tolerated == 0 else f"above {tolerated:g} %"
    color = colours("line", (point["line"] for point in points), SHADES, "ε'", columns=len(SHADES))
    title = f"{'' if figure == 'good' else 'mean suppression, '}as published: penalty for {penalty} {from_when}"
    most = 1 if figure == "good" else max([baseline[figure], *(point["share"] for point in points)])
    return _lines(points, title, steps("at", title="p"), color, baseline[figure], most)


def _by_epsilon(rows: Sequence[Row], baseline: Row) -> Any:
    on_sample = f"weight {SAMPLE_WEIGHT}, on the sample"
    points = [
        {
            "at": f"{row['epsilon_node']:g}",
            "line": on_sample if row["method"] == ON_SAMPLE else f"weight {row['weight']}",
            "share": row["good"],
        }
        for row in rows
        if row["method"] in (ON_TABLE, ON_SAMPLE)
    ]
    color = colours("line", (point["line"] for point in points), COLOURS, columns=2)
    return _lines(points, "private: EpsilonSafe", steps("at", title="ε'"), color, baseline["good"])


# More than six parameters: the points, the title, and four that encode them.
def _lines(points: Sequence[Row], title: str, x: Any, color: Any, baseline: float, most: float = 1) -> Any:
    y = figures("share", domain=[0, most])
    last = [point["share"] for point in points if point["at"] == points[-1]["at"]]
    is_below = any(baseline < share < baseline + LETTERS * most for share in last)
    rule, name = line_across({"of": UNIFORM, "share": baseline}, y, WIDTH, 9 if is_below else -7)
    drawing = required_altair().layer(rule, *lines_of(points, x=x, y=y, color=color), name)
    return drawing.properties(title=title, width=WIDTH, height=HEIGHT)


def _kept(rows: Sequence[Row]) -> Any:
    altair = required_altair()
    shown = unpivoted(of_parts(rows, NINE), KEPT, "what", "share", lambda row: {"method": named(row)})
    return panel(
        shown,
        "bar",
        NINE,
        (WIDTH, HEIGHT),
        y=altair.Y("method:N", title=None, sort=None, axis=altair.Axis(labelLimit=300)),
        yOffset=altair.YOffset("what:N", sort=[*KEPT.values()]),
        x=altair.X("share:Q", title=None, scale=altair.Scale(domain=[0, 1])),
        color=colours("what", KEPT.values(), ("#08306b", "#d62728", "#ff9f43")),
    )
