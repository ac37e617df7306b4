"""The note beside an exported taxonomy: where its values came from, which the format of ARX has no place for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

Domain = Literal["declared", "stated", "observed"]
"""Where the values of a taxonomy come from: they were given with it, a file states them, or they were read off data."""

DOMAINS: tuple[Domain, ...] = ("declared", "stated", "observed")


def note_path(path: Path) -> Path:
    """The file of the note of a taxonomy file."""
    return path.with_name(f"{path.name}.sqlanon.json")


def note_text(domain: str, sha256: str) -> str:
    """A note on a file with that hash."""
    return json.dumps({"sqlanon": {"taxonomy": {"domain": domain, "sha256": sha256}}}, indent=2) + "\n"


def noted_domain(path: Path, sha256: str) -> Domain:
    """Where the values of a file with that hash come from, according to the note beside it.

    Values that were read off data stay so whatever was changed in the file since. Those that were declared are stated
    by the file once it was changed, as are those of a file without a note: their origin is unknown.
    """
    try:
        noted = json.loads(note_path(path).read_text(encoding="utf-8"))["sqlanon"]["taxonomy"]
        domain, of_file = noted["domain"], noted["sha256"]
    except (OSError, ValueError, KeyError, TypeError):
        return "stated"
    if domain == "observed":
        return "observed"
    return "declared" if domain == "declared" and of_file == sha256 else "stated"


def ambiguous_note(attribute: str, labels: int) -> str:
    """A note on a taxonomy with labels that are also values with another label at the same level."""
    if labels == 1:
        are = f'1 label of the taxonomy of "{attribute}" is also a value that has another label'
        return f"{are} at the same level: a reader may take the one for the other; rename the label"
    are = f'{labels:,} labels of the taxonomy of "{attribute}" are also values that have another label'
    return f"{are} at the same level: a reader may take the ones for the others; rename the labels"
