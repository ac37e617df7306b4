"""Knowledge of a source before it is read: its columns, and the shapes of the taxonomies of these."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.model.taxonomy.taxonomy import Taxonomy


@dataclass(frozen=True)
class Traits:
    """Traits of the type of a column, whatever an engine calls it."""

    is_text: bool
    is_enum: bool  # texts out of a list that the type holds
    is_missing: bool  # all values are missing, which leaves the column without a type
    is_json: bool
    is_float: bool
    is_number: bool  # of whatever kind
    is_fractional: bool  # numbers that need not be whole, and are written so
    is_date: bool  # dates, or points in time
    is_list: bool  # of whatever length
    is_instant: bool  # points in time, whatever the time zone, to the microsecond
    depends_on_time_zone: bool  # the texts of values do, on that of the session
    has_one_text: bool  # two values are equal just when their texts are
    has_one_form: bool  # two values are equal just when their bytes are, with texts compared by these
    has_name: bool  # values have an exact name, by which a folder can be called
    released_as: str  # the type of the column in a release: with texts in place of what is out of a list

    @property
    def can_be_rebuilt(self) -> bool:
        """Whether counts of its values determine the values: those that are counted together look alike."""
        return self.is_text or self.has_one_text


@dataclass(frozen=True)
class ColumnOrigin:
    """The origin of a column of a query: a column of tables, by their names in a ledger, or else of files."""

    name: str
    tables: frozenset[str] = frozenset()


@dataclass(frozen=True)
class SourceColumn:
    """A column of the source, with its type as the engine spells it."""

    name: str
    type: str
    traits: Traits


@dataclass(frozen=True)
class TaxonomyShape:
    """The parts of a taxonomy that binding needs."""

    label_counts: tuple[int, ...]  # of each level, from level 0 to the top
    domain_size: int  # values of level 0, which is the number of leaves
    domain: str  # declared, stated or observed
    sha256: str  # of its rows
    origin: str | None = None  # the file that states its values; None unless the domain is stated
    is_of_policy: bool = False  # a run has stored it, whose policy carried it
    # What identifies its rows, a row per level. The hash, which releases carry, covers neither levels that are left out
    # nor the difference between NULL and an empty text.
    content: tuple[tuple[object, ...], ...] = ()

    @property
    def height(self) -> int:
        """The number of the top level."""
        return len(self.label_counts) - 1


@dataclass(frozen=True)
class MadeTaxonomy:
    """A taxonomy with what it was made by, and its shape if its table has rows for the values alone that occur."""

    taxonomy: Taxonomy
    shape: TaxonomyShape | None = None
