"""A release beside earlier ones of the same persons: its cells, and its joint classes with them.

Joint classes with a release that the policy doesn't name, but the list does, are counted from the cells of both.

Sources need persons in common. Keys that are spelled differently in one of them match nobody, and persons that only one
source has make joint classes of their own, as large as the classes of each release.

Source: spec/earlier.md; composition attacks (Ganta, Kasiviswanathan and Smith 2008), differences (Byun et al. 2006).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.duckdb import Compute
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError, UnsatisfiableError
from sqlanon.joint.person_values import (
    PersonValues,
    count_compared,
    failing_classes,
    failing_together,
    judge_persons,
    refuse_unmet,
)
from sqlanon.joint.persons import (
    EarlierRelease,
    differing_classes,
    find_persons,
    joint_classes,
    misfit,
    numbered_cells,
    refuse_keys,
    release_classes,
)
from sqlanon.model.lattice import Levels
from sqlanon.model.names import enumerated, folded
from sqlanon.model.policy.policy import Policy
from sqlanon.model.release.joint import JointClass, JointClasses
from sqlanon.nodes.table import encode_taxonomies, find_unknown_rows, make_cells
from sqlanon.queries import joint_persons as queries
from sqlanon.queries.encoded_rows import cell_counts
from sqlanon.queries.encoding import CellSpec, EarlierClasses, Encoding, encoding_for
from sqlanon.queries.kit.nodes import Relation, Step, select
from sqlanon.queries.recodings import AtNode
from sqlanon.queries.released_classes import NodeClasses, ReleasedClasses, class_of
from sqlanon.queries.source_rows import UNKNOWN
from sqlanon.release.publishing import PublishedNode


def cells_beside(engine: Compute, bound: BoundPolicy, releases: Sequence[EarlierRelease]) -> CellSpec:
    """Return the cells of a policy by what earlier releases show, oldest first, and make the table ``PERSONS``.

    Raises:
        PolicyError: a source is not the one that its release was made from, a key has several rows or none, or
            sources have no key in common.
        UnsatisfiableError: the releases alone leave joint classes of fewer than k persons.
    """
    if not releases:
        return bound.cells
    first, k = releases[0], bound.policy.criteria.k
    keys = keys_of(bound, first.keys)
    if first.is_by_person:
        refuse_keys(engine, bound, keys[0], as_text=first.as_text)
    refuse_strangers(engine, _with_keys(releases, bound), as_text=first.as_text)
    values = _values_of_persons(releases, bound.policy)
    persons = find_persons(engine, releases, release_classes(engine, releases), values)
    classes = [*map(class_of, range(len(releases)))]
    joint = joint_classes(engine, persons, classes, [release.name for release in releases])
    if joint.k is not None and joint.k < k:
        raise UnsatisfiableError(
            f"some joint classes of {enumerated(joint.releases)} already have fewer than {k:,} persons (the fewest: "
            f"{joint.k:,}), and no later release can mend that:",
            ["what can help: a smaller k, or fewer releases in earlier, if nobody can have all of them"],
        )
    others = {release.name: release.bound.policy for release in releases}
    if bound.policy.criteria.looks_at_values:
        refuse_unmet(engine, bound, persons, classes, values, others)
    shown = values.shown(bound.policy, dict(enumerate(others.values())))
    earlier = EarlierClasses(keys, max(joint.class_count, 1), first.is_by_person, first.as_text)
    spec = numbered_cells(engine, bound.cells, earlier, persons, classes, shown)
    for relation in (persons, queries.JOINT):
        engine.drop(relation)
    return spec


def _with_keys(releases: Sequence[EarlierRelease], *present: BoundPolicy) -> list[tuple[BoundPolicy, str]]:
    """Return sources with the column that identifies a person; nothing if no column does."""
    first, bounds = releases[0], [*(release.bound for release in releases), *present]
    return [(bound, keys_of(bound, first.keys)[0]) for bound in bounds] if first.is_by_person else []


def _values_of_persons(releases: Sequence[EarlierRelease], last: Policy) -> PersonValues:
    """Return the values that judge the last release, and earlier ones that were held together with others."""
    held = [release.bound.policy for release in releases if release.beside]
    return PersonValues.of([*held, last], is_by_person=releases[0].is_by_person)


LISTED = 10  # joint classes with too few persons that are listed


def compare(engine: Compute, releases: Sequence[EarlierRelease]) -> JointClasses:
    """Return the joint classes of releases, with the ones that are smaller than their policies allow."""
    k = min(each.bound.policy.criteria.k for each in releases)
    sources = _with_keys(releases)
    refuse_strangers(engine, sources, as_text=releases[0].as_text)
    classes = release_classes(engine, releases)
    last = releases[-1].bound
    values, names = _values_of_persons(releases, last.policy), [each.name for each in classes]
    persons = find_persons(engine, releases, classes, values)
    joint = joint_classes(engine, persons, names, [release.name for release in releases], required_k=k)
    policies = [release.bound.policy for release in releases]
    failing = failing_together(engine, last, persons, names, values, policies)
    smallest = []
    for row in engine.fetch(queries.smallest_classes(classes, k, LISTED), "joint classes at risk", "class"):
        shown = [(each.labels, row[f"labels_{place}"]) for place, each in enumerate(classes)]
        labels = (None if of is None else dict(zip(names, of, strict=True)) for names, of in shown)
        smallest.append(JointClass(labels=tuple(labels), persons=row["persons"]))
    few = few_in_common(engine, sources)
    return joint.model_copy(update={"smallest": tuple(smallest), "failing_classes": failing, "few_in_common": few})


def keys_of(bound: BoundPolicy, keys: Sequence[str]) -> tuple[str, ...]:
    """Return the key columns of a source in its spelling, or refuse a source that lacks some."""
    spelled = {folded(column.name): column.name for column in bound.columns}
    missing = [f'column "{name}" is not there' for name in keys if folded(name) not in spelled]
    if missing:
        raise PolicyError(f"the persons of other releases cannot be found in {bound.description}:", missing)
    return tuple(spelled[folded(name)] for name in keys)


def withhold_persons(engine: Compute, recoding: AtNode) -> None:
    """Remove the persons whom kept classes withhold from their joint classes, once the classes are made."""
    earlier = recoding.encoding.spec.earlier
    if earlier is None or not earlier.is_by_person or recoding.encoding.holds_release:
        return
    engine.run(queries.withheld_persons(recoding))
    engine.execute(queries.without_withheld(), "joint classes without persons who are withheld")
    engine.drop(queries.WITHHELD_PERSONS)


def joint_shortfalls(
    engine: Compute,
    releases: Sequence[EarlierRelease],
    bound: BoundPolicy,
    spec: CellSpec,
    present: ReleasedClasses,
    persons: Step,
) -> tuple[JointClasses | None, list[str]]:
    """Count the joint classes of a written release and the earlier ones, after :func:`cells_beside`.

    They are counted from the rows of the release and its source, whose labels are looked up again. ``persons`` makes
    the persons of the source by their classes.

    Returns:
        the joint classes, None if the release has wrong rows; and how they fall short of the policy.
    """
    first, k = releases[0], bound.policy.criteria.k
    classes = [queries.ALL_EARLIER, present.name]
    for step in (present.step, persons):
        engine.run(step)
    looks_at_values = bound.policy.criteria.looks_at_values
    if looks_at_values:
        count_compared(engine, persons.makes, spec)
    if present.is_exact:
        engine.run(queries.found_groups(persons.makes, classes))
    elif looks_at_values:
        judge_persons(engine, bound, persons.makes, classes, {name: name for name in spec.protected}, spec.shown_values)
    else:
        engine.run(queries.shown_groups(persons.makes, classes, k, is_by_person=first.is_by_person))
    if found := misfit(engine, "the release", bound, present):
        return None, [found]
    names, problems = [*(release.name for release in releases), "the release"], []
    joint = joint_classes(engine, queries.shown_classes(classes), classes, names)
    joint = joint.model_copy(update={"few_in_common": few_in_common(engine, _with_keys(releases, bound))})
    if joint.k is not None and joint.k < k:
        problems.append(f"joint classes have {joint.k:,} persons, not {k:,}")
    if looks_at_values and (failing := failing_classes(engine, bound, persons.makes, classes, spec)):
        problems.append(f"{failing:,} joint classes do not meet the privacy models")
    return joint, problems


COMMON_SHARE = 0.5  # two sources have few persons in common below this share of the smaller one


# guarded: tests/unit/test_guarded_releases.py
def refuse_strangers(engine: Compute, sources: Sequence[tuple[BoundPolicy, str]], *, as_text: bool) -> None:
    """Refuse sources that no chain of common persons connects, and make the table for :func:`few_in_common`."""
    if not sources:
        return
    read = [(bound.source, key) for bound, key in sources]
    engine.run(queries.persons_by_sources(read, as_text=as_text))
    common = _common(engine, len(sources))
    there = [place for place in range(len(sources)) if common[place][place]]
    connected = {*there[:1]}
    for _ in there:
        connected |= {place for place in there if any(common[place][other] for other in connected)}
    if strangers := [sources[place][0].description for place in there if place not in connected]:
        others = enumerated(dict.fromkeys(sources[place][0].description for place in sorted(connected)))
        raise PolicyError(
            f'no key "{sources[0][1]}" of {enumerated(dict.fromkeys(strangers))} is in {others}, so that joint classes '
            "would not count who is in several of them:",
            [
                *_types(sources),
                "spell keys alike in all sources; releases of other persons need not be held together",
            ],
        )


# guarded: tests/unit/test_guarded_releases.py
def few_in_common(engine: Compute, sources: Sequence[tuple[BoundPolicy, str]]) -> tuple[str, ...]:
    """Return a sentence on each source with few persons in common with any other, after :func:`refuse_strangers`."""
    if not sources:
        return ()
    common, written = _common(engine, len(sources)), "; ".join(_types(sources))
    there = [place for place in range(len(sources)) if common[place][place]]

    def share(one: int, other: int) -> float:
        return common[one][other] / min(common[one][one], common[other][other])

    return tuple(
        f"fewer than half of the persons of {sources[one][0].description} are found in another source by their keys: "
        f"keys that are spelled differently match nobody, and joint classes seem larger than they are ({written})"
        for one in there
        if max((share(one, other) for other in there if other != one), default=COMMON_SHARE) < COMMON_SHARE
    )


def _common(engine: Compute, count: int) -> list[list[int]]:
    """Count the persons that each pair of sources has in common."""
    found = engine.fetch(queries.common_persons(), "persons in common", "node")
    groups = [(row["anon_are_in"], row["anon_persons"]) for row in found]
    return [
        [sum(persons for are_in, persons in groups if are_in[one] and are_in[other]) for other in range(count)]
        for one in range(count)
    ]


def _types(sources: Sequence[tuple[BoundPolicy, str]]) -> Iterator[str]:
    """Describe the types of keys."""
    for bound, key in sources:
        [kind] = [column.type for column in bound.columns if column.name == key]
        yield f'"{key}" is {kind} in {bound.description}'


# Labels and cells of the columns of both releases, beside those of the run.
LABELS, CELLS = Relation("anon_labels_of_both", "node"), Relation("anon_cells_of_both", "cell")

OTHER_SOURCE = "its source was another one"


@dataclass(frozen=True)
class ReleaseAtNode:
    """Another release, at a node of the run's lattice or of one with more columns."""

    name: str
    levels: Levels
    labels: Relation  # combinations of labels (:func:`sqlanon.queries.released_classes.released_labels`)
    k: int  # of its policy
    source_rows: int | None


