"""A table of what can be done to a release after it was published: verification sees all of it, whatever the target.

What rewrites the record with its hashes is seen by who has the hash of the record from elsewhere, and by nobody else.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from sqlanon.engines.csv_notes import note_text, read_note, sha256_of
from sqlanon.model.record import ContentRecord, Record
from sqlanon.publish.content import content_of_parquet, content_of_table, replace_note
from tests.conftest import clinic_policy

pytestmark = pytest.mark.one_line

LEVELS = {"age": 2, "sex": 0, "zip": 3}
POLICY = clinic_policy(
    sa.KAnonymity(2),
    insensitive=["ward", "nights", "price", "seen"],
    suppression_limit=0.5,
    minimum_levels=LEVELS,
    maximum_levels=LEVELS,
)
SOURCE = (
    "SELECT *, if(id % 2 = 0, 'east', NULL) AS ward, id % 4 AS nights, id * 0.5 AS price, "
    "DATE '2026-01-01' + CAST(id AS INTEGER) AS seen FROM visits"
)
NAME = "published"

ROWS = {
    "a row less": "FROM it WHERE nights <> 3 OR seen <> (SELECT max(seen) FROM it WHERE nights = 3)",
    "a row twice": "FROM it UNION ALL (FROM it LIMIT 1)",
    "no rows": "FROM it LIMIT 0",
    "a row in place of another": "SELECT * FROM it WHERE seen <> (SELECT min(seen) FROM it) UNION ALL "
    "(FROM it WHERE seen <> (SELECT min(seen) FROM it) LIMIT 1)",
    "a raw age": "SELECT * REPLACE (if(seen = (SELECT min(seen) FROM it), '34', age) AS age) FROM it",
    "ages of two rows exchanged": "SELECT * REPLACE (CASE age WHEN '[20, 40)' THEN '[40, 60)' WHEN '[40, 60)' "
    "THEN '[20, 40)' ELSE age END AS age) FROM it",
    "a label of its taxonomy": "SELECT * REPLACE (if(nights = 1, 'm', sex) AS sex) FROM it",
    "a diagnosis": "SELECT * REPLACE (if(seen = (SELECT min(seen) FROM it), 'flu?', diagnosis) AS diagnosis) FROM it",
    "a diagnosis that others have": "SELECT * REPLACE (if(nights = 0, 'asthma', diagnosis) AS diagnosis) FROM it",
    "diagnoses turned round": "SELECT * REPLACE (coalesce(lag(diagnosis) OVER (ORDER BY seen), 'flu') AS diagnosis) "
    "FROM it",
    "a space at the end": "SELECT * REPLACE (diagnosis || ' ' AS diagnosis) FROM it",
    "upper case": "SELECT * REPLACE (upper(diagnosis) AS diagnosis) FROM it",
    "empty texts in place of NULL": "SELECT * REPLACE (coalesce(ward, '') AS ward) FROM it",
    "NULL in place of texts": "SELECT * REPLACE (CAST(NULL AS VARCHAR) AS ward) FROM it",
    "a number by one": "SELECT * REPLACE (nights + 1 AS nights) FROM it",
    "a price by little": "SELECT * REPLACE (price + if(nights = 1, 0.5, 0) AS price) FROM it",
    "a day later": "SELECT * REPLACE (CAST(seen + INTERVAL 1 DAY AS DATE) AS seen) FROM it",
    "a number as text": "SELECT * REPLACE (CAST(nights AS VARCHAR) AS nights) FROM it",
    "a wider number": "SELECT * REPLACE (CAST(nights AS HUGEINT) AS nights) FROM it",
    "a day as a moment": "SELECT * REPLACE (CAST(seen AS TIMESTAMP) AS seen) FROM it",
    "an identifier": "SELECT *, 1 AS id FROM it",
    "a column without a role": "SELECT *, 'Alice' AS name FROM it",
    "a column less": "SELECT * EXCLUDE (ward) FROM it",
    "columns in another order": "SELECT ward, * EXCLUDE (ward) FROM it",
    "a column of another name": 'SELECT * RENAME (ward AS "Ward") FROM it',
    "two columns exchanged": "SELECT * REPLACE (diagnosis AS ward, ward AS diagnosis) FROM it",
}
"""Other rows, as a query over what was published, ``it``."""

FEW_ROWS = [*ROWS][::4]
"""Those for files, whose hash is of all bytes."""

RECORDS: dict[str, Callable[[dict[str, Any]], object]] = {
    "no labels": lambda facts: facts.pop("labels"),
    "another level": lambda facts: facts["labels"]["levels"].update(sex=1),
    "another number of rows": lambda facts: facts["rows"].update(released=8),
    "a smaller loss": lambda facts: facts["report"].update(loss=0.0),
    "another k that was attained": lambda facts: facts["privacy"][0].update(attained=50),
    "another policy": lambda facts: facts["policy"].update(suppression_limit=0.1),
    "another hash of the policy": lambda facts: facts.update(policy_sha256="0" * 64),
    "files of the policy": lambda facts: facts.update(policy_files=[{"name": "Alice", "sha256": None}]),
    "another hash of a taxonomy": lambda facts: facts["taxonomy_sha256"].update(age="0" * 64),
    "another version": lambda facts: facts.update(version="9.9"),
    "another format": lambda facts: facts.update(format=2),
    "no format": lambda facts: facts.pop("format"),
    "labels of another kind": lambda facts: facts["labels"].update(kind="cut"),
    "another key": lambda facts: facts.update(patient="Alice"),
    "another hash of the record": lambda facts: facts.update(record_sha256="0" * 64),
    "no hash of the record": lambda facts: facts.pop("record_sha256"),
}
"""Other facts in the record."""

STATEMENTS = {
    "a comment on a column": "COMMENT ON COLUMN published.age IS 'Alice is 34'",
    "a default of a column": "ALTER TABLE published ALTER ward SET DEFAULT 'Alice'",
    "a constraint": "ALTER TABLE published ALTER age SET NOT NULL",
    "an index": "CREATE INDEX alice ON published (age)",
    "a value of a type that no row has": "ALTER TABLE published ALTER sex TYPE ENUM ('f', 'm', 'Alice')",
    "a comment that is no record": "COMMENT ON TABLE published IS 'for the annual report'",
    "no comment": "COMMENT ON TABLE published IS NULL",
    "a view": "ALTER TABLE published RENAME TO hidden; CREATE VIEW published AS FROM hidden",
    "a row by INSERT": "INSERT INTO published FROM published LIMIT 1",
    "a row by DELETE": "DELETE FROM published WHERE rowid = 0",
    "an UPDATE": "UPDATE published SET nights = 7 WHERE rowid = 0",
}
"""What is done to a table otherwise."""


@pytest.fixture(scope="module")
def made(shared_clinic: sa.Session, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One release for each kind of target."""
    folder = tmp_path_factory.mktemp("made")
    for into in ("whole", f"{folder}/it.parquet", f"{folder}/it.csv"):
        shared_clinic.anonymize(SOURCE, POLICY, into)
    shared_clinic.anonymize(SOURCE, POLICY, f"{folder}/it/", rows_per_file=3)
    return folder


