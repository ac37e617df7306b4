"""Figures of reports on small tables: each is the answer of a macro, or of a count that anybody can make."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.model.release.release_report import ReleaseReport
from sqlanon.model.release.reported_columns import ReportedColumn
from tests.effort import examples

COLUMNS = ["age", "town"]
TAXONOMIES = {
    "age": sa.Taxonomy.intervals([2, 4], minimum=20, maximum=27),
    "town": sa.Taxonomy.groups({"Rhine": ["Bonn", "Köln"], "Danube": ["Ulm"]}),
}
ROWS = st.lists(
    st.tuples(st.integers(20, 27), st.sampled_from(["Bonn", "Köln", "Ulm"]), st.sampled_from(["flu", "gout"])),
    min_size=4,
    max_size=30,
)
METHODS = st.sampled_from([sa.FullDomain(suppression_limit=0.5), sa.LocalRecoding(suppression_limit=0.5)])


@pytest.fixture(scope="module")
def session() -> Iterator[sa.Session]:
    with sa.connect() as opened:
        opened.install()
        for name, taxonomy in TAXONOMIES.items():
            opened.taxonomies.load(name, taxonomy)
        yield opened


@given(rows=ROWS, k=st.integers(2, 4), method=METHODS)
@settings(max_examples=examples(40))
def test_figures_are_those_of_the_macros(session: sa.Session, rows: list[Any], k: int, method: Any) -> None:
    session.connection.execute("CREATE OR REPLACE TABLE people (age INTEGER, town VARCHAR, illness VARCHAR)")
    session.connection.executemany("INSERT INTO people VALUES (?, ?, ?)", rows)
    policy = sa.Policy(quasi_identifiers=COLUMNS, sensitive=["illness"], privacy=[sa.KAnonymity(k)], method=method)
    try:
        session.anonymize("people", policy, "released", replace=True)
    except sa.UnsatisfiableError:
        return
    found = session.report("released", policy, source="people")
    exposures(session, found)
    sizes_of_classes(session, found, k)
    labels_of_columns(session, found, k)
    assert found.left_out_rows == len(rows) - found.released_rows
    assert ReleaseReport.model_validate_json(found.model_dump_json()) == found


def exposures(session: sa.Session, found: ReleaseReport) -> None:
    for table, exposure in (("people", found.before), ("released", found.after)):
        assert exposure is not None
        [counts] = asked(session, "SELECT k, class_count, row_count FROM anon.k_anonymity(?, ?)", table)
        assert (exposure.k, exposure.class_count, exposure.row_count) == counts
        [risks] = asked(session, "SELECT highest_risk, average_risk FROM anon.prosecutor_risk(?, ?)", table)
        assert (exposure.highest_risk, exposure.average_risk) == pytest.approx(risks)
        [(alone,)] = asked(session, "SELECT unique_rows FROM anon.sample_uniqueness(?, ?)", table)
        assert exposure.unique_rows == alone


def sizes_of_classes(session: sa.Session, found: ReleaseReport, k: int) -> None:
    for table in ("people", "released"):
        rows = Counter[int]()
        for (size,) in asked(session, "SELECT class_size FROM anon.class_sizes(?, ?)", table):
            rows[size] += size
        first = 1
        for each in found.sizes:
            last = each.most or max(rows)
            between = sum(rows[size] for size in range(first, last + 1))
            share = each.before if table == "people" else each.after
            is_hidden = table == "people" and 0 < between < k
            assert share == (None if is_hidden else pytest.approx(between / rows.total()))
            first = last + 1


def labels_of_columns(session: sa.Session, found: ReleaseReport, k: int) -> None:
    ask = session.connection.execute
    for column in found.columns:
        after = dict(ask(f"SELECT CAST({column.name} AS VARCHAR), count(*) FROM released GROUP BY ALL").fetchall())
        assert {each.label: each.after for each in column.labels if each.after} == {
            label: rows for label, rows in after.items() if rows >= k
        }
        assert sum(missing_of(column)) == rows_of_missing_values(session, column.name, k)
        if column.role == "sensitive":
            query = "SELECT homogeneous_rows FROM anon.homogeneous_rows(?, ?, 'illness')"
            assert [(column.homogeneous_rows,)] == asked(session, query, "released")
            before = dict(ask("SELECT illness, count(*) FROM people GROUP BY ALL").fetchall())
        else:
            assert sum(each.shown for each in column.levels) == pytest.approx(1)
            [shown] = [each.level for each in column.levels if each.shown == 1] or [None]
            levels = "SELECT label, count(*) FROM people JOIN anon_helpers.taxonomy_levels(?) "
            query = f"{levels} ON value = CAST({column.name} AS VARCHAR) WHERE level = ? GROUP BY label"
            before = {} if shown is None else dict(ask(query, [column.name, shown]).fetchall())
        for each in column.labels:
            if each.before is not None and each.after:
                assert each.before == before[each.label]
                assert not 0 < abs(each.before - each.after) < k


def missing_of(column: ReportedColumn) -> Iterator[int]:
    """Rows of labels that the release has no row of; values that are released as they are need k rows to be named."""
    yield from (each.before or 0 for each in column.labels if not each.after)
    yield column.other_vanished_rows


def rows_of_missing_values(session: sa.Session, name: str, k: int) -> int:
    """Rows of the source with a value that no released label stands for."""
    ask = session.connection.execute
    shown = {label for (label,) in ask(f"SELECT DISTINCT CAST({name} AS VARCHAR) FROM released").fetchall()}
    values = ask(f"SELECT CAST({name} AS VARCHAR), count(*) FROM people GROUP BY ALL").fetchall()
    if name == "illness":
        return sum(rows for value, rows in values if value not in shown and rows >= k)
    labels = ask("SELECT value, label FROM anon_helpers.taxonomy_levels(?)", [name]).fetchall()
    return sum(rows for value, rows in values if shown.isdisjoint(label for each, label in labels if each == value))


def asked(session: sa.Session, query: str, table: str) -> list[Any]:
    return session.connection.execute(query, [table, COLUMNS]).fetchall()
