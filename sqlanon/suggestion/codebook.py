"""What is written about columns: a codebook, which is a CSV file, or the metadata of fields in Parquet files."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

from sqlanon.errors import PolicyError
from sqlanon.model.taxonomy.arguments import counted
from sqlanon.model.whole_files import read_whole

COLUMN = ("column", "variable", "field", "name")
DESCRIPTION = ("description", "label", "meaning", "beschreibung")
"""What codebooks call the two, the clearest first: a ``name`` beside a ``variable`` may be a description."""
KEYS_OF_FIELDS = (b"description", b"comment")
"""The keys under which writers keep what is written about a field."""


MAX_FILE_MB = 100
"""Of a codebook."""


def read_codebook(path: str | Path) -> dict[str, str]:
    """The descriptions in a codebook, by names of columns in lower case.

    Args:
        path: UTF-8, with a header that has ``column`` and ``description``, or as others call the two, separated by
            commas, semicolons or tabs.

    Raises:
        PolicyError: it cannot be read, or lacks one of the two.
    """
    try:
        lines = read_whole(Path(path), MAX_FILE_MB).decode("utf-8-sig").splitlines(keepends=True)
        delimiter = max(",;\t", key=lines[0].count) if lines else ","
        rows = [*csv.reader(lines, delimiter=delimiter)]
    except UnicodeDecodeError:
        convert = "iconv -f windows-1252 -t utf-8"
        raise PolicyError(
            f"the codebook {path} is not UTF-8: save it as UTF-8, with `{convert}` if it is in Windows-1252 or Latin-1"
        ) from None
    except (OSError, ValueError, csv.Error) as error:
        raise PolicyError(f"the codebook {path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    header = [name.strip().lower() for name in rows[0]] if rows else []
    at, described_at = (
        next((header.index(word) for word in words if word in header), None) for words in (COLUMN, DESCRIPTION)
    )
    if at is None or described_at is None:
        needs = " and ".join(" or ".join(f'"{word}"' for word in words[:2]) for words in (COLUMN, DESCRIPTION))
        # Without a header the first line is a row of values, which no message quotes.
        has = f"{counted(len(header), 'field')}, and not these names"
        raise PolicyError(f"the codebook {path} needs a header with {needs}; its first line has {has}").with_guide(
            "suggested-policies"
        )
    whole = [row for row in rows[1:] if len(row) > max(at, described_at)]
    return {row[at].strip().lower(): row[described_at] for row in whole}


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
