"""Values in joint classes: the ones that a release shows, and whether they meet its privacy models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.duckdb import Compute
from sqlanon.errors import TaxonomyError, UnsatisfiableError
from sqlanon.model.names import counted, enumerated, folded
from sqlanon.model.policy.checks import holds_together
from sqlanon.model.policy.policy import Policy
from sqlanon.queries.encoded_rows import shares, unlabelled_values
from sqlanon.queries.encoding import CellSpec, EarlierClasses, Encoding, ShownValues
from sqlanon.queries.grouping import Grouping
from sqlanon.queries.joint_classes import grouped_persons, judged_by_values, shown_persons_by_values, unmet
from sqlanon.queries.joint_persons import joint_class_ranges
from sqlanon.queries.kit.nodes import Relation
from sqlanon.queries.source_rows import reference, reference_of, value_column


@dataclass(frozen=True)
class PersonValues:
    """The columns with sensitive values in tables of persons.

    A person's values may change, so each release has its own columns for them; rows of one unchanged table need one.
    """

    names: tuple[str, ...]  # sensitive columns that policies look at, folded
    labelled: frozenset[str]  # the ones whose labels policies compare, too
    is_by_person: bool  # whether a key identifies persons, whose values may change

    @classmethod
    def of(cls, policies: Sequence[Policy], *, is_by_person: bool) -> PersonValues:
        names = dict.fromkeys(folded(name) for policy in policies for name in policy.criteria.bounded_columns)
        labelled = frozenset(folded(name) for policy in policies for name in policy.sensitive_taxonomies)
        return cls(tuple(names), labelled, is_by_person)

    def column(self, place: int, name: str) -> str:
        """Name the column with the values of a sensitive column in the release at ``place``."""
        return value_column(place if self.is_by_person else 0, self.names.index(folded(name)))

    def carried(self, place: int, bound: BoundPolicy) -> dict[str, str]:
        """Map the columns of persons for the release at ``place`` to the columns of its source."""
        if not self.is_by_person:
            read = {*self.names} if place == 0 else set()
        else:
            read = {*map(folded, (*bound.policy.released_columns, *bound.policy.criteria.bounded_columns))}
        spelled = {folded(column.name): column.name for column in bound.columns if folded(column.name) in read}
        return {self.column(place, name): spelled[name] for name in self.names if name in spelled}

    def texts(self, place: int) -> list[str]:
        """List the columns of the release at ``place`` whose labels are looked up."""
        return [self.column(place, name) for name in self.names if name in self.labelled]

    def shown(self, policy: Policy, others: Mapping[int, Policy]) -> tuple[ShownValues, ...]:
        """List the values that releases show in columns that a policy looks at; classes have columns in this order."""
        return tuple(
            ShownValues(self.column(place, name) if self.is_by_person else name, name, index)
            for index, (place, other) in enumerate(others.items())
            for name in policy.criteria.bounded_columns
            if folded(name) in map(folded, other.released_columns)
        )

    def of_persons(self, shown: Sequence[ShownValues]) -> dict[str, str]:
        """Map the protected columns with these values to the columns of persons."""
        if self.is_by_person:
            return {each.column: each.column for each in shown}
        return {each.bounded: self.column(0, each.bounded) for each in shown}


def with_numbers(engine: Compute, shown: Sequence[ShownValues], classes: Sequence[str]) -> tuple[ShownValues, ...]:
    """Replace the classes of releases by numbers of joint classes (``JOINT`` has both)."""
    rows = engine.fetch(joint_class_ranges(classes), "joint classes by releases", "node") if shown else []
    found = (
        replace(each, place=0, numbers=_ranges([row["shown_by"][each.place] for row in rows], rows)) for each in shown
    )
    return tuple(each for each in found if each.numbers)


def cells_with(cells: CellSpec, earlier: EarlierClasses, shown: Sequence[ShownValues]) -> CellSpec:
    """Return the cells of a policy by the persons and values that earlier releases show, by numbers."""
    spec = replace(cells, earlier=earlier, shown_values=tuple(shown))
    of_persons = (each.column for each in shown if each.bounded in spec.compared)
    shapes = {each.column: shape for each in shown if (shape := spec.protected_shapes.get(each.bounded))}
    return replace(
        spec,
        protected=(*spec.protected, *spec.coded),
        protected_shapes={**spec.protected_shapes, **shapes},
        compared=tuple(dict.fromkeys((*spec.compared, *of_persons))),
        references={name: reference_of(name) for name in spec.coded},
    )


def _ranges(are_shown: Sequence[bool], rows: Sequence[Mapping[str, int]]) -> tuple[tuple[int, int | None], ...]:
    """Return the numbers of shown rows as ranges; the range of the last row has no end."""
    found: list[tuple[int, int | None]] = []
    for is_shown, together in groupby(zip(are_shown, rows, strict=True), key=lambda each: each[0]):
        if is_shown:
            numbers = [row for _, row in together]
            last = None if numbers[-1] is rows[-1] else numbers[-1]["last_number"]
            found.append((numbers[0]["first_number"], last))
    return tuple(found)


def refuse_unmet(
    engine: Compute,
    bound: BoundPolicy,
    persons: Relation,
    classes: Sequence[str],
    values: PersonValues,
    others: Mapping[str, Policy],
) -> None:
    """Refuse earlier releases, the ``others``, whose joint classes violate a policy: no later release can mend that."""
    shown = values.shown(bound.policy, dict(enumerate(others.values())))
    with _grouped(engine, bound, classes, values.of_persons(shown), shown, persons.table) as grouping:
        found = _unmet(engine, grouping)
    if found:
        looked_at = {each.bounded for each in shown}
        models = enumerated(model for model in bound.policy.privacy if {*model.columns} & looked_at)
        raise UnsatisfiableError(
            f"some joint classes of {enumerated(others)} already violate {models} (how many: {found:,}), and no "
            "later release can mend that:",
            ["what can help: weaker models, or fewer releases in earlier, if nobody can have all of them"],
        )


def judge_persons(
    engine: Compute,
    bound: BoundPolicy,
    persons: Relation,
    classes: Sequence[str],
    values: Mapping[str, str],
    shown: Sequence[ShownValues],
) -> None:
    """Make ``JUDGED``: the joint classes that a release, the last one of ``classes``, shows beside others.

    ``values`` maps protected columns to columns of persons; ``shown`` has the values that the others show.
    """
    with _grouped(engine, bound, classes, values, shown, persons.table) as grouping:
        engine.run(judged_by_values(grouping))


def count_compared(engine: Compute, persons: Relation, spec: CellSpec) -> None:
    """Count the compared values of a run, by its persons and its cells."""
    for name in spec.compared:
        if name not in spec.coded:
            engine.run(reference(persons, name, with_texts=name in spec.labelled))


def failing_classes(
    engine: Compute, bound: BoundPolicy, persons: Relation, classes: Sequence[str], spec: CellSpec
) -> int:
    """Count the joint classes of a release and others that violate its policy, after :func:`count_compared`."""
    values = {name: name for name in spec.protected}
    own = [ShownValues(name, name, len(classes) - 1) for name in bound.policy.criteria.bounded_columns]
    found = shown_persons_by_values(persons, [*values], classes)
    with _grouped(engine, bound, classes, values, [*spec.shown_values, *own], found) as grouping:
        return _unmet(engine, grouping)


def failing_together(
    engine: Compute,
    bound: BoundPolicy,
    persons: Relation,
    classes: Sequence[str],
    values: PersonValues,
    policies: Sequence[Policy],
) -> int | None:
    """Count the joint classes of releases that violate the policy of the last one.

    Return None if it doesn't look at values, or looks at more than values.
    """
    criteria = bound.policy.criteria
    if not criteria.looks_at_values or not all(map(holds_together, criteria.models)):
        return None
    shown = values.shown(bound.policy, dict(enumerate(policies)))
    with _grouped(engine, bound, classes, values.of_persons(shown), shown, persons.table) as grouping:
        return _unmet(engine, grouping)


# More than six parameters: persons and all that is known about them.
@contextmanager
def _grouped(
    engine: Compute,
    bound: BoundPolicy,
    classes: Sequence[str],
    values: Mapping[str, str],
    shown: Sequence[ShownValues],
    persons: exp.Expr,
) -> Iterator[Grouping]:
    """Group persons by their classes, with tables of reference values for the time of a block."""
    references = {name: reference_of(place) for name, place in values.items()}
    grouping = grouped_persons(bound.cells, bound.policy.criteria, classes, values, shown, references, persons)
    steps = shares(grouping.encoding)
    for step in steps:
        engine.run(step)
    _refuse_unlabelled(engine, grouping.encoding)
    yield grouping
    for step in steps:
        engine.drop(step.makes)


def _refuse_unlabelled(engine: Compute, encoding: Encoding) -> None:
    """Refuse values of sources that a taxonomy lacks."""
    counts: dict[str, int] = {}
    for name in (name for name in encoding.spec.protected_shapes if encoding.sensitive_height(name) > 1):
        [found] = engine.fetch(unlabelled_values(encoding, name), "values without a label", "node")
        attribute = encoding.spec.attribute_of(name)
        counts[attribute] = max(counts.get(attribute, 0), int(found["unlabelled"]))
    if problems := [f'"{name}": {counted(count, "distinct value")}' for name, count in counts.items() if count]:
        raise TaxonomyError(
            "the source of an earlier release has values that the taxonomy lacks, so hierarchical distances from them "
            'are unknown. Add these values to the taxonomy, or use distance "equal":',
            problems,
        )


def _unmet(engine: Compute, grouping: Grouping) -> int:
    """Count the joint classes that violate a bound on their size or on shown values."""
    return int(engine.fetch(unmet(grouping), "values of joint classes")[0]["classes"])
