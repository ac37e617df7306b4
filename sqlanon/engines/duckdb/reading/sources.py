"""What users spell → what is read: a table, also of a lake, Parquet or CSV files, a folder of them, or a query."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from sqlglot import exp

from sqlanon.engines import paths
from sqlanon.engines.csv_notes import entry_of_all
from sqlanon.engines.duckdb import catalog
from sqlanon.engines.duckdb.catalog import Describe, Rows
from sqlanon.engines.duckdb.reading import lake
from sqlanon.engines.duckdb.reading.csv_form import TEXT
from sqlanon.engines.duckdb.reading.csv_forms import CsvForms
from sqlanon.engines.duckdb.reading.lake import CSV, Format, format_of
from sqlanon.engines.duckdb.reading.origins import Macros, Spelled, spelled_by
from sqlanon.engines.duckdb.reading.queried import with_files_as_text
from sqlanon.engines.duckdb.reading.restricted import Scans, refuse_forbidden, refuse_remote, scans_of
from sqlanon.engines.lakes import lake_table
from sqlanon.engines.lakes.base import pinned_version
from sqlanon.engines.relations import Origins, ResolvedSource, Stored
from sqlanon.errors import EngineError, PolicyError, Refusal
from sqlanon.model.datasets import dataset_named, dataset_of_files
from sqlanon.model.names import folded, possible
from sqlanon.model.whole_files import read_whole
from sqlanon.queries.kit.nodes import DIALECT, select
from sqlanon.queries.kit.steps import printed
from sqlanon.queries.kit.texts import query_text
from sqlanon.queries.tables import csv_values

QUERY_SUFFIX = ".sql"
MAX_QUERY_MB = 1
"""Of a file with a query."""

PlanOf = Callable[[exp.Query], str]
"""The plan of a query before it is optimized, in JSON."""

Reader = Callable[[str | Sequence[str]], exp.Table | exp.Subquery]
"""A glob, or files, as a relation."""


# More than six parameters: what runs statements, what it knows, and what is wanted.
def resolve(
    source: str,
    rows: Rows,
    describe: Describe,
    forms: CsvForms,
    macros: Macros,
    warehouse: str,
    *,
    restricted: bool = False,
) -> ResolvedSource:
    """The source of a spelling, a table first; ``warehouse`` is the database whose tables the ledger knows by name.

    Raises:
        PolicyError: it is ``restricted``, and does more: :mod:`sqlanon.engines.duckdb.reading.restricted`.
        EngineError: there is none; or there is, and it cannot be read.
    """
    found = catalog.find(rows, possible(source, "source"))
    if found is not None:
        return _table(source, found, rows, macros, warehouse)
    if restricted:
        refuse_remote(source)
    if paths.is_folder(source):
        return _folder(source, rows, describe, forms)
    is_in_file = source.lower().endswith(QUERY_SUFFIX) and not restricted
    is_query = is_in_file or catalog.is_query(source)
    if not is_query:
        lake.refuse_other_formats(source)
    if catalog.is_path(source):
        dataset = dataset_of_files(_at_home(source, rows))
        return _files(source, [source], rows, describe, forms, dataset)
    if is_query:
        query = _query_in(source) if is_in_file else catalog.parse_query(source)
        if restricted:
            refuse_forbidden(query.relation, rows)
        read = _with_files(query, rows, macros, partial(_csv, rows=rows, describe=describe, forms=forms))
        return dataclasses.replace(read, csv=forms.settings) if read.found_by_rows else read
    raise catalog.not_found(rows, source)


def _query_in(path: str) -> ResolvedSource:
    """The query that a file has.

    Raises:
        EngineError: the file is not there, cannot be read as UTF-8, or is not one SELECT query.
    """
    try:
        text = read_whole(Path(path), MAX_QUERY_MB).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        reason = f"the query {path} cannot be read: {getattr(error, 'strerror', None) or error}"
        raise EngineError(reason, step="source") from None
    try:
        return dataclasses.replace(catalog.parse_query(text), description=f"the query {path}")
    except EngineError as error:
        raise error.reworded(f"{path} is not one SELECT query", step="source") from None


def _table(source: str, found: Stored, rows: Rows, macros: Macros, warehouse: str) -> ResolvedSource:
    resolved = ResolvedSource(found.table, f'table "{source}"', dataset=catalog.dataset_of(found, warehouse))
    return _with_files(resolved, rows, macros) if found.is_view else resolved


def of_lake(source: str, describe: Describe) -> ResolvedSource:
    """The newest version of a table of a lake.

    Raises:
        EngineError: the table does not exist, or it cannot be read.
    """
    pinned = pinned_version(lake_table(possible(source, "source")))
    files = pinned.files
    table = pinned.table
    found = ResolvedSource(
        lake.as_written(files), table.described, (*files.paths,), dataset_named(source), pinned=pinned
    )
    return _readable(source, found, describe, lake.PARQUET)


def _with_files(
    source: ResolvedSource,
    rows: Rows,
    macros: Macros,
    read: Callable[[str], exp.Table | exp.Subquery] | None = None,
) -> ResolvedSource:
    """A query or a view with the files that it reads; those that a query names are read by ``read``."""
    spelled = spelled_by(source, rows, macros)
    relation, names = (source.relation, ()) if read is None else with_files_as_text(source.relation, rows, read)
    guessed = tuple(name for name in spelled.guessed if name not in names)
    return dataclasses.replace(
        source, relation=relation, read=_files_of(spelled, rows), guessed=guessed, found_by_rows=names
    )


def _csv(path: str, rows: Rows, describe: Describe, forms: CsvForms) -> exp.Table | exp.Subquery:
    """CSV files that a query names."""
    return _files(path, [path], rows, describe, forms, dataset_of_files(_at_home(path, rows))).relation


def origins(source: ResolvedSource, rows: Rows, macros: Macros, plan_of: PlanOf) -> Origins:
    """What the rows of a source come from: the tables that its plan scans, and the files that it spells."""
    scans, unseen = None, None
    try:
        scans = scans_of(plan_of(select([exp.Star()], source.relation.copy())))
    except EngineError as error:
        unseen = f"its plan does not show what it reads: {error}"
    spelled = spelled_by(source, rows, macros, literals=scans is None)
    scanned = (catalog.of_reference(rows, name) for name in (() if scans is None else scans.tables))
    stored = (*(found for found in spelled.relations if not found.is_view), *(found for found in scanned if found))
    tables = {found.table.sql(DIALECT): found.table for found in stored}
    if scans is not None:
        unseen = _unseen(scans, spelled, rows)
    has_frames = scans is not None and scans.frames > 0
    return Origins(tuple(tables.values()), _files_of(spelled, rows), has_frames, unseen, spelled.guessed)


def _unseen(scans: Scans, spelled: Spelled, rows: Rows) -> str | None:
    """Why a query may read what is neither a table nor a file that is there; None if it does not."""
    if scans.others:
        return f"it calls {', '.join(scans.others)}, whose rows have an unknown origin"
    if scans.files and not spelled.is_whole:
        return "it puts names of files together, or has them in what cannot be read"
    missing = [path for path in spelled.paths if not _matched([path], rows)]
    return f"it reads {missing[0]}, whose files cannot be listed" if scans.files and missing else None


def _files_of(spelled: Spelled, rows: Rows) -> tuple[str, ...]:
    """The files that are there of those that may be spelled."""
    return tuple(dict.fromkeys(_matched(spelled.texts, rows)))


def _at_home(path: str, rows: Rows) -> str:
    """A path with the home that the connection says; without one, it is that of the user."""
    home = rows(query_text("engines", "home_directory"), ())[0][0] if path.startswith("~") else None
    return home + path.removeprefix("~") if home else path


def _folder(source: str, rows: Rows, describe: Describe, forms: CsvForms) -> ResolvedSource:
    """A folder with all that is below it; a release of ours with its own columns and types."""
    if (unreadable := lake.unreadable_below(source)) is not None:
        raise EngineError(f"the folder {unreadable} cannot be read, so its files would be left out", step="source")
    dataset, layout = dataset_of_files(source), paths.marked(source)
    parquet, csv = [paths.pattern_below(source)], [paths.pattern_below(source, suffix) for suffix in CSV.suffixes]
    if layout is not None:
        read = partial(lake.release_reader, columns=layout.columns, partition_by=layout.partition_by)
        return _files(source, parquet, rows, describe, forms, dataset, read, folder="folder ")
    files = paths.published(_matched([*parquet, *csv], rows))
    patterns = csv if format_of(f"the folder {source}", files) == CSV else parquet
    return _files(source, patterns, rows, describe, forms, dataset, folder="folder ")


# More than six parameters: what a source is, and how it is asked for its files, come from three kinds of sources.
def _files(
    source: str,
    patterns: Sequence[str],
    rows: Rows,
    describe: Describe,
    forms: CsvForms,
    dataset: str,
    read: Reader | None = None,
    folder: str = "",
) -> ResolvedSource:
    """The files of globs as one relation.

    Raises:
        EngineError: there are none, or they are of several kinds or layouts; some would be left out; or one cannot be
            read.
    """
    matched = _matched(patterns, rows)
    for pattern in patterns:
        _refuse_left_out(_at_home(pattern, rows), matched, rows)
    files = paths.published(matched)
    kind = format_of(source, files)
    description = f"{kind.name} {folder}{source}"
    if kind == CSV and (entry := entry_of_all(files)) is not None:
        written = lake.csv_reader(files, entry.columns, entry.quoted)
        return _readable(source, ResolvedSource(written, description, files, dataset), describe, kind)
    form = forms.of(files) if kind == CSV and files else None
    if read is None and files and (given := paths.folder_columns(files[0])):
        own = [found.name for found in describe(lake.bare_reader(files[0]))] if form is None else [*form.types]
        _refuse_overruled(files[0], [name for name in own if folded(name) in given])
    # The pattern itself where it will do: a list of many files makes every statement long.
    short = patterns[0] if not files or (len(patterns) == 1 and len(files) == len(matched)) else None
    if form is not None:
        relation = form.relation(short)
    else:
        if len(files) > 1:
            _refuse_unlike(description, files, rows)
        types = _folder_types(files, rows) if read is None else {}
        if not {*types.values()} <= GUESSED_ALIKE:
            read = partial(lake.folder_reader, types=types)
        relation = (read or lake.reader)(short or files)
    follows_rows = kind == CSV or (read is None and any(map(paths.folder_columns, files)))
    found = ResolvedSource(relation, description, files, dataset, follows_rows=follows_rows)
    if form is not None:
        found = dataclasses.replace(found, csv=form.settings, read_as=form.described)
    return _readable(source, found, describe, kind)


GUESSED_ALIKE = {"BIGINT", "DATE", "TIMESTAMP"}
"""Types that DuckDB takes the names of folders for; it takes texts for some of them, too."""

STATED = (
    "write read_csv('…', columns = {'age': 'INTEGER', …}, auto_detect = false, header = true), read_json('…', columns "
    "= {…}) or read_xlsx('…', all_varchar = true), or make a table of it"
)


def unguessed(
    source: ResolvedSource, origins_of: Callable[[ResolvedSource], Origins], forms: CsvForms
) -> ResolvedSource:
    """A source that guesses nothing of its rows but the types of frames, see :meth:`Engine.unguessed`."""
    if source.follows_rows and source.files:
        is_csv = CSV.has(source.files[0])
        relation = forms.of_commas(source.files) if is_csv else lake.folder_reader(source.files)
        return dataclasses.replace(source, relation=relation)
    if source.follows_rows or source.files or source.dataset is not None:
        return source
    found = origins_of(source)
    if guessed := (*source.found_by_rows, *found.guessed):
        raise PolicyError(
            f"a private method would publish types of {source.description} that single rows decide; {STATED}:",
            [f"{name} guesses types" for name in guessed],
        )
    return dataclasses.replace(source, follows_rows=found.has_frames or any(map(paths.folder_columns, found.files)))


def _folder_types(files: Sequence[str], rows: Rows) -> dict[str, str]:
    """The types that the names of folders ``column=value`` are written in: 02139 and 007 stay texts."""
    values: dict[str, set[str]] = {}
    for file in files:
        for name, value in paths.folder_values(file).items():
            values.setdefault(name, set()).add(value)
    values = {name: found - {paths.NO_VALUE} for name, found in values.items()}
    written = {name: rows(printed(csv_values.written_type(sorted(found))), ())[0][0] for name, found in values.items()}
    return {name: kind if kind in GUESSED_ALIKE else TEXT for name, kind in written.items()}


def _refuse_left_out(pattern: str, matched: Sequence[str], rows: Rows) -> None:
    """Refuse links to folders, which DuckDB's ``**`` passes by without a word, unless nothing is left out so.

    Raises:
        EngineError: names the link.
    """
    folders, rest = lake.walked(pattern)
    for folder in folders:
        for link in lake.links_below(folder):
            below = paths.escaped(link) + rest
            if lake.is_above(link, folder) or _has_more(below, matched, rows):
                raise EngineError(
                    f"{link} is a symbolic link to a folder, whose files would be left out: remove it, or name the "
                    f"folders one by one in a query over read_parquet(['{pattern}', '{below}'])",
                    step="source",
                )


def _refuse_overruled(file: str, overruled: Sequence[str]) -> None:
    """Refuse a file with columns that the folders ``column=value`` above it have, too: DuckDB reads those.

    Raises:
        EngineError: names the first one.
    """
    if overruled:
        raise EngineError(
            f'{file} has a column "{overruled[0]}", and lies in a folder {overruled[0]}=…, whose value would be '
            "read in its place: move the file, or read it by a query with hive_partitioning = false",
            step="source",
        )


def _has_more(pattern: str, matched: Sequence[str], rows: Rows) -> bool:
    """Whether a glob stands for a file that is not matched already, under whatever name."""
    known = {os.path.realpath(file) for file in matched}
    return any(os.path.realpath(file) not in known for file in paths.published(_matched([pattern], rows)))


def _refuse_unlike(description: str, files: Sequence[str], rows: Rows) -> None:
    """Refuse Parquet files of several layouts: DuckDB takes the columns of the first, and casts others to its types.

    Raises:
        EngineError: one has other columns or types than the first, or cannot be read.
    """
    try:
        unlike = rows(query_text("engines", "unlike_files"), (list(files),))
    except EngineError as error:
        broken = next((file for file in files if not _is_parquet(file, rows)), None)
        reason = f"{description} cannot be read" if broken is None else f"{broken} cannot be read as a Parquet file"
        raise EngineError(reason, step="source", original=error.original) from None
    for first, other, *alone in unlike:
        here, there = (", ".join(columns) or "nothing else" for columns in alone)
        raise EngineError(
            f"{description} has files of different columns: {first} has {here}, where {other} has {there}; bring them "
            "to one form by a query over read_parquet with union_by_name = true",
            step="source",
        )


def _is_parquet(file: str, rows: Rows) -> bool:
    try:
        rows(query_text("engines", "unlike_files"), ([file],))
    except EngineError as error:
        if error.refusal is Refusal.LACKING:
            raise
        return False
    return True


def _matched(patterns: Sequence[str], rows: Rows) -> list[str]:
    """The files of globs, those of each in their order."""
    files: list[str] = []
    for pattern in patterns:
        # What is wrong with a glob will show when it is read.
        with suppress(EngineError):
            files += [row[0] for row in rows(query_text("engines", "glob_files"), (pattern,))]
    return files


def _readable(source: str, found: ResolvedSource, describe: Describe, kind: Format) -> ResolvedSource:
    try:
        describe(found.relation)
    except EngineError as error:
        if error.refusal in (Refusal.UNLOADED, Refusal.LACKING):
            raise
        reason = f"no {kind.name} file can be read at {source}"
        step = "store" if "://" in source else "source"  # which may be there later
        raise EngineError(reason, step=step, original=error.original) from None
    return found
