"""Taxonomies that another connection changes while a run is on: what is published has the hashes of those it shows."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from sqlanon.engines.duckdb import Engine
from tests.engines import engine_of

NODE = {"age": 1, "sex": 1}
POLICY = sa.Policy(
    quasi_identifiers=["age", "sex"], sensitive=["illness"], privacy=[sa.KAnonymity(2)], minimum_levels=NODE
)
METHOD = sa.Histogram(budget=sa.Budget(1000, "0.01"), node=NODE)
PRIVATE = sa.Policy(quasi_identifiers=["age", "sex"], sensitive=["illness"], method=METHOD)
OLD = sa.Taxonomy.from_rows([(str(age), "old", "*") for age in range(4)])
NEW = sa.Taxonomy.from_rows([(str(age), "new", "*") for age in range(4)])


@pytest.fixture
def session(installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sa.Session]:
    monkeypatch.chdir(tmp_path)
    with sa.connect(shutil.copy(installed, tmp_path), threads=1) as session:
        session.connection.execute(
            "CREATE TABLE people AS SELECT i % 4 AS age, ['f', 'm'][1 + i % 2] AS sex, 'flu' AS illness "
            "FROM range(400) AS r (i)"
        )
        session.taxonomies.load("age", OLD)
        session.taxonomies.load("sex", sa.Taxonomy.flat(["f", "m"]))
        yield session


@pytest.fixture
def before_transaction(session: sa.Session, monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """What is done once, right before the next transaction of the session begins."""
    transaction = Engine.transaction
    waiting: list[Callable[[], None]] = []

    def delayed(engine: Engine) -> AbstractContextManager[None]:
        if engine is engine_of(session) and waiting:
            waiting.pop()()
        return transaction(engine)

    monkeypatch.setattr(Engine, "transaction", delayed)
    return waiting


def change(session: sa.Session, taxonomy: sa.Taxonomy = NEW) -> None:
    with sa.connect(session.connection.cursor()) as other:
        other.taxonomies.load("age", taxonomy)


def facts(session: sa.Session, release: str) -> tuple[dict[str, Any], set[str]]:
    """The provenance of a release, and its labels of age."""
    note = json.loads(session.provenance(release) or "")["sqlanon"]
    relation = f"'{release}'" if release.endswith(".parquet") else release
    return note, {label for (label,) in session.connection.execute(f"SELECT DISTINCT age FROM {relation}").fetchall()}


def test_between_the_checks_and_the_run(session: sa.Session, before_transaction: list[Callable[[], None]]) -> None:
    """A table and a file are written in the same transaction; private and other methods take taxonomies up alike."""
    for policy, into in ((POLICY, "release.parquet"), (PRIVATE, "release")):
        change(session)
        session.anonymize("people", policy, into="expected", replace=True)
        expected, labels = facts(session, "expected")
        assert labels == {"new"}
        change(session, OLD)
        before_transaction.append(lambda: change(session))
        session.anonymize("people", policy, into=into)
        found, labels = facts(session, into)
        assert labels == {"new"}
        assert found["taxonomy_sha256"] == expected["taxonomy_sha256"]
        made_from, as_expected = found.get("made_from", {}), expected.get("made_from", {})
        assert made_from.get("taxonomy_sha256") == as_expected.get("taxonomy_sha256")


def test_during_the_run(session: sa.Session) -> None:
    """The transaction of the run does not see what others commit meanwhile."""
    session.anonymize("people", POLICY, into="expected")
    changed = []

    def observe(event: sa.Event) -> None:
        if not changed:
            changed.append(event)
            change(session)

    session.anonymize("people", POLICY, into="release", progress=observe)
    assert facts(session, "release")[1] == {"old"}
    assert facts(session, "release")[0]["taxonomy_sha256"] == facts(session, "expected")[0]["taxonomy_sha256"]


def test_one_that_does_not_fit_any_longer(session: sa.Session, before_transaction: list[Callable[[], None]]) -> None:
    columns: dict[str, Any] = {"quasi_identifiers": ["age", "sex"], "sensitive": ["illness"]}
    method = sa.Histogram(budget=sa.Budget(1, "0.01"), node={"age": 2, "sex": 1})
    for policy in (
        sa.Policy(**columns, privacy=[sa.KAnonymity(2)], minimum_levels={"age": 2}),
        sa.Policy(**columns, method=method),
    ):
        change(session, OLD)
        before_transaction.append(lambda: change(session, sa.Taxonomy.flat(["0", "1", "2", "3"])))
        with pytest.raises(sa.PolicyError, match='"age" has levels 0 to 1, so not 2'):
            session.anonymize("people", policy, into="release")
    assert session.connection.sql("SELECT * FROM duckdb_tables() WHERE table_name = 'release'").fetchall() == []
    assert session.ledger.spent("people").epsilon == 0


@pytest.mark.deep
def test_a_fit(session: sa.Session, before_transaction: list[Callable[[], None]]) -> None:
    before_transaction.append(lambda: change(session))
    fitted = session.partitions.fit("people", POLICY, "side.fit")
    session.partitions.apply("people", "side.fit", into="part")
    found, labels = facts(session, "part")
    assert labels == {"new"}
    assert found["taxonomy_sha256"] == fitted.taxonomy_sha256
    change(session, OLD)
    before_transaction.append(lambda: change(session))
    given = session.partitions.fit("people", POLICY, "given.fit", node=NODE)
    assert given.taxonomy_sha256 == fitted.taxonomy_sha256


def test_a_partition(session: sa.Session, before_transaction: list[Callable[[], None]]) -> None:
    """It takes several transactions, in all of which the taxonomies are those of the fit or nothing is published."""
    session.partitions.fit("people", POLICY, "side.fit")

    def wait(transactions: int) -> None:
        before_transaction.append((lambda: wait(transactions - 1)) if transactions else (lambda: change(session)))

    published = []
    for skipped in range(6):
        shutil.copy("side.fit", f"side-{skipped}.fit")
        wait(skipped)
        try:
            session.partitions.apply("people", f"side-{skipped}.fit", into=f"part_{skipped}")
        except sa.TaxonomyError as error:
            assert "have changed since the fit" in str(error)
            tables = f"SELECT * FROM duckdb_tables() WHERE table_name = 'part_{skipped}'"
            assert session.connection.sql(tables).fetchall() == []
        else:
            assert facts(session, f"part_{skipped}")[1] == {"old"}
            published.append(skipped)
        before_transaction.clear()
        change(session, OLD)
    assert 0 < len(published) < 6


EMPTY_AND_NULL = (
    "INSERT INTO anon.taxonomy VALUES ('age', 0, '', ''), ('age', 1, '', 'old'), ('age', 2, '', '*'), "
    "('age', 0, NULL, NULL), ('age', 1, NULL, 'old'), ('age', 2, NULL, '*')"
)


def test_one_that_is_malformed_since_it_was_found_well_formed_is_refused(session: sa.Session) -> None:
    for first, then in (
        ("SELECT 1", "UPDATE anon.taxonomy SET level = 3 WHERE attribute = 'age' AND level = 2"),
        ("SELECT 1", "DELETE FROM anon.taxonomy WHERE attribute = 'age' AND level = 1 AND value = '3'"),
        (EMPTY_AND_NULL, "UPDATE anon.taxonomy SET value = NULL WHERE value = ''"),
        (EMPTY_AND_NULL, "UPDATE anon.taxonomy SET value = nullif(value, ''), label = nullif(label, '')"),
    ):
        change(session, OLD)
        session.connection.execute(first)
        session.lattice("people", POLICY)
        session.connection.execute(then)
        with pytest.raises(sa.TaxonomyError, match="malformed"):
            session.anonymize("people", POLICY, "again")
