"""Release linked tables of random or small cases, and compare what is written with the oracle."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
from sqlglot import exp

import sqlanon as sa
from sqlanon.engines.relations import ResolvedSource
from sqlanon.methods.stages import silent
from sqlanon.model.policy.linked_policy import LinkedPolicy
from sqlanon.model.release.linked_report import LinkedRelease
from sqlanon.run.linked import anonymize_linked
from tests.engines import engine_of
from tests.linked_cases import LinkedCase, Written, labels_at, written
from tests.linked_oracle import (
    Levels,
    Model,
    Node,
    Position,
    attacks,
    best_nodes,
    candidates,
    hidden_rows,
    is_safe,
    is_within,
    known_rows,
    loss,
    rows_of,
    shown_parts,
    shown_rows,
    with_cut_rows,
)


def released(session: sa.Session, case: LinkedCase, fields: Mapping[str, Any]) -> LinkedRelease | None:
    """Release the tables into the schema ``released``; None if nothing meets the limits."""
    engine = engine_of(session)
    for name, table in case.tables().items():
        session.connection.register("made", table)
        session.connection.execute(f"CREATE OR REPLACE TABLE {name} AS FROM made")
        session.connection.unregister("made")
    sources = {name: ResolvedSource(exp.to_table(name), name) for name in case.parents}
    policy = LinkedPolicy(**fields)
    session.connection.execute("DROP SCHEMA IF EXISTS released CASCADE")
    try:
        return anonymize_linked(engine, sources, policy, "released", replace=False, progress=silent)
    except sa.UnsatisfiableError:
        return None


def rows_of_release(session: sa.Session, case: LinkedCase) -> dict[str, list[dict[str, Any]]]:
    """The rows of each table in the order in which they are written."""
    found = {}
    for name in case.parents:
        cursor = session.connection.execute(f"FROM released.{name}")
        names = [column[0] for column in cursor.description or ()]
        found[name] = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    return found


def node_of(case: LinkedCase, levels: Mapping[str, int]) -> Node:
    return Node.at({table: tuple(levels[f"{table}.{name}"] for name in case.columns(table)) for table in case.parents})


def check_choice(case: LinkedCase, model: Model, release: LinkedRelease | None) -> dict[Position, Levels] | None:
    """The node loses least, if there is one; return the rows that it shows."""
    orphans, weights = {"visits": case.orphans}, case.weights
    model = with_cut_rows(model, case.kept)
    best = best_nodes(case.persons, case.schema, model, case.limits, weights=weights, orphans=orphans)
    assert (release is None) == (best is None)
    if release is None or best is None:
        return None
    node = node_of(case, release.node)
    left_out = model(case.persons, case.schema, node)
    shown = shown_rows(case.persons, node, left_out)
    assert is_within(case.persons, left_out, case.limits, orphans)
    assert float(loss(case.persons, case.schema, shown, weights)) == pytest.approx(float(best[0]))
    assert release.report.loss == pytest.approx(float(best[0]))
    assert release.report.proven_optimal
    return shown


def check_tables(case: LinkedCase, release: LinkedRelease, rows: Mapping[str, list[dict[str, Any]]]) -> None:
    """Keys are 1 to n and refer to rows that are there; rows are in the order of their persons' keys."""
    for table, found in rows.items():
        parent = case.parents[table]
        if table in case.parents.values():
            assert sorted(row["id"] for row in found) == [*range(1, len(found) + 1)]
        if parent is not None:
            assert {row["above"] for row in found} <= {row["id"] for row in rows[parent]}
        if parent == "persons":
            assert [row["above"] for row in found] == sorted(row["above"] for row in found)
        assert release.report.tables[table].released == len(found)
        assert release.report.tables[table].source == case.tables()[table].num_rows


def attack(case: LinkedCase, found: Written, m: int | None) -> None:
    """Whoever knows up to m of the rows that are shown of a person, or all rows, is left with k persons."""
    parts = shown_parts(case.persons, found.labels)
    assert len(parts) == len(found.records)
    for part in {*parts.values()}:
        for known in attacks(part, m):
            assert candidates(known, found.records, case.schema, whole=m is None) >= case.k


def check_measures(release: LinkedRelease, found: Written) -> None:
    measured = release.report.measured
    counted = {number: (each.k, each.pattern_count, each.unique_patterns) for number, each in measured.known.items()}
    assert counted == known_rows(found.records, max(counted))
    sizes = Counter(found.records).values()
    assert measured.trees is not None
    assert (measured.trees.k, measured.trees.pattern_count) == (min(sizes), len(sizes))


def check_labels(
    session: sa.Session, case: LinkedCase, release: LinkedRelease, shown: Mapping[Position, Levels]
) -> Written:
    """The tables show these rows, and no others; return what is written."""
    rows = rows_of_release(session, case)
    found = written(case, rows)
    check_tables(case, release, rows)
    assert found.labels == labels_at(case, shown)
    assert found.joined == {position: position[:-1] for position in shown}
    check_measures(release, found)
    return found


def check_levels(session: sa.Session, case: LinkedCase, release: LinkedRelease) -> Written:
    """Rows have labels of their own values, whatever the levels, and these lose what the report says."""
    shown = written(case, rows_of_release(session, case)).levels
    left_out = rows_of(case.persons).keys() - shown.keys()
    assert is_within(case.persons, left_out, case.limits, {"visits": case.orphans})
    assert float(loss(case.persons, case.schema, shown, case.weights)) == pytest.approx(release.report.loss)
    return check_labels(session, case, release, shown)


def check_pairs(session: sa.Session, case: LinkedCase, release: LinkedRelease) -> Written:
    """What is shown of two tables is safe from attackers who know two rows; one row alone would hide no more."""
    node = node_of(case, release.node)
    found = written(case, rows_of_release(session, case))
    rows = rows_of(case.persons)
    shown = {position: levels_of(node, rows[position].table) for position in found.labels}
    check_labels(session, case, release, shown)
    left_out = rows.keys() - shown.keys()
    assert is_within(case.persons, left_out, case.limits, {"visits": case.orphans})
    assert float(loss(case.persons, case.schema, shown, case.weights)) == pytest.approx(release.report.loss)
    assert hidden_rows(case.kept, case.schema, node, case.k) <= left_out
    assert is_safe(case.kept, case.schema, node, left_out, case.k, 2)
    return found


def levels_of(node: Node, table: str) -> Levels:
    levels = node.of(table)
    assert levels is not None
    return levels
