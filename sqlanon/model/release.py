"""What a run hands back: the release with its node, guarantee and report; and measurements of any table."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable
from typing import Any

from pydantic import BaseModel, ConfigDict, PrivateAttr

from sqlanon.errors import EngineError
from sqlanon.model.budget import Budget

REPORTED_TIES = 100
"""Nodes of a tie set that a report lists; it always gives their number."""


class Document(BaseModel):
    """A frozen value that can be printed as JSON and, in a notebook, as a table."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def _repr_html_(self) -> str:
        return _html_table(self.model_dump(mode="json"))


class ModelResult(Document):
    """A bound of a privacy model, what it requires and what a table attains.

    ``comparison`` says how what is attained compares with what is required where it passes; ``attained`` is None for
    a table without rows.
    """

    model: str
    measure: str
    column: str | None
    comparison: str
    required: float
    attained: float | None
    met: bool


class Measurement(Document):
    """What a table gives away as it is.

    Attributes:
        source: the table in words.
        row_count, class_count: rows, and equivalence classes over the quasi-identifiers.
        k: rows of the smallest class; None for a table without rows.
        models: every privacy model of the policy against the table.
        highest_prosecutor_risk: 1 / k.
        average_prosecutor_risk: the mean over rows of 1 / class size, which is also the marketer risk of an attacker
            who has no more than the table.
        unique_rows, unique_share: rows that are alone in their class, and their share.
        notes: what could not be measured as the policy wants it.
    """

    source: str
    row_count: int
    class_count: int
    k: int | None
    models: tuple[ModelResult, ...]
    highest_prosecutor_risk: float | None
    average_prosecutor_risk: float | None
    unique_rows: int
    unique_share: float | None
    notes: tuple[str, ...] = ()

    @property
    def met(self) -> bool:
        """Whether the table meets every privacy model."""
        return self.row_count > 0 and all(result.met for result in self.models)


class Verification(Document):
    """What was measured on a release, and where it falls short of its policy.

    Attributes:
        source: the release in words.
        measurement: the measurement.
        shortfalls: one sentence per requirement that is not met; empty if all are.
        notes: what could not be compared with the provenance of the release, or with its policy.
        not_covered: what no verification sees without the source.
    """

    source: str
    measurement: Measurement
    shortfalls: tuple[str, ...]
    notes: tuple[str, ...] = ()
    not_covered: tuple[str, ...] = ()

    @property
    def met(self) -> bool:
        """Whether the release meets its policy."""
        return not self.shortfalls


class RowCounts(Document):
    """Rows of the source, and what became of them: ``released`` includes ``masked``; ``dropped`` is the rest."""

    source: int
    released: int
    masked: int
    dropped: int


class Guarantee(Document):
    """What the release promises, by which definition, and what it does not.

    Attributes:
        claims: one sentence per privacy model.
        conditions: what the claims rest on.
        not_covered: what an attacker may still do.
    """

    claims: tuple[str, ...]
    conditions: tuple[str, ...]
    not_covered: tuple[str, ...]


class Report(Document):
    """The numbers of a run; no cell value among them.

    Attributes:
        source, into: in words.
        node, heights: the level chosen for each quasi-identifier, and the height of its taxonomy.
        domains: whether each taxonomy's domain was declared, stated by a file or observed.
        quality, loss: the measure that was minimized, and its value.
        losses: every loss that was computed for the node: ``prec``, ``entropy`` (bits), ``dm_star``, ``dm``,
            ``aecs``, and ``lm`` and ``ncp`` if they were asked for.
        models: every privacy model, measured on the written release.
        rows: what became of the rows.
        suppression_limit: the share of rows that was allowed to be suppressed.
        suppressed_rows: rows in classes that violate a privacy model, dropped or masked.
        class_count, min_class_size: of the release.
        search, lattice_nodes, checked_nodes: how the node was found.
        minimal_nodes: how many satisfying nodes have no satisfying node below them (the k-minimal nodes); None if the
            search does not look for them.
        proven_optimal: whether it is proven that no node of less loss satisfies the policy (with Inverse OLA, that no
            node within the loss is more private); false for a heuristic, and for a search that was stopped.
        lower_bound: proven to be at most the loss of every satisfying node. None with Inverse OLA.
        gap: ``loss - lower_bound``, which bounds what is lost by stopping early or by a heuristic; 0 if it is proven
            that nothing is.
        tie_count, ties: satisfying nodes of equal loss, the chosen one first; up to 100 are listed.
        seconds: wall time of each stage.
        notes: anything that a reader should know, such as masked rows that had to be dropped, quasi-identifiers that
            are at the top level, and kept columns that are nearly unique.
    """

    source: str
    into: str
    node: dict[str, int]
    heights: dict[str, int]
    domains: dict[str, str]
    quality: str
    loss: float
    losses: dict[str, float | None]
    models: tuple[ModelResult, ...]
    rows: RowCounts
    suppression_limit: float
    suppressed_rows: int
    class_count: int
    min_class_size: int
    search: str
    lattice_nodes: int
    checked_nodes: int
    minimal_nodes: int | None = None
    proven_optimal: bool
    lower_bound: float | None = None
    gap: float | None = None
    tie_count: int
    ties: tuple[dict[str, int], ...]
    seconds: dict[str, float]
    notes: tuple[str, ...] = ()


