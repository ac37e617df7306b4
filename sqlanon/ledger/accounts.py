"""Accounts of data sets: the tables and files they own, their spending, and the charges that a ledger refuses."""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from pathlib import Path

from sqlglot import exp

from sqlanon.chance.scales import epsilon_of
from sqlanon.engines.paths import lies_in
from sqlanon.errors import BudgetError, PolicyError
from sqlanon.ledger.ledger_table import Entry, secret
from sqlanon.model.budget import Budget, Unit, as_float, exact, spelled, why_not_added
from sqlanon.model.names import KnownSource, dataset_of_files, dataset_of_table

DIGITS = 6  # significant digits of a converted ε, rounded against the caller


@dataclass(frozen=True)
class Account:
    """The spending of a data set, and its caps.

    Losses add up in two ways, and both also hold if each budget is chosen in view of the releases before.

    - As (Σε, Σδ), basic composition (Rogers, Roth, Ullman & Vadhan 2016).
    - In ρ. A charge with a noted ρ is ρ-zCDP, and one of (ε, 0) is ε²/2-zCDP (Bun & Steinke 2016, proposition 1.4).
      All of them together are Σρ-zCDP (:class:`sqlanon.chance.accountant.RhoPortions`; Feldman & Zrnic 2021), which
      is (ε, δ)-differential privacy for every δ above 0, at an ε that grows as the square root of the number of runs.

    A cap bounds one of the two sums, fixed by its row. It must not bound whichever is smaller at the time: a charge
    without ρ can only be added to (Σε, Σδ), and whether one comes may depend on what was released. Some of the possible
    histories would then keep the cap by one sum and others by the other; each of these sets of histories may fail with
    δ, and together they fail with up to 2δ. Where all charges have the ρ of their (ε, δ), Σρ is the smaller sum anyway:
    at one δ that ρ is a supremum of affine functions of ε (:func:`sqlanon.chance.scales.rho_of`), so it is convex, and
    ρ(ε) + ρ(ε') <= ρ(ε + ε') + ρ(0), where ρ(0) is of the order of δ².
    """

    spent: Budget  # sum of its charges
    cap: Budget | None
    unit: Unit | None = None  # by which neighbours differ; None if no charge or cap names it
    rho: Fraction | None = None  # sum of the ρ of its charges; None if any charge has none
    rho_cap: Fraction | None = None  # None without a cap, or if it bounds (ε, δ)
    delta: Fraction = Fraction(0)  # δ for converting ρ: the cap's, or the largest of a charge

    # guarded: tests/unit/test_guarded_ledger.py::TestAccounts
    @property
    def remaining(self) -> Budget | None:
        """The budget that is left, at least 0; None without a cap. With a cap in ρ, it is for a single run."""
        if self.cap is None:
            return None
        if self.rho_cap is not None and self.rho != 0:
            left = Fraction(0) if self.rho is None else max(self.rho_cap - self.rho, Fraction(0))
            return _converted(left, self.delta, ROUND_FLOOR)
        return Budget(
            max(self.cap.epsilon - self.spent.epsilon, Fraction(0)), max(self.cap.delta - self.spent.delta, Fraction(0))
        )

    # guarded: tests/unit/test_guarded_ledger.py::TestAccounts
    @property
    def in_rho(self) -> Budget | None:
        """Σρ converted to (ε, δ), rounded up; None if a charge has no ρ, or neither a charge nor the cap has a δ."""
        return None if self.rho is None or not self.delta else _converted(self.rho, self.delta, ROUND_CEILING)


# guarded: tests/unit/test_guarded_ledger.py::TestAccounts
def account(entries: Iterable[Entry], dataset: str) -> Account:
    own = [entry for entry in entries if entry.dataset == dataset]
    caps = [entry for entry in own if entry.kind == "cap"]
    cap, rho_cap = (caps[-1].budget, caps[-1].rho) if caps else (None, None)
    deltas = [cap.delta] if cap and cap.delta else [exact(entry.delta) for entry in _charges(own, dataset)]
    return Account(
        Budget(*spending(own, dataset)),
        cap,
        unit(own, dataset),
        spending_in_rho(own, dataset),
        None if rho_cap is None else exact(rho_cap),
        max(deltas, default=Fraction(0)),
    )


