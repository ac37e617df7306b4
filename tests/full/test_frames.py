"""Frames of Python as sources, and releases as frames."""

import copy
import inspect
import pickle
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import dataset

import sqlanon as sa
from sqlanon.cli.pages import PARTS_OF_SESSIONS
from sqlanon.engines.duckdb.scanned_frames import Frames
from sqlanon.evaluation import CountQuery
from tests.conftest import clinic_policy, open_clinic
from tests.effort import EFFORT
from tests.engines import engine_of

SECRET = "alice-1970"  # noqa: S105
POLICY = clinic_policy(sa.KAnonymity(2), suppression_limit=0.5)

Session = sa.Session


class Exported:
    """Any other library's frame: it hands out its rows as Arrow does."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


FRAMES: dict[str, Callable[[Session], Any]] = {
    "pandas DataFrame": lambda session: rows_of(session).to_pandas().convert_dtypes(),
    "polars DataFrame": lambda session: pl.from_arrow(rows_of(session)),
    "Arrow table": lambda session: rows_of(session),
    "Arrow record batch": lambda session: rows_of(session).combine_chunks().to_batches()[0],
    "Arrow dataset": lambda session: dataset.dataset(rows_of(session)),
    "DuckDB relation": lambda session: session.connection.sql("FROM visits WHERE true"),
    "Arrow stream": lambda session: rows_of(session).to_reader(),
    "Arrow stream of another library": lambda session: Exported(rows_of(session)),
}


def rows_of(session: Session) -> pa.Table:
    return session.connection.sql("FROM visits").to_arrow_table()


def catalog(session: Session) -> list[Any]:
    query = "SELECT view_name FROM duckdb_views() WHERE NOT internal UNION ALL SELECT table_name FROM duckdb_tables()"
    return sorted(session.connection.execute(query).fetchall())


def published(session: Session, name: str) -> list[Any]:
    return session.connection.execute(f"FROM {name} ORDER BY ALL").fetchall()


@pytest.fixture(scope="module")
def published_clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with the visits and their release ``expected``, which nobody writes to."""
    path = tmp_path_factory.mktemp("clinic") / "clinic.duckdb"
    with duckdb.connect(str(path)) as connection:
        open_clinic(connection).anonymize("visits", POLICY, "expected")
    return path


@pytest.fixture
def clinic(published_clinic: Path, tmp_path: Path) -> Iterator[Session]:
    warehouse = shutil.copy(published_clinic, tmp_path)
    with duckdb.connect(warehouse, config={"threads": 1}) as connection:
        yield sa.connect(connection)