@pytest.fixture
def session(shared_clinic: sa.Session, made: Path) -> Iterator[sa.Session]:
    """A session with a copy of the table to be changed."""
    assert made.is_dir()
    put(shared_clinic, "FROM whole", str(shared_clinic.provenance("whole")))
    yield shared_clinic
    kind = (
        "VIEW"
        if shared_clinic.connection.execute("SELECT * FROM duckdb_views() WHERE view_name = 'published'").fetchone()
        else "TABLE"
    )
    shared_clinic.connection.execute(f"DROP {kind} {NAME}; DROP TABLE IF EXISTS hidden")


@pytest.fixture
def place(made: Path, tmp_path: Path) -> Path:
    """A folder with copies of the files to be changed."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path


def put(session: sa.Session, query: str, note: str) -> None:
    session.connection.execute(f"CREATE OR REPLACE TABLE {NAME} AS {query}")
    session.connection.execute(f"COMMENT ON TABLE {NAME} IS '{quoted(note)}'")


def quoted(text: str) -> str:
    return text.replace("'", "''")


def is_seen(session: sa.Session, release: str | Path, **more: Any) -> bool:
    """Whether a release falls short, or cannot even be read."""
    try:
        return not session.verify(release, POLICY, strict=False, **more).met
    except sa.SqlanonError:
        return True


def changed_record(note: str, kind: str) -> str:
    document = json.loads(note)
    RECORDS[kind](document["sqlanon"])
    return json.dumps(document)


def test_untouched(session: sa.Session, place: Path) -> None:
    for release in (NAME, place / "it.parquet", place / "it.csv", place / "it"):
        assert session.verify(release, POLICY, source=SOURCE).notes == ()
        assert session.verify(release, POLICY).notes == ()


# Tables


@pytest.mark.parametrize("kind", ROWS)
def test_rows_of_a_table(session: sa.Session, kind: str) -> None:
    put(session, ROWS[kind].replace(" it", " whole"), str(session.provenance("whole")))
    assert is_seen(session, NAME)


@pytest.mark.parametrize("kind", RECORDS)
def test_the_record_of_a_table(session: sa.Session, kind: str) -> None:
    put(session, "FROM whole", changed_record(str(session.provenance("whole")), kind))
    assert is_seen(session, NAME)


@pytest.mark.parametrize("kind", STATEMENTS)
def test_what_is_done_to_a_table(session: sa.Session, kind: str) -> None:
    session.connection.execute(STATEMENTS[kind])
    assert is_seen(session, NAME)


# Parquet files


def copy_parquet(session: sa.Session, file: Path, query: str, *keys: str, options: str = "") -> None:
    """Put other rows in place of a file's, with its record."""
    note = quoted(str(session._engine.parquet_metadata(file)))
    metadata = ", ".join([f"sqlanon: '{note}'", *keys])
    query = query.replace(" it", f" '{file}'")
    written = f"(FORMAT parquet, COMPRESSION zstd, KV_METADATA {{{metadata}}}{options})"
    session.connection.execute(f"COPY ({query}) TO '{file}.new' {written}")
    Path(f"{file}.new").rename(file)


