"""A method of anonymization as one class: what all methods do is here, and each says what differs.

The pipeline (:mod:`sqlanon.run.pipeline`) calls the hooks of a run from top to bottom. A hook that has nothing to say
isn't written.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy, refuse_far
from sqlanon.binding.prepare import prepare, with_present_taxonomies
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.methods.progress import Stopped, never
from sqlanon.methods.shared.guarantee import guarantee
from sqlanon.methods.shared.publishing import Publication, released_rows
from sqlanon.methods.stages import Stages
from sqlanon.model.labels import LabelsRecord, NodeRecord
from sqlanon.model.policy.policy import Policy
from sqlanon.model.record import Inputs, Record, ReportRecord
from sqlanon.model.release import CUSTODIAN_FIELDS, Guarantee, Measurement, Report
from sqlanon.publish.provenance import release_record
from sqlanon.queries.encoding import Encoding
from sqlanon.verification.measure import Beside, measured_beside
from sqlanon.verification.verify import refuse_shortfalls, verify

if TYPE_CHECKING:
    from sqlanon.mechanisms.source import RandomSource
    from sqlanon.methods.shared.persons import EarlierRelease
    from sqlanon.model.pseudonym_key import PseudonymKey
    from sqlanon.publish.targets import Target


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
        tables: the names of the companion tables, by what they are.
        pseudonym_key: what pseudonyms are made with.
        earlier: the releases that the policy holds the present one together with, as they were found.
        keeps_taxonomies: whether those that the policy carries stay in the warehouse, if the target is a table there.
        max_loss: the loss up to which a release is of use; one that loses more is not published.
        is_dry_run: whether only the statements of the run are to be read: an empty source is accepted, and
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
    earlier: Sequence[EarlierRelease] = ()
    keeps_taxonomies: bool = True
    max_loss: float | None = None
    is_dry_run: bool = False

    @property
    def names_account(self) -> bool:
        """Whether it says whose budget is spent, which only a private method does."""
        return self.dataset is not None or bool(self.public)


class Run(ABC):
    """One run of a method on a source, from the policy to the report.

    A method is a subclass of this. It says what it takes by the class attributes, and what it does by the hooks, which
    are called in the order in which they stand here.

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
        encoding: the cells that the released rows are spelled by; :meth:`make` sets it.
        row_count: how many rows are released; :meth:`make` sets it.
        attained: what the released classes attain by the bounds of the policy; :meth:`make` sets it.
        measured: what was measured on the written release.
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

    encoding: Encoding
    row_count: int
    attained: Sequence[float]
    measured: Measurement

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
        self.open_account(source, policy)
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

    def open_account(self, source: ResolvedSource, policy: Policy) -> None:
        """Find the account that will pay; see :class:`sqlanon.methods.shared.private.run.PrivateRun`."""

    def with_present_taxonomies(self) -> None:
        """Bind the policy to the taxonomies as the transaction of the run has them.

        Raises:
            PolicyError, TaxonomyError: as the constructor.
        """
        self.bound = self.refuse(with_present_taxonomies(self.engine, self.bound))

    @property
    def node(self) -> Mapping[str, int] | None:
        """The node that the user gave, if there is nothing to search for."""
        return None

    @property
    def companions(self) -> Sequence[str]:
        """What is published beside the rows, each as a table of its own."""
        return ()

    def refuse(self, bound: BoundPolicy) -> BoundPolicy:
        """Refuse a policy, once it is bound to its source, that the method cannot carry out.

        Raises:
            PolicyError, TaxonomyError: says why.
        """
        return bound

    def reporting_spend(self) -> AbstractContextManager[None]:
        """What surrounds the run, so that whatever ends it reports what was spent."""
        return nullcontext()

    @abstractmethod
    def encode(self) -> None:
        """Read the rows once.

        Raises:
            PolicyError, TaxonomyError: the rows do not fit the policy or its taxonomies.
        """

    def refuse_columns_of(self, target: Target) -> None:
        """Refuse a target that cannot have the columns of the release, before they cost anything.

        Raises:
            EngineError: it cannot.
        """

    def charge(self) -> None:
        """Refuse what cannot be drawn, then pay for all that will be, so that no run ends half paid.

        Raises:
            PolicyError: something cannot be drawn; nothing is spent.
            BudgetError: less is left than it costs; nothing is spent.
        """

    def search(self, stages: Stages) -> None:
        """Choose what is published, as the stage ``search``.

        Raises:
            UnsatisfiableError: nothing meets the policy.
        """

    @abstractmethod
    def make(self) -> Publication | None:
        """Make the released rows in groups of equal ones (``EQUAL_ROWS``).

        Returns:
            what the findings of the run are made from; None for a private method, as they would be outside its budget.
        """

    def released_rows(self, takes_enums: TakesEnums) -> exp.Query:
        """The rows, in the order in which they are written."""
        return released_rows(self.engine, self.encoding, takes_enums)

    def companion_rows(self) -> Mapping[str, exp.Query]:
        """The rows of each companion table, by what it is."""
        return {}

    def verify(self, written: ResolvedSource, companions: Mapping[str, ResolvedSource]) -> None:
        """Compare what was written with what was made.

        Raises:
            VerificationError: it differs, or does not meet the policy.
        """
        found = verify(self.engine, written, self.bound.policy, self.compared())
        differences = self.differences(written, companions)
        if not self.request.is_dry_run:
            refuse_shortfalls(found, self.row_count, differences)
        self.measured = found.measurement

    def compared(self) -> Beside:
        """What the release is compared with when it is measured."""
        bound = self.bound
        return measured_beside(bound.policy, bound.taxonomy, {}, bound.source, bound.columns, None)

    def differences(self, written: ResolvedSource, companions: Mapping[str, ResolvedSource]) -> list[str]:
        """How what was written differs from what was made, beyond its classes and measures: a sentence each."""
        return []

    @abstractmethod
    def report(self, into: str, seconds: Mapping[str, float]) -> Report:
        """The numbers of the run; ``seconds`` by stage."""

    def record(self, report: Report, inputs: Inputs | None) -> Record:
        """The record that travels with the release; ``inputs`` are what it was made from, if that makes it again."""
        assert report.rows is not None
        return release_record(
            self.bound.policy,
            self.bound.taxonomy_hashes,
            self.labels_record(report),
            # Joint classes, which are a part of its own, are for the custodian.
            [each.attained for each in self.measured.models] if self.request.earlier else self.attained,
            report.rows,
            report=ReportRecord(**report.model_dump(mode="json", exclude=set(self.custodian_fields))),
            made_from=inputs,
        )

    def labels_record(self, report: Report) -> LabelsRecord | None:
        """Which labels the release can have, for its record; None if they are very many."""
        return NodeRecord(levels=report.node)

    def guarantee(self, report: Report) -> Guarantee:
        """What the release promises."""
        return guarantee(self.bound.policy, report)

    def recorded_guarantee(self, report: Report) -> Guarantee:
        """The same as its recipients may know it."""
        return self.guarantee(report.model_copy(update=dict.fromkeys(self.custodian_fields)))


METHODS = {
    "full-domain": "sqlanon.methods.full_domain.method:FullDomainRun",
    "local-recoding": "sqlanon.methods.local.method:LocalRun",
    "ipa": "sqlanon.methods.noisy_node.ipa:NoisyCountsRun",
    "histogram": "sqlanon.methods.noisy_node.ipa:NoisyCountsRun",
    "h-ceiling": "sqlanon.methods.h_ceiling.method:HCeilingRun",
    "diffgen": "sqlanon.methods.cuts.diffgen.method:DiffGenRun",
    "epsilon-safe": "sqlanon.methods.noisy_node.epsilon_safe:EpsilonSafeRun",
    "synthetic": "sqlanon.methods.synthetic.method:SyntheticRun",
    "relocation": "sqlanon.methods.relocation.method:RelocationRun",
    "top-down-specialization": "sqlanon.methods.cuts.top_down.method:TopDownRun",
}
"""The module and the class of each method, by name."""


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


def method_of(policy: Policy) -> type[Run]:
    """The method of a policy: the class of its runs."""
    module, _, name = METHODS[policy.method.name].partition(":")
    method: type[Run] = getattr(import_module(module), name)
    return method
