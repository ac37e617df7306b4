"""Releases that were changed since they were published: verification finds it, or says what it did not compare."""

import json
import shutil
from pathlib import Path

import duckdb
import pytest

import sqlanon as sa
from tests.commands import document, sqlanon
from tests.conftest import clinic_policy
from tests.engines import engine_of
from tests.far_stays import open_stays

LEVELS = {"age": 2, "sex": 0, "zip": 3}
BOUNDS = {"suppression_limit": 0.5, "minimum_levels": LEVELS, "maximum_levels": LEVELS, "earlier": "none"}
POLICY = clinic_policy(sa.KAnonymity(2), **BOUNDS)  # 9 rows in classes of 2, 3 and 4; 3 rows are suppressed
MASKING = clinic_policy(sa.KAnonymity(2), suppression="mask", **BOUNDS)
NO_PROVENANCE = "no provenance"


@pytest.fixture(scope="module")
def releases(shared_clinic: sa.Session, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One release of each kind: tables ``whole`` and ``masks``, ``one.parquet``, ``many/`` of three files, partitioned
    ``split/``, two ``parts/`` of a fit."""
    folder = tmp_path_factory.mktemp("releases")
    shared_clinic.anonymize("visits", POLICY, "whole")
    shared_clinic.anonymize("visits", POLICY, f"{folder}/one.parquet")
    shared_clinic.anonymize("visits", POLICY, f"{folder}/many/", rows_per_file=3)
    assert len(list((folder / "many").glob("*.parquet"))) == 3
    shared_clinic.anonymize("visits", POLICY, f"{folder}/split/", partition_by=["diagnosis"])
    assert (shared_clinic.anonymize("visits", MASKING, "masks").report.rows.masked or 0) > 0
    shared_clinic.partitions.fit("visits", POLICY, folder / "visits.fit", accept_observed_domain=True)
    (folder / "parts").mkdir()
    for half in (0, 1):
        query = f"SELECT * FROM visits WHERE (coalesce(age, 50) < 40) = {bool(half)}"
        shared_clinic.partitions.apply(query, folder / "visits.fit", f"{folder}/parts/{half}.parquet")
    return folder


@pytest.fixture
def copies(releases: Path, tmp_path: Path) -> Path:
    """The files of all releases, to be changed."""
    shutil.copytree(releases, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture
def session(shared_clinic: sa.Session, copies: Path) -> sa.Session:
    """A session with a copy of the table, ``published``, to be changed, and the copies of all files."""
    assert (copies / "many").is_dir()
    copy_table(shared_clinic, "whole", "published")
    return shared_clinic


def copy_table(session: sa.Session, release: str, name: str) -> None:
    """Have a copy of a release with its provenance, to be changed."""
    note = str(session.provenance(release)).replace("'", "''")
    session.connection.execute(f"CREATE OR REPLACE TABLE {name} AS FROM {release}; COMMENT ON TABLE {name} IS '{note}'")


@pytest.fixture
def folder(copies: Path) -> Path:
    """A folder release of three files."""
    return copies / "many"


def shortfalls(session: sa.Session, release: str | Path, policy: sa.Policy = POLICY) -> str:
    """What a release falls short of, which must be something."""
    with pytest.raises(sa.VerificationError) as caught:
        session.verify(release, policy)
    assert caught.value.problems
    return "\n".join(caught.value.problems)


def rewrite(session: sa.Session, file: Path, query: str) -> None:
    """Put the rows of a query over a file, ``FILE``, in its place, with the note that it had."""
    note = engine_of(session).parquet_metadata(file)
    kept = "" if note is None else ", KV_METADATA {sqlanon: '" + note.replace("'", "''") + "'}"
    query = query.replace("FILE", f"'{file}'")
    session.connection.execute(f"COPY ({query}) TO '{file}.new' (FORMAT parquet{kept})")
    Path(f"{file}.new").rename(file)


class TestWholeReleases:
    def test_they_are_met_and_all_of_them_is_compared(self, session: sa.Session, folder: Path, tmp_path: Path) -> None:
        for release in ("published", folder, f"{tmp_path}/one.parquet", tmp_path / "split"):
            found = session.verify(release, POLICY)
            assert found.notes == ()
            assert any("sensitive" in line for line in found.not_covered)
            assert any("not signed" in line for line in found.not_covered)

    def test_below_folders_of_partitions_of_somebody_else(self, session: sa.Session, tmp_path: Path) -> None:
        place = tmp_path / "month=2026-11"
        place.mkdir()
        for name in ("one.parquet", "many", "split"):
            (tmp_path / name).rename(place / name)
        for release in (f"{place}/one.parquet", place / "many", place / "split"):
            assert session.verify(release, POLICY).notes == ()

    def test_a_folder_does_not_stand_in_for_a_column_of_the_file(self, session: sa.Session, tmp_path: Path) -> None:
        """DuckDB would read age from the name of the folder: raw values, or those of a source, were never looked at."""
        place = tmp_path / "AGE=%2A"
        place.mkdir()
        shutil.copy(tmp_path / "one.parquet", place / "one.parquet")
        for release in (f"{place}/one.parquet", f"{tmp_path}/AGE=*/*.parquet", place):
            with pytest.raises(sa.EngineError, match='has a column "age", and lies in a folder'):
                session.verify(release, POLICY, strict=False)
            with pytest.raises(sa.EngineError, match="hive_partitioning = false"):
                session.anonymize(release, POLICY, "of_a_folder")

    def test_masked_rows(self, session: sa.Session) -> None:
        assert session.verify("masks", MASKING).notes == ()


class TestFolders:
    def test_a_column_of_identifiers_in_all_files(self, session: sa.Session, folder: Path) -> None:
        for file in folder.glob("*.parquet"):
            rewrite(session, file, "SELECT *, 4711 AS id FROM FILE")
        found = shortfalls(session, folder)
        assert 'it has the identifier "id"' in found
        assert "files" in found
        assert 'it has the identifier "id"' in shortfalls(session, f"{folder}/*.parquet")

    def test_a_column_in_one_file(self, session: sa.Session, folder: Path) -> None:
        for file in sorted(folder.glob("*.parquet"))[-1:]:
            rewrite(session, file, "SELECT *, 4711 AS phone FROM FILE")
        assert 'it has the column "phone"' in shortfalls(session, folder)
        with pytest.raises(sa.EngineError, match="files of different columns"):
            session.verify(f"{folder}/*.parquet", POLICY)

    def test_a_column_that_the_marker_tells_of_too(self, session: sa.Session, folder: Path) -> None:
        for file in folder.glob("*.parquet"):
            rewrite(session, file, "SELECT *, '4711' AS phone FROM FILE")
        marker = folder / "_sqlanon.json"
        document = json.loads(marker.read_text())
        document["sqlanon"]["folder"]["columns"]["phone"] = "VARCHAR"
        marker.write_text(json.dumps(document))
        assert 'it has the column "phone", to which the policy gives no role' in shortfalls(session, folder)


class TestColumns:
    def test_one_without_a_role(self, session: sa.Session, tmp_path: Path) -> None:
        session.connection.execute("ALTER TABLE published ADD COLUMN phone INTEGER DEFAULT 4711")
        assert 'it has the column "phone", to which the policy gives no role' in shortfalls(session, "published")
        rewrite(session, tmp_path / "one.parquet", "SELECT *, 4711 AS phone FROM FILE")
        assert 'it has the column "phone"' in shortfalls(session, f"{tmp_path}/one.parquet")
        assert 'it has the column "phone"' in shortfalls(session, "SELECT *, 4711 AS phone FROM published")

    def test_one_that_is_the_name_of_folders(self, session: sa.Session, tmp_path: Path) -> None:
        for phone in (1, 2):
            (tmp_path / f"phone={phone}").mkdir()
            shutil.copy(tmp_path / "one.parquet", tmp_path / f"phone={phone}" / "part.parquet")
        assert 'it has the column "phone"' in shortfalls(session, f"{tmp_path}/*/part.parquet")

    def test_one_that_is_missing(self, session: sa.Session) -> None:
        policy = clinic_policy(sa.KAnonymity(2), insensitive=["ward"], **BOUNDS)
        assert 'it lacks the column "ward", which the policy releases' in shortfalls(session, "published", policy)
        session.connection.execute("ALTER TABLE published DROP COLUMN diagnosis")
        assert 'it lacks the column "diagnosis"' in shortfalls(session, "published")


class TestProvenance:
    def test_an_age_that_was_replaced_by_a_raw_value(self, session: sa.Session, tmp_path: Path) -> None:
        session.connection.execute("UPDATE published SET age = '34'")
        found = shortfalls(session, "published")
        assert 'column "age" has 1 labels, in 9 rows, that its taxonomy does not have at level' in found
        assert "34" not in found.replace("level 3", "")
        rewrite(session, tmp_path / "one.parquet", "SELECT * REPLACE ('34' AS age) FROM FILE")
        assert 'column "age" has 1 labels' in shortfalls(session, f"{tmp_path}/one.parquet")

    def test_another_label_of_the_level(self, session: sa.Session) -> None:
        session.connection.execute("UPDATE published SET age = '[20, 40)'")
        assert "it has 2 equivalence classes where 3 were released" in shortfalls(session, "published")

    def test_rows_that_were_removed_or_added(self, session: sa.Session) -> None:
        session.connection.execute("INSERT INTO published FROM published")
        assert "it has 18 rows where 9 were released" in shortfalls(session, "published")
        session.connection.execute("DELETE FROM published WHERE rowid < 10")
        assert "it has 8 rows where 9 were released" in shortfalls(session, "published")

    def test_rows_that_were_masked_since(self, session: sa.Session) -> None:
        copy_table(session, "masks", "masked")
        session.connection.execute("UPDATE masked SET age = '*', sex = '*', zip = '*' WHERE age = '[20, 40)'")
        assert "it has 5 masked rows where 3 were released" in shortfalls(session, "masked", MASKING)

    def test_a_level_that_the_policy_does_not_allow(self, session: sa.Session) -> None:
        higher = clinic_policy(
            sa.KAnonymity(2), suppression_limit=0.5, minimum_levels={"sex": 1}, maximum_levels={"age": 1}
        )
        found = session.verify("published", higher, strict=False)
        assert not found.met
        assert shortfalls(session, "published", higher).splitlines() == [*found.shortfalls]
        assert found.shortfalls == (
            '"age" is at level 2, where the policy allows at most 1',
            '"sex" is at level 0, where the policy asks for at least 1',
        )
        assert any("a policy other than" in note for note in found.notes)

    def test_another_policy_is_told(self, session: sa.Session) -> None:
        found = session.verify("published", clinic_policy(sa.KAnonymity(2), suppression_limit=0.4), strict=False)
        assert found.met
        assert any("a policy other than" in note for note in found.notes)

    def test_one_that_is_gone_or_of_something_else_is_told(self, session: sa.Session) -> None:
        session.connection.execute("CREATE OR REPLACE TABLE copied AS FROM published")
        for release in ("copied", "FROM published"):
            assert NO_PROVENANCE in shortfalls(session, release)
            found = session.verify(release, POLICY, without_provenance=True)
            assert any(NO_PROVENANCE in note for note in found.notes)

    def test_one_that_is_malformed(self, session: sa.Session) -> None:
        session.connection.execute("""COMMENT ON TABLE published IS '{"sqlanon": {"node": {"age": "x"}}}'""")
        assert "its provenance is not what a run writes" in shortfalls(session, "published")

    def test_taxonomies_that_are_not_those_of_the_release_are_told(self, session: sa.Session, tmp_path: Path) -> None:
        release = f"{tmp_path}/one.parquet"
        with sa.connect() as elsewhere:
            (note,) = elsewhere.verify(release, POLICY, strict=False).notes
            assert 'labels of "age", "sex", "zip"' in note
            session.taxonomies.export("age", tmp_path / "age.csv")
            elsewhere.taxonomies.load("age", tmp_path / "age.csv")
            elsewhere.taxonomies.load("sex", sa.Taxonomy.from_rows([["f", "any"], ["m", "any"]]))
            (note,) = elsewhere.verify(release, POLICY, strict=False).notes
            assert 'labels of "sex", "zip"' in note
            rewrite(session, tmp_path / "one.parquet", "SELECT * REPLACE ('34' AS age) FROM FILE")
            assert 'column "age" has 1 labels' in shortfalls(elsewhere, release)

    def test_taxonomies_of_the_policy_are_compared_with(self, session: sa.Session, tmp_path: Path) -> None:
        for name in LEVELS:
            session.taxonomies.export(name, tmp_path / f"{name}.csv")
        own = sa.Policy(
            **POLICY.model_dump(exclude={"taxonomies"}),
            taxonomies={name: {"file": f"{tmp_path}/{name}.csv"} for name in LEVELS},
        )
        with sa.connect() as elsewhere:
            elsewhere.verify(f"{tmp_path}/one.parquet", own)
            rewrite(session, tmp_path / "one.parquet", "SELECT * REPLACE ('34' AS age) FROM FILE")
            assert 'column "age" has 1 labels' in shortfalls(elsewhere, f"{tmp_path}/one.parquet", own)


class TestSeveralParts:
    @pytest.fixture
    def parts(self, copies: Path) -> Path:
        """Two partitions of the visits, published with one fit."""
        return copies / "parts"

    def test_they_are_compared_together(self, session: sa.Session, parts: Path) -> None:
        assert session.verify(f"{parts}/*.parquet", POLICY).notes == ()
        assert session.verify(parts, POLICY).notes == ()

    def test_one_of_them_alone_says_so(self, session: sa.Session, parts: Path) -> None:
        found = session.verify(f"{parts}/1.parquet", POLICY, strict=False)
        assert any("1 of 2 partitions" in note for note in found.notes)

    def test_one_that_is_there_twice(self, session: sa.Session, parts: Path) -> None:
        shutil.copy(parts / "0.parquet", parts / "2.parquet")
        assert "occurs more than once" in shortfalls(session, f"{parts}/*.parquet")

    def test_rows_that_are_missing_from_one(self, session: sa.Session, parts: Path) -> None:
        rewrite(session, parts / "0.parquet", "SELECT * FROM FILE LIMIT 1")
        assert "rows where" in shortfalls(session, f"{parts}/*.parquet")

    def test_one_without_provenance_is_told(self, session: sa.Session, parts: Path) -> None:
        session.connection.execute(f"COPY (FROM '{parts}/0.parquet') TO '{parts}/2.parquet'")
        assert "1 of its 3 files have no provenance" in shortfalls(session, f"{parts}/*.parquet")
        found = session.verify(f"{parts}/*.parquet", POLICY, strict=False, without_provenance=True)
        assert any("1 of its 3 files have no provenance" in note for note in found.notes)


class TestPrivateReleases:
    """What is drawn has no measure; columns, labels and the number of rows are compared all the same."""

    POLICY = clinic_policy(method=sa.IPA(budget=sa.Budget(1000, "0.01"), node=LEVELS, accept_observed_domain=True))

    def test_changes(self, session: sa.Session) -> None:
        session.anonymize("visits", self.POLICY, "drawn", random_source=sa.SeededSource(1))
        assert session.verify("drawn", self.POLICY).measurement.row_count > 0
        for statement, shortfall in (
            ("ALTER TABLE changed ADD COLUMN id INTEGER", 'it has the identifier "id"'),
            ("INSERT INTO changed FROM changed", "rows where"),
            ("DELETE FROM changed", "it has 0 rows where"),
            ("UPDATE changed SET age = '34' WHERE rowid = 0", 'column "age" has 1 labels, in 1 rows, that its'),
        ):
            copy_table(session, "drawn", "changed")
            session.connection.execute(statement)
            assert shortfall in shortfalls(session, "changed", self.POLICY)


class TestTablesBeside:
    """The tables that a run publishes beside the rows are verified with them."""

    def test_changes(self) -> None:
        with duckdb.connect(config={"threads": 1}) as connection:
            open_stays(connection)
            session = sa.connect(connection)
            method = sa.DiffGen(specializations=3, numeric={"age": (0, 120)}, threshold=0)
            policy = sa.Policy(
                quasi_identifiers=["age", "sex"], sensitive=["diagnosis"], rest="identifier", method=method
            )
            seed = sa.SeededSource(1)
            session.anonymize("complete", policy, "drawn", tables={"cuts": "the_cut"}, random_source=seed)
            assert session.verify("drawn", policy).met
            note = str(session.provenance("the_cut")).replace("'", "''")
            connection.execute("COMMENT ON COLUMN the_cut.label IS 'Alice'")
            assert "comments on its columns" in shortfalls(session, "drawn", policy)
            connection.execute("COMMENT ON COLUMN the_cut.label IS NULL")
            for statement, shortfall in (
                ("COMMENT ON TABLE the_cut IS NULL", "it has no provenance"),
                (
                    f"COMMENT ON TABLE the_cut IS '{note}'; DELETE FROM the_cut WHERE rowid = 0",
                    "its rows are not those written",
                ),
                ("DROP TABLE the_cut", 'the table "the_cut", its cuts: it is not there'),
            ):
                connection.execute(statement)
                (found,) = shortfalls(session, "drawn", policy).splitlines()
                assert shortfall in found


class TestCommandLine:
    def test_what_is_not_compared_and_not_covered_is_shown(self, session: sa.Session, tmp_path: Path) -> None:
        session.taxonomies.export("age", tmp_path / "age.csv")
        (tmp_path / "policy.toml").write_text(
            'quasi_identifiers = ["age", "sex", "zip"]\nsensitive = ["diagnosis"]\nidentifiers = ["id"]\n'
            'suppression_limit = 0.5\n[[privacy]]\nmodel = "k-anonymity"\nk = 2\n'
        )
        given = ("verify", "one.parquet", "--policy", "policy.toml", "--taxonomy", "age=age.csv")
        shown = sqlanon(*given, folder=tmp_path)
        assert shown.returncode == 0
        assert 'the labels of "sex", "zip" are not compared' in " ".join(shown.stdout.split())
        assert "whether the sensitive and insensitive values are true" in " ".join(shown.stdout.split())
        found = document(sqlanon(*given, "--json", folder=tmp_path))
        assert found["met"] is True
        assert len(found["notes"]) == 2
        assert len(found["not_covered"]) == 2
        record = found["record_sha256"]
        assert record in shown.stdout
        assert sqlanon(*given, "--record-sha256", record.upper(), folder=tmp_path).returncode == 0
        assert sqlanon(*given, "--record-sha256", "0" * 64, folder=tmp_path).returncode == 3
        session.connection.execute(f"COPY (FROM '{tmp_path}/one.parquet') TO '{tmp_path}/bare.parquet'")
        given_bare = (given[0], "bare.parquet", *given[2:])
        shown = sqlanon(*given_bare, folder=tmp_path)
        assert shown.returncode == 3
        assert "it has no provenance" in shown.stderr
        assert sqlanon(*given_bare, "--without-provenance", folder=tmp_path).returncode == 0
        rewrite(session, tmp_path / "one.parquet", "SELECT *, 4711 AS phone FROM FILE")
        shown = sqlanon(*given, folder=tmp_path)
        assert shown.returncode == 3
        assert 'it has the column "phone"' in shown.stderr
