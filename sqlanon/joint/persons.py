"""Earlier releases of the same persons: in which class of each of them a person is.

A release is made again as far as that takes: its source says in which class each person is, and the release itself
which classes it shows. Where it was held together with still earlier ones, their joint classes say what it has left out
of these classes. The persons of all sources are found in one statement. Rows stay in the database; persons become
numbers of joint classes.

Source: spec/earlier.md; composition attacks (Ganta, Kasiviswanathan and Smith 2008), differences (Byun et al. 2006).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.duckdb import Compute
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError, UnsatisfiableError
from sqlanon.joint.person_values import PersonValues, cells_with, judge_persons, with_numbers
from sqlanon.model.labels import CutRecord, LabelsRecord, NodeRecord
from sqlanon.model.record import EarlierRecord
from sqlanon.model.release.joint import JointClasses
from sqlanon.nodes.table import encode_taxonomies, find_unknown_rows
from sqlanon.queries import joint_persons as queries
from sqlanon.queries.encoding import CellSpec, EarlierClasses, Encoding, ShownValues, encoding_for
from sqlanon.queries.joint_classes import JUDGED
from sqlanon.queries.kit.nodes import Relation
from sqlanon.queries.recodings import AtNode
from sqlanon.queries.released_classes import ClassesOfRows, ListedClasses, NodeClasses, ReleasedClasses, class_of
from sqlanon.queries.source_rows import UNKNOWN, reference


@dataclass(frozen=True)
class EarlierRelease:
    """A release at a node, at a cut, or by local recoding."""

    name: str
    bound: BoundPolicy  # its policy, bound to the rows that it was made from
    labels: LabelsRecord  # the node, or the cut; or the classes, which are made again
    released: exp.Expr  # its rows
    keys: tuple[str, ...]  # the columns of its source that identify a person, in the order of those of other releases
    is_by_person: bool  # whether they identify one row; else they are all that releases see of it
    as_text: bool  # whether they are compared as text
    beside: tuple[int, ...]  # the positions of the earlier releases that it was held together with
    read: tuple[ResolvedSource, ...]  # it and its source, which no run may replace
    record: EarlierRecord  # what is recorded of it in a release that is held together with it
    make_again: MakeAgain | None = None  # makes the classes of its rows again, if labels do not say which these are


MakeAgain: TypeAlias = Callable[[Compute, EarlierRelease, CellSpec, ListedClasses], exp.Select]
"""Makes the classes of a release again, from its cells: the rows of its source with what identifies a person, and the
number of their class."""


def release_classes(engine: Compute, releases: Sequence[EarlierRelease]) -> list[ClassesOfRows]:
    """The classes of releases, and a table of those of each; releases of the same taxonomies have labels in common."""
    encodings: list[Encoding] = []
    found: list[ClassesOfRows] = []
    for place, release in enumerate(releases):
        bound, labels = release.bound, release.labels
        if isinstance(labels, CutRecord):
            from sqlanon.joint.cut_classes import cut_classes

            found.append(cut_classes(engine, bound, labels, release.released, place))
        elif not isinstance(labels, NodeRecord):
            names = bound.policy.quasi_identifiers
            found.append(ListedClasses.of_release(names, bound.source, release.released, place))
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
        if isinstance(found, ListedClasses):
            persons = _with_classes_made_again(engine, releases, found, persons, values)
            engine.run(queries.found_groups(persons, shown))
        elif release.beside and policy.criteria.looks_at_values:
            beside = values.shown(policy, {each: releases[each].bound.policy for each in release.beside})
            own = {name: values.column(place, name) for name in policy.criteria.bounded_columns}
            judge_persons(engine, release.bound, persons, shown, {**values.of_persons(beside), **own}, beside)
        else:
            engine.run(queries.shown_groups(persons, shown, k, is_by_person=first.is_by_person))
        if differs := misfit(engine, release.name, release.bound, found):
            raise PolicyError(differs)
        if release.beside and not found.is_exact:
            before, persons = persons, queries.persons_of(found.place)
            for step in queries.shown_persons(persons, before, shown, k):
                engine.run(step)
            engine.drop(before)
            engine.drop(queries.WITHHELD_PERSONS)
        engine.drop(JUDGED)
    return persons


def numbered_cells(
    engine: Compute,
    cells: CellSpec,
    earlier: EarlierClasses,
    persons: Relation,
    classes: Sequence[str],
    shown: Sequence[ShownValues],
) -> CellSpec:
    """Cells by the numbers of the joint classes of earlier releases (``JOINT``); persons get these, too (``PERSONS``).

    ``shown`` is what the releases show of protected columns, by the place of their ``classes``.
    """
    spec = cells_with(cells, earlier, with_numbers(engine, shown, classes))
    engine.run(queries.numbered_persons(persons, classes, earlier.keys, spec.coded))
    return spec


def _with_classes_made_again(
    engine: Compute,
    releases: Sequence[EarlierRelease],
    classes: ListedClasses,
    persons: Relation,
    values: PersonValues,
) -> Relation:
    """The table of the persons with their classes in one of some releases, which are made again.

    Raises:
        PolicyError: its source is another one.
    """
    release, keys = releases[classes.place], releases[0].keys
    rows, found = queries.rows_of(classes.place), queries.persons_made_again(classes.place)
    engine.run(queries.no_rows(classes, keys, persons))
    with engine.scratch():
        spec = release.bound.cells
        if release.beside:
            before = [*map(class_of, release.beside)]
            joint = joint_classes(engine, persons, before, ())
            others = {place: releases[place].bound.policy for place in release.beside}
            shown = values.shown(release.bound.policy, others)
            count = max(joint.class_count, 1)
            earlier = EarlierClasses(release.keys, count, release.is_by_person, release.as_text)
            spec = numbered_cells(engine, spec, earlier, persons, before, shown)
        assert release.make_again is not None
        try:
            made = release.make_again(engine, release, spec, classes)
        except UnsatisfiableError as error:
            no_match = f"{release.name} does not match {release.bound.description}"
            raise PolicyError(f"{no_match}: no classes meet its policy there") from error
        engine.execute(exp.Insert(this=rows.table, expression=made), "rows by their classes")
    engine.run(queries.persons_by_rows(found, persons, rows, keys, classes))
    for relation in (persons, rows):
        engine.drop(relation)
    return found


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
        labelled = [name for name in values.texts(place) if name in read]
        engine.run(queries.source_rows(found, release.keys, read, labelled, as_text=first.as_text))
        for name in read:
            engine.run(reference(queries.persons_in_rows(place), name, with_texts=name in labelled))
        carried += read
    engine.run(queries.persons_by_classes(classes, first.keys, carried))
    for found in classes:
        engine.drop(queries.rows_of(found.place))
    if first.is_by_person and any(engine.fetch(queries.key_problems(persons), "keys of persons")[0].values()):
        for release in releases:
            refuse_keys(engine, release.bound, release.keys[0], as_text=first.as_text)
    return persons


def joint_classes(
    engine: Compute,
    persons: Relation | exp.Query,
    classes: Sequence[str],
    releases: Sequence[str],
    required_k: int | None = None,
) -> JointClasses:
    """The joint classes of releases, by their names; there is a table of them afterwards.

    A column with classes of persons is that of one release, or of several. ``required_k`` is how many persons a joint
    class is to have, if those in smaller ones are wanted.
    """
    engine.run(queries.joint_classes(persons, classes))
    found = engine.fetch(queries.joint_sizes(), "joint classes", "node")[0]
    if required_k is not None:
        found |= engine.fetch(queries.persons_at_risk(required_k), "persons at risk", "node")[0]
    return JointClasses(releases=tuple(releases), required_k=required_k, **found)


def differing_classes(engine: Compute, classes: ReleasedClasses) -> int:
    """Count the classes of a release that have another number of rows than its source makes (``JUDGED``)."""
    return int(engine.fetch(queries.mismatches(classes), "a release beside its source")[0]["classes"])


def misfit(engine: Compute, name: str, bound: BoundPolicy, classes: ReleasedClasses) -> str | None:
    """Say how a release differs from the one that its policy makes of a source; None if it does not."""
    differing = differing_classes(engine, classes)
    if not differing:
        return None
    then = "Pass the source as it was at release time: a copy, a table version or a query"
    return f"{name} does not match {bound.description}: {differing:,} classes differ in size. {then}"


def refuse_keys(engine: Compute, bound: BoundPolicy, name: str, *, as_text: bool) -> None:
    """Refuse a column of a source that does not identify persons.

    Raises:
        PolicyError: some values are in several rows, or NULL.
    """
    found = engine.fetch(queries.source_keys(bound.source, name, as_text=as_text), "keys of persons")[0]
    problems = []
    if found["without_key"]:
        problems.append(f"{found['without_key']:,} rows have none")
    if found["repeated_keys"]:
        problems.append(f"{found['repeated_keys']:,} values are in several rows")
    if problems:
        raise PolicyError(f'"{name}" does not identify the persons of {bound.description}:', problems)
