"""Releases become tables and files: types that a format lacks are refused, values that it may alter read back."""

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
"""Types that DuckDB writes to Parquet as others: wide integers as floats of 53 bits, the time of a zone as that of UTC,
bits and big numbers as texts, unions and tuples as structs with a field for each alternative or place."""

KEPT_BY_BOTH = frozenset(
    (
        *("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"),
        *("FLOAT", "DOUBLE", "DECIMAL", "VARCHAR", "UUID", "JSON"),
        *("DATE", "TIME", "TIME_NS", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"),
    )
)
KEPT_BY_PARQUET = KEPT_BY_BOTH | {"BLOB", "ENUM", "STRUCT", "MAP", "TIMESTAMP WITH TIME ZONE"}
KEPT_BY_CSV = KEPT_BY_BOTH | {"HUGEINT", "UHUGEINT", "BIGNUM", "VARINT"}
"""Types whose values all come back with the texts that they had."""

READ_BACK_FROM_CSV = frozenset(("TIMESTAMP WITH TIME ZONE", "TIME WITH TIME ZONE", "INTERVAL"))
"""Types with values that may not, such as a time zone that was seconds off that of today."""

NEGATIVE = "negative intervals"  # what DuckDB says that it does not write to Parquet
TOO_LONG = "line size"  # in the error of DuckDB about a row of a CSV that is longer than it reads

INSTEAD_OF_PARQUET = "cast them to VARCHAR in a view, or write to a table"
INSTEAD_OF_CSV = "cast them to VARCHAR in a view, or write to a .parquet file or a table"

PARQUET: dict[str, exp.Expr] = {"FORMAT": exp.var("parquet"), "COMPRESSION": exp.var("zstd")}


class Writer(Compute):
    """Writes releases as tables and files, and reads them back."""

    def write_table(self, target: exp.Table, query: exp.Query, *, replace: bool) -> None:
        """Make a table from a query; without ``replace``, refuse if a table is there by now."""
        try:
            self.execute(create_table(target.copy(), query, replace=replace), "write the release")
        except EngineError as error:
            if not replace and error.refusal is Refusal.TAKEN:
                reason = f'"{target.name}" exists, made by another connection meanwhile; give another name'
                raise error.reworded(f"{reason}, or replace=True", "target") from None
            raise

    def comment_table(self, target: exp.Table, comment: str) -> None:
        """Give a table a comment."""
        self.execute(exp.Comment(this=target.copy(), kind="TABLE", expression=string(comment)), "comment the release")

    def write_staged(self, query: exp.Query, staged: Staged) -> exp.Table:
        """Write the rows of a query as Parquet files from where the rows are, as :meth:`Rows.write`."""
        assert self.far is not None
        with self._counted(query, "write the release") as rest:
            sent = rest if isinstance(rest, Sent) else whole(rest, self.far.owns)
            return self.far.write(sent.query, self._small(sent, "write the release"), staged)

    def written_columns(self, query: exp.Query) -> list[SourceColumn]:
        """Return the columns of a query as files have them: texts for an ENUM, and where all values are missing."""
        return [
            column_of(found.name, found.traits.released_as)
            if found.traits.is_enum or found.traits.is_missing
            else found
            for found in self.describe(subquery(query.copy(), "anon_written"))
        ]

    def parquet_columns(self, query: exp.Query) -> list[SourceColumn]:
        """Return the columns of a query as Parquet files have them; refuse types that these lack."""
        columns = self.written_columns(query)
        altered = {found.name: sorted(types_in(found.type) & NOT_IN_PARQUET) for found in columns}
        lines = [f'"{name}" ({", ".join(types)})' for name, types in altered.items() if types]
        if lines:
            raise EngineError(
                f"Parquet has no types for the values of the columns {', '.join(lines)}; cast them in a view (HUGEINT "
                "to BIGINT or DECIMAL(38, 0), others to VARCHAR), or write to a table",
                step="target",
            )
        return columns

    def csv_columns(self, query: exp.Query) -> list[SourceColumn]:
        """Return the columns of a query as CSV files have them; refuse types without a form, as of lists and bytes."""
        columns = self.written_columns(query)
        plain = KEPT_BY_CSV | READ_BACK_FROM_CSV
        lines = [
            f'"{found.name}" ({found.type})'
            for found in columns
            if found.type.endswith("]") or not types_in(found.type) <= plain
        ]
        if lines:
            reason = f"CSV has no form for the values of the columns {', '.join(lines)}; {INSTEAD_OF_CSV}"
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
        """Write a Parquet file from a query, with ``metadata``, if any, in its footer under the key ``sqlanon``.

        ``columns`` are those of the query, by :meth:`parquet_columns`. ``streamed`` says that the rows come in their
        order without a sort, so that none need be kept until others come.
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
        """Write Parquet files with names that end in ``suffix`` to nested folders ``column=value`` of an empty one."""
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
        """Write a CSV file from a query; texts of the ``columns`` are in quotes, so that empty differs from missing.

        See :meth:`read_files`, which reads it.
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
        # By one thread: several keep what they write in memory until it is its turn.
        alone = self.with_settings(threads=1, preserve_insertion_order=False)
        with alone if streamed else nullcontext():
            self.execute(copy, "write the file")

    def read_files(self, files: Files) -> exp.Table | exp.Subquery:
        """Return files of ours as a relation."""
        return file_readers.as_written(files)

    def parquet_metadata(self, path: str | Path) -> str | None:
        """Return the text under the key ``sqlanon`` in the footer of a Parquet file, None without it."""
        found = self.rows(query_text("engines", "parquet_note"), (str(path), NOTE_KEY))
        return found[0][0] if found else None

    def refuse_altered_parquet(self, query: exp.Query, written: exp.Expr, columns: Sequence[SourceColumn]) -> None:
        """Read back what was written of a query, where the types of its columns do not prove that nothing has changed.

        Refused are values that have another text now, such as intervals of microseconds.
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
        """Read back what was written of a query, as :meth:`refuse_altered_parquet`; refuse rows that are too long."""
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
        """The columns of a query whose values have other texts in what was written of it, each with how many rows."""
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
    """Name the columns whose values DuckDB refuses to write to Parquet inside the block."""
    try:
        yield
    except EngineError as error:
        if NEGATIVE not in str(error.original):
            raise
        names = ", ".join(f'"{found.name}"' for found in columns if "INTERVAL" in types_in(found.type))
        reason = f"Parquet has no negative intervals, which are in one of the columns {names}; {INSTEAD_OF_PARQUET}"
        raise error.reworded(reason, "target") from None
