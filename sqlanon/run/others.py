"""Other releases of the data set of a run: those that the warehouse lists, and that the policy does not name."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.base import Compute, Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import SqlanonError
from sqlanon.methods.shared.findings import Examined, is_accepted
from sqlanon.methods.shared.meet import ReleaseAtNode, joint_classes_with
from sqlanon.methods.shared.publishing import PublishedNode
from sqlanon.model.datasets import table_named
from sqlanon.model.labels import NodeRecord
from sqlanon.model.methods.full_domain import FullDomain
from sqlanon.model.names import folded
from sqlanon.model.policy.policy import Policy
from sqlanon.model.record import Record
from sqlanon.model.release.joint import OtherRelease
from sqlanon.model.release.listed import ListedRelease
from sqlanon.queries.cells.encoding import label_of
from sqlanon.queries.kit.nodes import Relation, Step
from sqlanon.queries.release.earlier import released_labels
from sqlanon.releases.listing import listed
from sqlanon.releases.names import comparable, comparables, table_called
from sqlanon.run.earlier import MASKED, WITHOUT_CLASSES, in_the_way
from sqlanon.run.recorded import recorded_release

MOST = 5
"""How many releases a run is compared with: the latest."""


@dataclass(frozen=True)
class Others:
    """The other releases of a data set.

    Attributes:
        found: the latest, each to be compared with the release of the run, or with the reason why it is not.
        left: how many older ones there are.
    """

    found: Sequence[ReleaseAtNode | OtherRelease] = ()
    left: int = 0


@contextmanager
def other_releases(engine: Engine, bound: BoundPolicy, datasets: Sequence[str], target: str) -> Iterator[Others]:
    """The other releases of the data sets of a run, with tables of their labels for the time of a block.

    These are made before the transaction of the run, which a file that cannot be read any more would end.

    Args:
        engine: the database.
        bound: the policy, bound to the source of the run.
        datasets: its data sets.
        target: its target as the list has it, whose present release is replaced.
    """
    policy = bound.policy
    if policy.earlier == "none" or policy.has_private_method or not datasets:
        yield Others()
        return
    named = {target, *(name for each in policy.held_with for name in comparables(each.release))}
    others = [
        each
        for each in listed(engine, datasets).releases
        if named.isdisjoint({each.target, comparable(each.target)}) and _may_be_there(each)
    ]
    latest = others[-MOST:]
    obstacle = _obstacle(engine, bound)
    with engine.scratch():
        found = [
            OtherRelease(release=each.target, reason=obstacle) if obstacle else _other(engine, bound, each, number)
            for number, each in enumerate(latest)
        ]
        yield Others(found, len(others) - len(latest))


def examined_beside(
    engine: Compute, examined: Examined, others: Others, node: PublishedNode | None, written: ResolvedSource
) -> Examined:
    """What was found of a publication, with what it shows together with other releases.

    Args:
        engine: the database.
        examined: what was found.
        others: the other releases.
        node: the node that was published.
        written: the release.
    """
    found = tuple(_beside(engine, each, node, written) for each in others.found)
    update = {"other_releases": found, "uncompared_releases": others.left}
    return replace(examined, findings=examined.findings.model_copy(update=update))


def _beside(
    engine: Compute, other: ReleaseAtNode | OtherRelease, node: PublishedNode | None, written: ResolvedSource
) -> OtherRelease:
    if isinstance(other, OtherRelease):
        return other
    assert node is not None
    policy = node.table.bound.policy
    if policy.suppression == "mask" and node.summary.suppressed_rows:
        return OtherRelease(release=other.name, reason=f"of the release of this run, {MASKED}")
    joint = joint_classes_with(engine, node, written, other)
    if isinstance(joint, str):
        reason = f"{joint}; name it in earlier with its source as it was then, and the key of a person"
        return OtherRelease(release=other.name, reason=reason)
    is_proposed = not joint.met and is_accepted(policy, {"earlier": [{"release": other.name}]})
    line = f"earlier = {json.dumps([other.name], ensure_ascii=False)}"
    return OtherRelease(release=other.name, joint=joint, proposal=line if is_proposed else None)


def _may_be_there(other: ListedRelease) -> bool:
    """Whether a release may be there. Those of private methods, whose classes nobody knows, are in the ledger."""
    is_private = other.min_class_size is None and other.fit_sha256 is None
    return other.state in ("there", "unseen") and not is_private


def _obstacle(engine: Compute, bound: BoundPolicy) -> str | None:
    """Why nothing can be compared with the release of a run."""
    policy = bound.policy
    if not isinstance(policy.method, FullDomain):
        return "this release is not of full domains, whose classes alone can be found again"
    if policy.individual is not None:
        return "individuals own several rows of this release, and a person is to have one"
    if policy.held_with:
        return "the policy holds this release together with others, and does not name that one: add it to earlier"
    if engine.is_far(bound.source):
        return f"{bound.description} is not in the database"
    return None


def _other(engine: Engine, bound: BoundPolicy, other: ListedRelease, number: int) -> ReleaseAtNode | OtherRelease:
    """A release of the list as it can be compared, with the table of its labels, or the reason why it cannot."""
    if other.state == "unseen":
        return OtherRelease(release=other.target, reason="it cannot be looked at from this session")
    if other.fit_sha256 is not None:
        return OtherRelease(release=other.target, reason=WITHOUT_CLASSES)
    table = table_called(other.target, engine.warehouse.name)
    name = other.target if table is None else table_named([table.catalog, table.db, table.name])
    try:
        release, record, policy = recorded_release(engine, name, engine.resolve, hashes_rows=False)
        problems = [*in_the_way(release, record, policy), *_other_cells(bound, record, policy)]
        if problems:
            return OtherRelease(release=other.target, reason="; ".join(problems))
        levels = _levels_of(record)
        places = {folded(each): label_of(place) for place, each in enumerate(bound.policy.quasi_identifiers)}
        found = Relation(f"anon_labels_of_other_{number}", "class")
        labels = {each: places[folded(each)] for each in policy.quasi_identifiers}
        engine.run(Step(found, released_labels(release.source.relation, labels), "labels of a release"))
    except SqlanonError as error:
        return OtherRelease(release=other.target, reason=str(error))
    columns = zip(bound.policy.quasi_identifiers, bound.heights, strict=True)
    node = tuple(levels.get(folded(each), height) for each, height in columns)
    rows = None if record.rows is None else record.rows.source
    return ReleaseAtNode(other.target, node, found, policy.criteria.k, rows)


def _levels_of(record: Record) -> Mapping[str, int]:
    assert isinstance(record.labels, NodeRecord)
    return {folded(name): level for name, level in record.labels.levels.items()}


def _other_cells(bound: BoundPolicy, record: Record, policy: Policy) -> Iterator[str]:
    """Why the classes of a release do not consist of cells of a run, a sentence each."""
    if record.earlier:
        names = " and ".join(f'"{each.release}"' for each in record.earlier)
        yield f"it was held together with {names}: name all of them in earlier"
    own, others = _treatments(bound.policy, bound.taxonomy_hashes), _treatments(policy, record.taxonomy_sha256)
    if missing := [name for name in policy.quasi_identifiers if folded(name) not in own]:
        yield f"it has other quasi-identifiers: {', '.join(missing)}"
    elif unlike := [name for name in policy.quasi_identifiers if others[folded(name)] != own[folded(name)]]:
        yield f"it was made with other taxonomies, codings or unknown values of {', '.join(unlike)}"
    elif _left_out(policy) != _left_out(bound.policy):
        yield "rows with other unknown values were left out of it"


def _treatments(policy: Policy, hashes: Mapping[str, str]) -> dict[str, tuple[object, ...]]:
    """What becomes of the values of each quasi-identifier."""
    by_column = [
        {folded(name): value for name, value in given.items()}
        for given in (hashes, policy.bottom_coding, policy.top_coding)
    ]
    at_top = {folded(name) for name in policy.columns_with("top")}
    names = map(folded, policy.quasi_identifiers)
    return {name: (*(given.get(name) for given in by_column), name in at_top) for name in names}


def _left_out(policy: Policy) -> set[str]:
    return {folded(name) for name in policy.columns_with("suppress")}
