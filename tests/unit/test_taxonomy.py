"""Taxonomies as values: what they are made from, and arguments that are refused."""

import datetime
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

import sqlanon as sa


def nested(depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {"0": ["x"]}
    for level in range(depth):
        found = {f"{level}": found}
    return found


class TestArguments:
    @pytest.mark.parametrize(
        ("make", "problems"),
        [
            (lambda: sa.Taxonomy.intervals([]), ["no width is given"]),
            (lambda: sa.Taxonomy.intervals([0]), ["width 0 is not positive"]),
            (lambda: sa.Taxonomy.intervals([-5, 0]), ["width -5 is not positive", "width 0 is not positive"]),
            (lambda: sa.Taxonomy.intervals([5, 12]), ["width 12 is not a multiple of 5"]),
            (lambda: sa.Taxonomy.intervals([5, 5]), ["width 5 is not a multiple of 5"]),
            (lambda: sa.Taxonomy.intervals([0.1, 0.25]), ["width 0.25 is not a multiple of 0.1"]),
            (lambda: sa.Taxonomy.intervals([float("nan")]), ["nan is not a finite number"]),
            (lambda: sa.Taxonomy.intervals([float("inf")]), ["inf is not a finite number"]),
            (lambda: sa.Taxonomy.intervals(["wide"]), ["a text is given that is not a number"]),  # type: ignore[list-item]
            (lambda: sa.Taxonomy.intervals([5], minimum=0), ["minimum and maximum go together"]),
            (lambda: sa.Taxonomy.intervals([5], minimum=9, maximum=0), ["minimum 9 is greater than maximum 0"]),
            (
                lambda: sa.Taxonomy.intervals([5], minimum=0, maximum=10**9),
                [
                    "minimum 0 to maximum 1000000000 are 1,000,000,001 values, and a taxonomy lists all of its values, "
                    "2,000,000 at most: declare a smaller domain, round the column in a query first, or give no "
                    "minimum and maximum, so that the values are read from the column"
                ],
            ),
            (
                lambda: sa.Taxonomy.intervals([5, 7], below=9, above=9, maximum=3),
                ["not a multiple", "go together", "below 9 is not smaller than above 9"],
            ),
            (lambda: sa.Taxonomy.dates(["moon"]), ['no unit "moon"; take day, month']),
            (lambda: sa.Taxonomy.dates(["year", "month"]), ["from fine to coarse"]),
            (lambda: sa.Taxonomy.dates(["year", "year"]), ["each once"]),
            (
                lambda: sa.Taxonomy.dates(["week", "month"]),
                ["a week can have days of two months, so week and month do not nest; take day, week, isoyear or "],
            ),
            (lambda: sa.Taxonomy.dates(["week", "year"]), ["a week can have days of two years"]),
            (lambda: sa.Taxonomy.dates(["month", "isoyear"]), ["a month can have days of two ISO years"]),
            (lambda: sa.Taxonomy.dates(["day", "isoyear", "week"]), ["from fine to coarse"]),
            (lambda: sa.Taxonomy.cuts([]), ["no breaks are given"]),
            (lambda: sa.Taxonomy.cuts([[]]), ["level 1 has no breaks"]),
            (lambda: sa.Taxonomy.cuts([[18], [18]]), ["level 2 has all breaks of level 1"]),
            (
                lambda: sa.Taxonomy.cuts([[18, 65], [40]]),
                ["level 2 has the break 40, which level 1 lacks, so the levels do not nest"],
            ),
            (
                lambda: sa.Taxonomy.cuts([[5, 3], [3, 3]], minimum=1),
                ["the breaks of level 1 do not ascend", "the breaks of level 2 do not ascend", "go together"],
            ),
            (lambda: sa.Taxonomy.cuts([["18 "]], minimum=9, maximum=0), ["greater than maximum"]),  # type: ignore[list-item]
            (lambda: sa.Taxonomy.cuts([["old"]]), ["a text is given that is not a number"]),  # type: ignore[list-item]
            (lambda: sa.Taxonomy.cuts([[float("inf")]]), ["inf is not a finite number"]),
            (lambda: sa.Taxonomy.cuts([["1e999999999"]]), ["too large or too small"]),  # type: ignore[list-item]
            (lambda: sa.Taxonomy.cuts([[1e-12]]), ["0.000000000001 has more than nine decimals"]),
            (lambda: sa.Taxonomy.columns([]), ["no column is given"]),
            (lambda: sa.Taxonomy.columns(["a", "B", "A"]), ['column "A" is given twice']),
            (lambda: sa.Taxonomy.groups({}), ["there are no groups"]),
            (
                lambda: sa.Taxonomy.groups({"a": [], "b": ["x", "x"], "": ["y"], "*": ["z"]}),
                [
                    "group 1 has no values",
                    "group 2 lists 1 value more than once",
                    "a label is empty",
                    "a label equals the top",
                ],
            ),
            (
                lambda: sa.Taxonomy.groups({"a": {"o": ["x"]}, "b": {"o": ["y"]}}),
                ["groups 1.1 and 2.1 have the same label, and other labels above it"],
            ),
            (
                lambda: sa.Taxonomy.groups({"a": ["x", "y"], "b": ["y", "x"], "c": {"d": ["w"]}}),
                ["groups 1 and 2 share 2 values", "groups are not nested equally deep"],
            ),
            (
                lambda: sa.Taxonomy.groups({"a": "xyz", "b": [["x"]], "c": None, 4: ["q"], "e": [None]}),
                [
                    "group 1 must be a list of values, or have groups itself",
                    "group 2: values must be texts, numbers, true or false",
                    "group 3 must be a list",
                    "labels must be texts",
                    "group 5: values must be",
                ],
            ),
            (lambda: sa.Taxonomy.groups(nested(1_000)), ["groups are nested more than 64 levels deep"]),
            (lambda: sa.Taxonomy.dates(first=datetime.date.max), ["first and last go together"]),
            (
                lambda: sa.Taxonomy.dates(first="01.12.2025", last=datetime.datetime.max),
                ["first must be a date, such as 2025-12-01", "last must be a date, such as 2025-12-01"],
            ),
            (lambda: sa.Taxonomy.dates(first=datetime.date.max, last=datetime.date.min), ["first is later than last"]),
            (lambda: sa.Taxonomy.prefixes([]), ["kept characters"]),
            (lambda: sa.Taxonomy.prefixes([2, 3]), ["each less than the last"]),
            (lambda: sa.Taxonomy.prefixes([2, -1]), ["not negative"]),
            (lambda: sa.Taxonomy.ipv4([33]), ["between 32 and 1"]),
            (lambda: sa.Taxonomy.ipv4([8, 16]), ["each less than the last"]),
            (lambda: sa.Taxonomy.ipv4([0]), ["between 32 and 1"]),
            (lambda: sa.Taxonomy.from_rows([]), ["there must be some"]),
            (lambda: sa.Taxonomy.from_rows([[]]), ["there must be some"]),
            (lambda: sa.Taxonomy.from_rows([["a", "*"], ["b"]]), ["same number of fields"]),
        ],
    )
    def test_they_are_refused_with_every_problem(self, make: Callable[[], sa.Taxonomy], problems: list[str]) -> None:
        with pytest.raises(sa.TaxonomyError) as caught:
            make()
        for problem in problems:
            assert problem in str(caught.value)

    def test_exact_widths(self) -> None:
        [first, second] = sa.Taxonomy.intervals([0.1, Decimal("0.30")]).rules or ()
        assert first.arguments[0] == Decimal("0.1")
        assert second.arguments[0] == Decimal("0.3")


class TestDomains:
    @pytest.mark.parametrize(
        ("taxonomy", "domain", "needs_source"),
        [
            (sa.Taxonomy.flat(), "observed", True),
            (sa.Taxonomy.flat([]), "declared", False),
            (sa.Taxonomy.intervals([5]), "observed", True),
            (sa.Taxonomy.intervals([5], minimum=0, maximum=0), "declared", False),
            (sa.Taxonomy.dates(), "observed", True),
            (sa.Taxonomy.icd10(["A00"]), "declared", False),
            (sa.Taxonomy.from_rows([("a", "*")]), "declared", False),
            (sa.Taxonomy.from_query("SELECT 1"), "observed", False),
            (sa.Taxonomy.from_query("SELECT 1", domain="declared"), "declared", False),
        ],
    )
    def test_declared_or_observed(self, taxonomy: sa.Taxonomy, domain: str, needs_source: bool) -> None:
        assert taxonomy.domain == domain
        assert taxonomy.needs_source == needs_source

    def test_days_may_be_texts(self) -> None:
        day = datetime.date(2025, 12, 1)
        assert sa.Taxonomy.dates(first="2025-12-01", last="2025-12-01") == sa.Taxonomy.dates(first=day, last=day)

    def test_rows_become_text(self) -> None:
        rows = [(1, "a"), (None, "b"), (True, 2.5)]
        assert sa.Taxonomy.from_rows(rows).rows == (("1", "a"), (None, "b"), ("true", "2.5"))

    def test_generators_are_read_once(self) -> None:
        assert sa.Taxonomy.from_rows(row for row in [("a", "*")]).rows == (("a", "*"),)
        assert sa.Taxonomy.flat(value for value in "ab").values == ("a", "b")
