"""The roles of the columns of one of several linked tables, and its place among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from sqlanon.model.names import spelled_like
from sqlanon.model.policy.fields import OTHERS, NumberAsWritten, Unknown, action_for
from sqlanon.model.policy.linked_checks import REFUSED_SETTINGS, ROLES
from sqlanon.model.policy_value import Kept, Names, PolicyValue, Share, respelled
from sqlanon.model.taxonomy.rules import Columns, TaxonomyRule

COLUMN_FIELDS = ("taxonomies", "unknown", "bottom_coding", "top_coding")
"""The fields by column."""
CAP = {"at_most", "above", "order"}  # the fields of the maximum number of rows of a person


def _one_column(given: Any) -> Any:
    if isinstance(given, list | tuple):
        raise PydanticCustomError("several_columns", "must be one column: make one of several in a view")
    return given


Key = Annotated[str, BeforeValidator(_one_column)]


class TableRoles(PolicyValue):
    """The roles of the columns of one of several linked tables, and its place among them.

    Args:
        parent: the table whose rows this table's rows belong to; None for the table of persons.
        key: the column with the key of the parent's row.
        row_key: the column with the key of a row; a table needs one if others hang from it, as the table of persons.
        quasi_identifiers, sensitive, identifiers, insensitive: columns by role, as in :class:`Policy`. Keys have no
            other role.
        taxonomies, unknown, bottom_coding, top_coding: by column, as in :class:`Policy`; unknown values are refused
            (``"error"``) or get the label of the top level (``"top"``).
        suppression_limit: the share of the table's rows that may be left out, for whatever reason; by default that of
            the policy, which is of persons.
        at_most: how many rows a person may have in this table.
        above: ``"refuse"`` refuses a source in which a person has more rows than ``at_most``; ``"first"`` leaves out
            all but the first rows by ``order``, and counts them as hidden.
        order: the columns that rows of a person are ordered by, for ``above="first"``.
        orphans: ``"drop"`` leaves out rows that belong to no row of the parent; by default they are refused.
    """

    refused: ClassVar[Mapping[str, str]] = REFUSED_SETTINGS
    naming_columns: ClassVar[Sequence[str]] = ("key", "row_key", *ROLES, "order", *COLUMN_FIELDS)

    parent: str | None = None
    key: Key | None = None
    row_key: Key | None = None
    quasi_identifiers: Names = ()
    sensitive: Names = ()
    identifiers: Names = ()
    insensitive: Names = ()
    taxonomies: Annotated[Mapping[str, Any], Kept(dict[str, TaxonomyRule])] = Field(default_factory=dict)
    unknown: Annotated[Any, Kept(Unknown)] = Field(default_factory=dict)
    bottom_coding: dict[str, NumberAsWritten] = Field(default_factory=dict)
    top_coding: dict[str, NumberAsWritten] = Field(default_factory=dict)
    suppression_limit: Share | None = None
    at_most: Annotated[int, Field(ge=1, strict=True)] | None = None
    above: Literal["refuse", "first"] = "refuse"
    order: Names = ()
    orphans: Literal["refuse", "drop"] = "refuse"

    @field_validator(*COLUMN_FIELDS, "order")
    @classmethod
    def _spelled_like_roles(cls, value: Any, info: ValidationInfo) -> Any:
        return respelled(value, [name for role in ROLES for name in info.data.get(role, ())])

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that join rows: they are never released as they are."""
        return tuple(name for name in (self.row_key, self.key) if name is not None)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns with a role."""
        return tuple(dict.fromkeys([*self.keys, *(name for role in ROLES for name in getattr(self, role))]))

    @property
    def label_columns(self) -> frozenset[str]:
        """The columns with labels of others, by their taxonomies: they are read even if they are dropped."""
        rules = (rule for rule in self.taxonomies.values() if isinstance(rule, Columns))
        return frozenset(spelled_like(name, self.columns) for rule in rules for name in rule.columns)

    def of_table(self, table: str) -> TableRoles:
        """Return the roles with the name of the table in all columns, and an action for each unknown value."""
        # One action for the others is not for those of other tables.
        known = (*self.quasi_identifiers, *self.unknown) if OTHERS in self.unknown else (*self.unknown,)
        unknown = {name: action_for(self.unknown, name) for name in known if name != OTHERS}
        fields = {name: getattr(self, name) for name in self.naming_columns} | {"unknown": unknown}
        return self.model_copy(update={name: _named(table, value) for name, value in fields.items()})


def qualified(table: str, column: str) -> str:
    """Name a column of one of several tables."""
    return f"{table}.{column}"


def _named(table: str, value: Any) -> Any:
    """Put the name of a table before a column, several, those of a mapping, or those with the labels of a rule."""
    match value:
        case str():
            return qualified(table, value)
        case tuple():
            return tuple(qualified(table, name) for name in value)
        case dict():
            return {
                qualified(table, name): each if isinstance(each, str) else _named(table, each)
                for name, each in value.items()
            }
        case Columns():
            return value.model_copy(update={"columns": _named(table, value.columns)})
    return value
