"""Counts of a source to suggest a policy from, and expressions that clean its texts: see ``sql/suggest.sql``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from sqlglot import exp

from sqlanon.queries.exposures import comparable
from sqlanon.queries.kit.macros import as_read, cast_value, text
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    c,
    cast,
    column,
    count_rows,
    f,
    grouped,
    names,
    number,
    select,
    string,
    try_cast,
    union_all,
    unpivoted,
)
from sqlanon.queries.source import SourceColumn

SQL = Queries("suggest")

PROFILE = Relation("anon_profile", "count")
CELLS = Relation("anon_suggested_cells", "cell")
REPEATED = (Relation("anon_repeated_cells_0", "cell"), Relation("anon_repeated_cells_1", "cell"))
LONE = (Relation("anon_lone_cells_0", "cell"), Relation("anon_lone_cells_1", "cell"))
COPY = Relation("anon_copied_source", "row")
SAMPLE = Relation("anon_sampled_source", "row")

TEXTS = "anon_texts"

MAX_SPELLED = 31
LAST_DIGIT = ord("9")
SPELLED = r"^\s*[-+.]?[0-9]"
"""Texts that may spell a number or a point in time: their maximum bytes, greatest first letter, and beginning."""
TEXTS_AT_ONCE = 1_000  # columns of texts per statement
SHARE_OF_OWN_LABEL = 0.02  # the share of rows at which a text gets its own label

DAY_FORMATS = {
    "dmy": ("%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y", "%Y-%m-%d"),
    "mdy": ("%m/%d/%Y", "%m-%d-%Y", "%m.%d.%Y", "%Y-%m-%d"),
}
"""Formats of days, by the order of the day, the month and the year."""

ISO_FORMATS = ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S.%f")

SIGN = (
    r"(?i:(?:US|CA|AU|R)?[$]|\p{Sc}|USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|ZAR"
    "|kr|zł|Kč)"
)
"""The sign of a currency, as a regular expression."""

WORDS_OF_TOTALS = (
    "total,totals,grand total,subtotal,sum,summe,gesamt,gesamtsumme,insgesamt,zwischensumme,somme,totale,totaal"
)
"""Texts at the beginning of a line of totals."""


def copied(source: exp.Expr, copy: Relation = COPY) -> Step:
    """Copy a source, where reading it repeatedly would take longer."""
    return Step(copy, select([exp.Star()], source.copy()), "read the source")


def sampled(source: exp.Expr, most: int) -> Step:
    """Sample a number of rows of a source, the same ones in every run."""
    return Step(SAMPLE, SQL.query("sampled_rows", source=source, most=most), "a sample of the source")


def profile(source: exp.Expr, columns: Sequence[SourceColumn]) -> Step:
    types: dict[str, dict[int, SourceColumn]] = {}
    for place, found in enumerate(columns):
        types.setdefault(found.type, {})[place] = found
    profiles = []
    for alike in types.values():
        values = {place: comparable({each.name: each.traits}, each.name) for place, each in alike.items()}
        found = next(iter(alike.values()))
        texts = c.anon_value if found.traits.is_text else cast(exp.null(), "VARCHAR")
        has_moments = found.traits.is_date or found.traits.is_text
        moments = _read(found, c.anon_value, "TIMESTAMP") if has_moments else cast(exp.null(), "TIMESTAMP")
        numbers = _number(found, c.anon_value)
        roles = SQL.given(places=number([*alike]), text=texts, number=numbers, moment=moments)
        profiles.append(roles.query("column_profile", cells=unpivoted(source, values)))
    return Step(PROFILE, union_all(profiles), "counts of the columns")


def profiled() -> exp.Query:
    return select([exp.Star(except_=[exp.to_identifier(TEXTS)])], PROFILE.table).order_by(c.place)


def shapes() -> exp.Query:
    """Count the texts of each column by shape, the most frequent one first."""
    return SQL.query("shapes", profile=PROFILE)


def pair_counts(source: exp.Expr, columns: Mapping[str, SourceColumn], pairs: Sequence[tuple[str, str]]) -> exp.Query:
    """Count the pairs of values of two columns each, by the place of the pair."""
    values = {name: comparable({name: found.traits}, name) for name, found in columns.items()}
    return union_all(
        SQL.query("pair_count", source=source, place=place, one=values[one], other=values[other])
        for place, (one, other) in enumerate(pairs)
    )


def written(source: exp.Expr, columns: Sequence[str], codes: Sequence[str]) -> exp.Query:
    """Select the forms of texts in CSV files, by the place of the column."""
    return SQL.query("written_columns", cells=texts_of(source, columns), codes=names([*codes]))


def texts_of(source: exp.Expr, columns: Sequence[str]) -> exp.Select:
    """Select the text of each value of some columns, ``anon_value``, by the place of the column, ``anon_place``."""
    return unpivoted(source, {place: text(column(name)) for place, name in enumerate(columns)})


def monotone_pairs(
    source: exp.Expr, columns: Mapping[str, SourceColumn], pairs: Sequence[tuple[str, str]]
) -> exp.Query:
    """Count how often the second number rises and falls in the order of the first, by the place of the pair."""
    values = {name: _number(found, column(name)) for name, found in columns.items()}
    return union_all(
        SQL.query("monotone_pair", source=source, place=place, one=values[one], other=values[other])
        for place, (one, other) in enumerate(pairs)
    )


def tails(source: exp.Expr, columns: Sequence[SourceColumn]) -> exp.Query:
    """Select the 1st and 99th percentile of each column, by its place."""
    return union_all(
        SQL.query("tails", source=source, place=place, number=_number(found, column(found.name)))
        for place, found in enumerate(columns)
    )


def own_labels(source: exp.Expr, name: str) -> exp.Query:
    """Select the values of a text column as in a taxonomy, and whether each is frequent."""
    return SQL.query("own_labels", source=source, value=name, share=SHARE_OF_OWN_LABEL)


def ordered_values(source: exp.Expr, name: str, numbers: SourceColumn) -> exp.Query:
    """Select the values of a text column, in the order of the numbers of another column."""
    number = _number(numbers, column(numbers.name))
    return SQL.query("ordered_values", source=source, value=name, number=number)


def cells(source: exp.Expr, columns: Sequence[SourceColumn]) -> Step:
    """Make :data:`CELLS`, the combinations of values with their rows; the hash of each value is ``anon_0`` and so on.

    With 64 bits, two of a million combinations collide with a probability of 1 in 37 million. Hashes are hashed again,
    since DuckDB's hash of a pair is the XOR of two, and so are keys: a pair and its swap would have one key.
    """
    keys = [comparable({found.name: found.traits}, found.name) for found in columns]
    named = [aliased(f.hash(f.hash(place, key)), _key(place)) for place, key in enumerate(keys)]
    counted = aliased(count_rows(), "anon_row_count")
    query = grouped(select([*named, counted], source.copy()), [key.copy() for key in keys])
    return Step(CELLS, query, "cells of the suggested quasi-identifiers")


def half(number: int, keys: Sequence[int]) -> tuple[Step, Step]:
    """Make the cells that agree with others on a half of the columns, and the rows of all other cells.

    The half has a ``number``, 0 or 1, and ``keys`` are the places of its columns.
    """
    repeated, sql = REPEATED[number], SQL.given(cells=CELLS, key=_combined(keys))
    alike = Step(repeated, sql.query("repeated_cells"), "cells that are alike in half of the columns")
    return alike, Step(LONE[number], sql.query("lone_cells", repeated=repeated), "cells that are not")


def set_measures(without: Sequence[int]) -> exp.Query:
    """Measure the cells by all columns, and then by all but each one, with the half ``without`` it."""
    measures = [SQL.query("set_measures", classes=CELLS, size="anon_row_count", place=0)]
    for place, half_without in enumerate(without):
        key = _combined([other for other in range(len(without)) if other != place])
        repeated, lone = REPEATED[half_without], LONE[half_without]
        classes = SQL.query("class_sizes", repeated=repeated, lone=lone, key=key)
        measures.append(SQL.query("set_measures", classes=classes, size="class_size", place=place + 1))
    return union_all(measures)


def _combined(places: Sequence[int]) -> exp.Expr:
    """Return the key of a class; without columns there is one class."""
    none: exp.Expr = cast(number(0), "UBIGINT")
    return reduce(f.xor, (column(_key(place)) for place in places), none)


def _key(place: int) -> str:
    return f"anon_{place}"


def _read(found: SourceColumn, value: exp.Expr, type_name: str) -> exp.Expr:
    """Cast a value to a type, NULL if it fails; most other texts begin with a letter, or are longer."""
    read = try_cast(as_read(value), type_name)
    if not found.traits.is_text:
        return read
    spells = f.regexp_matches(value, string(SPELLED))
    return (
        exp.case()
        .when(f.strlen(value) > number(MAX_SPELLED), exp.null())
        .when(f.ascii(value) > number(LAST_DIGIT), exp.null())
        .when(spells, read)
    )


def _number(found: SourceColumn, value: exp.Expr) -> exp.Expr:
    if found.traits.is_number:
        return cast_value(value, "DOUBLE")
    if found.traits.is_text:
        return _read(found, value, "DOUBLE")
    return cast(exp.null(), "DOUBLE")


def text_forms(source: exp.Expr, names: Sequence[str]) -> exp.Query:
    """Count the rows of each text column by their form."""
    return SQL.query(
        "text_forms",
        cells=texts_of(source, names),
        ymd=moment("anon_text", "TIMESTAMP"),
        dmy=moment("anon_text", "dmy"),
        mdy=moment("anon_text", "mdy"),
        sign=string(SIGN),
    )


def total_rows(source: exp.Expr, columns: Sequence[str]) -> exp.Query:
    """Count lines of totals, by the first text of some columns, and the different words that begin them."""
    words = names(WORDS_OF_TOTALS.split(","))
    return SQL.query("total_rows", source=source, first_text=_first_text(columns), words=words)


def without_totals(columns: Sequence[str]) -> exp.Expr:
    return exp.not_(exp.In(this=_first_text(columns), expressions=[*map(string, WORDS_OF_TOTALS.split(","))]))


def _first_text(columns: Sequence[str]) -> exp.Expr:
    filled = [f.nullif(f.trim(column(name)), string("")) for name in columns]
    return f.rtrim(f.lower(f.coalesce(*filled, string(""))), string(" :"))


def moment(name: str, kind: str) -> exp.Expr:
    """Read a text as a day or a point in time, or NULL; ``kind`` is a type, for ISO 8601, or of ``DAY_FORMATS``."""
    formats = exp.Array(expressions=[string(each) for each in DAY_FORMATS.get(kind, ISO_FORMATS)])
    read = f.try_strptime(f.trim(column(name)), formats)
    return read if kind == "TIMESTAMP" else cast(read, "DATE")


def padded(found: SourceColumn, digits: int) -> exp.Expr:
    """Pad a code with leading zeros to a number of digits."""
    if found.traits.is_text:
        return f.lpad(f.trim(column(found.name)), number(digits), string("0"))
    # A cast to text would be pushed down into the reader of a CSV file.
    return f.format(string(f"{{:0{digits}d}}"), cast(column(found.name), "BIGINT"))


def in_one_case(name: str, case: str, *, has_blank: bool) -> exp.Expr:
    """Trim a text, and optionally change it to ``upper`` or ``lower`` case; NULL if nothing is left."""
    value: exp.Expr = f.trim(column(name))
    if case:
        value = getattr(f, case)(value)
    return f.nullif(value, string("")) if has_blank else value


def with_point(name: str) -> exp.Expr:
    """Read a number with a decimal comma, or NULL."""
    return try_cast(f.replace(column(name), string(","), string(".")), "DOUBLE")


def amount(name: str, mark: str) -> exp.Expr:
    """Read an amount of money as a number, without currency signs and separators; ``mark`` precedes its decimals."""
    digits = f.regexp_replace(column(name), string(f"[^0-9{mark}+-]"), string(""), string("g"))
    return try_cast(f.replace(digits, string(","), string(".")) if mark == "," else digits, "DOUBLE")
