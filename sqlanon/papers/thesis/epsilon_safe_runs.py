"""Mazzone 2019 on UCI Adult: what δ sampled classes cost, how likely a good node is, and what releases keep."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlanon.evaluation.results import BLACK, Reproduced, Row, required_altair, rounded
from sqlanon.papers import adult
from sqlanon.papers.reproductions import Announce, Reproduction
from sqlanon.papers.thesis import epsilon_safe_choice as choice
from sqlanon.papers.thesis import epsilon_safe_delta as delta
from sqlanon.papers.thesis import epsilon_safe_releases as releases
from sqlanon.papers.thesis.epsilon_safe_choice import (
    AS_PUBLISHED,
    CHOICE,
    ON_SAMPLE,
    ON_TABLE,
    SAMPLE_WEIGHT,
    TOLERATED,
    UNIFORM,
)
from sqlanon.papers.thesis.epsilon_safe_releases import NINE, named

if TYPE_CHECKING:
    from sqlanon.api.session import Session

TABLES = {releases.FOUR: "adult_of_four", releases.NINE: "adult_of_nine"}

# The columns of the table in their order; None where a row has nothing to say.
EMPTY: Row = {
    "part": None,
    "method": None,
    "weight": None,
    "penalty": None,
    "tolerated": None,
    "penalty_factor": None,
    "beta": None,
    "epsilon": None,
    "epsilon_node": None,
    "epsilon_sampling": None,
    "k": None,
    "delta": None,
    "computed": None,
    "printed": None,
    "computed_tight": None,
    "printed_tight": None,
    "releases": None,
    "node": None,
    "good": None,
    "good_by_softmax": None,
    "suppressed": None,
    "shown": None,
    "precision": None,
    "lm": None,
}

SHOWN = {
    "method": "method",
    "weight": "weight",
    "penalty": "penalty",
    "tolerated": "tolerated, %",
    "penalty_factor": "p",
    "beta": "β",
    "epsilon": "ε",
    "epsilon_node": "ε'",
    "epsilon_sampling": "ε",
    "k": "k",
    "delta": "δ",
    "computed": "computed",
    "printed": "printed",
    "computed_tight": "computed, exact",
    "printed_tight": "printed, exact",
    "releases": "releases",
    "node": "most frequent node",
    "good": "good",
    "good_by_softmax": "good, by softmax",
    "suppressed": "suppressed",
    "shown": "shown",
    "precision": "Prec",
    "lm": "LM",
}


def run(session: Session, folder: Path, seeds: Sequence[int], announce: Announce) -> Reproduced:
    """Compute δ and probabilities, and make every release.

    Raises:
        PolicyError: the folder lacks data.
        TaxonomyError: a hierarchy is malformed, or does not cover the rows.
        EngineError: the database refused a step, or scipy or altair is not installed.
    """
    columns = {
        releases.FOUR: choice.QUASI_IDENTIFIERS,
        releases.NINE: (*releases.NINE_QUASI_IDENTIFIERS, adult.TARGET),
    }
    session.taxonomies.load_all(adult.taxonomies(folder, releases.NINE_QUASI_IDENTIFIERS))
    for part, names in columns.items():
        session.connection.from_arrow(adult.training_rows(folder, names)).create(TABLES[part])
    announce(delta.DELTA)
    found = [*delta.deltas(), *delta.least_k()]
    announce(choice.CHOICE)
    whole, sampled = choice.table_and_samples(session, TABLES[releases.FOUR], seeds)
    found += choice.rows(whole, sampled)
    found += releases.rows(session, TABLES, whole.good, seeds, announce)
    rows = [rounded({**EMPTY, **row}) for row in found]
    return Reproduced(
        title="ε-safe anonymization of UCI Adult, after Mazzone 2019, section 6.2",
        rows=rows,
        shown=SHOWN,
        findings=[*delta.findings(rows), *choice.findings(rows), *releases.findings(rows)],
        notes=notes(whole.row_count, len(whole.levels), len(seeds)),
        chart=drawn(rows),
        parts="part",
    )


def notes(rows: int, nodes: int, seeds: int) -> list[str]:
    """Write notes on how to read the table."""
    samples = f"{seeds} {'sample' if seeds == 1 else 'samples'}"
    return [
        "What is printed of δ and of the least k was computed apart, in seven digits; the thesis prints none. δ of "
        "Li et al. is an upper bound, which the exact one is not above.",
        f"UCI Adult, {rows:,} rows, k = {choice.K}, β = {float(choice.BETA):g}, ε of the sampling is "
        f"{choice.EPSILON_SAMPLING}. The four quasi-identifiers, {', '.join(choice.QUASI_IDENTIFIERS)}, make {nodes} "
        "nodes, as those of the thesis do, which it does not name.",
        f"A good node loses less than {choice.MAX_LOSS:g} in Prec and suppresses less than "
        f"{100 * choice.MAX_SUPPRESSED:g} % of the rows: of a sample those in classes of fewer than k; of the table, "
        "from which no sample is drawn then, those in classes that are expected to have fewer than k in a sample.",
        f"Probabilities are exact for a table or a sample, and means over {samples}. Those of permute-and-flip, which "
        "releases draw by, are beside those of the exponential mechanism (by softmax). Good releases are counted by "
        "the nodes that are good on the table.",
        f"What is {choice.AS_PUBLISHED} is not private: its sensitivities are too small by factors of hundreds, and it "
        "draws the node on the sample, for which its δ is too small. Its ε' says little.",
        "The thesis makes no penalty for 5 % of suppressed rows, and does not say for which of its penalties. Its "
        "figure 6.3, almost 1 for p = 0.04 and below the baseline for 0.2, comes out with a penalty for suppression "
        "from the first row on; its figure 6.4, best for p = 0.5, with one for k-anonymity above 5 %, though lower.",
        "The larger the weight of suppressed rows, the more labels lose. What is likely with weight 5 loses 0.5 in "
        "Prec, which is not good by a hair; to look for the best weight on the data is not private.",
        f"What is {choice.ON_SAMPLE}, as SafePub does, has the same scores, of the sample: δ is the one that is proven "
        "for it, and 1 where nothing is.",
        "Of releases, shown is the share of all rows that have a label in it, at most about β where rows are sampled; "
        "Prec and LM are those of the labels, without what is not shown. IPA shows rows with noise, and has "
        f"{adult.TARGET} beside the labels; k-anonymity promises no differential privacy.",
    ]


REPRODUCTION = Reproduction(
    name="epsilon-safe",
    source="Mazzone 2019",
    check=lambda folder: adult.refuse_folder(folder, releases.NINE_QUASI_IDENTIFIERS),
    run=run,
    seeds=range(10),
)

SHADES = ("#c6dbef", "#9ecae1", "#6baed6", "#3182bd", "#08306b")
"""By ε', ascending."""

