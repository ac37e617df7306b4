"""The releases that sessions on a warehouse have made, as it lists them."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon as sa
from sqlanon.model.release.joint import ListedRelease
from tests.conftest import clinic_policy, open_clinic

POLICY = clinic_policy(sa.KAnonymity(2), suppression_limit=0.3, earlier="none")
NODE = {"age": 1, "sex": 1, "zip": 1}


def make_warehouse(path: Path) -> sa.Session:
    """The visits of the clinic as a file."""
    with duckdb.connect(str(path)) as connection:
        open_clinic(connection)
    return sa.connect(path)


def entries(session: sa.Session, dataset: Any = None, **options: bool) -> tuple[ListedRelease, ...]:
    return session.releases.list(dataset, **options).releases


def targets(session: sa.Session, dataset: Any = None) -> list[str]:
    return [each.target for each in entries(session, dataset)]


def states(session: sa.Session) -> dict[str, list[str]]:
    """The states of the releases of each target, in order."""
    found: dict[str, list[str]] = {}
    for each in entries(session, forgotten=True):
        found.setdefault(each.target, []).append(each.state)
    return found


class TestWhatIsListed:
    def test_a_table_with_all_that_is_known_of_it(self, session: sa.Session) -> None:
        release = session.anonymize("visits", POLICY, "visits_k2")
        (listed,) = entries(session)
        verified = session.verify("visits_k2", POLICY)
        assert listed == ListedRelease(
            target="visits_k2",
            datasets=("visits",),
            method="full-domain",
            policy_sha256=POLICY.sha256(),
            node=NODE,
            row_count=release.report.rows.released if release.report.rows else None,
            min_class_size=verified.measurement.k,
            record_sha256=verified.record_sha256,
            made_at=listed.made_at,
            perturbed=(),
            state="there",
        )
        assert release.node == NODE

    def test_a_preview_is_on_no_list_and_a_private_release_always(self, tmp_path: Path) -> None:
        with make_warehouse(tmp_path / "clinic.duckdb") as session:
            session.connection.execute(f"COPY visits TO '{tmp_path}/visits.parquet'")
        for read_only in (False, True):
            preview = f"{tmp_path}/seen_{read_only}.parquet"
            with sa.connect(tmp_path / "clinic.duckdb", read_only=read_only) as session:
                for is_there in (False, True):
                    release = session.anonymize(f"{tmp_path}/visits.parquet", POLICY, preview, listed=False)
                    assert release.unchanged == is_there
                    assert not any("list" in note for note in release.report.notes)
                assert entries(session) == ()
                with pytest.raises(sa.PolicyError, match="always listed"):
                    session.anonymize("visits", clinic_policy(method=sa.IPA()), preview, listed=False)
        assert [*tmp_path.glob(".*releases*")] == []

    def test_it_has_no_cell_value_and_no_text_of_a_query(self, session: sa.Session, tmp_path: Path) -> None:
        lake, policy = tmp_path / "lake", POLICY.changed({"insensitive": ["ward"], "suppression_limit": 0.5})
        session.connection.execute("CREATE TABLE stays AS SELECT *, 'canary ' || (id % 2) AS ward FROM visits")
        session.connection.execute(f"COPY stays TO '{lake}' (FORMAT parquet, PARTITION_BY (ward))")
        one_ward = next(lake.glob("ward=*"))
        for number, source in enumerate(
            (
                "FROM stays WHERE ward <> 'canary 7'",
                f"FROM read_parquet(['{lake}/*/*.parquet'])",
                f"FROM '{next(one_ward.iterdir())}'",
                f"{one_ward}/*.parquet",
                f"{one_ward}/",
            )
        ):
            session.anonymize(source, policy, f"{tmp_path}/out{number}/", partition_by="ward")
        assert {(each.datasets, each.state) for each in entries(session)} == {
            (("stays",), "there"), ((str(lake),), "there"),
        }  # fmt: skip
        written = session.connection.execute(
            "SELECT CAST(releases AS VARCHAR) FROM anon.releases AS releases"
        ).fetchall()
        assert len(written) == 5
        assert "canary" not in f"{written}{session.releases.list()}"
        last = entries(session)[-1]
        assert last.target == f"{tmp_path}/out4/"
        assert last.record_sha256 == session.verify(last.target, policy).record_sha256

    def test_files_are_known_by_path_link_and_folder(
        self, session: sa.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        Path("lake").mkdir()
        session.connection.execute(f"COPY visits TO '{tmp_path}/lake/a.parquet'")
        session.connection.execute(f"COPY visits TO '{tmp_path}/lake/b.parquet'")
        Path("link.parquet").symlink_to("lake/a.parquet")
        one, two = f"{tmp_path}/one.parquet", f"{tmp_path}/two.csv"
        session.anonymize("link.parquet", POLICY, one)
        session.anonymize("FROM read_parquet('lake/*.parquet')", POLICY, two)
        assert [each.datasets for each in entries(session)] == [(f"{tmp_path}/lake/a.parquet",), (f"{tmp_path}/lake",)]
        assert targets(session, "lake/a.parquet") == [one, two]
        assert targets(session, "lake/b.parquet") == [two]
        assert targets(session, "lake/") == [one, two]
        Path("lake/b.parquet").unlink()
        assert targets(session, "lake/b.parquet") == [two], "it need not be there any more"
        for each in entries(session):
            assert (each.state, each.record_sha256) == ("there", session.verify(each.target, POLICY).record_sha256)