class TestSources:
    @pytest.mark.parametrize("kind", ["pandas DataFrame", "DuckDB relation", "Arrow stream"])
    def test_a_release_is_that_of_the_table(self, clinic: Session, kind: str) -> None:
        before = catalog(clinic)
        release = clinic.anonymize(FRAMES[kind](clinic), POLICY, "released")
        assert release.report.source == kind
        assert published(clinic, "released") == published(clinic, "expected")
        assert catalog(clinic) == sorted([*before, ("released",)])

    def test_rows_are_those_of_the_table(self, clinic: Session) -> None:
        """Of every kind, as a measurement of them shows."""
        before, found = catalog(clinic), []
        policy = POLICY.model_copy(update={"privacy": (sa.KAnonymity(2), sa.DistinctLDiversity("diagnosis", 2))})
        for kind, make in {"": lambda _: "visits", **FRAMES}.items():
            measured = clinic.measure(make(clinic), policy)
            assert kind.removesuffix(" of another library") in measured.source
            found.append(measured.model_copy(update={"source": ""}))
            assert catalog(clinic) == before
        assert found[1:] == found[:-1]

    def test_every_method_takes_it(self, clinic: Session, tmp_path: Path) -> None:
        before = catalog(clinic)

        def frame() -> Any:
            return FRAMES["Arrow stream"](clinic)

        assert clinic.measure(frame(), POLICY).row_count == 12
        assert clinic.lattice(frame(), POLICY).num_rows == 4 * 2 * 4
        assert clinic.explain(frame(), POLICY)
        clinic.partitions.fit(frame(), POLICY, tmp_path / "clinic.fit", accept_observed_domain=True)
        part = clinic.partitions.apply(frame(), tmp_path / "clinic.fit", tmp_path / "part.parquet")
        assert part.to_arrow().num_rows > 0
        roles = {"individual": "id", "event": "diagnosis", "order": "age", "first": 1}
        assert clinic.flatten(frame(), tmp_path / "flat.parquet", **roles).individuals == 12
        clinic.taxonomies.load("sex", sa.Taxonomy.flat(), source=frame())
        assert clinic.verify("expected", POLICY, source=frame()).met
        assert not clinic.verify(frame(), POLICY, strict=False).met
        workload = [CountQuery(column="sex")]
        errors = sa.evaluation.query_errors(clinic, frame(), "expected", workload).to_pylist()
        assert errors == sa.evaluation.query_errors(clinic, "visits", "expected", workload).to_pylist()
        assert catalog(clinic) == before

    def test_it_is_forgotten_after_a_failure(self, clinic: Session) -> None:
        def stop(event: sa.Event) -> None:
            if (event.stage, event.state) == ("release", "started"):
                raise KeyboardInterrupt

        before = catalog(clinic)
        for make in (FRAMES["polars DataFrame"], FRAMES["Arrow stream"]):
            with pytest.raises(KeyboardInterrupt):
                clinic.anonymize(make(clinic), POLICY, "released", progress=stop)
            with pytest.raises(sa.PolicyError):
                clinic.anonymize(make(clinic), clinic_policy(sa.KAnonymity(2), identifiers=[]), "released")
            assert catalog(clinic) == before

    def test_a_warehouse_that_is_read_only_reads_it_too(self, clinic: Session, tmp_path: Path) -> None:
        sa.connect(tmp_path / "w.duckdb").close()
        policy = sa.Policy(
            quasi_identifiers=["sex"], identifiers=["id", "age", "zip", "diagnosis"], privacy=[sa.KAnonymity(2)]
        )
        with sa.connect(tmp_path / "w.duckdb", read_only=True) as session:
            session.taxonomies.load("sex", sa.Taxonomy.flat(), source=FRAMES["pandas DataFrame"](clinic))
            release = session.anonymize(FRAMES["Arrow stream"](clinic), policy, tmp_path / "released.parquet")
            assert release.to_arrow().num_rows == release.report.rows.released


def read(frame: Any) -> list[list[Any]]:
    """The columns of a frame as its rows are read, each with its type first."""
    with duckdb.connect() as connection:
        frames = Frames(connection)
        with frames.during():
            found = connection.sql(f"FROM {frames.resolve(frame).relation.sql('duckdb')}")
            return [
                [str(kind), *values]
                for kind, values in zip(found.types, zip(*found.fetchall(), strict=True), strict=True)
            ]


MANY = 4001
"""More than the thousand objects that DuckDB looks at, for which it decides on a type."""


