"""Charges that are added up in ρ: what they come to, caps on them, and ledgers that were made before it was noted."""

import json
from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from unittest import mock

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.chance.accountant import Accountant, RhoPortions
from sqlanon.chance.scales import epsilon_of, rho_of
from sqlanon.engines.duckdb import OpenedDatabase
from sqlanon.ledger.charged_sources import open_ledger
from sqlanon.ledger.ledger import WarehouseLedger
from sqlanon.ledger.ledger_table import first_broken
from sqlanon.model.budget import Budget
from tests.commands import sqlanon
from tests.engines import engine_of
from tests.full.test_ledger_places import at_once
from tests.stories.test_ledger import HASH, at, change, expense

ONE = Budget(1, "1e-6")


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[WarehouseLedger]:
    with closing(OpenedDatabase.at(tmp_path / "w.duckdb").engine()) as engine:
        yield open_ledger(engine, None)


def run(ledger: WarehouseLedger, budget: Budget = ONE) -> RhoPortions:
    """Charge what a run of synthetic rows does."""
    return Accountant(ledger, dataset="visits", method="synthetic", policy_sha256=HASH).charge_in_rho("rows", budget)


class TestSums:
    def test_runs_of_one_budget(self, ledger: WarehouseLedger) -> None:
        """spec/synthetic.md, section 2: the digits."""
        found = {}
        for count in range(1, 11):
            whole = run(ledger)
            if count in (1, 2, 4, 10):
                account = ledger.account("visits")
                assert account.in_rho is not None and account.in_rho.delta == ONE.delta
                found[count] = round(float(account.in_rho.epsilon), 4)
                exactly = epsilon_of(account.rho or Fraction(0), ONE.delta)
                assert exactly <= account.in_rho.epsilon <= exactly * (1 + 1e-5), "not below what was spent"
        assert found == {1: 1, 2: 1.4510, 4: 2.1117, 10: 3.4914}
        assert ledger.account("visits").spent == Budget(10, "1e-5")
        assert [Fraction(entry.rho or 0) for entry in ledger.entries()] == [whole.rho] * 10
        assert ledger.account("visits").rho == 10 * rho_of(ONE)

    @given(
        budgets=st.lists(
            st.tuples(st.fractions("1/100", 20, max_denominator=100), st.integers(3, 30)), min_size=2, max_size=6
        )
    )
    def test_it_is_the_smaller_sum(self, budgets: list[tuple[Fraction, int]]) -> None:
        """Where each charge has the ρ of its (ε, δ); by the proof in the docstring of accounts."""
        total = Budget(sum(epsilon for epsilon, _ in budgets), sum(Fraction(1, 10**digits) for _, digits in budgets))
        rho = sum(rho_of(Budget(epsilon, Fraction(1, 10**digits))) for epsilon, digits in budgets)
        assert rho <= rho_of(total) + len(budgets) * 2 * total.delta**2


class TestCaps:
    def test_one_on_epsilon_and_delta_takes_what_it_took(self, ledger: WarehouseLedger) -> None:
        """Whichever sum is smaller: a cap that took either would let some histories fail with δ by each of them."""
        ledger.cap("visits", Budget("1.4511", "1e-6"))
        run(ledger)
        with pytest.raises(sa.BudgetError, match="has less left"):
            run(ledger)

    def test_a_whole_cap_can_be_spent_and_not_a_bit_more(self, ledger: WarehouseLedger) -> None:
        ledger.cap("visits", ONE, in_rho=True)
        assert ledger.account("visits").remaining == ONE
        run(ledger)
        assert ledger.account("visits").remaining == Budget(0)
        with pytest.raises(sa.BudgetError):
            ledger.commit([expense(Fraction(1, 10**20))])
        assert ledger.commit([expense(0)]) == [2]

    def test_what_is_left_can_be_spent(self, ledger: WarehouseLedger) -> None:
        ledger.cap("visits", Budget(3, "1e-6"), in_rho=True)
        for spent in (ONE, Budget("0.5", "1e-9"), Budget(1, "1e-7")):
            run(ledger, spent)
        left = ledger.account("visits").remaining
        assert left is not None and 2 < left.epsilon < 3
        run(ledger, left)
        rest = ledger.account("visits").remaining
        assert rest is not None and rest.epsilon < Fraction(1, 100)

    def test_a_cap_that_has_no_rho(self, ledger: WarehouseLedger) -> None:
        for budget in (Budget(1), Budget(0, "1e-6")):
            with pytest.raises(sa.BudgetError, match="buys nothing"):
                ledger.cap("visits", budget, in_rho=True)
        assert not ledger.entries()


