"""What the values of a column show of the identifiers that HIPAA's Safe Harbor removes: see ``sql/safe_harbor.sql``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.queries.kit.named import Queries, Role
from sqlanon.queries.kit.nodes import Relation, Step, column, union_all

SQL = Queries("safe_harbor")

TEXTS = Relation("anon_judged_texts", "count")
MEANINGS = Relation("anon_judged_columns", "count")


@dataclass(frozen=True)
class Meaning:
    """What is known of a column before its values are judged.

    Attributes:
        attribute: its name.
        is_text: whether its type is not one of numbers.
        is_age, is_birth, is_date, is_zip: what its name says that it has; a date may be a part of one (``is_part``).
        is_coordinate, is_number: the same of coordinates, and of numbers of persons, such as of telephones.
        is_unnamed: whether its name says nothing.
        is_top_coded: whether 90 stands for all ages from there on.
        is_bottom_coded: whether the lowest year stands for all years that say an age above 89.
        first_year: the first year of birth that says no age above 89.
    """

    attribute: str
    is_text: bool
    is_age: bool
    is_birth: bool
    is_date: bool
    is_part: bool
    is_zip: bool
    is_coordinate: bool
    is_number: bool
    is_unnamed: bool
    is_top_coded: bool
    is_bottom_coded: bool
    first_year: int


def texts(source: exp.Expr, columns: Iterable[str]) -> Step:
    """The distinct values of some columns, by the place of the column."""
    each = (SQL.query("texts", source=source, value=column(name), place=place) for place, name in enumerate(columns))
    return Step(TEXTS, union_all(each), "texts of the columns")


def shown_kinds(taxonomy: exp.Table | None) -> exp.Query:
    """The kinds of identifiers that the texts show, by the place of the column, once the meanings are there.

    Args:
        taxonomy: the taxonomies that labels are of, if there are any.
    """
    asked: dict[str, dict[str, Role]] = {"shown_kinds": {}, "shown_numbers": {}}
    if taxonomy is not None:
        asked["split_kinds"] = {"taxonomy": taxonomy}
    return union_all(SQL.query(name, values=TEXTS, meanings=MEANINGS, **more) for name, more in asked.items())
