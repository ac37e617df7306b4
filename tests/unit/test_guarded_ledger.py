"""What a ledger adds up, refuses and seals, entry by entry, without a database."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from typing import Any

import pytest

import sqlanon as sa
from sqlanon.ledger import accounts
from sqlanon.ledger.ledger_table import START, Entry, chained, first_broken, head, secret
from sqlanon.model.budget import Budget, Unit
from sqlanon.model.names import KnownSource


def entry(epsilon: str | None = "1", delta: str | None = "0", kind: Any = "charge", **more: Any) -> Entry:
    found = Entry(0, kind, "visits", "ipa", "count", epsilon, delta, datetime(2026, 1, 1), "ab", unit="row")
    return replace(found, **more)


def cap(epsilon: str | None, delta: str | None = "0", **more: Any) -> Entry:
    return entry(epsilon, delta, "cap", **more)


OTHER = entry("5", "0.1", dataset="others", rho="3")


class TestAccounts:
    def test_of_charges_to_one_data_set(self) -> None:
        found = accounts.account([entry("1", "1e-6"), OTHER, entry("2", "1e-5")], "visits")
        assert found == accounts.Account(Budget(3, "11e-6"), None, Unit(), None, None, Fraction("1e-5"))
        assert found.remaining is None
        assert found.in_rho is None
        assert accounts.spending([entry("1", "0.6"), entry("1", "0.6")], "visits") == (2, Fraction("1.2"))

    def test_of_nothing(self) -> None:
        assert accounts.account([OTHER], "visits") == accounts.Account(Budget(0), None, None, Fraction(0))

    def test_the_last_cap_holds(self) -> None:
        found = accounts.account([cap("9"), entry(), cap("3", "0.5"), cap("7", dataset="others")], "visits")
        assert (found.cap, found.remaining) == (Budget(3, "0.5"), Budget(2, "0.5"))
        assert found.delta == Fraction(1, 2)
        assert accounts.account([cap("9"), cap(None, None)], "visits").cap is None
        assert accounts.account([cap("1", "0.1"), entry("2", "0.2")], "visits").remaining == Budget(0, 0)

    def test_delta_is_that_of_the_cap_if_it_has_one(self) -> None:
        charged = entry("1", "0.01", rho="0.5")
        assert accounts.account([charged, cap("3")], "visits").delta == Fraction("0.01")
        assert accounts.account([charged, cap("3", "0.001")], "visits").delta == Fraction("0.001")

    def test_in_rho(self) -> None:
        """A charge of (ε, 0) has half of the square of its ε; one with a δ has what is noted, or nothing."""
        noted = entry("1", "1e-6", rho="0.02")
        assert accounts.spending_in_rho([noted, entry("3"), OTHER, cap("9", rho="1")], "visits") == Fraction("4.52")
        assert accounts.spending_in_rho([noted, entry("1", "1e-6")], "visits") is None
        found = accounts.account([cap("2", "1e-6", rho="0.09"), noted], "visits")
        assert (found.rho, found.rho_cap) == (Fraction("0.02"), Fraction("0.09"))
        assert found.in_rho == Budget("0.899936", "1e-6")
        assert found.remaining == Budget("1.76493", "1e-6")

    def test_what_remains_of_a_cap_in_rho(self) -> None:
        capped = cap("2", "1e-6", rho="0.09")
        assert accounts.account([capped], "visits").remaining == Budget(2, "1e-6")
        for spent in (entry("1", "1e-6"), entry("1", "1e-6", rho="0.1")):
            assert accounts.account([capped, spent], "visits").remaining == Budget(0)
        assert accounts.account([capped, entry("1")], "visits").in_rho is not None
        assert accounts.account([entry("1")], "visits").in_rho is None


def shortfalls(*before: Entry, asked: Entry) -> list[str]:
    return [*accounts.shortfalls("visits", accounts.account(before, "visits"), [asked])]


class TestRefusals:
    def test_a_cap_can_be_spent_to_the_last_digit(self) -> None:
        assert shortfalls(cap("3", "0.5"), entry("1", "0.2"), asked=entry("2", "0.3")) == []
        assert shortfalls(cap("3"), entry("1"), asked=entry("2.000001")) == [
            'data set "visits": ε = 2.000001 is asked for, 2 is left of 3'
        ]
        assert shortfalls(cap("3", "0.5"), entry("9", "0.2"), asked=entry("0", "0.4")) == [
            'data set "visits": ε = 0 is asked for, 0 is left of 3',
            'data set "visits": δ = 0.4 is asked for, 0.3 is left of 0.5',
        ]

    def test_delta_stays_below_1(self) -> None:
        [problem] = shortfalls(entry("7", "0.5"), asked=entry("7", "0.5"))
        assert "δ would add up to 1, and 1 promises nothing" in problem
        assert shortfalls(entry("7", "0.5"), asked=entry("7", "0.499")) == []

    def test_a_cap_in_rho(self) -> None:
        capped, spent = cap("2", "1e-6", rho="0.09"), entry("1", "1e-6", rho="0.02")
        assert shortfalls(capped, spent, asked=entry("9", "1e-6", rho="0.07")) == []
        [problem] = shortfalls(capped, spent, asked=entry("1", "1e-6", rho="0.071"))
        assert "ρ = 0.071 is asked for, 0.07 is left of 0.09: (ε = 1.76493, δ = 0.000001) for one run" in problem
        [problem] = shortfalls(capped, entry("9", "1e-6", rho="0.2"), asked=entry("1", "1e-6", rho="0.07"))
        assert "0 is left of 0.09" in problem

    @pytest.mark.parametrize(("before", "asked"), [(None, "0.01"), ("0.01", None)])
    def test_a_cap_in_rho_and_a_loss_without(self, before: str | None, asked: str | None) -> None:
        capped, spent = cap("2", "1e-6", rho="0.09"), entry("1", "1e-6", rho=before)
        [problem] = shortfalls(capped, spent, asked=entry("1", "1e-6", rho=asked))
        assert ("an earlier charge" if before is None else "the run") in problem
        assert "has a δ above 0 but no ρ" in problem

    def test_more_than_is_left(self) -> None:
        before = [cap("3"), entry("2")]
        accounts.refuse_overspending(before, [entry("1"), cap("1")])
        with pytest.raises(sa.BudgetError, match="sqlanon ledger cap") as refused:
            accounts.refuse_overspending(before, [entry("1"), entry("1"), OTHER])
        assert refused.value.problems == ('data set "visits": ε = 2 is asked for, 1 is left of 3',)
        accounts.refuse_overspending([*before, entry("9")], [cap("20")])

    def test_other_units(self) -> None:
        people = {"unit": "individual", "individual": "id"}
        for before, asked in ((entry(), entry(**people)), (entry(**people), entry()), (entry(), cap("1", **people))):
            with pytest.raises(sa.PolicyError, match="different units") as refused:
                accounts.refuse_what_cannot_be_added([before], [asked])
            assert ("and the cap is about" in str(refused.value)) == (asked.kind == "cap")
        with pytest.raises(sa.PolicyError, match='how many of "family" belong to one of "id"'):
            accounts.refuse_what_cannot_be_added([entry(**people)], [entry(**people | {"individual": "family"})])
        with pytest.raises(sa.PolicyError, match="is asked for on all rows"):
            accounts.refuse_what_cannot_be_added([entry()], [entry(**people), cap("1", **people)])
        accounts.refuse_what_cannot_be_added([entry(), OTHER], [entry(), cap("1", unit=None)])
        accounts.refuse_what_cannot_be_added([], [entry(**people)])
        accounts.refuse_what_cannot_be_added([entry()], [cap("1", unit=None)])
        accounts.refuse_what_cannot_be_added([replace(OTHER, **people)], [entry()])

    def test_sources_of_others(self) -> None:
        source = [{"name": "memory.main.t", "fingerprint": None}]
        before = [entry(dataset="others", sources=source)]
        with pytest.raises(sa.PolicyError, match='"others"'):
            accounts.refuse_sources_of_others(before, [entry(sources=source)])
        with pytest.raises(sa.PolicyError, match='"others"'):
            accounts.refuse_sources_of_others(before, [entry(dataset="memory.main.t")])
        accounts.refuse_sources_of_others(before, [entry(dataset="others", sources=source), entry()])

    def test_data_sets_without_a_cap(self) -> None:
        accounts.refuse_uncapped([cap("1")], ["visits"])
        with pytest.raises(sa.BudgetError, match="without a cap"):
            accounts.refuse_uncapped([cap("1")], ["visits", "others"])


class TestChains:
    @pytest.fixture
    def chain(self) -> list[Entry]:
        return [*chained([entry(), entry("2", rho="0.5", nonce="ab"), cap("3", nonce="cd")], ())]

    def test_they_are_sound(self, chain: list[Entry]) -> None:
        assert [each.position for each in chain] == [0, 1, 2]
        assert [each.previous_sha256 for each in chain] == [START, *(each.sha256 for each in chain[:2])]
        assert first_broken(chain) is None
        assert head(chain) == chain[2].sha256
        assert head([]) == START
        assert first_broken([*chain, *chained([entry()], chain)]) is None

    def test_rows_are_sealed_as_by_a_ledger_that_knew_no_rho_and_no_nonce(self, chain: list[Entry]) -> None:
        assert chain[0].sha256 == "a07ce1e948e0f58e2985f10e190e5a5311614a952a3567863773192a5cbebf41"

    def test_the_secret_is_the_first_nonce(self, chain: list[Entry]) -> None:
        assert secret(chain) == "ab"
        assert secret(chain[:1]) is None
        assert secret([]) is None

    @pytest.mark.parametrize("name", [name for name in vars(entry()) if name != "sha256"])
    def test_any_change_is_found(self, chain: list[Entry], name: str) -> None:
        changed = replace(chain[1], **{name: 7})
        assert first_broken([chain[0], changed, chain[2]]) == 1
        assert changed.seal() != chain[1].sha256

    @pytest.mark.parametrize("order", [[1, 2], [0, 2], [1, 0, 2], [0, 0, 1]])
    def test_rows_that_were_moved_are_found(self, chain: list[Entry], order: list[int]) -> None:
        assert first_broken([chain[place] for place in order]) is not None

    def test_a_row_before_another_is_missed(self, chain: list[Entry]) -> None:
        assert first_broken([*chained([entry("9")], ()), *chain[1:]]) == 1

    def test_places_are_counted(self) -> None:
        [late] = chained([entry()], ())
        late = replace(late, position=1)
        assert first_broken([replace(late, sha256=late.seal())]) == 0

    @pytest.mark.parametrize(
        "made",
        [
            lambda: entry(unit="individual"),
            lambda: entry(individual="id"),
            lambda: entry(unit=None),
            lambda: entry(rho="0"),
            lambda: entry(rho="x"),
            lambda: cap(None, None, rho="1"),
            lambda: entry(None, None),
            lambda: entry(None),
            lambda: entry("-1"),
        ],
    )
    def test_rows_that_someone_else_sealed_are_found(self, made: Callable[[], Entry]) -> None:
        assert first_broken(chained([made()], ())) == 0

    @pytest.mark.parametrize(
        "made",
        [
            lambda: cap(None, None),
            lambda: cap("1", unit=None),
            lambda: entry(unit="individual", individual="id"),
            lambda: entry("1", "1e-6", rho="0.5"),
        ],
    )
    def test_rows_that_are_sound(self, made: Callable[[], Entry]) -> None:
        assert first_broken(chained([made()], ())) is None


FILE = [{"name": "/a", "fingerprint": "the hash of a file"}]
NONCE, OTHER_NONCE = "0f" * 32, "f0" * 32
KEYED = "30a8a704c0be39867ea48e2144b2da42b7e43d7c9fc0838c1aa58bbaaf573f3f"


class TestFingerprints:
    def test_they_are_keyed_by_the_first_nonce(self) -> None:
        """HMAC-SHA256, whose values for these are from `openssl dgst -sha256 -mac HMAC -macopt hexkey:...`."""
        [first] = accounts.with_keyed_fingerprints([entry(sources=FILE, nonce=NONCE)], [])
        assert first.sources == [{"name": "/a", "fingerprint": KEYED}]
        before = [entry(), entry(nonce=NONCE)]
        later = accounts.with_keyed_fingerprints([entry(sources=FILE, nonce=OTHER_NONCE), entry()], before)
        assert [each.sources for each in later] == [first.sources, None]

    def test_a_table_has_none(self) -> None:
        rows = [entry(sources=[{"name": "memory.main.t", "fingerprint": None}], nonce=NONCE)]
        assert accounts.with_keyed_fingerprints(rows, []) == rows

    @pytest.mark.parametrize("before", [[], [entry(sources=FILE)]], ids=["new", "of a version without nonces"])
    def test_a_copy_of_a_file_belongs_to_its_data_set(self, before: list[Entry]) -> None:
        copy = KnownSource("/copy", "the hash of a file")
        new = accounts.with_keyed_fingerprints([entry(sources=FILE, nonce=NONCE)], before)
        assert accounts.owners([*before, *new], [copy]) == ["visits"]
        assert accounts.owners(before, [copy]) == ["visits"][: len(before)]
        assert accounts.owners(new, [KnownSource("/copy", "another hash")]) == []