COLOURS = ("#9ecae1", "#2ca02c", "#3182bd", "#08306b", "#d62728")
"""By method: the private ones, by weight, and the one that draws on the sample."""

KEPT = {"shown": "rows shown", "precision": "Prec of their labels", "lm": "LM of their labels"}
LETTERS = 0.08  # how high letters are, as a probability

WIDTH, HEIGHT = 260, 220


def drawn(rows: Sequence[Row]) -> Any:
    """The chart as altair has it.

    Raises:
        EngineError: altair is not installed.
    """
    altair = required_altair()
    choices = [row for row in rows if row["part"] == CHOICE]
    ((baseline,), thesis) = ([row for row in choices if row["method"] == method] for method in (UNIFORM, AS_PUBLISHED))
    penalties = list(dict.fromkeys(row["penalty"] for row in thesis))
    lines = [
        altair.hconcat(
            *(
                _by_factor(altair, thesis, penalty, tolerated, baseline)
                for penalty, tolerated in itertools.product(penalties[line : line + 1], TOLERATED)
            ),
            *([_by_epsilon(altair, choices, baseline)] if line == 0 else [_kept(altair, rows)]),
        ).resolve_scale(color="independent")
        for line in range(len(penalties))
    ]
    title = altair.TitleParams(
        "UCI Adult: the probability of a good node, as published (not private) and private, and what releases keep",
        anchor="start",
        offset=12,
    )
    return altair.vconcat(*lines).resolve_scale(color="independent").properties(title=title)


