"""Releases that follow each other: in which class of each of them a person is, one release after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.queries.cells.earlier import NOBODY, PERSONS, SQL, person_key, person_value, with_numbers
from sqlanon.queries.cells.encoding import EARLIER
from sqlanon.queries.cells.labels import dense_rank
from sqlanon.queries.cells.rows import with_leaves
from sqlanon.queries.classes.classes import KEPT
from sqlanon.queries.classes.earlier import WITHHELD
from sqlanon.queries.classes.grouping import CLASS_ROWS
from sqlanon.queries.classes.recoding import AtNode, Recoding
from sqlanon.queries.kit.macros import exact_text
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_bits,
    ascending,
    bits,
    column,
    count_rows,
    grouped,
    left_join,
    number,
    select,
    subquery,
)
from sqlanon.queries.release.rows import KEPT_CLASSES

MET = Relation("anon_met_persons", "rows")
GROUPS = Relation("anon_joint_groups", "class")
RELEASED = Relation("anon_released_classes", "class")
JUDGED = Relation("anon_shown_groups", "class")
JOINT = Relation("anon_joint_classes", "class")

WITHHELD_PERSONS = Relation("anon_withheld_persons", "rows")

IS_PRESENT = "anon_is_present"


def persons_of(releases: int) -> Relation:
    """The persons whom some of the first releases show, by their classes in these."""
    return Relation(f"anon_persons_of_{releases}", "rows")


def labels_of(place: int) -> Relation:
    """The labels of the classes of a release, by their numbers."""
    return Relation(f"anon_labels_of_release_{place}", "class")


@dataclass(frozen=True)
class NextRelease:
    """A release that follows others, whose persons are known by their classes.

    Attributes:
        recoding: its labels.
        released: its rows.
        keys: the columns of its source that identify a person.
        is_by_person: whether they identify one row; else they are all that releases see of it.
        as_text: whether they are compared as text.
        place: how many releases there are before it.
        beside: the positions of those that it was held together with.
        k: how many persons it keeps in a joint class with these.
    """

    recoding: AtNode
    released: exp.Expr
    keys: tuple[str, ...]
    is_by_person: bool
    as_text: bool
    place: int
    beside: tuple[int, ...]
    k: int

    @property
    def steps(self) -> list[Step]:
        """The steps up to the classes that it shows (:data:`JUDGED`)."""
        labels = [*self._labels]
        released = SQL.step(
            RELEASED, "released_classes", released=self.released, texts=self._texts, labels=labels, name=self._own
        )
        return [self._met, self._groups, released, self._judged]

    @property
    def numbering(self) -> list[Step]:
        """The steps from these to the persons by their classes."""
        grouped = [*self._classes, *self._words, IS_PRESENT]
        withheld = SQL.query("withheld_persons", persons=MET, withholding=self._withholding, grouped=grouped, k=self.k)
        persons = SQL.step(
            persons_of(self.place + 1),
            "persons_in_classes",
            met=MET,
            judged=JUDGED,
            columns=[*self._persons_by, *self._classes],
            grouped=grouped,
            classes=[*self._classes, self._own],
            name=self._own,
            withheld=WITHHELD_PERSONS,
        )
        return [Step(WITHHELD_PERSONS, withheld, "persons who were withheld"), persons]

    @property
    def _withholding(self) -> exp.Select:
        """The classes that are shown and withhold some of their persons."""
        return select([exp.Star()], JUDGED.table).where(column(KEPT), copy=False)

    @property
    def class_labels(self) -> Step:
        """The step that makes the labels of its classes, by their numbers."""
        labels = [*self._labels]
        return SQL.step(labels_of(self.place), "class_labels", released=RELEASED, labels=labels, name=self._own)

    @property
    def key_problems(self) -> exp.Query:
        """One row: the rows of its source ``without_key``, and ``repeated_keys``."""
        return _key_problems(MET, self._persons_by)

    @property
    def mismatches(self) -> exp.Query:
        """One row, ``classes``: those that it has in another number of rows than it is to have."""
        return SQL.query("release_mismatches", judged=JUDGED, released=RELEASED, name=self._own)

    @property
    def _met(self) -> Step:
        encoding = self.recoding.encoding
        source = exp.alias_(encoding.spec.source.copy(), "anon_source", table=True)
        values = [person_value(column(name, "anon_source"), self.as_text) for name in self.keys]
        persons = [aliased(value, name) for value, name in zip(values, self._persons_by, strict=True)]
        keyed = select(persons, source)
        # Quasi-identifiers at their top have no bits.
        shown = [position for position, _ in self.recoding.code_columns()]
        keyed = with_leaves(encoding, keyed, "anon_source", shown)
        for word, mask in encoding.keys.node_masks(self.recoding.levels).items():
            leaves = all_bits(column(encoding.key(word), encoding.labels_of(place)) for place in shown)
            keyed = keyed.select(aliased(bits(exp.paren(leaves), number(mask)), encoding.key(word)), copy=False)
        return SQL.step(
            MET,
            "met_persons",
            persons=persons_of(self.place) if self.place else self._nobody,
            keyed=keyed,
            persons_by=self._persons_by,
            classes=self._classes,
            keys=self._words,
            any_classes=[*map(_any, self._classes)],
            any_keys=[*map(_any, self._words)],
        )

    @property
    def _nobody(self) -> exp.Select:
        """The persons of no release."""
        names = [*self._persons_by, "anon_rows"]
        return exp.Select(expressions=[aliased(exp.null(), name) for name in names]).limit(0)

    @property
    def _groups(self) -> Step:
        return SQL.step(GROUPS, "joint_groups", met=MET, classes=self._classes, keys=self._words)

    @property
    def _judged(self) -> Step:
        groups = exp.alias_(GROUPS.table, "anon_groups", table=True)
        labelled = self.recoding.join_to_cells(select([exp.Star()], groups), "anon_groups")
        judged = SQL.query(
            "shown_groups",
            labelled=labelled,
            released=RELEASED,
            columns=[*self._classes, *self._words, IS_PRESENT, CLASS_ROWS],
            labels=[*self._labels],
            name=self._own,
            k=self.k if self.beside else 1,
        )
        judged = self._jointly_kept(judged) if self.beside else judged.select(aliased(number(0), WITHHELD), copy=False)
        return Step(JUDGED, judged, "classes of a release")

    def _jointly_kept(self, judged: exp.Select) -> exp.Select:
        """The classes without those that it left out for persons of others."""
        classes = [_class(place) for place in self.beside]
        shown = exp.func("list_max", exp.Array(expressions=[*map(column, classes)]))
        numbers = (
            exp.case().when(shown.is_(exp.null()), number(0)).else_(dense_rank(*map(column, classes), nulls_first=True))
        )
        nobody = exp.Select(expressions=[aliased(number(0), EARLIER), aliased(number(0), "anon_absent")]).limit(0)
        return SQL.query(
            "jointly_kept",
            classes=judged,
            absent=nobody,
            number=numbers,
            node=[],
            keys=self._words,
            k=self.k,
            by_person=exp.true() if self.is_by_person else exp.false(),
        )

    @property
    def _masks(self) -> dict[str, int]:
        keys = self.recoding.encoding.keys
        return {self.recoding.encoding.key(word): mask for word, mask in keys.node_masks(self.recoding.levels).items()}

    @property
    def _words(self) -> list[str]:
        return [*self._masks]

    @property
    def _labels(self) -> tuple[str, ...]:
        return self.recoding.row_columns

    @property
    def _texts(self) -> list[exp.Alias]:
        """The labels of its rows, as texts under the names of the labels of its classes."""
        names = self.recoding.encoding.spec.quasi_identifiers
        positions = [position for position, _ in self.recoding.code_columns()]
        return [
            aliased(exact_text(column(names[position])), self.recoding.encoding.label(position))
            for position in positions
        ]

    @property
    def _persons_by(self) -> list[str]:
        return [*map(person_key, range(len(self.keys)))]

    @property
    def _classes(self) -> list[str]:
        """The columns with the classes of the releases before it."""
        return [*map(_class, range(self.place))]

    @property
    def _own(self) -> str:
        return _class(self.place)


def withheld_persons(recoding: Recoding) -> Step:
    """The step that makes :data:`WITHHELD_PERSONS` of the classes of a run that are kept."""
    encoding = recoding.encoding
    assert encoding.spec.earlier is not None
    (key,) = encoding.spec.earlier.keys
    person = aliased(person_value(column(key, "anon_source"), encoding.spec.earlier.as_text), person_key(0))
    rows = select([person], exp.alias_(encoding.spec.source.copy(), "anon_source", table=True))
    rows = with_numbers(encoding, recoding.join_to_source(rows, "anon_source"), "anon_source")
    codes = exp.alias_(KEPT_CLASSES.table, "anon_codes", table=True)
    classes = select([column(EARLIER, "anon_codes"), column(WITHHELD, "anon_codes")], codes)
    classes = recoding.join_labels_to_codes(classes, "anon_codes")
    query = SQL.query(
        "withheld_persons",
        persons=rows,
        withholding=classes.where(exp.GT(this=column(WITHHELD, "anon_codes"), expression=number(0)), copy=False),
        grouped=[*recoding.row_columns],
        k=encoding.criteria.k,
    )
    return Step(WITHHELD_PERSONS, query, "persons who are withheld")


def without_withheld() -> exp.Update:
    """The statement that takes them out of all joint classes of ``PERSONS``."""
    update = exp.update(PERSONS.table, {}, dialect="duckdb")
    update.set("expressions", [exp.EQ(this=column(EARLIER), expression=number(NOBODY))])
    update.set("from_", exp.From(this=exp.alias_(WITHHELD_PERSONS.table, "anon_withheld", table=True)))
    same_person = column(person_key(0), "anon_withheld").eq(column(person_key(0), PERSONS.name))
    return update.where(same_person, copy=False)


def source_keys(source: exp.Expr, key: str, *, as_text: bool) -> exp.Query:
    """One row: the rows of a source ``without_key``, and ``repeated_keys``."""
    name = person_key(0)
    keys = select([aliased(person_value(column(key), as_text), name)], source.copy())
    counted = select([column(name), aliased(count_rows(), "anon_rows")], subquery(keys, "anon_source_keys"))
    return _key_problems(grouped(counted, [column(name)]), [name])


def _key_problems(persons: Relation | exp.Query, keys: Sequence[str]) -> exp.Query:
    """Those of persons with the number of their rows, ``anon_rows``."""
    return SQL.query("key_problems", persons=persons, persons_by=keys)


def joint_classes(releases: int) -> Step:
    """The step that makes :data:`JOINT` of the persons of some releases."""
    return SQL.step(JOINT, "joint_classes", persons=persons_of(releases), classes=[*map(_class, range(releases))])


def persons_at_risk(k: int) -> exp.Query:
    """One row about :data:`JOINT`, ``persons_at_risk``: those in joint classes of fewer than k."""
    return SQL.query("persons_at_risk", joint=JOINT, k=k)


def smallest_classes(releases: int, k: int, most: int) -> exp.Select:
    """The smallest of :data:`JOINT` with fewer persons than k: ``persons``, and the labels in each release by place."""
    query = select([aliased(column("anon_persons", "anon_joint"), "persons")], exp.alias_(JOINT.table, "anon_joint"))
    for place in range(releases):
        name = labels_of(place).name
        labels = exp.alias_(labels_of(place).table, name, table=True)
        query = left_join(query, labels, column(_class(place), name).eq(column(_class(place), "anon_joint")))
        query = query.select(aliased(column("anon_labels", name), f"labels_{place}"), copy=False)
    query = query.where(exp.LT(this=column("anon_persons", "anon_joint"), expression=number(k)), copy=False)
    order = [column(name, "anon_joint") for name in ("anon_persons", EARLIER)]
    query.set("order", ascending(*order))
    return query.limit(most, copy=False)


def joint_sizes() -> exp.Query:
    """One row about :data:`JOINT`: ``k``, ``class_count``, ``person_count`` and ``unique_persons``."""
    return SQL.query("joint_sizes", joint=JOINT)


def numbered_persons(releases: int, keys: int) -> Step:
    """The step that makes ``PERSONS`` of the persons of some releases."""
    return SQL.step(
        PERSONS,
        "numbered_persons",
        persons=persons_of(releases),
        joint=JOINT,
        persons_by=[*map(person_key, range(keys))],
        classes=[*map(_class, range(releases))],
    )


def _class(place: int) -> str:
    return f"anon_class_{place}"


def _any(name: str) -> exp.Alias:
    return aliased(exp.AnyValue(this=column(name)), name)
