"""Write releases to tables and files: refuse types that a format lacks, and read back values that it may alter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

from sqlglot import exp

from sqlanon.engines.cutting import Sent, Staged, whole
from sqlanon.engines.duckdb import file_readers
from sqlanon.engines.duckdb.compute import Compute
from sqlanon.engines.relations import Files, column_of, types_in
from sqlanon.errors import EngineError, Refusal
from sqlanon.model.destination import NOTE_KEY
from sqlanon.queries.kit.macros import exact_text
from sqlanon.queries.kit.nodes import column, counted_rows, create_table, identifier, select, string, subquery
from sqlanon.queries.kit.sql_files import query_text
from sqlanon.queries.source import SourceColumn

NOT_IN_PARQUET = frozenset(
    ("HUGEINT", "UHUGEINT", "BIGNUM", "VARINT", "BIT", "UNION", "TUPLE", "TIME WITH TIME ZONE"),
)
"""Types that DuckDB writes to Parquet as others: wide integers as 53-bit floats, times with a zone as UTC, bits and big
numbers as texts, unions and tuples as structs with a field for each alternative or place.
"""

KEPT_BY_BOTH = frozenset(
    (
        *("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"),
        *("FLOAT", "DOUBLE", "DECIMAL", "VARCHAR", "UUID", "JSON"),
        *("DATE", "TIME", "TIME_NS", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"),
    )
)
KEPT_BY_PARQUET = KEPT_BY_BOTH | {"BLOB", "ENUM", "STRUCT", "MAP", "TIMESTAMP WITH TIME ZONE"}
KEPT_BY_CSV = KEPT_BY_BOTH | {"HUGEINT", "UHUGEINT", "BIGNUM", "VARINT"}
"""Types whose values always read back with the same texts."""

READ_BACK_FROM_CSV = frozenset(("TIMESTAMP WITH TIME ZONE", "TIME WITH TIME ZONE", "INTERVAL"))
"""Types with values that may not, such as times in zones with historical offsets of seconds."""

NEGATIVE = "negative intervals"  # in DuckDB's error on writing them to Parquet
TOO_LONG = "line size"  # in DuckDB's error on a CSV row that is longer than it reads

INSTEAD_OF_PARQUET = "cast them to VARCHAR in a view, or write to a table"
INSTEAD_OF_CSV = "cast them to VARCHAR in a view, or write to a .parquet file or a table"

PARQUET: dict[str, exp.Expr] = {"FORMAT": exp.var("parquet"), "COMPRESSION": exp.var("zstd")}


class Writer(Compute):
    def write_table(self, target: exp.Table, query: exp.Query, *, replace: bool) -> None:
        """Make a table from a query; unless ``replace``, refuse if another connection has made it meanwhile."""
        try:
            self.execute(create_table(target.copy(), query, replace=replace), "write the release")
        except EngineError as error:
            if not replace and error.refusal is Refusal.TAKEN:
                reason = f'"{target.name}" exists, made by another connection meanwhile; give another name'
                raise error.reworded(f"{reason}, or replace=True", "target") from None
            raise

    def comment_table(self, target: exp.Table, comment: str) -> None:
        self.execute(exp.Comment(this=target.copy(), kind="TABLE", expression=string(comment)), "comment the release")

    def write_staged(self, query: exp.Query, staged: Staged) -> exp.Table:
        """Write a query's rows as Parquet files at the rows' home, see :meth:`Rows.write`."""
        assert self.far is not None
        with self._counted(query, "write the release") as rest:
            sent = rest if isinstance(rest, Sent) else whole(rest, self.far.owns)
            return self.far.write(sent.query, self._small(sent, "write the release"), staged)

    def written_columns(self, query: exp.Query) -> list[SourceColumn]:
        """Return the columns of a query as written to files: ENUM and all-missing columns become text."""
        return [
            column_of(found.name, found.traits.released_as)
            if found.traits.is_enum or found.traits.is_missing
            else found
            for found in self.describe(subquery(query.copy(), "anon_written"))
        ]

    def parquet_columns(self, query: exp.Query) -> list[SourceColumn]:
        """Return the columns of a query as written to Parquet; refuse types that it lacks."""
        columns = self.written_columns(query)
        altered = {found.name: sorted(types_in(found.type) & NOT_IN_PARQUET) for found in columns}
        lines = [f'"{name}" ({", ".join(types)})' for name, types in altered.items() if types]
        if lines:
            raise EngineError(
                f"Parquet has no types for the columns {', '.join(lines)}; cast them in a view (HUGEINT "
                "to BIGINT or DECIMAL(38, 0), others to VARCHAR), or write to a table",
                step="target",
            )
        return columns

    def csv_columns(self, query: exp.Query) -> list[SourceColumn]:
        """Return the columns of a query as written to CSV; refuse types that it lacks, such as lists and bytes."""
        columns = self.written_columns(query)
        plain = KEPT_BY_CSV | READ_BACK_FROM_CSV
        lines = [
            f'"{found.name}" ({found.type})'
            for found in columns
            if found.type.endswith("]") or not types_in(found.type) <= plain
        ]
        if lines:
            reason = f"CSV cannot hold the columns {', '.join(lines)}; {INSTEAD_OF_CSV}"
            raise EngineError(reason, step="target")
        return columns

    def write_parquet(
        self,
        path: Path,
        query: exp.Query,
        columns: Sequence[SourceColumn],
        metadata: str | None = None,
        *,
        streamed: bool = False,
    ) -> None:
        """Write a Parquet file from a query; ``metadata`` goes to its footer under the key ``sqlanon``.

        ``columns`` come from :meth:`parquet_columns`. With ``streamed``, rows come in order without a sort, so none are
        buffered.
        """
        options = dict(PARQUET)
        if metadata is not None:
            noted = exp.PropertyEQ(this=exp.to_identifier(NOTE_KEY), expression=string(metadata))
            options["KV_METADATA"] = exp.Struct(expressions=[noted])
        with _naming_intervals(columns):
            self._copy(path, query, options, streamed=streamed)

    def write_partitions(
        self, folder: Path, query: exp.Query, columns: Sequence[SourceColumn], by: Sequence[str], suffix: str
    ) -> None:
        """Write Parquet files, named ``*suffix``, to nested folders ``column=value`` of an empty one."""
        options = {
            **PARQUET,
            "PARTITION_BY": exp.Tuple(expressions=[exp.column(identifier(name)) for name in by]),
            "FILE_EXTENSION": string(suffix.removeprefix(".")),
            "OVERWRITE_OR_IGNORE": exp.true(),
        }
        with _naming_intervals(columns):
            self._copy(folder, query, options)

    def write_csv(
        self,
        path: Path,
        query: exp.Query,
        columns: Sequence[SourceColumn] = (),
        *,
        header: bool = True,
        delimiter: str = ",",
        streamed: bool = False,
    ) -> None:
        """Write a CSV file from a query; texts of the ``columns`` are quoted, so that empty differs from missing.

        :meth:`read_files` reads it.
        """
        options: dict[str, exp.Expr] = {
            "FORMAT": exp.var("csv"),
            "HEADER": exp.true() if header else exp.false(),
            "DELIMITER": string(delimiter),
            "QUOTE": string('"'),
            "ESCAPE": string('"'),
            "NULLSTR": string(""),
            "COMPRESSION": exp.var("none"),
        }
        quoted = [found.name for found in columns if found.traits.is_text or found.traits.is_json]
        if quoted:
            options["FORCE_QUOTE"] = exp.Tuple(expressions=[exp.column(identifier(name)) for name in quoted])
        self._copy(path, query, options, streamed=streamed)

    def _copy(self, path: Path, query: exp.Query, options: dict[str, exp.Expr], *, streamed: bool = False) -> None:
        parameters = [exp.CopyParameter(this=exp.var(name), expression=value.copy()) for name, value in options.items()]
        copy = exp.Copy(this=exp.Subquery(this=query), kind=False, files=[string(str(path))], params=parameters)
        # One thread: several would buffer their output until their turn.
        alone = self.with_settings(threads=1, preserve_insertion_order=False)
        with alone if streamed else nullcontext():
            self.execute(copy, "write the file")

    def read_files(self, files: Files) -> exp.Table | exp.Subquery:
        """Return files that sqlanon wrote as a relation."""
        return file_readers.as_written(files)

    def parquet_metadata(self, path: str | Path) -> str | None:
        """Return the text under the key ``sqlanon`` in the footer of a Parquet file; None without it."""
        found = self.rows(query_text("engines", "parquet_note"), (str(path), NOTE_KEY))
        return found[0][0] if found else None

    def refuse_altered_parquet(self, query: exp.Query, written: exp.Expr, columns: Sequence[SourceColumn]) -> None:
        """Read back written columns whose types do not prove them unchanged.

        Refuses values whose texts have changed, such as intervals with microseconds.
        """
        doubtful = [found for found in columns if not types_in(found.type) <= KEPT_BY_PARQUET]
        problems = self._altered(query, written, doubtful)
        if problems:
            raise EngineError(
                f"Parquet alters values of the columns {', '.join(problems)}: of intervals it keeps months, days, and "
                f"whole milliseconds of up to a day; {INSTEAD_OF_PARQUET}",
                step="target",
            )

    def refuse_altered_csv(self, query: exp.Query, written: exp.Expr, columns: Sequence[SourceColumn]) -> None:
        """Read back written columns, like :meth:`refuse_altered_parquet`; refuse rows that are too long."""
        try:  # rows that are longer than readers of CSV take
            self.fetch(counted_rows(subquery(select([exp.Star()], written.copy()), "anon_written")), "read the CSV")
        except EngineError as error:
            if TOO_LONG not in str(error.original):
                raise
            place = "a .parquet file or a table"
            reason = f"a row has more than 2,000,000 bytes, which is too long for CSV; write to {place}"
            raise error.reworded(reason, "target") from None
        doubtful = [found for found in columns if not types_in(found.type) <= KEPT_BY_CSV]
        try:
            problems, original = self._altered(query, written, doubtful), None
        except EngineError as error:
            problems, original = [f'"{found.name}" ({found.type})' for found in doubtful], error.original
        if problems:
            reason = f"CSV alters values of the columns {', '.join(problems)}; {INSTEAD_OF_CSV}"
            raise EngineError(reason, step="target", original=original)

    def _altered(self, query: exp.Query, written: exp.Expr, columns: Sequence[SourceColumn]) -> list[str]:
        problems = []
        for found in columns:
            before, after = (
                select([exact_text(column(found.name))], relation)
                for relation in (subquery(query.copy(), "anon_query"), written.copy())
            )
            lost = subquery(exp.Except(this=before, expression=after, distinct=False), "anon_lost")
            rows = self.fetch(counted_rows(lost), "what the file keeps")[0]["rows"]
            if rows:
                problems.append(f'"{found.name}" ({rows:,} rows)')
        return problems


@contextmanager
def _naming_intervals(columns: Sequence[SourceColumn]) -> Iterator[None]:
    """Name the interval columns in DuckDB's refusal to write negative ones to Parquet."""
    try:
        yield
    except EngineError as error:
        if NEGATIVE not in str(error.original):
            raise
        names = ", ".join(f'"{found.name}"' for found in columns if "INTERVAL" in types_in(found.type))
        reason = f"Parquet has no negative intervals, which are in one of the columns {names}; {INSTEAD_OF_PARQUET}"
        raise error.reworded(reason, "target") from None
