"""Queries that are planned once and then asked with other numbers: what is planned stays with its connection."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from sqlanon.compiler.macros import DIALECT
from sqlanon.compiler.nodes import identifier, number


def preparing(name: str, query: exp.Query) -> exp.Command:
    """The statement that plans a query with parameters ``$1``, ``$2`` and so on, in place of another of its name."""
    return exp.Command(this="PREPARE", expression=" AS ".join([_spelled(identifier(name)), _spelled(query)]))


def executing(name: str, values: Iterable[int]) -> exp.Command:
    """The statement that asks a prepared query, with a value for each parameter."""
    given = [number(value) for value in values]
    spelled = [_spelled(identifier(name)), *([_spelled(exp.Tuple(expressions=given))] if given else [])]
    return exp.Command(this="EXECUTE", expression=" ".join(spelled))


def forgetting(name: str) -> exp.Command:
    """The statement that forgets a prepared query."""
    return exp.Command(this="DEALLOCATE", expression=_spelled(identifier(name)))


def _spelled(expression: exp.Expr) -> str:
    return expression.sql(DIALECT)
