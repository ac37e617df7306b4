"""Exercise: another format of files. An object a line, and a note beside the file that names its content."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sqlglot import exp

from sqlanon.engines.csv_notes import sha256_of
from sqlanon.model.record import ContentRecord, Record, readable_record
from sqlanon.publish.files import staged_file
from sqlanon.publish.targets import FileTarget, Written
from sqlanon.queries.kit.nodes import select, string, subquery
from sqlanon.queries.source import SourceColumn

LINE = {".jsonl": "tests.exercises.json_lines:JsonLines"}
"""The line for the table of formats."""


class JsonLines(FileTarget):
    """A file with an object a line; it is published before its note, so that a run cut short leaves one without."""

    format = "JSON lines"
    note: str

    @contextmanager
    def staged(self) -> Iterator[None]:
        with staged_file(self.final, replace=bool(self.replace)) as self.path:
            yield
        with staged_file(note_beside(self.final), replace=True) as note:
            note.write_text(self.note, encoding="utf-8")

    def write_file(self, query: exp.Query, columns: Sequence[SourceColumn], *, streamed: bool) -> Written:
        path = string(str(self.path))
        as_json = exp.CopyParameter(this=exp.var("FORMAT"), expression=exp.var("json"))
        copy = exp.Copy(this=exp.Subquery(this=query), kind=False, files=[path], params=[as_json])
        self.engine.execute(copy, "write the file")
        types = [exp.PropertyEQ(this=exp.to_identifier(each.name), expression=string(each.type)) for each in columns]
        with_types = exp.Kwarg(this=exp.var("columns"), expression=exp.Struct(expressions=types))
        lines = exp.Table(this=exp.func("read_json", path.copy(), with_types))
        return subquery(select([exp.Star()], lines), "lines")

    def add_record(self, record: Record) -> ContentRecord:
        content = ContentRecord(file_sha256=sha256_of(self.path))
        self.note = record.sealed(content).text
        return content

    def note_of(self, file: str | Path) -> str | None:
        place = note_beside(Path(file))
        note = place.read_text(encoding="utf-8") if place.exists() else None
        record = readable_record(note)
        content = None if record is None else record.content
        return note if content is not None and content.file_sha256 == sha256_of(Path(file)) else None


def note_beside(file: Path) -> Path:
    """The place of the note of a file."""
    return file.with_name(f"{file.name}.sqlanon.json")