class WrittenRelease:
    """The release of a run at a node; ``both`` binds columns that only others have, too, and comes after its own."""

    def __init__(self, engine: Compute, node: PublishedNode, written: ResolvedSource, both: BoundPolicy | None) -> None:
        self._engine, self._node, self._written, self._both = engine, node, written, both

    def joint_classes_with(self, other: ReleaseAtNode) -> JointClasses | str:
        """Return the joint classes with another release, or why the rows of their sources differ.

        Each release shows either all rows of a class of the meet of their nodes or none, since it suppresses whole
        classes.
        """
        engine = self._engine
        own = self._of_both if len(other.levels) > len(self._node.summary.levels) else self._classes
        if isinstance(own, str):
            return own
        recoding = AtNode(own.recoding.encoding, other.levels)
        theirs = NodeClasses(select([exp.Star()], other.labels.table), 0, recoding)
        names, k = [theirs.name, own.name], self._node.table.bound.policy.criteria.k
        with engine.scratch():
            for step in (theirs.step, persons := queries.persons_of_cells([theirs, own])):
                engine.run(step)
            engine.run(queries.shown_groups(persons.makes, [theirs.name], 1, is_by_person=False))
            if differing := differing_classes(engine, theirs):
                return f"{OTHER_SOURCE}: {differing:,} of its classes have another number of rows now"
            called = (other.name, self._written.description)
            return joint_classes(engine, persons.makes, names, called, required_k=min(other.k, k))

    @cached_property
    def _classes(self) -> NodeClasses:
        return self._made(self._node.table.encoding, self._node.summary.levels, 1)

    @cached_property
    def _of_both(self) -> NodeClasses | str:
        """The classes with cells by the columns of both, or why their sources differ."""
        engine, both, own = self._engine, self._both, self._classes.recoding.levels
        assert both is not None
        engine.drop(UNKNOWN)
        find_unknown_rows(engine, both.cells)
        encoding = encoding_for(both.cells, both.policy.criteria, label_losses=())
        encoding = encode_taxonomies(engine, replace(encoding, labels=LABELS, cells=CELLS))
        make_cells(engine, encoding)
        unmapped = engine.fetch(cell_counts(encoding), "cells")[0]["unmapped"]
        if unmapped:
            return f"{OTHER_SOURCE}: {unmapped:,} rows have values now that its taxonomies lack"
        return self._made(encoding, (*own, *both.heights[len(own) :]), 2)

    def _made(self, encoding: Encoding, levels: Levels, number: int) -> NodeClasses:
        classes = NodeClasses.of(AtNode(encoding, levels), self._written.relation, number)
        self._engine.run(classes.step)
        return classes
