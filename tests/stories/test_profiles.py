"""Profiles of columns and previews of taxonomies, beside counts by hand."""

import datetime
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.model.taxonomy.rules import taxonomy_of
from tests.strategies import HOSTILE_NAMES

CANARY = "canary-7391"


def table(session: sa.Session, name: str, kind: str, values: list[Any]) -> None:
    session.connection.execute(f'CREATE OR REPLACE TABLE t ("{name.replace(chr(34), chr(34) * 2)}" {kind})')
    session.connection.execute("INSERT INTO t SELECT unnest($1)", [values])


def by_value(values: list[Any]) -> Counter[Any]:
    return Counter(value for value in values if value is not None)


@pytest.fixture(scope="module")
def memory() -> Any:
    with sa.connect() as session:
        yield session


class TestProfile:
    @given(
        st.lists(st.none() | st.integers(-60, 60) | st.integers(-(10**12), 10**12), max_size=30),
        st.sampled_from(["BIGINT", "DOUBLE", "DECIMAL(18, 3)", "VARCHAR"]),
        st.integers(1, 4),
    )
    def test_counts_are_those_by_hand(self, memory: sa.Session, values: list[Any], kind: str, least: int) -> None:
        table(memory, "a", kind, values)
        [found] = memory.profile("t", least=least).columns
        counts = by_value(values)
        assert (found.rows, found.missing, found.values) == (len(values), values.count(None), len(counts))
        assert found.rare_rows == sum(rows for rows in counts.values() if rows < least)
        shown = sorted((rows for rows in counts.values() if rows >= least), reverse=True)[:4]
        assert [each.rows for each in found.frequent] == shown
        assert all(counts[float(each.value)] == each.rows for each in found.frequent)
        if kind == "VARCHAR" or not counts:
            assert found.histogram is None
            assert [*found.frequencies] == sorted(counts.values(), reverse=True)[:24]
        else:
            assert found.histogram is not None and found.histogram.edges is not None
            edges, bins = found.histogram.edges, found.histogram.rows
            assert len(edges) == len(bins) + 1 <= 25 and list(edges) == sorted(edges)
            for low, high, rows in zip(edges, edges[1:], bins, strict=False):
                assert rows == sum(n for value, n in counts.items() if float(low) <= value < float(high))

    def test_days_and_times_have_edges_as_text(self, memory: sa.Session) -> None:
        table(memory, "at", "TIMESTAMP", [datetime.datetime(2024, 1, day, 5) for day in (1, 1, 2, 9)])
        query = (
            "SELECT at, at::DATE AS day, 'infinity'::DATE AS never, at::TIME AS clock, "
            "'5881580-07-10'::DATE AS late FROM t"
        )
        moment, day, never, clock, late = memory.profile(query).columns
        assert day.histogram is not None and day.histogram.edges is not None
        assert day.histogram.edges[:2] == ("2024-01-01", "2024-01-02") and day.histogram.rows == (2, 1, *[0] * 6, 1)
        assert moment.histogram is not None and sum(moment.histogram.rows) == 4
        assert (
            never.histogram is late.histogram is clock.histogram is None
            and never.frequencies == (4,) == clock.frequencies
        )

    def test_hidden_columns_show_no_value(self, memory: sa.Session) -> None:
        query = f"SELECT '{CANARY}' AS Name, 739173917 AS number FROM range(9)"
        found = memory.profile(query, hidden=["name", "number"])
        assert [each.rows for each in found.columns] == [9, 9] and all(each.is_hidden for each in found.columns)
        assert CANARY not in found.model_dump_json() and "7391739" not in found.model_dump_json()
        assert CANARY in memory.profile(query).to_html()

    def test_columns_are_chosen_and_missing_ones_refused(self, memory: sa.Session) -> None:
        for name in HOSTILE_NAMES:
            table(memory, name, "VARCHAR", ["x\x1b[0m", None])
            [found] = memory.profile("t", [name], least=1).columns
            assert found.name == name and found.frequent[0].value == "x\\x1b[0m"
        with pytest.raises(sa.PolicyError, match=r'(?s)column "ag" is not there.*column "zi" is not there'):
            memory.profile("SELECT 1 AS age, 2 AS zip", ["ag"], hidden=["zi"])
        with pytest.raises(sa.PolicyError, match="least is a number of rows"):
            memory.profile("t", least=0)


RULES: list[tuple[str, dict[str, Any]]] = [
    ("BIGINT", {"kind": "intervals", "widths": [5, 10], "minimum": -90, "maximum": 90}),
    ("DOUBLE", {"kind": "intervals", "widths": [5, 10], "minimum": -90, "maximum": 90}),
    ("VARCHAR", {"kind": "prefixes", "keep": [1]}),
    ("INTEGER", {"kind": "cuts", "breaks": [[0, 18], [18]]}),
    ("VARCHAR", {"kind": "rows", "rows": [[each, "even" if each % 2 == 0 else "odd", "*"] for each in range(-90, 91)]}),
]


