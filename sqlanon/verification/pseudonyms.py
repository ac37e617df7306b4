"""Pseudonyms of a table, measured: none repeats, and each has the form of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from sqlanon.engines.base import Compute
from sqlanon.queries.kit.macros import table_call
from sqlanon.queries.kit.nodes import names


def pseudonym_problems(engine: Compute, relation: exp.Expr, columns: Sequence[str]) -> Iterator[str]:
    """What is wrong with the columns of pseudonyms of a table, a sentence each."""
    if not columns:
        return
    query = table_call("pseudonym_problems", relation.copy(), names(list(columns)))
    for found in engine.fetch(query, "pseudonyms"):
        name = found["attribute"]
        if found["repeated_values"]:
            values, rows = found["repeated_values"], found["repeated_rows"]
            yield f'"{name}": {values:,} values repeat, in {rows:,} rows, which their pseudonyms link'
        if found["malformed_rows"]:
            yield f'"{name}": {found["malformed_rows"]:,} rows have a value that is not a pseudonym (64 hex digits)'
