"""What a fit and its partitions are refused, and runs that fail between both; tests/deep has killed ones."""

import shutil
from pathlib import Path

import duckdb
import pytest

import sqlanon as sa
from tests.stories.test_fit import HISTORY, NODE, NOVEMBER, POLICY, counted, published, visits
from tests.stories.test_fit import session as session
from tests.stories.test_fit import shared_session as shared_session
from tests.stories.test_fit import shared_sidecar as shared_sidecar
from tests.stories.test_fit import sidecar as sidecar


class TestFits:
    def test_policies_that_counts_cannot_prove_are_refused_with_all_reasons(
        self, session: sa.Session, tmp_path: Path
    ) -> None:
        models = [sa.TCloseness("illness", 0.5, "ordered"), sa.MConcealing(0.5, {"illness": 0.1}, "node")]
        policy = sa.Policy(**{**dict(POLICY), "privacy": models, "suppression": "mask"})
        with pytest.raises(sa.PolicyError) as refused:
            session.partitions.fit(HISTORY, policy, tmp_path / "visits.fit")
        assert [problem.partition(":")[0] for problem in refused.value.problems] == [
            'suppression "mask"',
            't-closeness of "illness" with ordered distance (t = 0.5)',
            "m-concealing (m = 0.5)",
        ]
        individuals = sa.Policy(**{**dict(POLICY), "individual": "id"})
        population = sa.Policy(**{**dict(POLICY), "privacy": [sa.KMap(3, "everyone")]})
        means = sa.Policy(**{**dict(POLICY), "privacy": [sa.SampleUniqueness(0.1)]})
        payout = sa.Policy(**{**dict(POLICY), "privacy": [sa.Profitability(300, 4, 1200, 300)]})
        for policy, reason in (
            (individuals, 'individual "id"'),
            (population, "k-map"),
            (means, "sample uniqueness"),
            (payout, "profitable classes"),
        ):
            with pytest.raises(sa.PolicyError, match=reason):
                session.partitions.fit(HISTORY, policy, tmp_path / "visits.fit")
        assert list(tmp_path.iterdir()) == []

    def test_a_given_node_is_checked(self, session: sa.Session, tmp_path: Path) -> None:
        path = tmp_path / "visits.fit"
        with pytest.raises(sa.PolicyError) as refused:
            session.partitions.fit(HISTORY, POLICY, path, node={"town": 3, "ages": 0})
        for node in ({5: 1}, {"town": 0, None: 0}, [("town", 0)], "town=0"):
            with pytest.raises(sa.PolicyError, match="a node is a mapping from quasi-identifiers to their levels"):
                session.partitions.fit(HISTORY, POLICY, path, node=node)  # type: ignore[arg-type]
        assert refused.value.problems == (
            '"age" has no level',
            '"ages" is not a quasi-identifier; did you mean "age"?',
            '"town" has levels 0 to 2, so not 3',
        )
        strict = POLICY.model_copy(update={"suppression_limit": 0.3})
        with pytest.raises(sa.UnsatisfiableError) as unmet:
            session.partitions.fit(HISTORY, strict, path, node={"town": 0, "age": 0})
        assert unmet.value.problems == (
            "5 of 8 rows are in classes that fall short; 2 may be suppressed (suppression_limit 30 %)",
            "k-anonymity (k = 3): 5 rows are in classes that violate it",
            'distinct l-diversity of "illness" (l = 2): 3 rows are in classes that violate it',
        )
        assert list(tmp_path.iterdir()) == []
        assert session.partitions.fit(HISTORY, strict, path, node=NODE).search == "given"

    def test_a_sidecar_with_partitions_is_never_replaced(self, session: sa.Session, sidecar: Path) -> None:
        before = sidecar.read_bytes()
        with pytest.raises(sa.EngineError, match="exists; give another name, or replace=True"):
            session.partitions.fit(HISTORY, POLICY, sidecar)
        with pytest.raises(sa.EngineError, match="holds the counts of 1 published partitions"):
            session.partitions.fit(HISTORY, POLICY, sidecar, replace=True)
        assert sidecar.read_bytes() == before

    def test_files_that_are_not_fits(self, session: sa.Session, tmp_path: Path) -> None:
        """They are neither replaced nor read."""
        text, other = tmp_path / "text.fit", tmp_path / "other.fit"
        text.write_text("not a database, whatever its name says")
        duckdb.connect(str(other)).close()
        for file in (text, other, tmp_path / "nowhere" / "a.fit", tmp_path):
            with pytest.raises(sa.EngineError):
                session.partitions.fit(HISTORY, POLICY, file, replace=True)
        assert text.read_text().startswith("not a database")
        assert sorted(tmp_path.iterdir()) == [other, text]
        for file, reason in ((tmp_path / "none.fit", "does not exist"), (text, "not a DuckDB"), (other, "not made by")):
            with pytest.raises(sa.EngineError, match=reason):
                session.partitions.apply(NOVEMBER, file, "november")

    def test_what_is_not_a_plain_table_is_not_executed(
        self, session: sa.Session, sidecar: Path, tmp_path: Path
    ) -> None:
        """A file that somebody hands over is data: a view in it could read and write files of whoever takes it."""
        secret, log = tmp_path / "secret.txt", tmp_path / "log"
        secret.write_text("TOPSECRET")
        log.mkdir()
        moved = "CREATE TABLE old AS FROM {0}; DROP TABLE {0}; CREATE VIEW {0} AS SELECT old.* FROM old, {1}"
        for statement in (
            moved.format("fit", f"read_text('{secret}')"),
            moved.format("fit", f"(SELECT 1 FROM enable_logging(storage_path='{log}', level='INFO'))"),
            *(moved.format(name, f"read_text('{secret}')") for name in ("releases", "counts", "taxonomy", "hashes")),
            "CREATE MACRO lower(text) AS 'other'",
            "DROP TABLE counts; CREATE TABLE counts (town VARCHAR DEFAULT lower('X'))",
            "ALTER TABLE releases ADD COLUMN more INTEGER DEFAULT 7",
            "DROP TABLE reference; CREATE TABLE reference (town VARCHAR, other VARCHAR AS (lower('X')))",
            "CREATE INDEX other ON counts ((anon_row_count + 1))",
        ):
            path = tmp_path / "tampered.fit"
            shutil.copy(sidecar, path)
            with duckdb.connect(path) as connection:
                connection.execute(statement)
            with pytest.raises(sa.EngineError, match="more than plain tables, and nothing in it was read"):
                session.partitions.apply(NOVEMBER, path, f"{tmp_path}/november.parquet")
        assert [*log.iterdir()] == []
        assert not (tmp_path / "november.parquet").exists()

    def test_what_was_changed_is_seen(self, session: sa.Session, sidecar: Path, tmp_path: Path) -> None:
        for statement, reason in (
            ("UPDATE counts SET anon_row_count = anon_row_count + 1", "was changed since sqlanon wrote it, in counts"),
            ("DELETE FROM counts", "in counts"),
            ("UPDATE counts SET anon_row_count = NULL", "in counts"),
            ("UPDATE releases SET released = released - 1", "in releases"),
            ("UPDATE releases SET place = NULL, rows = NULL", "in releases"),
            ("UPDATE taxonomy SET label = NULL", "in taxonomy"),
            ("ALTER TABLE reference RENAME anon_row_count TO other", "in reference"),
            ("UPDATE fit SET document = replace(document, '0.', '0.9')", "in fit"),
            ("UPDATE hashes SET rows_sha256 = NULL", "in fit, releases, counts, reference, taxonomy, taxonomy_domain"),
            ("UPDATE fit SET document = NULL", "not made by"),
            ("UPDATE fit SET format = NULL", "another version"),
            ("UPDATE fit SET format = 2; DROP TABLE hashes", "another version"),
            ("INSERT INTO fit FROM fit", "not made by"),
            ("DROP TABLE hashes", "not made by"),
            ("DROP TABLE counts", "not made by"),
        ):
            path = tmp_path / "tampered.fit"
            shutil.copy(sidecar, path)
            with duckdb.connect(path) as connection:
                connection.execute(statement)
            with pytest.raises(sa.EngineError, match=reason):
                session.partitions.apply(NOVEMBER, path, f"{tmp_path}/november.parquet")
        assert not (tmp_path / "november.parquet").exists()


