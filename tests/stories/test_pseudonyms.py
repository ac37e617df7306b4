"""Pseudonyms from outside: what is published, what is refused, and where the secret key is not."""

import hmac
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pytest

import sqlanon as sa
from sqlanon.model.pseudonym_key import VARIABLE

KEY = b"5ec3e7c0ffee1248" * 3
OTHER_KEY = b"another key00" * 4
HOSTILE = 'a""b"; drop table x --'
VISITS = """
SELECT 'P' || i AS patient, CAST(20 + i * 7 % 40 AS INTEGER) AS age, ['flu', 'asthma', 'angina'][1 + i % 3] AS diagnosis
FROM range(200) AS visits (i)
"""


def pseudonym(value: object, key: bytes = KEY) -> str:
    return hmac.new(key, str(value).encode(), "sha256").hexdigest()


def policy(**changes: Any) -> sa.Policy:
    values: dict[str, Any] = {
        "quasi_identifiers": ["age"],
        "sensitive": ["diagnosis"],
        "pseudonyms": ["patient"],
        "privacy": [sa.KAnonymity(5)],
        "suppression_limit": 0.1,
        "earlier": "none",
        "taxonomies": {"age": {"kind": "intervals", "widths": [10, 20], "minimum": 0, "maximum": 99}},
    }
    return sa.Policy(**{**values, **changes})


class Made(NamedTuple):
    """A session with the macros on 200 patients, each with a row, and their release as ``released``."""

    session: sa.Session
    release: sa.Release


@pytest.fixture(scope="module")
def shared() -> Iterator[Made]:
    with pytest.MonkeyPatch.context() as patch, duckdb.connect(config={"threads": 1}) as connection:
        patch.delenv(VARIABLE, raising=False)
        connection.execute(f"CREATE TABLE visits AS {VISITS}")
        session = sa.connect(connection)
        session.install()
        release = session.anonymize("visits", policy(), "released", pseudonym_key=KEY)
        connection.execute("CREATE TABLE unaltered AS FROM released")
        yield Made(session, release)


@pytest.fixture
def session(shared: Made) -> Iterator[sa.Session]:
    """The session; whatever a test makes or changes of both tables is undone."""
    yield shared.session
    connection = shared.session.connection
    found = connection.execute("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main'").fetchall()
    for (name,) in found:
        if name not in ("visits", "released", "unaltered"):
            connection.execute(f"DROP TABLE {name}")
    connection.execute(f"TRUNCATE visits; INSERT INTO visits {VISITS}")
    connection.execute("TRUNCATE released; INSERT INTO released FROM unaltered")


def published(session: sa.Session, relation: str, column: str = "patient") -> list[Any]:
    return [value for (value,) in session.connection.execute(f'SELECT "{column}" FROM {relation}').fetchall()]


def refused(session: sa.Session, source: str, wanted: sa.Policy, **more: Any) -> str:
    with pytest.raises(sa.PolicyError) as caught:
        session.anonymize(source, wanted, "refused", **{"pseudonym_key": KEY, **more})
    assert not session.connection.execute("FROM duckdb_tables() WHERE table_name = 'refused'").fetchall()
    return str(caught.value)


def names_of(numbers: Sequence[int] = range(200)) -> set[str]:
    """The pseudonyms of patients."""
    return {pseudonym(f"P{number}") for number in numbers}