class TestColumnsOfPandas:
    def test_intervals_periods_and_sparse_columns(self) -> None:
        months = pd.PeriodIndex(["2024-01", None], freq="M")
        frame = pd.DataFrame(
            {
                "cut": pd.cut([20, 99], [0, 21, 99]),
                "half": pd.cut([0.5, float("nan")], [0, 1]),
                "interval": pd.arrays.IntervalArray.from_breaks([0, 1, 2]),
                "month": months,
                "months": pd.Categorical(months),
                "objects": pd.Series([*months], dtype=object),
                "sparse": pd.arrays.SparseArray([0, 7]),
                "gaps": pd.arrays.SparseArray(["a", None]),
                3: [1, 2],
            }
        )
        before = frame.copy()
        assert read(frame) == [
            ["VARCHAR", "(0, 21]", "(21, 99]"],
            ["VARCHAR", "(0.0, 1.0]", None],
            ["VARCHAR", "(0, 1]", "(1, 2]"],
            *[["VARCHAR", "2024-01", None]] * 3,
            ["BIGINT", 0, 7],
            ["VARCHAR", "a", None],
            ["BIGINT", 1, 2],
        ]
        pd.testing.assert_frame_equal(frame, before)

    def test_a_late_object_of_another_type_changes_nothing(self) -> None:
        """DuckDB would round 1.5 to 2, take 5 for true, cut the hour off, and cut decimals off."""
        local, zoned = datetime(2024, 1, 1, 5), datetime(2024, 1, 1, 5, tzinfo=timezone(timedelta(hours=3)))
        late = [
            ((1, 1.5), ("DOUBLE", 1.0, 1.5)),
            ((2**60 + 1, 1.5), ("VARCHAR", "1152921504606846977", "1.5")),
            ((1, 2**70), ("VARCHAR", "1", "1180591620717411303424")),
            ((1, "a"), ("VARCHAR", "1", "a")),
            ((True, 5), ("VARCHAR", "True", "5")),
            ((False, 0.5), ("VARCHAR", "False", "0.5")),
            ((Decimal(1), Decimal("1.23456")), ("DECIMAL(6,5)", Decimal("1.00000"), Decimal("1.23456"))),
            ((1, Decimal("1.5")), ("VARCHAR", "1", "1.5")),
            ((local.date(), local), ("VARCHAR", "2024-01-01", "2024-01-01 05:00:00")),
            ((local, zoned), ("VARCHAR", "2024-01-01 05:00:00", "2024-01-01 05:00:00+03:00")),
            ((1, None), ("BIGINT", 1, None)),
            ((None, "a"), ("VARCHAR", None, "a")),
        ]
        columns = [[first] * 7 + [other] + [first] * MANY for (first, other), _ in late]
        found = read(pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in enumerate(columns)}))
        assert [(kind, column[0], column[7]) for kind, *column in found] == [wanted for _, wanted in late]

    def test_a_private_method_reads_the_text_of_each_object(self) -> None:
        values = {"x": [1, None, 2], "y": [True, False, None], "z": [None] * 3}
        texts = [("1", "true", None), (None, "false", None), ("2", None, None)]
        with duckdb.connect() as connection:
            engine = engine_of(sa.connect(connection))
            with engine.reading_frames():
                for added in ((), (1.5, 5, "a"), ("a", date(2024, 1, 1), Decimal("1.50"))):
                    rows = [*zip(*values.values(), strict=True), *([added] if added else ())]
                    source = engine.unguessed(engine.resolve(pd.DataFrame(rows, columns=[*values], dtype=object)))
                    assert {found.type for found in engine.describe(source.relation)} == {"VARCHAR"}
                    found = connection.sql(f"FROM {source.relation.sql('duckdb')}").fetchall()
                    assert found == [*texts, *([tuple(map(str, added))] if added else ())]


