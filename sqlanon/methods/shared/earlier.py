"""Earlier releases of the same persons: what they show of each, and the joint classes that this makes.

A release is made again as far as that takes: its source says in which class each person is, and the release itself
which classes it shows. Where it was held together with still earlier ones, their joint classes say what it has left out
of these classes. The persons of all sources are found in one statement. Rows stay in the database; persons become
numbers of joint classes.

Source: spec/earlier.md; composition attacks (Ganta, Kasiviswanathan and Smith 2008), differences (Byun et al. 2006).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.base import Compute
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError, UnsatisfiableError
from sqlanon.methods.shared.cells import encode_taxonomies
from sqlanon.methods.shared.joint_values import (
    PersonValues,
    failing_classes,
    failing_together,
    judge_persons,
    refuse_unmet,
    with_numbers,
)
from sqlanon.methods.shared.unknown import find_unknown_rows
from sqlanon.model.labels import CutRecord, NodeRecord
from sqlanon.model.names import folded
from sqlanon.model.policy.policy import Policy
from sqlanon.model.record import EarlierRecord
from sqlanon.model.release.joint import JointClass, JointClasses
from sqlanon.queries.cells.encoding import CellSpec, EarlierClasses, Encoding, encoding_for
from sqlanon.queries.cells.unknown import UNKNOWN
from sqlanon.queries.classes.recoding import AtNode
from sqlanon.queries.kit.nodes import Relation, Step
from sqlanon.queries.release import earlier as queries
from sqlanon.queries.release.released_classes import ClassesOfRows, NodeClasses, ReleasedClasses, class_of


@dataclass(frozen=True)
class EarlierRelease:
    """A release at a node or at a cut.

    Attributes:
        name: what it is called.
        bound: its policy, bound to the rows that it was made from.
        labels: the node, or the cut.
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
    labels: NodeRecord | CutRecord
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
        _refuse_keys(engine, bound, keys[0], as_text=first.as_text)
    values = _values_of_persons(releases, bound.policy)
    persons = find_persons(engine, releases, release_classes(engine, releases), values)
    classes = [*map(class_of, range(len(releases)))]
    joint = joint_classes(engine, persons, classes, [release.name for release in releases])
    if joint.k is not None and joint.k < k:
        raise UnsatisfiableError(
            f"{' and '.join(joint.releases)} leave joint classes of fewer than {k:,} persons already (the fewest: "
            f"{joint.k:,}), and no later release can mend that:",
            ["what can help: a smaller k, or fewer releases in earlier, if nobody can have all of them"],
        )
    others = {release.name: release.bound.policy for release in releases}
    if bound.policy.criteria.looks_at_values:
        refuse_unmet(engine, bound, persons, classes, values, others)
    shown = values.shown(bound.policy, dict(enumerate(others.values())))
    shown = with_numbers(engine, shown, classes)
    earlier = EarlierClasses(keys, max(joint.class_count, 1), first.is_by_person, first.as_text)
    spec = replace(bound.cells, earlier=earlier, shown_values=shown)
    spec = replace(spec, protected=(*spec.protected, *spec.coded))
    engine.run(queries.numbered_persons(persons, classes, keys, spec.coded))
    for relation in (persons, queries.JOINT):
        engine.drop(relation)
    return spec


def _values_of_persons(releases: Sequence[EarlierRelease], last: Policy) -> PersonValues:
    """The values that the last release is judged by, and those before it that were held together with others."""
    held = [release.bound.policy for release in releases if release.beside]
    return PersonValues.of([*held, last], releases[0].keys, is_by_person=releases[0].is_by_person)


LISTED = 10
"""How many joint classes are listed that have too few persons."""


def compare(engine: Compute, releases: Sequence[EarlierRelease]) -> JointClasses:
    """What releases show together, and which persons stand in joint classes that are smaller than their policies allow.

    Raises:
        PolicyError: as :func:`cells_beside`.
    """
    k = min(each.bound.policy.criteria.k for each in releases)
    classes = release_classes(engine, releases)
    last = releases[-1].bound
    values, names = _values_of_persons(releases, last.policy), [each.name for each in classes]
    persons = find_persons(engine, releases, classes, values)
    joint = joint_classes(engine, persons, names, [release.name for release in releases], required_k=k)
    policies = [release.bound.policy for release in releases]
    failing = failing_together(engine, last, persons, names, values, policies)
    rows = engine.fetch(queries.smallest_classes(classes, k, LISTED), "joint classes at risk", "class")
    smallest = tuple(
        JointClass(
            labels=tuple(_labels(each, row[f"labels_{place}"]) for place, each in enumerate(classes)),
            persons=row["persons"],
        )
        for row in rows
    )
    return joint.model_copy(update={"smallest": smallest, "failing_classes": failing})


