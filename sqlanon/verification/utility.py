"""The utility of a release beside its source: both tables are read once, and measured by macros and models."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, isclose, sqrt
from statistics import fmean
from typing import Any

from sqlglot import exp

from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.model.names import counted, folded, in_quotes, listed
from sqlanon.model.policy_value import did_you_mean
from sqlanon.model.release.utility import Row, Utility
from sqlanon.queries.kit.macros import cast_value, table_call, text
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    case,
    cast,
    column,
    double,
    f,
    is_there,
    names,
    select,
    string,
    try_cast,
)
from sqlanon.queries.source import SourceColumn
from sqlanon.verification.utility_models import SQL, ModelRows, correlation_distances

TABLES = (Relation("anon_utility_before", "row"), Relation("anon_utility_after", "row"))

MAX_NUMBERS = 40  # whose correlations are measured
MAX_VALUES = 100  # of a column that makes tables
MAX_FLAGS = 30  # values of a column that is a term of a model
MAX_TABLES = 100
MAX_TRIED_ROWS, MAX_DISTANCES = 1000, 100_000_000

NAME = r'("(?:[^"]|"")+"|[^\s~+*:^()"-]+)'
FORMULA = re.compile(rf"\s*{NAME}\s*~\s*{NAME}(?:\s*\+\s*{NAME})*\s*")
SPELLING = (
    'formula: write a number, ~ and terms with + between them, as income ~ age + sex; quote other names, as "a b"'
)

Columns = Mapping[str, SourceColumn]  # of a table, by folded name


@dataclass(frozen=True)
class UtilityQuestion:
    """What is asked of two tables."""

    columns: Sequence[str] = ()
    key: str | None = None
    weight: str | None = None
    formula: str | None = None

    @property
    def terms(self) -> list[str]:
        """The names in the formula, the response first; none if it is spelled in another way."""
        given = self.formula if isinstance(self.formula, str) and FORMULA.fullmatch(self.formula) else ""
        return [name[1:-1].replace('""', '"') if name[0] == '"' else name for name in re.findall(NAME, given)]

    @property
    def fixed(self) -> list[str]:
        return [name for name in (self.key, self.weight) if name is not None]


def compared(engine: Engine, source: ResolvedSource, release: ResolvedSource, asked: UtilityQuestion) -> Utility:
    """Measure what a release keeps of its source."""

    def refuse(problems: Iterable[str]) -> None:
        if found := [*problems]:
            raise PolicyError(f"{release.description} cannot be compared:", found).with_guide("survey-data")

    tables = {"source": source, "release": release}
    far = [role for role, table in tables.items() if engine.is_far(table.relation)]
    refuse([*(f"rows of the {role} are elsewhere: copy them here" for role in far), *_wrong_words(asked)])
    columns = {
        role: {folded(each.name): each for each in engine.describe(table.relation)} for role, table in tables.items()
    }
    refuse(_wrong_columns(columns, asked))
    copies = _copies(columns["source"], columns["release"], asked)
    refuse([] if copies else ["no column is in both tables and can be compared"])
    with engine.scratch():
        for (role, table), relation in zip(tables.items(), TABLES, strict=True):
            query = _copied(columns[role], copies, asked, table.relation)
            engine.run(Step(relation, query, f"read the {role}"))
        rows = _BothTables(engine, asked, copies)
        refuse(rows.problems())
        return Utility(source=source.description, release=release.description, **rows.utility(), notes=(*rows.notes,))


def _wrong_words(asked: UtilityQuestion) -> Iterator[str]:
    if not all(isinstance(name, str) for name in (*asked.columns, *asked.fixed)):
        yield "columns, key and weight: give names of columns, as texts"
    if asked.formula is not None and not asked.terms:
        yield SPELLING


def _wrong_columns(columns: Mapping[str, Columns], asked: UtilityQuestion) -> Iterator[str]:
    for role, there in columns.items():
        known = [each.name for each in there.values()]
        for name in dict.fromkeys([*asked.columns, *asked.terms, *asked.fixed]):
            if folded(name) not in there:
                yield f"the {role} has no column {in_quotes(name)}{did_you_mean(name, known)}"
    fixed, terms = ([*map(folded, given)] for given in (asked.fixed, asked.terms))
    if len({*terms}) < len(terms):
        yield "formula: a column is named twice"
    if len({*fixed}) < len(fixed) or {*fixed} & {*terms, *map(folded, asked.columns)}:
        yield "the key and the weight are two columns, and are not compared: leave them out of the others"


def _copies(before: Columns, after: Columns, asked: UtilityQuestion) -> dict[str, str]:
    """Return the columns to compare by names that clash with no others: numbers, if they are in one of the tables."""
    wanted = {*map(folded, [*asked.columns, *asked.terms])} if asked.columns else before.keys() & after.keys()
    responses = [*map(folded, asked.terms[:1])]
    kinds = {
        name: "number" if name in responses or any(side[name].traits.is_number for side in (before, after)) else "other"
        for name in before
        if name in wanted - {*map(folded, asked.fixed)}
    }
    return {f"{kind}_{place:04}": before[name].name for place, (name, kind) in enumerate(kinds.items())}


def _copied(there: Columns, copies: Mapping[str, str], asked: UtilityQuestion, relation: exp.Expr) -> exp.Select:
    def read(name: str, *, is_number: bool) -> exp.Expr:
        found = there[folded(name)]
        value = column(found.name)
        if not is_number:
            return text(value)
        if found.traits.is_number:
            return cast_value(value, "DOUBLE")
        return case(is_there(value), f.coalesce(try_cast(text(value), "DOUBLE"), cast(string("NaN"), "DOUBLE")))

    made = {copy: read(name, is_number=_is_number(copy)) for copy, name in copies.items()}
    made["key"] = exp.null() if asked.key is None else read(asked.key, is_number=False)
    made["weight"] = double(1) if asked.weight is None else read(asked.weight, is_number=True)
    return select([aliased(value, copy) for copy, value in made.items()], relation.copy())


def _is_number(copy: str) -> bool:
    return copy.startswith("number")


class _BothTables:
    """Both tables, as they were copied: numbers, and others as texts."""

    def __init__(self, engine: Engine, asked: UtilityQuestion, copies: Mapping[str, str]) -> None:
        self.engine, self.asked = engine, asked
        numbers = [*filter(_is_number, copies)]
        counts = {"missing": [f"missing_{copy}" for copy in copies], "endless": [f"endless_{copy}" for copy in numbers]}
        self.contents = [
            self.ask("contents", rows=one, other=other, columns=[*copies], numbers=numbers, **counts)[0]
            for one, other in (TABLES, TABLES[::-1])
        ]
        self.row_counts = [each["row_count"] for each in self.contents]
        endless = {copy: where for copy in numbers if (where := self.where(f"endless_{copy}"))}
        self.notes = [
            f"{in_quotes(copies[copy])} is not a number within 1e100 {where}, and is left out"
            for copy, where in endless.items()
        ]
        self.names = {copy: name for copy, name in copies.items() if copy not in endless}
        self.numbers = [*filter(_is_number, self.names)]
        spelled = {folded(name): copy for copy, name in self.names.items()}
        self.terms = [spelled[folded(name)] for name in asked.terms if folded(name) in spelled]
        self.values = self.ask("values", rows=TABLES[0], other=TABLES[1], columns=[*copies])[0]

    def ask(self, query: str, **roles: Any) -> list[Row]:
        return self.engine.fetch(SQL.query(query, **roles), query.replace("_", " "))

    def macro(self, name: str, *arguments: exp.Expr) -> list[Row]:
        """Return the rows of a macro, with the names of columns."""
        found = self.engine.fetch(table_call(name, *(each.table for each in TABLES), *arguments), f"anon.{name}")
        return [{key: self.names.get(value, value) for key, value in row.items()} for row in found]

    def where(self, count: str) -> str:
        """Put a count of rows in words; empty if it is 0 in both tables."""
        before, after = (each[count] for each in self.contents)
        return f"in {counted(before, 'row')} of the source and {after:,} of the release" if before or after else ""

    def problems(self) -> Iterator[str]:
        """Yield what is wrong with rows and values."""
        if not self.names or len(self.terms) < len(self.asked.terms):
            yield from self.notes
        if len(self.numbers) > MAX_NUMBERS:
            yield f"{len(self.numbers)} columns have numbers, and {MAX_NUMBERS} can be compared: name fewer columns"
        for copy in self.terms:
            if not _is_number(copy) and (size := self.values[copy]["value_count"]) > MAX_FLAGS:
                name = in_quotes(self.names[copy])
                yield f"formula: {name} has {size:,} values, and a term without numbers has up to {MAX_FLAGS}"
        yield from self._wrong_rows()

    def _wrong_rows(self) -> Iterator[str]:
        key, weight = self.asked.key, self.asked.weight
        if key is not None:
            if where := self.where("keyless_rows"):
                yield f"{in_quotes(key)} is NULL {where}: rows are joined by it"
            if where := self.where("repeated_rows"):
                yield f"{in_quotes(key)} repeats a value {where}: a key has each value once"
            if all(self.row_counts) and not self.contents[0]["joined_rows"]:
                yield f"no value of {in_quotes(key)} is in both tables"
        if weight is not None and (where := self.where("unfit_weights")):
            yield f"{in_quotes(weight)} is not a finite number above 0 {where}"

    def utility(self) -> Row:
        for copy, name in self.names.items():
            if where := self.where(f"missing_{copy}"):
                self.notes.append(f"{in_quotes(name)} is NULL {where}")
        statistics = sorted(self._statistics(), key=lambda row: len(row["columns"])) if self.numbers else []
        distances, notes = correlation_distances([row for row in statistics if len(row["columns"]) == 2])
        self.notes += notes
        before, after = self.row_counts
        made: Row = {"before_rows": before, "after_rows": after, "key": self.asked.key, "weight": self.asked.weight}
        made |= {"statistics": statistics, "tables": [*self._tables()]} | distances
        found = {(row["statistic"], *row["columns"]): row["source_value"] for row in statistics}
        scales = {
            copy: (found.get(("mean", self.names[copy])) or 0.0, found.get(("sd", self.names[copy])) or 1.0)
            for copy in self.numbers
        }
        rows = ModelRows(self.engine, TABLES, scales, dict(self._flags()))
        if self.asked.key is not None and self.numbers:
            made |= self._losses(rows)
        if before and after:
            made |= self._propensity(rows)
        if self.asked.formula is not None:
            made |= self._regression(rows)
        return made

    def _flags(self) -> Iterator[tuple[str, tuple[str, str | None]]]:
        """Yield columns of models that are 1 where another has a value: not the first one, and NULL if it is there."""
        for copy in self.names:
            found, labels = self.values[copy], []
            if copy not in self.numbers and found["value_count"] <= MAX_FLAGS:
                labels = found["labels"][1:]
            if self.where(f"missing_{copy}"):
                labels = [*labels, None]
            yield from ((f"{copy}_{place}", (copy, label)) for place, label in enumerate(labels))

    def _statistics(self) -> Iterator[Row]:
        """Yield moments, correlations and quantiles of numbers."""
        for row in self.macro("moment_changes", names(self.numbers), string("weight")):
            statistic, before, after = row["statistic"], row["source_value"], row["release_value"]
            if statistic == "variance":
                statistic, before, after = "sd", before and sqrt(before), after and sqrt(after)
            columns = [name for name in (row["column_name"], row["other_column"]) if name is not None]
            yield {"statistic": statistic, "columns": columns, **_beside(before, after, row["standard_errors"])}
        one, other = (self.ask("quantiles", rows=rows, numbers=self.numbers)[0] for rows in TABLES)
        for copy in self.numbers:
            for statistic, value in one[copy].items():
                yield {"statistic": statistic, "columns": [self.names[copy]], **_beside(value, other[copy][statistic])}

    def _tables(self) -> Iterator[Row]:
        few = [copy for copy in self.names if self._has_few(copy, MAX_VALUES)]
        if left_out := [name for copy, name in self.names.items() if copy not in few]:
            why = f"with more than {MAX_VALUES} values, or some that the source lacks, such as labels"
            self.notes.append(f"columns {why}, are in no tables: {listed(left_out)}")
        for size in (1, 2, 3):
            if sum(comb(len(few), each) for each in range(1, size + 1)) > MAX_TABLES:
                self.notes.append(f"tables of {size} columns would be too many, and are left out")
                return
            for columns in combinations(few, size):
                found = self.macro("table_changes", names([*columns]), string("weight"))[0]
                yield {"columns": [self.names[copy] for copy in columns], **found}

    def _has_few(self, copy: str, values: int) -> bool:
        """Test that a column has few values, and none that the source lacks."""
        return self.values[copy]["value_count"] <= values and not self.values[copy]["new_count"]

    def _losses(self, rows: ModelRows) -> Row:
        losses = self.macro("numeric_loss", string("key"), names(self.numbers))
        losses[-1] |= {"column_name": "all"}
        most = max(1, min(MAX_TRIED_ROWS, MAX_DISTANCES // max(1, self.row_counts[1])))
        [near] = self.ask("nearest", rows=rows.tables[0], other=rows.tables[1], numbers=self.numbers, most=most)
        return {"losses": losses, "nearest_share": near["own_share"]}

    def _propensity(self, rows: ModelRows) -> Row:
        columns = [copy for copy in self.names if copy in self.numbers or self._has_few(copy, MAX_FLAGS)]
        score, notes = rows.propensity(columns, self.row_counts)
        if left_out := [name for copy, name in self.names.items() if copy not in columns]:
            notes.append(
                f"without texts of more than {MAX_FLAGS} values, or some that the source lacks: {listed(left_out)}"
            )
        self.notes += [f"propensity score: {note}" for note in notes]
        return score

    def _regression(self, rows: ModelRows) -> Row:
        found = rows.regression({copy: self.names[copy] for copy in self.terms})
        overlaps = [each["overlap"] for each in found if each["overlap"] is not None]
        if lacking := len(found) - len(overlaps):
            why = "a table cannot separate such terms from others, or fits them exactly"
            self.notes.append(f"regression: {counted(lacking, 'term')} without an overlap, as {why}")
        overlap = fmean(overlaps) if overlaps else None
        return {"formula": self.asked.formula, "coefficients": found, "overlap": overlap}


def _beside(before: float | None, after: float | None, errors: float | None = None) -> Row:
    difference = None if before is None or after is None else after - before
    if before is not None and after is not None and isclose(before, after, rel_tol=1e-12):
        difference, errors = 0.0, errors and 0.0  # but for rounding
    return {"source_value": before, "release_value": after, "difference": difference, "standard_errors": errors}
