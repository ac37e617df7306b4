"""Other releases of a data set, listed by the warehouse but not named by a policy, and what they show together.

A run compares its cells with them before it publishes (:func:`examined_beside`); a report compares the rows of both
(:func:`others_of`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.duckdb import Compute, Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError, SqlanonError, reason_of
from sqlanon.joint.beside import ReleaseAtNode, WrittenRelease
from sqlanon.model.destination import Destination, destination
from sqlanon.model.labels import ClassesRecord, CutRecord, NodeRecord
from sqlanon.model.methods.full_domain import FullDomain
from sqlanon.model.names import enumerated, folded, table_named
from sqlanon.model.policy.fields import action_for
from sqlanon.model.policy.policy import Policy
from sqlanon.model.policy.policy_parts import Earlier
from sqlanon.model.privacy import KAnonymity, PrivacyModel
from sqlanon.model.record import Inputs, Record
from sqlanon.model.release.joint import JointClasses, ListedRelease, OtherRelease
from sqlanon.queries.encoding import label_of
from sqlanon.queries.kit.nodes import Relation, Step
from sqlanon.queries.released_classes import released_labels
from sqlanon.release.examined import Examined, is_accepted
from sqlanon.release.publishing import PublishedNode
from sqlanon.releases.listing import latest, rows_beside, shown
from sqlanon.releases.release_table import Row, comparable, comparables, datasets_of, table_called
from sqlanon.run.earlier import MASKED, WITHOUT_CLASSES, Found, bound_to, compare_releases, in_the_way
from sqlanon.run.recorded import PRESENT, of_several_roles, recorded_release, shown_columns
from sqlanon.verification.found_release import FoundRelease

MAX_OTHERS = 5  # maximum number of releases to compare with, latest first

HELD_WITH_OTHERS = "the policy holds this release together with others, and does not name that one: add it to earlier"
WITH_ITS_SOURCE = "name it in earlier with its source as it was then, and the key of a person"

# Releases whose labels do not determine the classes of a node.
OF_SEVERAL_LEVELS: Mapping[type, str] = {
    CutRecord: "its labels are those of a cut",
    ClassesRecord: "each of its classes has levels of its own",
}


@dataclass(frozen=True)
class Others:
    found: Sequence[ReleaseAtNode | OtherRelease] = ()  # the latest, to be compared, or with the reason why not
    left: int = 0  # targets of older ones on the list
    both: BoundPolicy | None = None  # the run's policy, with quasi-identifiers that only others have


@contextmanager
def other_releases(
    engine: Engine, source: ResolvedSource, bound: BoundPolicy, found: Sequence[ListedRelease], left: int
) -> Iterator[Others]:
    """Look up the other releases of a run, with tables of their labels for the time of a block.

    The tables are made before the transaction of the run, which an unreadable file would abort.
    """
    if not found:
        yield Others()
        return
    obstacle = _obstacle(engine, bound)
    with engine.scratch(), ExitStack() as stack:
        looked_up = {each.target: obstacle or _looked_up(engine, source, bound, each) for each in found}
        alike, more = _alike(bound, looked_up)
        both = _with_columns(stack, engine, bound, more) if more else bound
        at_nodes = [
            _at_node(engine, target, each, bound, both, Relation(f"anon_labels_of_other_{number}", "class"))
            for number, (target, each) in enumerate(alike.items())
        ]
        yield Others(at_nodes, left, None if isinstance(both, str) else both)


def examined_beside(
    engine: Compute, examined: Examined, others: Others, node: PublishedNode | None, written: ResolvedSource
) -> Examined:
    """Add to the findings on a publication at a node what it shows together with other releases."""

    release = None if node is None else WrittenRelease(engine, node, written, others.both)

    def compared(other: ReleaseAtNode) -> OtherRelease:
        assert node is not None
        assert release is not None
        policy, rows = node.table.bound.policy, node.table.context.row_count + node.table.unknown.suppressed
        if policy.suppression == "mask" and node.summary.suppressed_rows:
            return OtherRelease(release=other.name, reason=f"of the release of this run, {MASKED}")
        if other.source_rows not in (None, rows):
            reason = f"its source had {other.source_rows:,} rows, and this one has {rows:,}"
            return OtherRelease(release=other.name, reason=f"{reason}; {WITH_ITS_SOURCE}")
        joint = release.joint_classes_with(other)
        if isinstance(joint, str):
            return OtherRelease(release=other.name, reason=f"{joint}; {WITH_ITS_SOURCE}")
        return _judged(policy, other.name, joint, policy.privacy)

    with engine.scratch():
        found = tuple(each if isinstance(each, OtherRelease) else compared(each) for each in others.found)
    update = {"other_releases": found, "uncompared_releases": others.left}
    return replace(examined, findings=examined.findings.model_copy(update=update))


def others_of(
    engine: Engine, source: ResolvedSource, released: FoundRelease, policy: Policy, name: str
) -> tuple[tuple[OtherRelease, ...], int]:
    """Compare a published release with others of its data set, and count older ones on the list.

    Releases that were compared when they were made are left out, as their own policies name them.

    Args:
        source: the data set, unchanged.
        name: the user's name for the release.
    """
    made_from = None if released.record is None else released.record.made_from
    own, into, datasets = comparables(name), destination(name), datasets_of(engine, source)
    found, left = latest_others(engine, policy, datasets, own, into, made_from)
    compared = (_compared_by_rows(engine, source, released, policy, name, other) for other in found)
    return tuple(other for other in compared if other is not None), left


def latest_others(
    engine: Engine,
    policy: Policy,
    datasets: Sequence[str],
    own: Iterable[str],
    into: Destination,
    inputs: Inputs | None,
) -> tuple[Sequence[ListedRelease], int]:
    """Find the latest releases of data sets that a policy does not name, and count the targets of older ones.

    Args:
        own: names that the release at the target may have on the list.
        into: the target; beside a file, unlisted releases of the same inputs are found, too.
    """
    if policy.earlier == "none" or policy.has_private_method or not datasets:
        return (), 0
    is_file = into.kind == "file" and inputs is not None
    beside = rows_beside(engine, into.path, inputs.files_sha256, datasets) if is_file and inputs else []
    named = {*own, *(name for each in policy.held_with for name in comparables(each.release))}

    def is_other(row: Row) -> bool:
        # Private releases are in the ledger, and their classes are unknown.
        is_private = row.min_class_size is None and row.fit_sha256 is None
        return not is_private and named.isdisjoint({row.target, comparable(row.target)})

    found, left = latest(engine, datasets, MAX_OTHERS, is_other)
    found = [*(shown(row, "there") for row in beside if is_other(row)), *found]
    return found[-MAX_OTHERS:], left + max(0, len(found) - MAX_OTHERS)


def _compared_by_rows(
    engine: Engine, source: ResolvedSource, released: FoundRelease, policy: Policy, name: str, other: ListedRelease
) -> OtherRelease | None:
    """Compare with another release, or give the reason why not; None if they were compared before."""
    try:
        _, record, _ = _read(engine, other)
        if any(each.record_sha256 == released.record_sha256 for each in record.earlier):
            return None
        reason = HELD_WITH_OTHERS if policy.held_with else _held_with_others(record)
        if reason is not None:
            return OtherRelease(release=other.target, reason=reason)
        joint = compare_releases(engine, source, [Earlier(_name_of(engine, other)), Earlier(name)])
    except SqlanonError as error:
        return OtherRelease(release=other.target, reason=reason_of(error))
    models = policy.privacy if joint.failing_classes is None else ()
    # Its smallest classes have labels of the other release.
    return _judged(policy, other.target, joint.model_copy(update={"smallest": ()}), models)


def _judged(policy: Policy, other: str, joint: JointClasses, unjudged: Iterable[PrivacyModel]) -> OtherRelease:
    """Judge another release by the joint classes of both; propose to name it in ``earlier`` if the policy allows that.

    ``unjudged`` are models that joint classes were not judged by; k-anonymity is not one of them.
    """
    models = tuple(str(model) for model in unjudged if not isinstance(model, KAnonymity))
    is_wanted = bool(models) or not joint.met
    is_proposed = is_wanted and is_accepted(policy, {"earlier": [{"release": other}]})
    proposal = f"earlier = {json.dumps([other], ensure_ascii=False)}" if is_proposed else None
    return OtherRelease(release=other, joint=joint, unjudged=models, proposal=proposal)


def _read(engine: Engine, other: ListedRelease) -> tuple[FoundRelease, Record, Policy]:
    if other.state == "unseen":
        raise PolicyError("this session cannot read it")
    if other.fit_sha256 is not None:
        raise PolicyError(WITHOUT_CLASSES)
    return recorded_release(engine, _name_of(engine, other), engine.resolve, hashes_rows=False)


def _name_of(engine: Engine, other: ListedRelease) -> str:
    """Return the name of a listed release, valid in any schema."""
    table = table_called(other.target, engine.warehouse.name)
    return other.target if table is None else table_named([table.catalog, table.db, table.name])


def _held_with_others(record: Record) -> str | None:
    names = enumerated(f'"{each.release}"' for each in record.earlier)
    return f"it was held together with {names}: name all of them in earlier" if names else None


def _obstacle(engine: Compute, bound: BoundPolicy) -> str | None:
    policy = bound.policy
    if not isinstance(policy.method, FullDomain):
        return "only releases of full domains are compared with others that earlier does not name"
    if policy.individual is not None:
        return "individuals own several rows of this release, where a comparison needs one row per person"
    if policy.held_with:
        return HELD_WITH_OTHERS
    if engine.is_far(bound.source):
        return f"{bound.description} is not in the database"
    return None


def _looked_up(engine: Engine, source: ResolvedSource, bound: BoundPolicy, other: ListedRelease) -> Found | str:
    """Find a listed release, spelled like the columns of the source, or return why it is not compared."""
    try:
        release, record, policy = _read(engine, other)
    except SqlanonError as error:
        return reason_of(error)
    columns = bound.policy.quasi_identifiers
    record, policy = record.spelled_like(columns), policy.spelled_like(columns)
    problems = [*in_the_way(release, record, policy)]
    if (reason := _held_with_others(record)) is not None:
        problems.append(reason)
    left_out, own = ({*map(folded, each.columns_with("suppress"))} for each in (policy, bound.policy))
    if left_out != own:
        problems.append("rows with other unknown values were left out of it")
    if several := OF_SEVERAL_LEVELS.get(type(record.labels)):
        problems.append(f"{several}: name it in earlier")
    if problems or not isinstance(record.labels, NodeRecord):
        return "; ".join(problems)
    found = Found(release, record, policy, source, record.labels)
    present = (PRESENT, shown_columns(engine, bound.policy, source))
    return "; ".join(of_several_roles(present, (f'"{other.target}"', found.columns(engine)))) or found


def _alike(bound: BoundPolicy, looked_up: Mapping[str, Found | str]) -> tuple[dict[str, Found | str], dict[str, Found]]:
    """Exclude releases that treat a column of the run differently, and find columns that only others have.

    Of two releases that treat such a column differently, the second is excluded.
    """
    treated = _treatments(bound.policy, bound.taxonomy_hashes)
    alike, more = dict(looked_up), dict[str, Found]()
    for target, found in looked_up.items():
        if isinstance(found, str):
            continue
        own = _treatments(found.policy, found.record.taxonomy_sha256)
        unlike = [name for name, treatment in own.items() if treated.get(name, treatment) != treatment]
        if unlike:
            alike[target] = f"it was made with other taxonomies, codings or unknown values of {', '.join(unlike)}"
            continue
        more |= {name: found for name in own if name not in treated}
        treated |= own
    return alike, more


def _treatments(policy: Policy, hashes: Mapping[str, str]) -> dict[str, tuple[object, ...]]:
    given = (hashes, policy.bottom_coding, policy.top_coding)
    at_top = policy.columns_with("top")
    return {name: (*(each.get(name) for each in given), name in at_top) for name in policy.quasi_identifiers}


def _with_columns(stack: ExitStack, engine: Engine, bound: BoundPolicy, more: Mapping[str, Found]) -> BoundPolicy | str:
    policies = {
        **dict.fromkeys(bound.policy.quasi_identifiers, bound.policy),
        **{name: found.policy for name, found in more.items()},
    }
    names = {folded(name) for name in policies}

    def fields(field: str) -> dict[str, Any]:
        given = {name: getattr(policy, field) for name, policy in policies.items()}
        return {name: values[name] for name, values in given.items() if name in values}

    first, *_ = more.values()
    hashes = {name: found.record.taxonomy_sha256.get(name) for name, found in more.items()}
    try:
        policy = Policy(
            quasi_identifiers=[*policies],
            identifiers=[name for name in bound.policy.columns if folded(name) not in names],
            privacy=[KAnonymity(2)],
            unknown={name: action_for(each.unknown, name) for name, each in policies.items()},
            taxonomies=fields("taxonomies"),
            bottom_coding=fields("bottom_coding"),
            top_coding=fields("top_coding"),
        )
        record = first.record.model_copy(update={"taxonomy_sha256": {**bound.taxonomy_hashes, **hashes}})
        with ExitStack() as entered:  # left at once if it fails
            both = bound_to(entered, engine, {}, replace(first, policy=policy, record=record))
            stack.enter_context(entered.pop_all())
            return both
    except SqlanonError as error:
        return reason_of(error)


def _at_node(
    engine: Engine, target: str, found: Found | str, own: BoundPolicy, both: BoundPolicy | str, made: Relation
) -> ReleaseAtNode | OtherRelease:
    """Make the table of a release's labels, at a node of the run's lattice or with more columns."""
    if isinstance(found, str):
        return OtherRelease(release=target, reason=found)
    has_more = not {*found.policy.quasi_identifiers} <= {*own.policy.quasi_identifiers}
    bound = both if has_more else own
    if isinstance(bound, str):
        return OtherRelease(release=target, reason=bound)
    names = [*map(folded, bound.policy.quasi_identifiers)]
    labels = {name: label_of(names.index(folded(name))) for name in found.policy.quasi_identifiers}
    try:
        engine.run(Step(made, released_labels(found.release.source.relation, labels), "labels of a release"))
    except SqlanonError as error:
        return OtherRelease(release=target, reason=reason_of(error))
    assert isinstance(found.labels, NodeRecord)
    levels = {folded(name): level for name, level in found.labels.levels.items()}
    node = tuple(levels.get(name, height) for name, height in zip(names, bound.heights, strict=True))
    rows = None if found.record.rows is None else found.record.rows.source
    return ReleaseAtNode(target, node, made, found.policy.criteria.k, rows)
