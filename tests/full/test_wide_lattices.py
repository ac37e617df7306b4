"""Lattices too large to be enumerated: a verified release within the time limit, and what is proven of it."""

import math
from collections.abc import Iterator

import duckdb
import pytest

import sqlanon as sa
from sqlanon.model.methods.full_domain import HOLD_EVERY_NODE

NAMES = [f"q{position:02}" for position in range(15)]
NODES = 4**15

# Most rows are close to one of six prototypes, so that the columns are correlated.
COLUMN = """
CASE WHEN hash(row, {seed}) % 100 < 75 THEN hash(hash(row, 'prototype') % 6, {seed}) % 27
ELSE least(hash(row, {seed}, 'a') % 27, hash(row, {seed}, 'b') % 27) END AS {name}
"""
TAXONOMY = [(str(value), f"a{value // 3}", f"b{value // 9}", "*") for value in range(27)]


@pytest.fixture(scope="module")
def wide() -> Iterator[sa.Session]:
    """Table ``wide``: 5,000 rows, 15 columns with taxonomies of four levels."""
    with duckdb.connect() as connection:
        session = sa.connect(connection)
        columns = ", ".join(COLUMN.format(seed=seed, name=name) for seed, name in enumerate(NAMES))
        connection.execute(f"CREATE TABLE wide AS SELECT {columns} FROM range(5000) AS rows (row)")
        session.taxonomies.load_all(dict.fromkeys(NAMES, sa.Taxonomy.from_rows(TAXONOMY)))
        yield session


def policy(names: list[str] = NAMES, search: str = "optimal", **options: object) -> sa.Policy:
    others = [name for name in NAMES if name not in names]
    return sa.Policy(
        quasi_identifiers=names,
        identifiers=others,
        privacy=[sa.KAnonymity(5)],
        suppression_limit=0.05,
        search=search,
        **{"quality": sa.Entropy(), **options},
    )


def test_the_heuristics_work_on_any_lattice(wide: sa.Session) -> None:
    report = wide.anonymize("wide", policy(search="datafly"), into="walked", replace=True).report
    assert (report.lattice_nodes, report.proven_optimal) == (NODES, False)
    assert report.gap is not None
    assert math.isfinite(report.gap)


def test_searches_and_tables_of_every_node_are_refused(wide: sa.Session) -> None:
    for search in sorted(HOLD_EVERY_NODE - {"inverse-ola"}):
        with pytest.raises(
            sa.PolicyError, match=f'1,073,741,824 nodes.*"{search}" can hold: take the search "optimal"'
        ):
            wide.anonymize("wide", policy(search=search), into="never")
    with pytest.raises(sa.PolicyError, match='objective "privacy" can hold: use fewer'):
        wide.anonymize("wide", policy(objective="privacy", max_loss=0.5), into="never")
    with pytest.raises(sa.PolicyError, match="a lattice table can hold: use fewer"):
        wide.lattice("wide", policy())
