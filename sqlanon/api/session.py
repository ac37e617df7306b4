"""The Python interface: a session on a warehouse. Its methods import what they need when called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, overload

from sqlanon.api.linked_calls import linked_sources, measure_linked_tables, refuse_options
from sqlanon.api.opened import OfSession, OpenedEngine
from sqlanon.api.partitions import Partitions
from sqlanon.api.session_ledger import Ledger, LedgerMode
from sqlanon.api.session_nodes import Nodes
from sqlanon.api.session_preparations import Preparations
from sqlanon.api.session_releases import ReleaseRegister, Releases
from sqlanon.api.session_taxonomies import Taxonomies
from sqlanon.engines.locks import exclusive
from sqlanon.errors import PolicyError, SqlanonError
from sqlanon.methods.stages import Progress, silent, stopping
from sqlanon.model.destination import CsvFormulas, Replace, destination, replacing, with_csv_formulas

if TYPE_CHECKING:
    from sqlanon.api.linked_calls import GivenLinkedPolicy, Tables
    from sqlanon.chance.random_source import RandomSource
    from sqlanon.engines.duckdb import Connection, OpenedDatabase
    from sqlanon.engines.relations import Source
    from sqlanon.model.policy.linked_policy import LinkedPolicy
    from sqlanon.model.policy.policy import GivenPolicy
    from sqlanon.model.release import Measurement, Release
    from sqlanon.model.release.linked import LinkedMeasurement
    from sqlanon.model.release.linked_report import LinkedRelease
    from sqlanon.run.explain import ExplainedSteps
    from sqlanon.run.recorded import Overview


class Session(Preparations, Nodes, Releases, AbstractContextManager["Session"]):
    """Anonymize tables of one warehouse; use it as a context manager, or close it.

    Its ``taxonomies``, ``partitions``, ``ledger`` and ``releases`` have verbs of their own. Options are
    keyword-only and have defaults.

    Several threads may share a session: its calls run one after the other. Callbacks such as ``progress`` cannot call
    the session.

    A *source* is the name of a table or view, the path or glob of Parquet or CSV files, a folder of them, a SELECT
    query, or the path of a ``.sql`` file with one. A folder stands for all files in it and below, which are of one
    format; folders ``column=value`` are columns, and a released folder reads as it was released. A column of a CSV file
    has a type only if every value is spelled like the type, and is text otherwise; ``csv`` of a policy, or of
    :func:`connect`, has settings that cannot be detected, such as the encoding.

    A frame is a source as well: a pandas or polars DataFrame, an Arrow table, record batch, reader or dataset, or a
    relation of the session's DuckDB connection. DuckDB scans it in place; a reader, which can be read once, is kept in
    a temporary table during the call.

    A *policy* is a :class:`Policy`, a mapping of its fields, or the path of a TOML file. It is validated on each use,
    because a changed copy may be invalid. That of linked tables is a :class:`LinkedPolicy`: :meth:`anonymize`,
    :meth:`measure`, :meth:`explain`, :meth:`verify` and :meth:`report` take it, with a mapping such as ``{"patients":
    "patients.csv"}``.

    A *target* is the name of a table, the path of a file, which ends in ``.parquet`` or ``.csv``, or the path of a
    folder, which ends in a slash. A CSV has a note beside it, ``<name>.sqlanon.json``, with the types of its columns
    and its provenance: keep the two together. A target is replaced in one step, after everything new has been written
    and verified.
    """

    def __init__(self, opened: OpenedDatabase, ledger: Path | None = None, ledger_mode: LedgerMode = "open") -> None:
        super().__init__(OpenedEngine(opened))
        self.taxonomies = Taxonomies(self._opened)
        self.partitions = Partitions(self._opened)
        self.ledger = Ledger(self._opened, ledger, ledger_mode)
        self.releases = ReleaseRegister(self._opened)

    @property
    def connection(self) -> Connection:
        """The DuckDB connection under the session."""
        return self._opened.connection

    @exclusive
    def install(self) -> None:
        """Create schema ``anon`` with all macros in the warehouse, for any DuckDB client to call.

        Raises:
            EngineError: the warehouse is read-only.
        """
        with self._engine.transaction():
            self._engine.install()

    @overload
    @exclusive
    def measure(self, source: Tables, policy: GivenLinkedPolicy) -> LinkedMeasurement: ...

    @overload
    @exclusive
    def measure(self, source: Source, policy: GivenPolicy) -> Measurement: ...

    @exclusive
    def measure(self, source: Source | Tables, policy: GivenPolicy | LinkedPolicy) -> Measurement | LinkedMeasurement:
        """Measure the privacy of a table as it is, by the policy's quasi-identifiers and privacy models.

        Linked tables are measured together, by what somebody knows: a person, up to two of the person's rows, or all.

        Raises:
            PolicyError: the table lacks a column to measure.
        """
        from sqlanon.model.policy.linked_policy import LinkedPolicy
        from sqlanon.verification.measure import measure_source

        wanted = self._opened.given(policy)
        if isinstance(wanted, LinkedPolicy):
            return measure_linked_tables(self._opened, source, wanted)
        return measure_source(self._engine, self._opened.resolve(source), wanted)

    @exclusive
    def explain(self, source: Source | Tables, policy: GivenPolicy | LinkedPolicy) -> ExplainedSteps:
        """Return the SQL of every step of a run, in order, by a dry run without rows of the source.

        The source and its taxonomies must exist; nothing is charged or kept. The node is the public one, or else the
        bottom of the lattice. The release is shown as it goes to a table; for files, labels get types that depend on
        the rows. Linked tables have sources as in :meth:`anonymize`; of rows at several levels, the finest are shown.
        """
        from sqlanon.model.policy.linked_policy import LinkedPolicy
        from sqlanon.run.explain import explain, explain_linked

        wanted = self._opened.given(policy)
        if isinstance(wanted, LinkedPolicy):
            return explain_linked(self._engine, linked_sources(self._opened, wanted, source), wanted)
        return explain(self._engine, self._opened.resolve(source), wanted)

    @overload
    @exclusive
    def anonymize(
        self,
        source: Tables,
        policy: GivenLinkedPolicy,
        into: str | Path,
        *,
        replace: Replace = False,
        progress: Progress = silent,
        time_limit: float | None = None,
        max_loss: float | None = None,
        stop: Callable[[], bool] | None = None,
        listed: bool = True,
        sql: str | Path | None = None,
    ) -> LinkedRelease: ...

    @overload
    @exclusive
    def anonymize(
        self,
        source: Source,
        policy: GivenPolicy,
        into: str | Path,
        *,
        node: Mapping[str, int] | None = None,
        replace: Replace = False,
        rows_per_file: int | None = None,
        partition_by: str | Sequence[str] = (),
        csv_formulas: CsvFormulas | None = None,
        progress: Progress = silent,
        time_limit: float | None = None,
        max_loss: float | None = None,
        stop: Callable[[], bool] | None = None,
        dataset: str | None = None,
        public: str | Sequence[str] = (),
        random_source: RandomSource | None = None,
        tables: Mapping[str, str] | None = None,
        pseudonym_key: bytes | Path | None = None,
        keep_taxonomies: bool = True,
        listed: bool = True,
        sql: str | Path | None = None,
    ) -> Release: ...

    @exclusive
    def anonymize(
        self,
        source: Source | Tables,
        policy: GivenPolicy | LinkedPolicy,
        into: str | Path,
        *,
        node: Mapping[str, int] | None = None,
        replace: Replace = False,
        rows_per_file: int | None = None,
        partition_by: str | Sequence[str] = (),
        csv_formulas: CsvFormulas | None = None,
        progress: Progress = silent,
        time_limit: float | None = None,
        max_loss: float | None = None,
        stop: Callable[[], bool] | None = None,
        dataset: str | None = None,
        public: str | Sequence[str] = (),
        random_source: RandomSource | None = None,
        tables: Mapping[str, str] | None = None,
        pseudonym_key: bytes | Path | None = None,
        keep_taxonomies: bool = True,
        listed: bool = True,
        sql: str | Path | None = None,
    ) -> Release | LinkedRelease:
        """Publish the best generalization of a source that meets the policy, verified; or the draw of its method.

        If the target holds the release of the same policy from the same files, by name, size and modification time,
        nothing is done, and that release is returned as ``unchanged``.

        Linked tables, which have a :class:`LinkedPolicy`, are published together: all of them or none, with keys that
        are drawn anew in each run. The target is a folder, or a schema of the warehouse, with a table for each. Of the
        options, ``replace`` (except ``"changed"``), ``progress``, ``time_limit``, ``max_loss``, ``stop``,
        ``listed`` and ``sql`` are for them.

        Args:
            source, policy, into: the table, the guarantee, and the target; for linked tables, a mapping of sources by
                table; those that are left out, or all with None, are tables of the warehouse with these names.
            node: the level of every quasi-identifier, if the node is known; it must meet the policy on the source, and
                be the one that the policy names, if it names one.
            replace: True to replace a table or file written by sqlanon, or a folder with nothing but a release.
                ``"changed"`` to replace only a release of other inputs, and to do nothing if the release would be the
                same. ``"anything"`` to replace any table or file.
            rows_per_file: how many rows a file of a folder holds at most.
            partition_by: columns of the release whose values become folders ``column=value``.
            csv_formulas: what becomes of CSV cells that a spreadsheet would compute, because they begin with ``=``,
                ``+``, ``-``, ``@``, a tab or a line break: ``"keep"`` (the default) notes their number in the report,
                ``"quote"`` writes an apostrophe before them, and ``"refuse"`` publishes nothing.
            progress: called with an :class:`sqlanon.Event` when a stage starts and finishes, and a few times a second
                in between. An exception in it ends the run and leaves the target as it was, unless the last stage,
                ``publish``, has finished.
            time_limit: seconds from the call after which the search settles for the best node found. It checks the
                clock after each batch of nodes, so it checks at least one; the release is written and verified as
                always. The report has the distance from the optimum (``gap``). Local recoding then examines only few of
                the more general nodes, where all rows find a class, and its report notes the stop.
            max_loss: the largest acceptable loss, in the unit of the report; a release that loses more is not
                published. A policy with the objective ``"privacy"`` has a setting of that name, which guides its
                search.
            stop: called after each batch of nodes; once it returns true, the search settles for the best node found.
            dataset: the data set whose budget a private method spends; by default that of the source's table or files.
            public: tables and files that a query reads for a private method and that everybody may know: they are not
                charged, as the guarantee states. Everything else that it reads belongs to ``dataset`` from then on.
            random_source: the source of a private method's draws, by default the operating system; a
                :class:`SeededSource` spends nothing, and its release is stamped NOT PRIVATE.
            tables: names for the tables that a method publishes beside the rows, in one step, by their kind.
            pseudonym_key: the secret key of the policy's pseudonyms, or the path of its file; by default from the
                environment variable ``SQLANON_PSEUDONYM_KEY``.
            keep_taxonomies: with a table, keep the policy's taxonomies in the warehouse, and install the macros in a
                file without them, so that SQL can use both. Taxonomies whose values were read off the data are kept
                only if the data are tables of the warehouse.
            listed: False keeps a preview, which nobody is given and you remove, off the list of releases. A private
                release spends budget, and is always listed.
            sql: a new file for the statements sent to DuckDB, in order, each with its purpose and its milliseconds. It
                can hold labels and values of taxonomies, and names of files.

        Raises:
            PolicyError: the policy or the given node does not fit the source, the source has no rows, a column to
                partition by is not in the release, the time limit or the rows of a file are not positive, a value would
                have the same pseudonym in several rows, the key of pseudonyms is missing or refused, or the ``dp``
                extra that private methods need is not installed.
            BudgetError: the data set has less left than a private method spends, or no cap in a session with
                ``ledger_mode="capped"``; nothing was spent.
            TaxonomyError: a taxonomy is missing, malformed, or does not cover the data.
            UnsatisfiableError: no node meets the privacy models within the suppression limit; its ``explanation`` has
                changes that would help. Or the release would lose more than ``max_loss``, none was found before the
                search was stopped, or the given node does not meet the policy.
            VerificationError: the written release fell short and was withdrawn.
            EngineError: the database or the file system refused a step.
        """
        from sqlanon.methods.base import Request, method_of
        from sqlanon.model.policy.linked_policy import LinkedPolicy
        from sqlanon.model.pseudonym_key import key_for
        from sqlanon.publish.statement_log import statements_to
        from sqlanon.run.linked import anonymize_linked
        from sqlanon.run.pipeline import anonymize

        wanted = self._opened.given(policy)
        stopped, progress = stopping(time_limit, self._opened.callback(stop)), self._opened.callback(progress)
        if isinstance(wanted, LinkedPolicy):
            of_rows = {"rows_per_file": rows_per_file, "partition_by": partition_by, "csv_formulas": csv_formulas}
            of_methods = {"node": node, "dataset": dataset, "public": public, "random_source": random_source}
            refuse_options(**of_rows, **of_methods, tables=tables, pseudonym_key=pseudonym_key)
            with statements_to(self._engine, sql):
                return anonymize_linked(
                    self._engine,
                    linked_sources(self._opened, wanted, source),
                    wanted,
                    into,
                    replace=replacing(replace),
                    progress=progress,
                    stopped=stopped,
                    max_loss=max_loss,
                    is_listed=listed,
                )
        key = key_for(wanted, pseudonym_key)
        request = Request(
            node=node,
            stopped=stopped,
            dataset=dataset,
            public=[public] if isinstance(public, str) else public,
            random_source=random_source,
            ledger=self.ledger.file,
            must_be_capped=self.ledger.mode == "capped",
            tables=tables or {},
            pseudonym_key=key,
            keeps_taxonomies=keep_taxonomies,
            max_loss=max_loss,
            is_listed=listed,
        )
        if not listed and wanted.has_private_method:
            raise PolicyError(f"the {wanted.method} spends budget, so that its releases are always listed")
        target = destination(into, rows_per_file=rows_per_file, partition_by=partition_by)
        target = with_csv_formulas(target, csv_formulas)
        may_go = replacing(replace, detects_changes=method_of(wanted).is_repeatable and wanted.is_fixed)
        with statements_to(self._engine, sql):
            read = self._opened.resolve(source)
            release = anonymize(self._engine, read, wanted, target, request, replace=may_go, progress=progress)
        release._report = OfSession(partial(self.report, into, wanted, source=source))
        release._sizes = OfSession(partial(self._released_sizes, into, wanted))
        return self._opened.with_rows(release, target)

    def _repr_html_(self) -> str:
        """List the tables of the warehouse for a notebook; a closed session has its repr."""
        from html import escape

        try:
            return self.overview()._repr_html_()
        except SqlanonError:
            return escape(repr(self))

    @exclusive
    def overview(self) -> Overview:
        """List the tables and views of the warehouse: rows (estimated), columns, and what sqlanon published."""
        from sqlanon.run.recorded import overview

        return overview(self._engine)

    def close(self) -> None:
        """Close the connection, unless it was lent to the session; the session takes no more calls."""
        self._opened.close()

    def __exit__(self, *_: object) -> None:
        self.close()
