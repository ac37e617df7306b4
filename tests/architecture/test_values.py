"""Text is made of a value of a source in one place: the readers of CSV files would make it of what is in the file."""

from __future__ import annotations

import ast
from pathlib import Path

import sqlglot
from sqlglot import exp

import sqlanon
from sqlanon.queries.kit.macros import macros
from sqlanon.queries.kit.named import parsed
from sqlanon.queries.kit.nodes import DIALECT
from sqlanon.queries.kit.texts import named_queries, sql_files

GOLDEN = sorted((Path(__file__).parents[1] / "golden").glob("*.sql"))
CASTS = ("cast", "Cast", "TryCast")


def bare_casts(tree: exp.Expr) -> list[str]:
    """The casts of columns themselves to text, and those that give NULL where they fail."""
    return [
        cast.sql(DIALECT)
        for cast in tree.find_all(exp.Cast)
        if isinstance(cast.this.unnest(), exp.Column | exp.Columns)
        and (isinstance(cast, exp.TryCast) or cast.to.sql(DIALECT).startswith("TEXT"))
    ]


def test_macros_cast_no_value_itself() -> None:
    """The name of a source or a list of names is not a value."""
    of_names = ("as_source", "listed")
    found = {
        name: casts for name, macro in macros().items() if name not in of_names and (casts := bare_casts(macro.body))
    }
    assert found == {}


def test_named_queries_cast_no_value_itself() -> None:
    texts = {name: query.text for file in sql_files() for name, query in named_queries(file).items()}
    assert texts
    assert {name: casts for name, text in texts.items() if (casts := bare_casts(parsed(text)))} == {}


def test_no_run_casts_a_value_itself() -> None:
    assert GOLDEN
    found = {}
    for path in GOLDEN:
        statements = sqlglot.parse(path.read_text(encoding="utf-8"), read=DIALECT)
        # Columns of sources are quoted; those of lists of values in a statement are not.
        casts = [cast for tree in statements if tree is not None for cast in bare_casts(tree) if '"' in cast]
        if casts:
            found[path.stem] = casts
    assert found == {}


def test_queries_cast_no_column_to_text() -> None:
    """As ``text`` and ``cast_value`` do; casts to other types than text are of columns that steps have made."""
    found = []
    for path in sorted(Path(sqlanon.__file__).parent.rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and _name(call.func) in CASTS and _casts_a_column(call):
                found.append(f"{path.name}:{call.lineno}")
    assert found == []


def _casts_a_column(call: ast.Call) -> bool:
    operand = next((word.value for word in call.keywords if word.arg == "this"), call.args[0] if call.args else None)
    is_column = isinstance(operand, ast.Call) and _name(operand.func) == "column"
    return is_column and (_name(call.func) == "TryCast" or "VARCHAR" in ast.unparse(call))


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
