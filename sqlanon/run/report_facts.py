"""Facts of a report that are not measured: how a source was read, what a method adds, what partitions there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlanon.engines.relations import ResolvedSource
from sqlanon.methods.base import method_of
from sqlanon.model.dataset_names import CSV_SUFFIXES
from sqlanon.model.policy.policy import Policy
from sqlanon.model.record import PartitionRecord
from sqlanon.report.document import count

GUESSED = (
    "{}: DuckDB guesses types from the first rows, so that 02139 may be 2139, and 250.10 and 250.1 one code; name the "
    "CSV file itself, or read it with all_varchar = true"
)
"""What is to be known of a query whose types follow some rows."""

MAX_READ = 12
"""Columns whose types a run lists as they were read."""


def notes_on_reading(source: ResolvedSource) -> tuple[str, ...]:
    """How CSV files were read, as a note, which does not travel with a release: it is about all rows of the source."""
    if guessed := [
        name for name in source.guessed if name.startswith("read_csv") or name.lower().endswith(CSV_SUFFIXES)
    ]:
        return (GUESSED.format(", ".join(guessed)),)
    form, *columns = source.read_as or ("",)
    left = len(columns) - MAX_READ
    shown = [*columns[:MAX_READ], f"and {left:,} more columns"] if left > 0 else columns
    return (f"read as {form}: {', '.join(shown)}",) if form else ()


def of_files(source: ResolvedSource | None) -> dict[str, Any]:
    """How CSV files of the source are read, for those who may see it."""
    return {} if source is None or not source.read_as else {"source read as": ", ".join(source.read_as)}


def titled(facts: Mapping[str, Any], policy: Policy) -> dict[str, Any]:
    """What the method of a policy adds to a report, by what it is."""
    titles = {name: field.title for name, field in method_of(policy).report_class.model_fields.items()}
    return {
        title: facts[name] for name, title in titles.items() if title is not None and facts.get(name) not in (None, [])
    }


def of_partitions(fit: PartitionRecord | None) -> dict[str, Any]:
    """What is known of the other partitions of a fit."""
    if fit is None:
        return {}
    return {
        "partitions published with the fit": fit.partitions,
        "privacy models are met": "by each partition on its own"
        if fit.every_partition
        else "by all partitions together",
        "rows of all partitions": f"{count(fit.rows.released)} of {count(fit.rows.source)}",
    }
