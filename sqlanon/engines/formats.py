"""Kinds of files that are sources: how their names end, and which function of DuckDB reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlanon.errors import EngineError
from sqlanon.model.datasets import CSV_SUFFIXES, PARQUET_SUFFIXES


@dataclass(frozen=True)
class Format:
    """A kind of files: what it is called, how the names of its files end, and what reads them."""

    name: str
    suffixes: tuple[str, ...]
    function: str

    def has(self, file: str) -> bool:
        """Whether a file, or a glob of files, is named as one of this kind."""
        return file.lower().endswith(self.suffixes)


PARQUET = Format("Parquet", PARQUET_SUFFIXES, "read_parquet")
CSV = Format("CSV", CSV_SUFFIXES, "read_csv")


def format_of(source: str, files: Sequence[str]) -> Format:
    """The kind of the files that a path or a glob stands for; Parquet is also what is named otherwise.

    Raises:
        EngineError: some are CSV files, and others are not.
    """
    tables = [file for file in files if CSV.has(file)]
    others = [file for file in files if not CSV.has(file)]
    if tables and others:
        raise EngineError(
            f"{source} stands for files of several kinds, such as {others[0]} and {tables[0]}; give a path or a glob "
            "of Parquet files alone, or of CSV files alone",
            step="source",
        )
    return CSV if tables or (not files and CSV.has(source)) else PARQUET
