"""Decimal commas in what a policy is suggested for."""

from __future__ import annotations

from sqlanon.model.taxonomy.arguments import listed

SHAPE = "decimal_comma"


def note_on(names: list[str]) -> str:
    """What some columns of CSV files have, one at least, and the setting that reads them."""
    have = "has" if len(names) == 1 else "have"
    return (
        f"{listed(names)} {have} numbers with a decimal comma, read as texts; "
        '[csv] decimal = "," reads them, with all other texts of the columns in nullstr'
    )
