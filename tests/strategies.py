"""Hypothesis strategies: hostile names, small tables with NULLs, nested taxonomies that cover them, and nodes."""

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from tests.oracle import Row, Taxonomy, Value, height, text

HOSTILE_NAMES = (
    'a"b', 'a""b', '"', "it's", "select", "; drop table x --", "/* a */ b", "marital status", " padded ", "Größe",
    "年齢", "🙂", "1st", "a.b", "a,b", "%s", "$1", "?", "{x}", "\\", ".*", "*", "NULL",
    # The words that the macros themselves use.
    "attribute", "level", "value", "label", "height", "node", "cells", "source", "quasi_identifiers", "sensitive", "k",
    "l", "kept", "column", "population",
)  # fmt: skip

# Columns that macros add beside the quasi-identifiers: a quasi-identifier of the same name would stand there twice.
RESERVED_NAMES = frozenset({"row_count", "class_size", "sensitive_value"})

TEXT_VALUES = ("", " ", "*", "NULL", "'", '"', "a'b", "é", "x;y", "0", "1", "A", "a")
INTEGER_VALUES = (-7, 0, 1, 2, 10, 2**31 - 1)


@dataclass(frozen=True)
class Case:
    """A table, its columns' types, the quasi-identifiers with their taxonomies, a sensitive column and a node."""

    rows: list[Row]
    columns: dict[str, str]
    taxonomies: dict[str, Taxonomy]
    sensitive: str
    node: dict[str, int]

    @property
    def quasi_identifiers(self) -> list[str]:
        """The columns of the node, in its order."""
        return list(self.node)


def column_names() -> st.SearchStrategy[str]:
    """Names that a naive quoting, a regular expression or a template would break on."""
    random_text = st.text(st.characters(exclude_categories=("Cc", "Cs", "Cn")), min_size=1, max_size=6)
    return (st.sampled_from(HOSTILE_NAMES) | random_text).filter(_allowed)


def distinct_names(minimum: int, maximum: int) -> st.SearchStrategy[list[str]]:
    """Column names of one table; no two are equal when case is ignored."""
    return st.lists(column_names(), min_size=minimum, max_size=maximum, unique_by=_folded)


def domains(sql_type: str) -> st.SearchStrategy[list[Value]]:
    """The distinct values of a column, without NULL."""
    values = TEXT_VALUES if sql_type == "VARCHAR" else INTEGER_VALUES
    return st.lists(st.sampled_from(values), min_size=1, max_size=5, unique=True)


@st.composite
def taxonomies(draw: st.DrawFn, domain: Sequence[Value]) -> Taxonomy:
    """A nested taxonomy of height 1 to 3 that covers the domain; its top is ``*``; sometimes NULL has a row."""
    values = [text(value) for value in domain]
    if draw(st.booleans()):
        values.append(None)
    rows: list[list[str | None]] = [[value] for value in values]
    parts = list(range(len(values)))
    for level in range(1, draw(st.integers(1, 3))):
        # Whole groups of the level below go to a group of this level: that is what makes it nested.
        groups = {part: draw(st.integers(0, 2)) for part in sorted(set(parts))}
        parts = [groups[part] for part in parts]
        for row, part in zip(rows, parts, strict=True):
            row.append(f"{level}/{part}")
    return [[*row, "*"] for row in rows]


@st.composite
def cases(draw: st.DrawFn, min_rows: int = 0, max_rows: int = 12, max_quasi_identifiers: int = 4) -> Case:
    """A random table with everything that the macros ask about it."""
    *names, sensitive, other = draw(distinct_names(3, max_quasi_identifiers + 2))
    columns = {name: draw(st.sampled_from(["VARCHAR", "INTEGER"])) for name in [*names, sensitive]}
    values = {name: draw(domains(sql_type)) for name, sql_type in columns.items()}
    known = {name: draw(taxonomies(values[name])) for name in names}
    row = st.fixed_dictionaries({name: st.sampled_from([None, *domain]) for name, domain in values.items()})
    rows = draw(st.lists(row, min_size=min_rows, max_size=max_rows))
    node = {name: draw(st.integers(0, height(known[name]))) for name in draw(st.permutations(names))}
    return Case(
        rows=[{**row, other: number} for number, row in enumerate(rows)],
        columns={**columns, other: "INTEGER"},
        taxonomies=known,
        sensitive=sensitive,
        node=node,
    )


def _allowed(name: str) -> bool:
    return not _folded(name).startswith("anon_") and _folded(name) not in RESERVED_NAMES


def _folded(name: str) -> str:
    return name.casefold()
