"""Taxonomies as values: the sources of the labels of an attribute.

A taxonomy maps every value of its domain to one label per level: level 0 is the value itself, each further level
merges labels of the one below, and the top level is one label. A rule (intervals, dates, prefixes ...) needs a
domain: *declared*, if it is given with the rule, or *observed*, if it is read from a column. The domain of a file is
*stated*: its author knows the origin of its values. Only a declared domain reveals nothing about the data.
"""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from sqlanon.errors import TaxonomyError
from sqlanon.model.taxonomy import arguments
from sqlanon.model.taxonomy.arguments import DateRange, IntegerRange, LabelRule, exact_number, grouped_rows, text_of
from sqlanon.model.taxonomy.hierarchies import Domain, Hierarchy, read_hierarchy

TOP = "*"  # the top label of a generated taxonomy

IPV4_BITS = 32


@dataclass(frozen=True)
class Taxonomy:
    """The source of the labels of an attribute; build one with the class methods.

    Exactly one of ``rows``, ``query``, ``coarser`` and ``rules`` is given.

    Attributes:
        rows: one tuple per value: the value, then its label at every level above; None stands for NULL. Rows of a file
            are read from its text each time.
        query: a SQL query whose result has such rows (wide), or the columns level, value, label (long).
        coarser: the columns of the source with the labels of each level between the values and the top ``*``.
        rules: the rule of each level between the values and the top ``*``.
        values: the declared domain of ``rules``; None if the domain is observed in a column.
        query_domain, rows_domain: the origin of the values of a query or of rows.
        origin: the origin of the taxonomy, for messages.
        file, delimiter: the hierarchy that the rows were read from.
    """

    rows: tuple[tuple[str | None, ...], ...] | Hierarchy | None = None
    query: str | None = None
    coarser: tuple[str, ...] | None = None
    rules: tuple[LabelRule, ...] | None = None
    values: tuple[str, ...] | IntegerRange | DateRange | None = None
    query_domain: Domain = "observed"
    rows_domain: Domain = "declared"
    origin: str = "taxonomy"
    file: str | None = None
    delimiter: str = ";"

    @property
    def domain(self) -> Domain:
        """Whether the values are declared, stated by a file, or will be observed."""
        if self.query is not None:
            return self.query_domain
        if self.rows is not None:
            return self.rows_domain
        return "observed" if self.needs_source else "declared"

    @property
    def needs_source(self) -> bool:
        """Whether the values must be read from a column."""
        return self.coarser is not None or (self.rules is not None and self.values is None)

    @classmethod
    def from_csv(cls, path: str | Path, *, delimiter: str | None = None) -> Taxonomy:
        """Read an ARX hierarchy: a line per value, the value first, then its labels up to the top.

        Its values count as stated by the file, or as observed or declared if the note of an export beside it says so.

        Args:
            path: the file, UTF-8, without a header. An empty first field stands for NULL.
            delimiter: detected by default (``;``, ``,`` or tab).

        Raises:
            TaxonomyError: the file cannot be read, or its lines don't all have an equal number of two or more fields.
        """
        found, domain = read_hierarchy(Path(path), delimiter)
        return cls(rows=found, rows_domain=domain, origin=str(path), file=str(path), delimiter=found.delimiter)

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[object]]) -> Taxonomy:
        """Take rows as in an ARX hierarchy, values first; None stands for NULL, everything else becomes text.

        Args:
            rows: a list per value: the value, then its label at every level, from level 1 up to the top.

        Raises:
            TaxonomyError: there are none, or they don't all have an equal number of fields.
        """
        texts = tuple(tuple(None if field is None else text_of(field) for field in row) for row in rows)
        if len({len(row) for row in texts}) > 1 or not texts or len(texts[0]) < 1:
            raise TaxonomyError(
                "the rows of a taxonomy must all have the same number of fields, and there must be some"
            )
        return cls(rows=texts, origin="rows")

    @classmethod
    def from_query(cls, query: str, *, domain: Domain = "observed") -> Taxonomy:
        """Take a read-only SQL query: wide (the value, then its labels) or long (columns level, value, label)."""
        return cls(query=query, query_domain=domain, origin="query")

    @classmethod
    def flat(cls, values: Iterable[object] | None = None) -> Taxonomy:
        """Make one level: every value falls under ``*``.

        Args:
            values: the declared domain; by default the values are read from a column.
        """
        return cls(rules=(), values=_declared(values), origin="flat")

    @classmethod
    def intervals(
        cls,
        widths: Sequence[int | float | Decimal],
        *,
        origin: int | float | Decimal = 0,
        minimum: int | None = None,
        maximum: int | None = None,
        below: int | float | Decimal | None = None,
        above: int | float | Decimal | None = None,
    ) -> Taxonomy:
        """Make half-open numeric intervals, wider level by level: ``[20, 25)``, ``[20, 30)``, ... ``*``.

        Args:
            widths: the width at each level, from level 1 up; each must be a multiple of the one before, so that
                the intervals nest.
            origin: a boundary of every level.
            minimum, maximum: the declared domain, the integers from one to the other, two million at most; both or
                neither.
            below: smaller numbers share the label ``< below`` at every level above the values.
            above: this and larger numbers share the label ``>= above``.

        Raises:
            TaxonomyError: lists every problem with the arguments.
        """
        exact = [exact_number(width) for width in widths]
        problems = [f"width {width} is not positive" for width in exact if width <= 0]
        if not problems:
            problems += [
                f"width {wide} is not a multiple of {narrow}, so the levels do not nest"
                for narrow, wide in itertools.pairwise(exact)
                if wide % narrow != 0 or wide == narrow
            ]
        if not exact:
            problems.append("no width is given")
        values, misfits = arguments.integers(minimum, maximum)
        problems += misfits
        if below is not None and above is not None and below >= above:
            problems.append(f"below {below} is not smaller than above {above}")
        if problems:
            raise TaxonomyError("the intervals are not valid:", problems)
        ends = (None if below is None else exact_number(below), None if above is None else exact_number(above))
        return cls(
            rules=tuple(
                LabelRule("interval_label", (width, exact_number(origin), *ends), "numbers") for width in exact
            ),
            values=values,
            origin="intervals",
        )

    @classmethod
    def cuts(
        cls,
        breaks: Sequence[Sequence[int | float | Decimal]],
        *,
        minimum: int | None = None,
        maximum: int | None = None,
    ) -> Taxonomy:
        """Make half-open numeric intervals between your own breaks: ``< 18``, ``[18, 65)``, ``>= 65``, ``*``.

        Args:
            breaks: the boundaries of intervals, ascending, at each level from level 1 up; the breaks of a level are a
                subset of the level below, so that the intervals nest.
            minimum, maximum: the declared domain, as in :meth:`intervals`.

        Raises:
            TaxonomyError: lists every problem with the arguments.
        """
        exact = [[exact_number(number) for number in level] for level in breaks]
        values, misfits = arguments.integers(minimum, maximum)
        problems = [*arguments.misfits_of_breaks(exact), *misfits]
        if problems:
            raise TaxonomyError("the cuts are not valid:", problems)
        return cls(
            rules=tuple(LabelRule("bin_label", (tuple(map(arguments.written, level)),), "numbers") for level in exact),
            values=values,
            origin="cuts",
        )

    @classmethod
    def groups(cls, groups: Mapping[str, Any]) -> Taxonomy:
        """List values under their labels: ``{"Rhine": ["Bonn", "Köln"], "Coast": ["Bremen"]}``, then ``*``.

        Args:
            groups: lists of values by label; or such groups by label of the level above, equally deep for all values:
                ``{"Germany": {"Rhine": ["Bonn"]}, "France": {"Alsace": ["Colmar"]}}``. The listed values are the
                declared domain.

        Raises:
            TaxonomyError: lists every problem with the groups.
        """
        return cls(rows=grouped_rows(groups, TOP), origin="groups")

    @classmethod
    def columns(cls, columns: Sequence[str]) -> Taxonomy:
        """Take labels from coarser columns of the same table: city → county → state → ``*``.

        Values are read from the source, where each must occur with one value of every column; NULL counts as missing.

        Args:
            columns: the column of each level, from level 1 up. Drop or generalize them, too: a release that shows them
                shows the labels.

        Raises:
            TaxonomyError: no column is given, or one twice.
        """
        problems = [] if columns else ["no column is given"]
        problems += [f'column "{name}" is given twice' for name in arguments.repeated(columns)]
        if problems:
            raise TaxonomyError("the columns are not valid:", problems)
        return cls(coarser=tuple(columns), origin="columns")

    @classmethod
    def dates(
        cls,
        units: Sequence[str] = ("month", "quarter", "year", "decade"),
        *,
        first: datetime.date | str | None = None,
        last: datetime.date | str | None = None,
    ) -> Taxonomy:
        """Generalize dates and timestamps by calendar unit: ``2024-03``, ``2024-Q1``, ``2024``, ``2020s``, ``*``.

        Args:
            units: the unit of each level, from level 1 up, from fine to coarse: day, month, quarter, year, decade; or
                day, week, isoyear (``2024-W13``, ``ISO 2024``): weeks don't nest in months. Use ``day`` first for
                timestamps.
            first, last: the declared domain, every day from one to the other, as dates or texts such as
                ``2025-12-01``; both or neither.

        Raises:
            TaxonomyError: lists every problem with the arguments.
        """
        values, misfits = arguments.days(first=first, last=last)
        problems = [*arguments.misfits_of_units(units), *misfits]
        if problems:
            raise TaxonomyError("the date levels are not valid:", problems)
        return cls(
            rules=tuple(LabelRule("date_label", (unit,), "dates") for unit in units),
            values=values,
            origin="dates",
        )

    @classmethod
    def prefixes(cls, keep: Sequence[int], values: Iterable[object] | None = None) -> Taxonomy:
        """Keep the first characters of a value and mask the others: ``10115`` → ``101**`` → ``1****`` → ``*``.

        Args:
            keep: the number of characters to keep at each level, from level 1 up; each less than the one before.
            values: the declared domain; by default the values are read from a column.
        """
        if not keep or any(number < 0 for number in keep) or list(keep) != sorted(set(keep), reverse=True):
            raise TaxonomyError("the numbers of kept characters must be given, not negative, each less than the last")
        rules = tuple(LabelRule("prefix_label", (number,)) for number in keep)
        return cls(rules=rules, values=_declared(values), origin="prefixes")

    @classmethod
    def zip_codes(cls, values: Iterable[object] | None = None) -> Taxonomy:
        """Mask one more digit of five-digit postal codes at each of four levels, then ``*``.

        Args:
            values: the declared domain; by default the values are read from a column.
        """
        return cls.prefixes((4, 3, 2, 1), values)

    @classmethod
    def icd10(cls, values: Iterable[object] | None = None) -> Taxonomy:
        """Generalize ICD-10 codes: ``E11.65`` → category ``E11`` → chapter ``E00-E90`` → ``*``.

        Args:
            values: the declared domain; by default the values are read from a column.
        """
        return cls(rules=_ranks("icd10_label", "ICD-10 codes"), values=_declared(values), origin="ICD-10")

    @classmethod
    def icd9(cls, values: Iterable[object] | None = None) -> Taxonomy:
        """Generalize ICD-9 diagnosis codes, also V and E codes: ``250.01`` → ``250`` → chapter ``240-279`` → ``*``.

        Args:
            values: the declared domain; by default the values are read from a column.
        """
        return cls(rules=_ranks("icd9_label", "ICD-9 codes"), values=_declared(values), origin="ICD-9")

    @classmethod
    def ipv4(cls, bits: Sequence[int] = (24, 16, 8), values: Iterable[object] | None = None) -> Taxonomy:
        """Generalize IPv4 addresses to networks: ``192.168.17.4`` → ``192.168.17.0/24`` → ... → ``*``.

        Args:
            bits: the length of the network's prefix at each level, from level 1 up; each less than the one before.
            values: the declared domain; by default the values are read from a column.
        """
        if not bits or list(bits) != sorted(set(bits), reverse=True) or bits[0] > IPV4_BITS or bits[-1] < 1:
            raise TaxonomyError("the prefix lengths must be given, between 32 and 1, each less than the last")
        rules = tuple(LabelRule("ipv4_label", (number,), "IPv4 addresses") for number in bits)
        return cls(rules=rules, values=_declared(values), origin="IPv4")


def _ranks(macro: str, takes: str) -> tuple[LabelRule, ...]:
    return LabelRule(macro, ("category",), takes), LabelRule(macro, ("chapter",), takes)


def _declared(values: Iterable[object] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(text_of(value) for value in values)
