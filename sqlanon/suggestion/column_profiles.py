"""Profile the columns of a source: counts of values and histograms, without values that few rows have."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlglot import exp

from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.model.names import folded, speller
from sqlanon.model.policy_value import unknown_names
from sqlanon.model.release.profiles import ColumnProfile, FrequentValue, Histogram, SourceProfile
from sqlanon.queries import suggestions, value_counts
from sqlanon.queries.source import SourceColumn
from sqlanon.report.document import printable

MAX_SHOWN_VALUES = 4  # values that a profile shows, at most


def profile(
    engine: Engine, source: ResolvedSource, columns: Sequence[str] | None, *, least: int, hidden: Collection[str]
) -> SourceProfile:
    if least < 1:
        raise PolicyError(f"least is a number of rows, 1 or more, not {least}")
    known = {found.name: found for found in engine.describe(source.relation)}
    spell = speller([*known])
    wanted = [*known] if columns is None else [*map(spell, columns)]
    unknown = unknown_names([*wanted, *map(spell, hidden)], known)
    if problems := [f'column "{name}" is not there{meant}' for name, meant in unknown]:
        raise PolicyError(f"{source.description} cannot be profiled:", problems)
    hides = {*map(folded, hidden)}
    with engine.scratch():
        relation = source.relation
        # Tables and Parquet files are read by column; anything else would be read whole for each column.
        is_by_column = (source.csv is None and bool(source.dataset or source.files)) or engine.is_far(relation)
        if len(wanted) > 1 and not is_by_column:
            step = suggestions.copied(relation)
            engine.run(step)
            relation = step.makes.table
        profiles = [_profile(engine, relation, known[name], least, is_hidden=folded(name) in hides) for name in wanted]
    return SourceProfile(source=source.description, least=least, columns=tuple(profiles))


def _profile(engine: Engine, relation: exp.Expr, found: SourceColumn, least: int, *, is_hidden: bool) -> ColumnProfile:
    engine.run(value_counts.counted_values(relation, found))
    [figures] = engine.fetch(value_counts.value_figures(least, MAX_SHOWN_VALUES), f"figures of {found.name}")
    binned = value_counts.histogram(found)
    bins = [] if binned is None else engine.fetch(binned, f"a histogram of {found.name}")
    engine.drop(value_counts.COUNTS)
    histogram = None
    if bins:
        edges = None if is_hidden else tuple(each["edge"] for each in bins)
        histogram = Histogram(edges=edges, rows=tuple(each["row_count"] for each in bins[:-1]))
    frequent = [] if is_hidden else figures["frequent"]
    return ColumnProfile(
        name=found.name,
        type=found.type,
        rows=figures["row_count"],
        missing=figures["missing_rows"],
        values=figures["value_count"],
        histogram=histogram,
        frequencies=() if bins else tuple(figures["frequencies"]),
        frequent=tuple(FrequentValue(value=printable(each["value"]), rows=each["rows"]) for each in frequent),
        rare_rows=figures["rare_rows"],
        is_hidden=is_hidden,
    )
