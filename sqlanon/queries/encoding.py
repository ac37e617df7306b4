"""Cells of a source, their keys, and the names of a run's temporary tables and of their columns.

A key has, in the bits of one number or of a few, the labels of all quasi-identifiers of a cell. A field of it encodes
the label at a level, among the labels that share the next one above. So the classes of a node are the cells that agree
in the fields of its levels and of all above: one AND with the mask of the node gives the key of the class, and nothing
needs to be looked up. Fields of higher levels are more significant: in the order of their keys, cells that fall into
one class stand close together, which makes grouping them several times faster.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from sqlglot import exp

from sqlanon.model.criteria import CLASS_SIZE, Bound, Criteria, Measure
from sqlanon.model.lattice import Levels
from sqlanon.queries.kit.nodes import Relation, aliased, cast, column, count_distinct
from sqlanon.queries.source import SourceColumn, Taxonomies, TaxonomyShape, Traits

WORD_BITS = 63  # as many as a BIGINT has besides its sign

MAX_TYPED_VALUES = 1000
"""The most values of a taxonomy whose texts are grouped as values of an ENUM type.

Of 10,000 values it takes as long as texts, of 100,000 three times as long: then columns are kept without a dictionary.
"""

ROW_COUNT = "anon_row_count"
WEIGHT = "anon_weight"
INDIVIDUAL = "anon_individual"
PEOPLE = "anon_people"
EARLIER = "anon_earlier"  # the number of the joint class that earlier releases show of a person, 0 if none
VALUE = "value"
IS_UNMAPPED = "anon_is_unmapped"


@dataclass(frozen=True)
class Field:
    """Some bits of a word; none where there is a single label."""

    word: int
    shift: int
    width: int

    @property
    def mask(self) -> int:
        return ((1 << self.width) - 1) << self.shift


@dataclass(frozen=True)
class KeyLayout:
    """The places of the fields of a key."""

    fields: Mapping[tuple[int, int], Field] = field(default_factory=dict)  # by quasi-identifier and level below the top
    word_count: int = 0
    always: Field | None = None  # distinguishes classes at every node

    def label_masks(self, position: int, depth: int) -> Mapping[int, int]:
        """The bits that distinguish the labels of a level, for each word that has any."""
        return self._label_masks.get((position, depth), {})

    def node_masks(self, levels: Levels) -> dict[int, int]:
        """The bits that distinguish the classes of a node, for each word that has any."""
        masks: dict[int, int] = {} if self.always is None else {self.always.word: self.always.mask}
        for position, depth in enumerate(levels):
            for word, mask in self.label_masks(position, depth).items():
                masks[word] = masks.get(word, 0) | mask
        return dict(sorted(masks.items()))

    @cached_property
    def _label_masks(self) -> dict[tuple[int, int], dict[int, int]]:
        """The masks of every level: its own field and the fields of all levels above."""
        found: dict[tuple[int, int], dict[int, int]] = {}
        for (position, depth), place in sorted(self.fields.items(), reverse=True):
            masks = {place.word: place.mask} if place.width else {}
            for word, mask in found.get((position, depth + 1), {}).items():
                masks[word] = masks.get(word, 0) | mask
            found[position, depth] = masks
        return found

    def with_number(self, largest: int) -> KeyLayout:
        """The layout with one more field, for numbers up to the largest, in which classes differ at every node."""
        width = largest.bit_length()
        last = self.word_count - 1
        free = min((place.shift for place in self.fields.values() if place.word == last), default=0)
        if width <= free:
            return replace(self, always=Field(last, 0, width))
        return replace(self, always=Field(self.word_count, 0, width), word_count=self.word_count + 1)


def words_of(masks: Iterable[Mapping[int, int]]) -> list[int]:
    """The words of keys that distinguish classes of some nodes, given the masks of each."""
    return sorted({word for of_node in masks for word in of_node})


def key_layout(last_children: Mapping[tuple[int, int], int]) -> KeyLayout:
    """Place the fields, by quasi-identifier and level the largest number that each holds: the highest levels first."""
    highest: dict[int, int] = {}
    for position, depth in last_children:
        highest[position] = max(depth, highest.get(position, 0))
    word, free, fields = 0, WORD_BITS, {}
    for position, depth in sorted(last_children, key=lambda place: (highest[place[0]] - place[1], place[0])):
        width = last_children[position, depth].bit_length()
        if width > free:
            word, free = word + 1, WORD_BITS
        free -= width
        fields[position, depth] = Field(word, free, width)
    return KeyLayout(fields, word + 1 if any(last_children.values()) else 0)


@dataclass(frozen=True)
class EarlierClasses:
    """Joint classes that earlier releases show of the persons, by numbers, see :mod:`sqlanon.queries.source_rows`."""

    keys: tuple[str, ...]  # the columns of the source by which persons are found
    count: int  # of joint classes; the number of those whom no release shows is 0
    is_by_person: bool  # the keys identify one row; else they are all that releases see of it
    as_text: bool  # keys are compared as text, since types differ, or equal values have several texts


@dataclass(frozen=True)
class ShownValues:
    """Values of a sensitive column that a release shows: in joint classes they keep the bounds on the column, too."""

    column: str  # the protected column with them
    bounded: str  # the sensitive column, the same one if the values are those of the present source
    place: int = 0  # the column of a joint class that says whether the release shows it
    numbers: tuple[tuple[int, int | None], ...] = ((1, None),)  # by which it does so: ranges, the last may have no end


@dataclass(frozen=True)
class UnknownValues:
    """The columns of a run that may have values which their taxonomies do not have."""

    source: exp.Table | exp.Subquery  # all rows, those that are left out included
    suppressed: tuple[str, ...]  # the columns whose unknown values have their rows left out
    roots: Mapping[str, str]  # by column whose unknown values are labelled at the top, that label

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.suppressed, *self.roots)


@dataclass(frozen=True)
class CellSpec:
    """A specification of the cells that are made of a source.

    Rows that agree in all quasi-identifiers, in all protected columns and in their individual are one cell.
    """

    source: exp.Table | exp.Subquery  # can stand in FROM
    columns: tuple[SourceColumn, ...]  # of the source, in order
    quasi_identifiers: tuple[str, ...]  # the columns that are generalized
    shapes: tuple[TaxonomyShape, ...]  # of the taxonomies of these
    taxonomy: Taxonomies  # the table that holds the taxonomies
    protected: tuple[str, ...] = ()  # other columns that distinguish cells, such as those that privacy models look at
    protected_shapes: Mapping[str, TaxonomyShape] = field(default_factory=dict)  # of those looked at by their labels
    compared: tuple[str, ...] = ()  # the protected columns whose values in a class are compared with the whole table
    references: Mapping[str, Relation] = field(default_factory=dict)  # counts of compared values of persons, by column
    individual: str | None = None  # the column with the owner of a row, if it distinguishes cells
    row_weight: str | None = None  # the column of weights that cells sum up
    population: exp.Expr | None = None  # the population, if there are cells of it as well
    released: frozenset[str] = frozenset()  # the columns that a release has
    pseudonyms: tuple[str, ...] = ()  # those with pseudonyms in place of the values
    unknown: UnknownValues | None = None  # what is done with values that taxonomies do not have, if there may be any
    in_key_order: bool = True  # cells are in the order of their keys, in which those of a class stand close together
    leaves: exp.Table | None = None  # the counts of labels with more leaves than the taxonomy has values under them
    earlier: EarlierClasses | None = None  # if classes have to hold together with what earlier releases show
    shown_values: tuple[ShownValues, ...] = ()  # what releases show of protected columns in joint classes

    @property
    def coded(self) -> tuple[str, ...]:
        """The protected columns that are not of the source: persons have them, as codes already."""
        return tuple(dict.fromkeys(each.column for each in self.shown_values if each.column != each.bounded))

    @property
    def labelled(self) -> tuple[str, ...]:
        """The protected columns of the source whose labels cells carry as codes."""
        return tuple(name for name in self.protected_shapes if name not in self.references)

    def attribute_of(self, name: str) -> str:
        """The column whose taxonomy has the labels of a protected column."""
        return next((each.bounded for each in self.shown_values if each.column == name), name)

    @property
    def roots(self) -> Mapping[str, str]:
        """By quasi-identifier whose unknown values have the label of the top at every level, that label."""
        return {} if self.unknown is None else self.unknown.roots


LossStep = tuple[tuple[int, ...], float]
"""The last bits of a step, by word, and what the labels up to there lose."""


@dataclass(frozen=True)
class Encoding:
    """The temporary tables of a run and the names of their columns.

    The table of ``labels`` has the label of every value of every quasi-identifier (``position``) at every level
    (``depth``): its ``code``, which ``child`` of the label above it is, what it loses, and the words of its key.
    """

    spec: CellSpec
    criteria: Criteria  # what classes are judged by
    labels: Relation
    cells: Relation
    population_cells: Relation  # if there is a population
    label_losses: tuple[str, ...]  # that measures of nodes need: lm, ncp, and information, which is lost if suppressed
    keys: KeyLayout = field(default_factory=KeyLayout)
    # What labels lose as a step function of their bits, by measure, quasi-identifier and level; not of too many steps.
    loss_steps: Mapping[tuple[str, int, int], tuple[LossStep, ...]] = field(default_factory=dict)
    added: tuple[str, ...] = ()  # the columns of published rows that are not of the source; they come first
    beside: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # behind quasi-identifiers, about their class
    has_label_texts: bool = False  # labels of published rows are texts, for a home of rows that has no ENUM types
    reads_dictionaries: bool = False  # texts of the source come in dictionaries: a cast takes each text once
    has_raw_values: bool = True  # cells have the values of protected columns, if a release shows no others but labels
    of_values: str = "anon"  # how names of tables of compared values begin

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """The measures that a class needs a column of its own for: all but its size."""
        shown = itertools.chain.from_iterable(map(self.bounds_on, self.spec.shown_values))
        measures = dict.fromkeys(bound.measure for bound in (*self.criteria.bounds, *shown))
        return tuple(measure for measure in measures if measure != CLASS_SIZE)

    def bounds_on(self, shown: ShownValues) -> list[Bound]:
        """The bounds that values which a release shows keep in the joint classes that it shows."""
        own = (bound for bound in self.criteria.class_bounds if bound.measure.column == shown.bounded)
        return [replace(bound, measure=replace(bound.measure, column=shown.column)) for bound in own]

    @property
    def ordered(self) -> tuple[str, ...]:
        """The compared columns whose order of values matters to a measure."""
        looked_at = {measure.column for measure in self.measures if measure.view == "ordered"}
        return tuple(name for name in self.spec.compared if name in looked_at)

    @cached_property
    def traits(self) -> Mapping[str, Traits]:
        return {found.name: found.traits for found in self.spec.columns}

    @cached_property
    def holds_release(self) -> bool:
        """Whether cells have all that a release shows, so that it can be rebuilt from their counts.

        They have neither columns that do not distinguish cells nor values that are equal to others. Some persons of a
        class may be withheld beside earlier releases: it does not matter who they are if all of its rows are equal.
        """
        shown = self.spec.released - {*self.spec.quasi_identifiers}
        if not self.has_raw_values:
            return False
        if shown and self.spec.earlier is not None and self.spec.earlier.is_by_person:
            return False
        return shown <= {*self.spec.protected} and all(self.traits[name].can_be_rebuilt for name in shown)

    @property
    def distinguishing(self) -> tuple[str, ...]:
        """The columns that distinguish cells besides those of quasi-identifiers."""
        individual = () if self.spec.individual is None else (INDIVIDUAL,)
        return (*map(self.sensitive, self.spec.protected), *individual)

    @property
    def sensitive_labels(self) -> tuple[str, ...]:
        """The columns with the codes of the labels of sensitive values."""
        names = self.spec.labelled
        return tuple(self.sensitive_label(name, depth) for name in names for depth in self.sensitive_depths(name))

    @property
    def carried(self) -> tuple[str, ...]:
        """The columns of cells that classes are measured by."""
        weight = () if self.spec.row_weight is None else (WEIGHT,)
        return (*self.distinguishing, *self.sensitive_labels, ROW_COUNT, *weight)

    def code(self, position: int, depth: int) -> str:
        return f"anon_code_{position}_{depth}"

    def depths(self, position: int) -> range:
        """The levels that labels have codes of: those below the top, which has one label alone."""
        return range(max(self.spec.shapes[position].height, 1))

    def key(self, word: int) -> str:
        return f"anon_key_{word}"

    @property
    def word_columns(self) -> tuple[str, ...]:
        """The columns with the words of keys."""
        return tuple(map(self.key, range(self.keys.word_count)))

    def labels_of(self, position: int) -> str:
        return f"anon_labels_{position}"

    def label(self, position: int) -> str:
        return label_of(position)

    @property
    def label_columns(self) -> tuple[str, ...]:
        return tuple(map(self.label, range(len(self.spec.shapes))))

    @property
    def class_columns(self) -> tuple[str, ...]:
        return tuple(itertools.chain.from_iterable(self.beside.values()))

    @cached_property
    def typed(self) -> Mapping[str, str]:
        """The quasi-identifiers whose texts are grouped as values of an ENUM type, and that type."""
        if not self.reads_dictionaries:
            return {}
        return {
            name: f"anon_value_type_{position}"
            for position, (name, shape) in enumerate(zip(self.spec.quasi_identifiers, self.spec.shapes, strict=True))
            if self.traits[name].is_text and shape.domain_size <= MAX_TYPED_VALUES
        }

    def label_type(self, position: int) -> str:
        return f"anon_label_type_{position}"

    def published_type(self, name: str) -> str:
        """The temporary ENUM type of the texts of a column that are published, and of no others."""
        place = [found.name for found in self.spec.columns].index(name)
        return f"anon_published_type_{place}"

    def loss_varies(self, measure: str, position: int, depth: int) -> bool:
        """Whether labels of a level can lose different amounts: those between the values and the top can.

        Values carry different amounts of information as well. They lose none of it, but for those that the taxonomy
        does not have.
        """
        has_root = self.spec.quasi_identifiers[position] in self.spec.roots
        least = 0 if measure == "information" or has_root else 1
        return least <= depth < self.spec.shapes[position].height

    def sensitive(self, name: str) -> str:
        """The column of ``cells`` with the code of a protected column; codes are in the order of its values."""
        return f"anon_sensitive_{self._sensitive_position(name)}"

    def raw(self, name: str) -> str:
        """The column of ``cells`` with the values of a protected column, if they hold the release."""
        return f"anon_raw_{self._sensitive_position(name)}"

    def sensitive_label(self, name: str, level: int) -> str:
        """The column with the code of a protected column's label at a level of its taxonomy."""
        return f"{self.sensitive(name)}_{level}" if level else self.sensitive(name)

    def sensitive_height(self, name: str) -> int:
        shape = self.spec.protected_shapes.get(name)
        return 0 if shape is None else shape.height

    def sensitive_depths(self, name: str) -> range:
        """The levels whose codes cells carry: those between values and top; level 1 always, to find unmapped values."""
        return range(1, max(self.sensitive_height(name), 2))

    def sensitive_codes(self, name: str) -> Relation:
        return Relation(f"anon_sensitive_codes_{self._sensitive_position(name)}", "node")

    def values(self, name: str) -> Relation:
        """The values of a compared column, by code, with their shares of the whole table."""
        return Relation(f"{self.of_values}_values_{self._sensitive_position(name)}", "node")

    def reference_work(self, name: str) -> Relation:
        """Results of the macro of this name for the values of a compared column whose order counts, by their codes."""
        return Relation(f"{self.of_values}_reference_work_{self._sensitive_position(name)}", "node")

    def reference_crossings(self, name: str) -> Relation:
        return Relation(f"{self.of_values}_reference_crossings_{self._sensitive_position(name)}", "node")

    def label_share(self, level: int) -> str:
        """The column of ``values`` with the share of a value's label at a level."""
        return f"anon_share_{level}" if level else "anon_share"

    def _sensitive_position(self, name: str) -> int:
        return self.spec.protected.index(name)


def label_of(position: int) -> str:
    """The column with the labels of a quasi-identifier, see :meth:`Encoding.label`."""
    return f"anon_label_{position}"


def encoding_for(spec: CellSpec, criteria: Criteria, *, label_losses: tuple[str, ...]) -> Encoding:
    labels = Relation("anon_labels", "node")
    cells, population_cells = Relation("anon_cells", "cell"), Relation("anon_population_cells", "cell")
    return Encoding(spec, criteria, labels, cells, population_cells, label_losses)


def row_sum(rows: str = ROW_COUNT, name: str = ROW_COUNT) -> exp.Alias:
    """The rows of a group of cells, in half the bytes of a sum."""
    return aliased(cast(exp.Sum(this=column(rows)), "BIGINT"), name)


def counted(encoding: Encoding) -> exp.Expr:
    """The count of a group of cells: its rows, or its distinct individuals."""
    if encoding.spec.individual is not None:
        return count_distinct(column(INDIVIDUAL))
    return exp.Sum(this=column(ROW_COUNT))