class PrivateGuarantee(Guarantee):
    """What a release of a private method promises.

    Attributes:
        budget: (ε, δ), by which the probability of any set of releases changes at most between neighbours D and D':
            P(M(D) in S) <= exp(ε) P(M(D') in S) + δ. None if nothing is promised.
        neighbours: which tables are neighbours.
        theorem: what proves it.
        void: why nothing is promised although the method could; None if it is.
    """

    budget: Budget | None
    neighbours: str
    theorem: str
    void: str | None = None


class Spent(Document):
    """What a step of a private method spent, and the row of the ledger that says so (None if none is kept)."""

    step: str
    budget: Budget
    position: int | None


class PrivateReport(Document):
    """The numbers of a run of a private method: without diagnostics none tells more of the data than the release does.

    Attributes:
        source, into: in words.
        method, variant: which one.
        stamp: ``NOT PRIVATE`` if the release must not be taken for a private one, else None.
        node, heights: the level chosen for each quasi-identifier, and the height of its taxonomy.
        node_is_public: whether it was given; else it was drawn.
        domains: whether each taxonomy's domain was declared, stated by a file or observed.
        spent: by step.
        thresholds: the least noisy count that a step shows.
        rows_per_individual: how many rows of an individual were counted at most.
        released_rows, released_groups: of the release, which tells them itself.
        lattice_nodes: between how many nodes the choice was.
        seconds: wall time of each stage; it can depend on the data, so it is not written with the release.
        diagnostics: how far the release is from the data, if that was asked for, which voids the guarantee.
        notes: anything that a reader should know.
    """

    source: str
    into: str
    method: str
    variant: str
    stamp: str | None
    node: dict[str, int]
    heights: dict[str, int]
    node_is_public: bool
    domains: dict[str, str]
    spent: tuple[Spent, ...]
    thresholds: dict[str, int]
    rows_per_individual: int
    released_rows: int
    released_groups: int
    lattice_nodes: int
    seconds: dict[str, float]
    diagnostics: dict[str, float | None] | None = None
    notes: tuple[str, ...] = ()


class Published(Document):
    """What a session has written, and can read again for as long as it is open.

    The rows are those that are there when they are asked for; they are no part of the value.
    """

    into: str
    _rows: Callable[[str], Any] | None = PrivateAttr(default=None)

    def to_arrow(self) -> Any:
        """The rows that were published, as a pyarrow Table.

        Raises:
            EngineError: the session is closed, or they are not there any more.
        """
        return self._read("to_arrow_table")

    def df(self) -> Any:
        """The rows that were published, as a pandas DataFrame.

        Raises:
            EngineError: as :meth:`to_arrow`, or pandas is not installed.
        """
        return self._read("df")

    def pl(self) -> Any:
        """The rows that were published, as a polars DataFrame.

        Raises:
            EngineError: as :meth:`to_arrow`, or polars is not installed.
        """
        return self._read("pl")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def _read(self, form: str) -> Any:
        if self._rows is None:
            raise EngineError(
                f"this is the report of {self.into}, without the session that published it: read it by its name",
                step="rows",
            )
        return self._rows(form)


class Release(Published):
    """A published table.

    Attributes:
        into: the table or file.
        tables: the tables that were published beside it, by what they are.
        node: the level of each quasi-identifier, e.g. ``{"age": 1, "sex": 0, "zip": 3}``.
        guarantee: what is promised.
        report: the numbers, of the run that wrote it.
        unchanged: whether it was there already, made from the same files by the same policy, so that nothing was done.
    """

    tables: dict[str, str] = {}
    node: dict[str, int]
    guarantee: PrivateGuarantee | Guarantee
    report: Report | PrivateReport
    unchanged: bool = False

    def _repr_html_(self) -> str:
        if not isinstance(self.report, PrivateReport):
            return self.report._repr_html_()
        promised = self.guarantee.model_dump(mode="json", include={"claims", "conditions", "not_covered"})
        return _html_table({**promised, **self.report.model_dump(mode="json")})


def _html_table(document: dict[str, Any]) -> str:
    rows = "".join(
        f"<tr><th style='text-align:left'>{html.escape(str(key).replace('_', ' '))}</th>"
        f"<td style='text-align:left'>{_html_cell(value)}</td></tr>"
        for key, value in document.items()
    )
    return f"<table>{rows}</table>"


def _html_cell(value: Any) -> str:
    if isinstance(value, dict):
        return "<br>".join(f"{html.escape(str(key))}: {_html_cell(item)}" for key, item in value.items())
    if isinstance(value, list):
        return "<br>".join(_html_cell(item) for item in _listed(value))
    return html.escape(f"{value:.6g}" if isinstance(value, float) else str(value))


def _listed(values: Iterable[Any]) -> list[Any]:
    return [
        ", ".join(f"{key}={item}" for key, item in value.items()) if isinstance(value, dict) else value
        for value in values
    ]
