"""A table that was published, with what it promises and the numbers of its run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import Field, PrivateAttr, SerializeAsAny

from sqlanon.errors import EngineError, SqlanonError
from sqlanon.model.release.document import PartialDocument, html_table
from sqlanon.model.release.notebook import MAX_READ_ROWS, in_html, in_text
from sqlanon.model.release.reports import Guarantee, Report


class Published(PartialDocument):
    """What a session has written, and can read again for as long as it is open.

    The rows are those that are there when they are asked for; they are no part of the value.
    """

    into: str
    _rows: Callable[..., Any] | None = PrivateAttr(default=None)

    def to_arrow(self) -> Any:
        """The rows that were published, as a pyarrow Table.

        Raises:
            EngineError: the session is closed, or they are not there any more.
        """
        return self._read("to_arrow_table")

    def df(self) -> Any:
        """The rows that were published, as a pandas DataFrame.

        Raises:
            EngineError: as :meth:`to_arrow`, or pandas is not installed.
        """
        return self._read("df")

    def pl(self) -> Any:
        """The rows that were published, as a polars DataFrame.

        Raises:
            EngineError: as :meth:`to_arrow`, or polars is not installed.
        """
        return self._read("pl")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def _first_rows(self) -> list[dict[str, Any]]:
        """Some rows to look at; none if they cannot be read."""
        try:
            return [] if self._rows is None else self._rows("to_arrow_table", MAX_READ_ROWS).to_pylist()
        except SqlanonError:
            return []

    def _read(self, form: str) -> Any:
        if self._rows is None:
            raise EngineError(
                f"this is the report of {self.into}, without the session that published it: read it by its name",
                step="rows",
            )
        return self._rows(form)


class Release(Published):
    """A published table.

    Attributes:
        into: the table or file.
        node: the level of each quasi-identifier, e.g. ``{"age": 1, "sex": 0, "zip": 3}``; empty for a cut.
        guarantee: what is promised.
        report: the numbers, of the run that wrote it.
        unchanged: whether it was there already, made from the same files by the same policy, so that nothing was done.
        tables: the tables that were published beside it, by what they are.
    """

    node: dict[str, int] = Field(default_factory=dict)
    guarantee: SerializeAsAny[Guarantee]
    report: SerializeAsAny[Report]
    unchanged: bool = False
    tables: dict[str, str] = Field(default_factory=dict)

    def __repr__(self) -> str:
        return super().__repr__() if self.report.rows is None else in_text(self.into, self.report)

    __str__ = __repr__

    def _repr_html_(self) -> str:
        if self.report.rows is not None:
            return in_html(self.into, self.report, self._first_rows())
        promised = self.guarantee.model_dump(mode="json", include={"claims", "conditions", "not_covered"})
        return html_table({**promised, **self.report.model_dump(mode="json")})
