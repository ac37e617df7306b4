"""The losses of every level against the oracle, on the cells of random tables."""

from functools import cache

import duckdb
import pytest
from hypothesis import given, settings

import sqlanon as sa
from sqlanon.binding.loading import TaxonomyLoad, load
from sqlanon.binding.prepare import prepare
from sqlanon.engines.duckdb import Engine, OpenedDatabase
from sqlanon.model.taxonomy.taxonomy import Taxonomy
from sqlanon.nodes.table import encode_taxonomies
from sqlanon.queries import summaries as evaluate
from sqlanon.queries.encoded_rows import encode_rows
from sqlanon.queries.encoding import encoding_for
from tests import oracle
from tests.case_tables import store
from tests.effort import examples
from tests.strategies import Case, cases

SHARES = {"lm": oracle.lm_share, "ncp": oracle.ncp_share, "rce": oracle.rce_share}


@cache
def engine() -> Engine:
    return OpenedDatabase(duckdb.connect(config={"threads": 1}), owned=True).engine()


def level_losses(case: Case) -> dict[tuple[str, int], dict[str, float]]:
    """What the compiled query says, by quasi-identifier and level."""
    store(engine().connection, "raw_data", case.columns, case.rows)
    made = {name: Taxonomy.from_rows(case.taxonomies[name]) for name in case.quasi_identifiers}
    load(engine(), [TaxonomyLoad(name, taxonomy, None, name) for name, taxonomy in made.items()])
    others = [name for name in case.columns if name not in case.quasi_identifiers]
    policy = sa.Policy(quasi_identifiers=case.quasi_identifiers, insensitive=others, privacy=[sa.KAnonymity(2)])
    bound = prepare(engine(), engine().resolve("raw_data"), policy)
    encoding = encode_taxonomies(engine(), encoding_for(bound.cells, policy.criteria, label_losses=()))
    for step in encode_rows(encoding):
        engine().run(step)
    rows = engine().fetch(evaluate.level_losses(encoding), "losses of levels", "node")
    for relation in (encoding.cells, encoding.labels):
        engine().drop(relation)
    return {(case.quasi_identifiers[row.pop("position")], row.pop("depth")): row for row in rows}


@settings(max_examples=examples(25), deadline=None)
@given(cases(min_rows=1))
def test_every_level(case: Case) -> None:
    found = level_losses(case)
    expected = {
        (name, depth): one_level(case, name, depth)
        for name in case.quasi_identifiers
        for depth in range(oracle.height(case.taxonomies[name]) + 1)
    }
    assert found.keys() == expected.keys()
    for level, losses in expected.items():
        assert found[level] == pytest.approx(losses, abs=1e-9)


def one_level(case: Case, name: str, depth: int) -> dict[str, float]:
    """The losses of a table that has one quasi-identifier."""
    node = {name: depth}
    known = {each: case.taxonomies[each] for each in case.quasi_identifiers}
    among = {**dict.fromkeys(case.quasi_identifiers, 0), **node}
    by_logs = [oracle.information_lost(known, among, row) for row in case.rows]
    return {
        "entropy": oracle.entropy_loss(case.rows, case.taxonomies, node),
        **{loss: oracle.mean_loss(case.rows, case.taxonomies, node, 1, share) or 0.0 for loss, share in SHARES.items()},
        **{
            f"largest_{loss}": oracle.largest_loss(case.rows, case.taxonomies, name, depth, share)
            for loss, share in SHARES.items()
        },
        "log_share": len(case.quasi_identifiers) * sum(by_logs) / len(by_logs),
        "largest_log_share": len(case.quasi_identifiers) * max(by_logs),
        "least_information": oracle.least_information(case.rows, case.taxonomies, name, depth),
        "distinct_labels": len({row[name] for row in oracle.generalize(case.rows, case.taxonomies, node)}),
    }
