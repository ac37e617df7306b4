"""Base of private methods: draws that a data set's budget pays for, and the guarantee they earn.

Charges are in the ledger before anything is drawn and stay there whatever happens to the run.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.chance.accountant import Accountant
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import BudgetError, PolicyError, with_spent
from sqlanon.methods.base import ChoiceT, Measured, PaidT, Publication, Request, Run, TableT, report_of
from sqlanon.methods.chance import Chance, unit_of
from sqlanon.model.budget import sequential_composition
from sqlanon.model.methods.noisy import PrivateMethod
from sqlanon.model.names import KnownSource, enumerated
from sqlanon.model.policy.policy import Policy
from sqlanon.model.record import Inputs, Record
from sqlanon.model.release import Guarantee, PrivateGuarantee, PrivateReport, Report
from sqlanon.publish.provenance import record_by
from sqlanon.queries.kit.nodes import aliased, cast
from sqlanon.queries.source import SourceColumn

if TYPE_CHECKING:
    from sqlanon.publish.targets import Target

APrivateReport = TypeVar("APrivateReport", bound=PrivateReport)

MUCH = 10  # the ε from which a release can be 20,000 times as likely with a row as without it
MAX_NAMED = 5  # how many tables and files a condition names before it only counts the others

NOT_PRIVATE = "NOT PRIVATE"


@dataclass(frozen=True, kw_only=True)
class PrivatePublication(Publication):
    row_count: int
    group_count: int | None = None  # of equal rows; None if not counted


DrawnT = TypeVar("DrawnT", bound=PrivatePublication)


class PrivateRun(Run[TableT, PaidT, ChoiceT, DrawnT], Generic[TableT, PaidT, ChoiceT, DrawnT]):
    """A run of a private method; its :meth:`charge` pays with its accountant."""

    is_private = True
    report_class: ClassVar[type[Report]] = PrivateReport
    withdrawn = "the written release differs from the drawn one and was withdrawn; what was spent stays spent:"
    instead_of_time_limit: ClassVar[str]  # the advice to a user who gives a time limit

    def __init__(self, engine: Engine, source: ResolvedSource, policy: Policy, request: Request) -> None:
        """Find the source of chance and the account that pays, after :meth:`Run.__init__`.

        Raises:
            PolicyError: as there and in :meth:`Chance.found`, or earlier charges use another unit of privacy.
            EngineError: no ledger outlives the session, or another ledger belongs to the warehouse.
        """
        super().__init__(engine, source, policy, request)
        self.chance = Chance.found(engine, source, policy, request)
        dataset, bound_policy = self.chance.dataset, self.bound.policy
        self.accountant = Accountant(
            self.chance.ledger,
            dataset=dataset.name,
            method=PrivateMethod.of(bound_policy).name,
            policy_sha256=bound_policy.sha256(),
            unit=unit_of(bound_policy, self.chance.individual),
            sources=dataset.sources,
            public=dataset.public,
        )

    def refuse_request(self, policy: Policy) -> None:
        """Refuse time limits too: a choice under one would depend on the clock."""
        super().refuse_request(policy)
        if self.request.stopped is not None:
            raise PolicyError(f"a private method takes no time limit: {self.instead_of_time_limit}")

    @contextmanager
    def reporting_spend(self) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            if paid := self.accountant.paid:
                with_spent(error, **sequential_composition(paid).model_dump(mode="json"))
            raise

    def refuse_columns_of(self, target: Target) -> None:
        nothing = [aliased(cast(exp.null(), kind), name) for name, kind in self.released_types.items()]
        target.refuse_columns(exp.select(*nothing, copy=False).limit(0))

    @property
    def released_types(self) -> Mapping[str, str]:
        labels = self.bound.policy.quasi_identifiers
        columns = self.bound.published_columns
        return {each.name: "VARCHAR" if each.name in labels else each.traits.released_as for each in columns}

    def verify(self, made: DrawnT, written: ResolvedSource, companions: Mapping[str, ResolvedSource]) -> Measured:
        return Measured(self.compare(made, written, companions).differences)

    def private_report(
        self,
        kind: type[APrivateReport],
        made: PrivatePublication,
        into: str,
        seconds: Mapping[str, float],
        more_notes: Sequence[str] = (),
        **facts: Any,
    ) -> APrivateReport:
        wanted = PrivateMethod.of(self.bound.policy)
        notes = [*more_notes]
        if wanted.budget.epsilon >= MUCH and wanted.claims_privacy:
            notes.append(f"with ε of {MUCH} or more hardly anybody is protected: whoever looks can be all but certain")
        if made.row_count == 0:
            notes.append("no count reached its threshold, so the release has no rows: spend more, or generalize more")
        return report_of(
            kind,
            self.bound,
            into,
            seconds,
            stamp=NOT_PRIVATE if why_void(wanted, self.chance.is_private) else None,
            rows_per_individual=wanted.rows_per_individual,
            released_rows=made.row_count,
            released_groups=made.group_count,
            opened_account=self.chance.opened_account,
            notes=tuple(notes),
            **facts,
        )

    def record(self, made: DrawnT, measured: Measured, report: Report, inputs: Inputs | None) -> Record:
        """Make the record without inputs, stage times and other facts that reveal more of the data."""
        assert isinstance(report, PrivateReport)
        ledger = self.chance.ledger
        hidden = {"source", "into", "opened_account", "seconds", "diagnostics"}
        return record_by(
            self.bound.policy,
            stamp=report.stamp,
            ledger_sha256=None if ledger is None else ledger.head(),
            taxonomy_sha256=self.bound.taxonomy_hashes,
            labels=self.labels_record(made, report),
            report=report.model_dump(mode="json", exclude=hidden),
        )

    def guarantee(self, made: DrawnT, report: Report) -> Guarantee:
        assert isinstance(report, PrivateReport)
        return private_guarantee(self.bound, report, self.theorem, self.chance, self.conditions)

    @property
    @abstractmethod
    def theorem(self) -> str: ...

    @property
    def conditions(self) -> Sequence[str]:
        return ()


@contextmanager
def refusing_small_budgets(method: PrivateMethod) -> Iterator[None]:
    """Turn the error of an ε too small to draw with into a fault of the policy, before anything is charged."""
    try:
        yield
    except BudgetError as error:
        raise PolicyError(f"the budget of the {method} cannot be drawn with: {error.heading}", error.problems) from None


def no_category(found: SourceColumn) -> str:
    """Explain why a column whose equal values differ in spelling cannot be rebuilt from counts."""
    return (
        f'"{found.name}" is published as a category, but equal values of its type, {found.type}, can be spelled in '
        "several ways: cast it to VARCHAR in a view"
    )


def why_void(method: PrivateMethod, source_is_private: bool) -> str | None:
    """Return the reason why a release promises nothing; None if it promises privacy."""
    if method.void is None and not source_is_private:
        return "its noise is from a seeded source: whoever knows the seed can subtract it"
    return method.void


def private_guarantee(
    bound: BoundPolicy, report: PrivateReport, theorem: str, chance: Chance, conditions: Sequence[str] = ()
) -> PrivateGuarantee:
    """State the claim of a private release, its proof, its conditions and its limits.

    ``conditions`` are those of the method beside the common ones.
    """
    policy, method = bound.policy, PrivateMethod.of(bound.policy)
    void = why_void(method, chance.is_private)
    neighbours = "the presence of one row"
    if policy.individual is not None:
        most = f"at most {method.rows_per_individual:,} of them are counted"
        neighbours = f'the rows of one value of "{policy.individual}"; {most}'
    spent = sequential_composition(each.budget for each in report.spent)
    epsilon, delta = spent.model_dump(mode="json").values()
    claim = (
        f"the release is differentially private with ε = {epsilon} and δ = {delta}: between tables that differ by "
        f"{neighbours}, the chance of any set of releases grows to exp({epsilon}) times itself plus {delta} at most"
    )
    return PrivateGuarantee(
        claims=() if void else (claim,),
        conditions=() if void else (*conditions, *_conditions(bound, report, chance)),
        not_covered=(f"{NOT_PRIVATE}: {void}",) if void else _not_covered(is_pure=method.is_pure),
        budget=None if void else spent,
        neighbours=neighbours,
        theorem="none" if void else theorem,
        void=void,
    )


def _not_covered(*, is_pure: bool) -> tuple[str, ...]:
    return (
        "what is concluded about an individual from what holds for many: that would be so without their rows, too",
        f"individuals whose rows depend on each other: a group of n is protected {_of_many(is_pure=is_pure)}",
        "what the run shows besides the release: how long it took, its errors, and what it prints",
    )


def _of_many(*, is_pure: bool) -> str:
    """Describe the protection of n rows: δ + exp(ε) δ + ... + exp((n - 1) ε) δ, row by row (Vadhan 2017, lemma 2.2)."""
    if is_pure:
        return "with n times ε"
    return "with n times ε and δ (exp(n ε) - 1) / (exp(ε) - 1), which from 1 on protects nothing"


def _conditions(bound: BoundPolicy, report: PrivateReport, chance: Chance) -> tuple[str, ...]:
    conditions, method = [], PrivateMethod.of(bound.policy)
    if bound.policy.individual is None:
        of_many = _of_many(is_pure=method.is_pure)
        conditions.append(f"every individual owns one row; of n rows they are protected {of_many}")
    conditions += _about_sources(bound, chance)
    observed = [f'"{name}"' for name, domain in report.domains.items() if domain == "observed"]
    if observed:
        conditions.append(f"everybody knows which values of {', '.join(observed)} occur: they were read off the data")
    stated = {name: str(shape.origin) for name, shape in bound.all_shapes.items() if shape.domain == "stated"}
    if stated:
        columns, files = ", ".join(f'"{name}"' for name in stated), [*dict.fromkeys(stated.values())]
        state, each = (
            (f"file {files[0]} states", "it") if len(files) == 1 else (f"files {', '.join(files)} state", "each")
        )
        conditions.append(
            f"the values of {columns} were not read off the data: the {state} them, whoever made and loaded {each} "
            "knows where they come from, and nobody has checked it"
        )
    return (
        *conditions,
        "everybody may know that the taxonomies have all values: that a run is refused says that they have not",
        "the schema, the taxonomies and the policy were chosen without a look at the data",
        "what other releases of the same rows spend is added to this; the ledger knows those that it recorded, a "
        "table by its name, a file by its path and its content: rows that were copied, or whose table was renamed, are "
        "new to it, and so is what another warehouse has charged to a ledger of its own",
        "the operating system's randomness cannot be predicted",
    )


def _about_sources(bound: BoundPolicy, chance: Chance) -> Iterator[str]:
    dataset, individual = chance.dataset, bound.policy.individual
    called = f'the data set "{KnownSource(dataset.name).short}"' if dataset.name else "the data set"
    if chance.is_query:
        read = f" ({_named(dataset.sources)})" if dataset.sources else ""
        each = (
            f"one row of {called}{read}, and no two from the same row"
            if individual is None
            else f'rows of one "{individual}" of {called}{read}'
        )
        yield f"{bound.description} makes each of its rows from {each}, whatever other rows there are"
    if dataset.has_frames:
        yield (
            f"the frames that are read hold rows of {called} and no others, each with the values that it would have "
            "without them, which nobody has checked"
        )
    if dataset.public:
        verb = "was" if len(dataset.public) == 1 else "were"
        yield f"everybody may know all of {_named(dataset.public)}, which {verb} declared public"
    if dataset.once_public:
        yield (
            f"earlier charges took everybody to know all of {_named(dataset.once_public)}, which they declared public, "
            "and their releases promise nothing of those rows"
        )
    if individual is not None:
        yield f'"{individual}" identifies the same individuals in all tables and files of {called}'


def _named(sources: Sequence[KnownSource]) -> str:
    names = [str(source) for source in sources]
    if len(names) > MAX_NAMED:
        return f"{', '.join(names[:MAX_NAMED])} and {len(names) - MAX_NAMED:,} others"
    return enumerated(names)
