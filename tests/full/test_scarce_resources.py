"""Too little memory, files that may not grow, and warehouses that cannot be written: in words, and nothing is left."""

import os
import re
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import duckdb
import pytest

import sqlanon as sa
from sqlanon.cli.command import writing
from sqlanon.engines.duckdb.refusals import not_opened, refused
from sqlanon.model.destination import destination
from tests.conftest import clinic_policy, open_clinic

POLICY = clinic_policy(sa.KAnonymity(2), suppression_limit=0.5)
PRIVATE = sa.Policy(
    quasi_identifiers=["age", "sex", "zip"],
    sensitive=["diagnosis"],
    identifiers=["id"],
    method=sa.IPA(budget=sa.Budget(1, "0.01"), accept_observed_domain=True),
)


@pytest.fixture
def warehouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("clinic.duckdb") as connection:
        open_clinic(connection)
    return tmp_path / "clinic.duckdb"


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """No file of this process may grow beyond this many bytes; Python ignores the signal."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def here() -> list[str]:
    return [path.name for path in Path().iterdir()]


class TestFilesThatMayNotGrow:
    def test_a_release(self, warehouse: Path) -> None:
        with sa.connect(warehouse, read_only=True) as session:
            for target in ("released.parquet", "released.csv", "released/"):
                for size in (100, 2_000):
                    with file_size_limit(size), pytest.raises(sa.EngineError, match=r"(?i)file.* (is|too) large"):
                        session.anonymize("visits", POLICY, target)
                    assert here() == ["clinic.duckdb"]
            session.anonymize("visits", POLICY, target)

    def test_a_new_warehouse(self, tmp_path: Path) -> None:
        with file_size_limit(8_192), pytest.raises(sa.EngineError, match=r"cannot be opened: a file is larger than"):
            sa.connect(tmp_path / "new.duckdb")
        assert not list(tmp_path.iterdir())

    @pytest.mark.deep
    def test_a_fit(self, warehouse: Path) -> None:
        """Its file has no write-ahead log beside it, not even where it cannot be written."""
        with sa.connect(warehouse, read_only=True) as session:
            fit, apply = partial(session.partitions.fit, accept_observed_domain=True), session.partitions.apply
            with file_size_limit(100_000), pytest.raises(sa.EngineError, match="a file is larger than"):
                fit("visits", POLICY, "visits.fit")
            assert here() == ["clinic.duckdb"]
            fit("visits", POLICY, "visits.fit")
            size = Path("visits.fit").stat().st_size
            for call in (
                lambda: apply("visits", "visits.fit", "released.parquet"),
                lambda: fit("visits", POLICY, "visits.fit", replace=True),
            ):
                with file_size_limit(size - 1), pytest.raises(sa.EngineError, match="a file is larger than"):
                    call()
                assert sorted(here()) == ["clinic.duckdb", "visits.fit"]
            # What a process that was killed leaves behind, there and beside a fit that never was.
            for name in ("visits.fit.wal", ".other.fit.run.0.staged.wal"):
                Path(name).touch()
            apply("visits", "visits.fit", "released.parquet")
            fit("visits", POLICY, "other.fit")
            assert not [*Path().glob("*.wal")]

    def test_a_new_ledger(self, warehouse: Path) -> None:
        with sa.connect(warehouse, ledger="ledger.duckdb") as session:
            for _ in range(2):
                with file_size_limit(8_192), pytest.raises(sa.EngineError, match=r"ledger .* a file is larger than"):
                    session.anonymize("visits", PRIVATE, "released.parquet")
                assert not Path("ledger.duckdb").exists()
                assert not Path("released.parquet").exists()
            session.anonymize("visits", PRIVATE, "released.parquet")
            assert session.ledger.spent("visits").epsilon == 1


class TestFileHandles:
    def test_what_is_there_is_not_judged(self, warehouse: Path) -> None:
        """No target is taken for somebody else's, and no file for another kind, because it could not be opened."""
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        with sa.connect(warehouse, read_only=True) as session:
            for target in ("released.parquet", "released.csv", "released/"):
                session.anonymize("visits", POLICY, target)
                os.close(free := os.dup(0))
                for call in (
                    partial(session.anonymize, "visits", POLICY, target, replace=True),
                    partial(session.verify, target, POLICY),
                ):
                    for limit in (free, free + 1, free + 2):
                        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, before[1]))
                        try:
                            call()
                        except (sa.EngineError, OSError) as error:
                            assert re.search("it may open no more files|Too many open files", str(error))
                        finally:
                            resource.setrlimit(resource.RLIMIT_NOFILE, before)


class TestMemory:
    def test_a_limit_that_is_too_small(self, warehouse: Path) -> None:
        for limit in ("1B", "100KB", "1MB", "2MB"):
            with (
                pytest.raises(sa.EngineError, match=r"ran out of memory; raise memory_limit|memory_limit is too small"),
                sa.connect(warehouse, read_only=True, memory_limit=limit) as session,
            ):
                session.anonymize("visits", POLICY, "released.parquet")
            assert here() == ["clinic.duckdb"]

    def test_a_commit(self) -> None:
        text = "Failed to commit: could not allocate block of size 256.0 KiB (9 KiB/9 KiB used)"
        found = refused(duckdb.TransactionException(f"TransactionContext Error: {text}"), "commit", None)
        assert "ran out of memory; raise memory_limit, which is 9 KiB, or" in str(found)

    def test_a_taxonomy_file_that_is_too_large(self, warehouse: Path) -> None:
        Path("codes.csv").write_text(
            "".join(f"a code of many letters {code};group {code // 9};*\n" for code in range(99_999))
        )
        with sa.connect(warehouse, memory_limit="30MB") as session:
            before = session.taxonomies.list()
            with pytest.raises(sa.EngineError, match=r"raise memory_limit, which is 28\.6 MiB, or"):
                session.taxonomies.load("code", "codes.csv")
            assert session.taxonomies.list() == before


class TestWarehousesThatCannotBeWritten:
    def test_a_private_release_into_a_file(self, warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The command would open the warehouse for its ledger; the file permissions say that it cannot."""
        monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK or Path(path) != warehouse)
        with (
            writing(warehouse, destination("released.parquet"), is_charged=True) as session,
            pytest.raises(sa.EngineError, match=r"open read-only.*charged to a ledger.*another file with ledger="),
        ):
            session.anonymize("visits", PRIVATE, "released.parquet")
        assert here() == ["clinic.duckdb"]
        with writing(warehouse, destination("released.parquet"), Path("l.duckdb"), is_charged=True) as session:
            session.anonymize("visits", PRIVATE, "released.parquet")

    def test_what_the_system_says(self) -> None:
        for reason in ("Permission denied", "Operation not permitted", "Read-only file system"):
            error = not_opened("w.duckdb", duckdb.IOException(f'IO Error: Cannot open file "w.duckdb": {reason}'))
            assert "cannot be opened for writing; open it with read_only=True" in str(error)


def test_a_policy_that_is_nested_too_deep(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    for value in ("[" * 5_000 + "]" * 5_000, "{a=" * 5_000 + "1" + "}" * 5_000):
        file.write_text(f"quasi_identifiers = {value}\n")
        with pytest.raises(sa.PolicyError, match=r"policy\.toml is not valid TOML: .*nested too deep"):
            sa.Policy.from_toml(file)
