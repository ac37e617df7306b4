"""Lee, Kim, Kim and Chung 2017 on UCI Adult: h-ceiling and its competitors."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import partial, reduce
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.engines.locks import exclusive
from sqlanon.engines.relations import Source
from sqlanon.evaluation.answers import TRUTH, query_errors, weighted
from sqlanon.evaluation.results import Row, required_altair
from sqlanon.methods.h_ceiling.ceiling_report import CeilingReport
from sqlanon.model.methods.counterfeiting import CATALOG, CatalogKind, HCeiling
from sqlanon.model.methods.full_domain import Relocation
from sqlanon.model.methods.synthetic import CountQuery
from sqlanon.model.policy.policy import Policy
from sqlanon.model.privacy import KAnonymity
from sqlanon.model.quality import LM
from sqlanon.model.release import Report
from sqlanon.model.taxonomy.taxonomy import Taxonomy
from sqlanon.papers import adult
from sqlanon.papers.charts import colours, dashes, figures, lines_of, panel, steps, unpivoted
from sqlanon.papers.experiments import RELEASED, Contender, Part, averaged, parts_of, spelled_node
from sqlanon.queries import taxonomies
from sqlanon.queries.kit.macros import table_call, text
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    aliased,
    all_of,
    column,
    count_rows,
    double,
    grouped,
    identifier,
    number,
    same,
    select,
    string,
    subquery,
)
from sqlanon.queries.measures import level_map

if TYPE_CHECKING:
    from sqlanon.api.session import Session

HIERARCHIES = ("workclass", "education", "marital_status", "race", "sex", "native_country")
QUASI_IDENTIFIERS = ("age", *HIERARCHIES)
SENSITIVE = "occupation"
CLASS_SIZES = (3, 5, 10)
CEILINGS = (0.25, 0.3, 0.35)
CATALOGS: tuple[CatalogKind, ...] = ("none", "paper")
LIMIT = 0.05  # most rows that may be suppressed, or moved, as a share

SHOWN_K, SHOWN_H = 5, 0.3  # of figures 9 and 10
BY_COUNT = "combination_error_"
MEASURES = {"lm": "LM", "rce": "RCE", "query_error": "query error", "total_query_error": "total query error"}

PLAIN = "k-anonymity"
SOURCE = "adult"
SQL = Queries("papers")
LISTED = "listed"  # the catalog's table

FILES = adult.needed(HIERARCHIES)

rows = partial(averaged, by=("method", "catalog", "k", "h"))


def contenders() -> Iterator[Contender]:
    """Yield all releases, grouped by method.

    Relocation takes the node at which rows in small classes count as lost, as suppression does: only queries show the
    error of moving them.
    """
    for h, kind, k in itertools.product(CEILINGS, CATALOGS, CLASS_SIZES):
        catalog = None if kind == "none" else kind
        yield _contender(f"h-ceiling, h = {h:g}", k, h, catalog, method=HCeiling(k, h=h, catalog=kind))
    share = f"{100 * LIMIT:g} %"
    for method, limit in ((PLAIN, 0), (f"{PLAIN}, {share} suppressed", LIMIT)):
        for k in CLASS_SIZES:
            yield _contender(method, k, privacy=[KAnonymity(k)], quality=LM(), suppression_limit=limit)
    for k in CLASS_SIZES:
        yield _contender(f"relocation, {share} moved", k, method=Relocation(k, limit=LIMIT), quality=LM())


def _contender(
    name: str, k: int, h: float | None = None, catalog: CatalogKind | None = None, **settings: Any
) -> Contender:
    return Contender(
        f"{name}, k = {k}{'' if catalog is None else ', with a catalog'}",
        Policy(quasi_identifiers=QUASI_IDENTIFIERS, sensitive=[SENSITIVE], **settings),
        {"method": name, "catalog": catalog, "k": k, "h": h},
    )


def parts(seeds: Sequence[int]) -> Iterator[Part]:
    return parts_of(contenders(), measured, seeds)


def prepare(session: Session, folder: Path) -> None:
    session.connection.from_arrow(adult.training_rows(folder, (*QUASI_IDENTIFIERS, SENSITIVE))).create(SOURCE)
    # The paper's domain of age, not only the ages that occur.
    ages = Taxonomy.intervals([10, 50], minimum=0, maximum=99)
    session.taxonomies.load_all({"age": ages, **adult.taxonomies(folder, HIERARCHIES)})


def queries(session: Session) -> list[CountQuery]:
    """Ask ``COUNT(*) WHERE occupation = v GROUP BY attribute`` for all values and attributes, as in the paper."""
    values = sorted(value for (value,) in session.connection.table(SOURCE).unique(SENSITIVE).fetchall())
    return [CountQuery(column=name, where={SENSITIVE: value}) for name in QUASI_IDENTIFIERS for value in values]


def measured(session: Session, contender: Contender, seeds: Sequence[int]) -> Iterator[Row]:
    k, h = contender.setting["k"], contender.setting["h"]
    catalog = None if contender.setting["catalog"] is None else LISTED
    tables = None if catalog is None else {CATALOG: catalog}
    release = contender.release(session, SOURCE, seeds[0], tables=tables)
    report = release.report
    assert isinstance(report, Report)
    required = k if h is None else 1
    lost = losses(session, SOURCE, RELEASED, release.node, SENSITIVE, required=required, catalog=catalog)
    workload = queries(session)
    errors = query_errors(session, SOURCE, RELEASED, workload, catalog=catalog).to_pylist()
    relative = {
        name: fmean(
            row["mean_relative_error"] for row, query in zip(errors, workload, strict=True) if query.column == name
        )
        for name in QUASI_IDENTIFIERS
    }
    assert report.rows is not None
    by_count: Mapping[int, float] = {}
    if k == SHOWN_K and catalog is None and h in (None, SHOWN_H):
        by_count = errors_by_count(session, SOURCE, RELEASED, QUASI_IDENTIFIERS, SENSITIVE)
    yield {
        **contender.setting,
        "node": spelled_node(release.node),
        "released_rows": report.rows.released,
        **lost,
        "counterfeits": report.counterfeits if isinstance(report, CeilingReport) else 0,
        "effective_k": report.effective_k if isinstance(report, CeilingReport) else None,
        "query_error": fmean(relative.values()),
        "total_query_error": fmean(row["total_relative_error"] for row in errors),
        **{f"query_error_{name}": error for name, error in relative.items()},
        **{f"{BY_COUNT}{count + 1}": by_count.get(count + 1) for count in range(len(QUASI_IDENTIFIERS))},
    }


def findings(rows: Sequence[Row]) -> Iterator[str]:
    """Count how often the paper's claims hold."""
    plain, without, with_catalog = (
        {(row["h"], row["k"]): row for row in rows if row["method"] == PLAIN},
        {(row["h"], row["k"]): row for row in rows if row["h"] is not None and row["catalog"] is None},
        {(row["h"], row["k"]): row for row in rows if row["catalog"] is not None},
    )
    for measure, words in MEASURES.items():
        below = sum(row[measure] < plain[None, k][measure] for (_, k), row in without.items())
        yield (
            f"{words} of h-ceiling is below that of {PLAIN} without suppression in {below} of {len(without)} releases"
        )
    measure = "total_query_error"
    below = sum(row[measure] < without[key][measure] for key, row in with_catalog.items())
    yield f"{MEASURES[measure]} is lower with a catalog than without in {below} of {len(with_catalog)} releases"
    methods = {row["method"]: row for row in rows if row[f"{BY_COUNT}1"] is not None}
    for method, row in methods.items():
        if method != PLAIN and PLAIN in methods:
            counts = [f"{BY_COUNT}{count + 1}" for count in range(len(QUASI_IDENTIFIERS))]
            wins = [str(at + 1) for at, name in enumerate(counts) if row[name] < methods[PLAIN][name]]
            yield f"Query error of {method} is below that of {PLAIN} for {', '.join(wins)} attributes"