def unit(entries: Iterable[Entry], dataset: str) -> Unit | None:
    return next((entry.about for entry in entries if entry.dataset == dataset and entry.about is not None), None)


# guarded: tests/unit/test_guarded_ledger.py::TestAccounts
def spending(entries: Iterable[Entry], dataset: str) -> tuple[Fraction, Fraction]:
    """Add up ε and δ of all charges to a data set; unlike in a budget, δ may exceed 1."""
    charges = _charges(entries, dataset)
    epsilons, deltas = ([exact(getattr(entry, name)) for entry in charges] for name in ("epsilon", "delta"))
    return sum(epsilons, Fraction(0)), sum(deltas, Fraction(0))


# guarded: tests/unit/test_guarded_ledger.py::TestAccounts
def spending_in_rho(entries: Iterable[Entry], dataset: str) -> Fraction | None:
    total = Fraction(0)
    for entry in _charges(entries, dataset):
        if entry.rho is not None:
            total += exact(entry.rho)
        elif exact(entry.delta) == 0:
            total += exact(entry.epsilon) ** 2 / 2
        else:
            return None
    return total


# guarded: tests/unit/test_guarded_ledger.py::TestRefusals
def shortfalls(dataset: str, before: Account, rows: Sequence[Entry]) -> Iterator[str]:
    if before.rho_cap is not None:
        yield from _shortfalls_in_rho(dataset, before, spending_in_rho(rows, dataset), before.rho_cap)
    spent_before = (before.spent.epsilon, before.spent.delta)
    bound = before.cap if before.rho_cap is None else None
    caps = (None, None) if bound is None else (bound.epsilon, bound.delta)
    for sign, wanted, spent, cap in zip("εδ", spending(rows, dataset), spent_before, caps, strict=True):
        if cap is not None and spent + wanted > cap:
            left = spelled(max(cap - spent, Fraction(0)))
            yield f'data set "{dataset}": {sign} = {spelled(wanted)} is asked for, {left} is left of {spelled(cap)}'
        elif sign == "δ" and spent + wanted >= 1:
            yield f'data set "{dataset}": δ would add up to {spelled(spent + wanted)}, and 1 promises nothing'


# guarded: tests/unit/test_guarded_ledger.py::TestRefusals
def _shortfalls_in_rho(dataset: str, before: Account, wanted: Fraction | None, cap: Fraction) -> Iterator[str]:
    if before.rho is None or wanted is None:
        which = "an earlier charge" if before.rho is None else "the run"
        yield (
            f'data set "{dataset}": its cap bounds ρ, and {which} has a δ above 0 but no ρ; a cap on (ε, δ) adds up '
            "any losses"
        )
    elif before.rho + wanted > cap:
        numbers = [f"{as_float(each):.6g}" for each in (wanted, max(cap - before.rho, Fraction(0)), cap)]
        left = f"{numbers[1]} is left of {numbers[2]}"
        yield f'data set "{dataset}": ρ = {numbers[0]} is asked for, {left}: {before.remaining} for one run'


# guarded: tests/unit/test_guarded_ledger.py::TestAccounts
def _charges(entries: Iterable[Entry], dataset: str) -> list[Entry]:
    return [entry for entry in entries if entry.kind == "charge" and entry.dataset == dataset]


def _converted(rho: Fraction, delta: Fraction, rounding: str) -> Budget:
    if not rho:
        return Budget(0)
    epsilon = Decimal(epsilon_of(rho, delta))
    return Budget(Context(prec=DIGITS, rounding=rounding).plus(epsilon), delta)


