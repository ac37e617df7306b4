"""CSV files: sources as Parquet files are."""

import gzip
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa

ROW_COUNT = 240
SECRET = "alice-1970"  # noqa: S105
POLICY = sa.Policy(
    quasi_identifiers=["age", "zip"],
    sensitive=["illness"],
    identifiers=["id"],
    insensitive=["visited"],
    privacy=[sa.KAnonymity(5), sa.DistinctLDiversity("illness", 2)],
    suppression_limit=0.1,
    earlier="none",
)
ILLNESSES = ["flu", "a,b", 'say "x"', None, "2020-01-01x", "ü €\nsecond line"]
SUFFIXES = [".csv", ".tsv", ".csv.gz", ".csv.zst", ".tsv.gz", ".CSV"]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a warehouse that has taxonomies and macros, and the same rows as a table, as Parquet and as CSV."""
    folder = tmp_path_factory.mktemp("csv")
    with sa.connect(folder / "w.duckdb", threads=1) as session:
        session.install()
        session.connection.execute(
            "CREATE TABLE folk AS SELECT hash(i) % 60 AS age, 'z' || (hash(i * 3) % 4) AS zip, "
            "list_extract($1, 1 + (hash(i * 7) % len($1))::INTEGER) AS illness, "
            f"DATE '2020-01-01' + (i % 9)::INTEGER AS visited, i AS id FROM range({ROW_COUNT}) AS r (i)",
            [ILLNESSES],
        )
        for suffix in SUFFIXES[:3]:
            delimiter = "\\t" if "tsv" in suffix else ","
            session.connection.execute(f"COPY folk TO '{folder}/folk{suffix}' (FORMAT csv, DELIMITER E'{delimiter}')")
        session.connection.execute(f"COPY folk TO '{folder}/folk.csv.zst' (FORMAT csv, COMPRESSION zstd)")
        session.connection.execute(f"COPY folk TO '{folder}/parts' (FORMAT csv, PARTITION_BY (visited))")
        session.taxonomies.load("age", sa.Taxonomy.intervals([5, 20], minimum=0, maximum=99))
        session.taxonomies.load("zip", sa.Taxonomy.flat(), source=folder / "folk.csv")
    (folder / "folk.tsv.gz").write_bytes(gzip.compress((folder / "folk.tsv").read_bytes()))
    shutil.copy(folder / "folk.csv", folder / "folk.CSV")
    return folder


@pytest.fixture
def folder(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that folder, which is the working folder."""
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def session(folder: Path) -> Iterator[sa.Session]:
    with sa.connect(folder / "w.duckdb", threads=1) as session:
        yield session


def rows(session: sa.Session, relation: str) -> list[tuple[Any, ...]]:
    return session.connection.execute(f"SELECT age, zip, illness, visited FROM {relation} ORDER BY ALL").fetchall()


class TestSources:
    def test_a_file_is_what_its_table_is(self, session: sa.Session) -> None:
        expected = session.measure("folk", POLICY)
        for suffix in SUFFIXES:
            measured = session.measure(f"folk{suffix}", POLICY)
            assert measured.source == f"CSV folk{suffix}"
            assert measured == expected.model_copy(update={"source": measured.source})
        few = sa.Policy(quasi_identifiers=["zip"], privacy=[sa.KAnonymity(5)])
        for source in ("parts", "parts/", "parts/**/*.csv", "parts/*/*", "./parts/v*/*.csv"):
            assert session.measure(source, few).row_count == ROW_COUNT
        session.anonymize("folk", POLICY, "expected")
        for source in ("folk.tsv.gz", "parts"):
            session.anonymize(source, POLICY, "released", replace=True)
            assert rows(session, "released") == rows(session, "expected")

    def test_every_method_reads_them(self, session: sa.Session) -> None:
        assert session.explain("folk.csv", POLICY)
        assert session.lattice("folk.csv", POLICY).num_rows == session.lattice("folk", POLICY).num_rows
        session.partitions.fit("folk.csv", POLICY, "folk.fit", accept_observed_domain=True)
        assert session.partitions.apply("folk.csv", "folk.fit", "part.parquet").report.rows.source == ROW_COUNT
        assert session.verify("part.parquet", POLICY, source="folk.csv").met
        roles = {"individual": "id", "event": "illness", "order": "age", "first": 1}
        assert session.flatten("folk.csv", "flat", **roles).individuals == ROW_COUNT
        session.taxonomies.load("zip", sa.Taxonomy.flat(), source="parts")

    def test_the_macros_read_them(self, session: sa.Session) -> None:
        expected = session.connection.execute("SELECT k FROM anon.k_anonymity('folk', ['zip'])").fetchall()
        for source in ("folk.csv", "folk.tsv.gz", "parts/*/*.csv"):
            measured = session.connection.execute(f"SELECT k FROM anon.k_anonymity('{source}', ['zip'])").fetchall()
            assert measured == expected

    def test_options_are_told_by_a_query(self, session: sa.Session, folder: Path) -> None:
        (folder / "odd.csv").write_text("12;flu\n02;flu\n")
        policy = sa.Policy(quasi_identifiers=["zip"], sensitive=["illness"], privacy=[sa.KAnonymity(2)])
        session.taxonomies.load("zip", sa.Taxonomy.flat(["12", "02"]))
        names = "names = ['zip', 'illness'], types = {'zip': 'VARCHAR'}"
        query = f"FROM read_csv('odd.csv', delim = ';', header = false, {names})"
        assert session.anonymize(query, policy, "released").node == {"zip": 1}

    def test_a_run_again_finds_its_release(self, session: sa.Session, folder: Path) -> None:
        assert not session.anonymize("folk.csv", POLICY, "released.parquet").unchanged
        assert session.anonymize("folk.csv", POLICY, "released.parquet").unchanged
        os.utime(folder / "folk.csv", ns=(1, 1))
        with pytest.raises(sa.EngineError, match="from files that have changed since"):
            session.anonymize("folk.csv", POLICY, "released.parquet")

    def test_the_ledger_knows_them_by_their_path(self, session: sa.Session, folder: Path) -> None:
        session.ledger.cap("folk.csv", sa.Budget(1))
        assert session.ledger.remaining(str(folder / "folk.csv")) == sa.Budget(1)
        assert session.ledger.remaining("./folk.csv") == sa.Budget(1)
        (folder / "folk.csv").unlink()
        assert session.ledger.remaining("folk.csv") == sa.Budget(1)

    def test_a_number_sign_is_no_comment(self, session: sa.Session, folder: Path) -> None:
        """DuckDB would take it for one where it begins some values, and leave out rows."""
        (folder / "notes.csv").write_text("age,note\n30,flu\n31,#b12\n30,hiv\n31,cold\n30,x\n#32,flu\n")
        policy = sa.Policy(quasi_identifiers=["age"], insensitive=["note"], privacy=[sa.KAnonymity(2)])
        assert session.measure("notes.csv", policy).row_count == 6


