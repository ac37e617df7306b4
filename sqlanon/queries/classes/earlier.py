"""Classes beside earlier releases: which of them stay published, so that no joint class has too few persons."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.queries.cells.earlier import ABSENT, SQL, number_of_key
from sqlanon.queries.cells.encoding import Encoding
from sqlanon.queries.classes.grouping import NODE

WITHHELD = "anon_withheld"
"""How many persons a class that is kept withholds for others."""


def jointly_kept(encoding: Encoding, judged: exp.Select, columns: Sequence[str]) -> exp.Select:
    """The same classes, without the persons whom other joint classes need.

    Args:
        encoding: that of the run.
        judged: classes with their keys, and whether they keep the bounds of the privacy models.
        columns: the names of the columns of classes.
    """
    assert encoding.spec.earlier is not None
    words = map(encoding.key, range(encoding.keys.word_count))
    return SQL.query(
        "jointly_kept",
        classes=judged,
        absent=ABSENT,
        number=number_of_key(encoding),
        node=[NODE] if NODE in columns else [],
        keys=[word for word in words if word in columns],
        k=encoding.criteria.k,
        by_person=exp.true() if encoding.spec.earlier.is_by_person else exp.false(),
    )