OLDER = """
CREATE TABLE anon.ledger (
    position BIGINT PRIMARY KEY, kind VARCHAR NOT NULL CHECK (kind IN ('charge', 'cap')), dataset VARCHAR NOT NULL,
    method VARCHAR, purpose VARCHAR, epsilon VARCHAR, delta VARCHAR, spent_at TIMESTAMP NOT NULL, policy_sha256 VARCHAR,
    previous_sha256 VARCHAR NOT NULL, sha256 VARCHAR NOT NULL, unit VARCHAR, individual VARCHAR,
    rows_per_individual BIGINT, sources STRUCT("name" VARCHAR, fingerprint VARCHAR)[], public VARCHAR[]
)
"""


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """A ledger as it was before charges had a ρ and rows a nonce, with a cap and two charges."""
    path = tmp_path / "older.duckdb"
    ledger = at(path)
    with mock.patch("sqlanon.ledger.ledger.nonce", return_value=None):
        ledger.cap("visits", Budget(4, "1e-5"))
        ledger.commit([expense("0.5"), expense("0.25", "1e-6")])
    change(
        path,
        "CREATE TABLE kept AS SELECT * EXCLUDE (rho, nonce) FROM anon.ledger",
        "DROP TABLE anon.ledger",
        OLDER,
        "INSERT INTO anon.ledger FROM kept",
        "DROP TABLE kept",
    )
    return path


class TestOlderLedgers:
    HEAD_COLUMNS = "position, epsilon, sha256"

    def test_they_are_read_as_they_are(self, older: Path) -> None:
        before = older.read_bytes()
        with sa.connect(ledger=older) as session:
            assert session.ledger.spent("visits") == Budget("0.75", "1e-6")
            assert session.ledger.entries()["rho"].to_pylist() == [None] * 3
            assert len(session.ledger.verify()) == 64
        assert older.read_bytes() == before

    def test_the_first_charge_adds_the_columns(self, older: Path) -> None:
        rows = f"SELECT {self.HEAD_COLUMNS} FROM anon.ledger WHERE position < 3 ORDER BY position"
        with duckdb.connect(str(older)) as connection:
            before = connection.execute(rows).fetchall()
        run(at(older))
        with duckdb.connect(str(older)) as connection:
            assert connection.execute(rows).fetchall() == before
            columns = connection.execute("SELECT column_name FROM (DESCRIBE anon.ledger)").fetchall()
            constraints = connection.execute("SELECT constraint_type FROM duckdb_constraints()").fetchall()
        assert columns[-2:] == [("rho",), ("nonce",)]
        assert ("PRIMARY KEY",) in constraints and ("CHECK",) in constraints
        found = at(older)
        assert [each.rho is None for each in found.entries()] == [True, True, True, False]
        assert [each.nonce is None for each in found.entries()] == [True, True, True, False]
        assert first_broken(found.entries()) is None
        assert found.commit([expense("0.1")]) == [4]

    def test_several_that_add_them_at_once(self, older: Path) -> None:
        """Each by a connection of its own."""

        def spend() -> object:
            with closing(OpenedDatabase.at(":memory:").engine()) as engine:
                return run(open_ledger(engine, older)).rho

        assert sorted(map(str, at_once(spend))) == [*[str(rho_of(ONE))] * 3, "BudgetError"]
        assert len(at(older).entries()) == 6

    def test_of_a_warehouse(self, older: Path) -> None:
        """Where the connections of one process change the table together."""
        change(older, "CREATE TABLE visits AS SELECT 1 AS i")
        with closing(OpenedDatabase.at(older).engine()) as engine:

            def spend() -> object:
                own = OpenedDatabase(engine.connection.cursor(), owned=True).engine()
                return run(open_ledger(own, None)).rho

            assert sorted(map(str, at_once(spend))) == [*[str(rho_of(ONE))] * 3, "BudgetError"]
            assert open_ledger(engine, None).account("visits").spent == Budget("3.75", "4e-6")


class TestSessions:
    def test_a_custodian_sees_and_bounds_rho(self, tmp_path: Path) -> None:
        with sa.connect(ledger=tmp_path / "b.duckdb") as session:
            session.ledger.cap("visits", sa.Budget(2, "1e-6"), in_rho=True)
            run(open_ledger(engine_of(session), session.ledger.file))
            run(open_ledger(engine_of(session), session.ledger.file))
            assert session.ledger.spent("visits") == sa.Budget(2, "2e-6")
            total, left = session.ledger.spent_in_rho("visits"), session.ledger.remaining("visits")
            assert total is not None and round(float(total.epsilon), 4) == 1.4510
            assert left is not None and left.delta == ONE.delta
            assert session.ledger.spent_in_rho("patients") is None
            assert [each is None for each in session.ledger.entries()["rho"].to_pylist()] == [False] * 3

    def test_the_commands(self, tmp_path: Path) -> None:
        place = ("--ledger", "b.duckdb")
        budget = ("--epsilon", "2", "--delta", "1e-6")
        capped = sqlanon("ledger", "cap", "visits", *place, *budget, "--in-rho", folder=tmp_path)
        assert "may spend (ε = 2, δ = 0.000001) in all, added up in ρ;" in capped.stderr
        for _ in range(2):
            run(at(tmp_path / "b.duckdb"))
        shown = sqlanon("ledger", "show", *place, folder=tmp_path).stdout
        assert "added up in ρ" in shown and "1.451" in shown
        (found,) = json.loads(sqlanon("ledger", "show", *place, "--json", folder=tmp_path).stdout)["datasets"]
        assert found["cap_in_rho"] is True
        assert found["spent"] == {"epsilon": "2", "delta": "0.000002"}
        assert found["spent_in_rho"]["epsilon"].startswith("1.45")
        lifted = sqlanon("ledger", "cap", "visits", *place, "--lift", "--in-rho", folder=tmp_path)
        assert lifted.returncode == 2