class TestPartitions:
    def test_partitions_that_do_not_fit(self, session: sa.Session, sidecar: Path) -> None:
        before = counted(sidecar)
        for source, error, message in (
            (visits(("c1", 1, "x")), sa.TaxonomyError, '"town": 1 distinct value in 1 row'),
            (f"SELECT *, 1 AS extra FROM ({NOVEMBER})", sa.PolicyError, 'column "extra" has no role'),
            (f"SELECT * REPLACE (1 AS illness, 1 AS note) FROM ({NOVEMBER})", sa.PolicyError, "is INTEGER"),
            (f"{NOVEMBER} LIMIT 0", sa.PolicyError, "has no rows"),
        ):
            with pytest.raises(error, match=message):
                session.partitions.apply(source, sidecar, sidecar.with_name("november.parquet"))
        assert counted(sidecar) == before == published(sidecar.parent)

    def test_a_connection_in_a_transaction_stays_as_it_is(self, session: sa.Session, sidecar: Path) -> None:
        session.connection.begin()
        with pytest.raises(sa.EngineError, match="in the middle of a transaction"):
            session.partitions.apply(NOVEMBER, sidecar, "november")
        attached = session.connection.execute("SELECT database_name FROM duckdb_databases() WHERE NOT internal")
        assert attached.fetchall() == [("memory",)]
        session.connection.rollback()


def test_a_run_that_fails_after_it_has_announced_leaves_nothing(
    session: sa.Session, sidecar: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = counted(sidecar)
    into = sidecar.with_name("november.parquet")

    def fails(*_: object, **__: object) -> None:
        raise sa.EngineError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr("sqlanon.partitions.apply.verify", fails)
        with pytest.raises(sa.EngineError, match="the disk is full"):
            session.partitions.apply(NOVEMBER, sidecar, into)
    assert counted(sidecar) == before
    assert sorted(path.name for path in sidecar.parent.iterdir()) == ["history.parquet", "visits.fit"]
    temporary = session.connection.execute("SELECT table_name FROM duckdb_tables() WHERE temporary").fetchall()
    assert temporary == []
    assert session.partitions.apply(NOVEMBER, sidecar, into).report.partitions == 2


def test_a_source_that_changes_during_the_run_is_noticed(session: sa.Session, sidecar: Path) -> None:
    connection = session.connection
    connection.execute(f"CREATE TABLE november AS {NOVEMBER}")

    def change(event: sa.Event) -> None:
        # Later ones are not seen: the transaction that writes the release has begun.
        if (event.stage, event.state) == ("join", "finished"):
            connection.cursor().execute(f"INSERT INTO november {visits(('a1', 1, 'yy'))}")

    with pytest.raises(sa.VerificationError, match="differ from the counted ones"):
        session.partitions.apply("november", sidecar, "published", progress=change)
    assert sum(row[-1] for row in counted(sidecar)) == 8
