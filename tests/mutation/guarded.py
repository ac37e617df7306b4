"""The functions, queries and macros that privacy rests on: those under a comment ``guarded:``, which names their tests.

``# guarded: tests/unit/test_portions.py, tests/unit/test_zcdp.py::TestPortions`` stands right above a function and its
decorators; ``-- guarded: tests/sql/50_privacy.test`` in the comment of a named query, or above the comment of a macro
with an empty line between them, so that it is not in the documentation.
"""

import ast
import functools
import gc
import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from sqlanon.queries.kit.sql_files import SCRIPT
from tests.mutation.operators import Change, of_python, of_sql, unchanged

ROOT = Path(__file__).parents[2]
GUARDED = re.compile(r"^\s*(?:#|--) guarded: (.+)$")
QUERY = re.compile(r"-- name: (\w+)\n(?P<comment>(?:--.*\n)*)(?P<text>(?:(?!-- name: ).*\n)*)")
MACRO = re.compile(
    r"(?P<comment>^-- guarded: .*\n(?:--.*\n|\n(?=--))*)"
    r"(?P<text>^CREATE OR REPLACE MACRO anon(?:_helpers)?\.(\w+)\((?:.*\n)*?.*;$)",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Guarded:
    """One of them: its file from the root of the repository, its name in the file, its line, and its tests."""

    file: str
    name: str
    line: int
    tests: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.file}:{self.name}"

    def changes(self) -> Iterator[Change]:
        """All that can be broken in it, one by one; a change holds until the next is asked for."""
        text = (ROOT / self.file).read_text(encoding="utf-8")
        if self.file.endswith(".py"):
            function = _function(ast.parse(text), self.name)
            yield from of_python(function, text.split("\n"), "\n".join(_above(function, text.split("\n"))))
        else:
            found = _sql_of(text, self.name)
            for change in of_sql(_query(found), found["comment"]):
                yield Change(self.line, change.before, change.after, change.whole)

    def put_in(self, change: Change | None) -> None:
        """Have this process use the changed function or query, without writing a file."""
        if self.file.endswith(".sql"):
            self._put_text(change)
        elif change is not None:
            assert isinstance(change.whole, ast.FunctionDef)
            self.function().__code__ = _compiled(change.whole, self)

    def function(self) -> FunctionType:
        """The function as Python calls it, inside its decorators."""
        found: Any = importlib.import_module(self.file.removesuffix(".py").replace("/", "."))
        for name in self.name.split("."):
            found = vars(found)[name]
        while not isinstance(found, FunctionType) or hasattr(found, "__wrapped__"):
            inner = (getattr(found, name, None) for name in ("__wrapped__", "__func__", "fget", "func", "wrapped"))
            found = next(each for each in inner if each is not None)
        return found

    def _put_text(self, change: Change | None) -> None:
        file, read = ROOT / self.file, Path.read_text
        text = file.read_text(encoding="utf-8")
        found = _sql_of(text, self.name)
        query = unchanged(_query(found)) if change is None else str(change.whole)
        changed = f"{text[: found.start('text')]}{query};\n{text[found.end('text') :]}"

        def read_text(path: Path, *arguments: Any, **options: Any) -> str:
            return changed if path == file else read(path, *arguments, **options)

        Path.read_text = read_text  # type: ignore[method-assign]
        forget()


def files_of(root: Path = ROOT) -> list[Path]:
    """The files that may have some, in order: those that are written, not the script that has all macros again."""
    files = [*(root / "sqlanon").rglob("*.py"), *(root / "sql").rglob("*.sql")]
    return sorted(file for file in files if file.name != SCRIPT)


def all_guarded(root: Path = ROOT) -> list[Guarded]:
    """All of them, in the order of their files."""
    return [
        found
        for file in files_of(root)
        for found in _in_file(file.relative_to(root).as_posix(), file.read_text("utf-8"))
    ]


def _in_file(file: str, text: str) -> Iterator[Guarded]:
    if "guarded: " not in text:
        return
    if file.endswith(".py"):
        yield from _in_python(file, text)
        return
    for match in (MACRO if "/macros/" in file else QUERY).finditer(text):
        tests = [test for line in match["comment"].split("\n") for test in _tests(line)]
        if tests:
            name = match[3] if "/macros/" in file else match[1]
            yield Guarded(file, name, text.count("\n", 0, match.start("text")) + 1, tuple(tests))


def _in_python(file: str, text: str) -> Iterator[Guarded]:
    lines = text.split("\n")
    for name, function in _functions(ast.parse(text)):
        tests = [test for line in _above(function, lines) for test in _tests(line)]
        if tests:
            yield Guarded(file, name, function.lineno, tuple(tests))


def _above(function: ast.FunctionDef, lines: list[str]) -> Iterator[str]:
    """The comment right above a function and its decorators, from its last line upwards."""
    place = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)]) - 2
    while lines[place].lstrip().startswith("#"):
        yield lines[place]
        place -= 1


def _tests(line: str) -> tuple[str, ...]:
    found = GUARDED.match(line)
    return tuple(test.strip() for test in found[1].split(",")) if found else ()


def _functions(tree: ast.Module | ast.ClassDef, prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}.")


def _function(tree: ast.Module, name: str) -> ast.FunctionDef:
    return dict(_functions(tree))[name]


def _compiled(function: ast.FunctionDef, guarded: Guarded) -> CodeType:
    """The code of a function; that of a method is made in a class of the same name, for ``super()``."""
    *classes, _ = guarded.name.split(".")
    node: ast.stmt = ast.FunctionDef(**{**dict(ast.iter_fields(function)), "decorator_list": []})
    for name in reversed(classes):
        node = ast.ClassDef(name=name, bases=[], keywords=[], body=[node], decorator_list=[])
    future = ast.ImportFrom(module="__future__", names=[ast.alias("annotations")], level=0)
    module = ast.fix_missing_locations(ast.Module(body=[future, node], type_ignores=[]))
    code = compile(module, guarded.file, "exec")
    for name in guarded.name.split("."):
        code = next(each for each in code.co_consts if isinstance(each, CodeType) and each.co_name == name)
    return code


def _sql_of(text: str, name: str) -> re.Match[str]:
    found = [*MACRO.finditer(text), *QUERY.finditer(text)]
    return next(match for match in found if name in match.groups())


def _query(found: re.Match[str]) -> str:
    return found["text"].strip().removesuffix(";")


def forget() -> None:
    """Empty the caches of the package, in which the texts of queries are."""
    gc.unfreeze()
    caches = (each for each in gc.get_objects() if isinstance(each, functools._lru_cache_wrapper))
    for cached in caches:
        if cached.__module__.startswith("sqlanon."):
            cached.cache_clear()
