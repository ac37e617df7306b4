"""The shape of the package: its public names, their documentation, and the house rules that a parser can check."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import sqlanon as sa
from tests.conftest import ROOT

PACKAGE = ROOT / "sqlanon"
MODULES = sorted(PACKAGE.rglob("*.py"))
LONGEST_MODULE = 400
SOURCES_OF_CHANCE = {"random", "secrets", "uuid", "opendp", "numpy.random"}
SQL_KEYWORDS = re.compile(
    r"\b(SELECT\s(?!query)|INSERT\s+INTO|CREATE\s+(OR|TABLE|TEMP|VIEW|MACRO|SCHEMA)|DROP\s+(TABLE|VIEW|SCHEMA)|DELETE\s+FROM|"
    r"UPDATE\s+\S+\s+SET|COPY\s+\(|ATTACH\s|FROM\s+\S+\s+(WHERE|GROUP|ORDER|JOIN)|GROUP\s+BY|ORDER\s+BY|UNION\s+ALL)"
)

NAMES_OF_THE_ISSUE = {
    "connect Policy Taxonomy KAnonymity DistinctLDiversity EntropyLDiversity",
    "Prec DMStar Entropy LM NCP DM AECS",
    "SqlanonError PolicyError TaxonomyError UnsatisfiableError VerificationError EngineError",
}


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def public_members() -> Iterator[tuple[str, object]]:
    """Every public name with its public methods and properties."""
    for name in sa.__all__:
        member = getattr(sa, name)
        yield name, member
        if inspect.isclass(member):
            own = [base for base in member.__mro__ if base.__module__.startswith("sqlanon")]
            for method, value in (item for base in own for item in vars(base).items()):
                if not method.startswith("_") and (callable(value) or isinstance(value, property | classmethod)):
                    yield f"{name}.{method}", value


class TestPublicNames:
    def test_they_are_sorted_and_there(self) -> None:
        constants = [name for name in sa.__all__ if name.isupper()]
        others = [name for name in sa.__all__ if not name.isupper()]
        assert sa.__all__ == [*sorted(constants), *sorted(others)]
        assert len(set(sa.__all__)) == len(sa.__all__)

    def test_they_are_all_that_is_public(self) -> None:
        found = {
            name
            for name, value in vars(sa).items()
            if not name.startswith("_") and getattr(value, "__module__", "").startswith("sqlanon")
        }
        assert found <= set(sa.__all__)

    def test_the_issue_names_them(self) -> None:
        assert {name for line in NAMES_OF_THE_ISSUE for name in line.split()} <= set(sa.__all__)

    def test_a_session_does_what_the_issue_says(self) -> None:
        for method in ("load_taxonomy", "lattice", "measure", "anonymize", "verify"):
            assert callable(getattr(sa.Session, method))
        assert list(inspect.signature(sa.Session.anonymize).parameters)[:4] == ["self", "source", "policy", "into"]

    @pytest.mark.parametrize(
        ("name", "member"), list(public_members()), ids=lambda value: value if isinstance(value, str) else ""
    )
    def test_each_has_a_docstring(self, name: str, member: object) -> None:
        inherited = inspect.getdoc(member) or ""
        assert inherited.strip(), name
        if inspect.isclass(member):
            assert member.__doc__, name


@pytest.mark.parametrize("path", MODULES, ids=name_of)
class TestModules:
    def test_it_has_a_docstring(self, path: Path) -> None:
        tree = tree_of(path)
        assert ast.get_docstring(tree) or not tree.body, "a module says its job in a line"

    def test_it_is_not_too_long(self, path: Path) -> None:
        assert len(path.read_text().splitlines()) <= LONGEST_MODULE

    def test_only_the_engine_knows_duckdb(self, path: Path) -> None:
        runtime = path.read_text().split("if TYPE_CHECKING:")[0] if "if TYPE_CHECKING:" in path.read_text() else None
        names = {name.split(".")[0] for name in imported(path)}
        if name_of(path) != "sqlanon/engines/duckdb.py" and "duckdb" in names:
            assert runtime is not None
            assert "import duckdb" not in runtime, "only for a type"

    def test_it_has_no_source_of_chance(self, path: Path) -> None:
        assert not SOURCES_OF_CHANCE.intersection(imported(path))

    def test_no_sql_is_put_together_as_text(self, path: Path) -> None:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.JoinedStr):
                text = "".join(part.value for part in node.values if isinstance(part, ast.Constant))
                is_pattern = "(?:" in text  # a regular expression that reads SQL
                assert is_pattern or not SQL_KEYWORDS.search(text), f"line {node.lineno}"
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
                assert not (
                    isinstance(node.func.value, ast.Constant) and SQL_KEYWORDS.search(str(node.func.value.value))
                )
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod | ast.Add):
                for side in (node.left, node.right):
                    if isinstance(side, ast.Constant) and isinstance(side.value, str):
                        assert not SQL_KEYWORDS.search(side.value), f"line {node.lineno}"


def test_the_check_for_sql_in_strings_finds_some() -> None:
    for text in ("SELECT * FROM x", "CREATE OR REPLACE TABLE t", "FROM t WHERE a", "DELETE FROM t", "a GROUP BY b"):
        assert SQL_KEYWORDS.search(text)
    assert not SQL_KEYWORDS.search("a SELECT-free text that says from where it comes")
