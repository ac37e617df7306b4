"""The run of a method: its hooks, with their defaults.

The pipeline (:mod:`sqlanon.run.pipeline`) calls the hooks from top to bottom and passes each what the earlier ones
returned: a table, a choice, a publication and its measures. The run itself does not change.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeAlias, TypeVar

from sqlglot import exp

from sqlanon import methods
from sqlanon.binding.bound import BoundPolicy, refuse_far
from sqlanon.binding.prepare import prepare, with_present_taxonomies
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.methods.stages import Stages, Stopped, never, silent
from sqlanon.model.labels import LabelsRecord
from sqlanon.model.policy.policy import Policy
from sqlanon.model.record import Inputs, Record
from sqlanon.model.release import CUSTODIAN_FIELDS, Guarantee, Measurement, Report
from sqlanon.queries.encoding import Encoding
from sqlanon.release.publishing import GroupedRows, released_rows
from sqlanon.satellites import imported

if TYPE_CHECKING:
    from sqlanon.chance.random_source import RandomSource
    from sqlanon.joint.persons import EarlierRelease
    from sqlanon.model.pseudonym_key import PseudonymKey
    from sqlanon.model.release.joint import JointClasses
    from sqlanon.publish.targets import Target


TakesEnums: TypeAlias = Callable[[str], bool]  # whether rows are written to a place whose column may have an ENUM type


@dataclass(frozen=True)
class Request:
    """The options of one run beside its policy; a method refuses those that it does not support."""

    node: Mapping[str, int] | None = None  # the level of each quasi-identifier; replaces the search
    stopped: Stopped | None = None  # polled after every batch of nodes; True ends the search with the best node so far
    dataset: str | None = None  # the data set whose budget is charged
    public: Sequence[str] = ()  # tables and files that a query reads and everybody may know
    random_source: RandomSource | None = None  # overrides the operating system's randomness
    ledger: Path | None = None  # the ledger file to charge in place of the warehouse's own
    must_be_capped: bool = False  # refuse a data set without a cap
    tables: Mapping[str, str] = field(default_factory=dict)  # names of the companion tables, by role
    pseudonym_key: PseudonymKey | None = None
    earlier: Sequence[EarlierRelease] = ()  # the releases that the policy protects together with this one
    keeps_taxonomies: bool = True  # keep the policy's taxonomies in the warehouse if the target is a table there
    max_loss: float | None = None  # publish nothing that loses more
    is_listed: bool = True  # whether the release goes on the list of the warehouse

    @property
    def names_account(self) -> bool:
        return self.dataset is not None or bool(self.public)


@dataclass(frozen=True, kw_only=True)
class Publication:
    bound: BoundPolicy
    encoding: Encoding | None = None  # the cells that spell the rows; None if the method spells them itself
    groups: GroupedRows | None = None  # the input of the findings; None for a private method, which has none


@dataclass(frozen=True)
class Comparison:
    differences: Sequence[str] = ()  # one sentence each
    joint: JointClasses | None = None  # the joint classes with earlier releases


@dataclass(frozen=True)
class Measured:
    shortfalls: Sequence[str] = ()  # one sentence each; the release is withdrawn if there are any
    classes: Measurement | None = None  # None for a private method
    joint: JointClasses | None = None
    diagnostics: Mapping[str, float | None] | None = None  # of a private method whose policy reveals them

    @property
    def measurement(self) -> Measurement:
        assert self.classes is not None
        return self.classes


TableT = TypeVar("TableT")
PaidT = TypeVar("PaidT")
ChoiceT = TypeVar("ChoiceT")
PublicationT = TypeVar("PublicationT", bound=Publication)
AReport = TypeVar("AReport", bound=Report)


class Run(ABC, Generic[TableT, PaidT, ChoiceT, PublicationT]):
    """One run of a method on a source, from the policy to the report.

    Subclass :class:`sqlanon.methods.syntactic.SyntacticRun` or :class:`sqlanon.methods.private.PrivateRun`: declare the
    capabilities as class attributes and override the hooks, which run in the order in which they stand here.
    """

    is_private: ClassVar[bool] = False  # pays for its draws with the budget of a data set
    is_random: ClassVar[bool] = False  # draws at random at no cost
    takes_node: ClassVar[bool] = False  # a user may give the node in place of a search
    instead_of_node: ClassVar[str] = "it chooses what to publish"  # the advice to a user who gives a node in vain
    takes_far_rows: ClassVar[bool] = False  # only counts rows, so they may stay outside the database
    is_repeatable: ClassVar[bool] = False  # equal inputs give an equal release, so an existing one is left as it is
    report_class: ClassVar[type[Report]] = Report  # also reads the report of a record
    custodian_fields: ClassVar[frozenset[str]] = frozenset(CUSTODIAN_FIELDS)  # report fields that stay at home
    withdrawn: ClassVar[str] = (  # the heading of the shortfalls of a written release
        "the written release does not meet its policy and was withdrawn; did the source change during the run?"
    )
    about_rows: ClassVar[str] = ""  # a note for readers of reports on rows that differ from those of the source

    def __init__(self, engine: Engine, source: ResolvedSource, policy: Policy, request: Request) -> None:
        """Bind the policy to the source; refuse everything that needs no rows to refuse.

        Raises:
            PolicyError, TaxonomyError: the policy, a taxonomy or the request does not fit the source.
        """
        self.engine = engine
        self.request = request
        self.beside: Mapping[str, exp.Query] = {}  # rows of the companion tables of perturbations
        self.refuse_request(policy)
        if engine.is_far(source.relation) and not self.takes_far_rows:
            reason = f"{policy.method} can only read rows in the database: copy {source.description} into it"
            raise PolicyError(reason)
        bound = prepare(engine, source, policy, has_earlier=len(policy.held_with) == len(request.earlier))
        refuse_far(engine, bound)
        self.bound = self.refuse(bound)

    @property
    def stopped(self) -> Stopped:
        return self.request.stopped or never

    def refuse_request(self, policy: Policy) -> None:
        """Refuse options that the method does not support."""
        request = self.request
        draws = self.is_private or self.is_random or bool(policy.perturbation)
        if (request.names_account and not self.is_private) or (request.random_source is not None and not draws):
            names = "dataset and public" if draws else "dataset, public and random_source"
            raise PolicyError(f"{names} apply only to private methods, and {policy.method} is not private")
        if request.max_loss is not None and (self.is_private or not request.max_loss >= 0):
            why = "a private method measures none" if self.is_private else "it must be 0 or more"
            raise PolicyError(f"max_loss limits the loss of a release: {why}")
        if request.node is not None and not self.takes_node:
            raise PolicyError(f"{policy.method} takes no node: {self.instead_of_node}")

    @property
    def draws(self) -> RandomSource:
        """The source of draws that cost nothing."""
        from sqlanon.chance.random_source import SystemSource

        return self.request.random_source or SystemSource()

    def bound_to(self, bound: BoundPolicy) -> Self:
        """Return a copy of the run with another bound policy, such as one with perturbed rows."""
        run = copy(self)
        run.bound = self.refuse(bound)
        return run

    def with_present_taxonomies(self) -> Self:
        """Return a copy of the run that is bound to the taxonomies as the current transaction sees them."""
        return self.bound_to(with_present_taxonomies(self.engine, self.bound))

    @property
    def node(self) -> Mapping[str, int] | None:
        return None

    @property
    def companions(self) -> Sequence[str]:
        return self.bound.policy.perturbation_tables

    def refuse(self, bound: BoundPolicy) -> BoundPolicy:
        """Refuse a bound policy that the method cannot carry out, or return it."""
        return bound

    def reporting_spend(self) -> AbstractContextManager[None]:
        """Wrap the run so that an error that ends it reports the spent budget."""
        return nullcontext()

    @abstractmethod
    def encode(self) -> TableT:
        """Read the rows once and return what the method needs of them.

        Raises:
            PolicyError, TaxonomyError: the rows do not fit the policy or its taxonomies.
        """

    def refuse_rows(self, table: TableT) -> None:
        """Refuse rows that cannot be released, such as none at all.

        Raises:
            PolicyError, UnsatisfiableError: the rows do not fit the policy.
        """

    def refuse_columns_of(self, target: Target) -> None:
        """Refuse a target that cannot hold the columns of the release, before anything is paid."""

    @abstractmethod
    def charge(self, table: TableT) -> PaidT:
        """Refuse what cannot be drawn, then pay for all draws at once, so that no run ends half paid.

        Returns:
            the table with its paid draws; the table itself for a method without draws.

        Raises:
            PolicyError: a draw is impossible; nothing is spent.
            BudgetError: the remaining budget is too small; nothing is spent.
        """

    @abstractmethod
    def search(self, table: PaidT, stages: Stages) -> ChoiceT:
        """Choose what to publish, in the stage ``search``.

        Raises:
            UnsatisfiableError: nothing meets the policy.
        """

    def choice_without_rows(self, table: PaidT) -> ChoiceT:
        """Choose for a table without rows, where a search finds nothing: the statements of such a run are explained."""
        return self.search(table, Stages(silent))

    @abstractmethod
    def make(self, table: PaidT, choice: ChoiceT) -> PublicationT:
        """Make the released rows in groups of equal ones (``EQUAL_ROWS``)."""

    def released_rows(self, made: PublicationT, takes_enums: TakesEnums) -> exp.Query:
        assert made.encoding is not None
        return released_rows(self.engine, made.encoding, takes_enums)

    def companion_rows(self, made: PublicationT) -> Mapping[str, exp.Query]:
        """Select the rows of each companion table, by role."""
        return self.beside

    @abstractmethod
    def verify(self, made: PublicationT, written: ResolvedSource, companions: Mapping[str, ResolvedSource]) -> Measured:
        """Compare the written release with the made one, measure it, and list its shortfalls."""

    def compare(
        self, made: PublicationT, written: ResolvedSource, companions: Mapping[str, ResolvedSource]
    ) -> Comparison:
        return Comparison()

    @abstractmethod
    def report(self, made: PublicationT, measured: Measured, into: str, seconds: Mapping[str, float]) -> Report:
        """Report the numbers of the run; ``seconds`` by stage."""

    @abstractmethod
    def record(self, made: PublicationT, measured: Measured, report: Report, inputs: Inputs | None) -> Record:
        """Make the record that travels with the release; ``inputs`` are given if they make the release again."""

    @abstractmethod
    def labels_record(self, made: PublicationT, report: Report) -> LabelsRecord | None:
        """List the possible labels of the release for its record; None if they are too many."""

    @abstractmethod
    def guarantee(self, made: PublicationT, report: Report) -> Guarantee:
        """State what the release promises."""

    def recorded_guarantee(self, made: PublicationT, report: Report) -> Guarantee:
        """State what the release promises, without the facts that only the custodian sees."""
        return self.guarantee(made, report.model_copy(update=dict.fromkeys(self.custodian_fields)))


def report_of(
    kind: type[AReport], bound: BoundPolicy, into: str, seconds: Mapping[str, float], **facts: Any
) -> AReport:
    facts = {"domains": bound.domains, **facts}
    return kind(source=bound.description, into=into, method=bound.policy.method.name, seconds=dict(seconds), **facts)


AnyRun: TypeAlias = Run[Any, Any, Any, Any]  # a run of any method, for callers that only pass hook results on


METHODS: dict[str, str] = {
    name: place
    for folder in iter_modules(methods.__path__, f"{methods.__name__}.")
    if folder.ispkg
    for name, place in import_module(folder.name).RUNS.items()
}
"""The module and the class of each method, by name, from the ``RUNS`` of the folders beside this file."""


def add_method(name: str, place: str) -> None:
    """Register a method, given its name in settings and its place (``module:Class``).

    Raises:
        PolicyError: the name is taken.
    """
    if METHODS.get(name, place) != place:
        raise PolicyError(f'there is a method "{name}" already, in {METHODS[name]}')
    METHODS[name] = place


def remove_method(name: str) -> None:
    METHODS.pop(name, None)


def method_of(policy: Policy) -> type[AnyRun]:
    """Return the run class of the method of a policy, and import it if need be."""
    method: type[AnyRun] = imported(METHODS[policy.method.name])
    return method
