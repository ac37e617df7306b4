"""Partitions that are replaced, and taxonomies that a fit keeps."""

from pathlib import Path

import pytest

import sqlanon as sa
from tests.stories import test_fit
from tests.stories.test_fit import (
    AGES,
    HISTORY,
    NODE,
    NOVEMBER,
    POLICY,
    counted,
    fitted,
    load_taxonomies,
    published,
    visits,
)

session, shared_session, shared_sidecar, sidecar = (
    test_fit.session,
    test_fit.shared_session,
    test_fit.shared_sidecar,
    test_fit.sidecar,
)


class TestReplacing:
    def test_rows_count_once_and_no_more_after_they_are_replaced(self, session: sa.Session, tmp_path: Path) -> None:
        """Unless those of other partitions need them."""
        own_sidecar, into = fitted(session, tmp_path), tmp_path / "history.parquet"
        written, counts = into.stat(), counted(own_sidecar)
        release = session.partitions.apply(HISTORY, own_sidecar, into)
        assert release.report.notes == ("these rows were published already: nothing was written",)
        assert (release.report.rows.released, release.report.partitions) == (8, 1)
        assert into.stat().st_mtime_ns == written.st_mtime_ns
        shuffled = f"SELECT * FROM ({HISTORY}) ORDER BY id"
        with pytest.raises(sa.PolicyError, match=r"published with this fit already, as .*history\.parquet"):
            session.partitions.apply(shuffled, own_sidecar, "history")
        assert counted(own_sidecar) == counts
        session.partitions.apply(NOVEMBER, own_sidecar, tmp_path / "november.parquet")
        before = counted(own_sidecar)
        few = visits(("a1", 1, "xyz"))
        with pytest.raises(sa.EngineError, match="from other rows; give another name, or replace=True"):
            session.partitions.apply(few, own_sidecar, into)
        with pytest.raises(sa.UnsatisfiableError) as refused:
            session.partitions.apply(few, own_sidecar, into, replace=True)
        assert refused.value.problems == (
            "2 rows of other partitions, in 1 classes, would fall short without the rows that are there now; "
            "leave them there, and publish the others under a new name",
        )
        assert counted(own_sidecar) == before == published(tmp_path)
        more = visits(("a1", 1, "xyz"), ("b1", 2, "y"), ("a2", 2, "x"))
        assert session.partitions.apply(HISTORY, own_sidecar, into, replace="changed").report.notes
        release = session.partitions.apply(more, own_sidecar, into, replace="changed")
        assert release.report.union == sa.model.release.RowCounts(source=9, released=7, masked=0, dropped=2)
        assert any("replaced" in line for line in release.guarantee.not_covered)
        assert counted(own_sidecar) == published(tmp_path)
        counts = counted(own_sidecar)
        into.unlink()
        with pytest.raises(sa.EngineError, match="is missing, but its rows count"):
            session.partitions.apply(more, own_sidecar, into)
        assert counted(own_sidecar) == counts


class TestTaxonomies:
    def test_another_session_needs_no_taxonomies(self, sidecar: Path, tmp_path: Path) -> None:
        """The private file has those of the fit."""
        with sa.connect() as other:
            first = other.partitions.apply(visits(("b1", 2, "xy")), sidecar, tmp_path / "october.parquet")
            assert first.report.rows.released == 2
            assert other.taxonomies.list() == {}
            other.taxonomies.load("town", sa.Taxonomy.flat(["a1", "a2", "b1", "b2"]))
            other.taxonomies.load("age", sa.Taxonomy.from_rows([*AGES, ["3", "*"]]))
            with pytest.raises(sa.TaxonomyError, match="have changed since the fit") as refused:
                other.partitions.apply(NOVEMBER, sidecar, tmp_path / "november.parquet")
            assert refused.value.problems == ('"town"', '"age"')
            load_taxonomies(other)
            assert other.partitions.apply(NOVEMBER, sidecar, tmp_path / "november.parquet").report.rows.source == 4

    @pytest.mark.deep
    def test_taxonomies_that_the_policy_carries_are_kept(self, session: sa.Session, tmp_path: Path) -> None:
        """They hold for partitions, too, whatever the session stores under their names."""
        values = ["a1", "a2", "b1", "b2"]
        carried = {"town": {"kind": "prefixes", "keep": [1], "values": values}, "age": "flat"}
        policy = sa.Policy(**{**dict(POLICY), "taxonomies": carried})
        with sa.connect() as other:
            other.partitions.fit(HISTORY, policy, tmp_path / "visits.fit", node=NODE, accept_observed_domain=True)
        session.partitions.apply(HISTORY, tmp_path / "visits.fit", tmp_path / "history.parquet")
        towns = session.connection.execute(f"SELECT DISTINCT town FROM '{tmp_path}/history.parquet' ORDER BY ALL")
        assert towns.fetchall() == [("a*",), ("b*",)]
