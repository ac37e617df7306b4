"""What leaves with a private release is a function of what was drawn, and of nothing else of the rows.

Two neighbouring sources are released with the same draws. Everything must be equal to the byte then: the rows and their
files, their names in folders and stores, the notes and tables beside them, the record, the report, the guarantee, the
page, and what commands print. What stays with the custodian is in none of them: the ledger and the list of releases.
"""

import itertools
import json
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import fs

import sqlanon as sa
from sqlanon.chance.accountant import RhoCharge
from sqlanon.chance.exact import Integers
from sqlanon.lakes import store
from sqlanon.ledger.ledger import WarehouseLedger
from sqlanon.model.policy import linked_policy
from tests.commands import sqlanon
from tests.effort import EFFORT, some
from tests.engines import engine_of
from tests.fixed_noise import FixedNoise

ROWS = [(place, 20 + 10 * (place % 4), "fm"[place % 2], ["flu", "gout"][place % 3 > 0]) for place in range(24)]
ADDED = [(99, 30, "m", "gout")] * 3
"""Rows like others: which cells there are is not what these neighbours differ by."""

RENAMED = [(7_000 if place == 5 else place, *row) for place, *row in reversed(ROWS)]
"""The same rows in another order, with another identifier in one of them."""

NUMERIC = ("diffgen", "synthetic")
"""The methods that take ages as numbers, whose fractions and large ones they know then."""

PLACES = range(24)
COLUMNS = ["id", "age", "sex", "illness"]
OTHER_TYPES = [
    ("csv", [(place, 20 + place, "f", f"2024-01-{place + 1:02}") for place in PLACES], ("x", 30.5, "m", "gout")),
    ("csv", [(place, 20 + place, "f", None) for place in PLACES], (99, 10**20, None, "gout")),
    ("frame", [(place, 20 + place, "f", None) for place in PLACES], ("x", 30.5, "m", "gout")),
    ("frame", [(place, 20 + place, "m", place % 2) for place in PLACES], (None, None, "f", 0.5)),
]
"""Rows, and one that gives their columns other types where these are guessed: of numbers, dates, categories or NULL."""

BUDGET = sa.Budget("1/2", "1e-3")
AGES = {"kind": "intervals", "widths": [10, 40], "minimum": 20, "maximum": 59}
SEXES = {"kind": "flat", "values": ["f", "m"]}
METHODS = {
    "histogram": sa.Histogram(budget=BUDGET, node={"age": 1, "sex": 0}),
    "ipa": sa.IPA(budget=BUDGET),
    "epsilon-safe": sa.EpsilonSafe(k=3, beta="1/2"),
    "diffgen": sa.DiffGen(budget=sa.Budget("1/2"), specializations=2, numeric={"age": (20, 60)}),
    "synthetic": sa.Synthetic(budget=BUDGET, rows=20, numeric={"age": (20, 60, 10)}),
}
SOURCES = ("table", "people.csv", "people.parquet", "frame", "lake/*.parquet")
STORE, HANDED = "s3://bucket/out/", "handed.released"
TARGETS = ("released", "released.csv", "released.parquet", HANDED, STORE)
AS_NAMED = ("released", HANDED, STORE)
"""The targets that are not in the folder of a run by their names."""

READ = {"out/": "'{}/out/**/*.parquet'", STORE: "'{}/bucket/out/*/*.parquet'"}
"""How the rows of folders and stores are read."""

HEADERS = {".duckdb": 4096}
"""Bytes of files that are drawn for each, by suffix: the first block has the identifier of a database."""

SECONDS = re.compile(r'\b(encode|join|search|release|verify)("?: )[\d.e-]+')
"""What a page has of the machine, and what commands print."""