class TestColumnsWithoutValues:
    """They have no type, and no value but NULL."""

    FRAME = pd.DataFrame({"age": [1, 2, 3, 4] * 40, "gone": [None] * 160, "illness": ["flu", "cold"] * 80})

    @pytest.mark.parametrize(
        "into", ["released", *(pytest.param(f"released.{kind}", marks=pytest.mark.deep) for kind in ("csv", "parquet"))]
    )
    def test_published_as_they_are(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, into: str) -> None:
        monkeypatch.chdir(tmp_path)
        roles: dict[str, Any] = {"quasi_identifiers": ["age"], "insensitive": ["gone"], "rest": "identifier"}
        policy = sa.Policy(**roles, taxonomies={"age": "flat"}, privacy=[sa.KAnonymity(2)])
        with sa.connect() as session:
            found = session.anonymize(self.FRAME, policy, into).to_arrow()
            assert found["gone"].null_count == 160
            assert found.schema.field("gone").type in (pa.string(), pa.int32()), "DuckDB 1.5 takes whole numbers"
            assert session.verify(into, policy, source=self.FRAME).met
            session.partitions.fit(self.FRAME, policy, "gone.fit", accept_observed_domain=True)
            assert session.partitions.apply(self.FRAME, "gone.fit", "part.csv").to_arrow().num_rows == 160
            session.flatten(self.FRAME, "flat.csv", individual="age", event="illness", order="illness", first=1)

    @pytest.mark.repeated
    def test_as_quasi_identifiers_of_every_method(self, tmp_path: Path) -> None:
        budget, observed = sa.Budget(1, "1e-6"), {"accept_observed_domain": True}
        illness = {"sensitive": ("illness",)}
        synthetic = sa.Synthetic(budget=budget, nulls=["gone"], **observed)
        methods: list[tuple[Any, dict[str, Any]]] = [
            (sa.FullDomain(), {"privacy": [sa.KAnonymity(2)], "minimum_levels": {"gone": 1}}),
            (sa.LocalRecoding(), {"privacy": [sa.KAnonymity(2)]}),
            (sa.Relocation(k=2), illness),
            (sa.HCeiling(k=2, h=0.5), illness),
            (sa.Histogram(budget=budget, **observed), illness),
            (sa.EpsilonSafe(k=10, beta="1/2", **observed), {}),
            (synthetic, {}),
        ]
        refused = [
            (sa.Synthetic(budget=budget, **observed), {}, '"gone" has no value but NULL: name it in nulls'),
            (sa.TopDownSpecialization(k=2, target="illness"), illness, '"gone" is NULL in 160 rows'),
            (sa.DiffGen("illness", **observed), illness, "only NULL is in the taxonomies.*\n.*gone"),
        ]
        given = {"quasi_identifiers": ("age", "gone"), "rest": "identifier"}
        taxonomies = {"age": "flat", "gone": "flat"}
        with sa.connect(ledger=tmp_path / "ledger.duckdb") as session:
            session.connection.register("frame", self.FRAME)
            session.connection.execute("CREATE TABLE people AS FROM frame")
            for method, more in methods if EFFORT >= 1 else methods[::3]:
                policy = sa.Policy(**given, taxonomies=taxonomies, method=method, **more)
                release = session.anonymize("people", policy, "released", replace=True)
                assert {*release.to_arrow()["gone"].to_pylist()} < {None, "*"}, method.model
            assert session.report("released", policy=policy, source="people").to_html()
            assert session.verify("released", policy).met
            for method, more, reason in refused:
                known = taxonomies | ({"illness": "flat"} if isinstance(method, sa.DiffGen) else {})
                policy = sa.Policy(**given, taxonomies=known, method=method, **more)
                with pytest.raises(sa.PolicyError, match=reason):
                    session.anonymize("people", policy, "released", replace=True)


