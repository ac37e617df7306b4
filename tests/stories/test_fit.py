"""A node that is fitted once, and partitions that are published at it one after another."""

import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon as sa

POLICY = sa.Policy(
    quasi_identifiers=["town", "age"],
    sensitive=["illness"],
    identifiers=["id"],
    insensitive=["note"],
    privacy=[sa.KAnonymity(3), sa.DistinctLDiversity("illness", 2)],
    suppression_limit=0.5,
)
NODE = {"town": 1, "age": 0}
TOWNS = [["a1", "A", "*"], ["a2", "A", "*"], ["b1", "B", "*"], ["b2", "B", "*"]]
AGES = [["1", "*"], ["2", "*"]]


def visits(*groups: tuple[str, int, str]) -> str:
    """A query of visits: town, age and a letter per row for its illness; ids tell all of them apart."""
    rows = [
        f"('{town}', {age}, '{illness}', hash('{town}', {age}, {number}, '{illnesses}'), 'kept')"
        for town, age, illnesses in groups
        for number, illness in enumerate(illnesses)
    ]
    return f"SELECT * FROM (VALUES {', '.join(rows)}) AS visits (town, age, illness, id, note)"


HISTORY = visits(("a1", 1, "xyz"), ("a2", 1, "xx"), ("b1", 2, "xy"), ("b2", 2, "z"))
"""Class (A, 1) has five rows, (B, 2) three."""
NOVEMBER = visits(("a1", 1, "x"), ("a1", 2, "y"), ("b2", 2, "xx"))
"""Together with the history its row of (A, 2) is alone."""


@pytest.fixture(scope="module")
def shared_session() -> Iterator[sa.Session]:
    with sa.connect(duckdb.connect(config={"threads": 1})) as session:
        load_taxonomies(session)
        yield session


@pytest.fixture
def session(shared_session: sa.Session) -> Iterator[sa.Session]:
    """A session with the taxonomies; what a test adds is removed."""
    yield shared_session
    connection = shared_session.connection
    found = connection.execute("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main'").fetchall()
    for (name,) in found:
        connection.execute(f"DROP TABLE {name}")


def load_taxonomies(session: sa.Session) -> None:
    session.taxonomies.load("town", sa.Taxonomy.from_rows(TOWNS))
    session.taxonomies.load("age", sa.Taxonomy.from_rows(AGES))


