"""Read numbers and days in texts of CSV files as a policy needs them, and clip numbers to public bounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError, TaxonomyError
from sqlanon.model.names import CSV_SUFFIXES, folded
from sqlanon.model.policy.policy import Policy
from sqlanon.model.policy.policy_parts import Csv
from sqlanon.queries.kit.macros import scalar_call
from sqlanon.queries.kit.nodes import (
    aliased,
    all_of,
    cast,
    column,
    count_rows,
    filtered,
    number,
    same,
    select,
    string,
    try_cast,
)
from sqlanon.queries.source import (
    SourceColumn,
    counted_numbers,
    future_days,
    in_century,
    number_of,
    typed,
    written_days,
)

Bounds = tuple[int | float | None, int | float | None]  # the bottom and the top of a column; None for no bound
DAY_ORDERS = ("dmy", "mdy")  # whether day or month comes first if the year comes last

GUESSED = (
    "{}: DuckDB guesses types from the first rows, so that 02139 may be 2139, and 250.10 and 250.1 one code; name the "
    "CSV file itself, or read it with all_varchar = true"
)
"""The note on a query whose types were guessed from some rows."""

MAX_READ = 12  # the maximum number of columns whose types a run lists as read


def coded(engine: Compute, source: ResolvedSource, policy: Policy) -> ResolvedSource:
    source = with_written_values(engine, source, policy)
    if not policy.coded_columns:
        return source
    columns = engine.describe(source.relation)
    bounds = _bounds(policy, (found.name for found in columns))
    if problems := [*_misfits(engine, columns, bounds)]:
        raise PolicyError(f"top and bottom coding do not fit {source.description}:", problems)
    if not bounds:
        return source
    types = {found.name: found.type for found in columns}
    values = {name: cast(_in_bounds(name, of_column), types[name]) for name, of_column in bounds.items()}
    return replace(source, relation=typed(source.relation, values, "anon_coded"))


def beyond_bounds(engine: Compute, relation: exp.Expr, policy: Policy, columns: Iterable[str]) -> Iterator[str]:
    bounds = _bounds(policy, columns)
    if not bounds:
        return
    counts = [
        aliased(filtered(count_rows(), exp.not_(same(_in_bounds(name, of_column), column(name)))), f"beyond_{place}")
        for place, (name, of_column) in enumerate(bounds.items())
    ]
    found = engine.fetch(select(counts, relation.copy()), "values beyond their bounds")[0]
    for place, name in enumerate(bounds):
        if found[f"beyond_{place}"]:
            yield f'"{name}" has {found[f"beyond_{place}"]:,} values beyond its bounds (bottom_coding, top_coding)'


def _bounds(policy: Policy, columns: Iterable[str]) -> dict[str, Bounds]:
    spelled = {folded(name): name for name in policy.coded_columns}
    named = {name: spelled[folded(name)] for name in columns if folded(name) in spelled}
    return {name: (policy.bottom_coding.get(own), policy.top_coding.get(own)) for name, own in named.items()}


def _misfits(engine: Compute, columns: Iterable[SourceColumn], bounds: Mapping[str, Bounds]) -> Iterator[str]:
    numbers = {}
    for each in (each for each in columns if each.name in bounds):
        if each.traits.is_number:
            numbers[each.name] = each
        else:
            yield each.no_number
    # A floating-point type holds every bound closely enough.
    exact = {name: each.type for name, each in numbers.items() if not each.traits.is_float}
    if not exact:
        return
    fits = []
    for place, (name, type_name) in enumerate(exact.items()):
        given = (number(bound) for bound in bounds[name] if bound is not None)
        held = [same(try_cast(bound, type_name), bound.copy()) for bound in given]
        fits.append(aliased(all_of(held), f"fits_{place}"))
    found = engine.fetch(exp.select(*fits, copy=False), "bounds of columns")[0]
    for place, (name, type_name) in enumerate(exact.items()):
        if not found[f"fits_{place}"]:
            yield f'"{name}" is of type {type_name}, which does not hold its bounds as they are written'


def with_numbers(engine: Compute, source: ResolvedSource, names: Iterable[str | None]) -> ResolvedSource:
    """Read texts of some columns of CSV files as numbers, which are spelled in several ways there; refuse others."""
    read = _numbers(engine, source, _texts(engine, source), names)
    return replace(source, relation=typed(source.relation, read)) if read else source


def with_written_values(engine: Compute, source: ResolvedSource, policy: Policy) -> ResolvedSource:
    """Read texts of CSV files that the policy takes as numbers or days: 27.0 and 027 as 27, 31.1.2020 as 2020-01-31.

    Other texts stay, and no taxonomy has them. Weights and bounded columns become numbers for good, since no release
    shows their spelling.
    """
    if not (texts := _texts(engine, source)):
        return source
    numbers = _numbers(engine, source, texts, (policy.row_weight, *policy.coded_columns))
    # Texts must not all be numbers where their order matters: 10 sorts before 9.
    ordered = _counted(engine, source, _of(texts, policy.compared_by("ordered")))
    if problems := [f'"{name}"' for name, (all_numbers, others) in ordered.items() if all_numbers and not others]:
        raise PolicyError(
            f"ordered distances of {source.description} need numbers, which are spelled in several ways in the file "
            "(0.4, 1) and are texts therefore; cast the columns to DOUBLE in a query:",
            problems,
        )
    labelled = {texts[folded(name)]: _taken_by(policy, name) for name in policy.taxonomies if folded(name) in texts}
    read = {name: scalar_call("number_as_text", column(name)) for name, taken in labelled.items() if "numbers" in taken}
    read |= numbers
    settings = policy.csv or Csv()
    dated = _day_orders(engine, source, [name for name, taken in labelled.items() if "dates" in taken], settings)
    read |= {
        name: scalar_call("day_as_text", in_century(column(name), settings.century), string(order))
        for name, order in dated.items()
    }
    return replace(source, relation=typed(source.relation, read)) if read else source


def notes_on_years(engine: Compute, source: ResolvedSource, policy: Policy) -> tuple[str, ...]:
    """Note each column of a CSV file whose two-digit years mostly lie in the future."""
    if policy.csv is None or policy.csv.century is None or source.csv is None:
        return ()
    read = with_written_values(engine, source, policy).relation
    labelled = {folded(name) for name in policy.taxonomies}
    names = [found.name for found in engine.describe(read) if found.traits.is_date or folded(found.name) in labelled]
    if not names:
        return ()
    counts = engine.fetch(future_days(read, names), "days in the future")[0]
    return tuple(
        f'"{name}" has {future:,} of {counts[f"days_{place}"]:,} days in the future: [csv] century = '
        f"{policy.csv.century} may be too late for its years of two digits"
        for place, name in enumerate(names)
        if 2 * (future := counts[f"future_{place}"]) > counts[f"days_{place}"]
    )


def notes_on_reading(source: ResolvedSource) -> tuple[str, ...]:
    """Note how CSV files were read; the note stays with the custodian, since it depends on all rows."""
    if guessed := [
        name for name in source.guessed if name.startswith("read_csv") or name.lower().endswith(CSV_SUFFIXES)
    ]:
        return (GUESSED.format(", ".join(guessed)),)
    form, *columns = source.read_as or ("",)
    left = len(columns) - MAX_READ
    shown = [*columns[:MAX_READ], f"and {left:,} more columns"] if left > 0 else columns
    return (f"read as {form}: {', '.join(shown)}",) if form else ()


def refuse_texts(engine: Compute, source: ResolvedSource, names: Sequence[str]) -> None:
    others = {name: others for name, (_, others) in _counted(engine, source, names).items() if others}
    if others:
        raise PolicyError(
            f"{source.description} has texts where numbers are needed; convert them to numbers or NULL in a query:",
            [f'"{name}": {count:,} {"text" if count == 1 else "texts"}' for name, count in others.items()],
        )


def _counted(engine: Compute, source: ResolvedSource, names: Sequence[str]) -> dict[str, tuple[int, int]]:
    if not names:
        return {}
    found = engine.fetch(counted_numbers(source.relation, names), "texts that are numbers")[0]
    return {name: (found[f"numbers_{place}"], found[f"others_{place}"]) for place, name in enumerate(names)}


def _texts(engine: Compute, source: ResolvedSource) -> dict[str, str]:
    """Return the columns of texts of CSV files by their folded names; none of other sources."""
    if not source.files or not source.files[0].lower().endswith(CSV_SUFFIXES):
        return {}
    return {folded(found.name): found.name for found in engine.describe(source.relation) if found.traits.is_text}


def _numbers(
    engine: Compute, source: ResolvedSource, texts: Mapping[str, str], names: Iterable[str | None]
) -> dict[str, exp.Expr]:
    """Return columns of texts as numbers; refuse other texts."""
    numbers = _of(texts, names)
    refuse_texts(engine, source, numbers)
    return {name: number_of(name) for name in numbers}


def _of(texts: Mapping[str, str], names: Iterable[str | None]) -> list[str]:
    return [texts[folded(name)] for name in names if name is not None and folded(name) in texts]


def _taken_by(policy: Policy, name: str) -> set[str]:
    try:
        return {rule.takes for rule in policy.taxonomies[name].taxonomy().rules or ()}
    except TaxonomyError:
        return set()  # the load reports it


def _day_orders(engine: Compute, source: ResolvedSource, names: Sequence[str], settings: Csv) -> dict[str, str]:
    """Find out whether day or month comes first in columns with days; refuse those where both fit equally."""
    if not names or settings.dates:
        return dict.fromkeys(names, str(settings.dates))
    asked = written_days(source.relation, names, DAY_ORDERS, settings.century)
    found = engine.fetch(asked, "orders of days")[0]
    counts = {name: {order: found[f"{order}_{place}"] for order in DAY_ORDERS} for place, name in enumerate(names)}
    unclear = [
        f'"{name}"'
        for place, (name, of_orders) in enumerate(counts.items())
        if found[f"two_{place}"] and len({*of_orders.values()}) == 1
    ]
    if unclear:
        raise PolicyError(
            f"days of {source.description} can be read in two ways, since none is above the 12th: say "
            '[csv] dates = "dmy" or "mdy" (--csv dates=dmy):',
            unclear,
        )
    return {name: max(DAY_ORDERS, key=of_orders.__getitem__) for name, of_orders in counts.items()}


def _in_bounds(name: str, bounds: Bounds) -> exp.Expr:
    value: exp.Expr = column(name)
    for macro, bound in zip(("bottom_coded", "top_coded"), bounds, strict=True):
        if bound is not None:
            value = scalar_call(macro, value, number(bound))
    return value
