"""Lee, Kim, Kim and Chung 2017 on UCI Adult: h-ceiling beside what it competes with."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlanon.evaluation.queries import query_errors
from sqlanon.evaluation.results import Reproduced, Row, rounded
from sqlanon.evaluation.workload import CountQuery
from sqlanon.mechanisms.seeded import SeededSource
from sqlanon.methods.h_ceiling.report import CeilingReport
from sqlanon.model.methods.full_domain import Relocation
from sqlanon.model.methods.h_ceiling import CATALOG, CatalogKind, HCeiling
from sqlanon.model.policy.policy import Policy
from sqlanon.model.privacy import KAnonymity
from sqlanon.model.quality import LM
from sqlanon.model.release import Report
from sqlanon.model.taxonomy.taxonomy import Taxonomy
from sqlanon.papers import adult
from sqlanon.papers.base import Announce, Reproduction
from sqlanon.papers.h_ceiling.chart import drawn
from sqlanon.papers.h_ceiling.losses import losses

if TYPE_CHECKING:
    from sqlanon.api.session import Session

HIERARCHIES = ("workclass", "education", "marital_status", "race", "sex", "native_country")
QUASI_IDENTIFIERS = ("age", *HIERARCHIES)
SENSITIVE = "occupation"
CLASS_SIZES = (3, 5, 10)
CEILINGS = (0.25, 0.3, 0.35)
CATALOGS: tuple[CatalogKind, ...] = ("none", "paper")
LIMIT = 0.05
"""The share of rows that may be suppressed, or moved."""

PLAIN = "k-anonymity"
RELEASED = "released"
LISTED = "listed"
"""The table of a catalog."""

SHOWN = {
    "method": "method",
    "catalog": "catalog",
    "k": "k",
    "lm": "LM",
    "rce": "RCE",
    "counterfeits": "counterfeits",
    "lost_rows": "lost rows",
    "query_error": "query error",
    "total_query_error": "total query error",
}


@dataclass(frozen=True)
class Contender:
    """A release to make.

    Attributes:
        method: what makes it, in words.
        k: how many rows a class has.
        h: the ceiling, if there is one.
        catalog: its kind, if there is one.
        settings: those of its policy.
    """

    method: str
    k: int
    h: float | None = None
    catalog: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        """In words, as progress is reported."""
        return f"{self.method}, k = {self.k}{'' if self.catalog is None else ', with a catalog'}"

    @property
    def policy(self) -> Policy:
        """What is asked for."""
        return Policy(quasi_identifiers=QUASI_IDENTIFIERS, sensitive=[SENSITIVE], **self.settings)


def contenders() -> Iterator[Contender]:
    """All releases, those of one method together.

    Relocation, as suppression, takes the node at which rows in small classes count as lost: how wrong it is to show
    them elsewhere is seen by queries alone.
    """
    for h, kind, k in itertools.product(CEILINGS, CATALOGS, CLASS_SIZES):
        settings = {"method": HCeiling(k, h=h, catalog=kind)}
        yield Contender(f"h-ceiling, h = {h:g}", k, h, None if kind == "none" else kind, settings)
    share = f"{100 * LIMIT:g} %"
    for method, more in ((PLAIN, {}), (f"{PLAIN}, {share} suppressed", {"suppression_limit": LIMIT})):
        for k in CLASS_SIZES:
            yield Contender(method, k, settings={"privacy": [KAnonymity(k)], "quality": LM(), **more})
    for k in CLASS_SIZES:
        yield Contender(
            f"relocation, {share} moved", k, settings={"method": Relocation(k, limit=LIMIT), "quality": LM()}
        )


def run(session: Session, folder: Path, seeds: Sequence[int], announce: Announce) -> Reproduced:
    """Make every release, and hold it against the original.

    Raises:
        PolicyError: the folder lacks data.
        TaxonomyError: a hierarchy is malformed, or does not cover the rows.
        EngineError: the database refused a step, or altair is not installed.
    """
    (seed,) = seeds
    original = adult.training_rows(folder, (*QUASI_IDENTIFIERS, SENSITIVE))
    # The domain of age that the paper names, and not only the ages that occur.
    ages = Taxonomy.intervals([10, 50], minimum=0, maximum=99)
    session.taxonomies.load_all({"age": ages, **adult.taxonomies(folder, HIERARCHIES)})
    workload = queries(original)
    rows = []
    for contender in contenders():
        announce(str(contender))
        rows.append(measured(session, original, contender, workload, seed))
    return Reproduced(
        title="h-ceiling on UCI Adult, after Lee, Kim, Kim and Chung 2017",
        rows=rows,
        shown=SHOWN,
        findings=findings(rows),
        notes=notes(original, workload),
        chart=drawn(rows, QUASI_IDENTIFIERS),
    )


def queries(original: pa.Table) -> list[CountQuery]:
    """The workload of the paper, ``COUNT(*) WHERE occupation = v GROUP BY attribute``, of all values and attributes."""
    values = sorted(set(original[SENSITIVE].to_pylist()))
    return [CountQuery(column=name, where={SENSITIVE: value}) for name in QUASI_IDENTIFIERS for value in values]


def measured(session: Session, original: pa.Table, contender: Contender, workload: list[CountQuery], seed: int) -> Row:
    """A release as a row of the table."""
    source = SeededSource(seed) if contender.policy.method.draws else None
    catalog = None if contender.catalog is None else LISTED
    release = session.anonymize(
        original,
        contender.policy,
        RELEASED,
        replace=True,
        random_source=source,
        tables=None if catalog is None else {CATALOG: catalog},
    )
    report = release.report
    assert isinstance(report, Report)
    kept = contender.k if contender.h is None else 1
    lost = losses(session, original, RELEASED, release.node, SENSITIVE, required=kept, catalog=catalog)
    errors = query_errors(session, original, RELEASED, workload, catalog=catalog).to_pylist()
    relative = {
        name: fmean(
            row["mean_relative_error"] for row, query in zip(errors, workload, strict=True) if query.column == name
        )
        for name in QUASI_IDENTIFIERS
    }
    assert report.rows is not None
    row: Row = {
        "method": contender.method,
        "catalog": contender.catalog,
        "k": contender.k,
        "h": contender.h,
        "node": " ".join(map(str, release.node.values())),
        "released_rows": report.rows.released,
        "lm": lost.lm,
        "rce": lost.rce,
        "counterfeits": report.counterfeits if isinstance(report, CeilingReport) else 0,
        "effective_k": report.effective_k if isinstance(report, CeilingReport) else None,
        "lost_rows": lost.lost_rows,
        "query_error": fmean(relative.values()),
        "total_query_error": fmean(row["total_relative_error"] for row in errors),
        **{f"query_error_{name}": error for name, error in relative.items()},
    }
    return rounded(row)


def findings(rows: Sequence[Row]) -> list[str]:
    """What the paper claims, counted."""
    plain, without, with_catalog = (
        {(row["h"], row["k"]): row for row in rows if row["method"] == PLAIN},
        {(row["h"], row["k"]): row for row in rows if row["h"] is not None and row["catalog"] is None},
        {(row["h"], row["k"]): row for row in rows if row["catalog"] is not None},
    )
    found = []
    for measure in ("lm", "rce", "query_error", "total_query_error"):
        below = sum(row[measure] < plain[None, k][measure] for (_, k), row in without.items())
        found.append(
            f"{SHOWN[measure]} of h-ceiling is below that of {PLAIN} without suppression in {below} of {len(without)} "
            "releases"
        )
    measure = "total_query_error"
    below = sum(row[measure] < without[key][measure] for key, row in with_catalog.items())
    found.append(f"{SHOWN[measure]} is lower with a catalog than without in {below} of {len(with_catalog)} releases")
    return found


def notes(original: pa.Table, workload: list[CountQuery]) -> list[str]:
    """How the table is to be read."""
    return [
        f"UCI Adult, {original.num_rows:,} rows; {len(QUASI_IDENTIFIERS)} quasi-identifiers: "
        f"{', '.join(QUASI_IDENTIFIERS)}; the sensitive attribute is {SENSITIVE}.",
        "LM and RCE are means over original rows; one that the release does not show in its own class, since it was "
        "suppressed or moved, is lost and loses all.",
        "RCE does not see counterfeits without a catalog: read it beside their number.",
        "A catalog is grouped by the condition of the paper, which hides counterfeits from nobody who thinks: the "
        "effective k of each is in the table for programs. With a catalog, queries count rows by their truth.",
        f"Query errors are means over {len(workload)} queries, the counts of the values of each attribute for each "
        f"{SENSITIVE}: the mean relative error over the groups of a query, and the sum of its errors over the sum of "
        "the truth.",
        "With a catalog the reconstruction error decides between the nodes that need the fewest counterfeits: it may "
        "be another node, of more of them, than without one.",
        "Without a catalog the numbers of counterfeits do not depend on the seed; their values do, and the query "
        "errors a little.",
    ]


REPRODUCTION = Reproduction(
    name="h-ceiling",
    source="Lee, Kim, Kim and Chung 2017",
    check=lambda folder: adult.refuse_folder(folder, HIERARCHIES),
    run=run,
    seeds=range(20, 21),
)
