"""The note in the footer of a Parquet file, exchanged for another after the file was written and measured."""

from __future__ import annotations

import struct
from pathlib import Path

TAIL = struct.Struct("<I4s")
"""What a file ends in: the length of its footer, and the letters PAR1."""


def padded(note: str, length: int) -> str:
    """A JSON document of so many bytes: white space at its end means nothing."""
    room = length - len(note.encode())
    if room < 0:
        raise AssertionError("the note does not fit in the place of the one before")
    return note + " " * room


def amend(path: Path, old: str, new: str) -> None:
    """Put a note in place of another of the same length in the footer of a Parquet file.

    Nothing else moves: the footer holds it as it is, and the pages of the file lie before it.
    """
    before, after = old.encode(), new.encode()
    with path.open("r+b") as file:
        file.seek(-TAIL.size, 2)
        length, _ = TAIL.unpack(file.read(TAIL.size))
        file.seek(-TAIL.size - length, 2)
        start = file.tell()
        footer = file.read(length)
        if len(before) != len(after) or footer.count(before) != 1:
            raise AssertionError("the note is not where it was written")
        file.seek(start + footer.index(before))
        file.write(after)
