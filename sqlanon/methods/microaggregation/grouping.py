"""Groups of k rows or more that are close to each other: MDAV over points in blocks, as statements over tables.

A statement makes some steps for all blocks together. It is recursive: planning a step takes longer than making it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.methods.stages import Stopped
from sqlanon.model.methods.microaggregation import Microaggregation
from sqlanon.queries.kit.macros import cast_value
from sqlanon.queries.kit.named import Queries, Role
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    added,
    case,
    cast,
    column,
    number,
    select,
    try_cast,
)

CELLS = Relation("anon_cells_of_values", "cell")  # the rows of equal values are a point, in a block
PATTERNS = Relation("anon_patterns", "class")
SCALES = Relation("anon_scales", "count")
GROUPS = Relation("anon_groups", "cell")  # the group of each point, with its block and step
VALUES = Relation("anon_values_of_groups", "class")

WHOLE = 4000  # the most points of a block that stays whole, for which each step sees all points
WIDEST = 10  # the fewest rows of a block, in groups: few groups leave many rows far from their own
AT_ONCE, PARTS = 4000, 2  # a statement makes steps until that many of its points, or a part of them, are in groups


def named(prefix: str, places: Iterable[int]) -> list[str]:
    return [f"anon_{prefix}_{place}" for place in places]


@dataclass(frozen=True)
class Grouped:
    """The summary of groups, whose numbers are in ``VALUES``."""

    groups: int
    alike: int  # groups whose rows are all equal
    squares: Sequence[float]  # by column, the sum of squared changes in its variance
    differences: Sequence[float]  # by column, the sum of changes in √2 standard deviations (IL1s)
    cells: Sequence[int]  # by column, its values; 0 if they do not vary

    @property
    def loss(self) -> float:
        """SSE/SST over all columns that vary."""
        return sum(self.squares) / max(sum(cells - 1 for cells in self.cells if cells), 1)

    @property
    def mean_change(self) -> float:
        """IL1s per value, over all columns that vary."""
        return sum(self.differences) / max(sum(self.cells), 1)

    @property
    def by_column(self) -> Iterator[tuple[float, float]]:
        """SSE/SST and IL1s per value of each column."""
        for square, change, cells in zip(self.squares, self.differences, self.cells, strict=True):
            yield square / max(cells - 1, 1), change / max(cells, 1)


@dataclass(frozen=True)
class Grouping:
    """The statements over the values of some columns of a relation.

    Distances are squares of numbers in standard deviations. Beside categories, they are the sum of numbers in ranges,
    and of 1 for each category that differs.

    Source: Gower 1971 ("A general coefficient of similarity and some of its properties", Biometrics 27).
    """

    engine: Compute
    source: exp.Expr
    columns: Sequence[str]
    categories: Collection[str]  # those of the columns that are no numbers
    weight: str | None
    settings: Microaggregation

    @cached_property
    def sql(self) -> Queries:
        roles: dict[str, Role] = {
            "columns": named("x", self._all),
            "numbers": named("x", self._numbers),
            "places": named("z", self._numbers),
            "shown": named("y", self._numbers),
            "finest": named("f", self._numbers),
            "categories": named("x", self._nominal),
            "codes": named("z", self._nominal),
            "labels": named("y", self._nominal),
            "axes": named("z", self._all),
            "weight": "anon_row_count" if self.weight is None else "anon_weight",
            "k": self.settings.k,
        }
        return Queries("microaggregation", roles)

    @property
    def _all(self) -> range:
        return range(len(self.columns))

    @cached_property
    def _numbers(self) -> list[int]:
        return [place for place in self._all if self.columns[place] not in self.categories]

    @cached_property
    def _nominal(self) -> list[int]:
        return [place for place in self._all if self.columns[place] in self.categories]

    def value(self, name: str, table: str | None = None) -> exp.Expr:
        """Return the text of a category, or the number of another column, without a sign if it is 0."""
        if name in self.categories:
            return cast_value(column(name, table), "VARCHAR")
        return cast_value(column(name, table), "DOUBLE") + 0

    def read(self) -> dict[str, int]:
        """Read the rows once, as cells; return counts of what cannot be grouped, and which columns vary."""
        nulls = (
            case(column(name).is_(exp.null()), number(2**place), number(0)) for place, name in enumerate(self.columns)
        )
        query = self.sql.query(
            "cells_of_values",
            ["anon_weight"] if self.weight is None else [],
            source=self.source,
            values=[self.value(name) for name in self.columns],
            texts=[self.value(name) for name in self.columns if name in self.categories],
            pattern=added(nulls),
            given=number(1) if self.weight is None else cast(column(self.weight), "DOUBLE"),
        )
        self.engine.run(Step(CELLS, query, "cells of values"))
        self.engine.run(self.sql.step(PATTERNS, "patterns", cells=CELLS))
        wanted = {"wrong": named("wrong", self._numbers), "varying": named("varying", self._all)}
        wanted["numeric"] = named("numeric", self._nominal)
        read = [try_cast(column(name), "DOUBLE") for name in named("x", self._nominal)]
        checks = self.sql.query("checks", cells=CELLS, patterns=PATTERNS, read=read, **wanted)
        return self.engine.fetch(checks, "values that cannot be grouped")[0]

    def group(self, stopped: Stopped) -> bool:
        """Make groups of all points; return whether it was not stopped, after which the others join larger ones."""
        run, sql = self.engine.run, self.sql
        run(sql.step(SCALES, "scales", cells=CELLS, patterns=PATTERNS, is_mixed=exp.convert(bool(self.categories))))
        run(sql.step(GROUPS, "whole_groups", cells=CELLS, patterns=PATTERNS))
        self._make_blocks()
        is_final = self._step_through(stopped)
        self._add("left_over")
        if is_final and not self.categories:
            self.take_better_halves()
        return is_final

    def _step_through(self, stopped: Stopped) -> bool:
        """Make groups until no block has k free rows; return whether it was not stopped."""
        parts = [self._distance(_difference(name)) for name in named("z", self._numbers)]
        parts += [case(_difference(name).eq(number(0)), number(0), number(1)) for name in named("z", self._nominal)]
        # Of points at equal distances the first is the nearest, and the last the farthest.
        distance = exp.paren(added(parts)) * exp.paren(number(1) + column("anon_point", "anon_rest") / number(2**52))
        last_step = self.sql.query("last_step", groups=GROUPS)
        step, after = -1, 0
        while step < after and not stopped():
            step = after
            self._add("steps_of_mdav", distance=distance, first=step, least=AT_ONCE, parts=PARTS)
            after = self.engine.fetch(last_step, "the last step")[0]["step"]
        return step == after

    def _add(self, name: str, **roles: Role) -> None:
        query = self._of_points(name, groups=GROUPS, **roles)
        self.engine.execute(exp.Insert(this=GROUPS.table, expression=query), "groups of points")

    def _make_blocks(self) -> None:
        """Number the blocks in the cells: below 0 those that stay whole, and 0 for points in no block."""
        size, block = max(self.settings.block, WIDEST * self.settings.k), column("anon_block")
        self._move(self.sql.query("points_in_no_block", cells=CELLS, patterns=PATTERNS, groups=GROUPS), number(0))
        from_centre = [self._distance(column(name)) for name in named("z", self._numbers)]
        distance = added(from_centre or [number(0)])
        whole = self._of_points("points_of_whole_blocks", distance=distance, most=max(WHOLE, size), size=size)
        self._move(whole, exp.Neg(this=block))
        self._halve(size, 1)

    def take_better_halves(self) -> None:
        """Halve blocks down to groups, and take these where they are better."""
        whole = select([column("anon_point")], CELLS.table).where(column("anon_block") < 0)
        self._move(whole, number(self._last_block) - column("anon_block"))
        self._halve(2 * self.settings.k - 1, self.settings.k)
        query = self._of_points("better_groups", groups=GROUPS)
        self.engine.run(Step(GROUPS, query, "better groups", is_again=True))

    def _distance(self, difference: exp.Expr) -> exp.Expr:
        return exp.Abs(this=difference) if self.categories else difference * difference

    def _halve(self, size: int, step: int) -> None:
        """Halve blocks of more points, and again until none is left."""
        halves = self._of_points("upper_halves", size=size, step=step)
        # Numbers without gaps, which DuckDB groups by fastest: those of upper halves follow those of all blocks.
        blocks, last = 0, self._last_block
        while last > blocks:
            blocks = last
            self._move(halves, column("anon_block") + blocks)
            last = self._last_block

    @property
    def _last_block(self) -> int:
        return int(self.engine.fetch(self.sql.query("last_block", cells=CELLS), "the last block")[0]["block"])

    def _of_points(self, name: str, **roles: Role) -> exp.Query:
        return self.sql.query(name, points=self.sql.query("points_of_blocks", cells=CELLS, scales=SCALES), **roles)

    def _move(self, points: exp.Query, block: exp.Expr) -> None:
        moved = exp.Update(this=CELLS.table, expressions=[column("anon_block").eq(block)], where=_is_one_of(points))
        self.engine.execute(moved, "blocks of points")

    def values(self) -> Grouped:
        """Make the values of groups, and measure what they lose."""
        sql, value = self.sql, self.settings.value
        grouped, roles = self._grouped, {"scales": SCALES} if value == "mean" else {}
        if self.categories or value != "mean":
            grouped = sql.query("grouped_rows", grouped=grouped)
        self.engine.run(sql.step(VALUES, f"{value}s_of_groups", grouped=grouped, **roles))
        lost = ("cells", "squares", "differences")
        of_numbers = {each: named(each, self._numbers) for each in (*lost, "deviations")}
        of_categories = {f"category_{each}": named(each, self._nominal) for each in lost}
        losses = sql.query("losses", groups=GROUPS, points=self.points, **of_numbers, **of_categories)
        found = self.engine.fetch(losses, "losses of groups")[0]
        by_column = {each: [found[name] or 0 for name in named(each, self._all)] for each in lost}
        return Grouped(groups=found["groups"], alike=found["alike"], **by_column)

    @property
    def _grouped(self) -> exp.Query:
        return self.sql.query("grouped_points", cells=CELLS, groups=GROUPS)

    @property
    def points(self) -> exp.Query:
        """The values of points, and of their groups."""
        return self.sql.query("shown_points", grouped=self._grouped, values=VALUES)


def _difference(name: str) -> exp.Expr:
    return exp.paren(column(name, "anon_rest") - column(name, "anon_from"))


def _is_one_of(points: exp.Query) -> exp.Where:
    return exp.Where(this=exp.In(this=column("anon_point"), query=exp.Subquery(this=points)))