def policy(
    name: str, illnesses: Sequence[str] = ("flu", "gout", "asthma"), individual: str | None = None, **settings: Any
) -> sa.Policy:
    method = METHODS[name].model_copy(update=settings)
    if name in NUMERIC:
        taxonomies = {"sex": SEXES, "illness": {"kind": "flat", "values": illnesses}}
    else:
        taxonomies = {"sex": SEXES, "age": AGES}
    if name == "epsilon-safe":
        given = {"identifiers": ["id", "illness"]}
    else:
        given = {"identifiers": ["id"], "sensitive": ["illness"]}
    given |= {"individual": individual, "release": {"recipient": "a university", "purpose": "a study"}}
    return sa.Policy(quasi_identifiers=["age", "sex"], method=method, taxonomies=taxonomies, **given)


def of_individuals(name: str) -> sa.Policy:
    """With two rows of each individual, where the method counts more than one."""
    return policy(name, individual="id", rows_per_individual=1 if name == "epsilon-safe" else 2)


SETS = sa.Policy(
    quasi_identifiers=["age", "illnesses"],
    sensitive=["sex"],
    identifiers=["id"],
    method=METHODS["diffgen"].model_copy(update={"sets": ("illnesses",), "threshold": 0, "set_threshold": 0}),
    taxonomies={"sex": SEXES, "illnesses": {"kind": "flat", "values": ["flu", "gout", "asthma"]}},
)


