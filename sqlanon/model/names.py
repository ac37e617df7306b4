"""Names as DuckDB compares them."""

from __future__ import annotations

from collections.abc import Iterable


def folded(name: str) -> str:
    """A name without regard to case, of which DuckDB knows that of ASCII alone: tables "Ä" and "ä" are two."""
    return name.encode(errors="surrogatepass").lower().decode(errors="surrogatepass")


def spelled_like(name: str, known: Iterable[str]) -> str:
    """The known name that is this one to DuckDB, spelled in whatever case; the name itself if there is none, or two."""
    same = [candidate for candidate in known if folded(candidate) == folded(name)]
    return same[0] if len(same) == 1 and name not in same else name