@pytest.mark.parametrize("kind", FEW_ROWS)
def test_rows_of_a_parquet_file(session: sa.Session, place: Path, kind: str) -> None:
    copy_parquet(session, place / "it.parquet", ROWS[kind])
    assert is_seen(session, place / "it.parquet")


@pytest.mark.parametrize("kind", RECORDS)
def test_the_record_of_a_parquet_file(session: sa.Session, place: Path, kind: str) -> None:
    note = str(session._engine.parquet_metadata(place / "it.parquet"))
    replace_note(place / "it.parquet", note, changed_record(note, kind))
    assert is_seen(session, place / "it.parquet")


@pytest.mark.parametrize(
    ("keys", "options"),
    [
        (["patient: 'Alice'"], ""),
        ([], ""),
        ([], ", ROW_GROUP_SIZE 2"),
        ([], ", FIELD_IDS {age: 34}"),
        ([], ", PARQUET_VERSION v2"),
    ],
)
def test_a_parquet_file_with_the_same_rows(session: sa.Session, place: Path, keys: list[str], options: str) -> None:
    copy_parquet(session, place / "it.parquet", "FROM it ORDER BY seen DESC", *keys, options=options)
    assert is_seen(session, place / "it.parquet")


@pytest.mark.parametrize("share", [0.0, 0.01, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0])
def test_a_byte_of_a_parquet_file(session: sa.Session, place: Path, share: float) -> None:
    flip(place / "it.parquet", share)
    assert is_seen(session, place / "it.parquet")


def flip(file: Path, share: float) -> None:
    """Change one bit of a file, as far into it as a share of its bytes says."""
    contents = bytearray(file.read_bytes())
    contents[min(int(share * len(contents)), len(contents) - 1)] ^= 1
    file.write_bytes(contents)


