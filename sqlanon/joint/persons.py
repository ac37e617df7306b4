"""Persons by their classes in earlier releases.

A release is rebuilt as far as necessary: its source has the class of each person, and the release the classes that it
shows. If it was held together with still earlier releases, their joint classes determine the persons that it withholds
from these classes. One statement finds the persons of all sources. Rows stay in the database; persons become numbers of
joint classes.

Source: spec/earlier.md; composition attacks (Ganta, Kasiviswanathan and Smith 2008), differences (Byun et al. 2006).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.binding.unknown_values import refuse_unlabelled
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
from sqlanon.queries.released_classes import (
    CUT_LABELS,
    CUT_PARTS,
    ClassesOfRows,
    CutClasses,
    ListedClasses,
    NodeClasses,
    Predictors,
    ReleasedClasses,
    class_of,
    cut_of,
    cut_step,
    noted_labels,
    noted_parts,
    rows_without_label,
)
from sqlanon.queries.source_rows import UNKNOWN, reference


@dataclass(frozen=True)
class EarlierRelease:
    """A release at a node, at a cut, or by local recoding."""

    name: str
    bound: BoundPolicy  # its policy, bound to its source
    labels: LabelsRecord  # the node or the cut; or the classes, which are rebuilt
    released: exp.Expr  # its rows
    keys: tuple[str, ...]  # columns of its source that identify a person, in one order for all releases
    is_by_person: bool  # whether keys identify one row; else they are all columns that releases see
    as_text: bool  # whether keys are compared as text
    beside: tuple[int, ...]  # the positions of the earlier releases that it was held together with
    read: tuple[ResolvedSource, ...]  # the release and its source, which no run may replace
    record: EarlierRecord  # for the record of a release that is held together with it
    make_again: MakeAgain | None = None  # rebuilds the classes of its rows, if labels don't determine them


MakeAgain: TypeAlias = Callable[[Compute, EarlierRelease, CellSpec, ListedClasses], exp.Select]
"""Rebuilds the classes of a release from its cells: the keys of persons in its source, and the numbers of classes."""


def release_classes(engine: Compute, releases: Sequence[EarlierRelease]) -> list[ClassesOfRows]:
    """Make a table of the classes of each release; releases with equal taxonomies share labels."""
    encodings: list[Encoding] = []
    found: list[ClassesOfRows] = []
    for place, release in enumerate(releases):
        bound, labels = release.bound, release.labels
        if isinstance(labels, CutRecord):
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


def cut_classes(engine: Compute, bound: BoundPolicy, cut: CutRecord, released: exp.Expr, place: int) -> CutClasses:
    """Make the table of the classes of a release at a cut, or refuse values of the source without a label there."""
    engine.put(CUT_LABELS, noted_labels(cut))
    engine.put(CUT_PARTS, noted_parts(cut))
    relation, predictors = cut_of(place), Predictors.of(cut)
    engine.run(cut_step(bound.taxonomy, relation))
    for noted in (CUT_LABELS, CUT_PARTS):
        engine.drop(noted)
    unlabelled = rows_without_label(bound.source, predictors, relation)
    refuse_unlabelled(engine, bound.description, unlabelled, "its release")
    return CutClasses.of(predictors, bound.source, released, place)


def _encoded(engine: Compute, bound: BoundPolicy, others: list[Encoding]) -> Encoding:
    """Encode the labels of a release, or reuse the labels of another one with equal taxonomies."""
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
    """Return all that labels depend on, except values that taxonomies lack."""
    return spec.quasi_identifiers, spec.shapes, spec.taxonomy, spec.leaves


def find_persons(
    engine: Compute, releases: Sequence[EarlierRelease], classes: Sequence[ClassesOfRows], values: PersonValues
) -> Relation:
    """Make the table of persons by their classes, with their values, or refuse a source that doesn't match."""
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
    """Return cells by numbers of joint classes of earlier releases (``JOINT``), and number persons (``PERSONS``).

    ``shown`` has the protected columns that the releases show, by the place of their ``classes``.
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
    """Make the table of persons with their rebuilt classes in one of the releases."""
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
    """Make the table of all persons of the sources, by the classes of their rows."""
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
    """Make the table of joint classes, and count them.

    A column with classes of persons belongs to one release, or to several. With ``required_k``, persons in smaller
    joint classes are counted, too.
    """
    engine.run(queries.joint_classes(persons, classes))
    found = engine.fetch(queries.joint_sizes(), "joint classes", "node")[0]
    if required_k is not None:
        found |= engine.fetch(queries.persons_at_risk(required_k), "persons at risk", "node")[0]
    return JointClasses(releases=tuple(releases), required_k=required_k, **found)


def differing_classes(engine: Compute, classes: ReleasedClasses) -> int:
    """Count the classes that differ in size between a release and its source (``JUDGED``)."""
    return int(engine.fetch(queries.mismatches(classes), "a release beside its source")[0]["classes"])


def misfit(engine: Compute, name: str, bound: BoundPolicy, classes: ReleasedClasses) -> str | None:
    """Describe how a release differs from the one that its policy makes of its source; None if it doesn't."""
    differing = differing_classes(engine, classes)
    if not differing:
        return None
    then = "Pass the source as it was at release time: a copy, a table version or a query"
    return f"{name} does not match {bound.description}: {differing:,} classes differ in size. {then}"


def refuse_keys(engine: Compute, bound: BoundPolicy, name: str, *, as_text: bool) -> None:
    """Refuse a column that doesn't identify persons: some values are in several rows, or NULL."""
    found = engine.fetch(queries.source_keys(bound.source, name, as_text=as_text), "keys of persons")[0]
    problems = []
    if found["without_key"]:
        problems.append(f"{found['without_key']:,} rows have NULL")
    if found["repeated_keys"]:
        problems.append(f"{found['repeated_keys']:,} values are in several rows")
    if problems:
        raise PolicyError(f'"{name}" does not identify the persons of {bound.description}:', problems)
