"""Shared fixtures: the Adult data sets, read where SQLANON_DATA says, and a small clinic warehouse."""

import gc
import os
import re
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import Phase, settings

import sqlanon as sa
from sqlanon.papers.adult import COLUMNS
from sqlanon.queries.kit.macros import schema_statements
from tests.effort import examples

settings.register_profile("dev", deadline=None, max_examples=examples(40))
settings.register_profile("ci", deadline=None, max_examples=examples(80), derandomize=True)
# A mutant is killed by any example that fails: none has to be made smaller.
settings.register_profile(
    "mutants", deadline=None, max_examples=examples(80), derandomize=True, phases=(Phase.explicit, Phase.generate)
)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

# The garbage collector, which every query tree calls for, looks less often: each 700 objects cost a tenth of the CPU.
gc.set_threshold(25_000)

# A shell that runs the suite in the background has it ignore Ctrl-C, which programs that it starts inherit.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("SQLANON_DATA", ROOT.parent / "shared" / "data"))

UCI_QUASI_IDENTIFIERS = [
    "age", "workclass", "education", "marital_status", "occupation", "relationship", "race", "sex", "native_country",
]  # fmt: skip
UCI_COLUMNS = [*COLUMNS]
ARX_COLUMNS = [
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "salary-class",
]  # fmt: skip


TESTS = Path(__file__).parent
TIERS = ("full", "deep")
"""The folders of tests that run only if they are asked for, by ``-m`` or by name; see tests/README.md."""


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Run files that are named in this process; only whole folders are worth the start of workers."""
    return None if any(Path(argument).is_dir() for argument in config.args) else 0


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file of a tier that does not run. A file or folder on the command line is collected in any case."""
    if collection_path.parent != TESTS or not collection_path.is_dir():
        return None
    asked = {tier for tier in TIERS if tier in config.option.markexpr.split()}
    belongs = collection_path.name in asked if asked or collection_path.name in TIERS else True
    return None if belongs else True


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark a test by the folder of its tier, so that ``-m full`` selects it."""
    for tier in TIERS:
        if item.path.is_relative_to(TESTS / tier):
            item.add_marker(tier)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave what tier 2 marks as ``deep`` to tier 3, unless only files are named."""
    if "deep" in config.option.markexpr or not any(Path(argument).is_dir() for argument in config.args):
        return
    kept: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for item in items:
        is_left = item.get_closest_marker("deep") and not item.path.is_relative_to(TESTS / "deep")
        (left if is_left else kept).append(item)
    config.hook.pytest_deselected(items=left)
    items[:] = kept


def pytest_collection_finish() -> None:
    """Keep the garbage collector from looking at what stays, until all of it goes: bindings warn of what is left."""
    gc.freeze()


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with the macros alone, to be copied: a release into a table of one without them installs them, which
    takes longer than the run."""
    path = tmp_path_factory.mktemp("installed") / "w.duckdb"
    with sa.connect(path) as session:
        session.install()
    return path


@pytest.fixture(scope="module")
def made(request: pytest.FixtureRequest, installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The warehouse that the ``make_warehouse`` of a module makes, which nobody writes to."""
    path = Path(shutil.copy(installed, tmp_path_factory.mktemp("made")))
    request.module.make_warehouse(path).close()
    return path


@pytest.fixture
def warehouse(made: Path, tmp_path: Path) -> Path:
    """A copy of it, which is ``w.duckdb`` in the folder of the test."""
    return Path(shutil.copy(made, tmp_path))


@pytest.fixture
def session(request: pytest.FixtureRequest) -> Iterator[sa.Session]:
    """A session on the copy, or in memory if the module makes none; on one thread, since tests run on all cores."""
    makes_one = hasattr(request.module, "make_warehouse") or hasattr(request.module, "made")
    with sa.connect(request.getfixturevalue("warehouse") if makes_one else ":memory:", threads=1) as found:
        yield found


