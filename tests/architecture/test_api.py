"""The shape of the package: its public names, their documentation, and the house rules that a parser can check."""

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

import sqlanon as sa
from sqlanon.api.session_ledger import Ledger
from sqlanon.api.session_releases import ReleaseRegister
from sqlanon.api.session_taxonomies import Taxonomies
from tests.conftest import ROOT

LONGEST_MODULE = 400
MAX_PARAMETERS = 6
REASON = "# More than six parameters: "
SQL_FILES = sorted((ROOT / "sql").rglob("*.sql"))
CASTS = ("cast", "Cast", "TryCast")
# The codes of the app's door are secrets: nothing is drawn with them.
SOURCES_OF_CHANCE = {*(f"sqlanon/chance/{name}.py" for name in ("opendp", "random_source")), "sqlanon/app/door.py"}
MODULES_OF_CHANCE = re.compile(r"(random|secrets|uuid|opendp|numpy\.random)(\.|$)")
CHANCE_IN_PYTHON = re.compile(
    r"\b(urandom|getrandom|np\.random|numpy\.random|exp\.(?:Rand|Randn|Uuid|TableSample))\b"
    r"|[\"'](random|setseed|uuid|gen_random_uuid|uuidv4|uuidv7)[\"']|\bf\.(random|setseed|uuid|gen_random_uuid|uuidv[47])\b",
    re.IGNORECASE,
)
CHANCE_IN_SQL = re.compile(
    r"\b(random|setseed|uuid|gen_random_uuid|uuidv4|uuidv7)\s*\(|\b(TABLESAMPLE|USING\s+SAMPLE)\b", re.IGNORECASE
)
NO_DRAWS = {
    "sqlanon/engines/relations.py": ['"UUID"'],  # the name of a type
    "sqlanon/engines/duckdb/writer.py": ['"UUID"'],  # the name of a type
    "sqlanon/partitions/sidecar.py": ["f.uuid"],  # the name of an entry, which says nothing of any row
}
SQL_KEYWORDS = re.compile(
    r"\b(SELECT\s(?!query)|INSERT\s+INTO|CREATE\s+(OR|TABLE|TEMP|VIEW|MACRO|SCHEMA)|DROP\s+(TABLE|VIEW|SCHEMA)|DELETE\s+FROM|"
    r"UPDATE\s+\S+\s+SET|COPY\s+\(|ATTACH\s|FROM\s+\S+\s+(WHERE|GROUP|ORDER|JOIN)|GROUP\s+BY|ORDER\s+BY|UNION\s+ALL)"
)


@dataclass(frozen=True)
class Module:
    """What the rules ask of a module; it is parsed and gone through once for all of them.

    Attributes:
        imported: the names that it imports, those for types alone among them.
        run_time_packages: the packages of those that it imports when it runs.
        called: the last names of what it calls, by whatever path: of ``a.b(c)``, b.
        crowded: its functions of more than six parameters that give no reason.
        lines_with_sql: where SQL is put together as text.
        lines_with_casts: where the column of a source is cast to text, or with NULL where that fails.
        kept_by_runs: what runs keep in attributes besides what their constructors set.
    """

    name: str
    text: str
    has_docstring: bool
    imported: set[str]
    run_time_packages: set[str]
    called: set[str]
    crowded: list[str]
    lines_with_sql: list[int]
    lines_with_casts: list[int]
    kept_by_runs: list[str]


@pytest.fixture(scope="module")
def modules() -> list[Module]:
    return [module_of(path) for path in sorted((ROOT / "sqlanon").rglob("*.py"))]


def module_of(path: Path) -> Module:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    nodes = [*ast.walk(tree)]
    for_types = {
        id(each) for node in nodes if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for statement in node.body for each in ast.walk(statement)
    }  # fmt: skip
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    return Module(
        name=name_of(path),
        text=text,
        has_docstring=not tree.body or ast.get_docstring(tree) is not None,
        imported={name for node in nodes for name in names_imported(node)},
        run_time_packages={
            name.partition(".")[0] for node in nodes if id(node) not in for_types for name in names_imported(node)
        },
        called={last_name(call.func) for call in calls},
        crowded=[
            node.name for node in nodes if isinstance(node, ast.FunctionDef) and is_crowded(node, text.splitlines())
        ],
        lines_with_sql=[node.lineno for node in nodes if isinstance(node, ast.expr) and has_sql(node)],
        lines_with_casts=[call.lineno for call in calls if last_name(call.func) in CASTS and casts_a_column(call)],
        kept_by_runs=[name for node in nodes if isinstance(node, ast.ClassDef) for name in kept_by_run(node)],
    )


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def names_imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield node.module or ""
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def kept_by_run(found: ast.ClassDef) -> Iterator[str]:
    """The attributes that methods of a run set, which its hooks would hand on unseen."""
    if not any(ast.unparse(base).partition("[")[0].endswith("Run") for base in found.bases):
        return
    for method in found.body:
        if isinstance(method, ast.FunctionDef) and method.name != "__init__":
            stores = (node for node in ast.walk(method) if isinstance(node, ast.Attribute))
            yield from (
                f"{found.name}.{node.attr}"
                for node in stores
                if isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self"
            )


