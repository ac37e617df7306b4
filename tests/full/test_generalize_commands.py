"""What ``generalize`` refuses, its command, and cuts that are changed before they are published."""

from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from sqlanon.publish.targets import TableTarget
from tests.commands import document, sqlanon
from tests.fixed_noise import FixedNoise
from tests.stories.test_flatten import VALUE, tables
from tests.stories.test_generalize import JOBS, facts, policy
from tests.stories.test_generalize import clinic as clinic
from tests.stories.test_generalize import folder as folder
from tests.stories.test_generalize import session as session


@pytest.mark.parametrize("change", ["UPDATE {} SET label = 'x' WHERE attribute = 'job'", "INSERT INTO {} FROM {}"])
def test_another_cut_than_was_drawn_is_withdrawn(
    session: sa.Session, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = TableTarget.write

    def write_and_change(self: TableTarget, query: Any, *, streamed: bool = False) -> Any:
        written = write(self, query, streamed=streamed)
        if self.name == "cuts_2":
            session.connection.execute(change.format("cuts_2", "cuts_2"))
        return written

    monkeypatch.setattr(TableTarget, "write", write_and_change)
    with pytest.raises(sa.VerificationError) as caught:
        session.anonymize("patients", policy(), "again", tables={"cuts": "cuts_2"}, random_source=FixedNoise(0))
    assert "table of cuts differs" in caught.value.problems[0]
    assert session.connection.execute("FROM duckdb_tables() SELECT table_name ORDER BY ALL").fetchall() == [
        (name,)
        for name in (
            "cuts", "new", "patients", "released", "releases", "taxonomy", "taxonomy_domain", "taxonomy_origin",
        )
    ]  # fmt: skip


class TestRefusals:
    def refused(self, session: sa.Session, error: type[sa.SqlanonError], *given: str, **more: Any) -> sa.SqlanonError:
        with pytest.raises(error) as caught:
            session.generalize(*given, **{"into": "like_it", **more})
        assert VALUE not in str(caught.value)
        assert not session.connection.execute("FROM duckdb_tables() WHERE table_name = 'like_it'").fetchall()
        return caught.value

    def test_what_has_no_note(self, session: sa.Session) -> None:
        assert "no note" in str(self.refused(session, sa.PolicyError, "new", "patients"))
        session.connection.execute("COMMENT ON TABLE patients IS 'mine'; CREATE VIEW seen AS FROM released")
        assert "no note" in str(self.refused(session, sa.PolicyError, "new", "patients"))
        assert "no note" in str(self.refused(session, sa.PolicyError, "new", "seen"))
        self.refused(session, sa.EngineError, "new", "nothing")

    def test_what_has_no_cut(self, session: sa.Session) -> None:
        k_anonymous = sa.Policy(
            quasi_identifiers=["job"],
            identifiers=["id", "age", "drugs"],
            sensitive=["state"],
            privacy=[sa.KAnonymity(2)],
        )
        session.anonymize("patients", k_anonymous, "at_a_node")
        for table in ("at_a_node", "cuts"):
            assert "no cut" in str(self.refused(session, sa.PolicyError, "new", table))

    def test_all_columns_that_do_not_fit_at_once(self, session: sa.Session) -> None:
        found = self.refused(
            session, sa.PolicyError, "SELECT 1 AS aeg, [job] AS job, 'x' AS drugs FROM new", "released"
        )
        assert found.problems == (
            '"job" is VARCHAR[], where the release has one label',
            'column "age" is not there; did you mean "aeg"?',
            '"drugs" is VARCHAR, not a list of items: gather them with list(item) in a view',
        )
        found = self.refused(session, sa.PolicyError, "SELECT * REPLACE ('10' AS age) FROM new", "released")
        assert found.problems == ('"age" is VARCHAR, not a number: cast it in a view, or name its type in [csv] types',)

    def test_values_without_a_label_are_counted(self, session: sa.Session) -> None:
        session.connection.execute(
            f"INSERT INTO new VALUES ('x', '{VALUE}', 3, ['{VALUE}', 'a1']), ('y', '{VALUE}', 3, [])"
        )
        found = self.refused(session, sa.PolicyError, "new", "released")
        assert found.problems == ('"job": 2 rows', '"drugs": 1 rows')

    def test_taxonomies_that_are_not_those_of_the_release(self, session: sa.Session) -> None:
        session.taxonomies.load("job", sa.Taxonomy.from_rows([*JOBS, ["poet", "home", "*"]]))
        session.connection.execute("DELETE FROM anon.taxonomy WHERE attribute = 'drugs'")
        found = self.refused(session, sa.TaxonomyError, "new", "released")
        assert found.problems == (
            'the taxonomy "job" is not that of the release: load the latter',
            'the taxonomy "drugs" is missing: load it',
        )

    def test_targets_that_are_taken(self, session: sa.Session) -> None:
        for into in ("patients", "new", "released"):
            self.refused(session, sa.EngineError, "new", "released", into=into)
        for into in ("new", "released"):
            self.refused(session, sa.EngineError, "new", "released", into=into, replace="anything")
        session.generalize("new", "released", "again")
        assert session.generalize("new", "released", "again", replace=True).rows == 4

    def test_a_cut_of_very_many_labels_is_not_noted(self, session: sa.Session, monkeypatch: pytest.MonkeyPatch) -> None:
        from sqlanon.methods.diffgen import diffgen_run as method

        monkeypatch.setattr(method, "MAX_RECORDED_LABELS", 2)
        session.anonymize("patients", policy(), "large", tables={"cuts": "large_cuts"}, random_source=FixedNoise(0))
        assert facts(session, "large")["labels"] is None
        assert "very many labels" in str(self.refused(session, sa.PolicyError, "new", "large"))


class TestCommand:
    def test_a_table_to_json(self, folder: Path) -> None:
        command = ["generalize", "new", "--like", "released", "--db", "clinic.duckdb", "--into", "like_it"]
        done = sqlanon(*command, "--json", folder=folder)
        assert done.returncode == 0, done.stderr
        assert document(done)["generalized"] == ["job", "age", "drugs"]
        assert VALUE not in done.stdout + done.stderr
        assert "like_it" in tables(folder / "clinic.duckdb")
        assert sqlanon(*command, folder=folder).returncode == 2
        again = sqlanon(*command, "--replace", folder=folder)
        assert (again.returncode, again.stdout) == (0, "")
        assert "4 rows" in again.stderr

    def test_files_without_a_warehouse(self, folder: Path) -> None:
        taxonomies = ["--taxonomy", "job=job.csv", "--taxonomy", "drugs=drugs.csv"]
        command = ["generalize", "new.parquet", "--like", "released.parquet", "--into", "like.parquet"]
        assert sqlanon(*command, folder=folder).returncode == 2
        done = sqlanon(*command, *taxonomies, folder=folder)
        assert done.returncode == 0, done.stderr
        assert (folder / "like.parquet").is_file()
