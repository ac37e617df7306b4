"""What is written about columns: a codebook, which is a CSV file, or the metadata of fields in Parquet files."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

from sqlanon.errors import PolicyError

COLUMN, DESCRIPTION = "column", "description"
KEYS_OF_FIELDS = (b"description", b"comment")
"""The keys under which writers keep what is written about a field."""


def read_codebook(path: str | Path) -> dict[str, str]:
    """The descriptions in a codebook, by names of columns in lower case.

    Args:
        path: UTF-8, with a header that has ``column`` and ``description``, separated by commas, semicolons or tabs.

    Raises:
        PolicyError: it cannot be read, or lacks one of the two.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines(keepends=True)
        delimiter = max(",;\t", key=lines[0].count) if lines else ","
        rows = [*csv.reader(lines, delimiter=delimiter)]
    except (OSError, ValueError, csv.Error) as error:
        raise PolicyError(f"the codebook {path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    header = [name.strip().lower() for name in rows[0]] if rows else []
    if not {COLUMN, DESCRIPTION} <= {*header}:
        raise PolicyError(f'the codebook {path} needs a header with "{COLUMN}" and "{DESCRIPTION}"')
    places = header.index(COLUMN), header.index(DESCRIPTION)
    whole = [row for row in rows[1:] if len(row) > max(places)]
    return {row[places[0]].strip().lower(): row[places[1]] for row in whole}


def described_in(files: Iterable[str]) -> dict[str, str]:
    """The descriptions of fields in the footer of the first Parquet file that is here, by names in lower case.

    DuckDB does not read the metadata of fields. Files without any, and those that only DuckDB can read, have none.
    """
    here = next((each for each in files if Path(each).suffix == ".parquet" and Path(each).is_file()), None)
    if here is None:
        return {}
    # Most sources are not Parquet, and the import takes long.
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        fields = [*pq.read_schema(here)]
    except (OSError, pa.ArrowException):
        return {}
    found = {field.name.lower(): field.metadata or {} for field in fields}
    return {
        name: metadata[key].decode("utf-8", "replace")
        for name, metadata in found.items()
        for key in reversed(KEYS_OF_FIELDS)
        if key in metadata
    }
