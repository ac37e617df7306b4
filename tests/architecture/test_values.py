"""Text is made of a value of a source in one place: the readers of CSV files would make it of what is in the file."""

import re
from pathlib import Path

import pytest
from sqlglot import exp

from sqlanon.queries.kit.macros import macros
from sqlanon.queries.kit.named import parsed
from sqlanon.queries.kit.nodes import DIALECT
from sqlanon.queries.kit.sql_files import named_queries, sql_files

GOLDEN = sorted((Path(__file__).parents[1] / "golden").rglob("*.sql"))
COLUMN_OF_A_SOURCE = r'[(\s]+(?:(?:\w+|"(?:[^"]|"")*")\.)*"(?!anon_item")(?:[^"]|"")*"[)\s]*\sAS'
CAST_OF_A_SOURCE = re.compile(rf"\bCAST{COLUMN_OF_A_SOURCE} TEXT|\bTRY_CAST{COLUMN_OF_A_SOURCE} ")
"""As golden files spell it: the cast of a column itself, not of what is made of it, nor of the item of a lambda."""


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
    """Columns of sources are quoted; those of lists of values in a statement are not."""
    assert GOLDEN
    found = {path.stem: CAST_OF_A_SOURCE.findall(path.read_text(encoding="utf-8")) for path in GOLDEN}
    assert {name: casts for name, casts in found.items() if casts} == {}


@pytest.mark.parametrize("cast", ['CAST("a" AS TEXT)', 'CAST((t."a""b") AS TEXT)', 'TRY_CAST("t"."a" AS INT)'])
def test_casts_of_sources_are_seen(cast: str) -> None:
    assert CAST_OF_A_SOURCE.search(f"SELECT {cast} FROM t")
    assert not CAST_OF_A_SOURCE.search('SELECT CAST(a AS TEXT), CAST("a" AS INT), CAST(f("a") AS TEXT)')