def data_folder(name: str) -> Path:
    """A folder of the data sets; the test is skipped where they are absent."""
    folder = DATA / name
    if not folder.is_dir():
        pytest.skip(f"{name} is not in {DATA}; set SQLANON_DATA")
    return folder


@pytest.fixture(scope="session")
def uci_adult(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """UCI Adult (32,561 rows) as table ``adult`` of a warehouse, with the nine taxonomies of spec/ola.md O1 and O3."""
    return make_adult(tmp_path_factory.mktemp("uci") / "adult.duckdb", data_folder("adult_uci"))


@pytest.fixture(scope="session")
def arx_adult(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """ARX's Adult (30,162 rows) as table ``adult`` of a warehouse, with ARX's nine taxonomies."""
    return make_adult(tmp_path_factory.mktemp("arx") / "adult.duckdb", data_folder("adult_arx"))


def make_adult(path: Path, folder: Path) -> Path:
    """One of the two as a warehouse, by its folder."""
    with sa.connect(path) as session:
        if folder.name == "adult_arx":
            columns, people = ARX_COLUMNS, session.connection.read_csv(str(folder / "adult.csv"), header=True, sep=";")
        else:
            source = str(folder / "adult.data")
            columns = UCI_QUASI_IDENTIFIERS
            people = session.connection.read_csv(source, header=False, sep=", ", names=UCI_COLUMNS)
        people.create("adult")
        for name in columns:
            session.taxonomies.load(name, folder / "hierarchies" / f"{name}.csv", source="adult")
    return path


@contextmanager
def reading(path: Path) -> Iterator[sa.Session]:
    """A session that reads a warehouse; on one thread, since the tests themselves run on all cores."""
    with sa.connect(path, read_only=True) as session:
        session.connection.execute("SET threads = 1")
        yield session


@pytest.fixture
def clinic() -> Iterator[sa.Session]:
    """A session on the twelve invented visits of fixtures/clinic.sql, in memory, without the macros."""
    with duckdb.connect() as connection:
        yield open_clinic(connection)


@pytest.fixture
def macros(clinic: sa.Session) -> None:
    """The macros in the database of the clinic, for tests that call them: to install them takes longer than a run."""
    clinic.install()


@pytest.fixture(scope="module")
def shared_clinic() -> Iterator[sa.Session]:
    """The same visits without the macros, for tests that leave them as they are."""
    with duckdb.connect(config={"threads": 1}) as connection:
        yield open_clinic(connection)


def open_clinic(connection: duckdb.DuckDBPyConnection) -> sa.Session:
    """A session on the visits and the taxonomies of fixtures/clinic.sql; a run needs no macros to be installed."""
    for statement in schema_statements():
        connection.execute(statement)
    connection.execute((ROOT / "fixtures" / "clinic.sql").read_text())
    return sa.connect(connection)


@contextmanager
def copy_of(warehouse: Path, **configuration: Any) -> Iterator[sa.Session]:
    """A session in memory on a copy of a whole warehouse, which takes a tenth of the time of making it."""
    with duckdb.connect(config={"threads": 1, **configuration}) as connection:
        connection.execute(f"ATTACH '{warehouse}' AS made (READ_ONLY); COPY FROM DATABASE made TO memory; DETACH made")
        yield sa.connect(connection)


def clinic_policy(*privacy: Any, **options: Any) -> sa.Policy:
    """A policy for the visits."""
    roles = {"sensitive": ["diagnosis"], "identifiers": ["id"], **options}
    return sa.Policy(quasi_identifiers=["age", "sex", "zip"], privacy=privacy, **roles)


def clinic_values(text: str) -> list[str]:
    """The cell values of the clinic that a text holds as words: the digits of a duration or a hash are not a code."""
    return re.findall(r"(?<![\w.])(?:asthma|angina|flu|10115|12051)(?!\w)", text)
