"""What is wrong with the rows of taxonomies, in terms of what they are made by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlanon.binding.staging import STAGED, TaxonomyLoad
from sqlanon.binding.taxonomies import described
from sqlanon.engines.base import Compute
from sqlanon.errors import TaxonomyError
from sqlanon.model.taxonomy.groups import counted
from sqlanon.model.taxonomy.taxonomy import Taxonomy
from sqlanon.queries.tables import taxonomies

HIGHEST_LEVEL = 255
"""Far beyond any taxonomy; a number above it is a mistake, and expensive to check."""

Refused = dict[str, TaxonomyError]
"""Why taxonomies are refused, by attribute."""

OF_COLUMNS = {
    "several labels": 'with several values of "{above}"',
    "missing level": 'with no value of "{above}"',
    "empty label": 'with an empty text in "{above}"',
    "not nested": 'with several values of "{above}"',
}
"""What is wrong with a taxonomy of columns, where a value must stand with one value of each coarser column."""


def malformed(engine: Compute, wanted: Sequence[TaxonomyLoad]) -> Refused:
    """What is wrong with the taxonomies that are staged."""
    counts = engine.fetch(taxonomies.level_counts(STAGED.table, HIGHEST_LEVEL), "check a taxonomy")
    wrong_levels = {str(row["attribute"]): int(row["wrong_levels"]) for row in counts}
    # Of those with levels from 0 alone: levels are counted up from 0.
    others = [name for name, wrong in wrong_levels.items() if not wrong]
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in engine.fetch(taxonomies.problems(STAGED.table, others), "check a taxonomy") if others else ():
        found.setdefault(str(row["attribute"]), []).append(row)
    refused = {}
    for each in wanted:
        if each.attribute not in wrong_levels:
            problems = ["it has no values"]
        elif wrong := wrong_levels[each.attribute]:
            problems = [f"{wrong:,} rows whose level is not a whole number from 0 to {HIGHEST_LEVEL}"]
        else:
            problems = _problems(engine, each, found.get(each.attribute, []))
        if problems:
            refused[each.attribute] = TaxonomyError(_heading(each.attribute, each.taxonomy), problems)
    return refused


def _heading(attribute: str, taxonomy: Taxonomy) -> str:
    name = f'the taxonomy of "{attribute}" from {taxonomy.origin}'
    if taxonomy.coarser is None:
        return f"{name} is malformed:"
    return (
        f"{name} cannot be made, since each value must stand with one value of every column; correct the rows in a "
        "view or a query, or make values distinct there, as by concat(state, ', ', county):"
    )


def _problems(engine: Compute, wanted: TaxonomyLoad, found: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line per problem of one taxonomy, given rows of ``anon.taxonomy_problems``."""
    taxonomy = wanted.taxonomy
    if taxonomy.coarser is not None:
        return [_of_columns((wanted.name, *taxonomy.coarser), row) for row in found]
    if taxonomy.rules and any(row["problem"] == "empty label" for row in found):
        # Of one level alone: a rule that does not apply to a value applies to it at none.
        return [_without_label(engine, wanted.attribute, taxonomy.rules[0].takes)]
    return [described(row) for row in found]


def _of_columns(columns: Sequence[str], row: Mapping[str, Any]) -> str:
    problem, depth = str(row["problem"]), int(row["level"])
    if problem not in OF_COLUMNS:
        return described(row)
    below, above = (columns[depth], columns[depth + 1]) if problem == "not nested" else (columns[0], columns[depth])
    stands = "stands" if row["problem_count"] == 1 else "stand"
    return f'{counted(row["problem_count"], "value")} of "{below}" {stands} {OF_COLUMNS[problem].format(above=above)}'


def _without_label(engine: Compute, attribute: str, takes: str) -> str:
    """Which values a rule has no label for, counted: numbers with a decimal comma are a common mistake."""
    [counts] = engine.fetch(taxonomies.values_without_rule(STAGED.table, attribute), "check a taxonomy")
    problem = f'"{attribute}" has {counted(counts["value_count"], "value")} other than {takes}, which get no label'
    if not counts["comma_count"] or takes != "numbers":
        return problem
    return (
        f"{problem}: {counts['comma_count']:,} with a decimal comma; write a decimal point in its place, as by "
        "replace(value, ',', '.') in a view or a query"
    )