class TestWhatIsNoSource:
    def test_columns_that_cannot_be_read(self) -> None:
        """All of them at once, by name."""
        number = pl.Series([1], dtype=pl.Int128)
        twice = pa.table([pa.array([1])] * 4, names=["x", "y", "X", "y"])
        wide = pa.table({"x": pa.array([Decimal(1)], pa.decimal256(50)), "y": [1]})
        cases = [
            (pd.DataFrame({"a": [1j], "b": [1], "c": [2j]}), r'"a" (complex128), "c" (complex128); cast them'),
            (pl.DataFrame({"a": number, "b": [1], "c": number}), '"a" (Int128), "c" (Int128); cast them'),
            (wide, '"x" (decimal256(50, 0)); cast them'),
            (wide.to_reader(), '"x" (decimal256(50, 0)); cast them'),
            (dataset.dataset(wide), '"x" (decimal256(50, 0)); cast them'),
            (twice, 'Arrow table have equal names: "x" and "X", "y" and "y"; rename them'),
            (pd.DataFrame([[1, 2]], columns=[0, "0"]), 'equal names: "0" and "0"; rename them'),
            (pl.DataFrame({"x": [1], "X": [1]}), 'equal names: "x" and "X"; rename them'),
            (
                pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])),
                "several levels: join them",
            ),
            (pd.DataFrame({"x": [1, object()], "y": [1, 2]}), 'without a text in "x": convert'),
            (pd.Series([1]), "pandas Series is one column of a table: give its to_frame()"),
            (pl.Series([1]), "polars Series is one column of a table: give its to_frame()"),
            (pa.chunked_array([[1]]), "pyarrow.table({name: array})"),
        ]
        for frame, reason in cases:
            with pytest.raises(sa.SqlanonError, match=re.escape(reason)):
                read(frame)

    def test_other_objects(self, clinic: Session) -> None:
        for given in (None, 7, [("a", 1)], object(), b"visits", pl.DataFrame):
            with pytest.raises(sa.PolicyError, match=f"a source is a name.*not a {type(given).__name__}"):
                clinic.measure(given, POLICY)
        with pytest.raises(sa.PolicyError, match="a policy of one table takes one"):
            clinic.measure({"a": [1]}, POLICY)
        odd = pl.DataFrame({"age": [34], "odd": [object()]})
        reader = rows_of(clinic).to_reader()
        reader.read_all()
        with duckdb.connect() as other:
            for given, reason in (
                (pl.LazyFrame({"age": [1]}), r"LazyFrame.*collect\(\)"),
                (pd.DataFrame(), "pandas DataFrame cannot be read"),
                (other.sql("SELECT 1 AS age"), "one of the session's own connection"),
                (odd, 'polars DataFrame has Python objects in "odd": cast them'),
                (reader, "."),
            ):
                with pytest.raises(sa.SqlanonError, match=reason):
                    clinic.anonymize(given, POLICY, "released")

    def test_what_a_frame_reads_is_not_replaced(self, clinic: Session, tmp_path: Path) -> None:
        file = tmp_path / "visits.parquet"
        clinic.connection.execute(f"COPY visits TO '{file}'")
        before = file.read_bytes(), published(clinic, "visits")
        files = dataset.dataset(file)
        for frame, into in (
            (files, file),
            (dataset.UnionDataset(files.schema, [files]), file),
            (clinic.connection.read_parquet(str(file)), file),
            (clinic.connection.sql("FROM visits"), "visits"),
        ):
            with pytest.raises(sa.EngineError, match="its own source"):
                clinic.anonymize(frame, POLICY, into, replace="anything")
        assert (file.read_bytes(), published(clinic, "visits")) == before

    def test_the_query_that_lists_what_has_no_label_reads_what_outlives_the_run(self, clinic: Session) -> None:
        frame = rows_of(clinic).to_pandas().astype({"zip": object})
        frame.loc[3, "zip"] = SECRET
        with pytest.raises(sa.TaxonomyError) as refused:
            clinic.anonymize(frame, POLICY, "released")
        assert SECRET not in str(refused.value)
        (query,) = re.findall('"zip": .* list them by (.*)$', str(refused.value), re.MULTILINE)
        the_source = frame
        assert clinic.connection.execute(query).fetchall() == [(SECRET, 1)]
        assert the_source is frame

    def test_a_private_method_needs_the_name_of_the_data_set(self, clinic: Session, tmp_path: Path) -> None:
        policy = sa.Policy(
            quasi_identifiers=["age", "sex", "zip"],
            sensitive=["diagnosis"],
            identifiers=["id"],
            method=sa.IPA(budget=sa.Budget(1, "1e-6"), accept_observed_domain=True),
        )
        charged = sa.connect(clinic.connection, ledger=tmp_path / "ledger.duckdb")
        with pytest.raises(sa.PolicyError, match=r"pandas DataFrame is neither a table.*dataset="):
            charged.anonymize(rows_of(clinic).to_pandas(), policy, "released")