def last_name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def is_crowded(function: ast.FunctionDef, lines: list[str]) -> bool:
    given = function.args
    parameters = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    if len(set(parameters) - {"self", "cls"}) <= MAX_PARAMETERS or function.name == "__init__":
        return False
    first = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
    return not lines[first - 2].startswith(REASON)


def has_sql(node: ast.expr) -> bool:
    """Whether SQL is put together as text there."""
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
    return any(SQL_KEYWORDS.search(piece) for piece in pieces)


def casts_a_column(call: ast.Call) -> bool:
    operand = next((word.value for word in call.keywords if word.arg == "this"), call.args[0] if call.args else None)
    is_column = isinstance(operand, ast.Call) and last_name(operand.func) == "column"
    return is_column and (last_name(call.func) == "TryCast" or "VARCHAR" in ast.unparse(call))


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

    def test_each_has_a_docstring(self) -> None:
        members = list(public_members())
        assert [name for name, member in members if not (inspect.getdoc(member) or "").strip()] == []
        assert [name for name, member in members if inspect.isclass(member) and not member.__doc__] == []


class TestModules:
    def test_they_say_their_job_in_a_line(self, modules: list[Module]) -> None:
        assert [each.name for each in modules if not each.has_docstring] == []

    def test_they_are_not_too_long(self, modules: list[Module]) -> None:
        lengths = {each.name: len(each.text.splitlines()) for each in modules}
        assert {name: length for name, length in lengths.items() if length > LONGEST_MODULE} == {}

    def test_functions_of_many_parameters_say_why(self, modules: list[Module]) -> None:
        """But for constructors, commands and the verbs of sessions, of which each is an option of the user's."""
        users = ("api/", "cli/", "app/app_command", "audits/audit_command", "papers/reproduce_command")
        others = [each for each in modules if not each.name.startswith(tuple(f"sqlanon/{name}" for name in users))]
        assert {each.name: each.crowded for each in others if each.crowded} == {}

    def test_only_the_engine_knows_duckdb(self, modules: list[Module]) -> None:
        """Others may name it for a type."""
        knowing = {each.name for each in modules if "duckdb" in each.run_time_packages}
        names = ("compute", "opening", "refusals", "statements")
        assert knowing == {f"sqlanon/engines/duckdb/{name}.py" for name in names}

    def test_only_the_sources_know_chance(self, modules: list[Module]) -> None:
        others = [each for each in modules if each.name not in SOURCES_OF_CHANCE]
        importing = {each.name: [*filter(MODULES_OF_CHANCE.match, each.imported)] for each in others}
        assert {name: found for name, found in importing.items() if found} == {}
        drawing = {each.name: [draw[0] for draw in CHANCE_IN_PYTHON.finditer(each.text)] for each in others}
        assert {name: found for name, found in drawing.items() if found} == NO_DRAWS

    def test_only_the_accountant_makes_charges(self, modules: list[Module]) -> None:
        """So that nothing is drawn that was not paid."""
        charges = {"Charge", "Portions", "RhoCharge", "RhoPortions"}
        assert {each.name for each in modules if charges & each.called} == {"sqlanon/chance/accountant.py"}

    def test_no_sql_is_put_together_as_text(self, modules: list[Module]) -> None:
        assert [f"{each.name}:{line}" for each in modules for line in each.lines_with_sql] == []

    def test_queries_cast_no_column_to_text(self, modules: list[Module]) -> None:
        """As ``text`` and ``cast_value`` do; casts to other types than text are of columns that steps have made."""
        assert [f"{each.name}:{line}" for each in modules for line in each.lines_with_casts] == []

    def test_hooks_of_runs_return_values(self, modules: list[Module]) -> None:
        assert [name for each in modules for name in each.kept_by_runs] == []
        [found] = ast.parse("class OwnRun(base.Run[A]):\n    def make(self): self.kept, x = 1, 2").body
        assert isinstance(found, ast.ClassDef)
        assert [*kept_by_run(found)] == ["OwnRun.kept"]


def test_the_check_for_sql_in_strings_finds_some() -> None:
    for text in ("SELECT * FROM x", "CREATE OR REPLACE TABLE t", "FROM t WHERE a", "DELETE FROM t", "a GROUP BY b"):
        assert SQL_KEYWORDS.search(text)
    assert not SQL_KEYWORDS.search("a SELECT-free text that says from where it comes")
    for code in ('f"SELECT {x} FROM t"', '"DELETE FROM {}".format(x)', '"a GROUP BY " + x', '"DROP TABLE %s" % x'):
        assert has_sql(ast.parse(code, mode="eval").body)


def test_no_statement_draws() -> None:
    texts = {name_of(path): re.sub(r"--.*", "", path.read_text()) for path in SQL_FILES}
    assert [name for name, text in texts.items() if CHANCE_IN_SQL.search(text)] == []


def test_the_check_for_chance_finds_some() -> None:
    for name in ("random", "secrets", "opendp.prelude", "numpy.random", "uuid.uuid4"):
        assert MODULES_OF_CHANCE.match(name)
    assert not MODULES_OF_CHANCE.match("sqlanon.chance.opendp")
    for text in (
        "os.urandom(8)",
        "np.random.default_rng()",
        'exp.func("RANDOM")',
        "f.random()",
        "exp.Rand()",
        "exp.TableSample(x)",
    ):
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
