"""Query workloads: counts and averages by group on a release, compared with its original."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

from sqlanon.binding.carried_taxonomies import own_taxonomies
from sqlanon.engines.duckdb import Compute, Engine
from sqlanon.engines.locks import exclusive
from sqlanon.engines.relations import ResolvedSource, Source
from sqlanon.errors import PolicyError
from sqlanon.methods.stages import Progress, Stages, silent
from sqlanon.model.methods.counterfeiting import CLASS_ID, CLASS_IDS, COUNTERFEITS
from sqlanon.model.methods.synthetic import AverageQuery, CountQuery, GroupQuery
from sqlanon.model.names import folded
from sqlanon.model.policy_value import unknown_names
from sqlanon.queries import taxonomies
from sqlanon.queries.kit.macros import table_call, text
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_of,
    column,
    double,
    is_there,
    same,
    select,
    string,
    subquery,
)
from sqlanon.report.document import Bars, Part, Table, figure, paragraph, short_percent, strong

if TYPE_CHECKING:
    from sqlanon.api.session import Session
    from sqlanon.model.policy.policy import GivenPolicy, Policy


# More than six parameters: a table's names for the columns and values of the papers.
def stroke_queries(
    *,
    age: str = "age",
    sex: str = "sex",
    surgery: str = "surgery",
    disease: str = "disease",
    stay: str = "length_of_stay",
    sexes: tuple[str, str] = ("M", "F"),
    without_surgery: str = "N",
    stroke: str = "stroke",
    width: int = 5,
) -> tuple[CountQuery, CountQuery, AverageQuery, AverageQuery]:
    """Return Q1 to Q4 of both Lee papers: stroke patients without surgery, and their lengths of stay, by age.

    Q1 and Q3 are about men, Q2 and Q4 about women; Q1 and Q2 count, Q3 and Q4 average the length of stay.

    Args:
        age, sex, surgery, disease, stay: the columns of the table.
        sexes, without_surgery, stroke: the table's spelling of the values; men, then women.
        width: years per group. The papers state 5, and print the averages by 10.

    Source: Lee et al. 2017 and Lee and Chung 2020, "Real-world analysis".
    """
    shared: dict[str, str | int | None] = {surgery: without_surgery, disease: stroke}
    men, women = ({sex: value, **shared} for value in sexes)
    return (
        CountQuery(column=age, width=width, where=men),
        CountQuery(column=age, width=width, where=women),
        AverageQuery(column=age, width=width, where=men, average=stay),
        AverageQuery(column=age, width=width, where=women, average=stay),
    )


CATALOG_COLUMNS = (CLASS_IDS, COUNTERFEITS)  # columns of a catalog besides the sensitive one

ERRORS = pa.schema(
    [
        ("query", pa.string()),
        ("group_count", pa.int64()),
        ("unanswered_groups", pa.int64()),
        ("unknown_groups", pa.int64()),
        ("mean_absolute_error", pa.float64()),
        ("root_mean_square_error", pa.float64()),
        ("mean_relative_error", pa.float64()),
        ("total_relative_error", pa.float64()),
    ]
)
ANSWERS = pa.schema(
    [("group_label", pa.string()), ("group_start", pa.float64()), ("truth", pa.float64()), ("answer", pa.float64())]
)

SIDES = {"truth": "source", "answer": "release"}  # shown columns of ANSWERS

ROWS = "anon_rows"
CHANCE = "anon_chance"  # the probability that a released row is true and meets all conditions
MASK = "*"  # in every quasi-identifier of a masked row
TRUTH = "anon_truth"  # the column of ``anon.row_truths``
WEIGHTED = Relation("anon_weighted_rows", "row")  # the rows of a release with TRUTH, made once for all queries

SQL = Queries("evaluation")


# More than six parameters: options, which are keywords.
@exclusive
def query_errors(
    session: Session,
    original: Source,
    released: Source,
    workload: Iterable[GroupQuery],
    *,
    without_masked: Sequence[str] = (),
    catalog: Source | None = None,
    policy: GivenPolicy | None = None,
    progress: Progress = silent,
) -> pa.Table:
    """Compute the errors of answers from a release, a row per query.

    A label is assumed to be spread evenly over the values under it: a row counts for a group, and for a condition, with
    their share of these values, and with the midpoint of its label in averages. Counterfeit rows count like any other;
    with a catalog, every row counts with the probability that it is true. The errors are measured on the original: a
    differentially private release does not cover them, and publishing them would break the promise.

    Args:
        session: the session that has both tables, and the taxonomies of generalized columns that the policy lacks.
        original: the table with the true answers.
        released: its release.
        workload: the queries.
        without_masked: the quasi-identifiers of the release, to leave out rows with ``*`` in all of them; otherwise
            such rows are spread over the whole domain.
        catalog: the second table of a release with counterfeits, which counts them.
        policy: the policy of the release, whose taxonomies are used.
        progress: called with an :class:`sqlanon.Event` as in :meth:`sqlanon.Session.anonymize`, in the stage ``count``.
            An exception in it ends the call.

    Returns:
        a table with columns query (in words, without values), group_count (groups of either table), unanswered_groups
        (with a true average and none from the release), unknown_groups (the reverse; both are left out of the errors),
        mean_absolute_error and root_mean_square_error in the unit of the answers, mean_relative_error over the groups
        with a true answer above 0, and total_relative_error, the sum of the absolute errors over the sum of the truth.
        Errors are NULL if there is nothing to divide by.

    Raises:
        PolicyError: the workload has no query, or tables lack columns; all are listed.
        TaxonomyError: a taxonomy of the policy is not valid, or the warehouse stores another one.
        EngineError: a numeric column has other values, or its taxonomy lacks a label of the release; the catalog does
            not match the release; or the database refused a step.

    Source: Lee et al. 2017, query error rate; Lee and Chung 2020, tables 9 to 12.
    """
    queries = list(workload)
    if not queries:
        raise PolicyError("a workload needs at least one query")
    stages, engine = Stages(session._opened.callback(progress)), session._engine
    asked = _Asked(queries, without_masked, catalog, policy)
    with stages.watching(engine), stages.stage("count"), _prepared(session, original, released, asked) as tables:
        rows = []
        for place, query in enumerate(queries):
            compared = taxonomies.at(_compared("answer_errors", tables, query), engine.taxonomy)
            with engine.part(place, len(queries)):
                rows += [{"query": str(query), **found} for found in engine.fetch(compared, str(query))]
    return pa.Table.from_pylist(rows, schema=ERRORS)


# More than six parameters: options, which are keywords.
@exclusive
def query_answers(
    session: Session,
    original: Source,
    released: Source,
    query: GroupQuery,
    *,
    without_masked: Sequence[str] = (),
    catalog: Source | None = None,
    policy: GivenPolicy | None = None,
) -> pa.Table:
    """Return the answers to one query from an original and from its release, a row per group; see :func:`query_errors`.

    Returns:
        a table with columns group_label (the interval or value), group_start (the start of the interval; NULL without
        a width), truth and answer, in group order. It has true answers: keep it like the original.

    Raises:
        PolicyError, TaxonomyError, EngineError: as :func:`query_errors`.
    """
    engine = session._engine
    with _prepared(session, original, released, _Asked([query], without_masked, catalog, policy)) as tables:
        return pa.Table.from_pylist(_answers(engine, tables, query), schema=ANSWERS)


def _answers(engine: Engine, tables: _Tables, query: GroupQuery) -> list[dict[str, Any]]:
    answers = SQL.query("ordered_answers", answers=_compared("compared_answers", tables, query))
    return engine.fetch(taxonomies.at(answers, engine.taxonomy), str(query))


# More than six parameters: options, which are keywords.
@exclusive
def compared_answers(
    session: Session,
    original: Source,
    released: Source,
    query: GroupQuery,
    *,
    without_masked: Sequence[str] = (),
    policy: GivenPolicy | None = None,
    least: int = 5,
    most: int = 40,
) -> tuple[Part, ...]:
    """Show the answers to one query from an original and from its release; see :func:`query_errors`.

    Args:
        session, original, released, query, without_masked, policy: as in :func:`query_errors`.
        least: the rows of the original, with a value to average, below which a group is not shown; groups that only
            the release has are.
        most: the largest number of groups, those with the most rows first.

    Returns:
        parts of a document: the query with its error in all groups, bars (counts as shares of all rows, averages as
        shares of the largest one), a note on groups that are not shown, if any, and last the answers as a table.

    Raises:
        PolicyError, TaxonomyError, EngineError: as :func:`query_errors`.
    """
    engine = session._engine
    with _prepared(session, original, released, _Asked([query], without_masked, None, policy)) as tables:
        answers = counts = _answers(engine, tables, query)
        if query.averaged is not None:  # a mean is of the rows that have a value
            valued = select([exp.Star()], tables.original.copy()).where(is_there(column(query.averaged)), copy=False)
            counted = CountQuery(column=query.column, width=query.width, where=query.where)
            counts = _answers(engine, replace(tables, original=subquery(valued, "anon_valued")), counted)
    [errors] = query_errors(
        session, original, released, [query], without_masked=without_masked, policy=policy
    ).to_pylist()
    rows = {each["group_label"]: each["truth"] or 0 for each in counts}
    frequent = [label for label, each in rows.items() if not 0 < each < least]
    largest = {*sorted(frequent, key=lambda label: -rows[label])[:most]}
    groups = [each for each in answers if each["group_label"] in largest]
    left, wrong = len(answers) - len(groups), errors["total_relative_error"]
    title = str(query) if wrong is None else f"{query}: wrong by {short_percent(round(wrong, 6))} in all"
    note = paragraph(f"{left:,} groups are not shown: of under {least} rows, or smaller than {most} others")
    whole, axis = sum(rows.values()), f"{query.column}: share of the rows of the source"
    if query.averaged is not None:
        whole = max((each[side] or 0 for each in groups for side in SIDES), default=0)
        axis = f"{query.column}: mean of {query.averaged}, as a share of the largest"
    starts = [each["group_label"] if query.width is None else each["group_start"] for each in groups]
    names = tuple("–" if start is None else f"{start:g}" if query.width else str(start) for start in starts)
    series = tuple(
        (name, tuple(max(each[side] or 0, 0) / (whole or 1) for each in groups)) for side, name in SIDES.items()
    )
    cells = [(name, *(figure(each[side]) for side in SIDES)) for name, each in zip(names, groups, strict=True)]
    bars = Bars(f"{query}, before and after", axis, names, series)
    table = Table((query.column, *SIDES.values()), cells, (1, 2))
    return paragraph(strong(title)), bars, *([note] if left else []), table


@dataclass(frozen=True)
class _Asked:
    queries: Sequence[GroupQuery]
    without_masked: Sequence[str]
    catalog: Source | None
    policy: GivenPolicy | None

    @property
    def columns(self) -> list[str]:
        return list(dict.fromkeys(name for query in self.queries for name in query.columns))


@contextmanager
def _prepared(session: Session, original: Source, released: Source, asked: _Asked) -> Iterator[_Tables]:
    engine: Engine = session._engine
    policy = None if asked.policy is None else session._opened.checked(asked.policy, "a comparison of answers")
    true, shown = session._opened.resolve(original), session._opened.resolve(released)
    problems = [
        *_missing(engine, true, asked.columns),
        *_missing(engine, shown, list(dict.fromkeys([*asked.columns, *asked.without_masked]))),
    ]
    if asked.catalog is not None:
        listed = session._opened.resolve(asked.catalog)
        sensitive = _sensitive_column(engine, listed)
        problems += _missing(engine, shown, [CLASS_ID, sensitive])
    if problems:
        raise PolicyError("the queries cannot be asked:", problems)
    if not engine.find(engine.taxonomy):
        engine.prepare_taxonomies()
    with _taxonomies(engine, true, policy, asked.columns), engine.transaction(), engine.scratch():
        rows = shown.relation
        if asked.catalog is not None:
            engine.run(weighted(rows, listed.relation, sensitive))
            rows = WEIGHTED.table
        if asked.without_masked:
            masked = all_of([same(text(column(name)), string(MASK)) for name in asked.without_masked])
            unmasked = select([exp.Star()], rows.copy()).where(exp.not_(masked), copy=False)
            rows = subquery(unmasked, "anon_unmasked")
        yield _Tables(true.relation, rows, is_weighted=asked.catalog is not None)


def _taxonomies(
    engine: Engine, original: ResolvedSource, policy: Policy | None, columns: Sequence[str]
) -> AbstractContextManager[None]:
    """Use the taxonomies that the policy carries for some columns."""
    if policy is None:
        return nullcontext()
    asked = {*map(folded, columns)}
    return own_taxonomies(engine, original, policy, [name for name in policy.taxonomies if folded(name) in asked])


def _sensitive_column(engine: Compute, catalog: ResolvedSource) -> str:
    columns = [column.name for column in engine.describe(catalog.relation)]
    others = [name for name in columns if name not in CATALOG_COLUMNS]
    if len(others) != 1 or len(columns) != len(CATALOG_COLUMNS) + 1:
        raise PolicyError(
            f"{catalog.description} is not a catalog: it needs {', '.join(CATALOG_COLUMNS)} and a sensitive column"
        )
    return others[0]


def _missing(engine: Compute, table: ResolvedSource, names: Iterable[str]) -> list[str]:
    columns = [column.name for column in engine.describe(table.relation)]
    return [f'{table.description} has no column "{name}"{meant}' for name, meant in unknown_names(names, columns)]


@dataclass(frozen=True)
class _Tables:
    original: exp.Expr
    released: exp.Expr
    is_weighted: bool


def weighted(released: exp.Expr, catalog: exp.Expr, sensitive: str) -> Step:
    return Step(WEIGHTED, table_call("row_truths", released, catalog, string(sensitive)), "the truth of rows")


def _compared(macro: str, tables: _Tables, query: GroupQuery) -> exp.Query:
    """Call a macro over the true answers, those from the release, and the answer for a group without rows."""
    kind, without_row = ("counts", double(0)) if query.averaged is None else ("averages", exp.null())
    width = exp.null() if query.width is None else exp.convert(query.width)
    asked = [string(query.column), width, *([] if query.averaged is None else [string(query.averaged)])]
    conditions = [same(text(column(name, ROWS)), _value(value)) for name, value in query.where.items()]
    meeting = subquery(_read(tables.original, query).where(all_of(conditions), copy=False), "anon_true_rows")
    true = table_call(f"grouped_{kind}", meeting, *asked)
    estimated = table_call(f"estimated_{kind}", _chances(tables, query), *asked, string(CHANCE))
    return table_call(macro, subquery(true, "anon_truth"), subquery(estimated, "anon_estimate"), without_row)


def _chances(tables: _Tables, query: GroupQuery) -> exp.Subquery:
    """Select released rows that may meet the conditions, with the probability that they do and are true."""
    shares: list[exp.Expr] = [column(TRUTH, ROWS)] if tables.is_weighted else []
    joined = _read(tables.released, query)
    for place, (name, value) in enumerate(query.where.items()):
        condition = f"anon_condition_{place}"
        spread = table_call("spread_labels", tables.released.copy(), string(name))
        meeting = SQL.query("shares_of_value", spread=spread, value=_value(value))
        is_shown = same(column("label", condition), text(column(name, ROWS)))
        joined.join(subquery(meeting, condition), on=is_shown, join_type="inner", copy=False)
        shares.append(column("share", condition))
    chance = reduce(lambda left, right: exp.Mul(this=left, expression=right), shares, double(1))
    return subquery(joined.select(aliased(chance, CHANCE), copy=False), "anon_chances")


def _read(table: exp.Expr, query: GroupQuery) -> exp.Select:
    names = dict.fromkeys(name for name in (query.column, query.averaged) if name is not None)
    return select([aliased(column(name, ROWS), name) for name in names], exp.alias_(table.copy(), ROWS, table=True))


def _value(value: str | int | None) -> exp.Expr:
    return exp.null() if value is None else string(str(value))
