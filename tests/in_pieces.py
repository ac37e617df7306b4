"""Sources that are read in pieces, however small they are."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from sqlanon.engines.duckdb import source_pieces as pieces


@contextmanager
def reading_in_pieces(rows: int = 1) -> Iterator[None]:
    """Within, no more than so many rows are grouped at once."""
    with mock.patch.object(pieces, "rows_at_once", return_value=rows):
        yield
