"""The risk of a sample in its population, over classes that are counted once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from sqlanon.binding.coding import with_numbers
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.model.names import counted, folded, speller
from sqlanon.model.policy.policy_parts import as_number
from sqlanon.model.policy_value import unknown_names
from sqlanon.model.release.sample_risk import (
    HouseholdRisk,
    KeyContribution,
    PopulationUniques,
    RiskBand,
    SampleRisk,
    SpecialSize,
    SpecialUniques,
)
from sqlanon.queries import sample_risks as queries
from sqlanon.queries.kit.nodes import counted_rows
from sqlanon.queries.source import SourceColumn

MAX_SETS = 4096  # of keys, as anon.suda has it
MAX_BITS = 125  # of the values of all keys, in the same way
MAX_PATTERNS = 64  # of keys that are NULL, as anon.matched_sizes has it
MAX_PEOPLE = 10**15  # for whom the estimates of unique people have digits


@dataclass(frozen=True)
class SampleQuestion:
    """What is asked of a sample."""

    keys: Sequence[str]
    weight: str | None = None
    household: str | None = None
    population: float | None = None
    at_most: float | None = None
    max_size: int | None = None
    nulls: str = "value"


def sample_risk(engine: Engine, source: ResolvedSource, asked: SampleQuestion) -> SampleRisk:
    _refuse(source, _wrong_types(asked))
    source = with_numbers(engine, source, [asked.weight])
    columns = {found.name: found for found in engine.describe(source.relation)}
    asked = _spelled(asked, columns)
    problems = [*_wrong_numbers(asked), *_wrong_columns(asked, columns)]
    if engine.is_far(source.relation):
        problems.append("its rows are not in the database: copy them there")
    _refuse(source, problems)
    keys = queries.key_names(asked.keys)
    with engine.scratch():
        rows = _read(engine, source, asked)
        found = engine.fetch(queries.SQL.query("weights", source=rows), "look at the weights")[0]
        # NULL, NaN and the like have no least or greatest weight.
        _refuse(source, _wrong_weights(asked, found))
        _refuse(source, _wrong_classes(engine, rows, keys, asked, found))
        engine.run(queries.cells(rows, keys, asked.nulls))
        sums = engine.fetch(queries.bracket(), "the bracket")[0]
        notes = [*_notes(asked, found)]
        return SampleRisk(
            source=source.description,
            keys=tuple(asked.keys),
            weight=asked.weight,
            **{name: value for name, value in sums.items() if name in SampleRisk.model_fields},
            correct_match=_correct_match(engine, sums, found, notes),
            weight_ratio=found["greatest"] / found["least"] if found["row_count"] else None,
            uniques=_uniques(engine, asked, sums["population_size"]),
            bands=tuple(RiskBand(**band) for band in engine.fetch(queries.SQL.query("bands"), "rows by their risk")),
            special=_special(engine, asked, keys, notes),
            households=None if asked.household is None else _households(engine, rows, keys, notes),
            at_most=asked.at_most,
            notes=tuple(notes),
        )


def _spelled(asked: SampleQuestion, columns: dict[str, SourceColumn]) -> SampleQuestion:
    spell = speller(columns)
    weight, household = (None if name is None else spell(name) for name in (asked.weight, asked.household))
    return replace(asked, keys=[*map(spell, asked.keys)], weight=weight, household=household)


def _refuse(source: ResolvedSource, problems: Iterable[str]) -> None:
    if found := [*problems]:
        raise PolicyError(f"the risk of {source.description} cannot be measured:", found).with_guide("survey-data")


def _wrong_types(asked: SampleQuestion) -> Iterator[str]:
    named = {"weight": [asked.weight], "household": [asked.household], "keys": asked.keys}
    for name, columns in named.items():
        if not all(column is None or isinstance(column, str) for column in columns):
            yield f"{name}: give names of columns, as texts"
    numbers = {"population": asked.population, "at_most": asked.at_most, "max_size": asked.max_size}
    for name, value in numbers.items():
        if not isinstance(value, int | float | None):
            yield f"{name}: give a number"


def _wrong_numbers(asked: SampleQuestion) -> Iterator[str]:
    population, at_most = asked.population, asked.at_most
    if population is not None and not 1 <= population <= MAX_PEOPLE:
        yield f"population is a number of people from 1 to {MAX_PEOPLE:,}, not {population:g}"
    if at_most is not None and not 0 <= at_most <= 1:
        yield f"at_most is a share of the rows from 0 to 1, not {at_most:g}"
    if asked.nulls not in ("value", "any"):
        yield f'nulls is "value" or "any", not "{asked.nulls}"'
    if asked.max_size is not None and asked.max_size < 1:
        yield f"max_size is a number of keys, 1 or more, not {asked.max_size}"
    elif asked.max_size is not None and _sets(len(asked.keys), asked.max_size) > MAX_SETS:
        yield f"the keys have more than {MAX_SETS:,} sets of up to {asked.max_size}: take a smaller max_size"


def _wrong_columns(asked: SampleQuestion, columns: dict[str, SourceColumn]) -> Iterator[str]:
    if not asked.keys:
        yield "no keys: name the columns that an attacker may know of everybody, or a policy with quasi-identifiers"
    if asked.weight is None and asked.population is None:
        yield "neither weights nor a population: name the column of weights, or how many people there are"
    named = [*asked.keys, *(name for name in (asked.weight, asked.household) if name is not None)]
    for name, meant in unknown_names(dict.fromkeys(named), columns):
        yield f'column "{name}" is not there{meant}'
    keys = [folded(key) for key in asked.keys]
    for name in dict.fromkeys(key for key in asked.keys if keys.count(folded(key)) > 1):
        yield f'key "{name}" is listed twice'
    for name in asked.keys:
        if name in columns and (columns[name].traits.is_list or columns[name].type.endswith("]")):
            yield f'key "{name}" is a list, which has no class: make a column of it in a query'
    yield from _unfit_weight(asked, columns)


def _unfit_weight(asked: SampleQuestion, columns: dict[str, SourceColumn]) -> Iterator[str]:
    if asked.weight is not None and folded(asked.weight) in map(folded, asked.keys):
        yield f'column "{asked.weight}" is the weight and cannot be a key: leave it out of the keys'
    weight = columns.get(asked.weight or "")
    if weight is not None and not weight.traits.is_number and not weight.traits.is_missing:
        yield f'column "{weight.name}" is {weight.type}: a weight is a number above 0; {as_number(weight.name)}'


def _read(engine: Engine, source: ResolvedSource, asked: SampleQuestion) -> exp.Expr:
    """Read the columns once, where tables and Parquet files are not read by column."""
    weight: str | float | None = asked.weight
    if asked.population is not None:
        row_count = engine.fetch(counted_rows(source.relation.copy()), "count the rows")[0]["rows"]
        if row_count > asked.population:
            people, rows_there = f"a population of {asked.population:,.12g}", counted(row_count, "row")
            _refuse(source, [f"{people} has fewer people than the table has rows: {rows_there}"])
        weight = weight or asked.population / max(row_count, 1)
    assert weight is not None
    rows = queries.sampled(source.relation, asked.keys, weight, asked.household)
    if source.csv is None and (source.dataset or source.files):
        return rows
    engine.run(step := queries.copied(rows))
    return step.makes.table


def _wrong_weights(asked: SampleQuestion, found: dict[str, int]) -> Iterator[str]:
    if found["missing_rows"]:
        yield f'column "{asked.weight}" is NULL in {counted(found["missing_rows"], "row")}: every row needs a weight'
    if found["unusable_rows"]:
        rows = counted(found["unusable_rows"], "row")
        yield f'column "{asked.weight}" has no finite number above 0 in {rows}: correct them, or leave them out'
    elif found["row_count"] and found["greatest"] > MAX_PEOPLE:
        yield f'column "{asked.weight}" has weights above {MAX_PEOPLE:,}: rows stand for people'


def _wrong_classes(
    engine: Engine, rows: exp.Expr, keys: Sequence[str], asked: SampleQuestion, found: dict[str, int]
) -> Iterator[str]:
    if found["row_count"] and found["least"] < 1:
        light = engine.fetch(queries.light_classes(rows, keys), "classes with weights below 1")[0]
        if classes := light["class_count"]:
            fewer = f"{classes:,} classes of rows that look alike stand" if classes > 1 else "a class of rows stands"
            yield f"weights below 1: {fewer} for fewer people than rows"
    if asked.nulls == "any":
        query = queries.SQL.query("patterns", source=rows, keys=keys)
        if (patterns := engine.fetch(query, "which keys are NULL")[0]["pattern_count"]) > MAX_PATTERNS:
            yield (
                f'nulls = "any" takes at most {MAX_PATTERNS} patterns of keys that are NULL in a row, and there are '
                f"{patterns:,}: take fewer keys"
            )
    if asked.household is not None and (missing := found["homeless_rows"]):
        yield f'column "{asked.household}" is NULL in {counted(missing, "row")}: every row needs its household'


def _notes(asked: SampleQuestion, found: dict[str, float]) -> Iterator[str]:
    if asked.weight is None and found["row_count"]:
        yield (
            f"no weights: each row stands for {found['greatest']:,.6g} people, the population of "
            f"{asked.population:,.12g} by {counted(int(found['row_count']), 'row')}"
        )
    elif asked.weight is not None and asked.population is not None:
        yield (
            f"unique people are of the population of {asked.population:,.12g}; everything else takes the sum of weights"
        )
    if asked.nulls == "any":
        yield (
            "NULL fits every value where rows and single members of households are found, and makes no row special; "
            "everything else takes it as a value like any other"
        )


def _correct_match(engine: Engine, sums: dict[str, Any], found: dict[str, float], notes: list[str]) -> float | None:
    if not sums["row_count"]:
        return None
    asked = queries.matches(sums["row_count"], sums["population_size"], found["least"], found["greatest"])
    matches = engine.fetch(asked, "matches")[0]
    if matches["anon_others"] is None:
        notes.append(
            f"the chance that a match of a unique row is right was not estimated: weights differ by a factor of "
            f"{found['greatest'] / found['least']:,.3g}, and the estimate holds up to 3"
        )
    return matches["anon_correct_match"] if sums["unique_rows"] else None


def _households(engine: Engine, rows: exp.Expr, keys: Sequence[str], notes: list[str]) -> HouseholdRisk:
    found = engine.fetch(queries.households(rows, keys), "the households")[0]
    if uneven := found.pop("uneven_households"):
        notes.append(
            f"households by all members together have no estimate: weights differ by more than a factor of 2 within "
            f"{uneven:,} of {found['household_count']:,}; give each household one weight"
        )
    return HouseholdRisk(**found)


def _uniques(engine: Engine, asked: SampleQuestion, weight_sum: float | None) -> PopulationUniques | None:
    if weight_sum is None:
        return None
    people = asked.population or weight_sum
    return PopulationUniques(population=people, **engine.fetch(queries.uniques(people), "unique people")[0])


def _special(engine: Engine, asked: SampleQuestion, keys: Sequence[str], notes: list[str]) -> SpecialUniques | None:
    values = engine.fetch(queries.SQL.query("distinct_values", keys=keys), "values of the keys")[0].values()
    if sum(max(value - 1, 1).bit_length() for value in values) > MAX_BITS:
        notes.append("special rows were not counted: the keys have too many values together; take fewer keys")
        return None
    most = len(keys)
    size = min(asked.max_size or most, most)
    while _sets(most, size) > MAX_SETS:
        size -= 1
    if size < most:
        notes.append(f"special rows: sets of more than {counted(size, 'key')} were not counted")
    engine.run(queries.special(keys, size, asked.nulls))
    sizes = engine.fetch(queries.SQL.query("special_sizes"), "special rows by size")
    shares = engine.fetch(queries.contributions(keys), "what keys add to special rows")
    named = dict(zip(keys, asked.keys, strict=True))
    contributions = [
        KeyContribution(key=named[each["attribute"]], set_count=each["set_count"], contribution=each["contribution"])
        for each in sorted(shares, key=lambda each: (-each["score"], keys.index(each["attribute"])))
    ]
    listed = tuple(SpecialSize(**each) for each in sizes)
    return SpecialUniques(key_count=most, max_size=size, sizes=listed, keys=tuple(contributions))


def _sets(keys: int, size: int) -> int:
    return sum(math.comb(keys, each) for each in range(1, min(keys, size) + 1))
