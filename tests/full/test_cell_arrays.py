"""Cells that the database hands over as arrays: keys of several words, individuals, weights, labels and losses."""

from __future__ import annotations

from collections import Counter

import duckdb
import numpy as np
import pytest

import sqlanon as sa
from sqlanon.binding.prepare import prepare
from sqlanon.engines.duckdb import OpenedDatabase
from sqlanon.methods.local.arrays import CellArrays, cell_arrays
from sqlanon.methods.shared.cells import encode_table

WIDTH, VALUES, ROWS = 10, 100, 200
NAMES = [f"q{number}" for number in range(WIDTH)]
TAXONOMY = [[str(value), f"{value // 10}x", "*"] for value in range(VALUES)]

IN_ORDER = [-1, *sorted(range(VALUES), key=str)]
"""The values by their numbers, in the order of their texts: the first one stands for NULL."""

Table = list[list[int]]
"""Rows of ten quasi-identifiers, a sensitive value, a weight and an individual."""


@pytest.fixture(scope="module")
def table() -> Table:
    """Four rows of each of fifty combinations, whose keys take two words."""
    random = np.random.default_rng(1)
    rows = np.concatenate([random.integers(0, VALUES, (ROWS // 4, WIDTH))] * 4)
    others = [random.integers(0, 3, ROWS), random.integers(1, 5, ROWS), random.integers(0, 9, ROWS)]
    found: Table = np.column_stack([rows, *others]).tolist()
    return found


@pytest.fixture(scope="module")
def cells(table: Table) -> CellArrays:
    """The table as arrays."""
    connection = duckdb.connect(config={"threads": 1})
    session = sa.connect(connection)
    session.taxonomies.load_all({name: sa.Taxonomy.from_rows(TAXONOMY) for name in NAMES})
    columns = ", ".join(f"{name} INTEGER" for name in (*NAMES, "s", "w"))
    connection.execute(f"CREATE TABLE visits ({columns}, person VARCHAR)")
    places = ", ".join("?" * (WIDTH + 3))
    connection.executemany(f"INSERT INTO visits VALUES ({places})", table)
    policy = sa.Policy(
        quasi_identifiers=NAMES,
        sensitive=["s"],
        insensitive=["w"],
        identifiers=["person"],
        privacy=[sa.KAnonymity(2), sa.DistinctLDiversity("s", l=2)],
        individual="person",
        row_weight="w",
    )
    engine = OpenedDatabase(connection, owned=True).engine()
    bound = prepare(engine, engine.resolve("visits"), policy)
    return cell_arrays(engine, encode_table(engine, bound, label_losses=()))


def test_cells_are_the_combinations_of_the_table(table: Table, cells: CellArrays) -> None:
    assert cells.individuals is not None
    assert len(cells.keys) == 2
    assert len(cells.firsts) == len({tuple(row[:WIDTH]) for row in table})
    weights: Counter[tuple[int, ...]] = Counter()
    for row in table:
        weights[*row[:WIDTH], row[-3], row[-1]] += row[-2]
    values = [[IN_ORDER[value] for value in of_cell] for of_cell in cells.values.T]
    distinct = zip(values, cells.codes[0].tolist(), cells.individuals.tolist(), strict=True)
    found = [(*of_cell, code, person) for of_cell, code, person in distinct]
    rows = Counter((*row[:WIDTH], row[-3], row[-1]) for row in table)
    assert dict(zip(found, cells.rows.tolist(), strict=True)) == rows
    shares = np.array([weights[cell] for cell in found]) / sum(weights.values())
    assert np.allclose(cells.mass / cells.mass.sum(), shares)
