"""The engine on all databases of spec/linked.md, section 3.5: fact L2. All of a universe are released at a time."""

from collections import defaultdict
from collections.abc import Collection, Iterator
from functools import cache
from typing import Any

import pytest

import sqlanon as sa
from tests.linked_cases import LinkedCase, Written, in_one_database
from tests.linked_oracle import (
    Node,
    Position,
    Row,
    attacks,
    fits,
    rows_by_class,
    shown_parts,
    shown_rows,
    whole_persons,
)
from tests.linked_releases import check_labels, check_pairs, node_of, released
from tests.linked_universes import THREE_TABLES, TWO_TABLES, Setting, schema_of

MODELS: dict[int | None, dict[str, Any]] = {
    None: {"model": "k-anonymity"},
    1: {"model": "known-rows", "m": 1},
    2: {"model": "known-rows", "m": 2},
}
"""By the number of rows that attackers know; None: all."""

CASES = [(setting, m) for setting in TWO_TABLES for m in MODELS] + [
    (setting, m) for setting in THREE_TABLES for m in (None, 1)
]


@pytest.fixture(scope="module")
def session() -> Iterator[sa.Session]:
    with sa.connect(threads=1) as session:
        yield session


@pytest.mark.parametrize(("setting", "m"), CASES)
def test_all_databases_at_all_nodes(session: sa.Session, setting: Setting, m: int | None) -> None:
    case = in_one_database(setting)
    hidden: dict[Node, Collection[Position]] = {}
    for levels in nodes(case):
        fields = case.policy([{**MODELS[m], "k": case.k}], minimum_levels=levels, maximum_levels=levels)
        release = released(session, case, fields)
        assert release is not None
        assert release.node == levels
        node = node_of(case, levels)
        if m == 2:
            found = check_pairs(session, case, release)
        else:
            left_out = (whole_persons(case.k, None) if m is None else rows_by_class(case.k))(
                case.persons, case.schema, node
            )
            found = check_labels(session, case, release, shown_rows(case.persons, node, left_out))
            hidden[node] = left_out
        attack_each(setting, case, found, m)
    for low, left_out in hidden.items():
        assert all({*gone} <= {*left_out} for high, gone in hidden.items() if low.is_below(high))


def nodes(case: LinkedCase) -> list[dict[str, int]]:
    """The levels of all nodes that keep databases apart."""
    found: list[dict[str, int]] = [{}]
    for table, place in case.schema.columns:
        levels = range(1 if (table, place) == ("persons", 0) else len(case.schema.taxonomies[table][place]))
        found = [{**node, f"{table}.c{place}": level} for node in found for level in levels]
    return found


def attack_each(setting: Setting, case: LinkedCase, found: Written, m: int | None) -> None:
    """Try every attacker on the records of the attacked person's database."""
    schema = schema_of(setting)
    fit = cache(lambda known, record: fits(known, record, schema, whole=m is None))
    records: dict[str, list[Row]] = defaultdict(list)
    for record in found.records:
        (_, database), *cells = record.values
        records[database].append(Row(record.table, tuple(cells), record.below))
    for part in shown_parts(case.persons, found.labels).values():
        database, *values = part.values
        for known in attacks(Row(part.table, tuple(values), part.below), m):
            assert sum(fit(known, record) for record in records[database]) >= case.k
