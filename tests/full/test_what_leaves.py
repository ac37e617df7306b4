"""What leaves with a private release is a function of what was drawn, and of nothing else of the rows.

Two neighbouring sources are released with the same draws. Everything must be equal to the byte then: the rows and their
files, the names and sizes of these, the record, the report, the guarantee and the page.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import duckdb
import numpy as np
import pytest

import sqlanon as sa
from sqlanon.ledger.ledger import WarehouseLedger
from sqlanon.mechanisms.accountant import RhoCharge
from sqlanon.mechanisms.source import Integers
from tests.engines import engine_of
from tests.fixed_noise import FixedNoise

ROWS = [(place, 20 + 10 * (place % 4), "fm"[place % 2], ["flu", "gout"][place % 3 > 0]) for place in range(24)]
ADDED = (99, 30, "m", "gout")
"""A row like others: which cells there are is not what these neighbours differ by."""

RENAMED = [(7_000 if place == 5 else place, *row) for place, *row in ROWS]
"""The same rows with another identifier in one of them."""

BUDGET = sa.Budget("1/2", "1e-3")
AGES = {"kind": "intervals", "widths": [10, 40], "minimum": 20, "maximum": 59}
TAXONOMIES = {
    "age": AGES,
    "sex": {"kind": "flat", "values": ["f", "m"]},
    "illness": {"kind": "flat", "values": ["flu", "gout", "asthma"]},
}
METHODS = {
    "histogram": sa.Histogram(budget=BUDGET, node={"age": 1, "sex": 0}),
    "ipa": sa.IPA(budget=BUDGET),
    "epsilon-safe": sa.EpsilonSafe(k=3, beta="1/2"),
    "diffgen": sa.DiffGen(budget=sa.Budget("1/2"), specializations=2, numeric={"age": (20, 60)}),
    "synthetic": sa.Synthetic(budget=BUDGET, rows=20, numeric={"age": (20, 60, 10)}),
}
SOURCES = ("table", "people.csv", "people.parquet", "frame", "lake/*.parquet")
TARGETS = ("released", "released.parquet", "released.csv", "out/")
READ = {"released": "{}", "out/": "'{}*.parquet'"} | dict.fromkeys(("released.parquet", "released.csv"), "'{}'")
"""How the rows of targets are read."""

SECONDS = re.compile(r"\b(encode|join|search|release|verify): [\d.e-]+")
"""What a page has of the machine."""


def policy(name: str) -> sa.Policy:
    method = METHODS[name]
    taxonomies = {key: kind for key, kind in TAXONOMIES.items() if key != "age" or name not in ("diffgen", "synthetic")}
    if name not in ("diffgen", "synthetic"):
        taxonomies.pop("illness")
    if name == "epsilon-safe":
        given = {"identifiers": ["id", "illness"]}
    else:
        given = {"identifiers": ["id"], "sensitive": ["illness"]}
    return sa.Policy(quasi_identifiers=["age", "sex"], method=method, taxonomies=taxonomies, **given)


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


def released(folder: Path, rows: Sequence[tuple[Any, ...]], name: str, source: str, into: str) -> dict[str, Any]:
    """All that leaves with a release, by what it is, and the rows of the ledger."""
    with (
        TemporaryDirectory(dir=folder) as place,
        sa.connect(f"{place}/w.duckdb", ledger=f"{place}/l.duckdb") as session,
    ):
        people(session.connection, rows, place)
        read = {"table": "people", "frame": session.connection.sql("FROM people").to_arrow_table()}
        target = into if into == "released" else f"{place}/{into}"
        given = read.get(source, f"{place}/{source}")
        release = session.anonymize(given, policy(name), target, dataset="people" if source == "frame" else None)
        published = Path(target)
        files = [published, *published.rglob("*")] if into != "released" else []
        ledger = WarehouseLedger(engine_of(session), session.ledger.file).entries()
        found = {
            "report": release.report.model_dump(mode="json", exclude={"seconds"}),
            "guarantee": release.guarantee.model_dump(mode="json"),
            "page": SECONDS.sub("", release.report.to_html()),
            "record": session.provenance(target),
            "rows": session.connection.execute(f"FROM {READ.get(into, target).format(target)}").fetchall(),
            "files": {str(path): path.read_bytes() for path in sorted(files) if path.is_file()},
        }
        return {what: str(value).replace(place, "<folder>") for what, value in found.items()} | {"ledger": ledger}


def people(connection: duckdb.DuckDBPyConnection, rows: Sequence[tuple[Any, ...]], place: str) -> None:
    """The rows as a table, as files and as a lake."""
    connection.execute("CREATE TABLE people (id INTEGER, age INTEGER, sex VARCHAR, illness VARCHAR)")
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", rows)
    Path(f"{place}/lake").mkdir()
    for path in ("people.csv", "people.parquet", "lake/a.parquet"):
        connection.execute(f"COPY people TO '{place}/{path}'")


@pytest.mark.parametrize("name", METHODS)
def test_it_is_a_function_of_what_was_drawn(name: str, tmp_path: Path) -> None:
    """Whatever the source; each target is one of some source's. The hash of the charge is looked at below."""
    cases = [("people.csv", "released.parquet", RENAMED, Same)]
    cases += [(source, into, [*RENAMED, ADDED], Unseen) for source, into in zip(SOURCES, itertools.cycle(TARGETS))]
    with mock.patch.object(WarehouseLedger, "head", return_value="ab" * 32):
        for source, into, rows, chance in cases:
            with mock.patch("sqlanon.methods.shared.private.chance.OpenDPSource", chance):
                one, other = (released(tmp_path, each, name, source, into) for each in (ROWS, rows))
            assert one["record"]
            for what in one.keys() - {"ledger"}:
                assert one[what] == other[what], (source, into, what)


@pytest.mark.parametrize("name", METHODS)
def test_the_hash_of_its_charge_has_a_nonce_that_nobody_sees(name: str, tmp_path: Path) -> None:
    found = released(tmp_path, ROWS, name, "people.csv", "released.parquet")
    entries = found.pop("ledger")
    assert json.loads(found["record"])["sqlanon"]["ledger_sha256"] == entries[-1].sha256
    for entry in entries:
        assert re.fullmatch("[0-9a-f]{64}", entry.nonce)
        assert replace(entry, nonce=None).seal() != entry.sha256
    secrets = {entry.nonce for entry in entries}
    assert len(secrets) == len(entries)
    secrets |= {source["fingerprint"] for entry in entries for source in entry.sources or ()}
    assert all(secrets)
    assert [secret for secret in secrets for text in found.values() if secret in text] == []
