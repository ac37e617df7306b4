"""New rows in the classes of a release of local recoding: which class they get, and what is refused."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import sqlanon as sa
from tests.case_tables import quoted
from tests.commands import document, sqlanon
from tests.full.test_local_partitions import ALONE
from tests.stories.test_local_recoding import COLUMNS, PEOPLE, TAXONOMIES, is_under, policy_of


@pytest.fixture(scope="module")
def session() -> Iterator[sa.Session]:
    """A session with the people, published as ``released``."""
    with sa.connect(":memory:", threads=1) as session:
        session.connection.execute(PEOPLE)
        session.taxonomies.load_all(TAXONOMIES, source="people")
        session.anonymize("people", policy_of(sa.KAnonymity(4), quality=sa.NCP()), "released")
        yield session


def losses_of(session: sa.Session, table: str) -> dict[int, float]:
    """What each row of a table loses by NCP, by its number; labels of several levels have the leaves of the highest."""
    lost = " + ".join(
        f"""
        coalesce((
            SELECT if(count(*) > 1, count(*), 0) / (
                SELECT count(*) FROM anon.taxonomy AS d WHERE d.attribute = '{name}' AND d.level = 0
            )
            FROM anon.taxonomy AS t WHERE t.attribute = '{name}' AND t.label = g.{name} GROUP BY t.level
            ORDER BY t.level DESC LIMIT 1
        ), 0)
        """
        for name in COLUMNS
    )
    return dict(session.connection.execute(f"SELECT row_id, {lost} FROM {table} AS g").fetchall())


def test_rows_of_the_source_are_covered_and_lose_no_more(session: sa.Session) -> None:
    done = session.generalize("people", "released", into="again", replace=True)
    assert (done.rows, done.unknown_rows, done.uncovered_rows) == (600, 0, 0)
    assert done.generalized == ("age", "sex", "zip")
    before, after = losses_of(session, "released"), losses_of(session, "again")
    assert len(before) == len(after) == 600
    assert all(after[row] <= before[row] + 1e-12 for row in before)
    classes = "SELECT DISTINCT age, sex, zip FROM"
    assert session.connection.execute(f"({classes} again) EXCEPT ({classes} released)").fetchall() == []
    # Labels are above values, and other columns stay.
    rows = session.connection.execute(
        "SELECT g.age, p.age, g.sex, p.sex, g.zip, p.zip, "
        "(g.person, g.illness, g.weight) = (p.person, p.illness, p.weight) "
        "FROM again AS g JOIN people AS p USING (row_id)"
    ).fetchall()
    assert len(rows) == 600
    for age, raw_age, sex, raw_sex, area, raw_area, is_kept in rows:
        assert is_under(raw_age, age)
        assert sex in ("*", raw_sex)
        assert area == "*" or re.fullmatch(area.replace("*", "."), raw_area)
        assert is_kept


def test_rows_that_no_class_covers_are_left_out(session: sa.Session) -> None:
    done = session.generalize(f"FROM people UNION ALL {ALONE}", "released", into="again", replace=True)
    assert (done.rows, done.uncovered_rows) == (600, 1)
    assert session.connection.execute("SELECT count(*) FROM again WHERE row_id = 5000").fetchone() == (0,)


def test_values_that_a_taxonomy_does_not_have_are_refused(session: sa.Session) -> None:
    with pytest.raises(sa.TaxonomyError, match='"zip"'):
        session.generalize(ALONE.replace("10390", "99999"), "released", into="unknown")
    with pytest.raises(sa.PolicyError, match="zip"):
        session.generalize("SELECT age, sex FROM people", "released", into="unknown")
    assert not session.connection.execute("FROM duckdb_tables() WHERE table_name = 'unknown'").fetchall()


def test_another_taxonomy_is_refused(tmp_path: Path, session: sa.Session) -> None:
    session.connection.execute(f"COPY people TO '{tmp_path}/people.parquet'")
    session.anonymize("people", policy_of(sa.KAnonymity(4)), tmp_path / "released.parquet")
    with sa.connect(":memory:", threads=1) as other:
        others = {**TAXONOMIES, "age": sa.Taxonomy.intervals([7], minimum=20, maximum=79)}
        other.taxonomies.load_all(others, source=str(tmp_path / "people.parquet"))
        with pytest.raises(sa.TaxonomyError, match='the taxonomy "age" is not that of the release'):
            other.generalize(tmp_path / "people.parquet", tmp_path / "released.parquet", into="again")


def test_masked_rows_are_not_a_class(session: sa.Session) -> None:
    """What was masked for want of company does not cover every row."""
    models = [sa.KAnonymity(4), sa.TCloseness("illness", 0.05)]
    release = session.anonymize(
        "people", policy_of(*models, suppression_limit=0.5, suppression="mask"), "masked", replace=True
    )
    done = session.generalize("people", "masked", into="again", replace=True)
    assert done.rows + done.uncovered_rows == 600
    assert release.report.rows is not None
    assert done.rows >= 600 - release.report.rows.masked


HOSTILE = ['a"b; drop table x --', "it's", "position"]


@pytest.mark.deep
def test_hostile_names(session: sa.Session, tmp_path: Path) -> None:
    """Of a release, of new rows, and of a fit with a partition."""
    columns = ", ".join(f"{old} AS {quoted(new)}" for old, new in zip(COLUMNS, HOSTILE, strict=True))
    source = f"SELECT {columns}, illness FROM people"
    session.taxonomies.load_all(dict(zip(HOSTILE, map(TAXONOMIES.get, COLUMNS), strict=True)), source=source)
    method = sa.LocalRecoding()
    policy = sa.Policy(quasi_identifiers=HOSTILE, sensitive=["illness"], privacy=[sa.KAnonymity(4)], method=method)
    session.anonymize(source, policy, "hostile")
    assert session.generalize(source, "hostile", into="hostile_again").rows == 600
    session.partitions.fit(source, policy, tmp_path / "named.fit", accept_observed_domain=True)
    session.partitions.apply(source, tmp_path / "named.fit", tmp_path / "named.parquet")
    assert session.verify(tmp_path / "named.parquet", policy).met


def test_the_command_line(tmp_path: Path) -> None:
    with sa.connect(tmp_path / "people.duckdb", threads=1) as session:
        session.connection.execute(PEOPLE)
        session.taxonomies.load_all(TAXONOMIES, source="people")
        session.anonymize("people", policy_of(sa.KAnonymity(4)), "released")
    options = ["--like", "released", "--db", "people.duckdb", "--into", "again.parquet"]
    done = sqlanon("generalize", f"FROM people UNION ALL {ALONE}", *options, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1 were left out: no class covers them" in done.stderr
    found = document(sqlanon("generalize", "people", *options, "--replace", "--json", folder=tmp_path))
    assert (found["rows"], found["uncovered_rows"]) == (600, 0)
