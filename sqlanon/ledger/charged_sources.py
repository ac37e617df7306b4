"""The ledger and the account that are charged for a source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sqlglot import exp

from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import EngineError, PolicyError
from sqlanon.ledger import ledger_table as table
from sqlanon.ledger.accounts import known, others_named, owners, refuse_uncapped, several_accounts
from sqlanon.ledger.ledger import WarehouseLedger
from sqlanon.ledger.ledger_table import START, Entry
from sqlanon.model.names import KnownSource, dataset_named, possible

# What is left to do for releases whose ledger is lost, and without the ledger of a warehouse.
IF_RELEASED_BEFORE = "If it is lost, so is what was spent, and COMMENT ON TABLE ... IS NULL has the release miss none"
IF_LOST = "If it is lost, so is what was spent, and DROP TABLE anon.ledger_note begins anew"


@dataclass(frozen=True)
class DataSet:
    """The data set that is charged."""

    name: str  # of the account
    sources: tuple[KnownSource, ...] = ()  # the tables and files that are read of it
    public: tuple[KnownSource, ...] = ()  # the tables and files that are read besides, and were declared public
    has_frames: bool = False  # whether frames of Python are read, which have no names
    once_public: tuple[KnownSource, ...] = ()  # its tables and files that were declared public for earlier charges
    is_new: bool = False  # whether the ledger has no row of the account yet


def charged(
    engine: Engine, ledger: WarehouseLedger, source: ResolvedSource, given: str | None, public: Sequence[str] = ()
) -> DataSet:
    """Find the data set that a release of a source is charged to.

    ``given`` names it for a source that has no name of its own, and ``public`` the tables and files that a query reads,
    and that are no secret.

    Raises:
        PolicyError: as :func:`dataset_of`; or nobody has declared the name that is given, or what the source reads
            belongs to other data sets, or to several, or cannot be seen; or what is declared public is not read, or has
            an account.
        BudgetError: it has no cap, and must have one.
        EngineError: the ledger cannot be read, or was tampered with.
    """
    entries = ledger.entries()
    if source.dataset is None:
        name = dataset_of(engine, source, given)
        assert given is not None
        refuse_undeclared(engine, entries, given, name)
        found = _of_query(engine, entries, source, known_account(engine, ledger, given).name, public)
    elif public:
        raise PolicyError(f"public= is for queries and views, and {source.description} is neither")
    else:
        sources = known_source(source)
        account = account_of(entries, source.dataset, sources, source.description)
        if given is None or known_dataset(engine, given) != account:
            dataset_of(engine, source, given)
        found = DataSet(account, sources)
    if ledger.must_be_capped:
        refuse_uncapped(entries, [found.name])
    declared = {name for entry in entries for name in entry.public or ()}
    once_public = tuple(each for each in found.sources if each.name in declared)
    return replace(found, once_public=once_public, is_new=all(entry.dataset != found.name for entry in entries))


def _of_query(
    engine: Engine, entries: Sequence[Entry], source: ResolvedSource, name: str, public: Sequence[str]
) -> DataSet:
    """Charge a query, a view or a frame to a data set to which all that it reads belongs, unless it is public."""
    origins = engine.origins(source)
    if origins.unseen is not None:
        raise PolicyError(
            f"{source.description} is to be charged for all that it reads, and {origins.unseen}; spell the names of "
            "tables and files that are there, or make a table of what it reads"
        )
    read = known((*origins.files, *source.read), origins.tables)
    declared = [each for given in public for each in _public(engine, entries, given, read, source)]
    own = tuple(each for each in read if each not in declared)
    if declared and not own:
        raise PolicyError(f"all that {source.description} reads was declared public, and nothing is left to be charged")
    if others := [other for other in owners(entries, own) if other != name]:
        raise others_named(source.description, name, others)
    return DataSet(name, own, tuple(dict.fromkeys(declared)), origins.has_frames)


def _public(
    engine: Engine, entries: Sequence[Entry], given: str, read: Sequence[KnownSource], source: ResolvedSource
) -> tuple[KnownSource, ...]:
    found = resolved(engine, given)
    if found is None:
        raise PolicyError(f'"{given}", declared public, is not a table or file here')
    stored = engine.find(found.relation) if isinstance(found.relation, exp.Table) else None
    if not found.files and (stored is None or stored.is_view):
        raise PolicyError(f'"{given}", declared public, is a view or a query: name the tables that it reads')
    sources = known_source(found)
    if others := owners(entries, sources):
        raise PolicyError(
            f'"{given}", declared public, has an account in the ledger, or belongs to one, so it is a secret:',
            [f'"{other}"' for other in others],
        )
    if not set(sources) <= set(read):
        raise PolicyError(f'"{given}", declared public, is not read by {source.description}')
    return sources


def known_source(source: ResolvedSource) -> tuple[KnownSource, ...]:
    """Return what a ledger keeps of a table, or of files; their data set where they cannot be listed."""
    relation = source.relation
    if isinstance(relation, exp.Table) and isinstance(relation.this, exp.Identifier):
        return known((), [relation])
    return known(source.files) or (KnownSource(source.dataset or ""),)


def dataset_of(engine: Engine, source: ResolvedSource, given: str | None) -> str:
    """Find the name under which the ledger knows the rows of a source: its own, or one ``given`` if it has none.

    Refused is a source without either, whose rows could be had under another name; a name that is given to what has
    one, under which it would get a fresh budget; and the name of a view, which has no account.
    """
    if given is not None:
        known = known_dataset(engine, given)
        if source.dataset not in (None, known):
            raise PolicyError(
                f'{source.description} is known to the ledger as "{source.dataset}": dataset= is for queries and views'
            ).with_guide("the-budget")
        return known
    if source.dataset is None:
        raise PolicyError(
            f"{source.description} is neither a table of the warehouse nor a file: its rows would get a fresh budget "
            "under every name, so say with dataset= which data set they come from"
        ).with_guide("the-budget")
    return source.dataset


def account_of(entries: Sequence[Entry], name: str, sources: Sequence[KnownSource], source: str) -> str:
    """Find the data set that a source, in words, belongs to by what the ledger knows of it; a PolicyError of several.

    Its name stands for its table or files where ``sources`` lacks them, since they are not here.
    """
    found = owners(entries, sources or [KnownSource(name)])
    others = [other for other in found if other != name]
    has_account = name in found or any(entry.dataset == name for entry in entries)
    if len(others) > 1 or (others and has_account):
        raise several_accounts(source, found)
    return others[0] if others else name


def refuse_undeclared(engine: Engine, entries: Sequence[Entry], given: str, name: str) -> None:
    """Refuse a name that a user gives to what has none of its own, if it may be a slip: its budget would be fresh."""
    if resolved(engine, given) is None and all(entry.dataset != name for entry in entries):
        raise PolicyError(
            f'nobody has declared the data set "{name}": it is not a table or file here, and not in the ledger. '
            "If it is spelled right, have the custodian of the data declare it by a cap (`sqlanon ledger cap` or "
            "session.ledger.cap)"
        )


def known_dataset(engine: Engine, name: str) -> str:
    """Find the name under which the ledger knows what a user names: a table, Parquet files, or any other name.

    The name of a view is refused: its releases are charged to the data set that they are given.
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
    """Find the table or the files of a name; None if this session can read none."""
    try:
        return engine.resolve(name)
    except EngineError:
        return None


