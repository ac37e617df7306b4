"""Queries that privacy rests on, on tables of a few rows."""

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from sqlglot import exp, parse_one

from sqlanon.queries.kit.named import Queries, Role
from sqlanon.queries.kit.nodes import DIALECT

Row = tuple[Any, ...]


def table(columns: str, *rows: Row) -> exp.Expr:
    """A relation with some rows: texts are literals, or have a type (``NULL::INTEGER``)."""
    values = ", ".join(f"({', '.join(map(str, row))})" for row in rows)
    return parse_one(f"SELECT * FROM (VALUES {values}) AS made ({columns.replace(' ', ', ')})", read=DIALECT)


def column(text: str) -> exp.Expr:
    return parse_one(text, read=DIALECT)


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1}) as connection:
        yield connection


def found(database: duckdb.DuckDBPyConnection, file: str, query: str, /, **roles: Role) -> list[Row]:
    """The rows of a query, ordered."""
    rows = database.execute(Queries(file).query(query, **roles).sql(DIALECT)).fetchall()
    return sorted(rows, key=lambda row: [(value is None, value) for value in row])


class TestNoise:
    def test_counts_with_noise(self, database: duckdb.DuckDBPyConnection) -> None:
        counts = table("anon_place anon_row_count", (0, 3), (1, 9), (2, 1))
        noise = table("anon_place anon_noise anon_run", (0, 2, 0), (1, -5, 0), (2, 9, 1))
        rows = found(database, "noise", "noisy", counts=counts, noise=noise, threshold=5)
        assert [row[:2] + row[-2:] for row in rows] == [(0, 3, 5, True), (1, 9, 4, False), (2, 1, 10, True)]

    def test_rows_that_are_not_shown(self, database: duckdb.DuckDBPyConnection) -> None:
        noisy = table("anon_run v anon_row_count anon_is_shown", (0, 7, 3, False), (0, 7, 4, False), (0, 7, 9, True))
        assert found(database, "noise", "left_over", noisy_combinations=noisy, raw_values=["v"]) == [(0, 7, 7)]

    def test_numbers_that_are_not_there(self, database: duckdb.DuckDBPyConnection) -> None:
        """Of 1, 2 and 5 all but these are drawn: 0, 3, 4, 6."""
        gaps = found(database, "noise", "gaps", numbered=table("anon_index", (1,), (2,), (5,)))
        assert gaps == [(1, 2), (3, 3)]
        drawn = table("anon_run anon_rank anon_noisy_rows", *((0, rank, 7) for rank in range(4)))
        seen = table("anon_gap anon_shift", *gaps)
        rows = found(database, "noise", "unseen_numbers", drawn=drawn, seen=seen)
        assert rows == [(0, 7, index) for index in (0, 3, 4, 6)]


class TestCuts:
    def test_classes_under_candidates(self, database: duckdb.DuckDBPyConnection) -> None:
        rows = table("anon_part v anon_row_count", (1, 7, 2), (1, 7, 3), (1, 8, 1), (2, 7, 4), (0, 7, 9))
        children = table("value candidate child", (7, 0, 0), (8, 0, 1), (7, 1, 0), (8, 1, 0), (9, 0, 1), (9, 1, 0))
        classes = found(
            database, "top_down", "classes_after", rows=rows, children=children, value="v", last=column("0")
        )
        assert classes == [(0, 1), (0, 4), (0, 5), (1, 4), (1, 6)]
        least = found(database, "top_down", "least_rows", classes=table("candidate rows", *classes))
        assert least == [(0, 1), (1, 4)]


CLASSES = "node a b anon_class_size anon_kept"


