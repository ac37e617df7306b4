"""Whole runs against brute force: random tables with NULLs, hostile names and many types, through the public API."""

from __future__ import annotations

import datetime
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

import sqlanon as sa
from tests import brute_force, oracle
from tests.oracle import Rows, Taxonomy
from tests.strategies import INTEGER_VALUES, TEXT_VALUES, distinct_names, taxonomies

EXAMPLES = settings(max_examples=35, deadline=None, suppress_health_check=[HealthCheck.too_slow])

UNUSED_LABEL = "label of the ENUM type that no row has"
ENUM_LABELS = ("low", "it's", 'a "b"', "x,y", "(", UNUSED_LABEL)
VALUES: Mapping[str, Sequence[Any]] = {
    "VARCHAR": TEXT_VALUES,
    "INTEGER": INTEGER_VALUES,
    "DATE": (datetime.date(1969, 12, 31), datetime.date(2000, 2, 29), datetime.date(2024, 1, 1)),
    "DECIMAL(6,2)": (Decimal("-1.50"), Decimal("0.00"), Decimal("0.10"), Decimal("9999.99")),
    "BOOLEAN": (True, False),
    "ENUM": ENUM_LABELS[:-1],
}


@dataclass(frozen=True)
class Run:
    """A table, the taxonomies of its quasi-identifiers and a policy."""

    rows: Rows
    columns: Mapping[str, str]
    taxonomies: Mapping[str, Taxonomy]
    policy: sa.Policy

    @property
    def spelled(self) -> Rows:
        """The rows with quasi-identifiers as taxonomies spell them, as the oracle wants them."""
        return [
            {name: spelled(value) if name in self.taxonomies else value for name, value in row.items()}
            for row in self.rows
        ]


def spelled(value: object) -> str | None:
    """A value as DuckDB casts it to text."""
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None else str(value)


@st.composite
def runs(draw: st.DrawFn) -> Run:
    width = draw(st.integers(1, 3))
    names = draw(distinct_names(width + 2, width + 4))
    quasi_identifiers, others = names[:width], names[width:]
    columns = {name: draw(st.sampled_from(sorted(VALUES))) for name in names}
    domains = {
        name: draw(st.lists(st.sampled_from(VALUES[kind]), min_size=1, max_size=4, unique=True))
        for name, kind in columns.items()
    }
    known = {name: draw(taxonomies([spelled(value) for value in domains[name]])) for name in quasi_identifiers}
    row = st.fixed_dictionaries({name: st.sampled_from([None, *domain]) for name, domain in domains.items()})
    return Run(
        rows=draw(st.lists(row, min_size=1, max_size=14)),
        columns=dict(draw(st.permutations(sorted(columns.items())))),
        taxonomies=known,
        policy=draw(policies(quasi_identifiers, others)),
    )


@st.composite
def policies(draw: st.DrawFn, quasi_identifiers: list[str], others: list[str]) -> sa.Policy:
    roles = {name: draw(st.sampled_from(["sensitive", "sensitive", "identifiers", "insensitive"])) for name in others}
    sensitive = [name for name, role in roles.items() if role == "sensitive"]
    models: list[Any] = [sa.KAnonymity(draw(st.integers(2, 4)))] if draw(st.booleans()) or not sensitive else []
    for name in sensitive:
        if draw(st.booleans()):
            models.append(sa.DistinctLDiversity(name, draw(st.integers(2, 3))))
        if draw(st.booleans()):
            models.append(sa.EntropyLDiversity(name, draw(st.sampled_from([1.2, 1.5, 2.0]))))
    return sa.Policy(
        quasi_identifiers=quasi_identifiers,
        **{role: [name for name in others if roles[name] == role] for role in set(roles.values())},
        privacy=models or [sa.KAnonymity(2)],
        quality=draw(st.sampled_from([sa.Prec(), sa.Entropy(), sa.LM(), sa.NCP(), sa.DMStar(), sa.DM(), sa.AECS()])),
        suppression_limit=draw(st.sampled_from([0.0, 0.1, 0.29, 0.5, 1.0])),
        suppression=draw(st.sampled_from(["drop", "mask"])),
        search=draw(st.sampled_from(["optimal", "exhaustive"])),
    )


