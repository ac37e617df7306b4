"""A method of anonymization as one class: what all methods do is here, and each says what differs.

The pipeline (:mod:`sqlanon.run.pipeline`) calls the hooks of a run from top to bottom, and hands to each what the ones
before it have returned: a table, a choice, a publication and its measures. A run itself doesn't change.
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
from sqlanon.methods.progress import Stopped, never
from sqlanon.methods.stages import Stages
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


TakesEnums: TypeAlias = Callable[[str], bool]  # whether a column may be of an ENUM type where rows are written to


@dataclass(frozen=True)
class Request:
    """Wishes for one run besides its policy; a method refuses those that it does not take."""

    node: Mapping[str, int] | None = None  # the level of every quasi-identifier, if there is nothing to search for
    stopped: Stopped | None = None  # asked after every batch of nodes whether to make do with the best one so far
    dataset: str | None = None  # whose budget is spent
    public: Sequence[str] = ()  # tables and files that a query reads, and that everybody may know
    random_source: RandomSource | None = None  # where chance comes from
    ledger: Path | None = None  # the file of the ledger that is charged, if it is not the one of the warehouse
    must_be_capped: bool = False  # whether a data set without a cap is refused
    tables: Mapping[str, str] = field(default_factory=dict)  # the names of the companion tables, by what they are
    pseudonym_key: PseudonymKey | None = None
    earlier: Sequence[EarlierRelease] = ()  # the releases that the policy holds the present one together with
    keeps_taxonomies: bool = True  # whether those of the policy stay in the warehouse, if the target is a table there
    max_loss: float | None = None  # the loss up to which a release is of use; one that loses more is not published
    is_dry_run: bool = False  # whether only statements are to be read: the source may be empty, nothing is charged

    @property
    def names_account(self) -> bool:
        """Whether it says whose budget is spent, which only a private method does."""
        return self.dataset is not None or bool(self.public)


@dataclass(frozen=True, kw_only=True)
class Publication:
    """Rows that a run has made, in groups of equal ones (``EQUAL_ROWS``), before they are written.

    Attributes:
        bound: the policy that they keep, bound to the source.
        encoding: the cells by which they are spelled, None where the method spells them itself.
        groups: what the findings of the run are made from; None for a private method, as they would be outside its
            budget.
    """

    bound: BoundPolicy
    encoding: Encoding | None = None
    groups: GroupedRows | None = None


@dataclass(frozen=True)
class Comparison:
    """A comparison of what was written with what was made, beyond its classes and measures."""

    differences: Sequence[str] = ()  # a sentence each
    joint: JointClasses | None = None  # those of the release and the earlier ones


@dataclass(frozen=True)
class Measured:
    """Measures of a release as it was written."""

    classes: Measurement | None = None  # None for a private method
    joint: JointClasses | None = None
    diagnostics: Mapping[str, float | None] | None = None  # of a private method, if its policy reveals them

    @property
    def measurement(self) -> Measurement:
        """The measures of its classes, for a method that has measured them."""
        assert self.classes is not None
        return self.classes


TableT = TypeVar("TableT")
PaidT = TypeVar("PaidT")
ChoiceT = TypeVar("ChoiceT")
PublicationT = TypeVar("PublicationT", bound=Publication)


class Run(ABC, Generic[TableT, PaidT, ChoiceT, PublicationT]):
    """One run of a method on a source, from the policy to the report.

    A method is a subclass of :class:`sqlanon.methods.syntactic.SyntacticRun` or
    :class:`sqlanon.methods.private.PrivateRun`. It says what it takes by the class attributes, and what it
    does by the hooks, which are called in the order in which they stand here.

    Attributes:
        is_private: whether it pays for what it draws with the budget of a data set.
        is_random: whether it draws at random, and costs nothing.
        takes_node: whether a user may give the node in place of a search.
        instead_of_node: what a user who gives one can do, where it takes none.
        takes_far_rows: whether all that it asks of rows are counts, so that they may be elsewhere than the database.
        is_repeatable: whether a run from the same makes the same, so that an existing release need not be made again.
        report_class: the class of its reports, by which that of such a release is read off its record.
        custodian_fields: the fields of its report that do not travel with the release.
        about_rows: what a reader of a report is to know of the released rows, where they are not those of the source.
        engine: the database.
        request: what is asked of the run besides its policy.
        bound: the policy, bound to the source.
    """

    is_private: ClassVar[bool] = False
    is_random: ClassVar[bool] = False
    takes_node: ClassVar[bool] = False
    instead_of_node: ClassVar[str] = "it chooses what to publish"
    takes_far_rows: ClassVar[bool] = False
    is_repeatable: ClassVar[bool] = False
    report_class: ClassVar[type[Report]] = Report
    custodian_fields: ClassVar[frozenset[str]] = frozenset(CUSTODIAN_FIELDS)
    about_rows: ClassVar[str] = ""

    def __init__(self, engine: Engine, source: ResolvedSource, policy: Policy, request: Request) -> None:
        """Refuse all that can be refused before a row is read.

        Raises:
            PolicyError, TaxonomyError: the policy, a taxonomy or the request does not fit the source.
        """
        self.engine = engine
        self.request = request
        self.refuse_request(policy)
        if engine.is_far(source.relation) and not self.takes_far_rows:
            reason = f"{policy.method} reads rows of the database alone: copy those of {source.description} there"
            raise PolicyError(reason)
        bound = prepare(engine, source, policy, has_earlier=len(policy.held_with) == len(request.earlier))
        refuse_far(engine, bound)
        self.bound = self.refuse(bound)

    @property
    def stopped(self) -> Stopped:
        """Asked whether to make do with the best choice so far."""
        return self.request.stopped or never

    def refuse_request(self, policy: Policy) -> None:
        """Refuse what the request asks of the run and the method does not take.

        Raises:
            PolicyError: names it.
        """
        request = self.request
        draws = self.is_private or self.is_random
        if (request.names_account and not self.is_private) or (request.random_source is not None and not draws):
            names = "dataset and public" if self.is_random else "dataset, public and random_source"
            raise PolicyError(f"{names} are for private methods, and this one is not private")
        if request.max_loss is not None and (self.is_private or not request.max_loss >= 0):
            why = "a private method measures none" if self.is_private else "it is 0 or more"
            raise PolicyError(f"max_loss is the loss that a release may have: {why}")
        if request.node is not None and not self.takes_node:
            raise PolicyError(f"{policy.method} takes no node: {self.instead_of_node}")

    def with_present_taxonomies(self) -> Self:
        """Return the run with its policy bound to the taxonomies as the present transaction has them.

        Raises:
            PolicyError, TaxonomyError: as the constructor.
        """
        run = copy(self)
        run.bound = self.refuse(with_present_taxonomies(self.engine, self.bound))
        return run

    @property
    def node(self) -> Mapping[str, int] | None:
        """The node that the user gave, if there is nothing to search for."""
        return None

    @property
    def companions(self) -> Sequence[str]:
        """Name the tables that are published beside the rows."""
        return ()

    def refuse(self, bound: BoundPolicy) -> BoundPolicy:
        """Refuse a policy, once it is bound to its source, that the method cannot carry out.

        Raises:
            PolicyError, TaxonomyError: says why.
        """
        return bound

    def reporting_spend(self) -> AbstractContextManager[None]:
        """Surround the run, so that an error that ends it reports the spending."""
        return nullcontext()

    @abstractmethod
    def encode(self) -> TableT:
        """Read the rows once, and return what the method keeps of them.

        Raises:
            PolicyError, TaxonomyError: the rows do not fit the policy or its taxonomies.
        """

    def refuse_columns_of(self, target: Target) -> None:
        """Refuse a target that cannot have the columns of the release, before they cost anything.

        Raises:
            EngineError: it cannot.
        """

    @abstractmethod
    def charge(self, table: TableT) -> PaidT:
        """Refuse what cannot be drawn, then pay for all that will be, so that no run ends half paid.

        Returns:
            the table with what was paid for; without draws the table itself.

        Raises:
            PolicyError: something cannot be drawn; nothing is spent.
            BudgetError: less is left than it costs; nothing is spent.
        """

    @abstractmethod
    def search(self, table: PaidT, stages: Stages) -> ChoiceT:
        """Choose what is published, as the stage ``search``.

        Raises:
            UnsatisfiableError: nothing meets the policy.
        """

    @abstractmethod
    def make(self, table: PaidT, choice: ChoiceT) -> PublicationT:
        """Make the released rows in groups of equal ones (``EQUAL_ROWS``)."""

    def released_rows(self, made: PublicationT, takes_enums: TakesEnums) -> exp.Query:
        """Select the rows, in the order in which they are written."""
        assert made.encoding is not None
        return released_rows(self.engine, made.encoding, takes_enums)

    def companion_rows(self, made: PublicationT) -> Mapping[str, exp.Query]:
        """Select the rows of each companion table, by what it is."""
        return {}

    @abstractmethod
    def verify(self, made: PublicationT, written: ResolvedSource, companions: Mapping[str, ResolvedSource]) -> Measured:
        """Compare what was written with what was made, and measure it.

        Raises:
            VerificationError: it differs, or does not meet the policy.
        """

    def compare(
        self, made: PublicationT, written: ResolvedSource, companions: Mapping[str, ResolvedSource]
    ) -> Comparison:
        """Compare what was written with what was made, beyond its classes and measures."""
        return Comparison()

    @abstractmethod
    def report(self, made: PublicationT, measured: Measured, into: str, seconds: Mapping[str, float]) -> Report:
        """Report the numbers of the run; ``seconds`` by stage."""

    @abstractmethod
    def record(self, made: PublicationT, measured: Measured, report: Report, inputs: Inputs | None) -> Record:
        """Make the record that travels with the release.

        ``inputs`` are what the release was made from, if that makes it again.
        """

    @abstractmethod
    def labels_record(self, made: PublicationT, report: Report) -> LabelsRecord | None:
        """List the labels that the release can have, for its record; None if they are very many."""

    @abstractmethod
    def guarantee(self, made: PublicationT, report: Report) -> Guarantee:
        """State what the release promises."""

    def recorded_guarantee(self, made: PublicationT, report: Report) -> Guarantee:
        """State what the release promises as its recipients may know it."""
        return self.guarantee(made, report.model_copy(update=dict.fromkeys(self.custodian_fields)))


AnyRun: TypeAlias = Run[Any, Any, Any, Any]  # a run of any method, for whoever hands on what its hooks return


METHODS: dict[str, str] = {
    name: place
    for folder in iter_modules(methods.__path__, f"{methods.__name__}.")
    if folder.ispkg
    for name, place in import_module(folder.name).RUNS.items()
}
"""The module and the class of each method, by name, from the ``RUNS`` of the folders beside this file."""


def add_method(name: str, place: str) -> None:
    """Have policies find a method.

    Args:
        name: the name of the settings that ask for it.
        place: the module and the class, as in :data:`METHODS`.

    Raises:
        PolicyError: this package has a method of that name.
    """
    if METHODS.get(name, place) != place:
        raise PolicyError(f'there is a method "{name}" already, in {METHODS[name]}')
    METHODS[name] = place


def remove_method(name: str) -> None:
    """Forget a method that was added."""
    METHODS.pop(name, None)


def method_of(policy: Policy) -> type[AnyRun]:
    """The method of a policy: the class of its runs."""
    method: type[AnyRun] = imported(METHODS[policy.method.name])
    return method