@pytest.mark.parametrize("name", ["it.parquet", "it.csv", "it/part-00001.parquet"])
@pytest.mark.parametrize("change", ["cut", "grown", "gone", "empty"])
def test_the_length_of_a_file(session: sa.Session, place: Path, name: str, change: str) -> None:
    file = place / name
    match change:
        case "cut":
            file.write_bytes(file.read_bytes()[:-1])
        case "grown":
            file.write_bytes(file.read_bytes() + b"x")
        case "gone":
            file.unlink()
        case _:
            file.write_bytes(b"")
    assert is_seen(session, place / name.partition("/")[0])


# CSV files


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 1.0])
def test_a_byte_of_a_csv_file(session: sa.Session, place: Path, share: float) -> None:
    flip(place / "it.csv", share)
    assert is_seen(session, place / "it.csv")


@pytest.mark.parametrize("kind", FEW_ROWS)
def test_rows_of_a_csv_file_whose_note_knows_them(session: sa.Session, place: Path, kind: str) -> None:
    file = place / "it.csv"
    query = ROWS[kind].replace(" it", " whole")
    session.connection.execute(f"COPY ({query}) TO '{file}' (HEADER, FORCE_QUOTE (age, sex, zip, diagnosis))")
    (entry,) = read_note(place / "it.csv").values()
    Path(f"{file}.sqlanon.json").write_text(note_text({str(sha256_of(file)): entry}))
    assert is_seen(session, file)


@pytest.mark.parametrize("kind", RECORDS)
def test_the_record_of_a_csv_file(session: sa.Session, place: Path, kind: str) -> None:
    beside = place / "it.csv.sqlanon.json"
    document = json.loads(beside.read_text())
    (entry,) = document["sqlanon"]["releases"].values()
    RECORDS[kind](entry["note"]["sqlanon"])
    beside.write_text(json.dumps(document) + "\n")
    assert is_seen(session, place / "it.csv")


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("gone", None),
        ("empty", lambda document: document.clear()),
        ("a key beside ours", lambda document: document.update(patient="Alice")),
        ("a key in ours", lambda document: document["sqlanon"].update(patient="Alice")),
        ("a key in the entry", lambda document: entry_of(document).update(patient="Alice")),
        ("another type", lambda document: entry_of(document)["columns"].update(nights="VARCHAR")),
        ("another name", lambda document: entry_of(document)["columns"].update(Alice="VARCHAR")),
        ("formulas that are quoted", lambda document: entry_of(document).update(quoted_formulas=["ward"])),
        ("no columns", lambda document: entry_of(document).update(columns={})),
    ],
)
def test_the_note_of_a_csv_file(
    session: sa.Session, place: Path, kind: str, change: Callable[[dict[str, Any]], object] | None
) -> None:
    beside = place / "it.csv.sqlanon.json"
    if change is None:
        beside.unlink()
    else:
        document = json.loads(beside.read_text())
        change(document)
        beside.write_text(json.dumps(document) + "\n")
    assert is_seen(session, place / "it.csv"), kind


def entry_of(document: dict[str, Any]) -> dict[str, Any]:
    (entry,) = document["sqlanon"]["releases"].values()
    assert isinstance(entry, dict)
    return entry


# Folders


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_byte_of_a_file_of_a_folder(session: sa.Session, place: Path, share: float) -> None:
    flip(place / "it" / "part-00001.parquet", share)
    assert is_seen(session, place / "it")


@pytest.mark.parametrize("kind", RECORDS)
def test_the_record_of_a_folder(session: sa.Session, place: Path, kind: str) -> None:
    marker = place / "it" / "_sqlanon.json"
    marker.write_text(changed_record(marker.read_text(), kind) + "\n")
    assert is_seen(session, place / "it")


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("a key beside ours", lambda document: document.update(patient="Alice")),
        ("a key in the layout", lambda document: document["sqlanon"]["folder"].update(patient="Alice")),
        ("another type", lambda document: document["sqlanon"]["folder"]["columns"].update(nights="VARCHAR")),
        ("no hashes", lambda document: document["sqlanon"]["folder"].pop("files_sha256")),
        ("no sizes", lambda document: document["sqlanon"]["folder"].pop("files")),
        ("files in another order", lambda document: document["sqlanon"]["folder"]["files_sha256"].reverse()),
    ],
)
def test_the_marker_of_a_folder(
    session: sa.Session, place: Path, kind: str, change: Callable[[dict[str, Any]], object]
) -> None:
    marker = place / "it" / "_sqlanon.json"
    document = json.loads(marker.read_text())
    change(document)
    marker.write_text(json.dumps(document) + "\n")
    assert is_seen(session, place / "it"), kind