def _labels(classes: ReleasedClasses, labels: Sequence[str | None] | None) -> dict[str, str | None] | None:
    return None if labels is None else dict(zip(classes.labels, labels, strict=True))


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


def withhold_persons(engine: Compute, recoding: AtNode) -> None:
    """Take those persons out of the joint classes whom the classes that are kept withhold, after these are made."""
    earlier = recoding.encoding.spec.earlier
    if earlier is None or not earlier.is_by_person or recoding.encoding.holds_release:
        return
    engine.run(queries.withheld_persons(recoding))
    engine.execute(queries.without_withheld(), "joint classes without persons who are withheld")
    engine.drop(queries.WITHHELD_PERSONS)


# More than six parameters: the releases, the present one, and what was counted for it.
def joint_shortfalls(
    engine: Compute,
    releases: Sequence[EarlierRelease],
    bound: BoundPolicy,
    spec: CellSpec,
    present: ReleasedClasses,
    persons: Step,
) -> tuple[JointClasses | None, list[str]]:
    """The joint classes of a release that was written and the earlier ones, after :func:`cells_beside`.

    They are counted from its rows and those of its source; labels of these are looked up apart from what was made.

    Args:
        engine: the database.
        releases: the earlier ones.
        bound: the policy of the release.
        spec: its cells.
        present: its classes.
        persons: makes the persons of its source by their classes.

    Returns:
        the joint classes, None where it has other rows than it is to have; and how they fall short of the policy.
    """
    first, k = releases[0], bound.policy.criteria.k
    classes = [queries.ALL_EARLIER, present.name]
    for step in (present.step, persons):
        engine.run(step)
    looks_at_values = bound.policy.criteria.looks_at_values
    if looks_at_values:
        values = {name: name for name in spec.protected}
        judge_persons(engine, bound, persons.makes, classes, values, spec.shown_values)
    elif present.is_exact:
        engine.run(queries.found_groups(persons.makes, classes))
    else:
        engine.run(queries.shown_groups(persons.makes, classes, k, is_by_person=first.is_by_person))
    if misfit := _misfit(engine, "the release", bound, present):
        return None, [misfit]
    names, problems = [*(release.name for release in releases), "the release"], []
    joint = joint_classes(engine, queries.shown_classes(classes), classes, names)
    if joint.k is not None and joint.k < k:
        problems.append(f"joint classes have {joint.k:,} persons, not {k:,}")
    if looks_at_values and (failing := failing_classes(engine, bound, persons.makes, classes, spec)):
        problems.append(f"{failing:,} joint classes do not meet the privacy models")
    return joint, problems


def release_classes(engine: Compute, releases: Sequence[EarlierRelease]) -> list[ClassesOfRows]:
    """The classes of releases, and a table of those of each; releases of the same taxonomies have labels in common."""
    encodings: list[Encoding] = []
    found: list[ClassesOfRows] = []
    for place, release in enumerate(releases):
        bound, labels = release.bound, release.labels
        if isinstance(labels, CutRecord):
            from sqlanon.methods.shared.cut_classes import cut_classes

            found.append(cut_classes(engine, bound, labels, release.released, place))
        else:
            encoding = _encoded(engine, bound, encodings)
            levels = tuple(labels.levels[name] for name in encoding.spec.quasi_identifiers)
            found.append(NodeClasses.of(AtNode(encoding, levels), release.released, place))
        engine.run(found[-1].step)
    return found


def _encoded(engine: Compute, bound: BoundPolicy, others: list[Encoding]) -> Encoding:
    """The labels of a release, which join those of others unless some of these are the same."""
    spec = replace(bound.cells, protected=(), protected_shapes={}, compared=(), earlier=None)
    for other in others:
        if _labelled_by(other.spec) == _labelled_by(spec) and not spec.roots:
            return replace(other, spec=spec)
    if spec.roots:
        find_unknown_rows(engine, spec)
    labels = Relation(f"anon_labels_of_releases_{len(others)}", "node")
    encoding = replace(encoding_for(spec, bound.policy.criteria, label_losses=()), labels=labels)
    encoding = encode_taxonomies(engine, encoding)
    others.append(encoding)
    engine.drop(UNKNOWN)
    return encoding


