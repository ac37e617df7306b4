"""A table of what can be done to a release after it was published: verification sees all of it, whatever the target.

What rewrites the record with its hashes is seen by who has the hash of the record from elsewhere, and by nobody else.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from sqlanon.engines.csv_notes import note_text, read_note, sha256_of
from sqlanon.model.record import ContentRecord, Record, RecordError
from sqlanon.publish.parquet import content_of_parquet, replace_note
from sqlanon.publish.targets import content_of_table
from tests.conftest import clinic_policy
from tests.effort import some
from tests.engines import engine_of

LEVELS = {"age": 2, "sex": 0, "zip": 3}
POLICY = clinic_policy(
    sa.KAnonymity(2),
    insensitive=["ward", "nights", "price", "seen"],
    suppression_limit=0.5,
    earlier="none",
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
"""Those for files, whose hash is of all bytes, and for a whole verification, which compares the hash."""

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

FEW_RECORDS = [*RECORDS][::5]
"""Those for a whole verification: what a record says is compared with its hash in one way, wherever it is."""

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
    put(shared_clinic, "FROM whole")
    yield shared_clinic
    drop(shared_clinic)


@pytest.fixture
def place(made: Path, tmp_path: Path) -> Path:
    """A folder with copies of the files to be changed."""
    return Path(shutil.copytree(made, tmp_path, dirs_exist_ok=True))


def put(session: sa.Session, query: str, note: str | None = None) -> None:
    """Put the rows of a query in place of the table, with a note or the one that the release has."""
    drop(session)
    note = str(session.provenance("whole")) if note is None else note
    session.connection.execute(f"CREATE TABLE {NAME} AS {query}; COMMENT ON TABLE {NAME} IS '{quoted(note)}'")


def drop(session: sa.Session) -> None:
    session.connection.execute("DROP TABLE IF EXISTS hidden")
    views = session.connection.execute(f"SELECT * FROM duckdb_views() WHERE view_name = '{NAME}'").fetchall()
    session.connection.execute(f"DROP {'VIEW' if views else 'TABLE'} IF EXISTS {NAME}")


def quoted(text: str) -> str:
    return text.replace("'", "''")


def shortfalls(session: sa.Session, release: str | Path, **more: Any) -> str:
    """What a release falls short of, or why it cannot even be read."""
    try:
        return "\n".join(session.verify(release, POLICY, strict=False, **more).shortfalls)
    except sa.SqlanonError as error:
        return str(error)


def is_seen(session: sa.Session, release: str | Path, **more: Any) -> bool:
    return bool(shortfalls(session, release, **more))


def content_of(session: sa.Session) -> ContentRecord:
    """What the record of the table would say of its rows."""
    found = engine_of(session).find(NAME)
    assert found is not None
    return content_of_table(engine_of(session), found.table)


def changed_record(note: str, kind: str) -> str:
    document = json.loads(note)
    RECORDS[kind](document["sqlanon"])
    return json.dumps(document)


def is_sealed(note: str) -> bool:
    """Whether what a note says is what its own hash is of."""
    try:
        record = Record.parse(note)
    except RecordError:
        return False
    return record is not None and record.record_sha256 == record.sha256


def test_tables(session: sa.Session) -> None:
    unseen = []
    whole = content_of(session)
    assert is_sealed(str(session.provenance("whole")))
    for kind, query in ROWS.items():
        put(session, query.replace(" it", " whole"))
        unseen += [kind] if content_of(session) == whole or (kind in FEW_ROWS and not is_seen(session, NAME)) else []
    note = str(session.provenance("whole"))
    for kind in RECORDS:
        changed = changed_record(note, kind)
        unseen += [kind] if is_sealed(changed) else []
        if kind in FEW_RECORDS:
            put(session, "FROM whole", changed)
            unseen += [] if is_seen(session, NAME) else [kind]
    for kind, statement in STATEMENTS.items():
        put(session, "FROM whole")
        session.connection.execute(statement)
        unseen += [] if is_seen(session, NAME) else [kind]
    assert unseen == []


# Files. A change gets the folder with copies, and changes one of them.

Change = Callable[[sa.Session, Path], object]


def copied(query: str, *keys: str, options: str = "") -> Change:
    """Other rows in place of those of the Parquet file, with its record."""

    def change(session: sa.Session, place: Path) -> None:
        file = place / "it.parquet"
        note = quoted(str(engine_of(session).parquet_metadata(file)))
        metadata = ", ".join([f"sqlanon: '{note}'", *keys])
        written = f"(FORMAT parquet, COMPRESSION zstd, KV_METADATA {{{metadata}}}{options})"
        rows = query.replace(" it", f" '{file}'")
        session.connection.execute(f"COPY ({rows}) TO '{file}.new' {written}")
        Path(f"{file}.new").rename(file)

    return change


def recorded(kind: str) -> Change:
    """Other facts in the record of the Parquet file."""

    def change(session: sa.Session, place: Path) -> None:
        note = str(engine_of(session).parquet_metadata(place / "it.parquet"))
        replace_note(place / "it.parquet", note, changed_record(note, kind))

    return change


def flipped(name: str, share: float) -> Change:
    """Another bit, as far into a file as a share of its bytes says."""

    def change(_: sa.Session, place: Path) -> None:
        contents = bytearray((place / name).read_bytes())
        contents[min(int(share * len(contents)), len(contents) - 1)] ^= 1
        (place / name).write_bytes(contents)

    return change


def lengthened(name: str, change: Callable[[bytes], bytes]) -> Change:
    return lambda _, place: (place / name).write_bytes(change((place / name).read_bytes()))


def without(name: str) -> Change:
    return lambda _, place: (place / name).unlink()


def noted(name: str, change: Callable[[dict[str, Any]], object]) -> Change:
    """Another note, which is a file of JSON."""

    def changed(_: sa.Session, place: Path) -> None:
        document = json.loads((place / name).read_text())
        change(document)
        (place / name).write_text(json.dumps(document) + "\n")

    return changed


def known_rows(query: str) -> Change:
    """Other rows in place of those of the CSV file, whose note has their hash."""

    def change(session: sa.Session, place: Path) -> None:
        file = place / "it.csv"
        rows = query.replace(" it", " whole")
        session.connection.execute(f"COPY ({rows}) TO '{file}' (HEADER, FORCE_QUOTE (age, sex, zip, diagnosis))")
        (entry,) = read_note(file).values()
        Path(f"{file}.sqlanon.json").write_text(note_text({str(sha256_of(file)): entry}))

    return change


def entry_of(document: dict[str, Any]) -> dict[str, Any]:
    (entry,) = document["sqlanon"]["releases"].values()
    assert isinstance(entry, dict)
    return entry


def layout_of(document: dict[str, Any]) -> dict[str, Any]:
    layout = document["sqlanon"]["folder"]
    assert isinstance(layout, dict)
    return layout


def exchanged(_: sa.Session, place: Path) -> None:
    first, second, *_ = sorted((place / "it").glob("*.parquet"))
    first.rename(place / "kept")
    second.rename(first)
    (place / "kept").rename(second)


SAME_ROWS = "FROM it ORDER BY seen DESC"
FIRST, BESIDE, MARKER = "it/part-00001.parquet", "it.csv.sqlanon.json", "it/_sqlanon.json"
LENGTHS: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda text: text[:-1],
    "grown": lambda text: text + b"x",
    "empty": lambda _: b"",
}
FILES: dict[str, dict[str, Change]] = {
    "it.parquet": {
        **{kind: copied(ROWS[kind]) for kind in FEW_ROWS},
        **{kind: recorded(kind) for kind in FEW_RECORDS},
        "another key": copied(SAME_ROWS, "patient: 'Alice'"),
        "another order": copied(SAME_ROWS),
        "other groups of rows": copied(SAME_ROWS, options=", ROW_GROUP_SIZE 2"),
        "numbers of fields": copied(SAME_ROWS, options=", FIELD_IDS {age: 34}"),
        "another version of Parquet": copied(SAME_ROWS, options=", PARQUET_VERSION v2"),
        **{f"a bit at {share}": flipped("it.parquet", share) for share in (0.0, 0.01, 0.3, 0.6, 0.95, 1.0)},
        **{kind: lengthened("it.parquet", change) for kind, change in LENGTHS.items()},
        "gone": without("it.parquet"),
    },
    "it.csv": {
        **{f"{kind}, known": known_rows(ROWS[kind]) for kind in FEW_ROWS},
        **{
            f"{kind} in the record": noted(
                BESIDE, lambda document, kind=kind: RECORDS[kind](entry_of(document)["note"]["sqlanon"])
            )
            for kind in FEW_RECORDS
        },
        **{f"a bit at {share}": flipped("it.csv", share) for share in (0.0, 0.3, 0.6, 1.0)},
        **{kind: lengthened("it.csv", change) for kind, change in LENGTHS.items()},
        "gone": without("it.csv"),
        "no note": without(BESIDE),
        "an empty note": noted(BESIDE, lambda document: document.clear()),
        "a key beside ours": noted(BESIDE, lambda document: document.update(patient="Alice")),
        "a key in ours": noted(BESIDE, lambda document: document["sqlanon"].update(patient="Alice")),
        "a key in the entry": noted(BESIDE, lambda document: entry_of(document).update(patient="Alice")),
        "another type": noted(BESIDE, lambda document: entry_of(document)["columns"].update(nights="VARCHAR")),
        "another name": noted(BESIDE, lambda document: entry_of(document)["columns"].update(Alice="VARCHAR")),
        "quoted formulas": noted(BESIDE, lambda document: entry_of(document).update(quoted_formulas=["ward"])),
        "no columns": noted(BESIDE, lambda document: entry_of(document).update(columns={})),
    },
    "it": {
        **{f"a bit at {share}": flipped(FIRST, share) for share in (0.1, 0.5, 0.9)},
        **{kind: lengthened(FIRST, change) for kind, change in LENGTHS.items()},
        "gone": without(FIRST),
        **{
            f"{kind} in the record": noted(MARKER, lambda document, kind=kind: RECORDS[kind](document["sqlanon"]))
            for kind in FEW_RECORDS
        },
        "no marker": without(MARKER),
        "an empty marker": lambda _, place: (place / MARKER).write_text("{}"),
        "no data": lambda _, place: [file.unlink() for file in (place / "it").glob("*.parquet")],
        "a key beside ours": noted(MARKER, lambda document: document.update(patient="Alice")),
        "a key in the layout": noted(MARKER, lambda document: layout_of(document).update(patient="Alice")),
        "another type": noted(MARKER, lambda document: layout_of(document)["columns"].update(nights="VARCHAR")),
        "no hashes": noted(MARKER, lambda document: layout_of(document).pop("files_sha256")),
        "no sizes": noted(MARKER, lambda document: layout_of(document).pop("files")),
        "another order": noted(MARKER, lambda document: layout_of(document)["files_sha256"].reverse()),
        "exchanged": exchanged,
        "renamed": lambda _, place: (place / FIRST).rename(place / "it" / "part-00099.parquet"),
        "copied": lambda _, place: shutil.copy(place / FIRST, place / "it" / "part-00099.parquet"),
        "hidden": lambda _, place: (place / "it" / ".names").write_text("Alice"),
        "beside": lambda _, place: (place / "it" / "names.csv").write_text("name\nAlice\n"),
        "below": lambda _, place: (place / "it" / "name=Alice").mkdir(),
        "linked": lambda _, place: (place / "it" / "more").symlink_to(place, target_is_directory=True),
    },
}
"""What is done to a file or a folder."""

SAID = {
    **dict.fromkeys(["copied", "hidden", "beside", "below", "linked"], "more files"), "gone": "fewer files",
    "renamed": "other names or sizes", "exchanged": "other names or sizes", "no marker": "no provenance",
    "an empty marker": "_sqlanon.json was not written by sqlanon", "no data": "cannot be read",
}  # fmt: skip
"""What is said of some changes of a folder, whose names, as those of its files, are not quoted."""


@pytest.mark.repeated
@pytest.mark.parametrize("name", some(FILES, "it.parquet"))
def test_files(session: sa.Session, made: Path, tmp_path: Path, name: str) -> None:
    unseen = []
    for number, (kind, change) in enumerate(FILES[name].items()):
        place = tmp_path / f"{number}"  # DuckDB 1.5 keeps the footers of files that it has read, by their names
        shutil.copytree(made, place)
        change(session, place)
        found = shortfalls(session, place / name)
        unseen += [] if found and (name != "it" or SAID.get(kind, "") in found) else [kind]
        assert "Alice" not in found and "names.csv" not in found
    assert unseen == []


# What rewrites the record as well


def sealed(note: str, content: ContentRecord) -> str:
    """A note about another content."""
    record = Record.parse(note)
    assert record is not None
    return record.sealed(content).text


def test_a_record_that_was_rewritten_with_its_hashes(session: sa.Session, place: Path) -> None:
    """Nobody sees it but who has the hash of the record from elsewhere."""
    swapped = "SELECT * REPLACE (coalesce(lag(diagnosis) OVER (ORDER BY seen), 'flu') AS diagnosis) FROM it"
    hashes: dict[str | Path, str | None] = {}
    for release in (NAME, place / "it.parquet", place / "it.csv", place / "it"):
        found = session.verify(release, POLICY, source=SOURCE)
        assert found.notes == (), "untouched"
        hashes[release] = found.record_sha256
    assert len({*hashes.values()}) == len(hashes)
    for release, digest in hashes.items():
        assert not is_seen(session, release, record_sha256=digest)
    put(session, swapped.replace(" it", " whole"))
    note = str(session.provenance("whole"))
    put(session, swapped.replace(" it", " whole"), sealed(note, content_of(session)))
    copied(swapped)(session, place)
    note = str(engine_of(session).parquet_metadata(place / "it.parquet"))
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
    other = "SELECT * REPLACE (if(nights = 0, 'asthma', diagnosis) AS diagnosis) FROM whole"
    put(session, other)
    put(session, other, sealed(str(session.provenance("whole")), content_of(session)))
    assert not is_seen(session, NAME)
    found = session.verify(NAME, POLICY, source=SOURCE, strict=False)
    assert "sensitive and insensitive values that its source lacks" in "\n".join(found.shortfalls)