class TestJointClasses:
    def jointly_kept(self, database: duckdb.DuckDBPyConnection, by_person: bool, *classes: Row) -> list[Row]:
        roles = {
            "classes": table(CLASSES, *classes),
            "absent": table("anon_earlier anon_absent", (5, 1), (9, 7)),
            "number": "a",
            "node": "node",
            "keys": ["b"],
            "k": 3,
            "by_person": column(str(by_person)),
        }
        return found(database, "earlier", "jointly_kept", **roles)

    @pytest.mark.parametrize(
        ("classes", "kept"),
        [
            # The largest lends what is lacking, so that k stay.
            ([(1, 8, True), (2, 4, True), (3, 1, False)], [(1, 2, False), (1, 6, True), (2, 4, True), (3, 1, False)]),
            ([(1, 4, True), (2, 3, True), (3, 2, False)], [(1, 1, False), (1, 3, True), (2, 3, True), (3, 2, False)]),
            ([(1, 6, True), (2, 6, True), (3, 2, False)], [(1, 1, False), (1, 5, True), (2, 6, True), (3, 2, False)]),
            # It has not as many: the smallest is hidden as a whole.
            ([(1, 4, True), (2, 3, True), (3, 1, False)], [(1, 4, True), (2, 3, False), (3, 1, False)]),
            ([(1, 3, True), (2, 3, True), (3, 1, False)], [(1, 3, False), (2, 3, True), (3, 1, False)]),
            # None or k are hidden.
            ([(1, 5, True), (2, 3, False)], [(1, 5, True), (2, 3, False)]),
            ([(1, 5, True), (2, 2, False), (3, 1, False)], [(1, 5, True), (2, 2, False), (3, 1, False)]),
            ([(1, 5, True)], [(1, 5, True)]),
        ],
    )
    def test_none_or_k_of_a_joint_class_are_hidden(
        self, database: duckdb.DuckDBPyConnection, classes: list[Row], kept: list[Row]
    ) -> None:
        others = [(2, 1, 1, 5, True), (1, 2, 1, 5, True)]
        rows = self.jointly_kept(database, True, *((1, 1, *each) for each in classes), *others)
        assert [row[2:5] for row in rows if row[:2] == (1, 1)] == kept
        assert [row[:5] for row in rows if row[:2] != (1, 1)] == sorted(others)

    def test_persons_without_a_row_are_hidden(self, database: duckdb.DuckDBPyConnection) -> None:
        rows = self.jointly_kept(database, True, (1, 5, 1, 5, True), (1, 9, 1, 5, True))
        assert [row[1:] for row in rows] == [(5, 1, 2, False, 2), (5, 1, 3, True, 2), (9, 1, 5, True, 0)]

    def test_of_nobody_nothing_is_withheld(self, database: duckdb.DuckDBPyConnection) -> None:
        rows = self.jointly_kept(database, True, (1, 0, 1, 9, True), (1, 0, 2, 1, False))
        assert [row[2:] for row in rows] == [(1, 9, True, 0), (2, 1, False, 0)]

    def test_where_persons_cannot_be_distinguished(self, database: duckdb.DuckDBPyConnection) -> None:
        rows = self.jointly_kept(database, False, (1, 1, 1, 9, True), (1, 1, 2, 4, True), (1, 1, 3, 1, False))
        assert [row[2:] for row in rows] == [(1, 9, True, 0), (2, 4, False, 4), (3, 1, False, 0)]
        rows = self.jointly_kept(database, False, (1, 1, 1, 9, True), (1, 1, 2, 3, False))
        assert [row[2:] for row in rows] == [(1, 9, True, 0), (2, 3, False, 0)]

    def test_the_smallest_is_lent(self, database: duckdb.DuckDBPyConnection) -> None:
        """Of each joint class, whose hidden persons do not meet the models alone."""
        columns = "node a b anon_class_size anon_is_met anon_hides_well"
        classes = table(
            columns,
            *((1, 1, 1, 9, True, False), (1, 1, 2, 4, True, False), (1, 1, 3, 4, True, False)),
            *(
                (1, 1, 4, 2, False, False),
                (1, 1, 5, 3, False, False),
                (1, 2, 1, 1, True, True),
                (2, 1, 1, 7, True, False),
            ),
        )
        rows = found(database, "earlier", "lent_classes", classes=classes, node="node", joint=["a"], keys=["b"])
        assert [row[:3] for row in rows if row[-1]] == [(1, 1, 1), (1, 1, 3), (1, 2, 1)]

    def test_what_a_release_may_show(self, database: duckdb.DuckDBPyConnection) -> None:
        persons = table("a c anon_rows", (1, 1, 2), (1, 1, 1), (1, 2, 2), (2, 0, 9))
        rows = found(database, "earlier", "shown_groups", persons=persons, classes=["a"], name="c", k=3)
        assert rows == [(1, 1, 3, True), (1, 2, 2, False), (2, 0, 9, False)]

    def test_persons_without_a_row(self, database: duckdb.DuckDBPyConnection) -> None:
        persons = table("anon_earlier v anon_rows", (1, 7, 5), (1, 8, 2), (0, 7, 9), (2, 7, 4))
        cells = table("a w anon_row_count", (1, 7, 3), (1, 8, 2), (2, 7, 1), (2, 7, 1), (0, 7, 1))
        roles = {"number": column("a AS anon_earlier"), "codes": [column("w AS v")], "values": ["v"]}
        assert found(database, "earlier", "absent_persons", persons=persons, cells=cells, **roles) == [
            (1, 7, 2),
            (2, 7, 2),
        ]

    def test_who_is_withheld(self, database: duckdb.DuckDBPyConnection) -> None:
        """Those whose MD5 come first: of 1 to 4 these are 2, 1, 4 and 3."""
        columns = "anon_person_0 a"
        persons = table(columns, ("'1'", 1), ("'2'", 1), ("'3'", 1), ("'4'", 1), ("'5'", 2), ("'6'", 3))
        withholding = table("a anon_withheld", (1, 2), (2, 0), (3, 1))
        rows = found(
            database, "earlier", "withheld_persons", persons=persons, withholding=withholding, grouped=["a"], k=3
        )
        order = database.execute("SELECT n::VARCHAR FROM range(1, 5) AS t (n) ORDER BY md5(n::VARCHAR)").fetchall()
        assert rows == sorted([*order[:2], ("6",)])

    def test_persons_by_their_classes(self, database: duckdb.DuckDBPyConnection) -> None:
        rows = table("p c v", (1, 4, 7), (1, 4, 7), (1, 4, 7), (2, "NULL", 8), (3, 5, "NULL"))
        roles = {"persons_by": ["p"], "classes": ["c"], "values": ["v"]}
        two = found(database, "earlier", "persons_by_classes", rows=rows, sources=column("2"), **roles)
        assert two == [(1, 4, 7, 2), (2, 0, 8, 1), (3, 5, 0, 1)]

    def test_keys(self, database: duckdb.DuckDBPyConnection) -> None:
        persons = table("p anon_rows", (1, 1), (2, 2), (3, 3), ("NULL", 4), ("NULL", 1))
        assert found(database, "earlier", "key_problems", persons=persons, key="p") == [(5, 2)]
        assert found(database, "earlier", "key_problems", persons=table("p anon_rows", (1, 1)), key="p") == [(0, 0)]

    def test_persons_by_their_sources(self, database: duckdb.DuckDBPyConnection) -> None:
        rows = table("p s", (1, 0), (1, 1), (2, 1), (3, 1), (3, 1), ("NULL", 0))
        are_in = [column("bool_or(s = 0)"), column("bool_or(s = 1)")]
        by_sources = found(database, "earlier", "persons_by_sources", rows=rows, key="p", are_in=are_in)
        assert by_sources == [([False, True], 2), ([True, True], 1)]

    def test_persons_at_risk(self, database: duckdb.DuckDBPyConnection) -> None:
        for sizes, at_risk in (((1, 2, 3, 4), 3), ((3,), 0)):
            joint = table("anon_persons", *((size,) for size in sizes))
            assert found(database, "earlier", "persons_at_risk", joint=joint, k=3) == [(at_risk,)]

    def test_a_release_beside_its_source(self, database: duckdb.DuckDBPyConnection) -> None:
        judged = table("c anon_class_size anon_kept", (1, 3, True), (1, 2, True), (1, 1, False), (2, 4, True))
        for rows, classes in ((((1, 5), (2, 4)), 0), (((1, 6), (2, 4)), 1), (((1, 5), (3, 1)), 1)):
            released = table("c anon_released_rows", *rows)
            mismatches = found(database, "earlier", "release_mismatches", judged=judged, released=released, name="c")
            assert mismatches == [(classes,)]


