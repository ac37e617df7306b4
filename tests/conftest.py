"""Shared fixtures: the Adult data sets, read where SQLANON_DATA says, and a small clinic warehouse."""

from __future__ import annotations

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

# A shell that runs the suite in the background has it ignore Ctrl-C, which programs that it starts inherit.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("SQLANON_DATA", ROOT.parent / "shared" / "data"))

UCI_QUASI_IDENTIFIERS = [
    "age",
    "workclass",
    "education",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native_country",
]
UCI_COLUMNS = [*COLUMNS]
ARX_COLUMNS = [
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
]


PROPERTIES_ON_EVERY_LINE = (
    "test_catalog_macros.py",
    "test_comparison_macros.py",
    "test_cuts.py",
    "test_longitudinal.py",
    "test_macros.py",
    "test_pseudonyms.py",
    "test_releases.py",
)
"""Those of macros and of whole releases; the examples of the others have other rows, but the SQL of other tests."""

RUNS_ON_ONE_LINE = (
    "test_a_year_of_parts.py",
    "test_adult_synthetic_bounds.py",
    "test_declared_sensitivities.py",
    "test_diffgen.py",
    "test_earlier_releases.py",
    "test_epsilon_safe.py",
    "test_events.py",
    "test_explorer.py",
    "test_far_cells.py",
    "test_far_rows.py",
    "test_findings.py",
    "test_fit.py",
    "test_h_ceiling.py",
    "test_honest_releases.py",
    "test_kinds_of_tampering.py",
    "test_large_ranges.py",
    "test_ledger_in_rho.py",
    "test_local_partitions.py",
    "test_local_recoding.py",
    "test_node_audits.py",
    "test_notes.py",
    "test_other_releases.py",
    "test_own_taxonomies.py",
    "test_private_runs.py",
    "test_query_workloads.py",
    "test_relaxations.py",
    "test_release_reports.py",
    "test_relocation.py",
    "test_spark_kills.py",
    "test_spark_rows.py",
    "test_spark_stores.py",
    "test_suggest.py",
    "test_synthetic.py",
    "test_synthetic_audits.py",
    "test_tampered_releases.py",
    "test_time_limits.py",
    "test_top_down.py",
    "test_unknown_actions.py",
)
"""Whole runs: one of each kind is in tests/golden, and the macros in tests/sql, on every line."""

FAST_FOLDERS = ("architecture", "golden", "unit")
"""Where all tests but the deep ones are fast."""


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Files that are named run here; only whole folders are worth the start of workers."""
    return None if _runs_a_folder(config) else 0


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests by their folders, and leave out the deep ones unless asked for them, by ``-m`` or by their file."""
    for item in items:
        if item.path.parent.name == "property":
            item.add_marker(pytest.mark.property)
            if item.path.name not in PROPERTIES_ON_EVERY_LINE:
                item.add_marker(pytest.mark.one_line)
        elif item.path.name in RUNS_ON_ONE_LINE:
            item.add_marker(pytest.mark.one_line)
        if set(FAST_FOLDERS) & set(item.path.parts) and item.get_closest_marker("deep") is None:
            item.add_marker(pytest.mark.fast)
    if config.option.markexpr or not _runs_a_folder(config):
        return
    deep = [item for item in items if item.get_closest_marker("deep") is not None]
    config.hook.pytest_deselected(items=deep)
    items[:] = [item for item in items if item.get_closest_marker("deep") is None]


def _runs_a_folder(config: pytest.Config) -> bool:
    return any(Path(argument).is_dir() for argument in config.args)


def pytest_collection_finish() -> None:
    """What is imported by now stays: without it the garbage collector, which every query tree calls for, has less to
    go through each time."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """At the end all of it goes: else the database's bindings warn of what is left."""
    gc.unfreeze()


@pytest.fixture(scope="module")
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The warehouse that the ``make_warehouse`` of a module makes, which nobody writes to."""
    path = tmp_path_factory.mktemp("made") / "w.duckdb"
    request.module.make_warehouse(path).close()
    return path


@pytest.fixture
def warehouse(made: Path, tmp_path: Path) -> Path:
    """A copy of it, which is ``w.duckdb`` in the folder of the test."""
    return Path(shutil.copy(made, tmp_path))


@pytest.fixture
def session(warehouse: Path) -> Iterator[sa.Session]:
    """A session on the copy."""
    with sa.connect(warehouse) as found:
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
    folder = data_folder("adult_uci")
    path = tmp_path_factory.mktemp("uci") / "adult.duckdb"
    with duckdb.connect(str(path)) as connection:
        relation = connection.read_csv(str(folder / "adult.data"), header=False, sep=", ", names=UCI_COLUMNS)
        relation.create("adult")
    _load_taxonomies(path, folder / "hierarchies", UCI_QUASI_IDENTIFIERS)
    return path


@pytest.fixture(scope="session")
def arx_adult(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """ARX's Adult (30,162 rows) as table ``adult`` of a warehouse, with ARX's nine taxonomies."""
    folder = data_folder("adult_arx")
    path = tmp_path_factory.mktemp("arx") / "adult.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.read_csv(str(folder / "adult.csv"), header=True, sep=";").create("adult")
    _load_taxonomies(path, folder / "hierarchies", ARX_COLUMNS)
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


def _load_taxonomies(path: Path, folder: Path, attributes: list[str]) -> None:
    with sa.connect(path) as session:
        for attribute in attributes:
            session.taxonomies.load(attribute, folder / f"{attribute}.csv", source="adult")
