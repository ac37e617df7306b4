"""Which cells are made of a source, and the names of a run's temporary tables and of their columns."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from sqlglot import exp

from sqlanon.model.bounds import CLASS_SIZE, Bound, Measure
from sqlanon.model.criteria import Criteria
from sqlanon.queries.keys import KeyLayout
from sqlanon.queries.kit.nodes import Relation, aliased, cast, column, count_distinct
from sqlanon.queries.source import SourceColumn, TaxonomyShape, Traits
from sqlanon.queries.spelled import Taxonomies
from sqlanon.queries.unknown import UnknownValues


@dataclass(frozen=True)
class EarlierClasses:
    """What earlier releases show of the persons: joint classes with numbers, as ``queries.cells.earlier`` has them.

    Attributes:
        keys: the columns of the source by which persons are found.
        count: how many joint classes there are. The number of those whom no release shows is 0.
        is_by_person: whether the keys identify one row; else they are all that releases see of it.
        as_text: whether they are compared as text, since their types differ, or equal values have several texts.
    """

    keys: tuple[str, ...]
    count: int
    is_by_person: bool
    as_text: bool


@dataclass(frozen=True)
class ShownValues:
    """Values of a sensitive column that a release shows: in joint classes they keep the bounds on the column, too.

    Attributes:
        column: the protected column with them.
        bounded: the sensitive column, the same one if the values are those of the present source.
        place: which of the columns of a joint class says whether the release shows it.
        numbers: the ranges of the numbers there by which it does; one without an end has all that follow.
    """

    column: str
    bounded: str
    place: int = 0
    numbers: tuple[tuple[int, int | None], ...] = ((1, None),)


@dataclass(frozen=True)
class CellSpec:
    """Which cells are made of a source.

    Rows that agree in all quasi-identifiers, in all protected columns and in their individual are one cell.

    Attributes:
        source: the source as a relation that can stand in FROM.
        columns: its columns, in order.
        quasi_identifiers: the columns that are generalized.
        shapes: the shape of the taxonomy of each of them.
        taxonomy: the table that holds the taxonomies.
        protected: the other columns whose values distinguish cells, such as those that privacy models look at.
        protected_shapes: the shapes of the taxonomies by whose labels protected columns are looked at.
        compared: the protected columns whose values in a class are compared with those of the whole table.
        references: by compared column whose values are those of persons, the table that counts them in their source.
        individual: the column that identifies the owner of a row, if it distinguishes cells.
        row_weight: the column of weights that cells are to sum up.
        population: the population as a relation, if there are to be cells of it as well.
        released: the columns that a release has.
        pseudonyms: those with pseudonyms in place of the values.
        unknown: what is done with values that taxonomies do not have, if there may be any.
        leaves: the counts of labels that have more leaves than their taxonomy has values under them.
        in_key_order: whether cells are in the order of their keys, in which those of a class stand close together.
        earlier: what earlier releases show of the persons, if classes are to hold together with these.
        shown_values: what releases show of protected columns in joint classes.
    """

    source: exp.Table | exp.Subquery
    columns: tuple[SourceColumn, ...]
    quasi_identifiers: tuple[str, ...]
    shapes: tuple[TaxonomyShape, ...]
    taxonomy: Taxonomies
    protected: tuple[str, ...] = ()
    protected_shapes: Mapping[str, TaxonomyShape] = field(default_factory=dict)
    compared: tuple[str, ...] = ()
    references: Mapping[str, Relation] = field(default_factory=dict)
    individual: str | None = None
    row_weight: str | None = None
    population: exp.Expr | None = None
    released: frozenset[str] = frozenset()
    pseudonyms: tuple[str, ...] = ()
    unknown: UnknownValues | None = None
    in_key_order: bool = True
    leaves: exp.Table | None = None
    earlier: EarlierClasses | None = None
    shown_values: tuple[ShownValues, ...] = ()

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

ROW_COUNT = "anon_row_count"
WEIGHT = "anon_weight"
INDIVIDUAL = "anon_individual"
PEOPLE = "anon_people"
EARLIER = "anon_earlier"
"""The number of the joint class that earlier releases show of a person; 0 where they show none."""
VALUE = "value"
IS_UNMAPPED = "anon_is_unmapped"

MAX_TYPED_VALUES = 1000
"""The most values of a taxonomy whose texts are grouped as values of an ENUM type.

