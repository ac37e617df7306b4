"""Errors on values without a label: their counts by column, and the query that lists them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.engines import paths
from sqlanon.engines.duckdb import Compute, Engine
from sqlanon.errors import PolicyError, TaxonomyError
from sqlanon.model.names import counted, folded
from sqlanon.model.taxonomy.arguments import DateRange, IntegerRange
from sqlanon.model.taxonomy.taxonomy import Taxonomy
from sqlanon.queries import taxonomies
from sqlanon.queries.kit.nodes import DIALECT, cast, column, identifier
from sqlanon.queries.source import Taxonomies, with_spellings

MAX_QUERY_CHARACTERS = 20_000  # length of a query in a message; one over many files is longer
MAX_SHOWN_VALUES = 10
MAX_SHOWN_CHARACTERS = 100

Known = Mapping[str, exp.Query | None]  # by attribute, a query of its taxonomy's values that users can run, if any


def known_values(engine: Engine, attributes: Sequence[str], types: Mapping[str, str]) -> Known:
    """Select the values of taxonomies as users can query them after the run.

    ``types`` are the types of columns with numbers that need not be integers.
    """
    place = engine.taxonomy
    file = next((each.file for each in engine.databases() if each.name == place.catalog), None)
    is_in_warehouse = file is not None and place.catalog == engine.warehouse.name
    made_by = {} if is_in_warehouse else engine.made_by
    stored = exp.Table(this=identifier("taxonomy"), db=identifier("anon"))  # for whoever has opened the warehouse
    known = {}
    for name in attributes:
        query: exp.Query | None
        if file is not None and place.db != "anon":
            query = taxonomies.values_of_fit(str(file), name)
        elif name in made_by:
            query = values_made_by(made_by[name].taxonomy)
        else:
            query = taxonomies.values_of(stored, name)
        known[name] = with_spellings(query, types[name]) if query is not None and name in types else query
    return known


def values_made_by(taxonomy: Taxonomy) -> exp.Query | None:
    """Select the values of a taxonomy from its file or range; None for a list, which the policy spells out."""
    if taxonomy.file is not None:
        return taxonomies.values_in_file(paths.escaped(taxonomy.file), taxonomy.delimiter)
    match taxonomy.values:
        case IntegerRange() as numbers:
            return taxonomies.integers(numbers)
        case DateRange() as dates:
            return taxonomies.days(dates)
    return None


# More than six parameters: the relations, the compared values, and how to describe both.
def unknown_values(
    engine: Compute,
    description: str,
    relations: Mapping[str, exp.Expr],
    taxonomy: Taxonomies,
    known: Known,
    rows: int | None = None,
    actions: str = "suppress the rows, or label the values at the top",
) -> TaxonomyError:
    """Make the error on values without a label.

    ``relations`` are the columns that may have such values; ``rows`` is how many rows have some, if known from
    elsewhere; ``actions`` are those that a policy may have.
    """
    problems = [
        problem
        for name, relation in relations.items()
        if (problem := unknown_in(engine, relation, name, taxonomies.values_of(taxonomy, name), known.get(name)))
    ]
    if not problems:
        problems = [
            f'"{name}" may have some of the values without a label, which are in {rows or 0:,} rows; list all of its '
            f"values by {_printed(engine, relation, name, None)}"
            for name, relation in relations.items()
        ]
    place = "where the rows are" if any(map(engine.is_far, relations.values())) else "in a query"
    return TaxonomyError(
        f"{description} has values that their taxonomy does not have. Values are compared as text: check spelling, "
        f"white space and type. Declared ranges have whole numbers or days: round other numbers {place}. Or have "
        f"`unknown` in the policy {actions}:",
        problems,
    )


# More than six parameters: the counted values, the labelled ones, and their public query.
def unknown_in(
    engine: Compute, source: exp.Expr, name: str, labelled: exp.Query, known: exp.Query | None, attribute: str = ""
) -> str | None:
    """Count the values of a column without a label, and give the query that lists them; None if there are none.

    ``known`` selects the ``labelled`` values for users; the ``attribute`` defaults to the column's name.
    """
    listed = taxonomies.values_without_label(source, name, labelled)
    [counts] = engine.fetch(taxonomies.SQL.query("count_of", listed=listed), "values without a label")
    value_count, row_count = int(counts["value_count"]), int(counts["row_count"])
    if not value_count:
        return None
    found = f"{counted(value_count, 'distinct value')} in {counted(row_count, 'row')}"
    shown = f" ({_shown(engine, listed, value_count)})" if engine.shows_values else ""
    days = _days_of_times(engine, source, name)
    if engine.shows_values and value_count <= MAX_SHOWN_VALUES:
        return f'"{attribute or name}": {found}{shown}{days}'
    known = None if engine.is_far(source) else known
    others = "" if known is not None else " among all others, which the taxonomy has,"
    return f'"{attribute or name}": {found}{shown}{days}; list them{others} by {_printed(engine, source, name, known)}'


def _days_of_times(engine: Compute, relation: exp.Expr, name: str) -> str:
    """Give the query that reads timestamps as days; nothing for other columns."""
    types = {folded(found.name): found.type for found in engine.describe(relation)}
    if not types.get(folded(name), "").startswith("TIMESTAMP"):
        return ""
    if engine.is_far(relation):
        return "; for days in place of times, make dates of them where the rows are"
    if _has_frame(relation):
        return "; for days in place of times, make dates of them in the frame"
    day = exp.alias_(cast(column(name), "DATE"), name, quoted=True)
    query = exp.select(exp.Star(replace=[day])).from_(relation.copy()).sql(DIALECT)
    return "" if len(query) > MAX_QUERY_CHARACTERS else f"; for days in place of times, take the source {query}"


def _shown(engine: Compute, listed: exp.Select, value_count: int) -> str:
    found = engine.fetch(listed.copy().limit(MAX_SHOWN_VALUES), "values without a label")
    shown = [f'"{_cut(str(row["value"]))}" in {counted(int(row["rows"]), "row")}' for row in found]
    others = value_count - len(found)
    return ", ".join([*shown, *([f"and {others:,} more"] if others else [])])


def _cut(value: str) -> str:
    return value if len(value) <= MAX_SHOWN_CHARACTERS else f"{value[:MAX_SHOWN_CHARACTERS]}..."


def _printed(engine: Compute, source: exp.Expr, name: str, known: exp.Query | None) -> str:
    """Write the query that lists values.

    It reads ``the_source`` in place of many files, or of a frame or tables of perturbed values, whose names only exist
    during the run. A server that has the rows has no labels: all values are listed there.
    """
    if engine.is_far(source):
        return engine.spelled(taxonomies.values_with_rows(source, name))
    kind = next(found.type for found in engine.describe(source) if folded(found.name) == folded(name))

    def listing(relation: exp.Expr) -> str:
        if kind.endswith("]"):  # DuckDB 1.5 cannot coalesce its arrays
            return taxonomies.values_without_label(relation, name, known).sql(DIALECT)
        return taxonomies.values_to_list(relation, name, known, kind).sql(DIALECT)

    query, the_source = listing(source), exp.to_table("the_source")
    frames = sum(map(_is_frame, source.find_all(exp.Table)))
    if len(query) > MAX_QUERY_CHARACTERS or frames > 1:
        return listing(the_source)
    if frames:
        return listing(source.copy().transform(lambda node: the_source.copy() if _is_frame(node) else node))
    return query


def _has_frame(source: exp.Expr) -> bool:
    return any(map(_is_frame, source.find_all(exp.Table)))


def _is_frame(node: exp.Expr) -> bool:
    return isinstance(node, exp.Table) and node.catalog == "temp"


def refuse_unlabelled(engine: Compute, description: str, query: exp.Query, release: str) -> None:
    """Refuse a source with values that have no label in a release's cut; ``query`` counts their rows by column."""
    rows = engine.fetch(query, "values without a label")
    counts: Mapping[str, int] = {row["attribute"]: int(row["row_count"]) for row in rows}
    if problems := [f'"{name}": {count:,} rows' for name, count in counts.items() if count]:
        raise PolicyError(
            f"values of {description} have no label in the cut of {release}; values are compared as text, so check "
            "spelling, white space and type:",
            problems,
        )
