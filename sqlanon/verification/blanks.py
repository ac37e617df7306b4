"""Blanks of a release: persons whom few rows fit, although a blank may be any value."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.errors import EngineError, reason_of
from sqlanon.model.names import counted
from sqlanon.queries import measures as queries


def few_matches(
    engine: Compute, release: exp.Expr, source: exp.Expr, quasi_identifiers: tuple[str, ...], k: int
) -> Iterator[str]:
    """Say how many rows of the source fit fewer than ``k`` rows of a release with blanks; nothing if none do.

    Classes of rows that look alike are smaller than k there. With NULL and ``*`` as any value each released row may
    still equal k others, which is less than it seems: a person's true values have no blanks.
    """
    if engine.is_far(release) or engine.is_far(source):
        return
    blank_rows = engine.fetch(queries.blank_rows(release, quasi_identifiers), "rows with blanks")[0]["blank_rows"]
    if not blank_rows:
        return
    blanks = f"blanks (NULL or *) in {counted(blank_rows, 'row')}"
    try:
        [found] = engine.fetch(queries.few_matches(release, source, quasi_identifiers, k), "rows that fit persons")
    except EngineError as error:
        yield f"{blanks}: how many released rows fit each person was not counted: {reason_of(error)}"
        return
    if found["few"]:
        none = f"; no released row fits {found['none']:,} more, left out or under a label" if found["none"] else ""
        yield (
            f"{blanks}: even if a blank may be any value, fewer than {k:,} released rows fit {found['few']:,} of the "
            f"{found['persons']:,} rows of the source, and exactly one fits {found['one']:,} of these, which "
            f"whoever knows the person finds{none}"
        )