Of 10,000 values it takes as long as texts, of 100,000 three times as long: then columns are kept without a dictionary.
"""


@dataclass(frozen=True)
class Encoding:
    """The temporary tables of a run and the names of their columns.

    Attributes:
        spec: which cells they are.
        criteria: what their classes are judged by.
        labels: the label of every value of every quasi-identifier (``position``) at every level (``depth``): its
            ``code``, which ``child`` of the label above it is, what it loses, and the words of its key.
        cells: the cells.
        population_cells: the cells of the population, if there is one.
        label_losses: the losses of labels that the measures of every node need, if any: ``lm``, ``ncp``, and
            ``information``, which they lose where they are suppressed.
        keys: where the labels of a cell stand in its key.
        loss_steps: by measure, quasi-identifier and level, what the labels lose as a step function of their bits in
            the key: the last bits of each step by word, and its loss. Missing where there are too many steps.
        added: the columns of published rows that are not of the source; they come first.
        beside: by quasi-identifier, the columns of published rows that stand behind it and describe its class.
        has_label_texts: whether labels of published rows are texts, for a home of rows that has no ENUM types.
        reads_dictionaries: whether texts of the source come in dictionaries, so that a cast takes each text once.
        has_raw_values: whether cells have the values of protected columns, if a release shows no others besides labels.
        of_values: what the names of the tables of compared values begin with.
    """

    spec: CellSpec
    criteria: Criteria
    labels: Relation
    cells: Relation
    population_cells: Relation
    label_losses: tuple[str, ...]
    keys: KeyLayout = field(default_factory=KeyLayout)
    loss_steps: Mapping[tuple[str, int, int], tuple[LossStep, ...]] = field(default_factory=dict)
    added: tuple[str, ...] = ()
    beside: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    has_label_texts: bool = False
    reads_dictionaries: bool = False
    has_raw_values: bool = True
    of_values: str = "anon"

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
        """What is to be known of the types of the source's columns."""
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
        """The column of classes with the code of a quasi-identifier's label at a level."""
        return f"anon_code_{position}_{depth}"

    def depths(self, position: int) -> range:
        """The levels that labels have codes of: those below the top, which has one label alone."""
        return range(max(self.spec.shapes[position].height, 1))

    def key(self, word: int) -> str:
        """The column of ``cells`` with a word of the key."""
        return f"anon_key_{word}"

    def labels_of(self, position: int) -> str:
        """What the labels of a quasi-identifier are called in a query that looks some up."""
        return f"anon_labels_{position}"

    def label(self, position: int) -> str:
        """The column with the labels of a quasi-identifier in the rows of a release."""
        return label_of(position)

    @property
    def label_columns(self) -> tuple[str, ...]:
        """These columns of all quasi-identifiers."""
        return tuple(map(self.label, range(len(self.spec.shapes))))

    @property
    def class_columns(self) -> tuple[str, ...]:
        """The columns of published rows that describe their class."""
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
        """The temporary ENUM type of these labels."""
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
        """The height of the taxonomy of a protected column, 0 without one."""
        shape = self.spec.protected_shapes.get(name)
        return 0 if shape is None else shape.height

    def sensitive_depths(self, name: str) -> range:
        """The levels whose codes cells carry: those between values and top; level 1 always, to find unmapped values."""
        return range(1, max(self.sensitive_height(name), 2))

    def sensitive_codes(self, name: str) -> Relation:
        """The values of a protected column with the codes of their labels."""
        return Relation(f"anon_sensitive_codes_{self._sensitive_position(name)}", "node")

    def values(self, name: str) -> Relation:
        """The values of a compared column, by code, with their shares of the whole table."""
        return Relation(f"{self.of_values}_values_{self._sensitive_position(name)}", "node")

    def reference_work(self, name: str) -> Relation:
        """Results of the macro of this name for the values of a compared column whose order counts, by their codes."""
        return Relation(f"{self.of_values}_reference_work_{self._sensitive_position(name)}", "node")

    def reference_crossings(self, name: str) -> Relation:
        """What the macro of this name makes of that."""
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
    """Names for the temporary tables of a run."""
    labels = Relation("anon_labels", "node")
    cells, population_cells = Relation("anon_cells", "cell"), Relation("anon_population_cells", "cell")
    return Encoding(spec, criteria, labels, cells, population_cells, label_losses)


def row_sum(rows: str = ROW_COUNT, name: str = ROW_COUNT) -> exp.Alias:
    """The rows of a group of cells, in half the bytes of a sum."""
    return aliased(cast(exp.Sum(this=column(rows)), "BIGINT"), name)


def counted(encoding: Encoding) -> exp.Expr:
    """What groups of cells count: their rows, or their distinct individuals."""
    if encoding.spec.individual is not None:
        return count_distinct(column(INDIVIDUAL))
    return exp.Sum(this=column(ROW_COUNT))
