"""The utility of a release beside its source: both tables are read once, and measured by macros and models."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations
from math import comb, isclose, sqrt
from statistics import fmean
from typing import Any

import numpy as np
from sqlglot import exp

from sqlanon.binding.coding import with_numbers
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.model.names import counted, folded, listed
from sqlanon.model.policy.policy_parts import as_number
from sqlanon.model.policy_value import did_you_mean
from sqlanon.model.release.utility import Row, Utility
from sqlanon.queries.kit.macros import cast_value, table_call, text
from sqlanon.queries.kit.nodes import Relation, Step, aliased, column, double, f, names, select, string
from sqlanon.queries.source import SourceColumn
from sqlanon.verification.utility_models import SQL, Scale, Values, propensity, regression, separating_terms

BEFORE, AFTER = Relation("anon_utility_before", "row"), Relation("anon_utility_after", "row")

MAX_NUMBERS = 40  # whose correlations are measured
MAX_VALUES = 100  # of a column that makes tables
MAX_INDICATORS = 30  # values of a column that is a term of a model
MAX_TABLES = 100
MAX_TRIED_ROWS, MAX_DISTANCES = 1000, 100_000_000
SINGULAR = 1e-10  # the least eigenvalue of correlations that have no inverse

NAME = r'("(?:[^"]|"")+"|[^\s~+*:^()"-]+)'
FORMULA = re.compile(rf"\s*{NAME}\s*~\s*{NAME}(?:\s*\+\s*{NAME})*\s*")
SPELLING = (
    'formula: write a number, ~ and terms with + between them, as income ~ age + sex; quote other names, as "a b"'
)


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


@dataclass(frozen=True)
class _Side:
    role: str
    table: ResolvedSource
    columns: Mapping[str, SourceColumn]  # by folded name


def compared(engine: Engine, source: ResolvedSource, release: ResolvedSource, asked: UtilityQuestion) -> Utility:
    """Measure what a release keeps of its source."""

    def refuse(problems: Iterable[str]) -> None:
        if found := [*problems]:
            raise PolicyError(f"{release.description} cannot be compared:", found).with_guide("survey-data")

    tables = {"source": source, "release": release}
    far = [role for role, table in tables.items() if engine.is_far(table.relation)]
    refuse([*(f"rows of the {role} are elsewhere: copy them here" for role in far), *_wrong_words(asked)])
    sides = [*_sides(engine, tables, asked)]
    refuse(_wrong_columns(sides, asked))
    notes: list[str] = []
    copies = _copies(sides, asked, notes)
    with engine.scratch():
        for side, relation in zip(sides, (BEFORE, AFTER), strict=True):
            engine.run(Step(relation, _copied(side, copies, asked), f"read the {side.role}"))
        measured = _Measured(engine, asked, copies, notes)
        refuse(measured.problems())
        found = measured.utility()
    return Utility(source=source.description, release=release.description, **found, notes=tuple(notes))


def _wrong_words(asked: UtilityQuestion) -> Iterator[str]:
    if not all(isinstance(name, str) for name in (*asked.columns, *asked.fixed)):
        yield "columns, key and weight: give names of columns, as texts"
    if asked.formula is not None and not asked.terms:
        yield SPELLING


def _sides(engine: Engine, tables: dict[str, ResolvedSource], asked: UtilityQuestion) -> Iterator[_Side]:
    """Read texts of CSV files as numbers where the other table has numbers, or numbers are needed."""

    def described(table: ResolvedSource) -> dict[str, SourceColumn]:
        return {folded(each.name): each for each in engine.describe(table.relation)}

    columns = {role: described(table) for role, table in tables.items()}
    needed = [folded(name) for name in [asked.weight, *asked.terms[:1]] if name is not None]
    for role, other in zip(tables, reversed(tables), strict=True):
        table = tables[role]
        for name, each in columns[role].items():
            is_number = name in columns[other] and columns[other][name].traits.is_number
            if each.traits.is_text and (is_number or name in needed):
                with suppress(PolicyError):  # labels are not numbers
                    table = with_numbers(engine, table, [each.name])
        yield _Side(role, table, described(table))


def _wrong_columns(sides: Sequence[_Side], asked: UtilityQuestion) -> Iterator[str]:
    for side in sides:
        known = [each.name for each in side.columns.values()]
        for name in dict.fromkeys([*asked.columns, *asked.terms, *asked.fixed]):
            if folded(name) not in side.columns:
                yield f'the {side.role} has no column "{name}"{did_you_mean(name, known)}'
        for each in (side.columns.get(folded(name)) for name in [asked.weight, *asked.terms[:1]] if name is not None):
            if each is not None and not each.traits.is_number:
                yield f'"{each.name}" of the {side.role} is {each.type}, and numbers are needed: {as_number(each.name)}'
    fixed, terms = ([*map(folded, given)] for given in (asked.fixed, asked.terms))
    if len({*terms}) < len(terms):
        yield "formula: a column is named twice"
    if len({*fixed}) < len(fixed) or {*fixed} & {*terms, *map(folded, asked.columns)}:
        yield "the key and the weight are two columns, and are not compared: leave them out of the others"


def _copies(sides: Sequence[_Side], asked: UtilityQuestion, notes: list[str]) -> dict[str, str]:
    """Return the columns to compare by names that clash with no others, and note those that are left out."""
    before, after = (side.columns for side in sides)
    copies: dict[str, str] = {}
    terms, left_out = {*map(folded, asked.terms)}, []
    wanted = {*map(folded, asked.columns)} | terms if asked.columns else before.keys() & after.keys()
    for name in (name for name in before if name in wanted - {*map(folded, asked.fixed)}):
        traits = [side[name].traits for side in (before, after)]
        if all(each.is_number for each in traits):
            copies[f"number_{len(copies)}"] = before[name].name
        elif name not in terms and any(each.is_number or each.is_list for each in traits):
            left_out.append(before[name].name)
        else:
            copies[f"other_{len(copies)}"] = before[name].name
    if left_out:
        notes.append(f"labels in place of numbers, and lists, are left out: {listed(left_out)}")
    return copies


def _copied(side: _Side, copies: Mapping[str, str], asked: UtilityQuestion) -> exp.Select:
    def read(name: str, *, is_number: bool) -> exp.Expr:
        value = column(side.columns[folded(name)].name)
        return cast_value(value, "DOUBLE") if is_number else text(value)

    made = {copy: read(name, is_number=_is_number(copy)) for copy, name in copies.items()}
    made["key"] = exp.null() if asked.key is None else read(asked.key, is_number=False)
    made["weight"] = double(1) if asked.weight is None else read(asked.weight, is_number=True)
    return select([aliased(value, copy) for copy, value in made.items()], side.table.relation.copy())


def _is_number(copy: str) -> bool:
    return copy.startswith("number")


class _Measured:
    """Both tables, as they were copied."""

    def __init__(self, engine: Engine, asked: UtilityQuestion, copies: Mapping[str, str], notes: list[str]) -> None:
        self.engine, self.asked, self.names, self.notes = engine, asked, copies, notes
        self.numbers = [*filter(_is_number, copies)]
        counts: dict[str, Any] = {name: [f"{name}_{copy}" for copy in self.numbers] for name in ("missing", "endless")}
        contents = [self.ask("contents", rows=rows, numbers=self.numbers, **counts)[0] for rows in (BEFORE, AFTER)]
        self.contents = dict(zip(("source", "release"), contents, strict=True))
        self.counts = contents[0]["row_count"], contents[1]["row_count"]
        self.values = {copy: self.ask("value_counts", cells=self.cells([copy]), column=copy)[0] for copy in copies}

    def ask(self, query: str, **roles: Any) -> list[Row]:
        return self.engine.fetch(SQL.query(query, **roles), query.replace("_", " "))

    def macro(self, name: str, *arguments: exp.Expr) -> list[Row]:
        """Return the rows of a macro, with the names of columns."""
        found = self.engine.fetch(table_call(name, BEFORE.table, AFTER.table, *arguments), f"anon.{name}")
        return [{key: self.names.get(value, value) for key, value in row.items()} for row in found]

    def cells(self, copies: Sequence[str]) -> exp.Query:
        return SQL.query("cells", rows=BEFORE, other=AFTER, columns=copies)

    def problems(self) -> Iterator[str]:
        """Yield what is wrong with rows and values."""
        if not self.names:
            yield "no column is in both tables and can be compared"
        if len(self.numbers) > MAX_NUMBERS:
            yield f"{len(self.numbers)} columns have numbers, and {MAX_NUMBERS} can be compared: name fewer columns"
        for copy in self.terms():
            if not _is_number(copy) and (size := self.values[copy]["value_count"]) > MAX_INDICATORS:
                name = self.names[copy]
                yield f'formula: "{name}" has {size:,} values, and a term without numbers has up to {MAX_INDICATORS}'
        yield from (problem for role, found in self.contents.items() for problem in self._wrong_rows(role, found))

    def _wrong_rows(self, role: str, found: Row) -> Iterator[str]:
        wrong = [
            (found["keyless_rows"], self.asked.key, "is NULL: rows are joined by it"),
            (found["repeated_rows"], self.asked.key, "repeats a value: a key has each value once"),
            (found["unfit_weights"], self.asked.weight, "is not a finite number above 0"),
            *((found[f"endless_{copy}"], self.names[copy], "is not a number within 1e100") for copy in self.numbers),
        ]
        for size, name, words in wrong:
            if size and name is not None:
                yield f'in {counted(size, "row")} of the {role} "{name}" {words}'
        if role == "release" and self.asked.key is not None and all(self.counts):
            joined = self.ask("joined", rows=BEFORE, other=AFTER)[0]
            if not joined["row_count"]:
                yield f'no value of "{self.asked.key}" is in both tables'

    def terms(self) -> list[str]:
        copies = {folded(name): copy for copy, name in self.names.items()}
        return [copies[folded(name)] for name in self.asked.terms]

    def utility(self) -> Row:
        few = self._few()
        statistics = sorted(self._statistics(), key=lambda row: len(row["columns"])) if self.numbers else []
        found = {(each["statistic"], *each["columns"]): each["source_value"] for each in statistics}
        scales = {
            copy: Scale(found.get(("mean", self.names[copy])) or 0.0, found.get(("sd", self.names[copy])) or 1.0)
            for copy in self.numbers
        }
        made: Row = {"before_rows": self.counts[0], "after_rows": self.counts[1], "statistics": statistics}
        made |= {"key": self.asked.key, "weight": self.asked.weight, "tables": [*self._tables(few)]}
        made |= self._eigenvalues(statistics)
        if self.asked.key is not None and self.numbers:
            made |= self._losses(scales)
        if all(self.counts):
            made |= self._propensity(few, scales)
        if self.asked.formula is not None:
            made |= self._regression(scales)
        return made

    def _propensity(self, few: Sequence[str], scales: Mapping[str, Scale]) -> Row:
        terms = [copy for copy in few if copy not in scales and self.values[copy]["value_count"] <= MAX_INDICATORS]
        flags = [copy for copy in scales if any(self._missing(copy))]
        made, note = separating_terms(scales, flags, self._labels(terms))
        if note is not None:
            self.notes.append(f"propensity score: {note}")
        if not made:
            return {}
        score, expected, settled = propensity(self.engine, self.cells([*scales, *terms]), self.counts, made)
        if not settled:
            self.notes.append("propensity score: the regression did not settle, as some rows are surely of one table")
        return {"pmse": score, "pmse_expected": expected}

    def _regression(self, scales: Mapping[str, Scale]) -> Row:
        named = {copy: self.names[copy] for copy in self.terms()}
        labels = self._labels([copy for copy in named if copy not in scales])
        found = regression(self.engine, (BEFORE, AFTER), named, scales, labels)
        if lacking := [each["term"] for each in found if None in (each["source_value"], each["release_value"])]:
            self.notes.append(f"a table cannot separate these terms from others: {listed(lacking)}")
        overlaps = [each["overlap"] for each in found if each["overlap"] is not None]
        overlap = fmean(overlaps) if overlaps else None
        return {"formula": self.asked.formula, "coefficients": found, "overlap": overlap}

    def _missing(self, copy: str) -> list[int]:
        return [found[f"missing_{copy}"] for found in self.contents.values()]

    def _labels(self, copies: Iterable[str]) -> Values:
        return {
            copy: [each["anon_value"] for each in self.ask("values", cells=self.cells([copy]), column=copy)]
            for copy in copies
        }

    def _few(self) -> list[str]:
        """Return columns of few values, and none that the source lacks; and note others, and NULL."""
        few = [
            copy for copy, each in self.values.items() if not each["new_count"] and each["value_count"] <= MAX_VALUES
        ]
        if left_out := [name for copy, name in self.names.items() if copy not in few and not _is_number(copy)]:
            why = f"with more than {MAX_VALUES} values, or some that the source lacks, such as labels"
            self.notes.append(f"texts {why}, are left out: {listed(left_out)}")
        for copy in self.numbers:
            if any(self._missing(copy)):
                before, after = self._missing(copy)
                rows = f"{counted(before, 'row')} of the source and {after:,} of the release"
                self.notes.append(f'"{self.names[copy]}" is NULL in {rows}')
        return few

    def _statistics(self) -> Iterator[Row]:
        """Yield moments, correlations and quantiles of numbers."""
        for row in self.macro("moment_changes", names(self.numbers), string("weight")):
            statistic, before, after = row["statistic"], row["source_value"], row["release_value"]
            if statistic == "variance":
                statistic, before, after = "sd", before and sqrt(before), after and sqrt(after)
            columns = [name for name in (row["column_name"], row["other_column"]) if name is not None]
            yield {"statistic": statistic, "columns": columns, **_beside(before, after, row["standard_errors"])}
        for copy in self.numbers:
            one, other = (self.ask("quantiles", rows=rows, column=copy)[0] for rows in (BEFORE, AFTER))
            for share in one:
                yield {"statistic": share, "columns": [self.names[copy]], **_beside(one[share], other[share])}

    def _tables(self, few: Sequence[str]) -> Iterator[Row]:
        for size in (1, 2, 3):
            if sum(comb(len(few), each) for each in range(1, size + 1)) > MAX_TABLES:
                self.notes.append(f"tables of {size} columns would be too many, and are left out")
                return
            for columns in combinations(few, size):
                found = self.macro("table_changes", names([*columns]), string("weight"))[0]
                yield {"columns": [self.names[copy] for copy in columns], **found}

    def _losses(self, scales: Mapping[str, Scale]) -> Row:
        points = [f.coalesce(scale.of(name), double(0)) for name, scale in scales.items()]
        most = max(1, min(MAX_TRIED_ROWS, MAX_DISTANCES // max(1, self.counts[1])))
        share = self.ask("nearest", rows=BEFORE, other=AFTER, points=points, most=most)[0]["own_share"]
        losses = self.macro("numeric_loss", string("key"), names(self.numbers))
        losses[-1] |= {"column_name": "all"}
        return {"losses": losses, "nearest_share": share}

    def _eigenvalues(self, statistics: Sequence[Row]) -> Row:
        correlations = [row for row in statistics if len(row["columns"]) == 2]
        known = [row for row in correlations if row["difference"] is not None]
        columns = [*dict.fromkeys(name for row in known for name in row["columns"])]
        if len(known) < len(correlations):
            self.notes.append("some numbers have no correlations, since they do not vary or are never there together")
        if not known or len(known) < comb(len(columns), 2):
            return {}
        matrices = np.tile(np.eye(len(columns)), (2, 1, 1))
        for row in known:
            one, other = map(columns.index, row["columns"])
            matrices[:, one, other] = matrices[:, other, one] = row["source_value"], row["release_value"]
        before, after = np.linalg.eigvalsh(matrices)[:, ::-1].tolist()
        made: Row = {"eigenvalue_distance": np.abs(np.subtract(before, after)).mean().item()}
        if min(before[-1], after[-1]) < SINGULAR:
            self.notes.append("numbers determine each other: the matrix of their correlations has no inverse")
            return made
        diagonals = np.linalg.inv(matrices).diagonal(axis1=1, axis2=2)
        lengths = np.linalg.norm(diagonals, axis=1, keepdims=True)
        distance = np.linalg.norm(np.subtract(*(diagonals / lengths))) / sqrt(2)
        return made | {"inverse_distance": distance.item()}


def _beside(before: float | None, after: float | None, errors: float | None = None) -> Row:
    difference = None if before is None or after is None else after - before
    if before is not None and after is not None and isclose(before, after, rel_tol=1e-12):
        difference, errors = 0.0, errors and 0.0  # but for rounding
    both = {"source_value": before, "release_value": after}
    return {**both, "difference": difference, "standard_errors": errors}