# More than six parameters: the tables, the catalog, and the node and k of the release.
@exclusive
def losses(
    session: Session,
    original: Source,
    released: str,
    node: Mapping[str, int],
    sensitive: str,
    *,
    required: int,
    catalog: str | None = None,
) -> dict[str, float]:
    """Measure a release that did not keep classes of fewer than ``required`` rows, by means over all original rows.

    ``lm``, and the reconstruction error over quasi-identifiers and sensitive value, ``rce``, are in [0, 1];
    ``lost_rows`` are those that the release does not show in their class, whose LM is 1.
    """
    engine = session._engine
    true, shown = session._opened.resolve(original).relation, session._opened.resolve(released).relation
    if catalog is None:
        with_truth: exp.Query = select([exp.Star(), aliased(number(1), TRUTH)], shown)
    else:
        with_truth = weighted(shown, session._opened.resolve(catalog).relation, sensitive).query
    levels = level_map(node)
    lm = table_call("lm", true, levels, number(required))
    rce = table_call(
        "reconstruction_errors",
        true.copy(),
        subquery(with_truth, "anon_with_truth"),
        levels.copy(),
        string(sensitive),
        string(TRUTH),
    )
    [labels] = engine.fetch(taxonomies.at(lm, engine.taxonomy), "LM of original rows")
    [errors] = engine.fetch(taxonomies.at(rce, engine.taxonomy), "reconstruction errors")
    return {"lm": labels["lm"], "rce": errors["rce"], "lost_rows": errors["lost_rows"]}


def errors_by_count(
    session: Session, original: str, released: str, names: Sequence[str], sensitive: str
) -> dict[int, float]:
    """Return the mean relative error of ``COUNT(*) WHERE sensitive = v GROUP BY`` one column, two, and so on (fig. 10).

    Each is a mean over all values v and over as many choices of columns as there are columns: runs of neighbours, where
    the first one follows the last one.
    """
    count = len(names)
    runs = {n: [[*names, *names][at : at + n] for at in range(count if n < count else 1)] for n in range(1, count + 1)}
    engine = session._engine
    found = {}
    for n, columns in runs.items():
        queries = (_answers(original, released, each, sensitive) for each in columns)
        errors = [SQL.query("errors_by_value", answers=query) for query in queries]
        rows = (engine.fetch(taxonomies.at(query, engine.taxonomy), "errors of combinations") for query in errors)
        found[n] = fmean(row["error"] for [row] in rows)
    return found