class TestRelease:
    def test_every_value_is_its_keyed_hash(self, shared: Made, session: sa.Session, tmp_path: Path) -> None:
        of_source = session.connection.execute("SELECT patient, diagnosis FROM visits").fetchall()
        expected = {pseudonym(patient): diagnosis for patient, diagnosis in of_source}
        releases = [shared.release]
        for target in ("released.parquet", "released.csv", "released/"):
            releases.append(session.anonymize("visits", policy(), f"{tmp_path}/{target}", pseudonym_key=KEY))
        for release in releases:
            rows = release.to_arrow().to_pylist()
            assert {row["patient"]: row["diagnosis"] for row in rows} == expected
            assert len(rows) == 200
            # In an order of their own, not in that of the patients.
            assert [row["patient"] for row in rows] == sorted(row["patient"] for row in rows)
        assert session.verify("released", policy()).met

    def test_a_value_has_one_pseudonym_in_every_table(self, session: sa.Session) -> None:
        stays = "FROM visits WHERE age < 40"
        session.anonymize(stays, policy(), "stays", pseudonym_key=KEY)
        of_stays = {*published(session, "stays")}
        assert of_stays
        assert of_stays < {*published(session, "released")}

    def test_values_are_hashed_as_their_text(self, session: sa.Session) -> None:
        values = {
            "a UUID": "CAST(md5(CAST(i AS VARCHAR)) AS UUID)",
            "b DATE": "DATE '2020-01-01' + CAST(i AS INTEGER)",
            "c BIGINT": "i",
            "d VARCHAR": "chr(CAST(64 + i AS INTEGER)) || ' é'",
            "e VARCHAR COLLATE NOCASE": "chr(CAST(64 + i AS INTEGER)) || ' ê'",
        }
        session.connection.execute(
            f"CREATE TABLE typed (age INTEGER, {', '.join(values)}); "
            f"INSERT INTO typed SELECT 30, {', '.join(values.values())} FROM range(1, 60) AS rows (i)"
        )
        session.anonymize("typed", policy(sensitive=[], pseudonyms=[*"abcde"]), "hashed", pseudonym_key=KEY)
        for name in "abcde":
            texts = session.connection.execute(f"SELECT CAST({name} AS VARCHAR) FROM typed").fetchall()
            assert sorted(published(session, "hashed", name)) == sorted(pseudonym(text) for (text,) in texts)

    def test_values_of_a_csv_are_hashed_as_they_are_written(self, session: sa.Session, tmp_path: Path) -> None:
        """A table that is joined has to have the same texts."""
        texts = {"a": "{}.50", "b": "2016/01/{:02}", "c": "10:{}", "d": " 1{}", "e": "2020-1-{}", "f": "00{}"}
        lines = [",".join(text.format(number) for text in texts.values()) + ",30" for number in range(10, 29)]
        (tmp_path / "rows.csv").write_text("\n".join([",".join([*texts, "age"]), *lines, ""]))
        wanted = policy(sensitive=[], pseudonyms=[*texts])
        session.anonymize(f"{tmp_path}/rows.csv", wanted, "of_csv", pseudonym_key=KEY)
        for name, text in texts.items():
            found = sorted(published(session, "of_csv", name))
            assert found == sorted(pseudonym(text.format(number)) for number in range(10, 29))
            in_sql = f"SELECT anon.pseudonym({name}, CAST($1 AS BLOB)) FROM anon.csv('{tmp_path}/rows.csv')"
            assert sorted(value for (value,) in session.connection.execute(in_sql, [KEY]).fetchall()) == found

    def test_instants_are_hashed_as_their_text_in_utc(self, session: sa.Session) -> None:
        texts = ["1850-01-01 00:00:00+00", "2024-10-27 00:30:00.5+00", "infinity"]
        expected = [*map(pseudonym, texts)]
        session.connection.execute(
            f"CREATE TABLE births (patient TIMESTAMPTZ, age INTEGER); INSERT INTO births SELECT unnest({texts}), 30"
        )
        wanted = policy(sensitive=[], privacy=[sa.KAnonymity(2)])
        for zone in ("America/New_York", "Asia/Kolkata"):
            session.connection.execute(f"SET TimeZone = '{zone}'")
            session.anonymize("births", wanted, "born", pseudonym_key=KEY, replace=True)
            assert sorted(published(session, "born")) == sorted(expected)
            in_sql = session.connection.execute("SELECT anon.pseudonym(patient, CAST($1 AS BLOB)) FROM births", [KEY])
            assert [value for (value,) in in_sql.fetchall()] == expected

    def test_instants_inside_other_values_are_refused(self, session: sa.Session) -> None:
        source = "SELECT * REPLACE ([TIMESTAMPTZ '2024-01-01 00:00:00+00'] AS patient) FROM visits"
        assert '"patient" (TIMESTAMP WITH TIME ZONE[])' in refused(session, source, policy())

    def test_masked_rows_have_theirs(self, session: sa.Session) -> None:
        session.connection.execute("UPDATE visits SET age = 90 + CAST(patient[2:] AS INTEGER) WHERE len(patient) = 2")
        wanted = policy(suppression="mask", maximum_levels={"age": 0}, privacy=[sa.KAnonymity(4)])
        release = session.anonymize("visits", wanted, "again", pseudonym_key=KEY)
        assert release.report.rows.masked == 10
        assert {*published(session, "again")} == names_of()

    def test_names_that_want_to_be_sql_or_have_another_case(self, session: sa.Session) -> None:
        quoted = '"' + HOSTILE.replace('"', '""') + '"'
        session.connection.execute(f"CREATE TABLE two AS SELECT x AS {quoted}, 30 AS age FROM range(2) AS rows (x)")
        wanted = policy(pseudonyms=[HOSTILE.upper()], sensitive=[], privacy=[sa.KAnonymity(2)])
        session.anonymize("two", wanted, "again", pseudonym_key=KEY)
        expected = sorted((pseudonym(value), "30") for value in (0, 1))
        assert session.connection.execute("FROM again").fetchall() == expected
        assert session.verify("again", wanted.changed({"pseudonyms": [HOSTILE]})).met

    def test_nulls_stay_and_may_repeat_also_where_individuals_are_counted(self, session: sa.Session) -> None:
        known = "SELECT * REPLACE (CASE WHEN age >= 40 THEN patient END AS patient)"
        source = f"{known}, CAST(patient[2:] AS INTEGER) // 2 AS household FROM visits"
        wanted = policy(identifiers=["household"], individual="household")
        session.anonymize(source, wanted, "again", pseudonym_key=KEY)
        found = published(session, "again")
        assert (found.count(None), len({*found})) == (100, 101)
        assert {*found} < {*names_of(), None}

    def test_the_guarantee_says_what_a_key_can_do(self, shared: Made, session: sa.Session) -> None:
        promised = shared.release.guarantee
        assert any('each value of "patient" is published as its HMAC-SHA-256' in claim for claim in promised.claims)
        assert "the key of the pseudonyms was drawn at random, and is kept secret" in promised.conditions
        assert any("by hashing candidate values" in line and "GDPR" in line for line in promised.not_covered)
        assert any("rows of several tables" in line for line in promised.not_covered)
        without = policy(pseudonyms=[], identifiers=["patient"])
        assert "pseudonym" not in str(session.anonymize("visits", without, "dropped").guarantee)

    def test_a_run_again_is_never_taken_for_unchanged(self, session: sa.Session, tmp_path: Path) -> None:
        source, into = str(tmp_path / "visits.parquet"), str(tmp_path / "released.parquet")
        session.connection.execute(f"COPY visits TO '{source}'")
        session.anonymize(source, policy(), into, pseudonym_key=KEY)
        with pytest.raises(sa.EngineError, match="exists"):
            session.anonymize(source, policy(), into, pseudonym_key=OTHER_KEY)
        with pytest.raises(sa.PolicyError, match="replace=True"):
            session.anonymize(source, policy(), into, pseudonym_key=OTHER_KEY, replace="changed")
        assert pseudonym("P1") in published(session, f"'{into}'")
        session.anonymize(source, policy(), into, pseudonym_key=OTHER_KEY, replace=True)
        assert pseudonym("P1", OTHER_KEY) in published(session, f"'{into}'")
