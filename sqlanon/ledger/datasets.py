"""Which account of a ledger a source is charged to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlanon.engines.base import ResolvedSource, Warehouse
from sqlanon.errors import EngineError, PolicyError
from sqlanon.ledger.checks import others_named, several_accounts
from sqlanon.ledger.known_files import known, owners
from sqlanon.ledger.ledger import WarehouseLedger
from sqlanon.model.datasets import KnownFile, dataset_named
from sqlanon.model.ledger import Entry


@dataclass(frozen=True)
class DataSet:
    """What is charged: the name of an account, and the files that it stands for, if any."""

    name: str
    files: tuple[KnownFile, ...] = ()


def charged(engine: Warehouse, ledger: WarehouseLedger, source: ResolvedSource, given: str | None) -> DataSet:
    """The data set that a release of a source is charged to.

    Raises:
        PolicyError: as :func:`dataset_of`; or nobody has declared the name that is given, or what the source reads
            belongs to other data sets, or to several.
        EngineError: the ledger cannot be read, or was tampered with.
    """
    name, entries = dataset_of(engine, source, given), ledger.entries()
    if source.dataset is None:
        assert given is not None
        refuse_undeclared(engine, entries, given, name)
        return account_of_query(engine, ledger, source, known_account(engine, ledger, given))
    files = known(source.files)
    return DataSet(account_of(entries, name, files, source.description), files)


def account_of_query(engine: Warehouse, ledger: WarehouseLedger, source: ResolvedSource, named: DataSet) -> DataSet:
    """The data set that a query, a view or a frame is charged to: the one that is named, if it may be.

    Raises:
        PolicyError: tables or files that it reads, through views and macros, have other accounts: the same rows would
            be paid for from two.
    """
    origins, entries = engine.origins(source), ledger.entries()
    accounts = {entry.dataset for entry in entries}
    found = [*(name for name in origins.datasets if name in accounts), *owners(entries, known(origins.files))]
    if others := [name for name in dict.fromkeys(found) if name != named.name]:
        raise others_named(source.description, named.name, others)
    return named


def dataset_of(engine: Warehouse, source: ResolvedSource, given: str | None) -> str:
    """The name under which the ledger knows the rows of a source.

    Args:
        engine: the warehouse.
        source: what is to be released.
        given: the name that the user gives, for what has none of its own.

    Raises:
        PolicyError: none is given, and the same rows could be had under another name; or one is given to what has a
            name, under which it would get a fresh budget; or it is that of a view, which has no account.
    """
    if given is not None:
        known = known_dataset(engine, given)
        if source.dataset not in (None, known):
            raise PolicyError(
                f'{source.description} is known to the ledger as "{source.dataset}": dataset= is for queries and views'
            )
        return known
    if source.dataset is None:
        raise PolicyError(
            f"{source.description} is no table of the warehouse and no file: its rows would get a fresh budget "
            "under every name, so say with dataset= which data set they come from"
        )
    return source.dataset


def account_of(entries: Sequence[Entry], name: str, files: Sequence[KnownFile], source: str) -> str:
    """The data set that is charged for a source: the one that its files belong to by what the ledger knows of them.

    Args:
        entries: the rows of the ledger.
        name: what the source is called.
        files: its files, if it consists of files.
        source: the source in words.

    Raises:
        PolicyError: they belong to several data sets.
    """
    found = owners(entries, files)
    others = [other for other in found if other != name]
    has_account = name in found or any(entry.dataset == name for entry in entries)
    if len(others) > 1 or (others and has_account):
        raise several_accounts(source, [*found])
    return others[0] if others else name


def refuse_undeclared(engine: Warehouse, entries: Sequence[Entry], given: str, name: str) -> None:
    """Refuse a name that a user gives to what has none of its own, if it may be a slip: it would have a fresh budget.

    Raises:
        PolicyError: it is no table or file here, and nothing in the ledger.
    """
    if resolved(engine, given) is None and all(entry.dataset != name for entry in entries):
        raise PolicyError(
            f'nobody has declared the data set "{name}": it is no table or file here, and the ledger does not know it. '
            "If it is spelled right, have the custodian of the data declare it by a cap (`sqlanon ledger cap` or "
            "session.ledger.cap)"
        )


def known_dataset(engine: Warehouse, name: str) -> str:
    """The name under which the ledger knows what a user names: a table, Parquet files, or a name that was given.

    Raises:
        PolicyError: it is the name of a view, whose releases are charged to the data set that they are given.
    """
    elsewhere = dataset_named(name)
    source = resolved(engine, name)
    if source is None:
        return elsewhere
    if source.dataset is None:
        raise PolicyError(
            f"{source.description} has no budget of its own: name the data set that its releases are charged to"
        )
    return source.dataset


def resolved(engine: Warehouse, name: str) -> ResolvedSource | None:
    """The table or the files of a name, None if this session can read none."""
    try:
        return engine.resolve(name)
    except EngineError:
        return None


def known_account(engine: Warehouse, ledger: WarehouseLedger, name: str) -> DataSet:
    """The data set that a user names, by the account that it has.

    Raises:
        PolicyError: as :func:`known_dataset`, or its files belong to several data sets.
        EngineError: the ledger cannot be read, or was tampered with.
    """
    called, source = known_dataset(engine, name), resolved(engine, name)
    files = () if source is None else known(source.files)
    return DataSet(account_of(ledger.entries(), called, files, f'"{name}"'), files)
