"""Mazzone 2019 on UCI Adult: the nodes that OLA checks, and losses, k and m of its and Inverse OLA's releases."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sqlanon.errors import UnsatisfiableError
from sqlanon.evaluation.results import Row, required_altair
from sqlanon.model.policy.policy import Policy
from sqlanon.model.privacy import KAnonymity, MConcealing
from sqlanon.model.quality import Prec
from sqlanon.papers import adult
from sqlanon.papers.charts import LINES, dashes, figures, hues, panel, steps, unpivoted
from sqlanon.papers.experiments import RELEASED, Part, of_parts, printed_beside, spelled_node, table_rows
from sqlanon.papers.income_accuracy import LOSSES, THESIS

if TYPE_CHECKING:
    from sqlanon.api.session import Session
    from sqlanon.model.release import Release

FILES = adult.needed(THESIS.quasi_identifiers)
TABLES_BY = "part"
DRAWS = False

SOURCE = "adult"

OLA = "OLA, nine quasi-identifiers"
INVERSE = "Inverse OLA with Prec, nine quasi-identifiers"
REDUCED = "Inverse OLA with Prec, age, sex and three secrets"
CONCEALING = "Inverse OLA with Prec, demographics, and 1/m by what an attacker knows"

# Table 6.9: by k and the percentage of rows that may be suppressed, the number of nodes that OLA checks.
CHECKED: Mapping[tuple[int, int], int] = {
    (row["k"], row["percent"]): row["checked"] for row in table_rows("checked_nodes")
}

# By Inverse OLA's largest Prec and the percentage of rows that may be suppressed (section 6.1.3), on MIMIC-III: the
# largest k, of demographics and three procedures (table 6.2), and of sex, date of birth and three procedures, where
# these are not suppressed completely (table 6.3); and 1/m with each model (tables 6.4 to 6.7).
PUBLISHED = {(row["max_loss"], row["percent"]): row for row in table_rows("inverse_ola")}
BOUNDS = tuple(PUBLISHED)

DEMOGRAPHICS = ("age", "marital_status", "relationship", "race", "sex", "native_country")

# Substitutes for the procedures of an admission, in order.
SECRETS = ("occupation", "education", "workclass", "hours_per_week", "capital_gain")

REDUCED_COLUMNS = ("age", "sex", *SECRETS[:3])
WEIGHTS = (1, 10)  # of a secret, where age and sex weigh 1; the thesis has "very heavy" ones, and prints none

# The probability that an attacker knows each secret: section 6.1.4.
MODELS: Mapping[str, Sequence[float]] = {
    "A": (0.01, 0.01, 0.01),
    "B": (0.05, 0.05, 0.05),
    "C": (0.05, 0.01, 0.01),
    "D": (0.01, 0.01, 0.01, 0.01, 0.01),
}


def prepare(session: Session, folder: Path) -> None:
    session.connection.from_arrow(adult.training_rows(folder, adult.COLUMNS)).create(SOURCE)
    session.taxonomies.load_all(adult.taxonomies(folder, THESIS.quasi_identifiers))


def parts(_seeds: Sequence[int]) -> Iterator[Part]:
    for (k, percent), loss in itertools.product(CHECKED, LOSSES):
        yield Part(
            f"OLA, {loss}, k = {k}, up to {percent} % suppressed",
            partial(optimum, k=k, percent=percent, loss=loss),
        )
    for max_loss, percent in BOUNDS:
        setting = f"Prec up to {max_loss}, up to {percent} % suppressed"
        kinds = (("nine quasi-identifiers", largest_k), ("three secrets", reduced), ("demographics", concealing))
        for what, measure in kinds:
            yield Part(f"Inverse OLA, {what}, {setting}", partial(measure, max_loss=max_loss, percent=percent))


def optimum(session: Session, k: int, percent: int, loss: str) -> Iterator[Row]:
    """Yield the node of least loss: by OLA for Prec, and by optimal search for other losses.

    The nodes that OLA checks do not depend on the loss, and optimal search checks fewer.
    """
    search: Literal["ola", "optimal"] = "ola" if loss == "Prec" else "optimal"
    policy = Policy(
        quasi_identifiers=THESIS.quasi_identifiers,
        rest="identifier",
        privacy=[KAnonymity(k)],
        quality=LOSSES[loss],
        suppression_limit=percent / 100,
        search=search,
    )
    release = session.anonymize(SOURCE, policy, RELEASED, replace=True)
    setting = {"part": OLA, "loss": loss, "k": k, "suppression_limit": percent / 100}
    checked = {"thesis_checked": CHECKED[k, percent]} if search == "ola" else {"checked": None}
    yield {**setting, **_found(release), **checked, "minimal_nodes": release.report.minimal_nodes}


def _found(release: Release) -> Row:
    report = release.report
    return {
        "checked": report.checked_nodes,
        "value": report.loss,
        "tied_nodes": report.tie_count,
        "suppressed_rows": report.suppressed_rows,
        "node": spelled_node(report.node),
    }


def largest_k(session: Session, max_loss: float, percent: int) -> Iterator[Row]:
    release = _inverse(session, max_loss, percent, quasi_identifiers=THESIS.quasi_identifiers)
    yield {**_of_inverse(INVERSE, release, max_loss, percent), "thesis": PUBLISHED[max_loss, percent]["k"]}


def reduced(session: Session, max_loss: float, percent: int) -> Iterator[Row]:
    """Run Inverse OLA on age, sex and three secrets, with each weight of the secrets."""
    for weight in WEIGHTS:
        quality = Prec(weights=dict.fromkeys(SECRETS[:3], weight))
        release = _inverse(session, max_loss, percent, quasi_identifiers=REDUCED_COLUMNS, quality=quality)
        below = 0
        if release is not None:
            below = sum(release.node[name] < release.report.heights[name] for name in SECRETS[:3])
        yield {
            **_of_inverse(REDUCED, release, max_loss, percent),
            "weight": weight,
            "kept_secrets": below,
            "thesis": PUBLISHED[max_loss, percent]["k_of_few"] if weight == WEIGHTS[0] else None,
        }


def concealing(session: Session, max_loss: float, percent: int) -> Iterator[Row]:
    """Run Inverse OLA on demographics, with 1/m by each model of the attacker."""
    release = _inverse(session, max_loss, percent, quasi_identifiers=DEMOGRAPHICS, sensitive=SECRETS)
    found = _of_inverse(CONCEALING, release, max_loss, percent)
    if release is None:
        yield found
        return
    for name, probabilities in MODELS.items():
        (measured,) = session.measure(RELEASED, of_attacker(probabilities)).models
        assert measured.attained is not None
        yield {
            **found,
            "model": name,
            "one_over_m": 1 / measured.attained,
            "worst_case": worst_case(probabilities, found["attained_k"]),
            "thesis": PUBLISHED[max_loss, percent][name],
        }


def of_attacker(probabilities: Sequence[float]) -> Policy:
    """Return the policy that measures m of demographics by a model of the attacker."""
    prior = dict(zip(SECRETS, probabilities, strict=False))
    model = MConcealing(1, prior)
    return Policy(quasi_identifiers=DEMOGRAPHICS, sensitive=[*prior], rest="identifier", privacy=[model])


def worst_case(probabilities: Sequence[float], k: float) -> float:
    """Return the least 1/m of a row in a class of k rows, which is unique once any secret is known.

    The attacker knows each secret with a probability; k is infinite for the limit of large classes.
    """
    knows_nothing = math.prod(1 - probability for probability in probabilities)
    return 1 / (1 - knows_nothing + knows_nothing / k)


def _inverse(session: Session, max_loss: float, percent: int, **settings: Any) -> Release | None:
    """Release by Inverse OLA; None if k = 1, which protects nobody."""
    policy = Policy(
        **{"rest": "identifier", "quality": Prec(), **settings},
        suppression_limit=percent / 100,
        objective="privacy",
        max_loss=max_loss,
    )
    try:
        return session.anonymize(SOURCE, policy, RELEASED, replace=True)
    except UnsatisfiableError:
        return None


def _of_inverse(part: str, release: Release | None, max_loss: float, percent: int) -> Row:
    setting = {"part": part, "loss": "Prec", "max_loss": max_loss, "suppression_limit": percent / 100}
    if release is None:
        return {**setting, "attained_k": 1}
    return {**setting, **_found(release), "attained_k": release.report.min_class_size}


def findings(rows: Sequence[Row]) -> Iterator[str]:
    checks = [row for row in rows if row["part"] == OLA and row["loss"] == "Prec"]
    here, there = (sum(row[name] for row in checks) for name in ("checked", "thesis_checked"))
    yield f"OLA checks {here:,} nodes in {len(checks)} settings, where the thesis has {there:,}"
    shares = [row["checked"] / row["thesis_checked"] for row in checks]
    yield f"In a setting it checks {min(shares):.2f} to {max(shares):.2f} times as many nodes as in the thesis"
    for k, group in itertools.groupby(checks, lambda row: row["k"]):
        losses = {row["suppression_limit"]: row["value"] for row in group}
        first, last = min(losses), max(losses)
        yield (
            f"k = {k}: Prec falls from {losses[first]:.4f} with up to {100 * first:g} % suppressed to "
            f"{losses[last]:.4f} with up to {100 * last:g} %"
        )
    for weight in WEIGHTS:
        of_weight = [row for row in rows if row["part"] == REDUCED and row["weight"] == weight]
        safe = [row for row in of_weight if row["attained_k"] > 1]
        kept = [row for row in safe if row["kept_secrets"]]
        most = max((row["attained_k"] for row in kept), default=1)
        yield (
            f"Secrets that weigh {weight}: k is above 1 in {len(safe)} of {len(of_weight)} settings; {len(kept)} of "
            f"these keep something of a secret, with k up to {most:,}"
        )
    for name, probabilities in MODELS.items():
        of_model = [row for row in rows if row["model"] == name]
        limit = worst_case(probabilities, math.inf)
        printed = max(row[name] for row in PUBLISHED.values() if row[name] is not None)
        found = [row["one_over_m"] for row in of_model]
        ranges = f"{min(found):.1f} to {max(found):.1f} on Adult" if found else "nothing on Adult"
        yield (
            f"Model {name}: 1/m is {ranges}, and tends to {limit:.3f} in the worst case for large k; the thesis has up "
            f"to {printed}"
        )


def chart(rows: Sequence[Row]) -> Any:
    altair = required_altair()
    checks = [row for row in rows if row["part"] == OLA and row["loss"] == "Prec"]
    sources = {"checked": "here", "thesis_checked": "in the thesis"}
    counts = unpivoted(checks, sources, "source", "nodes", _setting)
    losses = [{**_setting(row), "loss": row["value"]} for row in checks]
    risks = [
        {"setting": f"Prec ≤ {row['max_loss']:g}, {_percent(row)}", "model": row["model"], "m": row["one_over_m"]}
        for row in rows
        if row["model"] is not None
    ]
    suppressed, size = steps("suppressed", title="suppressed, at most"), (260, 220)
    by_setting = altair.X("setting:O", title="Inverse OLA on demographics", sort=None)
    by_k, dashed = hues("k", "k"), dashes("source", [*sources.values()])
    by_nodes, by_loss, by_m = (figures(name) for name in ("nodes", "loss", "m"))
    return altair.hconcat(
        panel(counts, LINES, "nodes that OLA checks", size, x=suppressed, y=by_nodes, color=by_k, strokeDash=dashed),
        panel(losses, LINES, "Prec of the best node", size, x=suppressed, y=by_loss, color=by_k),
        panel(risks, LINES, "1/m: the higher, the better", size, x=by_setting, y=by_m, color=hues("model", "model")),
    ).resolve_scale(color="independent")


def _setting(row: Row) -> Row:
    return {"k": str(row["k"]), "suppressed": _percent(row)}


def _percent(row: Row) -> str:
    return f"{100 * row['suppression_limit']:g} %"


def printed(rows: Sequence[Row]) -> Iterator[Row]:
    def bounds(row: Row) -> str:
        return f"Prec ≤ {row['max_loss']:g}, {_percent(row)}"

    yield from printed_beside(
        rows, "Table 6.9", "thesis_checked", "checked", lambda row: f"k = {row['k']}, {_percent(row)}"
    )
    yield from printed_beside(of_parts(rows, INVERSE), "Table 6.2: k", "thesis", "attained_k", bounds)
    yield from printed_beside(of_parts(rows, REDUCED), "Table 6.3: k", "thesis", "attained_k", bounds)
    risks = of_parts(rows, CONCEALING)
    yield from printed_beside(
        risks, "Tables 6.4 to 6.7: 1/m", "thesis", "one_over_m", lambda row: f"{row['model']}, {bounds(row)}"
    )