class TestWhatIsNoSource:
    def test_files_of_several_kinds(self, session: sa.Session, folder: Path) -> None:
        session.connection.execute("COPY folk TO 'parts/folk.parquet'")
        named = r"several formats, such as (\./)?parts/folk\.parquet and (\./)?parts/v.*\.csv"
        for source in ("parts", "parts/**/*", "./parts/**"):
            with pytest.raises(sa.EngineError, match=named):
                session.measure(source, POLICY)
        assert session.measure("parts/*/*.csv", POLICY).row_count == ROW_COUNT
        assert session.measure("parts/*.parquet", POLICY).row_count == ROW_COUNT

    def test_files_that_differ(self, session: sa.Session, folder: Path) -> None:
        for place, (other, reason) in enumerate(
            {
                "years,zip\n1,z1\n": r"1 that .*two\.csv lacks, which has 1 others",
                "age,zip,more\n1,z1,2\n": r"0 that .*two\.csv lacks, which has 1 others",
                "age\n1\n": r"1 that .*two\.csv lacks, which has 0 others",
            }.items()
        ):
            (folder / f"drift{place}").mkdir()
            (folder / f"drift{place}" / "one.csv").write_text("age,zip\n1,z1\n")
            (folder / f"drift{place}" / "two.csv").write_text(other)
            for source in (f"drift{place}", f"drift{place}/*.csv"):
                with pytest.raises(
                    sa.EngineError, match=f"files have different columns: .*{reason}; .*over read_csv with"
                ):
                    session.measure(source, POLICY)

    def test_files_of_other_delimiters_are_alike(self, session: sa.Session, folder: Path) -> None:
        (folder / "alike").mkdir()
        (folder / "alike" / "one.csv").write_text("age,zip,illness\n1,z1,x\n")
        (folder / "alike" / "two.csv").write_text('zip;age;illness\nz2;1;"y;z"\n')
        assert session.measure("alike", POLICY).row_count == 2

    def test_files_without_rows_or_sense(self, session: sa.Session, folder: Path) -> None:
        for place, content in enumerate((b"", b"age,zip\n", bytes(range(256)) * 9, b"\xff\xfe\x00" * 99)):
            (folder / f"bad{place}.csv").write_bytes(content)
            with pytest.raises((sa.EngineError, sa.PolicyError)) as refused:
                session.anonymize(f"bad{place}.csv", POLICY, "released")
            assert f"bad{place}.csv" in str(refused.value)
        for source in ("none.csv", "none/*.csv", "none.csv.gz"):
            with pytest.raises(sa.EngineError, match="no CSV file can be read at none"):
                session.measure(source, POLICY)

    def test_a_line_that_does_not_fit_is_named_and_not_quoted(self, session: sa.Session, folder: Path) -> None:
        header, *lines = ["age,zip,illness,visited,id", *[f"{i % 60},z1,flu,2020-01-01,{i}" for i in range(30_000)]]
        (folder / "long.csv").write_text("\n".join([header, *lines, f"1,z1,{SECRET},2020-01-01,1,more,than,others"]))
        with pytest.raises(
            sa.EngineError, match=r"line 30002 of long\.csv has more where the first line has 5"
        ) as refused:
            session.anonymize("long.csv", POLICY, "released")
        assert SECRET not in str(refused.value)
