"""Joint classes of releases of one table, against a naive count."""

from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon as sa
from tests import oracle
from tests.effort import examples
from tests.full.test_joint_sequences import forget
from tests.property import test_joint_releases
from tests.property.test_joint_releases import (
    NODES,
    QUASI_IDENTIFIERS,
    Labels,
    Snapshot,
    load,
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
