"""Rows with values that a taxonomy does not have: in partitions, by other methods, in CSV files, by commands."""

from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from sqlanon.model.release import RowCounts
from tests.full.test_unknown_actions import HOSTILE, QUOTED, labels, policy
from tests.full.test_unknown_actions import session as session
from tests.full.test_unknown_actions import shared_session as shared_session


@pytest.mark.parametrize("method", [sa.Relocation(k=2), sa.HCeiling(k=2, h=0.9)])
def test_methods_that_suppress_nothing_leave_them_out(session: sa.Session, method: Any) -> None:
    wanted = policy("suppress", privacy=[], suppression_limit=None, method=method)
    release = session.anonymize("SELECT * FROM trips WHERE ill IS NOT NULL", wanted, into="released")
    assert (release.report.rows.source, release.report.rows.unknown) == (16, 5)
    assert "*" not in labels(session) or release.node[HOSTILE] == 2
    assert session.verify("released", wanted, source="trips", strict=False).shortfalls == ()


class TestParts:
    KNOWN, NODE = "FROM trips WHERE age < 35", {HOSTILE: 1, "age": 0}

    def test_new_values_are_left_out_within_the_limit_of_all_parts(self, session: sa.Session, tmp_path: Path) -> None:
        session.partitions.fit(self.KNOWN, policy("suppress"), tmp_path / "suppress", node=self.NODE)

        def applied(source: str, name: str) -> Any:
            return session.partitions.apply(source, tmp_path / "suppress", tmp_path / name).report

        lima = f"SELECT 'Lima' AS {QUOTED}, age, ill FROM trips"
        first = applied("FROM trips WHERE ill = 'flu'", "1.parquet")
        assert first.rows == RowCounts(source=9, released=6, masked=0, dropped=0, unknown=3)
        assert first.unknown_rows == {HOSTILE: 3}
        with pytest.raises(sa.UnsatisfiableError) as refused:
            applied(lima, "2.parquet")
        assert str(refused.value).startswith("16 of 16 rows")
        with pytest.raises(sa.UnsatisfiableError) as refused:
            applied(f"{lima} UNION ALL FROM trips WHERE ill = 'flu'", "2.parquet")
        assert any("19 rows have a value of" in problem for problem in refused.value.problems)
        second = applied("FROM trips WHERE ill = 'cold'", "2.parquet")
        assert second.union == RowCounts(source=16, released=10, masked=0, dropped=1, unknown=5)

    @pytest.mark.deep
    def test_new_values_at_the_top_join_those_of_other_parts(self, session: sa.Session, tmp_path: Path) -> None:
        """The class of unknown towns has two rows, then none in a part, then one more that is published with them."""
        session.partitions.fit(self.KNOWN, policy("top"), tmp_path / "top", node=self.NODE)
        parts = {
            "1": ("FROM trips WHERE ill = 'flu' AND age = 30", 8, 2),
            "2": (f"FROM trips WHERE {QUOTED} = 'Kiel'", 4, 2),
            "3": ("SELECT 'Lima', 30, 'cold' UNION ALL SELECT 'Bonn', 30, 'flu'", 2, 3),
        }
        for name, (source, released, at_top) in parts.items():
            source = f"SELECT * FROM ({source}) AS rows ({QUOTED}, age, ill)"
            report = session.partitions.apply(source, tmp_path / "top", tmp_path / f"{name}.parquet").report
            assert report.rows.released == released
            assert labels(session, f"'{tmp_path}/*.parquet'").get("*") == at_top
        assert session.verify(f"{tmp_path}/*.parquet", policy("top")).met


def test_rows_are_generalized_as_the_policy_of_a_release_says(session: sa.Session) -> None:
    method = sa.TopDownSpecialization(k=2)
    wanted = policy("suppress", privacy=[], suppression_limit=None, method=method)
    source = "SELECT * FROM trips WHERE COLUMNS(*) IS NOT NULL"
    release = session.anonymize(source, wanted, into="released")
    assert (release.report.rows.unknown, release.report.rows.released) == (5, 10)
    found = session.generalize(source, "released", "others")
    try:
        assert (found.rows, found.unknown_rows) == (10, 5)
        assert sum(labels(session, "others").values()) == 10
    finally:
        session.connection.execute("DROP TABLE others")


def test_values_of_csv_files_are_as_taxonomies_take_them(tmp_path: Path) -> None:
    months = {"kind": "dates", "units": ["month"], "first": "2016-01-01", "last": "2016-12-31"}
    columns: dict[str, tuple[str, Any]] = {
        "a": ("2016/01/02", months),
        "b": ("Yes", {"kind": "flat", "values": ["Yes", "No"]}),
        "c": ("20.50", {"kind": "flat", "values": ["20.50"]}),
        "d": (" 20", {"kind": "intervals", "widths": [10], "minimum": 0, "maximum": 99}),
    }
    line = ",".join(written for written, _ in columns.values())
    (tmp_path / "a.csv").write_text(f"{','.join(columns)},x\n{line},x\n{line},y\n")
    rules = {name: rule for name, (_, rule) in columns.items()}
    unknown = dict(zip(columns, ("suppress", "top", "suppress", "top"), strict=True))
    wanted = sa.Policy(
        quasi_identifiers=[*columns], rest="identifier", privacy=[sa.KAnonymity(2)], unknown=unknown, taxonomies=rules
    )
    with sa.connect() as session:
        report = session.anonymize(tmp_path / "a.csv", wanted, into="released").report
    assert (report.rows.released, report.unknown_rows) == (2, {})
