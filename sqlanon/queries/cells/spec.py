"""Which cells are made of a source: what tells them apart, and what they count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from sqlanon.queries.cells.unknown import UnknownValues
from sqlanon.queries.source import SourceColumn, TaxonomyShape
from sqlanon.queries.tables.spelled import Taxonomies


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
        protected: the other columns whose values tell cells apart, such as those that privacy models look at.
        protected_shapes: the shapes of the taxonomies by whose labels protected columns are looked at.
        compared: the protected columns whose values in a class are compared with those of the whole table.
        individual: the column that tells whose row it is, if cells are to be told apart by it.
        row_weight: the column of weights that cells are to sum up.
        population: the population as a relation, if there are to be cells of it as well.
        released: the columns that a release has.
        pseudonyms: those with pseudonyms in place of the values.
        unknown: what is done with values that taxonomies do not have, if there may be any.
        leaves: the counts of labels that have more leaves than their taxonomy has values under them.
        in_key_order: whether cells are in the order of their keys, in which those of a class stand close together.
    """

    source: exp.Table | exp.Subquery
    columns: tuple[SourceColumn, ...]
    quasi_identifiers: tuple[str, ...]
    shapes: tuple[TaxonomyShape, ...]
    taxonomy: Taxonomies
    protected: tuple[str, ...] = ()
    protected_shapes: Mapping[str, TaxonomyShape] = field(default_factory=dict)
    compared: tuple[str, ...] = ()
    individual: str | None = None
    row_weight: str | None = None
    population: exp.Expr | None = None
    released: frozenset[str] = frozenset()
    pseudonyms: tuple[str, ...] = ()
    unknown: UnknownValues | None = None
    in_key_order: bool = True
    leaves: exp.Table | None = None

    @property
    def roots(self) -> Mapping[str, str]:
        """By quasi-identifier whose unknown values have the label of the top at every level, that label."""
        return {} if self.unknown is None else self.unknown.roots
