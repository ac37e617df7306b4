"""What a private run reports, records and promises: what was drawn and spent, and when nothing is promised."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from sqlanon.binding.bound import BoundPolicy
from sqlanon.methods.shared.private.chance import Chance
from sqlanon.methods.shared.reports import report_of
from sqlanon.model.budget import sequential_composition
from sqlanon.model.datasets import KnownSource
from sqlanon.model.labels import LabelsRecord
from sqlanon.model.methods.noisy import PrivateMethod
from sqlanon.model.record import Record
from sqlanon.model.release import PrivateGuarantee, PrivateReport
from sqlanon.publish.provenance import record_by

APrivateReport = TypeVar("APrivateReport", bound=PrivateReport)

MUCH = 10
"""The ε from which on a release can be 20,000 times as likely with a row as without it."""


# More than six parameters: the run, and what was shown of how many rows.
def private_report_of(
    kind: type[APrivateReport],
    bound: BoundPolicy,
    chance: Chance,
    into: str,
    seconds: Mapping[str, float],
    *,
    rows: int,
    groups: int,
    **facts: Any,
) -> APrivateReport:
    """The report of a private run, with facts by the names of its fields."""
    wanted = bound.policy.method
    assert isinstance(wanted, PrivateMethod)
    return report_of(
        kind,
        bound,
        into,
        seconds,
        stamp=NOT_PRIVATE if why_void(wanted, chance.is_private) else None,
        rows_per_individual=wanted.rows_per_individual,
        released_rows=rows,
        released_groups=groups,
        opened_account=chance.opened_account,
        notes=(*weak_budget(wanted), *few_rows(rows)),
        **facts,
    )


def weak_budget(wanted: PrivateMethod) -> Iterator[str]:
    """What a budget means that means little."""
    if wanted.budget.epsilon >= MUCH and wanted.claims_privacy:
        yield f"with ε of {MUCH} or more hardly anybody is protected: whoever looks can be all but certain"


def few_rows(rows: int) -> Iterator[str]:
    """What it means that a release has no rows."""
    if rows == 0:
        yield "no count reached its threshold, so that the release has no rows: spend more, or generalize more"


def private_provenance(
    bound: BoundPolicy, report: PrivateReport, chance: Chance, labels: LabelsRecord | None
) -> Record:
    """The record of the release, without what reveals more of the data, such as how long a stage took.

    Args:
        bound: the policy.
        report: the numbers of the run.
        chance: what was drawn with, and charged.
        labels: which labels the release can have; None if they are very many.
    """
    return record_by(
        bound.policy,
        stamp=report.stamp,
        ledger_sha256=None if chance.ledger is None else chance.ledger.head(),
        taxonomy_sha256=bound.taxonomy_hashes,
        labels=labels,
        report=report.model_dump(mode="json", exclude={"source", "into", "opened_account", "seconds", "diagnostics"}),
    )


NOT_PRIVATE = "NOT PRIVATE"


def why_void(method: PrivateMethod, source_is_private: bool) -> str | None:
    """Why a release promises nothing; None if it does."""
    if method.void is None and not source_is_private:
        return "its noise is from a seeded source: whoever knows the seed can take it away"
    return method.void


def private_guarantee(
    bound: BoundPolicy, report: PrivateReport, theorem: str, chance: Chance, conditions: Sequence[str] = ()
) -> PrivateGuarantee:
    """The claim of a private release, what proves it, what it rests on, and what it does not cover.

    Args:
        bound: the policy, bound to its source.
        report: what was spent.
        theorem: what proves the claim.
        chance: what was drawn with, and charged.
        conditions: what the claim rests on besides what it does for all methods.
    """
    policy, method = bound.policy, bound.policy.method
    assert isinstance(method, PrivateMethod)
    void = why_void(method, chance.is_private)
    neighbours = _neighbours(policy.individual, method.rows_per_individual)
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
    """How n rows are protected: δ + exp(ε) δ + ... + exp((n - 1) ε) δ, by going row by row (Vadhan 2017, lemma 2.2)."""
    if is_pure:
        return "with n times ε"
    return "with n times ε and δ (exp(n ε) - 1) / (exp(ε) - 1), which from 1 on protects nothing"


def _neighbours(individual: str | None, rows: int) -> str:
    if individual is None:
        return "the presence of one row"
    return f'the rows of one value of "{individual}", of which {rows:,} at most are counted'


def _conditions(bound: BoundPolicy, report: PrivateReport, chance: Chance) -> tuple[str, ...]:
    conditions, method = [], bound.policy.method
    assert isinstance(method, PrivateMethod)
    if bound.policy.individual is None:
        of_many = _of_many(is_pure=method.is_pure)
        conditions.append(f"every individual owns one row; of n rows they are protected {of_many}")
    conditions += about_sources(bound, chance)
    observed = [f'"{name}"' for name, domain in report.domains.items() if domain == "observed"]
    if observed:
        conditions.append(f"everybody knows which values of {', '.join(observed)} occur: they were read off the data")
    for name, shape in bound.all_shapes.items():
        if shape.domain == "stated":
            conditions.append(
                f'the values of "{name}" were not read off the data: the file {shape.origin} states them, whoever made '
                "and loaded it knows where they come from, and nobody has checked it"
            )
    return (
        *conditions,
        "everybody may know that the taxonomies have all values: that a run is refused says that they have not",
        "the schema, the taxonomies and the policy were chosen without a look at the data",
        "what other releases of the same rows spend is added to this; the ledger knows those that it recorded, a "
        "table by its name, a file by its path and its content: rows that were copied, or whose table was renamed, are "
        "new to it",
        "the operating system's randomness cannot be predicted",
    )


MAX_NAMED = 5
"""How many tables and files a condition names; of more it gives the number."""


def about_sources(bound: BoundPolicy, chance: Chance) -> Iterator[str]:
    """What has to hold of the rows that are charged, and of those that are not, a sentence each."""
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
        yield f"the frames that are read hold rows of {called} and no others, which nobody has checked"
    if dataset.public:
        verb = "was" if len(dataset.public) == 1 else "were"
        yield f"everybody may know all of {_named(dataset.public)}, which {verb} declared public"
    if individual is not None:
        yield f'"{individual}" identifies the same individuals in all tables and files of {called}'


def _named(sources: Sequence[KnownSource]) -> str:
    names = [str(source) for source in sources]
    if len(names) > MAX_NAMED:
        return f"{', '.join(names[:MAX_NAMED])} and {len(names) - MAX_NAMED:,} others"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
