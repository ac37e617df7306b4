"""The table of mutants does not rot: what it breaks is there, once, and so are the tests that notice."""

from __future__ import annotations

import ast
from functools import cache

import pytest

from tests.conftest import ROOT
from tests.mutation.mutants import MUTANTS, Mutant

pytestmark = pytest.mark.one_line


def test_names_are_different() -> None:
    names = [mutant.name for mutant in MUTANTS]
    assert len(set(names)) == len(names) >= 100


def test_they_can_be_put_in() -> None:
    """Each changes what its file does, and not its form alone."""
    same = []
    for mutant in MUTANTS:
        before = (ROOT / mutant.file).read_text(encoding="utf-8")
        after = mutant.applied(before)
        is_same = after == before
        if mutant.file.endswith(".py"):
            is_same = ast.dump(ast.parse(after)) == ast.dump(ast.parse(before))
        same += [mutant.name] if is_same else []
    assert same == []


def test_their_tests_are_there() -> None:
    assert [test for mutant in MUTANTS for test in mutant.tests if not is_there(test)] == []


def is_there(test: str) -> bool:
    file, _, path = test.partition("::")
    return (ROOT / file).is_file() and path.partition("[")[0] in names_in(file) | {""}


@cache
def names_in(file: str) -> set[str]:
    """The classes and tests of a file, as pytest names them."""
    module = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    found = set()
    for node in module.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{inner.name}" for inner in node.body if isinstance(inner, ast.FunctionDef)}
    return found


def test_what_is_not_there_once_is_refused() -> None:
    mutant = Mutant("a", "b.py", "x < y", "x <= y", "", ())
    assert mutant.applied("if x < y:") == "if x <= y:"
    for text in ("x > y", "x < y or x < y"):
        with pytest.raises(ValueError, match="and not once"):
            mutant.applied(text)