class TestCounterfeits:
    def test_catalogs_of_counts(self, database: duckdb.DuckDBPyConnection) -> None:
        rows = table("class_id anon_row_count", (1, 2), (1, 1), (2, 4), (3, 3), (4, 2))
        none = column("SELECT 1 AS anon_row_count WHERE FALSE")
        for counterfeits, catalog in ((table("anon_row_count", (1,), (2,)), [([1, 3], 3)]), (none, [])):
            roles = {"equal_rows": rows, "counterfeits": counterfeits, "k": 3}
            assert found(database, "h_ceiling", "catalog_of_counts", **roles) == catalog

    def test_classes_that_are_not_suppressed(self, database: duckdb.DuckDBPyConnection) -> None:
        cells = table("a anon_row_count", (1, 1), (1, 1), (2, 1), (3, 3))
        roles = {"cells": cells, "cells_by_key": cells, "keys": ["a"], "fewest": 2}
        is_of_class = column("anon_classes.a = anon_all.a")
        rows = found(database, "h_ceiling", "kept_cells", is_of_class=is_of_class, **roles)
        assert rows == [(1, 1), (1, 1), (3, 3)]

    def test_rows_of_a_catalog(self, database: duckdb.DuckDBPyConnection) -> None:
        """No more counterfeits of a value than its classes have rows."""
        release = table("class_id d", (1, "'a'"), (2, "'a'"), (3, "'a'"), (1, "'b'"))
        for counterfeits, rows in ((2, 0), (3, 1)):
            written = table("class_ids d counterfeits", ("[1, 2]", "'a'", counterfeits))
            roles = {"release": release, "written": written, "sensitive": "d"}
            assert found(database, "h_ceiling", "more_counterfeits_than_rows", **roles) == [(rows,)]


