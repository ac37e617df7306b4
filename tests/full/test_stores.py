"""Releases in object stores: files under a prefix of their run, and one object that lists them, which is put last."""

import json
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import pytest
from pyarrow import dataset, fs

import sqlanon as sa
from sqlanon.engines.locks import Held
from sqlanon.lakes import store
from sqlanon.lakes.store import StoredRelease
from sqlanon.model.record import sha256_of_json
from sqlanon.publish import files as staging
from tests.far_rows import FarRows
from tests.far_stays import with_far_rows
from tests.full.test_delta import COARSE, FINE, ROWS, make_people

INTO = "s3://bucket/clinic/released/"


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sa.Session]:
    """A warehouse with a taxonomy, 600 people in a file, and a store, which is a folder; by hand it is one of S3."""
    monkeypatch.chdir(tmp_path)
    Path("store", "bucket").mkdir(parents=True)
    monkeypatch.setattr(store, "opened", opened)
    with sa.connect("w.duckdb") as session:
        make_people(session)
        yield session


def opened(url: str) -> tuple[fs.FileSystem, str]:
    """The folder in place of a store; the address of none is an error as there."""
    if not url.startswith("s3://bucket/"):
        raise OSError("AWS Error NO_SUCH_BUCKET")
    return fs.SubTreeFileSystem(str(Path("store").resolve()), fs.LocalFileSystem()), url.removeprefix("s3://")


@contextmanager
def dying() -> Iterator[None]:
    """A run that fails leaves what it leaves when it is killed: its files, and names that nobody holds."""
    with (
        mock.patch.object(Held, "release", lambda held: os.close(held.descriptor)),
        mock.patch.object(staging, "remove"),
        mock.patch.object(StoredRelease, "discard"),
    ):
        yield


def listed() -> list[str]:
    names: list[str] = json.loads(Path("store/bucket/clinic/released/_sqlanon.json").read_text())["files"]
    return names


def rows() -> Counter[Any]:
    place = Path("store/bucket/clinic/released")
    found = dataset.dataset([str(place / name) for name in listed()], format="parquet").to_table()
    return Counter(tuple(row.values()) for row in found.to_pylist())


def files() -> list[str]:
    return sorted(path.as_posix() for path in Path("store").rglob("*") if path.is_file())


def test_the_note_lists_the_rows_of_a_folder(session: sa.Session) -> None:
    release = session.anonymize("people.parquet", FINE, INTO, rows_per_file=100)
    session.anonymize("people.parquet", FINE, "folder/")
    assert rows() == Counter(duckdb.sql("SELECT age, illness, cost::SMALLINT FROM 'folder/*.parquet'").fetchall())
    assert len(listed()) == 6
    assert (release.into, release.to_arrow().num_rows) == (INTO, ROWS)
    assert session.verify(INTO, FINE, source="people.parquet").met
    assert session.report(INTO).released_rows == ROWS
    assert json.loads(session.provenance(INTO) or "")["sqlanon"]["rows"]["released"] == ROWS
    assert session.anonymize("people.parquet", FINE, INTO, rows_per_file=100).unchanged
    assert (
        session.anonymize(INTO, COARSE.model_copy(update={"identifiers": ()}), "again.parquet").report.rows.source
        == ROWS
    )


def test_another_note_replaces_a_release(session: sa.Session) -> None:
    session.anonymize("people.parquet", FINE, INTO)
    before = listed()
    with pytest.raises(sa.TargetError, match="made by another policy"):
        session.anonymize("people.parquet", COARSE, INTO)
    session.anonymize("people.parquet", COARSE, INTO, replace=True)
    assert {row[0] for row in rows()} == {"*"}
    assert session.verify(INTO, COARSE).met
    assert [(each.target, each.state) for each in session.releases.list().releases] == [
        (INTO, "replaced"),
        (INTO, "there"),
    ]
    with mock.patch.object(store, "opened", side_effect=OSError("AWS Error NO_SUCH_BUCKET")):
        assert [each.state for each in session.releases.list().releases] == ["replaced", "unseen"]
    assert len(session.releases.forget(INTO, reason="a test").releases) == 2
    assert f"store/bucket/clinic/released/{before[0]}" in files(), "readers that have begun go on"


