"""What a method of anonymization is to the pipeline that runs it (:mod:`sqlanon.run.pipeline`).

A run goes through states, each with the verbs that are possible there and no others: a policy that is *prepared* for
its source, the source *encoded* as cells, all draws *paid* for, a *choice* made, and what is *drawn* of it, which is
written, verified and reported. A method is what makes the first state; what only it knows is in the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.base import Engine, ResolvedSource
from sqlanon.methods.stages import Stages
from sqlanon.methods.stopping import Stopped
from sqlanon.model.policy.policy import Policy
from sqlanon.model.release import Guarantee, Report

if TYPE_CHECKING:
    from sqlanon.mechanisms.source import RandomSource
    from sqlanon.methods.shared.publication import Publication
    from sqlanon.model.pseudonym_key import PseudonymKey

AnyReport: TypeAlias = Report
AnyGuarantee: TypeAlias = Guarantee

TakesEnums: TypeAlias = Callable[[str], bool]
"""Whether a column may be of an ENUM type where rows are written to."""


@dataclass(frozen=True)
class Request:
    """What is asked of one run besides its policy; a method refuses what it does not take.

    Attributes:
        node: the level of every quasi-identifier, if there is nothing to search for.
        stopped: asked after every batch of nodes whether to make do with the best one so far.
        dataset: whose budget is spent.
        public: tables and files that a query reads, and that everybody may know.
        random_source: where chance comes from.
        ledger: the file of the ledger that is charged, if it is not the one of the warehouse.
        must_be_capped: whether a data set without a cap is refused.
        tables: the names of the tables for what is published beside the rows, by what it is.
        pseudonym_key: what pseudonyms are made with.
        rehearsed: whether the run is only to be read: there are no rows, which is no reason to refuse anything, and
            nothing is charged.
    """

    node: Mapping[str, int] | None = None
    stopped: Stopped | None = None
    dataset: str | None = None
    public: Sequence[str] = ()
    random_source: RandomSource | None = None
    ledger: Path | None = None
    must_be_capped: bool = False
    tables: Mapping[str, str] = field(default_factory=dict)
    pseudonym_key: PseudonymKey | None = None
    rehearsed: bool = False

    @property
    def names_account(self) -> bool:
        """Whether it says whose budget is spent, which only a private method does."""
        return self.dataset is not None or bool(self.public)


class Method(Protocol):
    """A way to anonymize a table."""

    @property
    def is_repeatable(self) -> bool:
        """Whether a run from the same makes the same, so that a release that is there need not be made again."""

    def prepare(self, engine: Engine, source: ResolvedSource, policy: Policy, request: Request) -> Prepared:
        """Refuse all that can be refused before a row is read.

        Raises:
            PolicyError, TaxonomyError: the policy, a taxonomy or the request does not fit the source.
        """


class Prepared(Protocol):
    """A policy that fits its source."""

    @property
    def bound(self) -> BoundPolicy:
        """The policy, bound to the source."""

    @property
    def node(self) -> Mapping[str, int] | None:
        """The node that was asked for, if there is nothing to search for."""

    @property
    def beside(self) -> Sequence[str]:
        """What is published beside the rows, each as a table of its own; for most methods nothing."""

    def answering(self) -> AbstractContextManager[None]:
        """What surrounds the run, so that whatever ends it tells what was spent."""

    def with_present_taxonomies(self) -> Prepared:
        """The same with the taxonomies as the transaction of the run has them.

        Raises:
            PolicyError, TaxonomyError: as :meth:`Method.prepare`.
        """

    def encode(self) -> Encoded:
        """Read the rows once.

        Raises:
            PolicyError, TaxonomyError: the rows do not fit the policy or its taxonomies.
        """


class Encoded(Protocol):
    """A source as cells."""

    def charge(self) -> Paid:
        """Refuse what cannot be drawn from these cells, then pay for all that will be, so that no run ends half paid.

        Raises:
            PolicyError: something cannot be drawn; nothing is spent.
            BudgetError: less is left than it costs; nothing is spent.
        """


class Paid(Protocol):
    """Cells that may be chosen by: whatever is drawn from them is paid for."""

    def choose(self, stages: Stages) -> Chosen:
        """Choose what is to be published, as the stage ``search``.

        Raises:
            UnsatisfiableError: nothing meets the policy.
        """


class Chosen(Protocol):
    """A choice, of which nothing is made yet."""

    def draw(self) -> Drawn:
        """Make the rows that are to be published, in groups of equal ones (``EQUAL_ROWS``)."""


class Drawn(Protocol):
    """What is to be published."""

    @property
    def publication(self) -> Publication | None:
        """What the findings of a run are made from; None of a private method, outside whose budget they would be."""

    def released_rows(self, takes_enums: TakesEnums) -> exp.Query:
        """The rows, in the order in which they are written."""

    def note(self, report: AnyReport, made_from: Mapping[str, Any]) -> str:
        """What travels with the release."""

    def rows_beside(self) -> Mapping[str, exp.Query]:
        """The rows of each table that is published beside, by what it is."""

    def verify(self, written: ResolvedSource, beside: Mapping[str, ResolvedSource]) -> Verified:
        """Hold what was written, and what was written beside it, against what was to be.

        Raises:
            VerificationError: it is not that, or does not meet the policy.
        """


class Verified(Protocol):
    """What was written as it was to be."""

    def report(self, into: str, seconds: Mapping[str, float]) -> AnyReport:
        """The numbers of the run; ``seconds`` by stage."""

    def guarantee(self, report: AnyReport) -> AnyGuarantee:
        """What the release promises."""
