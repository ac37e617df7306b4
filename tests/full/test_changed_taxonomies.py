"""Taxonomies that another connection changes while a run is on: what is published has the hashes of those it shows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from sqlanon.engines.duckdb.engine import DuckDBEngine
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
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sa.Session]:
    monkeypatch.chdir(tmp_path)
    with sa.connect(tmp_path / "w.duckdb", threads=1) as session:
        session.connection.execute(
            "CREATE TABLE people AS SELECT i % 4 AS age, ['f', 'm'][1 + i % 2] AS sex, 'flu' AS illness "
            "FROM range(400) AS r (i)"
        )
        session.taxonomies.load("age", OLD)
        session.taxonomies.load("sex", sa.Taxonomy.flat(["f", "m"]))
        yield session


@pytest.fixture
def before_transaction(session: sa.Session, monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], None]:
    """Has something done once, right before the next transaction of the session begins."""
    transaction = DuckDBEngine.transaction
    waiting: list[Callable[[], None]] = []

    def delayed(engine: DuckDBEngine) -> AbstractContextManager[None]:
        if engine is engine_of(session) and waiting:
            waiting.pop()()
        return transaction(engine)

    monkeypatch.setattr(DuckDBEngine, "transaction", delayed)
    return waiting.append


def change(session: sa.Session, taxonomy: sa.Taxonomy = NEW) -> None:
    """Load another taxonomy by another connection."""
    with sa.connect(session.connection.cursor()) as other:
        other.taxonomies.load("age", taxonomy)


def facts(session: sa.Session, release: str) -> tuple[dict[str, Any], set[str]]:
    """The provenance of a release, and its labels of age."""
    note = json.loads(session.provenance(release) or "")["sqlanon"]
    relation = f"'{release}'" if release.endswith(".parquet") else release
    return note, {label for (label,) in session.connection.execute(f"SELECT DISTINCT age FROM {relation}").fetchall()}


@pytest.mark.parametrize("policy", [POLICY, PRIVATE], ids=["k-anonymity", "private"])
@pytest.mark.parametrize("into", ["release", "release.parquet"])
def test_between_the_checks_and_the_run(
    session: sa.Session, before_transaction: Callable[[Callable[[], None]], None], policy: sa.Policy, into: str
) -> None:
    change(session)
    session.anonymize("people", policy, into="expected")
    expected, labels = facts(session, "expected")
    assert labels == {"new"}
    change(session, OLD)
    before_transaction(lambda: change(session))
    session.anonymize("people", policy, into=into)
    found, labels = facts(session, into)
    assert labels == {"new"}
    assert found["taxonomy_sha256"] == expected["taxonomy_sha256"]
    assert found.get("made_from", {}).get("taxonomy_sha256") == expected.get("made_from", {}).get("taxonomy_sha256")


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


@pytest.mark.parametrize("is_private", [False, True])
def test_one_that_does_not_fit_any_longer(
    session: sa.Session, before_transaction: Callable[[Callable[[], None]], None], is_private: bool
) -> None:
    columns = {"quasi_identifiers": ["age", "sex"], "sensitive": ["illness"]}
    method = sa.Histogram(budget=sa.Budget(1, "0.01"), node={"age": 2, "sex": 1})
    models = {"method": method} if is_private else {"privacy": [sa.KAnonymity(2)], "minimum_levels": {"age": 2}}
    policy = sa.Policy(**columns, **models)  # type: ignore[arg-type]
    before_transaction(lambda: change(session, sa.Taxonomy.flat(["0", "1", "2", "3"])))
    with pytest.raises(sa.PolicyError, match='"age" has levels 0 to 1, so not 2'):
        session.anonymize("people", policy, into="release")
    assert session.connection.sql("SELECT * FROM duckdb_tables() WHERE table_name = 'release'").fetchall() == []
    assert session.ledger.spent("people").epsilon == 0


@pytest.mark.parametrize("node", [None, NODE])
def test_a_fit(
    session: sa.Session, before_transaction: Callable[[Callable[[], None]], None], node: dict[str, int] | None
) -> None:
    before_transaction(lambda: change(session))
    fitted = session.partitions.fit("people", POLICY, "side.fit", node=node)
    session.partitions.apply("people", "side.fit", into="part")
    found, labels = facts(session, "part")
    assert labels == {"new"}
    assert found["taxonomy_sha256"] == fitted.taxonomy_sha256


@pytest.mark.parametrize("skipped", [0, 1, 2, 3, 4, 5])
def test_a_partition(
    session: sa.Session, before_transaction: Callable[[Callable[[], None]], None], skipped: int
) -> None:
    """It takes several transactions, in all of which the taxonomies are those of the fit or nothing is published."""
    session.partitions.fit("people", POLICY, "side.fit")

    def wait(transactions: int) -> None:
        before_transaction((lambda: wait(transactions - 1)) if transactions else (lambda: change(session)))

    wait(skipped)
    try:
        session.partitions.apply("people", "side.fit", into="part")
    except sa.TaxonomyError as error:
        assert "have changed since the fit" in str(error)
        assert session.connection.sql("SELECT * FROM duckdb_tables() WHERE table_name = 'part'").fetchall() == []
    else:
        assert facts(session, "part")[1] == {"old"}


EMPTY_AND_NULL = (
    "INSERT INTO anon.taxonomy VALUES ('age', 0, '', ''), ('age', 1, '', 'old'), ('age', 2, '', '*'), "
    "('age', 0, NULL, NULL), ('age', 1, NULL, 'old'), ('age', 2, NULL, '*')"
)


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("SELECT 1", "UPDATE anon.taxonomy SET level = 3 WHERE attribute = 'age' AND level = 2"),
        ("SELECT 1", "DELETE FROM anon.taxonomy WHERE attribute = 'age' AND level = 1 AND value = '3'"),
        (EMPTY_AND_NULL, "UPDATE anon.taxonomy SET value = NULL WHERE value = ''"),
        (EMPTY_AND_NULL, "UPDATE anon.taxonomy SET value = nullif(value, ''), label = nullif(label, '')"),
    ],
    ids=["level", "row", "values", "empty"],
)
def test_one_that_is_malformed_since_a_run_is_refused(session: sa.Session, first: str, then: str) -> None:
    session.connection.execute(first)
    session.anonymize("people", POLICY, "release")
    session.connection.execute(then)
    with pytest.raises(sa.TaxonomyError, match="malformed"):
        session.anonymize("people", POLICY, "again")
