"""The note of a file of ours: in a Parquet file, or beside a CSV."""

from __future__ import annotations

from pathlib import Path

from sqlanon.engines.base import Writer
from sqlanon.engines.csv_notes import is_csv, look_at


def note_of_file(engine: Writer, file: str | Path) -> str | None:
    """The provenance of a file, as JSON; None without one, or if it is about another content of a CSV.

    Raises:
        EngineError: it is not a Parquet file, nor named as a CSV; or what is beside a CSV is no note.
    """
    return look_at(file).note if is_csv(file) else engine.parquet_metadata(file)