# The warehouse


@cache
def session() -> sa.Session:
    """One session for the whole file: every example replaces its table and its taxonomies."""
    return sa.connect(duckdb.connect(config={"threads": 1}))


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def load(run: Run) -> None:
    connection = session().connection
    labels = ", ".join("'" + label.replace("'", "''") + "'" for label in ENUM_LABELS)
    kinds = {name: f"ENUM ({labels})" if kind == "ENUM" else kind for name, kind in run.columns.items()}
    definitions = ", ".join(f"{quoted(name)} {kind}" for name, kind in kinds.items())
    connection.execute(f"CREATE OR REPLACE TABLE raw_data ({definitions})")
    places = ", ".join("?" for _ in run.columns)
    connection.executemany(
        f"INSERT INTO raw_data VALUES ({places})", [[row[name] for name in run.columns] for row in run.rows]
    )
    for name, taxonomy in run.taxonomies.items():
        session().load_taxonomy(name, sa.Taxonomy.from_rows(taxonomy), source="raw_data")


def inventory() -> set[tuple[Any, ...]]:
    """Everything that the catalog lists: tables, views, macros, types and schemas, temporary ones too."""
    return set(
        session()
        .connection.execute(
            "SELECT 'table', database_name, schema_name, table_name FROM duckdb_tables() "
            "UNION ALL SELECT 'view', database_name, schema_name, view_name FROM duckdb_views() "
            "UNION ALL SELECT 'schema', database_name, schema_name, '' FROM duckdb_schemas() "
            "UNION ALL SELECT 'type', database_name, schema_name, type_name FROM duckdb_types() "
            "UNION ALL SELECT 'macro', database_name, schema_name, function_name FROM duckdb_functions()"
        )
        .fetchall()
    )


def fetch(query: str) -> list[tuple[Any, ...]]:
    return session().connection.execute(query).fetchall()


@contextmanager
def target(*, parquet: bool) -> Iterator[tuple[str, str]]:
    """A name to publish under, and the relation to read it from."""
    if parquet:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "release.parquet"
            yield str(path), f"'{path}'"
            assert sorted(Path(folder).iterdir()) in ([], [path])
    else:
        yield "published", "published"
        session().connection.execute("DROP TABLE IF EXISTS published")


# The properties


@EXAMPLES
@given(run=runs(), parquet=st.booleans())
def test_a_release_is_what_the_oracle_makes(run: Run, parquet: bool) -> None:
    load(run)
    before = inventory()
    nodes = brute_force.lattice(run.spelled, run.taxonomies, run.policy)
    expected = brute_force.answer(nodes, run.policy)
    with target(parquet=parquet) as (name, relation):
        if expected is None:
            event("no node satisfies the policy")
            with pytest.raises(sa.UnsatisfiableError):
                session().anonymize("raw_data", run.policy, into=name)
            assert inventory() == before
            return
        release = session().anonymize("raw_data", run.policy, into=name)
        added = set() if parquet else {("table", "memory", "main", "published")}
        assert inventory() == before | added
        check_node(release, expected)
        rows = check_rows(run, release, relation)
        check_report(run, release, expected, rows)
        assert session().verify(name, run.policy).met


def check_node(release: sa.Release, expected: brute_force.Answer) -> None:
    report = release.report
    assert release.node == report.node == expected.best.node
    assert report.loss == pytest.approx(expected.loss)
    assert {tuple(node.values()) for node in report.ties} == expected.ties
    assert report.tie_count == len(expected.ties)
    assert report.ties[0] == release.node
    for measure, loss in report.losses.items():
        if loss is not None:  # LM and NCP are measured where they were asked for
            assert loss == pytest.approx(expected.best.losses[measure]), measure
    assert report.losses[report.quality] is not None


