"""Values that are handed back: they can be printed as JSON and, in a notebook, as tables."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer


class Document(BaseModel):
    """A frozen value that can be printed as JSON and, in a notebook, as a table."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    def _repr_html_(self) -> str:
        return html_table(self.model_dump(mode="json"))


class PartialDocument(Document):
    """A document in which JSON leaves out what does not apply: fields that are None or empty and were not given."""

    @model_serializer(mode="wrap")
    def _leave_out(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        given = self.model_fields_set
        return {
            name: value for name, value in handler(self).items() if name in given or value not in (None, {}, [], ())
        }


Reported = TypeVar("Reported", bound=Document)


def with_notes(report: Reported, notes: Sequence[str]) -> Reported:
    """A report with more notes."""
    return report.model_copy(update={"notes": (*getattr(report, "notes"), *notes)}) if notes else report  # noqa: B009


def html_table(document: dict[str, Any]) -> str:
    """A document as a table of HTML, a row a field."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{html.escape(str(key).replace('_', ' '))}</th>"
        f"<td style='text-align:left'>{_html_cell(value)}</td></tr>"
        for key, value in document.items()
    )
    return f"<table>{rows}</table>"


def _html_cell(value: Any) -> str:
    if isinstance(value, dict):
        return "<br>".join(f"{html.escape(str(key))}: {_html_cell(item)}" for key, item in value.items())
    if isinstance(value, list):
        return "<br>".join(_html_cell(item) for item in _listed(value))
    return html.escape(f"{value:.6g}" if isinstance(value, float) else str(value))


def _listed(values: Iterable[Any]) -> list[Any]:
    return [
        ", ".join(f"{key}={item}" for key, item in value.items()) if isinstance(value, dict) else value
        for value in values
    ]
