"""The plan of a query, before it is optimized → what it scans: all names are resolved by then, however made."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

FILES = frozenset(
    {"PARQUET_SCAN", "READ_BLOB", "READ_CSV", "READ_CSV_AUTO", "READ_PARQUET", "READ_TEXT"}
    | {f"READ_{kind}{form}" for kind in ("JSON", "NDJSON") for form in ("", "_AUTO", "_OBJECTS", "_OBJECTS_AUTO")}
)
FRAMES = frozenset({"ARROW_SCAN", "ARROW_SCAN_DUMB", "PANDAS_SCAN", "PYTHON_ARROW_SCAN"})
MADE_OF_NOTHING = frozenset(
    {"CHUNK_GET", "COLUMN_DATA_SCAN", "CTE_SCAN", "DELIM_GET", "DUMMY_SCAN", "EMPTY_RESULT", "EXPRESSION_SCAN"}
    | {"GENERATE_SERIES", "JSON_EACH", "JSON_TREE", "RANGE", "REPEAT", "REPEAT_ROW", "UNNEST"}
)
"""Where rows begin that are those of no table: constants, and what is made of other rows of the query."""


@dataclass(frozen=True)
class Scans:
    """What a plan scans.

    Attributes:
        tables: references to tables, as DuckDB spells them.
        files: how many scans of files there are.
        frames: how many of frames of Python.
        others: the functions that rows come from whose origin nobody knows, in lower case.
    """

    tables: tuple[str, ...]
    files: int
    frames: int
    others: tuple[str, ...]


def scans_of(plan: str) -> Scans:
    """What a plan scans, as EXPLAIN shows it in JSON."""
    leaves = [leaf for root in json.loads(plan) for leaf in _leaves(root)]
    tables = [str(leaf["extra_info"]["Table"]) for leaf in leaves if "Table" in leaf["extra_info"]]
    functions = [str(leaf["name"]).strip().upper() for leaf in leaves if "Table" not in leaf["extra_info"]]
    others = [name for name in functions if name not in FILES | FRAMES | MADE_OF_NOTHING]
    return Scans(
        tuple(dict.fromkeys(tables)),
        sum(name in FILES for name in functions),
        sum(name in FRAMES for name in functions),
        tuple(dict.fromkeys(name.lower() for name in others)),
    )


def _leaves(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The parts of a plan that have no other below them, or scan a table."""
    if not node["children"] or "Table" in node["extra_info"]:
        yield node
    for child in node["children"]:
        yield from _leaves(child)
