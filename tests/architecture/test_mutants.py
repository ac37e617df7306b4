"""Functions and queries under a comment ``guarded:`` have tests, and operators that break them."""

import ast
import re
from functools import cache

from tests.conftest import ROOT
from tests.mutation.guarded import GUARDED, all_guarded, files_of
from tests.mutation.operators import of_python, of_sql

PYTHON = '''
def made(rows, least, *, strict: int = 1):
    """What has 1 row."""
    if rows < 1 or not least:
        raise ValueError("1 row" + str(2))
    while left:
        return None
    note(zip(a, strict=True))
    total -= max(rows, -(2 * least))  # no mutants: a test
    return all(x for x in rows if x == b) and rows is None
'''
OF_PYTHON = [
    "rows < 1 or not least → not least", "rows < 1 or not least → rows < 1", "rows < 1 → rows <= 1",
    "not least → least",
    "raise ValueError('1 row' + str(2)) → (nothing)", "left → not left", "return None → (nothing)",
    "note(zip(a, strict=True)) → (nothing)", "all((x for x in rows if x == b)) and rows is None → rows is None",
    "all((x for x in rows if x == b)) and rows is None → all((x for x in rows if x == b))",
    "all((x for x in rows if x == b)) → any((x for x in rows if x == b))", "x == b → x != b", "x == b → True",
    "rows is None → rows is not None",
]  # fmt: skip
SQL = "SELECT count(DISTINCT :key), min(a + 1) FILTER (WHERE b < 2) FROM :rows WHERE c AND NOT d HAVING sum(a) = $1"
OF_SQL = {
    "DISTINCT :key → :key", "MIN(a + 1) FILTER(WHERE b < 2) → MIN(a + 1)", "MIN(a + 1) → MAX(a + 1)", "a + 1 → a",
    "a + 1 → 1", "1 → 2", "b < 2 → b <= 2", "c AND NOT d → c", "c AND NOT d → NOT d", "NOT d → d",
    "HAVING SUM(a) = $1 → (nothing)", "SUM(a) → MAX(a)", "SUM(a) = $1 → SUM(a) <> $1",
}  # fmt: skip


def test_what_can_be_broken_in_a_function() -> None:
    function = ast.parse(PYTHON).body[0]
    before = ast.unparse(function)
    assert isinstance(function, ast.FunctionDef)
    assert [str(change) for change in of_python(function, PYTHON.split("\n"))] == OF_PYTHON
    assert ast.unparse(function) == before


def test_what_can_be_broken_in_a_query() -> None:
    changes = [*of_sql(SQL)]
    assert {str(change) for change in changes} == OF_SQL
    assert len({change.whole for change in changes}) == len(OF_SQL)
    assert "SELECT COUNT(:key), MIN" in str(changes[[*map(str, changes)].index("DISTINCT :key → :key")].whole)
    assert not [*of_sql("SELECT 1 FROM t WHERE a < 2", "-- no mutants of SELECT 1 FROM t WHERE a < 2: a test\n")]


def test_every_mark_stands_above_a_function_or_query() -> None:
    found = all_guarded()
    marks = [line for file in files_of() for line in file.read_text("utf-8").split("\n") if GUARDED.match(line)]
    assert len(marks) == len(found) >= 80
    assert [str(each) for each in found if next(each.changes(), None) is None] == []


def test_the_tests_are_there() -> None:
    assert [f"{each}: {test}" for each in all_guarded() for test in each.tests if not is_there(test)] == []


def is_there(test: str) -> bool:
    file, _, name = test.partition("::")
    return (ROOT / file).is_file() and (
        not name or re.search(rf"^(class|def) {name}\b", text_of(file), re.M) is not None
    )


@cache
def text_of(file: str) -> str:
    return (ROOT / file).read_text(encoding="utf-8")
