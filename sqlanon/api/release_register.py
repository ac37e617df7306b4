"""The Python interface to the releases that a warehouse lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.api.opened import Part
from sqlanon.engines.locks import exclusive

if TYPE_CHECKING:
    from sqlanon.engines.relations import Source
    from sqlanon.model.release.listed import ReleaseList


class ReleaseRegister(Part):
    """The releases that sessions on a warehouse have made: ``session.releases``.

    They are the rows of the table ``anon.releases`` of the warehouse, made with its first release: where each was
    published, from which data sets, by which policy and method, at which node, with how many rows, and of how many the
    smallest class is. No cell value is among them, nor the text of a query. Dry runs, runs that fail, and runs that
    leave their target as it is add none.

    A session that is read-only lists none, and its report says so. The list of a session in memory ends with it.
    """

    @exclusive
    def list(self, dataset: Source | None = None, *, forgotten: bool = False) -> ReleaseList:
        """The releases, in the order in which they were made, each with what is at its target now.

        A release that was replaced, removed or changed stays on the list: whoever has a copy keeps it.

        Args:
            dataset: a source, for the releases that read a table or a file that it reads; the name of one that is not
                here any more will do. Without it, all releases.
            forgotten: whether those are on it as well that were forgotten.

        Raises:
            EngineError: there is another table of the name of the list.
        """
        from sqlanon.releases.listing import listed
        from sqlanon.releases.names import datasets_called

        datasets = None if dataset is None else datasets_called(self._engine, dataset, self._opened.resolve)
        return listed(self._engine, datasets, forgotten=forgotten)

    @exclusive
    def forget(self, name: str, *, reason: str) -> ReleaseList:
        """Mark the releases of a target as forgotten, as one that nobody was given; their rows stay, with the reason.

        Args:
            name: the target, however it is spelled: a table, a path or an address, or the path of the file of a fit.
            reason: why, for whoever audits the list.

        Returns:
            the releases that it has marked.

        Raises:
            PolicyError: the reason is empty, there is none of that name, or it was forgotten before.
            EngineError: the warehouse is read-only.
        """
        from sqlanon.releases.listing import forget

        return forget(self._engine, name, reason)