def _labelled_by(spec: CellSpec) -> tuple[object, ...]:
    """All that the labels of a source depend on but the values that taxonomies do not have."""
    return spec.quasi_identifiers, spec.shapes, spec.taxonomy, spec.leaves


def find_persons(
    engine: Compute, releases: Sequence[EarlierRelease], classes: Sequence[ClassesOfRows], values: PersonValues
) -> Relation:
    """The table of the persons by their classes, with their values, which is made.

    Raises:
        PolicyError: as :func:`cells_beside`.
    """
    first, persons = releases[0], _persons_of_sources(engine, releases, classes, values)
    for place, (release, found) in enumerate(zip(releases, classes, strict=True)):
        policy, shown = release.bound.policy, [*map(class_of, release.beside), found.name]
        k = policy.criteria.k
        if release.beside and policy.criteria.looks_at_values:
            beside = values.shown(policy, {each: releases[each].bound.policy for each in release.beside})
            own = {name: values.column(place, name) for name in policy.criteria.bounded_columns}
            judge_persons(engine, release.bound, persons, shown, {**values.of_persons(beside), **own}, beside)
        else:
            engine.run(queries.shown_groups(persons, shown, k, is_by_person=first.is_by_person))
        if misfit := _misfit(engine, release.name, release.bound, found):
            raise PolicyError(misfit)
        if release.beside:
            before, persons = persons, queries.persons_of(found.place)
            for step in queries.shown_persons(persons, before, shown, k):
                engine.run(step)
            engine.drop(before)
            engine.drop(queries.WITHHELD_PERSONS)
        engine.drop(queries.JUDGED)
    return persons


def _persons_of_sources(
    engine: Compute, releases: Sequence[EarlierRelease], classes: Sequence[ClassesOfRows], values: PersonValues
) -> Relation:
    """The table of all persons of the sources, by the classes that their rows are in.

    Raises:
        PolicyError: a key has several rows, or none.
    """
    first, persons, carried = releases[0], queries.persons_of(0), list[str]()
    for place, (release, found) in enumerate(zip(releases, classes, strict=True)):
        read = values.carried(place, release.bound)
        engine.run(queries.source_rows(found, release.keys, read, as_text=first.as_text))
        carried += read
    engine.run(queries.persons_by_classes(classes, first.keys, carried))
    for found in classes:
        engine.drop(queries.rows_of(found.place))
    if first.is_by_person and any(engine.fetch(queries.key_problems(persons), "keys of persons")[0].values()):
        for release in releases:
            _refuse_keys(engine, release.bound, release.keys[0], as_text=first.as_text)
    return persons


def joint_classes(
    engine: Compute,
    persons: Relation | exp.Query,
    classes: Sequence[str],
    releases: Sequence[str],
    required_k: int | None = None,
) -> JointClasses:
    """The joint classes of releases; there is a table of them afterwards.

    Args:
        engine: the database.
        persons: the persons by their classes.
        classes: the columns with these, one for each release, or one for several.
        releases: what the releases are called.
        required_k: how many persons a joint class is to have, if those in smaller ones are wanted.
    """
    engine.run(queries.joint_classes(persons, classes))
    found = engine.fetch(queries.joint_sizes(), "joint classes", "node")[0]
    if required_k is not None:
        found |= engine.fetch(queries.persons_at_risk(required_k), "persons at risk", "node")[0]
    return JointClasses(releases=tuple(releases), required_k=required_k, **found)


def differing_classes(engine: Compute, classes: ReleasedClasses) -> int:
    """How many classes of a release have another number of rows than its source makes (``JUDGED``)."""
    return int(engine.fetch(queries.mismatches(classes), "a release beside its source")[0]["classes"])


def _misfit(engine: Compute, name: str, bound: BoundPolicy, classes: ReleasedClasses) -> str | None:
    """How a release differs from what its policy makes of a source."""
    differing = differing_classes(engine, classes)
    if not differing:
        return None
    return (
        f"{name} is not what its policy makes of {bound.description}: {differing:,} classes have another number of "
        "rows; give the source as it was then, such as a copy, a version or a query"
    )


def _refuse_keys(engine: Compute, bound: BoundPolicy, name: str, *, as_text: bool) -> None:
    found = engine.fetch(queries.source_keys(bound.source, name, as_text=as_text), "keys of persons")[0]
    problems = []
    if found["without_key"]:
        problems.append(f"{found['without_key']:,} rows have none")
    if found["repeated_keys"]:
        problems.append(f"{found['repeated_keys']:,} values are in several rows")
    if problems:
        raise PolicyError(f'"{name}" does not identify the persons of {bound.description}:', problems)