def _answers(original: str, released: str, names: Sequence[str], sensitive: str) -> exp.Query:
    """Select the true count of each combination, and that of its labels by the combinations that these stand for."""
    shares: list[exp.Expr] = [exp.func("coalesce", column("rows", "anon_shown"), double(0))]
    query = select(
        [column("value", "anon_true"), aliased(column("rows", "anon_true"), "truth")],
        subquery(_counts(original, names, sensitive), "anon_true"),
    )
    for name in names:
        spread = f"anon_spread_{name}"
        labels = table_call("spread_labels", exp.Table(this=identifier(released)), string(name))
        query = query.join(
            subquery(labels, spread), on=same(column("value", spread), column(name, "anon_true")), join_type="left"
        )
        shares.append(exp.func("coalesce", column("share", spread), double(0)))
    meets = [same(column(name, "anon_shown"), column("label", f"anon_spread_{name}")) for name in names]
    meets.append(same(column("value", "anon_shown"), column("value", "anon_true")))
    shown = subquery(_counts(released, names, sensitive), "anon_shown")
    answer = reduce(lambda left, right: exp.Mul(this=left, expression=right), shares)
    return query.join(shown, on=all_of(meets), join_type="left").select(aliased(answer, "answer"))


def _counts(table: str, names: Sequence[str], sensitive: str) -> exp.Select:
    keys = {**{name: text(column(name)) for name in names}, "value": text(column(sensitive))}
    columns = [*(aliased(key, name) for name, key in keys.items()), aliased(count_rows(), "rows")]
    return grouped(select(columns, exp.Table(this=identifier(table))), [key.copy() for key in keys.values()])


COLOURS = {  # shades of a colour per method, in the order of its releases
    "h-ceiling": ("#9ecae1", "#4292c6", "#084594"),
    "k-anonymity": ("#d62728", "#ff9f43"),
    "relocation": ("#7f7f7f",),
}

CATALOG_NAMES = {False: "without a catalog", True: "with the paper's catalog"}
LOSSES = {"lm": "LM", "rce": "RCE", "query_error": "query error (mean relative)"}
BY_ATTRIBUTE = "query_error_"


def chart(rows: Sequence[Row]) -> Any:
    """Draw losses by k, and query errors by attribute and by their number."""
    altair = required_altair()
    methods = list(dict.fromkeys(str(row["method"]) for row in rows))
    left = {name: list(shades) for name, shades in COLOURS.items()}
    shades = [left[method.partition(",")[0]].pop(0) for method in methods]
    colour = colours("method", methods, shades, columns=3, labelLimit=300)
    names = {BY_ATTRIBUTE + name: name.replace("_", " ") for name in QUASI_IDENTIFIERS}
    shown = [row for row in rows if row["k"] == SHOWN_K and row["catalog"] is None]
    errors = unpivoted(shown, names, "attribute", "error", lambda row: {"method": row["method"]})
    by_attribute = panel(
        errors,
        "bar",
        f"query error (mean relative) by attribute, k = {SHOWN_K}, without catalogs",
        (720, 200),
        x=altair.X("attribute:N", title=None, sort=[*names.values()], axis=altair.Axis(labelAngle=0)),
        xOffset=altair.XOffset("method:N", sort=methods),
        y=figures("error"),
        color=colour,
    )
    by_number = {f"{BY_COUNT}{count + 1}": str(count + 1) for count in range(len(QUASI_IDENTIFIERS))}
    counts = unpivoted(rows, by_number, "attributes", "error", lambda row: {"method": row["method"]})
    line, dots = lines_of(counts, x=steps("attributes"), y=figures("error"), color=colour)
    by_count = (line + dots).properties(title="query error by number of attributes", width=300, height=200)
    panels = (_losses(altair, rows, measure, heading, colour) for measure, heading in LOSSES.items())
    both = altair.vconcat(altair.hconcat(*panels), altair.hconcat(by_attribute, by_count))
    title = altair.TitleParams("h-ceiling on UCI Adult: the lower, the better", anchor="start", offset=12)
    return both.properties(title=title)


def _losses(altair: Any, rows: Sequence[Row], measure: str, heading: str, colour: Any) -> Any:
    """Draw lines by k, dashed with a catalog; suppression's is wide, as relocation loses the same rows."""
    shown = [
        {
            "method": row["method"],
            "catalog": CATALOG_NAMES[row["catalog"] is not None],
            "k": row["k"],
            "loss": row[measure],
            "width": 6 if str(row["method"]).endswith("suppressed") else 2,
        }
        for row in rows
    ]
    line, dots = lines_of(shown, x=steps("k"), y=figures("loss", zero=True), color=colour)
    line = line.encode(
        strokeDash=dashes("catalog", [*CATALOG_NAMES.values()]),
        strokeWidth=altair.StrokeWidth("width:Q", scale=None, legend=None),
        detail=["method:N", "catalog:N"],
    )
    return (line + dots).properties(title=heading, width=200, height=200)