@pytest.fixture(scope="module")
def shared_sidecar(shared_session: sa.Session, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fitted(shared_session, tmp_path_factory.mktemp("fit"))


@pytest.fixture
def sidecar(shared_sidecar: Path, tmp_path: Path) -> Path:
    """A copy of a fit and of the history, which was published elsewhere."""
    for path in shared_sidecar.parent.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path / shared_sidecar.name


def fitted(session: sa.Session, folder: Path) -> Path:
    session.partitions.fit(HISTORY, POLICY, folder / "visits.fit", node=NODE)
    session.partitions.apply(HISTORY, folder / "visits.fit", folder / "history.parquet")
    return folder / "visits.fit"


def counted(sidecar: Path) -> list[tuple[Any, ...]]:
    """What a sidecar counts, read without this package."""
    with duckdb.connect(str(sidecar), read_only=True) as connection:
        return connection.execute(
            "SELECT town, age, illness, CAST(sum(anon_row_count) AS BIGINT) FROM counts GROUP BY ALL ORDER BY ALL"
        ).fetchall()


def published(folder: Path) -> list[tuple[Any, ...]]:
    """What all parts of a folder have."""
    return duckdb.sql(
        f"SELECT town, age, illness, count(*) FROM '{folder}/*.parquet' GROUP BY ALL ORDER BY ALL"
    ).fetchall()


class TestFit:
    def test_it_finds_the_node_of_a_release_and_publishes_nothing(self, session: sa.Session, tmp_path: Path) -> None:
        fitted = session.partitions.fit(HISTORY, POLICY, tmp_path / "visits.fit")
        release = session.anonymize(HISTORY, POLICY, into="published")
        assert (fitted.node, fitted.loss) == (release.node, release.report.loss)
        assert (fitted.search, fitted.proven_optimal, fitted.rows) == ("optimal", True, 8)
        assert fitted.policy == POLICY
        assert [path.name for path in tmp_path.iterdir()] == ["visits.fit"]
        assert stat.S_IMODE((tmp_path / "visits.fit").stat().st_mode) == 0o600
        assert counted(tmp_path / "visits.fit") == []
        tables = session.connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY ALL").fetchall()
        assert tables == [("published",), ("releases",), ("taxonomy",), ("taxonomy_domain",), ("taxonomy_origin",)]

    def test_inverse_ola_stores_the_k_that_it_found(self, session: sa.Session, tmp_path: Path) -> None:
        options = {"privacy": [], "objective": "privacy", "max_loss": 1.0, "quality": sa.Prec()}
        path = tmp_path / "visits.fit"
        fitted = session.partitions.fit(HISTORY, sa.Policy(**{**dict(POLICY), **options}), path)
        assert [model.k for model in fitted.policy.privacy] == [8]
        assert session.partitions.apply(HISTORY, path, tmp_path / "history.parquet").report.min_class_size == 8

    def test_one_without_is_replaced_if_asked(self, session: sa.Session, tmp_path: Path) -> None:
        path = tmp_path / "visits.fit"
        for node in ({"town": 2, "age": 1}, NODE):
            assert session.partitions.fit(HISTORY, POLICY, path, node=node, replace=True).node == node
        before = path.read_bytes()
        with pytest.raises(sa.UnsatisfiableError):
            strict = POLICY.model_copy(update={"privacy": (sa.KAnonymity(100),)})
            session.partitions.fit(HISTORY, strict, path, replace=True)
        assert path.read_bytes() == before
        assert [file.name for file in tmp_path.iterdir()] == ["visits.fit"]
        assert session.partitions.apply(HISTORY, path, tmp_path / "history.parquet").node == NODE
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def check_promises(release: sa.PartitionRelease) -> None:
    """The promise is about all partitions together, and the guarantee lists what it leaves out."""
    promised = release.guarantee
    assert promised.claims[0] == (
        "every equivalence class of the 2 partitions published with this fit, taken together, over "
        '"town", "age" meets k-anonymity (k = 3) (Samarati 2001, definition 2)'
    )
    assert "and not in which partition a row is" in promised.conditions[0]
    assert any("few rows within one partition" in line for line in promised.not_covered)


def check_provenance(release: sa.PartitionRelease, provenance: str) -> None:
    """It names the release, and tells of the partition and of all of them."""
    note = json.loads(provenance)["sqlanon"]
    assert note["fit"] == {
        "release": release.report.release,
        "partitions": 2,
        "every_partition": False,
        "rows": {"source": 12, "released": 11, "masked": 0, "dropped": 1, "unknown": 0},
    }
    assert note["rows"] == {"source": 4, "released": 3, "masked": 0, "dropped": 1, "unknown": 0}
    assert (note["labels"]["levels"], note["policy_sha256"]) == (NODE, POLICY.sha256())
    assert [entry["attained"] for entry in note["privacy"]] == [5, 3]


class TestApply:
    def test_a_class_is_judged_with_what_was_published_of_it(self, session: sa.Session, sidecar: Path) -> None:
        into = sidecar.with_name("november.parquet")
        release = session.partitions.apply(NOVEMBER, sidecar, into)
        assert release.report.rows == sa.model.release.RowCounts(source=4, released=3, masked=0, dropped=1)
        assert release.report.union == sa.model.release.RowCounts(source=12, released=11, masked=0, dropped=1)
        assert (release.report.partitions, release.report.class_count, release.report.min_class_size) == (2, 2, 5)
        assert counted(sidecar) == published(sidecar.parent)
        assert [model.attained for model in release.report.models] == [5.0, 3.0]
        found = session.verify(f"{sidecar.parent}/*.parquet", POLICY).measurement
        assert (found.models, found.class_count, found.k) == (release.report.models, 2, 5)
        check_promises(release)
        check_provenance(release, session.provenance(into) or "")

    def test_every_partition_can_be_asked_to_meet_the_policy_alone(self, session: sa.Session, tmp_path: Path) -> None:
        path = tmp_path / "visits.fit"
        session.partitions.fit(HISTORY, POLICY, path, node=NODE, every_partition=True)
        session.partitions.apply(HISTORY, path, "history")
        with pytest.raises(sa.UnsatisfiableError, match="4 of its rows are in classes that violate it on its own"):
            session.partitions.apply(NOVEMBER, path, "november")
        release = session.partitions.apply(visits(("a1", 1, "xyz"), ("b1", 2, "x")), path, "november")
        assert (release.report.rows.released, release.report.rows.dropped) == (3, 1)
        assert session.verify("november", POLICY).met
        assert len(release.guarantee.claims) == 4
        assert release.guarantee.conditions[0].endswith("but the quasi-identifiers")

    def test_too_many_suppressed_rows_are_refused_and_not_counted(self, session: sa.Session, sidecar: Path) -> None:
        before = counted(sidecar)
        alone = visits(("a1", 2, "xx"), ("b1", 1, "xxxxxxxx"), ("a1", 1, "x"))
        with pytest.raises(sa.UnsatisfiableError) as refused:
            session.partitions.apply(alone, sidecar, "november")
        assert refused.value.problems == (
            "10 of its 11 rows are in classes that fall short",
            "with 0 of 8 rows suppressed before, that is 10 of 19, where 9 may be (suppression_limit 50 %)",
            "k-anonymity (k = 3): 2 of its rows are in classes that violate it together with what was published",
            'distinct l-diversity of "illness" (l = 2): 10 of its rows are in classes that violate it together with '
            "what was published",
            "what can help: a partition of more rows, a fit of a more general node, or a larger suppression_limit",
        )
        with pytest.raises(sa.UnsatisfiableError, match="nothing would be left to publish"):
            session.partitions.apply(visits(("a1", 2, "x")), sidecar, "november")
        assert counted(sidecar) == before
        assert session.connection.execute("SELECT * FROM duckdb_tables() WHERE schema_name = 'main'").fetchall() == []
