"""Query workloads: what counts and averages by group are on a release instead of its original."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from sqlanon.engines.base import Compute, Engine
from sqlanon.engines.locks import exclusive
from sqlanon.engines.relations import ResolvedSource, Source
from sqlanon.errors import PolicyError
from sqlanon.evaluation.workload import AverageQuery, CountQuery, GroupQuery, stroke_queries
from sqlanon.model.base import unknown_names
from sqlanon.model.methods.h_ceiling import CLASS_ID, CLASS_IDS, COUNTERFEITS
from sqlanon.queries.kit.macros import table_call, text
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_of,
    column,
    double,
    same,
    select,
    string,
    subquery,
)
from sqlanon.queries.tables import taxonomies

if TYPE_CHECKING:
    from sqlanon.api.session import Session


__all__ = ["AverageQuery", "CountQuery", "GroupQuery", "query_answers", "query_errors", "stroke_queries"]

CATALOG_COLUMNS = (CLASS_IDS, COUNTERFEITS)
"""The columns of a catalog beside the sensitive one."""

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
    [
        ("group_label", pa.string()),
        ("group_start", pa.float64()),
        ("truth", pa.float64()),
        ("answer", pa.float64()),
    ]
)


@exclusive
def query_errors(
    session: Session,
    original: Source,
    released: Source,
    workload: Iterable[GroupQuery],
    *,
    without_masked: Sequence[str] = (),
    catalog: Source | None = None,
) -> pa.Table:
    """How wrong the answers from a release are, a row per query.

    What a label stands for is taken to be spread evenly over the values under it: a row counts for a group, and for a
    condition, with their share of these values, and with the midpoint of its label where it is averaged. Counterfeit
    rows count like any other; with a catalog every row counts with the probability that it is true. The errors are
    measured on the original: they are no part of what a differentially private release promises, and publishing them
    would break the promise.

    Args:
        session: where both tables and the taxonomies of generalized columns are.
        original: the table with the true answers.
        released: its release.
        workload: the queries.
        without_masked: the quasi-identifiers of the release, to leave rows with ``*`` in all of them out; otherwise
            these are spread over the whole domain.
        catalog: the second table of a release with counterfeits, which counts them.

    Returns:
        a table with columns query (in words, without values), group_count (groups of either table), unanswered_groups
        (with a true average and none from the release), unknown_groups (the reverse; both are left out of the errors),
        mean_absolute_error and root_mean_square_error in the unit of the answers, mean_relative_error over the groups
        with a true answer above 0, and total_relative_error, the sum of the absolute errors over the sum of the truth.
        Errors are NULL where there is nothing to divide by.

    Raises:
        PolicyError: the workload has no query, or a table lacks a column; all are listed.
        EngineError: a column that is to be numbers has other values, or its taxonomy lacks a label of the release; the
            catalog is not that of the release; or the database refused a step.

    Source: Lee et al. 2017, query error rate; Lee and Chung 2020, tables 9 to 12.
    """
    queries = list(workload)
    if not queries:
        raise PolicyError("a workload needs at least one query")
    with _prepared(session, original, released, queries, without_masked, catalog) as (engine, tables):
        rows = [
            {"query": str(query), **found}
            for query in queries
            for found in engine.fetch(taxonomies.at(errors(tables, query), engine.taxonomy), str(query))
        ]
    return pa.Table.from_pylist(rows, schema=ERRORS)


@exclusive
def query_answers(
    session: Session,
    original: Source,
    released: Source,
    query: GroupQuery,
    *,
    without_masked: Sequence[str] = (),
    catalog: Source | None = None,
) -> pa.Table:
    """The answers to one query from an original and from its release, a row per group; see :func:`query_errors`.

    Returns:
        a table with columns group_label (the interval or value), group_start (where the interval starts; NULL without
        a width), truth and answer, in the order of the groups. It has true answers: keep it like the original.

    Raises:
        PolicyError, EngineError: as :func:`query_errors`.
    """
    with _prepared(session, original, released, [query], without_masked, catalog) as (engine, tables):
        found = engine.fetch(taxonomies.at(compared(tables, query), engine.taxonomy), str(query))
    return pa.Table.from_pylist(found, schema=ANSWERS)


@contextmanager
def _prepared(
    session: Session,
    original: Source,
    released: Source,
    queries: Sequence[GroupQuery],
    without_masked: Sequence[str],
    catalog: Source | None,
) -> Iterator[tuple[Engine, Tables]]:
    """The engine of a session, and all tables if they have the columns that the queries read.

    Raises:
        PolicyError: a table lacks columns; all are listed.
    """
    engine: Engine = session._engine
    true, shown = session._opened.resolve(original), session._opened.resolve(released)
    read = list(dict.fromkeys(name for query in queries for name in query.columns))
    problems = [*_missing(engine, true, read), *_missing(engine, shown, list(dict.fromkeys([*read, *without_masked])))]
    listed = None if catalog is None else session._opened.resolve(catalog)
    sensitive = "" if listed is None else sensitive_column(engine, listed)
    problems += [] if listed is None else _missing(engine, shown, [CLASS_ID, sensitive])
    if problems:
        raise PolicyError("the queries cannot be asked:", problems)
    if not engine.find(engine.taxonomy):
        engine.prepare_taxonomies()
    tables = Tables(true.relation, shown.relation, tuple(without_masked))
    with engine.transaction(), engine.scratch():
        if listed is not None:
            engine.run(weighted(shown.relation, listed.relation, sensitive))
            tables = replace(tables, released=WEIGHTED.table, is_weighted=True)
        yield engine, tables


def sensitive_column(engine: Compute, catalog: ResolvedSource) -> str:
    """The sensitive column of a catalog: the one beside its own columns.

    Raises:
        PolicyError: the table is not a catalog.
    """
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


ROWS = "anon_rows"
CHANCE = "anon_chance"
"""The column with the probability that a released row is true and meets all conditions."""
MASK = "*"
"""What stands in every quasi-identifier of a masked row."""
TRUTH = "anon_truth"
"""The column of ``anon.row_truths``."""
WEIGHTED = Relation("anon_weighted_rows", "row")
"""The rows of a release with the column :data:`TRUTH`, made once for all queries."""


@dataclass(frozen=True)
class Tables:
    """What is asked: an original and its release, whose rows with a mask in all of some columns are left out.

    Attributes:
        original: the table with the true answers.
        released: its release.
        masked_by: the columns that masked rows have a mask in.
        is_weighted: whether the release has the column :data:`TRUTH`.
    """

    original: exp.Expr
    released: exp.Expr
    masked_by: tuple[str, ...] = ()
    is_weighted: bool = False


def weighted(released: exp.Expr, catalog: exp.Expr, sensitive: str) -> Step:
    """The step that makes :data:`WEIGHTED` of a release, its catalog and the sensitive column of both."""
    return Step(WEIGHTED, table_call("row_truths", released, catalog, string(sensitive)), "the truth of rows")


def errors(tables: Tables, query: GroupQuery) -> exp.Query:
    """One row: ``anon.answer_errors``."""
    return table_call("answer_errors", *_answers(tables, query), _without_row(query))


def compared(tables: Tables, query: GroupQuery) -> exp.Query:
    """A row per group, in order: ``anon.compared_answers``."""
    rows = table_call("compared_answers", *_answers(tables, query), _without_row(query))
    return Queries("evaluation").query("ordered_answers", answers=rows)


def _without_row(query: GroupQuery) -> exp.Expr:
    """The answer for a group without rows: its count is 0, and its average is undefined."""
    return double(0) if query.averaged is None else exp.null()


def _answers(tables: Tables, query: GroupQuery) -> tuple[exp.Subquery, exp.Subquery]:
    kind = "counts" if query.averaged is None else "averages"
    true = table_call(f"grouped_{kind}", _true_rows(tables, query), *_asked(query))
    chances = _chances(tables, query)
    estimated = table_call(f"estimated_{kind}", chances, *_asked(query), string(CHANCE))
    return subquery(true, "anon_truth"), subquery(estimated, "anon_estimate")


def _asked(query: GroupQuery) -> list[exp.Expr]:
    width = exp.null() if query.width is None else exp.convert(query.width)
    return [string(query.column), width, *([] if query.averaged is None else [string(query.averaged)])]


def _true_rows(tables: Tables, query: GroupQuery) -> exp.Subquery:
    """The rows of the original that meet the conditions."""
    rows = select(_read(query), _named(tables.original))
    conditions = [same(text(column(name, ROWS)), _value(value)) for name, value in query.where.items()]
    return subquery(rows.where(all_of(conditions), copy=False), "anon_true_rows")


def _chances(tables: Tables, query: GroupQuery) -> exp.Subquery:
    """The rows of the release that may meet the conditions, with the probability that they do and are true."""
    released = _unmasked(tables)
    shares: list[exp.Expr] = [column(TRUTH, ROWS)] if tables.is_weighted else []
    joined = select([], _named(released))
    for place, (name, value) in enumerate(query.where.items()):
        condition = f"anon_condition_{place}"
        spread = table_call("spread_labels", released.copy(), string(name))
        meeting = Queries("evaluation").query("shares_of_value", spread=spread, value=_value(value))
        is_shown = same(column("label", condition), text(column(name, ROWS)))
        joined.join(subquery(meeting, condition), on=is_shown, join_type="inner", copy=False)
        shares.append(column("share", condition))
    joined.set("expressions", [*_read(query), aliased(_product(shares), CHANCE)])
    return subquery(joined, "anon_chances")


def _unmasked(tables: Tables) -> exp.Expr:
    if not tables.masked_by:
        return tables.released
    masked = all_of([same(text(column(name)), string(MASK)) for name in tables.masked_by])
    return subquery(select([exp.Star()], tables.released.copy()).where(exp.not_(masked), copy=False), "anon_unmasked")


def _named(table: exp.Expr) -> exp.Expr:
    """The table under a name of its own, so that no alias beside a column can be taken for it."""
    return exp.alias_(table.copy(), ROWS, table=True)


def _read(query: GroupQuery) -> list[exp.Expr]:
    """The columns to group by and to average."""
    names: Sequence[str | None] = (query.column, query.averaged)
    return [aliased(column(name, ROWS), name) for name in dict.fromkeys(names) if name is not None]


def _product(shares: Iterable[exp.Expr]) -> exp.Expr:
    return reduce(lambda left, right: exp.Mul(this=left, expression=right), shares, double(1))


def _value(value: str | int | None) -> exp.Expr:
    return exp.null() if value is None else string(str(value))
