"""What every session on a warehouse has: its connection, its macros, its taxonomies, and an end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from sqlanon.api.ledger import Accounts
from sqlanon.binding import taxonomies
from sqlanon.engines.base import ResolvedSource, Source
from sqlanon.engines.frames import is_frame, reading
from sqlanon.model.destination import Destination
from sqlanon.model.release import Published
from sqlanon.model.taxonomy.taxonomy import Taxonomy
from sqlanon.publish.files import bring_back

if TYPE_CHECKING:
    from sqlanon.engines.duckdb import Connection


Written = TypeVar("Written", bound=Published)


class WarehouseSession(Accounts):
    """A connection to a warehouse, and what is stored there for all policies."""

    @property
    def connection(self) -> Connection:
        """The DuckDB connection under the session."""
        connection: Connection = self._engine.connection
        return connection

    def install(self) -> None:
        """Create schema ``anon`` with all macros in the warehouse, for any DuckDB client to call.

        Raises:
            EngineError: the warehouse is read-only.
        """
        self._engine.install()

    @reading
    def load_taxonomy(
        self,
        attribute: str,
        taxonomy: Taxonomy | str | Path,
        *,
        source: Source | None = None,
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
        """The stored taxonomies: height, values, labels per level, and the domain.

        The domain is ``declared``, ``stated`` by a file, or ``observed``: read off the data, or changed in SQL since it
        was loaded.
        """
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

        Beside it goes ``<path>.sqlanon.json``, which tells where its values come from, for it to be loaded again.

        Raises:
            TaxonomyError: there is no such taxonomy.
            EngineError: the file exists and may not be replaced, or cannot be written.
        """
        taxonomies.export(self._engine, attribute, Path(path), replace=replace)

    def _resolve(self, source: Source) -> ResolvedSource:
        engine = self._engine
        if not is_frame(source):
            bring_back(str(source))
        return engine.resolve(source)

    def _readable(self, release: Written, into: Destination) -> Written:
        """A release whose rows can be asked for."""
        release._rows = _Rows(self, into)
        return release

    def close(self) -> None:
        """Close the connection, unless it was lent to the session, which takes no more calls."""
        self._is_closed = True
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class _Rows:
    """Reads what a session has published, in the session; a copy in another process has nothing to read."""

    def __init__(self, session: WarehouseSession, into: Destination) -> None:
        self._session = session
        self._source = into.name if into.kind == "table" else str(into.path)

    def __call__(self, form: str) -> Any:
        found = self._session._resolve(self._source)
        return self._session._engine.hand_out(found.relation, form)

    def __deepcopy__(self, _memo: object) -> _Rows:
        return self

    def __reduce__(self) -> tuple[Callable[[], None], tuple[()]]:
        return _nothing, ()


def _nothing() -> None:
    return None
