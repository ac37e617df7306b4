"""Earlier releases of the same persons: what they show of each, and the joint classes that this makes.

A release is made again as far as that takes: its source says in which class each person is, and the release itself
which classes it shows. Where it was held together with still earlier ones, their joint classes say what it has left out
of these classes. Rows stay in the database; persons become numbers of joint classes.

Source: spec/earlier.md; composition attacks (Ganta, Kasiviswanathan and Smith 2008), differences (Byun et al. 2006).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.base import Compute
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError, UnsatisfiableError
from sqlanon.methods.shared.cells import encode_taxonomies
from sqlanon.methods.shared.unknown import find_unknown_rows
from sqlanon.model.lattice import Levels
from sqlanon.model.names import folded
from sqlanon.model.record import EarlierRecord
from sqlanon.model.release.joint import JointClass, JointClasses
from sqlanon.queries.cells.encoding import CellSpec, EarlierClasses, encoding_for
from sqlanon.queries.cells.unknown import UNKNOWN
from sqlanon.queries.classes.recoding import AtNode, Recoding
from sqlanon.queries.kit.nodes import Relation
from sqlanon.queries.release import earlier as queries

LABELS = Relation("anon_earlier_labels", "node")
"""Those of the release at hand, beside those of the run."""


@dataclass(frozen=True)
class EarlierRelease:
    """A release at a node.

    Attributes:
        name: what it is called.
        bound: its policy, bound to the rows that it was made from.
        levels: the node.
        released: its rows.
        keys: the columns of its source that identify a person, in the order of those of the other releases.
        is_by_person: whether they identify one row; else they are all that releases see of it.
        as_text: whether they are compared as text.
        beside: the positions of the earlier releases that it was held together with.
        read: it and its source, which no run may replace.
        record: what is recorded of it in a release that is held together with it.
    """

    name: str
    bound: BoundPolicy
    levels: Levels
    released: exp.Expr
    keys: tuple[str, ...]
    is_by_person: bool
    as_text: bool
    beside: tuple[int, ...]
    read: tuple[ResolvedSource, ...]
    record: EarlierRecord


def cells_beside(engine: Compute, bound: BoundPolicy, releases: Sequence[EarlierRelease]) -> CellSpec:
    """The cells of a policy, by what earlier releases show of the persons, who are counted for it (``PERSONS``).

    Args:
        engine: the database.
        bound: the policy, bound to the present source.
        releases: the releases, in the order in which they were made.

    Raises:
        PolicyError: a source is not the one that its release was made from, or a key has several rows or none.
        UnsatisfiableError: the releases leave joint classes of fewer than k persons already.
    """
    if not releases:
        return bound.cells
    first, k = releases[0], bound.policy.criteria.k
    keys = keys_of(bound, first.keys)
    if first.is_by_person:
        query = queries.source_keys(bound.source, keys[0], as_text=first.as_text)
        found = engine.fetch(query, "keys of persons")[0]
        _refuse_keys(bound.description, keys[0], found)
    join_releases(engine, releases)
    joint = joint_classes(engine, releases)
    if joint.k is not None and joint.k < k:
        raise UnsatisfiableError(
            f"{' and '.join(joint.releases)} leave joint classes of fewer than {k:,} persons already (the fewest: "
            f"{joint.k:,}), and no later release can mend that:",
            ["what can help: a smaller k, or fewer releases in earlier, if nobody can have all of them"],
        )
    engine.run(queries.numbered_persons(len(releases), len(keys)))
    engine.drop(queries.JOINT)
    earlier = EarlierClasses(keys, max(joint.class_count, 1), first.is_by_person, first.as_text)
    return replace(bound.cells, earlier=earlier)


LISTED = 10
"""How many joint classes are listed that have too few persons."""


def compare(engine: Compute, releases: Sequence[EarlierRelease]) -> JointClasses:
    """What releases show together, and which persons stand in joint classes that are smaller than their policies allow.

    Raises:
        PolicyError: as :func:`cells_beside`.
    """
    k = min(each.bound.policy.criteria.k for each in releases)
    join_releases(engine, releases, with_labels=True)
    joint = joint_classes(engine, releases)
    at_risk = engine.fetch(queries.persons_at_risk(k), "persons at risk", "node")[0]
    rows = engine.fetch(queries.smallest_classes(len(releases), k, LISTED), "joint classes at risk", "class")
    smallest = tuple(
        JointClass(
            labels=tuple(_labels(each, row[f"labels_{place}"]) for place, each in enumerate(releases)),
            persons=row["persons"],
        )
        for row in rows
    )
    return joint.model_copy(update={"required_k": k, "smallest": smallest, **at_risk})


def _labels(release: EarlierRelease, labels: Sequence[str | None] | None) -> dict[str, str | None] | None:
    if labels is None:
        return None
    names = release.bound.policy.quasi_identifiers
    levels = zip(names, release.levels, release.bound.heights, strict=True)
    return dict(zip((name for name, level, height in levels if level < max(height, 1)), labels, strict=True))


def keys_of(bound: BoundPolicy, keys: Sequence[str]) -> tuple[str, ...]:
    """The columns of the source of a policy by which persons are found in others, spelled as there.

    Raises:
        PolicyError: it lacks some.
    """
    spelled = {folded(column.name): column.name for column in bound.columns}
    missing = [f'column "{name}" is not there' for name in keys if folded(name) not in spelled]
    if missing:
        raise PolicyError(f"the persons of other releases cannot be found in {bound.description}:", missing)
    return tuple(spelled[folded(name)] for name in keys)


def withhold_persons(engine: Compute, recoding: Recoding) -> None:
    """Take those persons out of the joint classes whom the classes that are kept withhold, after these are made."""
    earlier = recoding.encoding.spec.earlier
    if earlier is None or not earlier.is_by_person:
        return
    engine.run(queries.withheld_persons(recoding))
    engine.execute(queries.without_withheld(), "joint classes without persons who are withheld")
    engine.drop(queries.WITHHELD_PERSONS)


def classes_with(
    engine: Compute, releases: Sequence[EarlierRelease], bound: BoundPolicy, levels: Levels, written: exp.Expr
) -> JointClasses:
    """The joint classes of a release that was written and the earlier ones, after :func:`cells_beside`.

    They are counted from its rows and those of its source, and not from cells.

    Raises:
        PolicyError: it has other rows than it is to have beside these.
    """
    present = replace(
        releases[0],
        name="the release",
        bound=bound,
        levels=levels,
        released=written,
        keys=keys_of(bound, releases[0].keys),
        beside=tuple(range(len(releases))),
    )
    together = [*releases, present]
    join_releases(engine, together, after=len(releases))
    joint = joint_classes(engine, together)
    engine.drop(queries.JOINT)
    engine.drop(queries.persons_of(len(together)))
    return joint


def join_releases(
    engine: Compute, releases: Sequence[EarlierRelease], after: int = 0, *, with_labels: bool = False
) -> None:
    """Make the table of the persons by their classes, where there is one for the releases before ``after``.

    ``with_labels`` keeps the labels of classes, too.

    Raises:
        PolicyError: as :func:`cells_beside`.
    """
    for place, release in enumerate(releases[after:], after):
        _join(engine, release, place, with_labels=with_labels)
        if place > after:
            engine.drop(queries.persons_of(place))


def joint_classes(engine: Compute, releases: Sequence[EarlierRelease]) -> JointClasses:
    """The joint classes of releases whose persons are known by their classes; there is a table of them afterwards."""
    engine.run(queries.joint_classes(len(releases)))
    found = engine.fetch(queries.joint_sizes(), "joint classes", "node")[0]
    return JointClasses(releases=tuple(release.name for release in releases), **found)


def _join(engine: Compute, release: EarlierRelease, place: int, *, with_labels: bool) -> None:
    """Make the table of the persons by their classes in one release more, from that of those before it."""
    bound = release.bound
    spec = replace(bound.cells, protected=(), protected_shapes={}, compared=(), earlier=None)
    engine.drop(UNKNOWN)
    find_unknown_rows(engine, spec)
    encoding = replace(encoding_for(spec, bound.policy.criteria, label_losses=()), labels=LABELS, has_label_texts=True)
    recoding = AtNode(encode_taxonomies(engine, encoding), release.levels)
    k = bound.policy.criteria.k
    following = queries.NextRelease(
        recoding, release.released, release.keys, release.is_by_person, release.as_text, place, release.beside, k
    )
    for step in following.steps:
        engine.run(step)
    _refuse_misfits(engine, release, following)
    for step in [*following.numbering, *([following.class_labels] if with_labels else [])]:
        engine.run(step)
    made = (queries.MET, queries.GROUPS, queries.RELEASED, queries.JUDGED, queries.WITHHELD_PERSONS)
    for relation in (*made, LABELS, UNKNOWN):
        engine.drop(relation)


def _refuse_misfits(engine: Compute, release: EarlierRelease, following: queries.NextRelease) -> None:
    description = release.bound.description
    if release.is_by_person:
        _refuse_keys(description, release.keys[0], engine.fetch(following.key_problems, "keys of persons")[0])
    differing = engine.fetch(following.mismatches, "a release beside its source")[0]["classes"]
    if differing:
        raise PolicyError(
            f"{release.name} is not what its policy makes of {description}: {differing:,} classes have another "
            "number of rows; give the source as it was then, such as a copy, a version or a query"
        )


def _refuse_keys(description: str, name: str, found: Mapping[str, int]) -> None:
    problems = []
    if found["without_key"]:
        problems.append(f"{found['without_key']:,} rows have none")
    if found["repeated_keys"]:
        problems.append(f"{found['repeated_keys']:,} values are in several rows")
    if problems:
        raise PolicyError(f'"{name}" does not identify the persons of {description}:', problems)
