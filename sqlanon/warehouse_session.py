"""What every session on a warehouse has: its connection, its macros, its taxonomies, and an end."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from sqlanon.accounts import Accounts
from sqlanon.engines.base import ResolvedSource
from sqlanon.model.taxonomy import Taxonomy
from sqlanon.run import taxonomies
from sqlanon.run.files import bring_back

if TYPE_CHECKING:
    import duckdb


class WarehouseSession(Accounts):
    """A connection to a warehouse, and what is stored there for all policies."""

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The DuckDB connection under the session."""
        return self._engine.connection

    def install(self) -> None:
        """Create schema ``anon`` with all macros in the warehouse, for any DuckDB client to call.

        Raises:
            EngineError: the warehouse is read-only.
        """
        self._engine.install()

    def load_taxonomy(
        self,
        attribute: str,
        taxonomy: Taxonomy | str | Path,
        *,
        source: str | Path | None = None,
        column: str | None = None,
    ) -> None:
        """Store the taxonomy of an attribute in ``anon.taxonomy``, in place of the one that is there.

        Args:
            attribute: the quasi-identifier that it is for.
            taxonomy: a :class:`Taxonomy`, or the path of an ARX hierarchy CSV.
            source: if given, the taxonomy must cover the column there, and a rule without a declared domain takes its
                values from it.
            column: the column of the source, if it is not named like the attribute.

        Raises:
            TaxonomyError: malformed or not covering the source; the taxonomy that was there stays.
        """
        if not isinstance(taxonomy, Taxonomy):
            taxonomy = Taxonomy.from_csv(taxonomy)
        resolved = None if source is None else self._resolve(source)
        taxonomies.load(self._engine, attribute, taxonomy, resolved, column or attribute)

    def taxonomies(self) -> dict[str, dict[str, object]]:
        """The stored taxonomies: height, values, labels per level, and whether the domain was declared or observed."""
        return {
            name: {
                "height": shape.height,
                "values": shape.domain_size,
                "labels": list(shape.label_counts),
                "domain": shape.domain,
            }
            for name, shape in taxonomies.shapes(self._engine).items()
        }

    def check_taxonomies(self) -> dict[str, list[str]]:
        """What is wrong with the stored taxonomies, a line per problem, by attribute; empty if nothing is."""
        return taxonomies.malformed(self._engine)

    def export_taxonomy(self, attribute: str, path: str | Path, *, replace: bool = False) -> None:
        """Write a stored taxonomy as an ARX hierarchy CSV, ``;``-separated.

        Raises:
            TaxonomyError: there is no such taxonomy.
            EngineError: the file exists and may not be replaced, or cannot be written.
        """
        taxonomies.export(self._engine, attribute, Path(path), replace=replace)

    def _resolve(self, source: str | Path) -> ResolvedSource:
        bring_back(str(source))
        return self._engine.resolve(str(source))

    def close(self) -> None:
        """Close the connection, unless it was lent to the session."""
        self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
