"""What a ledger refuses before it writes: losses that cannot be added up, and more than is left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sqlanon.errors import BudgetError, PolicyError
from sqlanon.ledger.accounts import account, shortfalls, spending, unit
from sqlanon.ledger.known_sources import owners
from sqlanon.model.budget import Budget, why_not_added
from sqlanon.model.datasets import KnownSource
from sqlanon.model.ledger import Entry


# guarded: tests/unit/test_guarded_ledger.py::TestRefusals
def refuse_sources_of_others(before: Sequence[Entry], rows: Sequence[Entry]) -> None:
    """Refuse rows whose tables or files belong to other data sets, as another run may have said just now.

    Raises:
        PolicyError: they do, or what the data set is called does.
    """
    for row in rows:
        sources = [KnownSource(str(source["name"]), source["fingerprint"]) for source in row.sources or ()]
        others = [name for name in owners(before, [KnownSource(row.dataset), *sources]) if name != row.dataset]
        if others:
            raise several_accounts(f'data set "{row.dataset}"', others)


def several_accounts(source: str, names: Sequence[str]) -> PolicyError:
    """The error for tables or files that belong to several data sets, or to others than the one to be charged."""
    return PolicyError(
        f"tables or files of {source} belong to other data sets of the ledger, and one run is charged to one of them; "
        "release what belongs to each on its own:",
        [f'"{name}"' for name in names],
    )


def others_named(source: str, named: str, others: Sequence[str]) -> PolicyError:
    """The error for a query that reads what belongs to other data sets than the one that it names."""
    what_next = "name that one with dataset=" if len(others) == 1 else "release what belongs to each on its own"
    return PolicyError(
        f'{source} is to be charged to "{named}", and reads tables or files that have other accounts in the ledger, so '
        f"the same rows would be paid for from several; {what_next}:",
        [f'"{name}"' for name in others],
    )


# guarded: tests/unit/test_guarded_ledger.py::TestRefusals
def refuse_what_cannot_be_added(before: Sequence[Entry], rows: Sequence[Entry]) -> None:
    """Refuse rows that are about another unit of privacy than those of their data sets so far.

    Raises:
        PolicyError: they are.
    """
    problems = [
        problem for dataset in dict.fromkeys(row.dataset for row in rows) for problem in _mixed(dataset, before, rows)
    ]
    if problems:
        raise PolicyError("the ledger cannot add up losses that are about different units of privacy:", problems)


# guarded: tests/unit/test_guarded_ledger.py::TestRefusals
def _mixed(dataset: str, before: Sequence[Entry], rows: Sequence[Entry]) -> Iterator[str]:
    """Why a data set cannot be charged or capped in the unit of the new rows: a line at most."""
    about, known = unit(rows, dataset), unit(before, dataset)
    if known is None or about is None or known.adds_up_with(about):
        return
    spent = account(before, dataset).spent
    so_far = f'data set "{dataset}": {spent} was spent so far on {known}'
    if all(row.kind == "cap" for row in rows):
        yield f"{so_far}, and what is to be capped is about {about}"
    else:
        asked = Budget(*spending(rows, dataset))
        yield f"{so_far}, and {asked} is asked for on {about}: {why_not_added(known, spent, about, asked)}"


# guarded: tests/unit/test_guarded_ledger.py::TestRefusals
def refuse_uncapped(before: Sequence[Entry], datasets: Iterable[str]) -> None:
    """Refuse charges to data sets without a cap.

    Raises:
        BudgetError: some have none.
    """
    problems = [f'"{name}"' for name in dict.fromkeys(datasets) if account(before, name).cap is None]
    if problems:
        raise BudgetError(
            "with ledger_mode=capped the ledger takes no data set without a cap; have the custodian of the data set "
            "one (`sqlanon ledger cap` or session.ledger.cap):",
            problems,
        )


# guarded: tests/unit/test_guarded_ledger.py::TestRefusals
def refuse_overspending(before: Sequence[Entry], rows: Sequence[Entry]) -> None:
    """Refuse charges that together are more than their data sets have left.

    Raises:
        BudgetError: they are.
    """
    datasets = dict.fromkeys(row.dataset for row in rows if row.kind == "charge")
    problems = [problem for dataset in datasets for problem in shortfalls(dataset, account(before, dataset), rows)]
    if problems:
        raise BudgetError(
            "the ledger has less left than the run needs; ask for less, or have the custodian of the data raise the "
            "cap (`sqlanon ledger cap` or session.ledger.cap):",
            problems,
        )