class Absorbing(np.ndarray[Any, np.dtype[np.int64]]):
    """Noise that gives the same sum with any count."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **_: Any) -> Integers:
        assert (ufunc, method) == (np.add, "__call__")
        return np.arange(self.size, dtype=np.int64).reshape(self.shape) % 3


class Same(FixedNoise):
    """The same noise for all counts, with which all are shown."""

    def __init__(self) -> None:
        super().__init__(50)


class Unseen(FixedNoise):
    """Chance under which noisy counts do not depend on counts, and no row is in a sample."""

    def __init__(self) -> None:
        super().__init__(-(10**6))

    def discrete_gaussian(self, size: int, charge: RhoCharge, *, sensitivity: int = 1) -> Integers:
        return super().discrete_gaussian(size, charge, sensitivity=sensitivity).view(Absorbing)

    def thinned(self, counts: Integers, probability: Fraction) -> Integers:
        return np.zeros_like(counts)


def people(connection: duckdb.DuckDBPyConnection, rows: Sequence[tuple[Any, ...]], place: str) -> pa.Table:
    """The rows as a table, as files, as a lake, and as a frame; and a database to hand over."""
    connection.execute(f"ATTACH '{place}/made/handed.duckdb' AS handed")
    connection.execute("CREATE TABLE people (id INTEGER, age INTEGER, sex VARCHAR, illness VARCHAR)")
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", rows)
    Path(f"{place}/lake").mkdir()
    for path in ("people.csv", "people.parquet", "lake/a.parquet"):
        connection.execute(f"COPY people TO '{place}/{path}'")
    return connection.sql("FROM people").to_arrow_table()


def with_sets(connection: duckdb.DuckDBPyConnection, rows: Sequence[tuple[Any, ...]], place: str) -> None:
    """The rows as a table with illnesses as sets: of one, of two, and empty ones."""
    people(connection, rows, place)
    connection.execute(
        "CREATE OR REPLACE TABLE people AS"
        " SELECT id, age, sex, list_distinct(['flu', illness][: age % 3 + 1]) AS illnesses FROM people"
    )


def untyped(connection: duckdb.DuckDBPyConnection, rows: Sequence[tuple[Any, ...]], place: str) -> pd.DataFrame:
    """The rows as a CSV file, and as a frame with a column of categories."""
    connection.execute("CREATE TABLE people (id INTEGER)")
    lines = [COLUMNS, *(["" if cell is None else str(cell) for cell in row] for row in rows)]
    Path(f"{place}/people.csv").write_text("".join(",".join(line) + "\n" for line in lines))
    return pd.DataFrame(rows, columns=COLUMNS).astype({"sex": "category"})


@contextmanager
def drawing(chance: Callable[[], FixedNoise]) -> Iterator[None]:
    """All draws are given, as are the hash of the charge and the time, which names a run in a store."""
    with (
        mock.patch.object(WarehouseLedger, "head", return_value="ab" * 32),
        mock.patch("sqlanon.lakes.store.time", time_ns=lambda: 1),
        mock.patch("sqlanon.methods.chance.OpenDPSource", chance),
    ):
        yield


@pytest.fixture
def folder(installed: Path, tmp_path: Path) -> Path:
    """One with a warehouse that has the macros, which each release gets a copy of."""
    shutil.copy(installed, tmp_path)
    return tmp_path


# More than six parameters: rows, how they are given, and how they are released.
def released(
    folder: Path,
    rows: Sequence[tuple[Any, ...]],
    name: str,
    source: str,
    into: str,
    *,
    wanted: sa.Policy | None = None,
    make: Callable[[duckdb.DuckDBPyConnection, Sequence[tuple[Any, ...]], str], Any] = people,
    read_only: bool = False,
    **options: Any,
) -> dict[str, Any]:
    """All that leaves with a release, by what it is; and as "kept" the ledger, the list of releases, and what waits."""
    with TemporaryDirectory(dir=folder) as place:
        made, kept = Path(place, "made"), Path(place, "kept")
        for each in (kept, made, made / "bucket"):
            each.mkdir()
        shutil.copy(folder / "w.duckdb", kept)
        stored = fs.SubTreeFileSystem(str(made), fs.LocalFileSystem())
        opened = partial(sa.connect, kept / "w.duckdb", ledger=kept / "l.duckdb")
        with mock.patch.object(store, "opened", lambda url: (stored, url.removeprefix("s3://"))), ExitStack() as stack:
            session = stack.enter_context(opened())
            here = {"table": "people", "frame": make(session.connection, rows, place)}
            given, target = here.get(source, f"{place}/{source}"), into if into in AS_NAMED else f"{made}/{into}"
            if read_only:  # which a warehouse takes that has noted its ledger
                session.ledger.cap(given, sa.Budget(2, "1/2"))
                session.close()
                session = stack.enter_context(opened(read_only=True))
            before = {*Path(place).rglob("*")}
            if into == "out/":
                options |= {"partition_by": "sex", "rows_per_file": 100}
            dataset = "people" if source == "frame" else None
            release = session.anonymize(given, wanted or policy(name), target, dataset=dataset, **options)
            read = READ.get(into, into if into in AS_NAMED else f"'{target}'").format(made)
            waiting = [json.loads(path.read_text()) for path in kept.rglob("*.row")]
            listed = session.releases.list().releases if waiting else ()
            stays = WarehouseLedger(engine_of(session), session.ledger.file).entries(), listed, waiting
            found = {
                "report": release.report.model_dump(mode="json", exclude={"seconds"}),
                "guarantee": release.guarantee.model_dump(mode="json"),
                "page": SECONDS.sub("", release.report.to_html()),
                "record": session.provenance(target),
                "types": session.connection.execute(f"DESCRIBE FROM {read}").fetchall(),
                "rows": session.connection.execute(f"FROM {read}").fetchall(),
                "paths": sorted(map(str, {*Path(place).rglob("*")} - before - {*kept.rglob("*")})),
            }
            session.connection.execute("DETACH DATABASE IF EXISTS handed")
        files = [path for path in sorted(made.rglob("*")) if path.is_file()]
        found["files"] = {str(path): path.read_bytes()[HEADERS.get(path.suffix, 0) :] for path in files}
        return {what: str(value).replace(place, "<folder>") for what, value in found.items()} | {"kept": stays}


@pytest.mark.repeated
@pytest.mark.parametrize("name", METHODS)
def test_it_is_a_function_of_what_was_drawn(name: str, folder: Path) -> None:
    """Whatever the source; each target is one of some source's. The hash of the charge is looked at below.

    Sources are read and targets written alike by methods that count cells, and by those that count points.
    """
    given = {"people.parquet": of_individuals(name)}
    cases = [("people.csv", "out/", RENAMED, Same)]
    pairs = [*zip(SOURCES, TARGETS, strict=True)]
    most = pairs if EFFORT >= 1 or name in ("ipa", "synthetic") else pairs[::4]
    cases += [(*pair, [*RENAMED, *ADDED], Unseen) for pair in most]
    for source, into, rows, chance in cases:
        with drawing(chance):
            one, other = (released(folder, each, name, source, into, wanted=given.get(source)) for each in (ROWS, rows))
        assert "a study" in one["record"]
        for what in one.keys() - {"kept"}:
            assert one[what] == other[what], (source, into, what)


def test_it_is_one_for_sets_and_the_cut_beside_them(folder: Path) -> None:
    options = {"wanted": SETS, "make": with_sets, "tables": {"cuts": "handed.cuts"}}
    for rows, chance in ((RENAMED, Same), ([*RENAMED, *ADDED], Unseen)):
        with drawing(chance):
            one, other = (released(folder, each, "diffgen", "table", HANDED, **options) for each in (ROWS, rows))
        for what in one.keys() - {"kept"}:
            assert one[what] == other[what], (chance, what)
        assert chance is Unseen or "['flu', 'gout']" in one["rows"]


@pytest.mark.repeated
@pytest.mark.parametrize("name", METHODS)
def test_no_row_decides_types(name: str, folder: Path) -> None:
    """A row makes other types of the columns of a CSV file or a frame where these are guessed, and its own values."""
    illnesses = {str(row[3]) for _, rows, added in OTHER_TYPES for row in (*rows, added) if row[3] is not None}
    settings = {"outside": "drop", "nulls": ("age", "illness")} if name == "synthetic" else {}
    wanted = policy(name, sorted(illnesses), **settings)
    with drawing(Unseen):
        every = EFFORT >= 1 or name in ("ipa", "synthetic")
        cases = OTHER_TYPES if every else OTHER_TYPES[3:]
        for (source, rows, row), into in zip(cases, itertools.cycle(("released.parquet", "released"))):
            added = row if name in NUMERIC else (row[0], rows[0][1], *row[2:])
            given = "people.csv" if source == "csv" else source
            one, other = (
                released(folder, each, name, given, into, wanted=wanted, make=untyped)
                for each in (rows, [*rows, added])
            )
            for what in one.keys() - {"kept"}:
                assert one[what] == other[what], (source, added, what)


COMMANDS = {
    "histogram": [
        "report released.csv --public --json --out page.html",
        "verify released.csv --policy p.toml --without-provenance",
    ],
    "ipa": ["report released.csv --public", "verify released.csv --policy p.toml --json"],
    "epsilon-safe": ["report released.csv --json", "contract released.csv --json"],
    "diffgen": ["report released.csv --out page.html", "contract released.csv --out contract.yaml"],
    "synthetic": ["verify released.csv --policy p.toml", "report released.csv --public --out page.html"],
}
"""Commands on a release, by its method."""


@pytest.mark.repeated
@pytest.mark.parametrize("name", some(METHODS, "ipa", "diffgen", "synthetic"))
def test_so_is_what_commands_print(name: str, tmp_path: Path) -> None:
    """Each method's report is printed by ``run``, in words or as JSON; the others differ by method, to be few."""
    run = "run people.csv --into released.csv --policy p.toml --db kept/w.duckdb --ledger kept/l.duckdb"
    commands = [run + " --json" * (name in NUMERIC), *COMMANDS[name]]
    found = []
    for rows in (ROWS, [*RENAMED, *ADDED]):
        place = tmp_path / "place"
        for folder in ("kept", "made"):
            (place / folder).mkdir(parents=True)
        (place / "p.toml").touch()
        with sa.connect(place / "kept/w.duckdb") as session:
            people(session.connection, rows, str(place))
        before = {*place.rglob("*")}
        with drawing(Unseen), mock.patch.object(linked_policy, "given_policy", return_value=policy(name)):
            done = [sqlanon(*command.split(), folder=place) for command in commands]
        assert [each.returncode for each in done] == [0, 0, 0]
        made = sorted({*place.rglob("*")} - before - {*place.joinpath("kept").rglob("*")})
        files = [path.read_text() for path in made]
        found.append((made, [SECONDS.sub("", text) for text in map(str, (done, files))]))
        shutil.rmtree(place)
    assert found[0] == found[1]


