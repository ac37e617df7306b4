"""The releases that sessions on a warehouse have made, as it lists them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Literal

from pydantic import Field

from sqlanon.model.release.measurement import PartialResult, Result
from sqlanon.report.document import Part, Table, count, paragraph

State = Literal["there", "replaced", "gone", "unconfirmed", "unseen"]
"""What is found of a release: it is at its target; a later one on the list is; neither is; neither is, and it is not
known to have been published; or the target cannot be looked at from here."""


class ListedRelease(PartialResult):
    """A release that a warehouse lists. It has no cell value, and of a query no more than the data sets that it reads.

    Attributes:
        target: where it was published: a table, with its schema unless that is ``main``; an absolute path; or an
            address. Of a fit the path of its sidecar, whatever partitions were published with it.
        datasets: what it was made from, by the names that a ledger has for tables and files; none of a frame.
        method: the name of the method.
        policy_sha256: the hash of the policy that it meets.
        node: the level of each quasi-identifier; None for a method that has no node.
        row_count: its rows; of a fit those of all partitions; None where a method counts none.
        min_class_size: the rows of its smallest class; None where no class is known, as of a private method.
        record_sha256: the hash of its record, of a fit that of the last partition; None until the run confirms that it
            has published the release.
        fit_sha256: the hash of the fit whose partitions it is; None of any other release.
        made_at: when, in UTC; of a fit the time of the last partition.
        forgotten_at, forgotten_reason: when it was forgotten, in UTC, and why; None if it was not.
        state: ``there`` if the target holds it, ``replaced`` if it holds a later one of the list, ``gone`` if it holds
            neither; ``unconfirmed`` if it is not there and no run has confirmed that it was published: the run goes
            on, or it was killed, and of a private release the budget may be spent; and ``unseen`` if it cannot be
            looked at from this session. Whoever has a copy keeps it.
    """

    target: str
    datasets: tuple[str, ...]
    method: str
    policy_sha256: str
    node: dict[str, int] | None = None
    row_count: int | None = None
    min_class_size: int | None = None
    record_sha256: str | None = None
    fit_sha256: str | None = None
    made_at: datetime
    forgotten_at: datetime | None = None
    forgotten_reason: str | None = None
    state: State


class ReleaseList(Result):
    """Releases in the order in which they were made.

    Attributes:
        database: the warehouse that lists them.
        releases: what is on the list.
    """

    database: str
    releases: tuple[ListedRelease, ...] = Field(default=())

    @property
    def heading(self) -> str:
        return "Releases"

    def parts(self) -> Iterator[Part]:
        if not self.releases:
            yield paragraph("no release is on the list")
            return
        names = ("UTC", "target", "state", "data sets", "method", "node", "rows", "smallest class")
        rows = [
            (
                each.made_at.isoformat(" ", "seconds"),
                each.target,
                each.state if each.forgotten_at is None else "forgotten",
                ", ".join(each.datasets),
                each.method,
                ", ".join(f"{name} {level}" for name, level in (each.node or {}).items()),
                *("" if number is None else count(number) for number in (each.row_count, each.min_class_size)),
            )
            for each in self.releases
        ]
        forgotten = [
            (each.target, each.forgotten_at.isoformat(" ", "seconds"), each.forgotten_reason or "")
            for each in self.releases
            if each.forgotten_at is not None
        ]
        yield Table(names, rows, numbers=(6, 7))
        if forgotten:
            yield Table(("forgotten", "UTC", "reason"), forgotten)