@pytest.mark.parametrize("kind", ["exchanged", "renamed", "copied", "hidden", "beside", "below", "unmarked"])
def test_the_files_of_a_folder(session: sa.Session, place: Path, kind: str) -> None:
    folder = place / "it"
    first, second, *_ = sorted(folder.glob("*.parquet"))
    match kind:
        case "exchanged":
            first.rename(folder / "kept")
            second.rename(first)
            (folder / "kept").rename(second)
        case "renamed":
            first.rename(folder / "part-00099.parquet")
        case "copied":
            shutil.copy(first, folder / "part-00099.parquet")
        case "hidden":
            (folder / ".names").write_text("Alice")
        case "beside":
            (folder / "names.csv").write_text("name\nAlice\n")
        case "below":
            (folder / "name=Alice").mkdir()
        case _:
            (folder / "_sqlanon.json").unlink()
    assert is_seen(session, folder)


# What rewrites the record as well


def sealed(note: str, content: ContentRecord) -> str:
    """A note about another content."""
    record = Record.parse(note)
    assert record is not None
    return record.sealed(content).text


def test_a_record_that_was_rewritten_with_its_hashes(session: sa.Session, place: Path) -> None:
    """Nobody sees it but who has the hash of the record from elsewhere."""
    swapped = "SELECT * REPLACE (coalesce(lag(diagnosis) OVER (ORDER BY seen), 'flu') AS diagnosis) FROM it"
    hashes = {
        release: session.verify(release, POLICY).record_sha256
        for release in (NAME, place / "it.parquet", place / "it.csv", place / "it")
    }
    assert len({*hashes.values()}) == len(hashes)
    for release, digest in hashes.items():
        assert not is_seen(session, release, record_sha256=digest)
    note = str(session.provenance("whole"))
    put(session, swapped.replace(" it", " whole"), note)
    table = session._engine.find(NAME)
    assert table is not None
    put(session, swapped.replace(" it", " whole"), sealed(note, content_of_table(session._engine, table.table)))
    copy_parquet(session, place / "it.parquet", swapped)
    note = str(session._engine.parquet_metadata(place / "it.parquet"))
    replace_note(place / "it.parquet", note, "null")
    replace_note(place / "it.parquet", "null", sealed(note, content_of_parquet(place / "it.parquet", "null")))
    # DuckDB 1.5 keeps the footers of files that it has read, and tells by the second whether they are others.
    later = (place / "it.parquet").stat().st_mtime + 10
    os.utime(place / "it.parquet", (later, later))
    marker = place / "it" / "_sqlanon.json"
    record = Record.parse(marker.read_text())
    assert record is not None
    assert record.folder is not None
    marker.write_text(record.model_copy(update={"version": "9.9"}).sealed(record.folder).text + "\n")
    for release in (NAME, place / "it.parquet", place / "it"):
        assert not is_seen(session, release)
        assert is_seen(session, release, record_sha256=hashes[release])


def test_values_that_the_source_does_not_have(session: sa.Session) -> None:
    """Who has the source sees them even if the record was rewritten."""
    note = str(session.provenance("whole"))
    other = "SELECT * REPLACE (if(nights = 0, 'asthma', diagnosis) AS diagnosis) FROM whole"
    put(session, other, note)
    table = session._engine.find(NAME)
    assert table is not None
    put(session, other, sealed(note, content_of_table(session._engine, table.table)))
    assert not is_seen(session, NAME)
    found = session.verify(NAME, POLICY, source=SOURCE, strict=False)
    assert "sensitive and insensitive values that its source does not have" in "\n".join(found.shortfalls)