SAMPLE = 1 << 16  # bytes at the start and end of a file that its fingerprint covers: a lake may have many large files

Place = tuple[int, int]  # device and inode of a file, shared by all its links


def known(files: Iterable[str], tables: Iterable[exp.Table] = ()) -> tuple[KnownSource, ...]:
    """Return the names that a ledger keeps of tables and files, with fingerprints of files.

    A table has one name in every database, so that a copy of a database has the same accounts.
    """
    names = sorted({dataset_of_table(table.db, table.name) for table in tables})
    paths = map(dataset_of_files, files)
    return (*map(KnownSource, names), *(KnownSource(path, _fingerprint(Path(path))) for path in paths))


def owners(entries: Sequence[Entry], sources: Sequence[KnownSource]) -> list[str]:
    """Find the data sets that own tables and files.

    A table or file belongs to the data set whose charges or caps name it, or that has its name. A file also belongs to
    the owner of a link to it, or of a file with the same content; else to a data set that is a folder or glob it lies
    in, because a lake grows.
    """
    if not sources:
        return []
    owner = _owner_of(entries)
    return list(dict.fromkeys(name for source in sources if (name := owner(source)) is not None))


# guarded: tests/unit/test_guarded_ledger.py::TestFingerprints
def with_keyed_fingerprints(rows: Sequence[Entry], before: Sequence[Entry]) -> list[Entry]:
    """Key the fingerprints of files by the ledger's secret, so that nobody without it can try contents."""
    key = secret([*before, *rows])

    def keyed(source: dict[str, str | None]) -> dict[str, str | None]:
        fingerprint = source["fingerprint"]
        return source if fingerprint is None else {**source, "fingerprint": _keyed_fingerprint(fingerprint, key)}

    return [replace(row, sources=[keyed(source) for source in row.sources or ()] or None) for row in rows]


def with_new_sources(rows: Sequence[Entry], before: Sequence[Entry]) -> list[Entry]:
    seen = {(entry.dataset, *source.values()) for entry in before for source in entry.sources or ()}
    trimmed = []
    for row in rows:
        new = [source for source in row.sources or () if (row.dataset, *source.values()) not in seen]
        seen.update((row.dataset, *source.values()) for source in new)
        trimmed.append(replace(row, sources=new or None))
    return trimmed


def _keyed_fingerprint(fingerprint: str, key: str | None) -> str:
    return fingerprint if key is None else hmac.digest(bytes.fromhex(key), fingerprint.encode(), "sha256").hex()


def _owner_of(entries: Sequence[Entry]) -> Callable[[KnownSource], str | None]:
    key = secret(entries)
    by_name: dict[str, str] = {}
    by_content: dict[str, str] = {}
    by_place: dict[Place, str] = {}
    for entry in entries:
        for source in entry.sources or ():
            name, fingerprint = source["name"], source["fingerprint"]
            assert name is not None
            by_name.setdefault(name, entry.dataset)
            if fingerprint is not None:
                by_content.setdefault(fingerprint, entry.dataset)
            if (place := _place(name)) is not None:
                by_place.setdefault(place, entry.dataset)
    names = list(dict.fromkeys(entry.dataset for entry in entries))

    def owner(source: KnownSource) -> str | None:
        place, fingerprint = _place(source.name), source.fingerprint or ""
        return (
            by_name.get(source.name)
            or (by_content.get(_keyed_fingerprint(fingerprint, key)) if fingerprint else None)
            or by_content.get(fingerprint)  # earlier versions stored fingerprints without a key
            or (None if place is None else by_place.get(place))
            or (source.name if source.name in names else None)
            or next((name for name in names if lies_in(source.name, name)), None)
        )

    return owner


def _place(path: str) -> Place | None:
    if not path.startswith("/"):
        return None
    try:
        found = os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return None  # it is not there any more, or not on this machine
    return found.st_dev, found.st_ino


