"""SQL as it stands in its files: where these are, and what a run asks the catalog."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def sql_folder() -> Path:
    """The folder ``sql``: inside the package in a wheel, beside it in a working copy."""
    packaged = Path(__file__).parents[2] / "sql"
    return packaged if packaged.is_dir() else Path(__file__).parents[3] / "sql"


@cache
def template_text(name: str) -> str:
    """The query in ``sql/templates/<name>.sql``, one that calls no macro, as it is written there."""
    return (sql_folder() / "templates" / f"{name}.sql").read_text(encoding="utf-8")
