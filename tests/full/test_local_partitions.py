"""Partitions in the classes of a fit of local recoding: through the Python API and on the command line."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon as sa
from tests.stories.test_local_recoding import COLUMNS, PEOPLE, TAXONOMIES, is_under, policy_of

POLICY = policy_of(sa.KAnonymity(4))
LATER = "SELECT * REPLACE (row_id + 1000 AS row_id) FROM people WHERE row_id % 3 = 0"
ALONE = """
SELECT
    CAST(5000 AS BIGINT) AS row_id, 3 AS person, 79 AS age, 'f' AS sex, '10390' AS zip, 'flu' AS illness, 1 AS weight
"""
"""A row whose values are in no class of the people together."""


@pytest.fixture(scope="module")
def session() -> Iterator[sa.Session]:
    """A session with table ``people`` and its taxonomies, which know all values."""
    with sa.connect(":memory:", threads=1) as session:
        session.connection.execute(PEOPLE)
        session.taxonomies.load_all(TAXONOMIES, source="people")
        yield session


def fitted(session: sa.Session, folder: Path, policy: sa.Policy, **options: Any) -> Path:
    session.partitions.fit("people", policy, folder / "people.fit", accept_observed_domain=True, **options)
    return folder / "people.fit"


def rows_of(session: sa.Session, source: str) -> list[tuple[Any, ...]]:
    """Rows of a partition beside the values that they come from."""
    return session.connection.execute(
        f"""
        SELECT r.age, p.age, r.sex, p.sex, r.zip, p.zip
        FROM '{source}' AS r JOIN (FROM people UNION ALL {LATER}) AS p USING (row_id)
        """
    ).fetchall()


class TestFit:
    def test_it_lists_classes_in_place_of_a_node(self, session: sa.Session, tmp_path: Path) -> None:
        fit = session.partitions.fit("people", POLICY, tmp_path / "people.fit", accept_observed_domain=True)
        assert (fit.node, fit.suppressed_rows, fit.search) == ({}, 0, "local-recoding")
        assert f"{fit.class_count} classes at levels of their own" in fit.to_html()
        with duckdb.connect(str(tmp_path / "people.fit"), read_only=True) as connection:
            listed = connection.execute("SELECT count(*), count(DISTINCT anon_class) FROM classes").fetchone()
        assert listed == (fit.class_count * len(COLUMNS), fit.class_count)
        release = session.anonymize("people", POLICY, tmp_path / "released.parquet")
        assert release.report.loss <= fit.loss <= release.report.loss * 1.1

    def test_what_counts_cannot_prove_is_refused(self, session: sa.Session, tmp_path: Path) -> None:
        with pytest.raises(sa.PolicyError, match="takes no node: each class has levels of its own"):
            session.partitions.fit("people", POLICY, tmp_path / "people.fit", node=dict.fromkeys(COLUMNS, 0))
        method = sa.LocalRecoding(aggregate={"age": "mean"}, suppression="mask")
        policy = policy_of(sa.KAnonymity(4), method=method, individual="person")
        with pytest.raises(sa.PolicyError, match="cannot be applied to one partition after another") as refused:
            session.partitions.fit("people", policy, tmp_path / "people.fit")
        assert [problem.partition(":")[0] for problem in refused.value.problems] == [
            'aggregate of "age"',
            'individual "person"',
            'suppression "mask"',
        ]


class TestApply:
    def test_new_rows_join_the_classes_that_cover_them(self, session: sa.Session, tmp_path: Path) -> None:
        """And all rows of the fit are published; both are verified together.

        Too many rows that no class covers are refused, and so are values that a taxonomy does not have.
        """
        sidecar = fitted(session, tmp_path, POLICY)
        into, people = tmp_path / "later.parquet", tmp_path / "people.parquet"
        session.partitions.apply("people", sidecar, people)
        with pytest.raises(sa.UnsatisfiableError) as refused:
            session.partitions.apply(f"{LATER} UNION ALL {ALONE}", sidecar, into)
        assert refused.value.problems == (
            "0 of its 201 rows are in classes that fall short",
            "1 of its rows are in none of the classes of the fit, which suppresses them",
            "with 0 of 600 rows suppressed before, that is 1 of 801, where 0 may be (suppression_limit 0 %)",
            "what can help: a partition of more rows, a fit on more rows like these, or a larger suppression_limit",
        )
        with pytest.raises(sa.TaxonomyError, match='"zip"'):
            session.partitions.apply(f"{LATER} UNION ALL {ALONE.replace('10390', '99999')}", sidecar, into)
        assert not into.exists()
        release = session.partitions.apply(LATER, sidecar, into)
        assert release.node == {}
        assert (release.report.rows.released, release.report.rows.dropped, release.report.notes) == (200, 0, ())
        assert any("minimality" in each for each in release.guarantee.not_covered)
        rows = session.connection.execute(
            f"""
            SELECT count(*) FROM '{into}' AS r JOIN '{people}' AS p
            ON r.row_id = p.row_id + 1000 WHERE (r.age, r.sex, r.zip) IS NOT DISTINCT FROM (p.age, p.sex, p.zip)
            """
        ).fetchone()
        assert rows == (200,), "rows of equal values are in the same class in every partition"
        published = rows_of(session, str(people))
        assert len(published) == 600
        for age, raw_age, sex, raw_sex, area, raw_area in published:
            assert is_under(raw_age, age)
            assert sex in ("*", raw_sex)
            assert area == "*" or re.fullmatch(area.replace("*", "."), raw_area)
        found = session.verify(f"{sidecar.parent}/*.parquet", POLICY)
        assert (found.met, found.notes, found.shortfalls) == (True, (), ())

    def test_rows_that_no_class_covers_are_suppressed(self, session: sa.Session, tmp_path: Path) -> None:
        sidecar = fitted(session, tmp_path, policy_of(sa.KAnonymity(4), suppression_limit=0.01))
        release = session.partitions.apply(f"{LATER} UNION ALL {ALONE}", sidecar, tmp_path / "later.parquet")
        assert (release.report.rows.source, release.report.rows.released, release.report.rows.dropped) == (201, 200, 1)
        assert release.report.notes == ("1 of its rows are in none of the classes of the fit, which suppresses them",)
        again = session.partitions.apply(f"{LATER} UNION ALL {ALONE}", sidecar, tmp_path / "later.parquet")
        assert again.report.rows == release.report.rows
