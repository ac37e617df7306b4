"""Hashes that travel with a release: of its content, and of the record that has them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlglot import exp

from sqlanon.engines.base import NOTE_KEY, Engine
from sqlanon.publish.footers import sha256_without_note
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