@pytest.mark.parametrize("exists", [True, False])
def test_files_without_a_note_are_of_nobody(session: sa.Session, exists: bool) -> None:
    if exists:
        session.anonymize("people.parquet", FINE, INTO)
    before = files()
    copied: list[str] = []

    def cut_off(*given: Any) -> None:
        copy(*given)
        copied.extend(files())
        raise KeyboardInterrupt

    copy = fs.copy_files
    with mock.patch.object(fs, "copy_files", cut_off), pytest.raises(KeyboardInterrupt):
        session.anonymize("people.parquet", COARSE, INTO, replace=True)
    assert len(copied) == len(before) + 1
    assert files() == before
    with dying(), mock.patch.object(fs, "copy_files", cut_off), pytest.raises(KeyboardInterrupt):
        session.anonymize("people.parquet", COARSE, INTO, replace=True)
    assert len(files()) == len(before) + 1
    assert session.verify(INTO, FINE).met if exists else StoredRelease(INTO).text is None
    session.anonymize("people.parquet", COARSE, INTO, replace=True)
    assert session.verify(INTO, COARSE).met
    assert len(files()) == len(before) + (1 if exists else 2), "the file of the run that was killed has gone"


def test_files_of_a_run_that_loses_the_store_go_with_the_next_run(
    session: sa.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    Path("temporary").mkdir()
    session.anonymize("people.parquet", FINE, INTO)
    for put in (1, 2):
        with (
            mock.patch.object(StoredRelease, "put", side_effect=sa.EngineError("no", step="publish")),
            mock.patch.object(StoredRelease, "discard", side_effect=sa.EngineError("lost", step="publish")),
            pytest.raises(sa.EngineError, match="no"),
        ):
            session.anonymize("people.parquet", COARSE, INTO, replace=True)
        assert len(files()) == 2 + put, "the note, and a file of each release"
        assert {path.name for path in Path("temporary").rglob("*") if path.is_file()} == {"run"}, "no row stays here"
    session.anonymize("people.parquet", COARSE, INTO, replace=True)
    assert len(files()) == 3
    assert not list(Path("temporary").iterdir())


def test_a_run_leaves_nothing_in_the_folder_for_temporary_files(
    session: sa.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    Path("temporary").mkdir()
    copy = fs.copy_files

    def looked_at(source: str, *given: Any) -> None:
        copy(source, *given)
        assert Path(source).parents[1] == tmp_path / "temporary"
        assert Path(source).parent.stat().st_mode & 0o777 == 0o700

    with mock.patch.object(fs, "copy_files", looked_at):
        session.anonymize("people.parquet", FINE, INTO)
    assert not [*Path("temporary").iterdir()]


def test_what_is_refused(session: sa.Session) -> None:
    with pytest.raises(sa.SqlanonError, match=r"cannot be read .OSError."):
        session.anonymize("people.parquet", FINE, "s3://elsewhere/released/")
    with pytest.raises(sa.SqlanonError, match="partition_by is for folders and Delta tables"):
        session.anonymize("people.parquet", FINE, INTO, partition_by="illness")
    assert not files()
    place = Path("store/bucket/clinic/released")
    place.mkdir(parents=True)
    for text in ("mine", "[]", '{"files": 1}', '{"sqlanon": {"format": 1}}'):
        (place / "_sqlanon.json").write_text(text)
        with pytest.raises(sa.EngineError, match="does not hold an unchanged release of sqlanon"):
            session.anonymize("people.parquet", FINE, INTO, replace=True)
        assert (place / "_sqlanon.json").read_text() == text


def test_tampering_is_noticed(session: sa.Session) -> None:
    session.anonymize("people.parquet", FINE, INTO)
    whole, cut = StoredRelease.read_note, [100, 1_000]

    def read(stored: StoredRelease) -> str | None:
        text = whole(stored)
        return text if text is None or not cut else text[: cut.pop()]

    with mock.patch.object(StoredRelease, "read_note", read):
        assert session.verify(INTO, FINE).met, "a note that was cut off is read again"
    (name,) = listed()
    file = Path("store/bucket/clinic/released", name)
    content = file.read_bytes()
    file.write_bytes(content.replace(b"DuckDB version", b"DuckDB Version"))
    found = session.verify(INTO, FINE, strict=False)
    assert "1 of its 1 files have another content than was written" in found.shortfalls
    file.unlink()
    with pytest.raises(sa.EngineError, match="cannot be read as they were written; it has fewer files"):
        session.verify(INTO, FINE)
    with pytest.raises(sa.EngineError, match="does not hold an unchanged release of sqlanon"):
        session.anonymize("people.parquet", COARSE, INTO, replace=True)
    session.anonymize("people.parquet", COARSE, INTO, replace="anything")
    assert session.verify(INTO, COARSE).met


@pytest.fixture
def far(session: sa.Session, tmp_path: Path) -> sa.Session:
    """A session on the same warehouse whose people are elsewhere, in a database that writes to the store."""
    session.connection.execute(
        "CREATE TABLE people AS SELECT * REPLACE (cost::SMALLINT AS cost) FROM 'people.parquet' ORDER BY ALL"
    )
    rows = FarRows()
    rows.bucket = tmp_path / "store"
    return with_far_rows(session.connection, tmp_path, "people", far=rows).session


def test_the_note_of_a_release_that_is_written_by_others_is_put_last(session: sa.Session, far: sa.Session) -> None:
    session.anonymize("people", FINE, INTO)
    here = rows()
    release = far.anonymize("far.people", FINE, INTO, replace=True)
    assert rows() == here
    assert release.to_arrow().num_rows == ROWS
    assert session.verify(INTO, FINE, source="people.parquet").met
    before = files()
    written: list[str] = []

    def stop(event: sa.Event) -> None:
        if event.stage == "verify" and event.state == "finished":
            written.extend({*files()} - {*before})
            assert StoredRelease(INTO).layout is not None
            assert session.verify(INTO, FINE).met, "the release before"
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        far.anonymize("far.people", COARSE, INTO, replace=True, progress=stop)
    assert len(written) == 1
    assert files() == before
    with dying(), pytest.raises(KeyboardInterrupt):
        far.anonymize("far.people", COARSE, INTO, replace=True, progress=stop)
    assert len(files()) == len(before) + 1
    far.anonymize("far.people", COARSE, INTO, replace=True)
    assert written[1] not in files(), "the next run has removed it"
    assert session.verify(INTO, COARSE).met


def test_a_release_that_was_listed_stays_whatever_came_after(session: sa.Session) -> None:
    put = StoredRelease.put

    def fails(stored: StoredRelease, note: str) -> None:
        put(stored, note)
        raise KeyboardInterrupt

    with mock.patch.object(StoredRelease, "put", fails), dying(), pytest.raises(KeyboardInterrupt):
        session.anonymize("people.parquet", FINE, INTO)
    before = files()
    with mock.patch.object(StoredRelease, "put", fails), pytest.raises(KeyboardInterrupt):
        session.anonymize("people.parquet", COARSE, INTO, replace=True)
    assert {*before} < {*files()}
    assert session.verify(INTO, COARSE).met


def test_a_release_that_was_put_meanwhile_stays(session: sa.Session) -> None:
    copy = StoredRelease.copy

    def another(*given: Any) -> None:
        with mock.patch.object(StoredRelease, "copy", copy), sa.connect(":memory:") as other:
            other.taxonomies.load("age", sa.Taxonomy.flat(range(9)))
            other.anonymize("people.parquet", FINE, INTO)
        copy(*given)

    with mock.patch.object(StoredRelease, "copy", another), pytest.raises(sa.EngineError, match="there is a release"):
        session.anonymize("people.parquet", COARSE, INTO)
    assert session.verify(INTO, FINE).met
    assert len(files()) == 2


@pytest.mark.parametrize("is_own", [True, False])
def test_what_others_leave_in_the_folder_for_temporary_files_removes_nothing(
    session: sa.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_own: bool
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for wanted in (FINE, COARSE):
        session.anonymize("people.parquet", wanted, INTO, replace=True)
    before = files()
    (old,) = {name.split("/")[4] for name in before if "release-" in name} - {listed()[0].partition("/")[0]}
    left = tmp_path / f".sqlanon-{sha256_of_json(INTO)}.run.0.staged"
    left.mkdir()
    (left / "run").write_text(f"../released/{old}" if is_own else old)
    with mock.patch.object(os, "geteuid", return_value=left.stat().st_uid + (not is_own)):
        session.anonymize("people.parquet", FINE, INTO, replace=True)
    assert {*before} < {*files()}
