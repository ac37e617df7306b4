"""Lee & Chung 2020 on invented patients: answers by age (tables 9 to 12), and losses by level of nodes (figure 8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.chance.accountant import Accountant
from sqlanon.chance.random_source import SeededSource
from sqlanon.evaluation.answers import query_answers, stroke_queries
from sqlanon.evaluation.results import Row, required_altair
from sqlanon.methods.noisy_node.shared import Draws, prepared
from sqlanon.model.policy.policy import Policy
from sqlanon.nodes.table import encode_table
from sqlanon.papers.charts import LINES, colours, figures, panel
from sqlanon.papers.experiments import table_rows
from sqlanon.papers.ipa_as_published import MAX_LOSS, losses_of_nodes
from sqlanon.papers.methods import CANDIDATES, IPAAsPublished

if TYPE_CHECKING:
    from sqlanon.api.session import Session

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


def answers(session: Session, original: str, released: str, masked: Sequence[str]) -> Iterator[Row]:
    """Yield the answers of Q1 to Q4 by the first year of an age group, from the original and a release."""
    for name, query in zip(QUERIES, stroke_queries(), strict=True):
        for row in query_answers(session, original, released, query, without_masked=masked).to_pylist():
            yield {
                "part": QUERIES[name],
                "age": int(row["group_start"]),
                "truth": row["truth"],
                "answer": row["answer"],
            }


def series(rows: Sequence[Row], as_published: str, anonymous: str) -> list[Row]:
    """Make a row per query and age group, with the answers of all methods, and those in the paper."""
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for row in rows:
        at = found.setdefault((row["part"], row["age"]), {"part": row["part"], "age": row["age"]})
        at |= {TRUTH: row["truth"] if row["truth"] is not None else at.get(TRUTH), row["method"]: row["answer"]}
    for (name, age), printed in PRINTED.items():
        answers = {in_paper(as_published): printed["ipa"], in_paper(anonymous): printed["k_anonymity"]}
        if (QUERIES[name], age) in found:
            found[QUERIES[name], age] |= answers
    return [found[key] for key in sorted(found)]


def in_paper(method: str) -> str:
    return f"{method}, in the paper"


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


def drawn(by_age: Sequence[Row], by_level: Sequence[Row]) -> Any:
    altair = required_altair()
    shades = ("#222222", "#d62728", "#2ca02c", "#7f7f7f", "#ff9f43", "#f4a6a6", "#c7c7c7")
    known = dict.fromkeys(name for row in by_age for name, value in row.items() if value is not None)
    names = [name for name in known if name not in ("part", "age")]
    colour = colours("of", names, shades, columns=2, labelLimit=300)
    size = (300, altair.Undefined)
    panels = []
    for part in QUERIES.values():
        points = [
            {"age": row["age"], "of": name, "answer": row[name]}
            for row in by_age
            if row["part"] == part
            for name in names
            if row[name] is not None
        ]
        panels.append(panel(points, LINES, part, size, x="age:Q", y=figures("answer", type="symlog"), color=colour))
    colour = colours("of", PARTS.values(), ("#08306b", "#d62728", "#ff9f43"))
    for epsilon in dict.fromkeys(row["epsilon"] for row in by_level):
        points = [
            {"level": row["level"], "of": words, "loss": row[name]}
            for row in by_level
            if row["epsilon"] == epsilon
            for name, words in PARTS.items()
        ]
        title = f"Figure 8, ε = {epsilon}"
        panels.append(panel(points, LINES, title, size, x="level:Q", y=figures("loss"), color=colour))
    return altair.concat(*panels, columns=4).resolve_scale(color="independent")
