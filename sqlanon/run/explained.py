"""A step of a run, for reading."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from sqlanon.compiler.macros import DIALECT


@dataclass(frozen=True)
class ExplainedStep:
    """One step: what it is for, the temporary table that it makes (if any), and its SQL."""

    purpose: str
    makes: str | None
    sql: str


def explained(purpose: str, query: exp.Expr, makes: str | None = None) -> ExplainedStep:
    """A step with the SQL of its query."""
    return ExplainedStep(purpose, makes, query.sql(DIALECT, pretty=True))
