"""Values that are handed back: they can be printed as JSON, and shown as documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer

from sqlanon.report import html
from sqlanon.report.document import Document, facts
from sqlanon.report.notebook import fragment


class Result(BaseModel):
    """A frozen value that can be printed as JSON, and shown on a console, in a notebook and as a page of HTML."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    def document(self) -> Document:
        """What is shown of it: its fields, unless it has better words."""
        titles = {name: field.title or name.replace("_", " ") for name, field in type(self).model_fields.items()}
        fields = self.model_dump(mode="json").items()
        return Document(type(self).__name__, (facts((titles[name], value) for name, value in fields),))

    def to_html(self) -> str:
        """What is shown of it as a page of HTML that needs no other file.

        It is for the custodian: that of a release has the findings, which show facts of suppressed rows.
        """
        return html.page(self.document())

    def _repr_html_(self) -> str:
        return fragment(self.document())


class PartialResult(Result):
    """A result in which JSON leaves out what does not apply: fields that are None or empty and were not given."""

    @model_serializer(mode="wrap")
    def _leave_out(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        given = self.model_fields_set
        return {
            name: value for name, value in handler(self).items() if name in given or value not in (None, {}, [], ())
        }


Reported = TypeVar("Reported", bound=Result)


def with_notes(report: Reported, notes: Sequence[str]) -> Reported:
    """A report with more notes."""
    return report.model_copy(update={"notes": (*getattr(report, "notes"), *notes)}) if notes else report  # noqa: B009
