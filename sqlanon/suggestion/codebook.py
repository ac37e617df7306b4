"""What is written about columns: a codebook, a CSV file with the names of columns and their descriptions."""

from __future__ import annotations

import csv
from pathlib import Path

from sqlanon.errors import PolicyError

COLUMN, DESCRIPTION = "column", "description"


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