def _by_factor(altair: Any, rows: Sequence[Row], penalty: str, tolerated: float, baseline: Row) -> Any:
    points = [
        {"at": f"{row['penalty_factor']:g}", "line": f"{row['epsilon_node']:g}", "good": row["good"]}
        for row in rows
        if row["penalty"] == penalty and row["tolerated"] == tolerated
    ]
    x = altair.X("at:O", title="p", sort=None, axis=altair.Axis(labelAngle=0))
    from_when = "from the first row on" if tolerated == 0 else f"above {tolerated:g} %"
    return _lines(altair, points, x, "ε'", SHADES, baseline).properties(
        title=f"as published: penalty for {penalty} {from_when}", width=WIDTH, height=HEIGHT
    )


def _by_epsilon(altair: Any, rows: Sequence[Row], baseline: Row) -> Any:
    points = [
        {
            "at": f"{row['epsilon_node']:g}",
            "line": f"weight {SAMPLE_WEIGHT}, on the sample"
            if row["method"] == ON_SAMPLE
            else f"weight {row['weight']}",
            "good": row["good"],
        }
        for row in rows
        if row["method"] in (ON_TABLE, ON_SAMPLE)
    ]
    x = altair.X("at:O", title="ε'", sort=None, axis=altair.Axis(labelAngle=0))
    return _lines(altair, points, x, None, COLOURS, baseline).properties(
        title="private: EpsilonSafe", width=WIDTH, height=HEIGHT
    )


def _lines(altair: Any, points: Sequence[Any], x: Any, legend: str | None, shades: Sequence[str], baseline: Row) -> Any:
    names = list(dict.fromkeys(point["line"] for point in points))
    last = [point["good"] for point in points if point["at"] == points[-1]["at"]]
    below = any(baseline["good"] < good < baseline["good"] + LETTERS for good in last)
    y = altair.Y("good:Q", title=None, scale=altair.Scale(domain=[0, 1]))
    lines = altair.Chart(altair.InlineData(list(points))).encode(
        x=x,
        y=y,
        color=altair.Color(
            "line:N",
            title=legend,
            sort=names,
            scale=altair.Scale(domain=names, range=list(shades[: len(names)])),
            legend=altair.Legend(orient="bottom", columns=len(names) if legend else 2),
        ),
    )
    across = altair.Chart(altair.InlineData([{"good": baseline["good"], "of": baseline["method"]}])).encode(y=y)
    text = across.mark_text(align="right", dx=-4, dy=9 if below else -7, color=BLACK)
    name = text.encode(text="of:N", x=altair.value(WIDTH))
    return altair.layer(
        across.mark_rule(strokeDash=[2, 3], color=BLACK),
        lines.mark_line(),
        lines.mark_point(filled=True, size=40, opacity=1),
        name,
    )


def _kept(altair: Any, rows: Sequence[Row]) -> Any:
    shown = [
        {"method": named(row), "what": words, "share": row[name]}
        for row in rows
        if row["part"] == NINE
        for name, words in KEPT.items()
    ]
    methods = list(dict.fromkeys(each["method"] for each in shown))
    whats = list(KEPT.values())
    return (
        altair.Chart(altair.InlineData(shown))
        .mark_bar()
        .encode(
            y=altair.Y("method:N", title=None, sort=methods, axis=altair.Axis(labelLimit=300)),
            yOffset=altair.YOffset("what:N", sort=whats),
            x=altair.X("share:Q", title=None, scale=altair.Scale(domain=[0, 1])),
            color=altair.Color(
                "what:N",
                title=None,
                sort=whats,
                scale=altair.Scale(domain=whats, range=["#08306b", "#d62728", "#ff9f43"]),
                legend=altair.Legend(orient="bottom"),
            ),
        )
        .properties(title=NINE, width=WIDTH, height=HEIGHT)
    )