class TestRelocation:
    def test_classes_that_are_too_small(self, database: duckdb.DuckDBPyConnection) -> None:
        ranked = table("anon_kept anon_class_size", (True, 9), (True, 8), (False, 2), (False, 1), (False, 1))
        assert found(database, "relocation", "class_counts", ranked=ranked) == [(2, 3, 4)]
        assert found(database, "relocation", "class_counts", ranked=table("anon_kept anon_class_size", (True, 9))) == [
            (1, 0, 0)
        ]

    def test_values_that_were_written(self, database: duckdb.DuckDBPyConnection) -> None:
        cells = table("v anon_row_count", ("'a'", 2), ("'b'", 1), ("'a'", 2))
        written = table("d", ("'a'",), ("'c'",))
        roles = {"names": ["d"], "given": [column("v AS d")], "found": [column("d AS d")]}
        assert found(database, "relocation", "changed_values", cells=cells, written=written, **roles) == [(4,)]


class TestSampledClasses:
    def test_those_of_k_rows(self, database: duckdb.DuckDBPyConnection) -> None:
        combinations = table("anon_place anon_row_count", (0, 2), (1, 3), (2, 4))
        assert found(database, "epsilon_safe", "class_sizes", combinations=combinations, k=3) == [(1, 3), (2, 4)]

    def test_cells_of_the_sample(self, database: duckdb.DuckDBPyConnection) -> None:
        placed = table("a anon_row_count anon_place", (7, 5, 0), (8, 6, 1))
        sample = table("anon_place anon_sampled_rows", (0, 0), (1, 1))
        assert found(database, "epsilon_safe", "sampled_cells", placed_cells=placed, sample=sample) == [(8, 1)]
