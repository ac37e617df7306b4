"""Tables of numbers in strata, and their release with perturbed columns."""

from collections.abc import Mapping, Sequence
from typing import Any

import sqlanon as sa
from tests.case_tables import quoted

Row = tuple[Any, ...]


def released(
    columns: Mapping[str, str], rows: Sequence[Row], perturbation: Mapping[str, Any], seed: int = 1
) -> list[Row]:
    """Release rows with typed columns, all of one class, with columns perturbed; in the order of the rows."""
    with sa.connect(threads=1) as session:
        return released_in(session, columns, rows, perturbation, seed)[0]


def policy_of(columns: Mapping[str, str], perturbation: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    """The policy of a release of such rows."""
    return {
        "quasi_identifiers": ["alike"],
        "insensitive": ["place", *columns],
        "privacy": [sa.KAnonymity(2)],
        "taxonomies": {"alike": sa.Taxonomy.from_rows([["1", "*"]])},
        "perturbation": perturbation,
        **fields,
    }


def released_in(
    session: sa.Session,
    columns: Mapping[str, str],
    rows: Sequence[Row],
    perturbation: Mapping[str, Any],
    seed: int = 1,
    **fields: Any,
) -> tuple[list[Row], Any]:
    """Release in a session; the report, too."""
    types = ", ".join(f"{quoted(name)} {kind}" for name, kind in columns.items())
    database = session.connection
    database.execute(f"CREATE TABLE given (place INTEGER, alike INTEGER, {types})")
    if rows:
        marks = ", ".join("?" for _ in columns)
        database.executemany(
            f"INSERT INTO given VALUES (?, 1, {marks})", [(place, *row) for place, row in enumerate(rows)]
        )
    release = session.anonymize(
        "given", policy_of(columns, perturbation, **fields), "made", random_source=sa.SeededSource(seed)
    )
    names = ", ".join(map(quoted, columns))
    return database.execute(f"SELECT {names} FROM made ORDER BY place").fetchall(), release.report