class TestPreview:
    @given(
        st.lists(st.none() | st.integers(-90, 90), min_size=1, max_size=30), st.sampled_from(RULES), st.integers(1, 3)
    )
    def test_labels_are_those_of_the_stored_taxonomy(
        self, memory: sa.Session, values: list[Any], made: tuple[str, dict[str, Any]], least: int
    ) -> None:
        kind, rule = made
        table(memory, "a", kind, values)
        found = memory.taxonomies.preview(rule, "t", "A", least=least, values=1_000, rare=True)
        assert (found.rows, found.missing) == (len(values), values.count(None))
        assert found.value_count == len(by_value(values))
        memory.taxonomies.load("a", taxonomy_of(rule), source="t")
        assert memory.taxonomies.preview("stored", "t", "a", least=least, values=1_000, rare=True) == found
        labels = memory.connection.execute(
            "SELECT level, label, count(*) FROM t, anon.taxonomy WHERE attribute = 'a' AND "
            "(value = a::VARCHAR OR value = TRY_CAST(a AS BIGINT)::VARCHAR) GROUP BY ALL"
        ).fetchall()
        for level in found.levels:
            counts = {text: rows for depth, text, rows in labels if depth == level.level}
            assert level.labels is not None and sorted(counts.values()) == sorted(each.rows for each in level.labels)
            if level.level > 0:
                assert {each.label: each.rows for each in level.labels} == counts
            rare = [rows for rows in counts.values() if rows < least]
            assert (level.rare_labels, level.rare_rows) == (len(rare), sum(rare))
            assert (level.label_count, level.smallest_rows) == (len(counts), min(counts.values()))
        assert sum(each.rows for each in found.values) == len(values) - values.count(None)
        assert bool(found.levels) is bool(found.values)

    def test_labels_stand_below_those_above_them(self, memory: sa.Session) -> None:
        groups = {"South": {"Bavaria": ["Ulm", "Hof"], "Alps": ["Füssen"]}, "North": {"Coast": ["Kiel"]}}
        towns = "SELECT unnest(['Ulm', 'Ulm', 'Hof', 'Füssen', 'Kiel', NULL]) AS town"
        found = memory.taxonomies.preview({"kind": "groups", "groups": groups}, towns, "town", least=2, values=9)
        shown = [[(each.label, each.rows) for each in level.labels or ()] for level in found.levels]
        assert shown == [
            [(None, 1), (None, 1), (None, 1), ("Ulm", 2)],
            [(None, 1), (None, 1), ("Bavaria", 3)],
            [(None, 1), ("South", 4)],
            [("*", 5)],
        ]
        assert found.height == 3 and found.missing == 1
        assert [(each.value, each.labels) for each in found.values][2:] == [
            (None, ("Bavaria", "South", "*")),
            ("Ulm", ("Bavaria", "South", "*")),
        ]
        assert found.groups()[1:] == [
            [(None, 1, 1), (None, 1, 1), ("South", 4, 3)],
            [(None, 1, 1), ("Bavaria", 3, 2)],
            [("Ulm", 2, 1)],
        ]
        few = memory.taxonomies.preview("flat", towns, "town", labels=2)
        assert few.levels[0].labels is None and few.levels[1].labels is not None

    def test_texts_of_csv_files_are_read_as_by_a_run(self, memory: sa.Session, tmp_path: Path) -> None:
        file = tmp_path / "visits.csv"
        file.write_text("day,age\n31.1.2024,027\n1.2.2024,27.0\n,x\n", encoding="utf-8")
        days = memory.taxonomies.preview({"kind": "dates", "units": ["month"]}, str(file), "day", least=1)
        assert [each.label for each in days.levels[1].labels or ()] == ["2024-01", "2024-02"] and days.missing == 1
        ages = {"kind": "intervals", "widths": [10], "minimum": 0, "maximum": 99}
        with pytest.raises(sa.TaxonomyError, match="1 distinct value in 1 row"):
            memory.taxonomies.preview(ages, str(file), "age")
        file.write_text("day,age\n31.1.2024,027\n1.2.2024,27.0\n,\n", encoding="utf-8")
        assert memory.taxonomies.preview(ages, str(file), "age", least=1).levels[0].label_count == 1

    def test_items_of_sets_are_counted(self, memory: sa.Session) -> None:
        found = memory.taxonomies.preview("flat", "SELECT ['a', 'b'] AS drugs UNION ALL SELECT ['a']", "drugs")
        assert found.rows == 3 and found.levels[0].label_count == 2

    @pytest.mark.parametrize(
        ("rule", "message"),
        [
            ({"kind": "intervals", "widths": [5, 7]}, "not a multiple"),
            ({"kind": "interval"}, "not a kind of taxonomy"),
            ({"kind": "dates"}, "other than dates, which get no label"),
            ({"kind": "groups", "groups": {"g": ["other"]}}, r"1 distinct value in 2 rows"),
            ({"kind": "columns", "columns": ["b"]}, "several values of"),
            ({"kind": "columns", "columns": ["missing"]}, r'column "missing" is not in'),
            ("no_file.csv", "no_file.csv"),
            ("stored", "the database has no taxonomy"),
            (7, "not a int"),
        ],
    )
    def test_refusals_are_those_of_a_run(self, memory: sa.Session, rule: Any, message: str) -> None:
        memory.connection.execute(f"CREATE OR REPLACE TABLE u AS SELECT '{CANARY}' AS a1, i AS b FROM range(2) t (i)")
        with pytest.raises(sa.TaxonomyError, match=message) as refused:
            memory.taxonomies.preview(rule, "u", "a1")
        assert CANARY not in str(refused.value)
        memory.taxonomies.preview("flat", "u", "a1")

    def test_missing_columns_and_limits_are_refused(self, memory: sa.Session) -> None:
        with pytest.raises(sa.TaxonomyError, match=r'column "ag" is not in .*; did you mean "age"'):
            memory.taxonomies.preview("flat", "SELECT 1 AS age", "ag")
        with pytest.raises(sa.PolicyError, match=r"(?s)least is 0.*values is -1"):
            memory.taxonomies.preview("flat", "SELECT 1 AS age", "age", least=0, values=-1)
