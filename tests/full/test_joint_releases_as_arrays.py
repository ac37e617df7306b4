"""Joint classes counted from arrays, and releases of one table, against a naive count."""

from __future__ import annotations

from decimal import Decimal
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.methods.shared.class_values import ValueCounter
from tests import oracle
from tests.effort import examples
from tests.full.test_joint_sequences import forget
from tests.property import test_joint_releases
from tests.property.test_joint_releases import (
    NODES,
    QUASI_IDENTIFIERS,
    Labels,
    Snapshot,
    as_the_database,
    diverse,
    load,
    load_ill,
    policy,
    snapshots,
    suppressed,
)

session = test_joint_releases.session


@settings(max_examples=examples(32), deadline=None)
@given(snapshots, st.lists(st.sampled_from(QUASI_IDENTIFIERS), min_size=2, max_size=3), st.integers(2, 3))
def test_releases_of_one_table_need_no_key(
    session: sa.Session, snapshot: Snapshot, columns: list[list[str]], k: int
) -> None:
    forget(session)
    load(session, "snapshot_0", snapshot)
    named: list[str] = []
    earlier: list[dict[int, Labels]] = []
    for place, names in enumerate(columns):
        fields = {"quasi_identifiers": names, "identifiers": ["id", *({"age", "sex"} - {*names})]}
        wanted = policy(k, 0.4, named).changed(fields)
        allowed = int(Decimal("0.4") * len(snapshot))
        tops = {(age if "age" in names else 3, sex if "sex" in names else 1) for age, sex in NODES}
        counts = {node: suppressed(earlier, snapshot, node, k, is_by_person=False) for node in tops}
        try:
            release = session.anonymize("snapshot_0", wanted, f"release_{place}", replace=True)
        except sa.UnsatisfiableError:
            assert min(counts.values()) > allowed
            continue
        node = (release.node.get("age", 3), release.node.get("sex", 1))
        assert release.report.suppressed_rows == counts[node] <= allowed
        named.append(f"release_{place}")
        query = f"SELECT tag, {', '.join(names)} FROM release_{place}"
        earlier.append({tag: tuple(labels) for tag, *labels in session.connection.execute(query).fetchall()})
        assert min(oracle.joint_classes(earlier).values()) >= k


@pytest.mark.parametrize("first_age", [1, 2])
def test_of_two_smallest_classes_that_of_the_first_key_is_hidden(session: sa.Session, first_age: int) -> None:
    # The person of age 0 is alone, and has the flu. Together with the two who have a cold and gout, the hidden persons
    # meet the model; together with the two of whom one has the flu, they do not.
    illnesses = dict(enumerate(["flu", "flu", "cold", "cold", "gout"]))
    forget(session)
    snapshot = dict(enumerate((age, "f") for age in (0, first_age, first_age, 3 - first_age, 3 - first_age)))
    load_ill(session, "patients", snapshot, illnesses)
    session.anonymize("patients", diverse(2, "alpha", [], ["sex"]), "earlier_release", replace=True)
    wanted = diverse(2, "alpha", [sa.Earlier("earlier_release")], ["age", "sex"])
    exhaustive = wanted.changed({"suppression_limit": 1, "search": "exhaustive"})
    with mock.patch.object(ValueCounter, "answer", as_the_database):
        session.anonymize("patients", exhaustive, "release_of_ties", replace=True)


@pytest.mark.parametrize(
    ("model", "before", "now"),
    [
        ("distinct", ["flu", "flu", "cold", "cold"], ["flu", "cold", "flu", "cold"]),
        # Each half was .25 away from the source by illness and by organ.
        ("close by organs", ["gout", "gout", "flu", "cold", "flu", "flu", "cold", "cold"], ["flu", "cold"] * 4),
    ],
)
def test_arrays_look_at_values_that_have_changed(
    session: sa.Session, model: str, before: list[str], now: list[str]
) -> None:
    forget(session)
    half = len(now) // 2
    snapshot = dict(enumerate([(1, "f")] * half + [(2, "f")] * half))
    load_ill(session, "before", snapshot, dict(enumerate(before)))
    load_ill(session, "patients", snapshot, dict(enumerate(now)))
    session.anonymize("before", diverse(2, model, [], ["sex"]), "earlier_release", replace=True)
    earlier = [sa.Earlier("earlier_release", source="before", key="id")]
    wanted = diverse(2, model, earlier, ["age", "sex"]).changed({"suppression_limit": 1, "search": "exhaustive"})
    with mock.patch.object(ValueCounter, "answer", as_the_database):
        session.anonymize("patients", wanted, "release_of_changes", replace=True)
