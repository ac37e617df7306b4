"""Partitions published one after another with one fit, against lists of rows: the union meets the policy each time."""

import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

import sqlanon as sa
from tests import brute_force, oracle
from tests.brute_force import MEANS, Labels, Task
from tests.case_tables import quoted, store
from tests.effort import examples
from tests.oracle import Rows, Taxonomy
from tests.search_cases import privacy_models
from tests.strategies import distinct_names, domains, taxonomies

EXAMPLES = settings(max_examples=examples(6), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@dataclass(frozen=True)
class Sequel:
    """What a fit is made from, and the partitions that follow: the name of each target, and its rows."""

    columns: Mapping[str, str]
    taxonomies: Mapping[str, Taxonomy]
    policy: sa.Policy
    node: Mapping[str, int]
    every_partition: bool
    rows: Rows
    partitions: Sequence[tuple[str, Rows]]

    @property
    def task(self) -> Task:
        """What the oracle is asked; its source is what models compare classes with."""
        return Task(self.rows, self.taxonomies, self.policy)

    @property
    def counted(self) -> tuple[str, ...]:
        """The columns that counts are by."""
        return (*self.policy.quasi_identifiers, *self.policy.protected_columns)


@dataclass
class Published:
    """What the oracle publishes: by target, the rows of the source that were published, and how many it had."""

    sequel: Sequel
    released: dict[str, Rows] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)

    def after(self, target: str, rows: Rows) -> Rows | None:
        """The rows of a partition that can be published; None where the whole partition is refused."""
        others = [row for name, released in self.released.items() if name != target for row in released]
        before, new = self.classes(others), self.classes(rows)
        kept = [
            members
            for labels, members in new.items()
            if self.meets([*before.get(labels, []), *members])
            and (self.meets(members) or not self.sequel.every_partition)
        ]
        released = [row for members in kept for row in members]
        total = len(rows) + sum(count for name, count in self.rows.items() if name != target)
        allowed = brute_force.allowed_rows(self.sequel.policy.suppression_limit, total)
        if not released or total - len(others) - len(released) > allowed:
            return None
        union = self.classes([*others, *released])
        return released if all(map(self.meets, union.values())) else None

    def publish(self, target: str, rows: Rows, released: Rows) -> None:
        self.released[target], self.rows[target] = released, len(rows)

    def classes(self, rows: Rows) -> dict[Labels, Rows]:
        return brute_force.classes(self.sequel.task, self.sequel.node, rows)

    def meets(self, members: Rows) -> bool:
        return brute_force.meets(self.sequel.task, self.sequel.node, members)

    def counts(self, rows: Rows) -> Counter[tuple[Any, ...]]:
        """The rows of some published source rows by labels and protected values."""
        labelled = oracle.generalize(rows, self.sequel.taxonomies, self.sequel.node)
        return Counter(tuple(row[name] for name in self.sequel.counted) for row in labelled)


@st.composite
def sequels(draw: st.DrawFn) -> Sequel:
    first, second, sensitive, other, key = draw(distinct_names(5, 5))
    quasi_identifiers = [first, second]
    columns = {name: draw(st.sampled_from(["VARCHAR", "INTEGER"])) for name in (first, second, sensitive)}
    values = {name: draw(domains(kind)) for name, kind in columns.items()} | {other: [1, 2, 3]}
    known = {name: draw(taxonomies(values[name])) for name in (*quasi_identifiers, sensitive)}
    row = st.fixed_dictionaries({name: st.sampled_from([None, *domain]) for name, domain in values.items()})
    counter = iter(range(10_000))

    def rows(least: int) -> Rows:
        return [{**found, key: next(counter)} for found in draw(st.lists(row, min_size=least, max_size=3 * least))]

    source = rows(8)
    policy = sa.Policy(
        quasi_identifiers=quasi_identifiers,
        sensitive=[sensitive, other],
        identifiers=[key],
        privacy=draw(models(sensitive, other)),
        suppression_limit=draw(st.sampled_from([1.0, 1.0, 0.6])),
    )
    node = {name: draw(st.integers(0, oracle.height(known[name]))) for name in quasi_identifiers}
    names = draw(st.lists(st.sampled_from(["a", "b", "c"]), min_size=2, max_size=4))
    partitions = [(name, rows(4)) for name in names]
    if draw(st.booleans()):
        partitions[0] = (names[0], source)
    columns |= {other: "INTEGER", key: "INTEGER"}
    return Sequel(columns, known, policy, node, draw(st.booleans()), source, partitions)


