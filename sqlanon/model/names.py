"""Names as DuckDB compares them."""

from __future__ import annotations


def folded(name: str) -> str:
    """A name without regard to case, of which DuckDB knows that of ASCII alone: tables "Ä" and "ä" are two."""
    return name.encode(errors="surrogatepass").lower().decode(errors="surrogatepass")
