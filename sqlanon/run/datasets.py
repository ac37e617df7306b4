"""Which account of a ledger a source is charged to."""

from __future__ import annotations

from sqlanon.engines.base import Engine, ResolvedSource
from sqlanon.errors import EngineError, PolicyError
from sqlanon.model.datasets import dataset_named
from sqlanon.run.ledger import WarehouseLedger


def dataset_of(engine: Engine, source: ResolvedSource, given: str | None) -> str:
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
            f"{source.description} is no table of the warehouse and no Parquet file: its rows would get a fresh budget "
            "under every name, so say with dataset= which data set they come from"
        )
    return source.dataset


def known_dataset(engine: Engine, name: str) -> str:
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


def resolved(engine: Engine, name: str) -> ResolvedSource | None:
    """The table or the files of a name, None if this session can read none."""
    try:
        return engine.resolve(name)
    except EngineError:
        return None


def refuse_own_accounts(engine: Engine, ledger: WarehouseLedger, dataset: str) -> None:
    """Refuse a ledger beside that of the warehouse, if this one knows the data set: its cap would be passed by.

    Raises:
        EngineError: it does.
    """
    if ledger.is_own or not engine.has_ledger:
        return
    own = WarehouseLedger(engine, None)
    if any(entry.dataset == dataset for entry in own.entries()):
        raise EngineError(
            f'the warehouse has a ledger of its own, which knows "{dataset}": charge that one, without ledger=',
            step="ledger",
        )
