"""Other releases of a data set: those of the list that a release is compared with, and what it shows with them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import SqlanonError
from sqlanon.model.dataset_names import table_named
from sqlanon.model.destination import destination
from sqlanon.model.names import enumerated
from sqlanon.model.policy.earlier import Earlier
from sqlanon.model.policy.policy import Policy
from sqlanon.model.privacy import KAnonymity, PrivacyModel
from sqlanon.model.record import Record
from sqlanon.model.release.joint import JointClasses, OtherRelease
from sqlanon.model.release.listed import ListedRelease
from sqlanon.release.findings import is_accepted
from sqlanon.releases.beside import rows_beside
from sqlanon.releases.listing import latest, shown
from sqlanon.releases.names import comparable, comparables, datasets_of, table_called
from sqlanon.releases.table import Row
from sqlanon.run.earlier import WITHOUT_CLASSES, compare_releases
from sqlanon.run.recorded import recorded_release
from sqlanon.verification.published import Published

HELD_WITH_OTHERS = "the policy holds this release together with others, and does not name that one: add it to earlier"

MOST = 5
"""How many releases one is compared with: the latest."""


def latest_others(
    engine: Engine, policy: Policy, datasets: Sequence[str], own: Iterable[str], beside: Sequence[Row] = ()
) -> tuple[Sequence[ListedRelease], int]:
    """The latest releases of data sets that a policy does not name, and how many targets of older ones are on the list.

    Args:
        engine: the database.
        policy: the policy.
        datasets: the data sets.
        own: what the release of the policy may be called on the list.
        beside: those of the same files that the list does not have.
    """
    if policy.earlier == "none" or policy.has_private_method or not datasets:
        return (), 0
    named = {*own, *(name for each in policy.held_with for name in comparables(each.release))}

    def is_other(row: Row) -> bool:
        # Those of private methods, whose classes nobody knows, are in the ledger.
        is_private = row.min_class_size is None and row.fit_sha256 is None
        return not is_private and named.isdisjoint({row.target, comparable(row.target)})

    found, left = latest(engine, datasets, MOST, is_other)
    found = [*(shown(row, "there") for row in beside if is_other(row)), *found]
    return found[-MOST:], left + max(0, len(found) - MOST)


def judged(policy: Policy, other: str, joint: JointClasses, unjudged: Iterable[PrivacyModel]) -> OtherRelease:
    """Another release by the joint classes of both, with what holds them together if a policy takes it.

    Args:
        policy: the policy of the release.
        other: the target of the other one.
        joint: the joint classes.
        unjudged: the models of the policy that these were not judged by; k-anonymity is not one of them.
    """
    models = tuple(str(model) for model in unjudged if not isinstance(model, KAnonymity))
    is_wanted = bool(models) or not joint.met
    is_proposed = is_wanted and is_accepted(policy, {"earlier": [{"release": other}]})
    proposal = f"earlier = {json.dumps([other], ensure_ascii=False)}" if is_proposed else None
    return OtherRelease(release=other, joint=joint, unjudged=models, proposal=proposal)


def out_of_reach(other: ListedRelease) -> str | None:
    """Why a release of the list is not looked at; None if it is."""
    if other.state == "unseen":
        return "it cannot be looked at from this session"
    return None if other.fit_sha256 is None else WITHOUT_CLASSES


def name_of(engine: Engine, other: ListedRelease) -> str:
    """What a release of the list is called from any schema."""
    table = table_called(other.target, engine.warehouse.name)
    return other.target if table is None else table_named([table.catalog, table.db, table.name])


def held_with_others(record: Record) -> str | None:
    """Why a release that was held together with others is not compared; None if it was not."""
    if not record.earlier:
        return None
    names = enumerated(f'"{each.release}"' for each in record.earlier)
    return f"it was held together with {names}: name all of them in earlier"


def reason_of(error: SqlanonError) -> str:
    """Why a release is not compared."""
    return "; ".join(getattr(error, "problems", ())) or str(error)


def others_of(
    engine: Engine, source: ResolvedSource, released: Published, policy: Policy, name: str
) -> tuple[tuple[OtherRelease, ...], int]:
    """The other releases of the data set of one that was published, and how many older ones are on the list.

    Those that were held together with it are left out, which their own policies name.

    Args:
        engine: the database, with the taxonomies of the policy.
        source: the data set, unchanged.
        released: the release.
        policy: its policy.
        name: what the user calls it.
    """
    datasets, into = datasets_of(engine, source), destination(name)
    made_from = None if released.record is None else released.record.made_from
    is_file = made_from is not None and into.kind == "file"
    beside = rows_beside(engine, into.path, made_from.files_sha256, datasets) if is_file and made_from else []
    found, left = latest_others(engine, policy, datasets, comparables(name), beside)
    compared = (_compared(engine, source, released, policy, name, other) for other in found)
    return tuple(other for other in compared if other is not None), left


# More than six parameters: a release as it is named, found and recorded, and another one.
def _compared(
    engine: Engine, source: ResolvedSource, released: Published, policy: Policy, name: str, other: ListedRelease
) -> OtherRelease | None:
    """Another release with the joint classes of both, or the reason why they are not known; None if held together."""
    reason = out_of_reach(other)
    if reason is not None:
        return OtherRelease(release=other.target, reason=reason)
    other_name = name_of(engine, other)
    try:
        _, record, _ = recorded_release(engine, other_name, engine.resolve, hashes_rows=False)
        if any(each.record_sha256 == released.record_sha256 for each in record.earlier):
            return None
        reason = HELD_WITH_OTHERS if policy.held_with else held_with_others(record)
        if reason is not None:
            return OtherRelease(release=other.target, reason=reason)
        joint = compare_releases(engine, source, [Earlier(other_name), Earlier(name)])
    except SqlanonError as error:
        return OtherRelease(release=other.target, reason=reason_of(error))
    models = policy.privacy if joint.failing_classes is None else ()
    # The labels of its smallest classes are those of another release.
    return judged(policy, other.target, joint.model_copy(update={"smallest": ()}), models)
