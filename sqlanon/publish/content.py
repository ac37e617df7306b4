"""Hashes that travel with a release: of its content, and of the record that has them; and the footer of a Parquet file.

The note of a Parquet file is known once the file is written and measured. Writing the file once more with its note cost
0 to 24 % of the CPU time of a run (1 M rows, without and with three columns of many values that are published as they
are; 8 pairs of runs each), and would publish another file than the one that was measured.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlglot import exp

from sqlanon.engines.base import NOTE_KEY, Engine
from sqlanon.queries.kit.macros import table_call

CONTENT = "content"
"""The key of the hashes of the content in a note."""

RECORD_HASH = "record_sha256"
"""The key of the hash of all else that a note says."""


def sealed(note: str, content: Mapping[str, Any]) -> str:
    """A note with the hashes of a content, and the hash of all of it."""
    return json.dumps({NOTE_KEY: with_record_hash({**json.loads(note)[NOTE_KEY], CONTENT: content})})


def with_record_hash(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Facts with the hash of them."""
    return {**facts, RECORD_HASH: record_sha256(facts)}


def record_sha256(facts: Mapping[str, Any]) -> str:
    """The hash of the facts in a note, whatever hash of them is among them."""
    return sha256_of_json({key: value for key, value in facts.items() if key != RECORD_HASH})


def content_of_table(engine: Engine, table: exp.Expr) -> dict[str, str]:
    """The hashes of a table: of its rows, whatever their order, and of the names and types of its columns."""
    columns = [[column.name, column.type] for column in engine.describe(table)]
    found = engine.fetch(table_call("content_hash", table.copy()), "the hash of the content")[0]
    return {"columns_sha256": sha256_of_json(columns), "rows_sha256": found["content_hash"]}


def content_of_parquet(path: Path, note: str) -> dict[str, str]:
    """The hash of a Parquet file, footer included, without the note in it.

    Raises:
        ValueError: the note is not in its footer.
        OSError: it cannot be read.
    """
    return {"file_sha256": sha256_without_note(path, note)}


def content_of_csv(file_sha256: str, form: Sequence[Any]) -> dict[str, str]:
    """The hashes of a CSV file, and of how its columns are to be read."""
    return {"file_sha256": file_sha256, "form_sha256": sha256_of_json(form)}


def sha256_of_json(value: Any) -> str:
    """The hash of a value that JSON can spell."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


UNKNOWN = "null"
"""A note that says nothing yet, as JSON."""

TAIL = struct.Struct("<I4s")
"""What a file ends in: the length of its footer, and the letters PAR1."""

BINARY_NEXT = b"\x18"
"""How a structure begins a field of bytes with the number after the last one, in the compact protocol of Thrift."""

PIECE_BYTES = 1 << 20
"""The bytes of a file that are hashed at a time."""

MORE = 0x80
"""In a byte of a length, which holds seven bits: more bytes follow."""


def replace_note(path: Path, old: str, new: str) -> None:
    """Put a note in place of another in the footer of a Parquet file.

    The pages of the file, which lie before its footer, stay where they are.
    """
    with path.open("r+b") as file:
        file.seek(-TAIL.size, os.SEEK_END)
        length, letters = TAIL.unpack(file.read(TAIL.size))
        start = file.seek(-TAIL.size - length, os.SEEK_END)
        # Notes come after all that a footer says of values, among which the same bytes may be.
        before, found, after = file.read(length).rpartition(_entry(old))
        if not found:
            raise AssertionError("the note is not where it was written")
        footer = before + _entry(new) + after
        file.seek(start)
        file.write(footer + TAIL.pack(len(footer), letters))
        file.truncate()


def sha256_without_note(path: Path, note: str) -> str:
    """The hash of a Parquet file, of its pages and its footer, with :data:`UNKNOWN` in place of its note.

    Raises:
        ValueError: the note is not in its footer.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        size = file.seek(-TAIL.size, os.SEEK_END)
        length, letters = TAIL.unpack(file.read(TAIL.size))
        start = size - length
        if start < 0:
            raise ValueError(path.name)
        file.seek(0)
        digest = hashlib.sha256()
        while start > 0 and (pages := file.read(min(start, PIECE_BYTES))):
            digest.update(pages)
            start -= len(pages)
        before, found, after = file.read(length).rpartition(_entry(note))
    if not found:
        raise ValueError(path.name)
    digest.update(before + _entry(UNKNOWN) + after + letters)
    return digest.hexdigest()


def _entry(note: str) -> bytes:
    """A note under its key, as a footer has it: each with its length before it."""
    texts = (NOTE_KEY.encode(), note.encode())
    return b"".join(BINARY_NEXT + _length_of(text) + text for text in texts)


def _length_of(text: bytes) -> bytes:
    """The number of bytes, seven bits at a time, the lowest ones first."""
    rest, spelled = len(text), bytearray()
    while rest >= MORE:
        spelled.append(rest % MORE | MORE)
        rest //= MORE
    return bytes([*spelled, rest])
