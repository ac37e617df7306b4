"""What one perturbation makes of its columns: new values by the number of a row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.model.perturbation import Perturbation
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import Grain, Relation, cast, column, string, struct
from sqlanon.queries.source import SourceColumn

SQL = Queries("perturbation")

ROW = "anon_row"  # the number of a row, from 1

ROWS_AT_ONCE = 1 << 17  # draws in memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sqlanon.chance.random_source import RandomSource

    Floats: TypeAlias = NDArray[Any]
    Made: TypeAlias = Callable[[list[Floats]], Iterable[Floats]]

SettingsT = TypeVar("SettingsT", bound=Perturbation)


@dataclass(frozen=True)
class NumberedRows:
    """The rows of a source, read once, each with its number."""

    relation: Relation
    count: int
    columns: Mapping[str, SourceColumn]  # by name
    k: int  # of the policy
    bounds: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)  # public ones, by column
    weight: str | None = None  # the column of the weights of rows


class Change(ABC, Generic[SettingsT]):
    """Changes the values of a column, and of those that its settings take with it.

    Args:
        rows: the source.
        name: the column that has the settings.
        place: that of the perturbation among all, for names of temporary tables.
    """

    def __init__(self, engine: Compute, rows: NumberedRows, name: str, settings: SettingsT, place: int) -> None:
        self.engine = engine
        self.rows = rows
        self.settings = settings
        self.columns = (name, *settings.columns)
        self.place = place

    @property
    def stratum(self) -> exp.Expr:
        """The stratum of a row, a value to group by; NULL is a value of a column like others."""
        if not self.settings.within:
            return string("all")
        # Named, since DuckDB 1.5 makes no table of unnamed structs.
        return struct({f"anon_{place}": column(name) for place, name in enumerate(self.settings.within)})

    def is_number(self, name: str) -> bool:
        return self.rows.columns[name].traits.is_number

    def as_number(self, name: str, table: str | None = None) -> exp.Expr:
        """Read a column as a number; NULL if it has none, or takes numbers for categories."""
        is_number = self.is_number(name) and not self.settings.is_nominal
        return cast(column(name, table) if is_number else exp.null(), "DOUBLE")

    def put_draws(self, source: RandomSource, columns: Sequence[str], made: Made = list) -> Relation:
        """Make the table of what is ``made`` of uniform numbers between 0 and 1: ``columns`` by row."""
        import numpy as np
        import pyarrow as pa

        relation = self.relation("draws")
        schema = pa.schema([(ROW, pa.int64()), *((name, pa.float64()) for name in columns)])

        def batches() -> Iterator[pa.RecordBatch]:
            for first in range(1, self.rows.count + 1, ROWS_AT_ONCE):
                numbers = np.arange(first, min(first + ROWS_AT_ONCE, self.rows.count + 1))
                drawn = made([source.uniform(len(numbers)) for _ in columns])
                yield pa.RecordBatch.from_arrays([*map(pa.array, (numbers, *drawn))], schema=schema)

        self.engine.put(relation, pa.RecordBatchReader.from_batches(schema, batches()))
        return relation

    @property
    def made(self) -> Relation:
        """The table of changed values."""
        return self.relation("changed")

    def relation(self, what: str, grain: Grain = "row") -> Relation:
        """Name a temporary table of this change."""
        return Relation(f"anon_{what}_{self.place}", grain)

    @abstractmethod
    def problems(self) -> Iterator[str]:
        """List why the columns cannot be changed like this, a sentence on a column each; draws nothing."""

    @abstractmethod
    def make(self, source: RandomSource) -> None:
        """Make the table :attr:`made`: ``anon_row``, and :attr:`columns` in the types of the source."""

    def remarks(self) -> Iterator[str]:
        """Say what the draws mean, in sentences for those who may see the source; called after :meth:`make`."""
        yield from ()

    def beside(self) -> Mapping[str, exp.Query]:
        """Select the rows of the companion tables that the settings name; called after :meth:`make`."""
        return {}
