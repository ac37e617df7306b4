"""Tests name nothing that is private to the package, so that a private name can change without them."""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

PRIVATE = re.compile(r"(?:[\w.]+[.:])?(_[A-Za-z]\w*)(?<!_)")
"""A private name, perhaps after the path to it; protocol names such as ``_repr_html_`` are public."""

NAME = re.compile(r"\b_[A-Za-z]\w*")

ALLOWED = ["tests/engines.py: session._engine"]

USES = [
    "from sqlanon.run.lattice_table import _ranks",
    "import sqlanon._hidden",
    "from sqlanon._hidden import x",
    "session._engine",
    "engine.far._engine.url",
    "from sqlanon import run\ndef _engine(): run._engine()",
    "class Fake(Engine):\n    def ask(self): return self._engine",
    "patch('sqlanon.api.opened._engine')",
    "patch.object(session, '_engine')",
    "patch.multiple(session, _engine=1)",
]
NO_USES = [
    "from tests.commands import run",
    "session.engine",
    "page._repr_html_()",
    "os._exit(1)",
    "def _engine(): return 1\n_engine()",
    "class Fake:\n    def __init__(self, given):\n        self._engine = given\n    def ask(self): return self._engine",
    "'the private _engine'",
    "f'{name}_engine'",
]


def private_uses(text: str, private: set[str]) -> Iterator[str]:
    """What a file names of the private names of the package, as it is spelled there."""
    nodes = [*ast.walk(ast.parse(text))]
    own, imported = names_defined(nodes), names_imported(nodes)
    pieces = {id(piece) for node in nodes if isinstance(node, ast.JoinedStr) for piece in node.values}
    for node in nodes:
        match node:
            case ast.ImportFrom() | ast.Import():
                paths = [f"{getattr(node, 'module', '')}.{each.name}" for each in node.names]
                yield from (path for path in paths if re.match(r"\.?sqlanon\.(.*\.)?_", path))
            case ast.Attribute(attr=name, value=value) if name in private:
                if name not in own or (isinstance(value, ast.Name) and value.id in imported):
                    yield ast.unparse(node)
            case ast.Constant(value=str(value)) if id(node) not in pieces:
                found = PRIVATE.fullmatch(value)
                if found and found[1] in private - own:
                    yield repr(value)
            case ast.keyword(arg=str(name)) if name in private - own:
                yield f"{name}="


def may_use(text: str, private: set[str]) -> bool:
    """Whether a file has to be parsed."""
    return bool(private.intersection(NAME.findall(text)) or re.search(r"sqlanon[\w.]*(\._| import _)", text))


def names_defined(nodes: Iterable[ast.AST]) -> set[str]:
    """The private names of a module: of functions, classes, variables and attributes."""
    names = set()
    for node in nodes:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case (
                ast.Name(id=name, ctx=ast.Store())
                | ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name, ctx=ast.Store())
            ):
                names.add(name)
    return {name for name in names if PRIVATE.fullmatch(name)}


def names_imported(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that a module gives to what it imports from the package."""
    return {
        each.asname or each.name
        for node in nodes
        if isinstance(node, ast.Import | ast.ImportFrom)
        for each in node.names
        if f"{getattr(node, 'module', each.name)}.".startswith("sqlanon.")
    }


@pytest.fixture(scope="module")
def private() -> set[str]:
    return {name for path in files("sqlanon") for name in names_defined(ast.walk(ast.parse(path.read_text("utf-8"))))}


def files(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def test_tests_use_no_private_name_of_the_package(private: set[str]) -> None:
    texts = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in files("tests")}
    del texts["tests/architecture/test_private_names.py"]
    used = [
        f"{name}: {use}"
        for name, text in texts.items()
        if may_use(text, private)
        for use in private_uses(text, private)
    ]
    assert used == ALLOWED


@pytest.mark.parametrize("text", USES)
def test_the_check_finds_private_names(text: str) -> None:
    assert may_use(text, {"_engine"})
    assert [*private_uses(text, {"_engine"})]


@pytest.mark.parametrize("text", NO_USES)
def test_the_check_leaves_other_names(text: str) -> None:
    assert [*private_uses(text, {"_engine"})] == []
