"""The shape of the package: its public names, their documentation, and the house rules that a parser can check."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import duckdb

import sqlanon as sa
from sqlanon.api.ledger import Ledger
from sqlanon.api.partitions import Partitions
from sqlanon.api.release_register import ReleaseRegister
from sqlanon.api.taxonomies import Taxonomies
from tests.conftest import ROOT

PACKAGE = ROOT / "sqlanon"
MODULES = sorted(PACKAGE.rglob("*.py"))
LONGEST_MODULE = 400
MAX_PARAMETERS = 6
REASON = "# More than six parameters: "
SQL_FILES = sorted((ROOT / "sql").rglob("*.sql"))
SOURCES_OF_CHANCE = {f"sqlanon/mechanisms/{name}.py" for name in ("opendp", "sources")}
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
    "sqlanon/engines/types.py": ['"UUID"'],  # the name of a type
    "sqlanon/engines/duckdb/files.py": ['"UUID"'],  # the name of a type
    "sqlanon/mechanisms/source.py": ["np.random"],  # the type of a generator
    "sqlanon/partitions/sidecar.py": ['"uuid"'],  # the name of an entry, which says nothing of any row
}
SQL_KEYWORDS = re.compile(
    r"\b(SELECT\s(?!query)|INSERT\s+INTO|CREATE\s+(OR|TABLE|TEMP|VIEW|MACRO|SCHEMA)|DROP\s+(TABLE|VIEW|SCHEMA)|DELETE\s+FROM|"
    r"UPDATE\s+\S+\s+SET|COPY\s+\(|ATTACH\s|FROM\s+\S+\s+(WHERE|GROUP|ORDER|JOIN)|GROUP\s+BY|ORDER\s+BY|UNION\s+ALL)"
)

NAMES_OF_THE_ISSUE = {
    "connect Policy Taxonomy KAnonymity DistinctLDiversity EntropyLDiversity",
    "Prec DMStar Entropy LM NCP DM AECS",
    "SqlanonError PolicyError TaxonomyError UnsatisfiableError VerificationError EngineError TargetError",
}


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imported(path: Path) -> Iterator[str]:
    return names_imported(tree_of(path))


def names_imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def public_members() -> Iterator[tuple[str, object]]:
    """Every public name, and the parts of a session, with their public methods and properties."""
    for name, member in {
        **{name: getattr(sa, name) for name in sa.__all__},
        "Taxonomies": Taxonomies,
        "Ledger": Ledger,
        "ReleaseRegister": ReleaseRegister,
    }.items():
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
        for method in ("lattice", "measure", "anonymize", "verify"):
            assert callable(getattr(sa.Session, method))
        for part, verbs in (
            (Taxonomies, "load make check export list"),
            (Partitions, "fit apply"),
            (Ledger, "cap spent remaining verify entries"),
            (ReleaseRegister, "list forget"),
        ):
            assert all(callable(getattr(part, verb)) for verb in verbs.split())
        assert list(inspect.signature(sa.Session.anonymize).parameters)[:4] == ["self", "source", "policy", "into"]

    def test_each_has_a_docstring(self) -> None:
        members = list(public_members())
        assert [name for name, member in members if not (inspect.getdoc(member) or "").strip()] == []
        assert [name for name, member in members if inspect.isclass(member) and not member.__doc__] == []


class TestModules:
    def test_they_say_their_job_in_a_line(self) -> None:
        trees = {name_of(path): tree_of(path) for path in MODULES}
        assert [name for name, tree in trees.items() if tree.body and not ast.get_docstring(tree)] == []

    def test_they_are_not_too_long(self) -> None:
        lengths = {name_of(path): len(path.read_text().splitlines()) for path in MODULES}
        assert {name: length for name, length in lengths.items() if length > LONGEST_MODULE} == {}

    def test_functions_of_many_parameters_say_why(self) -> None:
        """But for constructors, commands and the verbs of sessions, of which each is an option of the user's."""
        without = []
        for path in MODULES:
            lines = path.read_text().splitlines()
            for function in (node for node in ast.walk(tree_of(path)) if isinstance(node, ast.FunctionDef)):
                given = function.args
                count = len(
                    [
                        each
                        for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)
                        if each.arg not in ("self", "cls")
                    ]
                )
                first = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
                is_users = function.name == "__init__" or name_of(path).startswith(("sqlanon/api/", "sqlanon/cli/"))
                if count > MAX_PARAMETERS and not is_users and not lines[first - 2].startswith(REASON):
                    without.append(f"{name_of(path)}: {function.name}")
        assert without == []

    def test_only_the_engine_knows_duckdb(self) -> None:
        """Others may name it for a type."""
        knowing = {name_of(path) for path in MODULES if "duckdb" in imported_at_run_time(path)}
        assert knowing == {f"sqlanon/engines/duckdb/{name}.py" for name in ("compute", "opening", "refusals", "texts")}

    def test_only_the_sources_know_chance(self) -> None:
        others = [path for path in MODULES if name_of(path) not in SOURCES_OF_CHANCE]
        importing = {name_of(path): list(filter(MODULES_OF_CHANCE.match, imported(path))) for path in others}
        assert {name: found for name, found in importing.items() if found} == {}
        drawing = {name_of(path): [draw[0] for draw in CHANCE_IN_PYTHON.finditer(path.read_text())] for path in others}
        assert {name: found for name, found in drawing.items() if found} == NO_DRAWS

    def test_only_the_accountant_makes_charges(self) -> None:
        """So that nothing is drawn that was not paid."""
        charges = {"Charge", "Portions", "RhoCharge", "RhoPortions"}
        making = {name_of(path) for path in MODULES if charges & set(called(tree_of(path)))}
        assert making == {"sqlanon/mechanisms/accountant.py"}

    def test_no_sql_is_put_together_as_text(self) -> None:
        assert [f"{name_of(path)}:{line}" for path in MODULES for line in lines_with_sql(tree_of(path))] == []