SYNTACTIC = {
    "full-domain": {"maximum_levels": {"age": 1, "sex": 0}},
    "local-recoding": {"method": sa.LocalRecoding(suppression_limit=0.1), "maximum_levels": {"age": 1, "sex": 0}},
    "masked": {"maximum_levels": {"age": 1, "sex": 0}, "suppression": "mask"},
}


@pytest.mark.parametrize("name", SYNTACTIC)
def test_a_public_report_of_other_methods_is_a_function_of_the_release(name: str) -> None:
    """Rows that are left out differ, and the release does not: nothing of them is in the public edition."""
    sexes = {"kind": "flat", "values": ["f", "m", "d", "x"]}
    wanted = sa.Policy(
        quasi_identifiers=["age", "sex"],
        sensitive=["illness"],
        identifiers=["id"],
        privacy=[sa.KAnonymity(3)],
        taxonomies={"age": AGES, "sex": sexes},
        **({"suppression_limit": 0.1} if name != "local-recoding" else {}),
        **SYNTACTIC[name],
    )
    found = []
    for left_out in ([(99, 25, "d", "measles")] * 2, [(7_000, 45, "x", "gout"), (8_000, 35, "d", "cough")]):
        with sa.connect() as session:
            session.connection.execute("CREATE TABLE people (id INTEGER, age INTEGER, sex VARCHAR, illness VARCHAR)")
            session.connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", [*ROWS, *left_out])
            session.anonymize("people", wanted, "released")
            rows = session.connection.execute("SELECT age, sex FROM released WHERE sex <> '*'").fetchall()
            report = session.report("released", wanted, source="people", edition="public")
            beside = session.report("released", wanted, source="people").to_html()
            found.append(
                (sorted(rows), re.sub("[0-9a-f]{64}", "", report.model_dump_json() + report.to_html()), beside)
            )
    assert len(found[0][0]) == len(ROWS)
    assert found[0][:2] == found[1][:2]
    assert found[0][2] != found[1][2]


@pytest.mark.parametrize("name", METHODS)
def test_what_stays_with_the_custodian_is_in_nothing_that_leaves(name: str, folder: Path) -> None:
    """The hash of the charge has a nonce that nobody sees; a row of the list of releases has the time of its run."""
    found = released(folder, ROWS, name, "people.csv", "released.parquet", read_only=True)
    entries, listed, waiting = found.pop("kept")
    assert json.loads(found["record"])["sqlanon"]["ledger_sha256"] == entries[-1].sha256
    for entry in entries:
        assert re.fullmatch("[0-9a-f]{64}", entry.nonce)
        assert replace(entry, nonce=None).seal() != entry.sha256
    secrets = {entry.nonce for entry in entries}
    assert len(secrets) == len(entries)
    secrets |= {source["fingerprint"] for entry in entries for source in entry.sources or ()}
    assert [each.made_at.isoformat() for each in listed] == [each["made_at"] for each in waiting]
    secrets |= {time for each in listed for time in (str(each.made_at), each.made_at.isoformat())}
    secrets |= {str(entry.spent_at) for entry in entries}
    assert all(secrets)
    assert [secret for secret in secrets for text in found.values() if secret in text] == []
    assert "people" not in found["record"] + found["files"], "what the release was made from"