def known_account(engine: Engine, ledger: WarehouseLedger, name: str) -> DataSet:
    """Find the data set that a user names, by the account that it has; refused if its files belong to several."""
    called, source = known_dataset(engine, name), resolved(engine, name)
    sources = () if source is None else known_source(source)
    return DataSet(account_of(ledger.entries(), called, sources, f'"{name}"'), sources)


def open_ledger(engine: Engine, path: str | Path | None, *, must_be_capped: bool = False) -> WarehouseLedger:
    """Open the ledger that a private release is charged to: a file, made if it is not there, or the warehouse itself.

    Raises:
        EngineError: as :func:`read_ledger`; or no path is given, and the warehouse is read-only; or it has noted no
            ledger, as it is open read-only though its file may be written.
    """
    if path is None and engine.warehouse.is_read_only:
        reason = "the warehouse is open read-only, and a private release is charged to a ledger first"
        raise EngineError(f"{reason}; name another file with ledger=", step="ledger")
    found = read_ledger(engine, path)
    found.must_be_capped = must_be_capped
    if not found.is_own and table.could_be_noted(engine):
        raise EngineError(
            "the warehouse is open read-only and has not noted its ledger, so any other file would be a fresh account; "
            "open it writable once with this ledger=, and set a cap, so that it notes its ledger",
            step="ledger",
        )
    return found