def models(*columns: str) -> st.SearchStrategy[list[Any]]:
    """The models that can be applied to partitions."""

    def fits(found: list[Any]) -> bool:
        refused = sa.KMap | sa.DeltaPresence | sa.Profitability | MEANS
        return not any(
            isinstance(model, refused)
            or getattr(model, "grain", "class") == "node"
            or getattr(model, "distance", "equal") == "ordered"
            or (getattr(model, "distance", "equal") == "hierarchical" and model.column != columns[0])
            for model in found
        )

    return privacy_models(columns).filter(fits)


@cache
def session() -> sa.Session:
    return sa.connect(duckdb.connect(config={"threads": 1}))


def counts_in(relation: str, columns: Sequence[str], rows: str = "count(*)") -> Counter[tuple[Any, ...]]:
    names = ", ".join(map(quoted, columns))
    found = session().connection.execute(f"SELECT {names}, {rows} FROM {relation} GROUP BY {names}").fetchall()
    return Counter({tuple(values): count for *values, count in found})


@EXAMPLES
@given(sequel=sequels())
def test_all_partitions_together_meet_the_policy(sequel: Sequel) -> None:
    store(session().connection, "source_rows", sequel.columns, sequel.rows)
    for name, taxonomy in sequel.taxonomies.items():
        session().taxonomies.load(name, sa.Taxonomy.from_rows(taxonomy))
    published = Published(sequel)
    with tempfile.TemporaryDirectory() as folder:
        sidecar = Path(folder) / "rows.fit"
        options = {"node": sequel.node, "every_partition": sequel.every_partition}
        if not brute_force.measured(sequel.task, sequel.node).satisfies:
            with pytest.raises(sa.UnsatisfiableError):
                session().partitions.fit("source_rows", sequel.policy, sidecar, **options)
            event("no fit")
            return
        session().partitions.fit("source_rows", sequel.policy, sidecar, **options)
        for target, rows in sequel.partitions:
            check_partition(sequel, published, sidecar, target, rows)
            check_sidecar(published, sidecar)
        if published.released:
            check_parts(sequel, folder)


def check_partition(sequel: Sequel, published: Published, sidecar: Path, target: str, rows: Rows) -> None:
    """A partition is published as the rule says: every row that can be, and no other."""
    store(session().connection, "partition_rows", sequel.columns, rows)
    into = sidecar.with_name(f"{target}.parquet")
    expected = published.after(target, rows)
    if expected is None:
        event("refused")
        with pytest.raises(sa.UnsatisfiableError):
            session().partitions.apply("partition_rows", sidecar, into, replace=True)
        assert into.exists() == (target in published.released)
        return
    event("replaced" if target in published.released else "published")
    published.publish(target, rows, expected)
    release = session().partitions.apply("partition_rows", sidecar, into, replace=True)
    assert counts_in(f"'{into}'", sequel.counted) == published.counts(expected)
    report, union = release.report, [row for part in published.released.values() for row in part]
    assert (report.rows.source, report.rows.released) == (len(rows), len(expected))
    assert (report.union.source, report.union.released) == (sum(published.rows.values()), len(union))
    groups = list(published.classes(union).values())
    assert (report.class_count, report.min_class_size) == (len(groups), min(map(len, groups)))
    attained = iter(report.models)
    for model in sequel.policy.privacy:
        for worst in brute_force.worst(sequel.task, sequel.node, groups, model):
            assert next(attained).attained == pytest.approx(worst)


def check_sidecar(published: Published, sidecar: Path) -> None:
    """It holds the counts of what is published and nothing else, and lets go of the file."""
    session().connection.execute(f"ATTACH '{sidecar}' AS looked_at (READ_ONLY)")
    union = [row for part in published.released.values() for row in part]
    found = counts_in("looked_at.counts", published.sequel.counted, "CAST(sum(anon_row_count) AS BIGINT)")
    session().connection.execute("DETACH looked_at")
    assert found == published.counts(union)


def check_parts(sequel: Sequel, folder: str) -> None:
    """The parts, measured as one table without the sidecar, meet the policy."""
    verification = session().verify(f"{folder}/*.parquet", sequel.policy, source="source_rows", strict=False)
    assert verification.met
