"""Resolve the spelling of a source: a table, Parquet or CSV files, a folder, or a query."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.engines import paths
from sqlanon.engines.csv_notes import entry_of_all
from sqlanon.engines.duckdb import catalog, file_readers
from sqlanon.engines.duckdb.catalog import Describe, Rows
from sqlanon.engines.duckdb.csv_form import TEXT
from sqlanon.engines.duckdb.csv_forms import CsvForms
from sqlanon.engines.duckdb.file_readers import CSV, Format, format_of
from sqlanon.engines.duckdb.labelled_files import LabelledFiles, is_labelled
from sqlanon.engines.duckdb.origins import Scans, Spelled, is_of_with, macros_of, scans_of, spelled_by
from sqlanon.engines.duckdb.restricted import refuse_forbidden, refuse_remote
from sqlanon.engines.relations import Files, Origins, ResolvedSource
from sqlanon.errors import EngineError, PolicyError, Refusal
from sqlanon.model.names import dataset_of_files, folded, possible
from sqlanon.model.whole_files import read_whole
from sqlanon.queries.kit.macros import scalar_call
from sqlanon.queries.kit.nodes import DIALECT, c, identifier, listed, select
from sqlanon.queries.kit.sql_files import query_text
from sqlanon.queries.kit.steps import printed

if TYPE_CHECKING:
    from sqlanon.model.record import FolderRecord

BY_NAME = ("this", "db", "catalog")  # the name parts of a table in a query

QUERY_SUFFIX = ".sql"
MAX_QUERY_MB = 1  # of a query file
PlanOf = Callable[[exp.Query], str]  # returns a query's unoptimized plan, in JSON

GUESSED_ALIKE = {"BIGINT", "DATE", "TIMESTAMP"}
"""Types that DuckDB guesses from folder names; it guesses them for some texts, too."""

STATED = (
    "write read_csv('…', columns = {'age': 'INTEGER', …}, auto_detect = false, header = true), read_json('…', columns "
    "= {…}) or read_xlsx('…', all_varchar = true), or make a table of it"
)


class Sources:
    def __init__(
        self, rows: Rows, describe: Describe, forms: CsvForms, labelled: LabelledFiles, plan_of: PlanOf
    ) -> None:
        self._rows = rows
        self._describe = describe
        self._forms = forms
        self._labelled = labelled
        self._plan_of = plan_of
        self._macros: Mapping[str, Sequence[str]] | None = None

    def forget_macros(self) -> None:
        """Forget the user's macros, which are listed at most once between two calls."""
        self._macros = None

    def _listed_macros(self) -> Mapping[str, Sequence[str]]:
        if self._macros is None:
            self._macros = macros_of(self._rows)
        return self._macros

    def resolve(self, source: str, warehouse: str, *, restricted: bool = False) -> ResolvedSource:
        """Resolve a spelling, tables first; the ledger names tables of ``warehouse``.

        ``restricted`` sources are limited by :mod:`sqlanon.engines.duckdb.restricted`.
        """
        found = catalog.find(self._rows, possible(source, "source"))
        if found is not None:
            dataset = catalog.dataset_of(found, warehouse)
            table = ResolvedSource(found.table, f'table "{source}"', dataset=dataset)
            return self._with_files(table) if found.is_view else table
        if restricted:
            refuse_remote(source)
        if paths.is_folder(source):
            return self._folder(source)
        is_in_file = source.lower().endswith(QUERY_SUFFIX) and not restricted
        is_query = is_in_file or catalog.is_query(source)
        if not is_query:
            file_readers.refuse_other_formats(source)
        if catalog.is_path(source):
            return self._path(source)
        if is_query:
            query = _query_in(source) if is_in_file else catalog.parse_query(source)
            if restricted:
                refuse_forbidden(query.relation, self._rows)
            read = self._with_files(query, reads_csv=True)
            return replace(read, csv=self._forms.settings) if read.found_by_rows else read
        raise catalog.not_found(self._rows, source)

    def origins(self, source: ResolvedSource) -> Origins:
        scans, unseen = None, None
        try:
            scans = scans_of(self._plan_of(select([exp.Star()], source.relation.copy())))
        except EngineError as error:
            unseen = f"its plan does not show what it reads: {error}"
        spelled = spelled_by(source, self._rows, self._listed_macros, literals=scans is None)
        scanned = (catalog.of_reference(self._rows, name) for name in (() if scans is None else scans.tables))
        stored = (*(found for found in spelled.relations if not found.is_view), *(found for found in scanned if found))
        tables = {found.table.sql(DIALECT): found.table for found in stored}
        if scans is not None:
            unseen = self._unseen(scans, spelled)
        has_frames = scans is not None and scans.frames > 0
        files = tuple(dict.fromkeys(self._matched(spelled.texts)))
        return Origins(tuple(tables.values()), files, has_frames, unseen, spelled.guessed)

    def _unseen(self, scans: Scans, spelled: Spelled) -> str | None:
        """Return the reason why a query may read more than known tables and files; None if it does not."""
        if scans.others:
            return f"it calls {', '.join(scans.others)}, whose rows have an unknown origin"
        if scans.files and not spelled.is_whole:
            return "it computes file names, or has them where they cannot be read"
        missing = [path for path in spelled.paths if not self._matched([path])]
        return f"it reads {missing[0]}, whose files cannot be listed" if scans.files and missing else None

    def unguessed(self, source: ResolvedSource, origins_of: Callable[[ResolvedSource], Origins]) -> ResolvedSource:
        """Return a source without guesses but for types of frames, see :meth:`Engine.unguessed`."""
        if source.follows_rows and source.files:
            if is_labelled(source.files[0]):
                return replace(source, relation=self._labelled.texts(source.files[0], self._forms.settings))
            is_csv = CSV.has(source.files[0])
            relation = self._forms.of_commas(source.files) if is_csv else file_readers.folder_reader(source.files)
            return replace(source, relation=relation)
        if source.follows_rows or source.files or source.dataset is not None:
            return source
        found = origins_of(source)
        if guessed := (*source.found_by_rows, *found.guessed):
            raise PolicyError(
                f"single rows decide types of {source.description}, which a private method would publish; {STATED}:",
                [f"{name} guesses types" for name in guessed],
            )
        return replace(source, follows_rows=found.has_frames or any(map(paths.folder_columns, found.files)))

    def _with_files(self, source: ResolvedSource, *, reads_csv: bool = False) -> ResolvedSource:
        """Return a query or view with its files; those with CSV or labels that a query names are read like sources."""
        spelled = spelled_by(source, self._rows, self._listed_macros)
        relation, names = self._with_csv(source.relation) if reads_csv else (source.relation, ())
        guessed = tuple(name for name in spelled.guessed if name not in names)
        files = tuple(dict.fromkeys(self._matched(spelled.texts)))
        return replace(source, relation=relation, read=files, guessed=guessed, found_by_rows=names)

    def _with_csv(self, query: exp.Table | exp.Subquery) -> tuple[exp.Table | exp.Subquery, tuple[str, ...]]:
        """Read the CSV and labelled files that a query names like sources; return the new query and the names."""
        query, names = query.copy(), list[str]()
        for table in [*query.find_all(exp.Table)]:
            name = table.name
            is_name = isinstance(table.this, exp.Identifier) and not table.db and (CSV.has(name) or is_labelled(name))
            if is_name and not is_of_with(table) and catalog.find(self._rows, table.sql("duckdb")) is None:
                relation = self._path(name).relation.copy()
                for part, value in table.args.items():
                    if part not in BY_NAME and value:
                        relation.set(part, value)
                if not table.alias:
                    relation.set("alias", exp.TableAlias(this=identifier(PurePosixPath(name).name.partition(".")[0])))
                table.replace(relation)
                names.append(name)
        return query, (*dict.fromkeys(names),)

    def _path(self, path: str) -> ResolvedSource:
        if is_labelled(path):
            return self._labelled.source(path, dataset_of_files(self._at_home(path)), self._forms.settings)
        return self._files(path, [path], dataset_of_files(self._at_home(path)))

    def _at_home(self, path: str) -> str:
        home = self._rows(query_text("engines", "home_directory"), ())[0][0] if path.startswith("~") else None
        return home + path.removeprefix("~") if home else path

    def _folder(self, source: str) -> ResolvedSource:
        """Resolve a folder with all files below it; a release folder has its own columns and types."""
        if (unreadable := file_readers.unreadable_below(source)) is not None:
            raise EngineError(f"the folder {unreadable} cannot be read, so its files would be left out", step="source")
        dataset, layout = dataset_of_files(source), paths.marked(source)
        parquet, csv = [paths.pattern_below(source)], [paths.pattern_below(source, suffix) for suffix in CSV.suffixes]
        if layout is not None:
            return self._files(source, parquet, dataset, layout, folder="folder ")
        files = paths.published(self._matched([*parquet, *csv]))
        patterns = csv if format_of(f"the folder {source}", files) == CSV else parquet
        return self._files(source, patterns, dataset, folder="folder ")

    def _files(
        self, source: str, patterns: Sequence[str], dataset: str, layout: FolderRecord | None = None, folder: str = ""
    ) -> ResolvedSource:
        matched = self._matched(patterns)
        for pattern in patterns:
            self._refuse_left_out(self._at_home(pattern), matched)
        files = paths.published(matched)
        kind = format_of(source, files)
        description = f"{kind.name} {folder}{source}"
        if kind == CSV and (entry := entry_of_all(files)) is not None:
            written = file_readers.as_written(Files(files, "CSV", entry.columns, quoted=entry.quoted))
            return self.readable(source, ResolvedSource(written, description, files, dataset), kind)
        form = self._forms.of(files) if kind == CSV and files else None
        if layout is None and files:
            self._refuse_overruled(files[0], None if form is None else [*form.types])
        # Prefer the pattern: a list of many files makes every statement long.
        short = patterns[0] if not files or (len(patterns) == 1 and len(files) == len(matched)) else None
        if form is not None:
            found = ResolvedSource(form.relation(short), description, files, dataset, follows_rows=True)
            return self.readable(source, replace(found, csv=form.settings, read_as=form.described), kind)
        if len(files) > 1:
            self._refuse_unlike(description, files)
        relation = self._parquet(files, short or files, layout)
        follows_rows = kind == CSV or (layout is None and any(map(paths.folder_columns, files)))
        found = ResolvedSource(relation, description, files, dataset, follows_rows=follows_rows)
        return self.readable(source, found, kind)

    def _parquet(
        self, files: tuple[str, ...], given: str | tuple[str, ...], layout: FolderRecord | None
    ) -> exp.Table | exp.Subquery:
        """Return Parquet files as a relation; folder columns get types that all their values fit."""
        if layout is not None:
            written = Files(given, columns=layout.columns, partition_by=layout.partition_by)
            return file_readers.as_written(written)
        values: dict[str, set[str]] = {}
        for file in files:
            for name, value in paths.folder_values(file).items():
                values.setdefault(name, set()).add(value)
        types = {}
        for name, found in values.items():
            texts = listed(sorted(found - {paths.NO_VALUE}), "anon_value")
            query = select([scalar_call("written_type_of_all", c.anon_value)], texts)
            kind = self._rows(printed(query), ())[0][0]
            types[name] = kind if kind in GUESSED_ALIKE else TEXT  # such as 02139 and 007
        if {*types.values()} <= GUESSED_ALIKE:
            return file_readers.reader(given)
        return file_readers.folder_reader(given, types)

    def _refuse_left_out(self, pattern: str, matched: Sequence[str]) -> None:
        """Refuse links to folders, which DuckDB's ``**`` silently skips, unless their files are matched anyway."""
        folders, rest = file_readers.walked(pattern)
        known = {os.path.realpath(file) for file in matched} if folders else set()
        for folder in folders:
            for link in file_readers.links_below(folder):
                below = paths.escaped(link) + rest
                if file_readers.is_above(link, folder) or not known.issuperset(
                    map(os.path.realpath, paths.published(self._matched([below])))
                ):
                    raise EngineError(
                        f"{link} is a symbolic link to a folder, whose files would be left out: remove it, or name the "
                        f"folders one by one in a query over read_parquet(['{pattern}', '{below}'])",
                        step="source",
                    )

    def _refuse_overruled(self, file: str, columns: Sequence[str] | None) -> None:
        """Refuse a file with columns of its ``column=value`` folders: DuckDB would read the folders' values."""
        given = paths.folder_columns(file)
        if not given:
            return
        own = [found.name for found in self._describe(file_readers.bare_reader(file))] if columns is None else columns
        for name in own:
            if folded(name) in given:
                raise EngineError(
                    f'{file} has a column "{name}", and lies in a folder {name}=…, whose value would be read in its '
                    "place: move the file, or read it by a query with hive_partitioning = false",
                    step="source",
                )

    def _refuse_unlike(self, description: str, files: Sequence[str]) -> None:
        """Refuse Parquet files of several layouts: DuckDB would cast all to the columns of the first."""
        try:
            unlike = self._rows(query_text("engines", "unlike_files"), (list(files),))
        except EngineError as error:
            broken = next((file for file in files if not self._is_parquet(file)), None)
            reason = f"{description} cannot be read" if broken is None else f"{broken} cannot be read as a Parquet file"
            raise EngineError(reason, step="source", original=error.original) from None
        for first, other, *alone in unlike:
            here, there = (", ".join(columns) or "nothing else" for columns in alone)
            raise EngineError(
                f"{description} has files of different columns: {first} has {here}, where {other} has {there}; bring "
                "them to one form by a query over read_parquet with union_by_name = true",
                step="source",
            )

    def _is_parquet(self, file: str) -> bool:
        try:
            self._rows(query_text("engines", "unlike_files"), ([file],))
        except EngineError as error:
            if error.refusal is Refusal.LACKING:
                raise
            return False
        return True

    def _matched(self, patterns: Sequence[str]) -> list[str]:
        files: list[str] = []
        for pattern in patterns:
            # A broken glob fails when it is read.
            with suppress(EngineError):
                files += [row[0] for row in self._rows(query_text("engines", "glob_files"), (pattern,))]
        return files

    def readable(self, source: str, found: ResolvedSource, kind: Format = file_readers.PARQUET) -> ResolvedSource:
        try:
            self._describe(found.relation)
        except EngineError as error:
            if error.refusal in (Refusal.UNLOADED, Refusal.LACKING):
                raise
            reason = f"no {kind.name} file can be read at {source}"
            step = "store" if "://" in source else "source"  # a store may have it later
            raise EngineError(reason, step=step, original=error.original) from None
        return found


def _query_in(path: str) -> ResolvedSource:
    try:
        text = read_whole(Path(path), MAX_QUERY_MB).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        reason = f"the query {path} cannot be read: {getattr(error, 'strerror', None) or error}"
        raise EngineError(reason, step="source") from None
    try:
        return replace(catalog.parse_query(text), description=f"the query {path}")
    except EngineError as error:
        raise error.reworded(f"{path} is not one SELECT query", step="source") from None