def _fingerprint(path: Path) -> str | None:
    """Hash the size, the start and the end of a file, if this machine can read it."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            digest = hashlib.sha256(f"{size} ".encode())
            digest.update(file.read(SAMPLE))
            file.seek(max(size - SAMPLE, file.tell()))
            digest.update(file.read(SAMPLE))
    except (OSError, ValueError):
        return None
    return digest.hexdigest()


# guarded: tests/unit/test_guarded_ledger.py::TestRefusals
def refuse_sources_of_others(before: Sequence[Entry], rows: Sequence[Entry]) -> None:
    """Refuse rows that name what another data set owns by now: another run may have just claimed it."""
    for row in rows:
        sources = [KnownSource(str(source["name"]), source["fingerprint"]) for source in row.sources or ()]
        others = [name for name in owners(before, [KnownSource(row.dataset), *sources]) if name != row.dataset]
        if others:
            raise several_accounts(f'data set "{row.dataset}"', others)


def several_accounts(source: str, names: Sequence[str]) -> PolicyError:
    """Make the error for tables or files that belong to several data sets, or to an uncharged one."""
    return PolicyError(
        f"tables or files of {source} belong to other data sets of the ledger, and a run is charged to only one; "
        "release what belongs to each on its own:",
        [f'"{name}"' for name in names],
    )


def others_named(source: str, named: str, others: Sequence[str]) -> PolicyError:
    """Make the error for a query that reads other data sets than the one it names."""
    what_next = "name that one with dataset=" if len(others) == 1 else "release what belongs to each on its own"
    return PolicyError(
        f'{source} is to be charged to "{named}", but reads tables or files with other accounts in the ledger, and one '
        f"run cannot charge several; {what_next}:",
        [f'"{name}"' for name in others],
    )


# guarded: tests/unit/test_guarded_ledger.py::TestRefusals
def refuse_what_cannot_be_added(before: Sequence[Entry], rows: Sequence[Entry]) -> None:
    problems = [
        problem for dataset in dict.fromkeys(row.dataset for row in rows) for problem in _mixed(dataset, before, rows)
    ]
    if problems:
        raise PolicyError("the ledger cannot add up losses that are about different units of privacy:", problems)


# guarded: tests/unit/test_guarded_ledger.py::TestRefusals
def _mixed(dataset: str, before: Sequence[Entry], rows: Sequence[Entry]) -> Iterator[str]:
    about, known = unit(rows, dataset), unit(before, dataset)
    if known is None or about is None or known.adds_up_with(about):
        return
    spent = account(before, dataset).spent
    so_far = f'data set "{dataset}": {spent} was spent so far on {known}'
    if all(row.kind == "cap" for row in rows):
        yield f"{so_far}, and the cap is about {about}"
    else:
        asked = Budget(*spending(rows, dataset))
        yield f"{so_far}, and {asked} is asked for on {about}: {why_not_added(known, spent, about, asked)}"


# guarded: tests/unit/test_guarded_ledger.py::TestRefusals
def refuse_uncapped(before: Sequence[Entry], datasets: Iterable[str]) -> None:
    problems = [f'"{name}"' for name in dict.fromkeys(datasets) if account(before, name).cap is None]
    if problems:
        raise BudgetError(
            "ledger_mode=capped refuses data sets without a cap; ask the custodian of the data to set one (`sqlanon "
            "ledger cap` or session.ledger.cap):",
            problems,
        )


# guarded: tests/unit/test_guarded_ledger.py::TestRefusals
def refuse_overspending(before: Sequence[Entry], rows: Sequence[Entry]) -> None:
    datasets = dict.fromkeys(row.dataset for row in rows if row.kind == "charge")
    problems = [problem for dataset in datasets for problem in shortfalls(dataset, account(before, dataset), rows)]
    if problems:
        raise BudgetError(
            "the ledger has less left than the run needs; ask for less, or ask the custodian of the data to raise the "
            "cap (`sqlanon ledger cap` or session.ledger.cap):",
            problems,
        )
