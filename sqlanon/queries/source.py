"""What queries know of a source before they read it: its columns, and the shapes of the taxonomies of these."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.model.taxonomy.taxonomy import Taxonomy


@dataclass(frozen=True)
class Traits:
    """What is to be known of the type of a column, whatever an engine calls it.

    Attributes:
        is_text: its values are texts.
        is_enum: they are texts out of a list that the type holds.
        is_missing: whether all values are missing, which leaves the column without a type.
        is_json: they are documents of JSON.
        is_float: they are floating-point numbers.
        is_number: they are numbers of whatever kind.
        is_fractional: they are numbers that need not be whole, and are written so.
        is_date: they are dates, or points in time.
        is_list: they are lists, of whatever length.
        is_instant: they are points in time, whatever the time zone, to the microsecond.
        depends_on_time_zone: the texts of its values depend on the time zone of the session.
        has_one_text: two values are equal just when their texts are.
        has_one_form: two values are equal just when their bytes are, with texts compared by these.
        has_name: values have an exact name, by which a folder can be called.
        released_as: the type that the column is released in: with texts in place of what is out of a list.
    """

    is_text: bool
    is_enum: bool
    is_missing: bool
    is_json: bool
    is_float: bool
    is_number: bool
    is_fractional: bool
    is_date: bool
    is_list: bool
    is_instant: bool
    depends_on_time_zone: bool
    has_one_text: bool
    has_one_form: bool
    has_name: bool
    released_as: str

    @property
    def can_be_rebuilt(self) -> bool:
        """Whether counts of its values determine the values: those that are counted together look alike."""
        return self.is_text or self.has_one_text


@dataclass(frozen=True)
class ColumnOrigin:
    """What a column of a query is: a column of tables, by their names in a ledger, or of files where there are none."""

    name: str
    tables: frozenset[str] = frozenset()


@dataclass(frozen=True)
class SourceColumn:
    """A column of the source: its name, its type as the engine spells it, and what is to be known of that."""

    name: str
    type: str
    traits: Traits


@dataclass(frozen=True)
class MadeTaxonomy:
    """A taxonomy with what it was made by, and its shape if its table has rows for the values alone that occur."""

    taxonomy: Taxonomy
    shape: TaxonomyShape | None = None


@dataclass(frozen=True)
class TaxonomyShape:
    """What binding needs to know of a taxonomy.

    Attributes:
        label_counts: how many labels each level has, from level 0 to the top.
        domain_size: values of level 0, which is the number of leaves.
        domain: ``declared``, ``stated`` or ``observed``.
        sha256: a hash of its rows.
        origin: the file that states its values; None unless the domain is ``stated``.
        is_of_policy: whether a run has stored it, whose policy carried it.
        content: what identifies its rows, a row per level. The hash, which releases carry, covers neither levels that
            are left out nor the difference between NULL and an empty text.
    """

    label_counts: tuple[int, ...]
    domain_size: int
    domain: str
    sha256: str
    origin: str | None = None
    is_of_policy: bool = False
    content: tuple[tuple[object, ...], ...] = ()

    @property
    def height(self) -> int:
        """The number of the top level."""
        return len(self.label_counts) - 1
