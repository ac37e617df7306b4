"""Tables that experiments make by queries, such as the rows of a fold, and of all others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.papers.adult import RAW_TEST, RAW_TRAINING
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import identifier

if TYPE_CHECKING:
    from sqlanon.api.session import Session

SQL = Queries("diffgen_rows")


def put(session: Session, name: str, query: exp.Query) -> None:
    """Make a table by a query, in place of any of its name."""
    table = exp.Table(this=identifier(name))
    session._engine.execute(exp.Create(this=table, kind="TABLE", replace=True, expression=query), name)


def put_fold(session: Session, source: str, columns: Sequence[str], seed: int, folds: int) -> None:
    """Put the rows of a seed's fold into :data:`RAW_TEST`, and all others into :data:`RAW_TRAINING`.

    Seeds from 0 to ``folds - 1`` have the folds of one partition, the next ones those of another. The source has the
    number of each row, ``row``.
    """
    run, number = divmod(seed, folds)
    for name, is_inside in ((RAW_TRAINING, exp.false()), (RAW_TEST, exp.true())):
        people = exp.Table(this=identifier(source))
        part = SQL.query(
            "fold", people=people, columns=columns, run=run, folds=folds, number=number, is_inside=is_inside
        )
        put(session, name, part)