def read_ledger(engine: Engine, path: str | Path | None) -> WarehouseLedger:
    """Open a ledger to look at; nothing is made.

    Raises:
        EngineError: no path is given, and the warehouse is not a DuckDB file; or the warehouse has another ledger; or
            the ledger lacks rows whose hashes releases in the warehouse carry.
    """
    given, file = ledger_file(path), engine.warehouse.file
    if given is None and file is None:
        reason = "the warehouse is not a DuckDB file, and a private release needs a ledger that outlives the session"
        raise EngineError(f"{reason}; name a file with ledger=", step="ledger")
    is_own = given is not None and file is not None and given.exists() and given.samefile(file)
    found = WarehouseLedger(engine, None if is_own else given)
    releases = table.releases(engine)  # before the rows: a run may be adding both
    _refuse_another(engine, found)
    _refuse_shortened(found, releases)
    return found


# guarded: tests/unit/test_guarded_warehouse.py::TestWhichLedger
# no mutants of table.is_there(engine, table.ledger_of(engine)): a ledger that is not there has the hash of none
def _refuse_another(engine: Engine, found: WarehouseLedger) -> None:
    """Refuse another ledger than the one of the warehouse, or an old copy: what was spent so far would not count."""
    noted = table.notes(engine)
    if found.is_own:
        path = noted[-1].path if noted else ""
        if any(note.sha256 != START for note in noted) or (path and WarehouseLedger(engine, Path(path)).entries()):
            raise EngineError(f"the ledger of this warehouse is the file {path}; name it with ledger=", step="ledger")
        return  # no mutants: its own rows are there
    hashes = {START, *(entry.sha256 for entry in found.entries())}
    if any(note.sha256 not in hashes for note in noted):
        reason = f"{found.name} is not that of this warehouse, or an old copy of it: a row is missing that was noted"
        reason += f" when {noted[-1].path} was charged; name that file with ledger=. {IF_LOST}"
        raise EngineError(reason, step="ledger")
    if table.is_there(engine, table.ledger_of(engine)) and WarehouseLedger(engine, None).verify() not in hashes:
        raise EngineError(
            "the warehouse has a ledger of its own: charge that one, without ledger=, or first copy its table "
            "anon.ledger to the file, key and all",
            step="ledger",
        )


# guarded: tests/unit/test_guarded_warehouse.py::TestWhichLedger
def _refuse_shortened(found: WarehouseLedger, releases: Mapping[str, str]) -> None:
    """Refuse a ledger without rows that were there when releases in the warehouse were charged."""
    if not releases:
        return  # no mutants: a shortcut
    hashes = {entry.sha256 for entry in found.entries()}
    if charged := [f'"{name}"' for name, sha256 in releases.items() if sha256 not in hashes]:
        raise EngineError(
            f"{found.name} is an old copy, or its newest rows were removed: a row is missing that was written before "
            f"the release {', '.join(charged)}. Bring back the ledger as it was. {IF_RELEASED_BEFORE}",
            step="ledger",
        )


def ledger_file(path: str | Path | None) -> Path | None:
    """Return the absolute path of the file of a ledger; refuse ``:memory:`` with an EngineError."""
    if path is None:
        return None
    if str(path).startswith(":memory:"):
        reason = "a private release needs a ledger that outlives the session; name a file with ledger="
        raise EngineError(reason, step="ledger")
    return Path(possible(path, "ledger")).absolute()