def check_rows(run: Run, release: sa.Release, relation: str) -> Rows:
    expected = brute_force.released(run.spelled, run.taxonomies, release.node, run.policy)
    names = [name for name in run.columns if name not in run.policy.identifiers]
    described = fetch(f"DESCRIBE FROM {relation}")
    assert [column[0] for column in described] == names
    for name, kind, *_ in described:
        text = name in run.taxonomies or run.columns[name] == "ENUM"
        assert kind == ("VARCHAR" if text else run.columns[name])
    found = fetch(f"FROM {relation}")
    assert Counter(found) == Counter(tuple(row[name] for name in names) for row in expected)
    assert found == fetch(f"FROM {relation} ORDER BY ALL")
    return expected


def check_report(run: Run, release: sa.Release, expected: brute_force.Answer, rows: Rows) -> None:
    report, counts = release.report, release.report.rows
    assert counts.source == len(run.rows)
    assert counts.released == len(rows)
    assert counts.dropped + counts.released == counts.source
    assert counts.masked + counts.dropped == report.suppressed_rows == expected.best.suppressed_rows
    assert report.suppressed_rows <= brute_force.allowed_rows(run.policy.suppression_limit, len(run.rows))
    classes = oracle.classes(rows, run.policy.quasi_identifiers)
    assert report.class_count == len(classes)
    assert report.min_class_size == min(map(len, classes.values()))
    for result, model in zip(report.models, run.policy.privacy, strict=True):
        attained = min(brute_force.attains(members, model) for members in classes.values())
        assert result.met
        assert result.attained == pytest.approx(attained)
        assert attained >= brute_force.threshold(model)
    if run.policy.suppression == "mask" and counts.dropped:
        assert len(report.notes) == 1
    else:
        assert report.notes == ()


@EXAMPLES
@given(run=runs())
def test_the_lattice_is_what_the_oracle_measures(run: Run) -> None:
    load(run)
    before = inventory()
    table = session().lattice("raw_data", run.policy)
    assert inventory() == before
    expected = brute_force.lattice(run.spelled, run.taxonomies, run.policy)
    found = {tuple(dict(row["node"]).values()): row for row in table.to_pylist()}
    assert len(found) == table.num_rows == len(expected)
    for node in expected:
        row = found[node.levels]
        assert dict(row["node"]) == node.node
        assert row["height"] == node.height
        assert row["class_count"] == node.class_count
        assert row["min_class_size"] == node.min_class_size
        assert row["suppressed_rows"] == node.suppressed_rows
        assert row["satisfies"] == node.satisfies
        for measure, loss in node.losses.items():
            assert row[measure] == (None if loss is None else pytest.approx(loss)), measure


@EXAMPLES
@given(run=runs())
def test_a_measurement_is_what_the_oracle_measures(run: Run) -> None:
    load(run)
    classes = oracle.classes(run.rows, run.policy.quasi_identifiers)
    sizes = [len(members) for members in classes.values()]
    found = session().measure("raw_data", run.policy)
    assert (found.row_count, found.class_count, found.k) == (len(run.rows), len(classes), min(sizes))
    assert found.unique_rows == sizes.count(1)
    assert found.unique_share == pytest.approx(sizes.count(1) / len(run.rows))
    assert found.highest_prosecutor_risk == pytest.approx(1 / min(sizes))
    assert found.average_prosecutor_risk == pytest.approx(len(sizes) / len(run.rows))
    for result, model in zip(found.models, run.policy.privacy, strict=True):
        attained = min(brute_force.attains(members, model) for members in classes.values())
        assert result.attained == pytest.approx(attained)
        assert result.met == (attained >= brute_force.threshold(model))
    assert found.met == all(result.met for result in found.models)