class TestReleasesAsFrames:
    def test_what_was_written(self, clinic: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        release = clinic.anonymize("visits", POLICY, "released/", partition_by="sex")
        monkeypatch.chdir("/")
        expected = sorted(map(str, clinic.connection.sql("FROM expected").to_arrow_table().to_pylist()))
        assert sorted(map(str, release.to_arrow().to_pylist())) == expected
        assert sorted(map(str, release.pl().to_dicts())) == expected
        assert isinstance(release.df(), pd.DataFrame)
        assert release.df().shape == release.to_arrow().shape

    @pytest.mark.parametrize(("missing", "into"), [("pandas", "typed"), ("polars", "typed.parquet")])
    def test_types_and_missing_values_are_those_that_the_guide_names(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str, into: str
    ) -> None:
        """Quasi-identifiers are text at level 0, too; other columns keep their types; pandas means NULL by nan."""
        monkeypatch.chdir(tmp_path)
        values = {"age": [1, 2] * 5, "ward": ["a"] * 10, "weight": [float("nan"), 1.5] * 5}
        frame = pd.DataFrame(values, index=range(5, 15)) if missing == "pandas" else pl.DataFrame(values)
        columns = {"quasi_identifiers": ["age"], "insensitive": ["ward", "weight"], "taxonomies": {"age": "flat"}}
        with sa.connect() as session:
            release = session.anonymize(frame, {"privacy": [{"model": "k-anonymity", "k": 5}], **columns}, into)
            assert release.node == {"age": 0}
            found = release.to_arrow()
        assert [str(field.type) for field in found.schema] == ["string", "string", "double"]
        assert found["weight"].null_count == (5 if missing == "pandas" else 0)

    def test_of_a_table_as_rows_and_as_a_document(self, clinic: Session) -> None:
        """And what cannot be had any more."""
        release = clinic.anonymize("visits", POLICY, "released")
        expected = clinic.connection.sql("FROM expected").to_arrow_table().to_pylist()
        for found in (release.to_arrow().to_pylist(), release.pl().to_dicts()):
            assert sorted(map(str, found)) == sorted(map(str, expected))
        assert list(release.model_dump()) == ["into", "node", "guarantee", "report", "unchanged", "tables"]
        again = sa.Release.model_validate_json(release.model_dump_json())
        assert again == release
        for copied in (copy.deepcopy(release), pickle.loads(pickle.dumps(release)), release.model_copy()):  # noqa: S301
            assert copied == release
        for without in (again, pickle.loads(pickle.dumps(release))):  # noqa: S301
            with pytest.raises(sa.EngineError, match="without the session that published it"):
                without.to_arrow()
        with mock.patch.dict(sys.modules, polars=None), pytest.raises(sa.EngineError, match="polars is not installed"):
            release.pl()
        clinic.connection.execute("DROP TABLE released")
        with pytest.raises(sa.EngineError):
            release.df()
        clinic.close()
        with pytest.raises(sa.EngineError, match="the session is closed"):
            release.to_arrow()


CALLS: dict[str, Callable[[Session], object]] = {
    "lattice": lambda session: session.lattice("visits", POLICY),
    "explore": lambda session: session.explore("visits", POLICY),
    "exploration": lambda session: session.exploration("visits", POLICY),
    "compare_releases": lambda session: session.compare_releases(["expected", "expected"], source="visits"),
    "suggest": lambda session: session.suggest("visits"),
    "suggest_linked": lambda session: session.suggest_linked(),
    "columns": lambda session: session.columns("visits"),
    "overview": lambda session: session.overview(),
    "profile": lambda session: session.profile("visits"),
    "risk": lambda session: session.risk("visits", ["age"], population=1000),
    "compare": lambda session: session.compare("visits", "visits", key="id"),
    "measure": lambda session: session.measure("visits", POLICY),
    "explain": lambda session: session.explain("visits", POLICY),
    "anonymize": lambda session: session.anonymize("visits", POLICY, "released"),
    "partitions.fit": lambda session: session.partitions.fit("visits", POLICY, "clinic.fit"),
    "partitions.apply": lambda session: session.partitions.apply("visits", "clinic.fit", "released"),
    "flatten": lambda session: session.flatten(
        "visits", "flat", individual="id", event="diagnosis", order="age", first=1
    ),
    "generalize": lambda session: session.generalize("visits", "expected", "like_expected"),
    "verify": lambda session: session.verify("expected", POLICY),
    "sample_rows": lambda session: session.sample_rows("visits", "expected"),
    "provenance": lambda session: session.provenance("expected"),
    "install": lambda session: session.install(),
    "report": lambda session: session.report("visits"),
    "contract": lambda session: session.contract("visits"),
    "taxonomies.load": lambda session: session.taxonomies.load("age", sa.Taxonomy.flat([1])),
    "taxonomies.load_all": lambda session: session.taxonomies.load_all({"age": sa.Taxonomy.flat([1])}),
    "taxonomies.make": lambda session: session.taxonomies.make("age", "flat", values=[1]),
    "taxonomies.preview": lambda session: session.taxonomies.preview("flat", "visits", "age"),
    "taxonomies.list": lambda session: session.taxonomies.list(),
    "taxonomies.check": lambda session: session.taxonomies.check(),
    "taxonomies.export": lambda session: session.taxonomies.export("age", "age.csv"),
    "connection": lambda session: session.connection,
    "ledger.spent": lambda session: session.ledger.spent("visits"),
    "ledger.spent_in_rho": lambda session: session.ledger.spent_in_rho("visits"),
    "ledger.remaining": lambda session: session.ledger.remaining("visits"),
    "ledger.cap": lambda session: session.ledger.cap("visits", None),
    "ledger.knows": lambda session: session.ledger.knows("visits"),
    "ledger.dataset_named": lambda session: session.ledger.dataset_named("visits"),
    "ledger.entries": lambda session: session.ledger.entries(),
    "ledger.verify": lambda session: session.ledger.verify(),
    "releases.list": lambda session: session.releases.list(),
    "releases.forget": lambda session: session.releases.forget("released", reason="a test"),
}


class TestClosedSessions:
    def test_all_that_is_public_is_tried(self) -> None:
        verbs = {name for name, _ in inspect.getmembers(sa.Session) if not name.startswith("_")}
        for name, part in PARTS_OF_SESSIONS.items():
            verbs |= {f"{name}.{verb}" for verb in vars(part) if not verb.startswith("_")}
        assert verbs - {"close"} == set(CALLS)

    def test_they_say_so(self, clinic: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        with sa.connect() as own:
            pass
        for session in (own, clinic):
            session.close()
            for call in CALLS.values():
                with pytest.raises(sa.EngineError, match="the session is closed"):
                    call(session)
        assert [path.name for path in tmp_path.iterdir()] == ["clinic.duckdb"]

    def test_a_lent_connection_stays_open(self, clinic: Session) -> None:
        connection = clinic.connection
        clinic.close()
        clinic.close()
        assert connection.execute("SELECT count(*) FROM visits").fetchall() == [(12,)]
        assert sa.connect(connection).measure("visits", POLICY).row_count == 12

    def test_a_connection_that_was_closed_is_told_of(self) -> None:
        session = sa.connect()
        session.connection.close()
        with pytest.raises(sa.EngineError, match="the connection is closed"):
            session.measure("visits", POLICY)
        session.close()
