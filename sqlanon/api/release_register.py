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
    published, its data sets, policy, method and node, the number of its rows, and the size of its smallest class. They
    have neither cell values nor the texts of queries. Dry runs and runs that fail add none; runs that leave their
    target as it is add its row if that is missing.

    The rows of a session that is read-only wait in a hidden folder beside the warehouse, and are on the list. If
    sqlanon has no tables in the warehouse, or its file cannot be written, none is listed, and the report says so. The
    list of a session in memory ends with it.
    """

    @exclusive
    def list(self, dataset: Source | None = None, *, forgotten: bool = False) -> ReleaseList:
        """The releases, in the order in which they were made, each with what is at its target now.

        A release that was replaced, removed or changed stays on the list: whoever has a copy keeps it.

        Args:
            dataset: a source, for the releases that read a table or a file that it reads; the name of one that is not
                here any more will do. Without it, all releases.
            forgotten: list those that were forgotten as well.

        Raises:
            EngineError: there is another table of the name of the list, or a row that waits cannot be read.
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
            PolicyError: the reason is blank, the list lacks the release, or somebody has marked it before.
            EngineError: the warehouse is read-only.
        """
        from sqlanon.releases.listing import forget

        return forget(self._engine, name, reason)

    @exclusive
    def _take_up(self) -> None:
        """Write the rows of releases that were published while the warehouse was open read-only."""
        from sqlanon.releases.waiting import take_up

        take_up(self._engine)
