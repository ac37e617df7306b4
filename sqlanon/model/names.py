"""Names as DuckDB compares them, and as sentences list them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from sqlanon.errors import EngineError


def folded(name: str) -> str:
    """A name without regard to case, which DuckDB ignores for ASCII alone: tables "Ä" and "ä" are two."""
    return name.encode(errors="surrogatepass").lower().decode(errors="surrogatepass")


def spelled_like(name: str, known: Iterable[str]) -> str:
    """The known name that is this one to DuckDB, spelled in whatever case; the name itself if there is none, or two."""
    return speller(known)(name)


def speller(known: Iterable[str]) -> Callable[[str], str]:
    """:func:`spelled_like` with the same known names each time: a table can have thousands."""
    alike: dict[str, list[str]] = {}
    for name in known:
        alike.setdefault(folded(name), []).append(name)

    def spelled(name: str) -> str:
        same = alike.get(folded(name), [])
        return same[0] if len(same) == 1 else name

    return spelled


def enumerated(names: Iterable[object]) -> str:
    """``one``, ``one and two``, ``one, two and three``; nothing for no names."""
    *others, last = [*map(str, names)] or [""]
    return f"{', '.join(others)} and {last}" if others else last


def is_possible(name: str) -> bool:
    """Whether a name is text that a database and a file system can take: it has no NUL, and no half of a character."""
    try:
        return b"\0" not in name.encode()
    except UnicodeEncodeError:
        return False


def possible(name: str | Path, step: str) -> str:
    """The text of a name or a path, which is that of a source, a target or whatever else ``step`` says.

    Raises:
        EngineError: it has characters that no name can have.
    """
    if not is_possible(str(name)):
        raise EngineError(f"the name of the {step} has characters that none can have: NUL, or half of one", step=step)
    return str(name)


def without_secret(address: str) -> str:
    """The address of a server as messages and records have it: what stands behind ``/;`` can be a token."""
    return address.partition("/;")[0]


def in_quotes(name: str) -> str:
    """A name within a sentence, in quotes as in SQL, so that it cannot end before its last letter."""
    return '"' + name.replace('"', '""') + '"'