def called(tree: ast.Module) -> Iterator[str]:
    """The last names of what is called, by whatever path: of ``a.b(c)``, b."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
                yield name


def imported_at_run_time(path: Path) -> set[str]:
    """The packages that a module imports, but for those that it names for types alone."""
    tree = tree_of(path)
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = [ast.Pass()]
    return {name.partition(".")[0] for name in names_imported(tree)}


def lines_with_sql(tree: ast.Module) -> Iterator[int]:
    """Where SQL is put together as text."""
    for node in ast.walk(tree):
        match node:
            case ast.JoinedStr():
                text = "".join(part.value for part in node.values if isinstance(part, ast.Constant))
                pieces = [] if "(?:" in text else [text]  # a regular expression that reads SQL
            case ast.Call(func=ast.Attribute(attr="format", value=ast.Constant(value=str(text)))):
                pieces = [text]
            case ast.BinOp(op=ast.Mod() | ast.Add()):
                constants = [side.value for side in (node.left, node.right) if isinstance(side, ast.Constant)]
                pieces = [constant for constant in constants if isinstance(constant, str)]
            case _:
                pieces = []
        if any(SQL_KEYWORDS.search(piece) for piece in pieces):
            yield node.lineno


def test_the_check_for_sql_in_strings_finds_some() -> None:
    for text in ("SELECT * FROM x", "CREATE OR REPLACE TABLE t", "FROM t WHERE a", "DELETE FROM t", "a GROUP BY b"):
        assert SQL_KEYWORDS.search(text)
    assert not SQL_KEYWORDS.search("a SELECT-free text that says from where it comes")
    for code in ('f"SELECT {x} FROM t"', '"DELETE FROM {}".format(x)', '"a GROUP BY " + x', '"DROP TABLE %s" % x'):
        assert list(lines_with_sql(ast.parse(code))) == [1]


def test_no_statement_draws() -> None:
    texts = {name_of(path): re.sub(r"--.*", "", path.read_text()) for path in SQL_FILES}
    assert [name for name, text in texts.items() if CHANCE_IN_SQL.search(text)] == []


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
