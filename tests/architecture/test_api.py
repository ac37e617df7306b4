"""The shape of the package: its public names, their documentation, and the house rules that a parser can check."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import sqlanon as sa
from tests.conftest import ROOT

pytestmark = pytest.mark.one_line

PACKAGE = ROOT / "sqlanon"
MODULES = sorted(PACKAGE.rglob("*.py"))
LONGEST_MODULE = 400
SQL_FILES = sorted((ROOT / "sql").rglob("*.sql"))
SOURCES_OF_CHANCE = {"sqlanon/mechanisms/opendp.py", "sqlanon/mechanisms/seeded.py"}
MODULES_OF_CHANCE = re.compile(r"(random|secrets|uuid|opendp|numpy\.random)(\.|$)")
CHANCE_IN_PYTHON = re.compile(
    r"\b(urandom|getrandom|np\.random|numpy\.random|exp\.(?:Rand|Randn|Uuid|TableSample))\b"
    r"|[\"'](random|setseed|uuid|gen_random_uuid|uuidv4|uuidv7)[\"']",
    re.IGNORECASE,
)
CHANCE_IN_SQL = re.compile(
    r"\b(random|setseed|uuid|gen_random_uuid|uuidv4|uuidv7)\s*\(|\b(TABLESAMPLE|USING\s+SAMPLE)\b", re.IGNORECASE
)
NO_DRAWS = {
    "sqlanon/compiler/encoding.py": ['"UUID"'],  # the name of a type
    "sqlanon/run/parquet_types.py": ['"UUID"'],  # the name of a type
    "sqlanon/run/csv_types.py": ['"UUID"'],  # the name of a type
    "sqlanon/run/sidecar.py": ['"uuid"'],  # the name of an entry, which says nothing of any row
}
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

    def test_only_the_sources_know_chance(self, path: Path) -> None:
        if name_of(path) in SOURCES_OF_CHANCE:
            return
        assert not [name for name in imported(path) if MODULES_OF_CHANCE.match(name)]
        found = [match[0] for match in CHANCE_IN_PYTHON.finditer(path.read_text())]
        assert found == NO_DRAWS.get(name_of(path), [])

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


@pytest.mark.parametrize("path", SQL_FILES, ids=name_of)
def test_no_statement_draws(path: Path) -> None:
    assert not CHANCE_IN_SQL.search(re.sub(r"--.*", "", path.read_text()))


def test_the_check_for_chance_finds_some() -> None:
    for name in ("random", "secrets", "opendp.prelude", "numpy.random", "uuid.uuid4"):
        assert MODULES_OF_CHANCE.match(name)
    assert not MODULES_OF_CHANCE.match("sqlanon.mechanisms.opendp")
    for text in ("os.urandom(8)", "np.random.default_rng()", 'exp.func("RANDOM")', "exp.Rand()", "exp.TableSample(x)"):
        assert CHANCE_IN_PYTHON.search(text)
    assert not CHANCE_IN_PYTHON.search("the order is random, the name a uuid; a RandomSource")
    for text in (
        "random()",
        "RANDOM ( )",
        "uuidv7()",
        "FROM t TABLESAMPLE 10%",
        "FROM t USING  SAMPLE 5",
        "setseed(1)",
    ):
        assert CHANCE_IN_SQL.search(text)
    assert not CHANCE_IN_SQL.search("SELECT random_column, hash(x) FROM sample")


def test_what_is_random_in_duckdb_is_checked_for() -> None:
    chance = re.compile("rand|uuid|seed|sample|shuffle")
    volatile = "SELECT DISTINCT function_name FROM duckdb_functions() WHERE stability LIKE '%VOLATILE%'"
    with duckdb.connect() as connection:
        names = [name for (name,) in connection.sql(volatile).fetchall() if chance.search(name)]
    assert "random" in names
    assert all(CHANCE_IN_SQL.search(f"{name}()") for name in names)
