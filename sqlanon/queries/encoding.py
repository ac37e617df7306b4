"""Cells of a source, their keys, and the names of a run's temporary tables and of their columns.

A key encodes the labels of all quasi-identifiers of a cell in the bits of one or a few numbers. Each of its fields
encodes the label at a level among its siblings. So the classes of a node are the cells that agree in the fields of its
levels and of all above: one AND with the mask of the node gives the key of the class, without a lookup. Fields of
higher levels are more significant, so sorting by key keeps the cells of a class close together, which makes grouping
several times faster.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from sqlglot import exp

from sqlanon.model.criteria import Bound, Criteria, Measure
from sqlanon.model.lattice import Levels
from sqlanon.queries.kit.nodes import Relation, aliased, cast, column, count_distinct
from sqlanon.queries.source import SourceColumn, Taxonomies, TaxonomyShape, Traits

WORD_BITS = 63  # of a BIGINT, besides its sign

MAX_TYPED_VALUES = 1000
"""Texts are grouped as values of an ENUM type if their taxonomy has at most this many values.

With 10,000 values ENUM is as slow as text, with 100,000 three times as slow: such columns have no dictionary.
"""

ROW_COUNT = "anon_row_count"
WEIGHT = "anon_weight"
INDIVIDUAL = "anon_individual"
PEOPLE = "anon_people"
EARLIER = "anon_earlier"  # the number of the joint class of a person in earlier releases, 0 if none shows it
VALUE = "value"
IS_UNMAPPED = "anon_is_unmapped"


@dataclass(frozen=True)
class Field:
    """Some bits of a word; none if there is a single label."""

    word: int
    shift: int
    width: int

    @property
    def mask(self) -> int:
        return ((1 << self.width) - 1) << self.shift


@dataclass(frozen=True)
class KeyLayout:
    """The positions of the fields of a key."""

    fields: Mapping[tuple[int, int], Field] = field(default_factory=dict)  # by quasi-identifier and level below the top
    word_count: int = 0
    always: Field | None = None  # distinguishes classes at every node

    def label_masks(self, position: int, depth: int) -> Mapping[int, int]:
        """Return the bits that distinguish the labels of a level, by word."""
        return self._label_masks.get((position, depth), {})

    def node_masks(self, levels: Levels) -> dict[int, int]:
        """Return the bits that distinguish the classes of a node, by word."""
        masks: dict[int, int] = {} if self.always is None else {self.always.word: self.always.mask}
        for position, depth in enumerate(levels):
            for word, mask in self.label_masks(position, depth).items():
                masks[word] = masks.get(word, 0) | mask
        return dict(sorted(masks.items()))

    @cached_property
    def _label_masks(self) -> dict[tuple[int, int], dict[int, int]]:
        found: dict[tuple[int, int], dict[int, int]] = {}
        for (position, depth), place in sorted(self.fields.items(), reverse=True):
            masks = {place.word: place.mask} if place.width else {}
            for word, mask in found.get((position, depth + 1), {}).items():
                masks[word] = masks.get(word, 0) | mask
            found[position, depth] = masks
        return found

    def with_number(self, largest: int) -> KeyLayout:
        """Add a field for numbers up to ``largest``, which distinguish classes at every node."""
        width = largest.bit_length()
        last = self.word_count - 1
        free = min((place.shift for place in self.fields.values() if place.word == last), default=0)
        if width <= free:
            return replace(self, always=Field(last, 0, width))
        return replace(self, always=Field(self.word_count, 0, width), word_count=self.word_count + 1)


def words_of(masks: Iterable[Mapping[int, int]]) -> list[int]:
    """Return the words of keys that distinguish classes of some nodes, given the masks of each."""
    return sorted({word for of_node in masks for word in of_node})


def key_layout(last_children: Mapping[tuple[int, int], int]) -> KeyLayout:
    """Lay out fields, given the largest number in each by quasi-identifier and level: the highest levels first."""
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
    """Numbered joint classes of persons in earlier releases, see :mod:`sqlanon.queries.source_rows`."""

    keys: tuple[str, ...]  # the columns of the source that identify persons
    count: int  # of joint classes; persons whom no release shows have the number 0
    is_by_person: bool  # whether keys identify one row; else they are all columns that releases see
    as_text: bool  # whether keys are compared as text, since types differ, or equal values have several texts


@dataclass(frozen=True)
class ShownValues:
    """Values of a sensitive column that a release shows, and that must keep its bounds in joint classes."""

    column: str  # the protected column with the values
    bounded: str  # the sensitive column; equal to ``column`` for values of the present source
    place: int = 0  # of the column of joint classes that says whether the release shows them
    numbers: tuple[tuple[int, int | None], ...] = ((1, None),)  # ranges of shown joint classes; None for no end


@dataclass(frozen=True)
class UnknownValues:
    """The columns of a run that may have values which their taxonomies lack."""

    source: exp.Table | exp.Subquery  # all rows, including the ones to leave out
    suppressed: tuple[str, ...]  # columns whose unknown values suppress their rows
    roots: Mapping[str, str]  # labels of the top, by column whose unknown values have them

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.suppressed, *self.roots)


@dataclass(frozen=True)
class CellSpec:
    """A specification of cells: rows that agree in all quasi-identifiers, protected columns and the individual."""

    source: exp.Table | exp.Subquery  # can stand in FROM
    columns: tuple[SourceColumn, ...]  # of the source, in order
    quasi_identifiers: tuple[str, ...]
    shapes: tuple[TaxonomyShape, ...]  # of the taxonomies of quasi-identifiers
    taxonomy: Taxonomies
    protected: tuple[str, ...] = ()  # other columns that distinguish cells, such as columns of privacy models
    protected_shapes: Mapping[str, TaxonomyShape] = field(default_factory=dict)  # where models look at labels
    compared: tuple[str, ...] = ()  # protected columns whose values in a class are compared with the whole table
    references: Mapping[str, Relation] = field(default_factory=dict)  # counts of compared values of persons, by column
    individual: str | None = None  # the column with the owner of a row, if it distinguishes cells
    row_weight: str | None = None  # the column of weights that cells sum up
    population: exp.Expr | None = None  # if there are cells of it, too
    released: frozenset[str] = frozenset()
    pseudonyms: tuple[str, ...] = ()  # columns with pseudonyms in place of values
    unknown: UnknownValues | None = None  # if values may be missing from taxonomies
    in_key_order: bool = True  # whether to sort cells by key
    leaves: exp.Table | None = None  # the counts of labels with more leaves than the taxonomy has values under them
    earlier: EarlierClasses | None = None  # if classes must hold together with earlier releases
    shown_values: tuple[ShownValues, ...] = ()  # of protected columns, in joint classes

    @property
    def coded(self) -> tuple[str, ...]:
        """The protected columns that come from persons, already as codes, and not from the source."""
        return tuple(dict.fromkeys(each.column for each in self.shown_values if each.column != each.bounded))

    @property
    def labelled(self) -> tuple[str, ...]:
        """The protected columns of the source for which cells carry codes of labels."""
        return tuple(name for name in self.protected_shapes if name not in self.references)

    def attribute_of(self, name: str) -> str:
        """Return the column whose taxonomy has the labels of a protected column."""
        return next((each.bounded for each in self.shown_values if each.column == name), name)

    @property
    def roots(self) -> Mapping[str, str]:
        """The labels of the top, by quasi-identifier whose unknown values have them at every level."""
        return {} if self.unknown is None else self.unknown.roots


LossStep = tuple[tuple[int, ...], float]
"""The last bits of a step, by word, and the loss of labels up to there."""


@dataclass(frozen=True)
class Encoding:
    """The temporary tables of a run and the names of their columns.

    The table of ``labels`` has the label of every value of every quasi-identifier (``position``) at every level
    (``depth``): its ``code``, its number as a ``child`` of the label above, its losses, and the words of its key.
    """

    spec: CellSpec
    criteria: Criteria
    labels: Relation
    cells: Relation
    population_cells: Relation
    label_losses: tuple[str, ...]  # that measures of nodes need: lm, ncp, and information, which suppression loses
    keys: KeyLayout = field(default_factory=KeyLayout)
    # Losses of labels as step functions of their bits, by measure, quasi-identifier and level, where steps are few.
    loss_steps: Mapping[tuple[str, int, int], tuple[LossStep, ...]] = field(default_factory=dict)
    added: tuple[str, ...] = ()  # columns of published rows that the source lacks; they come first
    beside: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # columns about classes, by quasi-identifier
    has_label_texts: bool = False  # whether published labels are texts, for a home of rows without ENUM types
    reads_dictionaries: bool = False  # whether texts of the source come in dictionaries, and are cast once each
    has_raw_values: bool = True  # whether cells keep values of protected columns, so that they can hold the release
    of_values: str = "anon"  # the prefix of tables of compared values

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """The measures with a column of their own in a class: all but its size."""
        shown = itertools.chain.from_iterable(map(self.bounds_on, self.spec.shown_values))
        bounded = (bound.measure for bound in (*self.criteria.bounds, *shown))
        measures = dict.fromkeys((*bounded, self.criteria.loss_measure))
        return tuple(measure for measure in measures if measure is not None and measure.view != "size")

    @cached_property
    def of_labels(self) -> tuple[Measure, ...]:
        """The measures that look at what the labels of a class lose."""
        return tuple(measure for measure in self.measures if measure.view == "labels")

    def bounds_on(self, shown: ShownValues) -> list[Bound]:
        """Return the bounds that shown values must keep in the joint classes that a release shows."""
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
        """Whether a release can be rebuilt from the counts of cells.

        Cells lack columns that don't distinguish them, and keep one of several equal values. If persons of a class may
        be withheld beside earlier releases, its rows must all be equal.
        """
        shown = self.spec.released - {*self.spec.quasi_identifiers}
        if not self.has_raw_values:
            return False
        if shown and self.spec.earlier is not None and self.spec.earlier.is_by_person:
            return False
        return shown <= {*self.spec.protected} and all(self.traits[name].can_be_rebuilt for name in shown)

    @property
    def distinguishing(self) -> tuple[str, ...]:
        individual = () if self.spec.individual is None else (INDIVIDUAL,)
        return (*map(self.sensitive, self.spec.protected), *individual)

    @property
    def sensitive_labels(self) -> tuple[str, ...]:
        names = self.spec.labelled
        return tuple(self.sensitive_label(name, depth) for name in names for depth in self.sensitive_depths(name))

    @property
    def carried(self) -> tuple[str, ...]:
        """The columns of cells that measures of classes need."""
        weight = () if self.spec.row_weight is None else (WEIGHT,)
        return (*self.distinguishing, *self.sensitive_labels, ROW_COUNT, *weight)

    def code(self, position: int, depth: int) -> str:
        return f"anon_code_{position}_{depth}"

    def depths(self, position: int) -> range:
        """Return the levels with codes of labels: all below the top, which has a single label."""
        return range(max(self.spec.shapes[position].height, 1))

    def key(self, word: int) -> str:
        return f"anon_key_{word}"

    @property
    def word_columns(self) -> tuple[str, ...]:
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
        """The ENUM types of quasi-identifiers whose texts are grouped as such."""
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
        place = [found.name for found in self.spec.columns].index(name)
        return f"anon_published_type_{place}"

    def loss_varies(self, measure: str, position: int, depth: int) -> bool:
        """Return whether labels of a level can have different losses: between the values and the top they can.

        Values also differ in information, but lose none of it, unless the taxonomy lacks them.
        """
        has_root = self.spec.quasi_identifiers[position] in self.spec.roots
        least = 0 if measure == "information" or has_root else 1
        return least <= depth < self.spec.shapes[position].height

    def sensitive(self, name: str) -> str:
        """Name the column of ``cells`` with the code of a protected column; codes follow the order of values."""
        return f"anon_sensitive_{self._sensitive_position(name)}"

    def raw(self, name: str) -> str:
        """Name the column of ``cells`` with the values of a protected column, if they hold the release."""
        return f"anon_raw_{self._sensitive_position(name)}"

    def sensitive_label(self, name: str, level: int) -> str:
        """Name the column with the codes of a protected column's labels at a level."""
        return f"{self.sensitive(name)}_{level}" if level else self.sensitive(name)

    def sensitive_height(self, name: str) -> int:
        shape = self.spec.protected_shapes.get(name)
        return 0 if shape is None else shape.height

    def sensitive_depths(self, name: str) -> range:
        """Return the levels whose codes cells carry: between values and top, and level 1 to find unmapped values."""
        return range(1, max(self.sensitive_height(name), 2))

    def sensitive_codes(self, name: str) -> Relation:
        return Relation(f"anon_sensitive_codes_{self._sensitive_position(name)}", "node")

    def values(self, name: str) -> Relation:
        """Name the table of values of a compared column, with codes and shares of the whole table."""
        return Relation(f"{self.of_values}_values_{self._sensitive_position(name)}", "node")

    def reference_work(self, name: str) -> Relation:
        """Name the table of results of macro ``reference_work`` for a compared column, by code."""
        return Relation(f"{self.of_values}_reference_work_{self._sensitive_position(name)}", "node")

    def reference_crossings(self, name: str) -> Relation:
        return Relation(f"{self.of_values}_reference_crossings_{self._sensitive_position(name)}", "node")

    def label_share(self, level: int) -> str:
        """Name the column of ``values`` with the share of a value's label at a level."""
        return f"anon_share_{level}" if level else "anon_share"

    def _sensitive_position(self, name: str) -> int:
        return self.spec.protected.index(name)


def label_of(position: int) -> str:
    return f"anon_label_{position}"


def encoding_for(
    spec: CellSpec, criteria: Criteria, *, label_losses: tuple[str, ...], prefix: str = "anon"
) -> Encoding:
    """Name the tables of a run, which has several encodings if their names have different prefixes."""
    labels = Relation(f"{prefix}_labels", "node")
    cells, population_cells = Relation(f"{prefix}_cells", "cell"), Relation(f"{prefix}_population_cells", "cell")
    return Encoding(spec, criteria, labels, cells, population_cells, label_losses)


def row_sum(rows: str = ROW_COUNT, name: str = ROW_COUNT) -> exp.Alias:
    """Sum the rows of a group of cells as BIGINT, half the bytes of a plain sum."""
    return aliased(cast(exp.Sum(this=column(rows)), "BIGINT"), name)


def counted(encoding: Encoding) -> exp.Expr:
    """Count the rows of a group of cells, or its distinct individuals."""
    if encoding.spec.individual is not None:
        return count_distinct(column(INDIVIDUAL))
    return exp.Sum(this=column(ROW_COUNT))
