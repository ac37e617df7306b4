"""Rows → cells: the only scan of the source.

A cell is a distinct combination of quasi-identifiers (and of protected columns, and of the individual, if classes count
individuals) with its number of rows. The bits of its key encode the labels of all quasi-identifiers at every level, so
a node of the lattice is one GROUP BY over a number or two. Cells for a search are sorted by key, which keeps the cells
of a class close together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from sqlglot import exp

from sqlanon.queries.coded_labels import sensitive_codes
from sqlanon.queries.encoding import (
    INDIVIDUAL,
    IS_UNMAPPED,
    PEOPLE,
    ROW_COUNT,
    VALUE,
    WEIGHT,
    EarlierClasses,
    Encoding,
    counted,
    row_sum,
)
from sqlanon.queries.kit.macros import cast_value, exact_text, table_call
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_bits,
    all_of,
    ascending,
    called,
    case,
    cast,
    column,
    copies,
    count_rows,
    f,
    grouped,
    identifier,
    is_there,
    left_join,
    made_once,
    number,
    own_type,
    same,
    select,
    string,
    subquery,
)
from sqlanon.queries.source import Traits
from sqlanon.queries.source_rows import bits_of_number, key_columns, value_of_row, with_persons

SQL = Queries("cells")

COMBINATIONS = "anon_rows"

PIECES = Relation("anon_pieces", "cell")
"""The cells of all pieces, repeated if several pieces have them."""

ROWS = Relation("anon_keyed_rows", "rows")
"""The rows of the source with their keys, and with the keys of their persons, if each has one row."""


def encode_rows(encoding: Encoding, *, row_by_row: bool = False) -> list[Step]:
    """Make the cells, and the reference values of classes.

    Labels of combinations are looked up, or ``row_by_row`` those of rows: few of them are alike.
    """
    source = encoding.spec.source
    if encoding.spec.earlier is not None:
        keyed = keyed_rows(encoding, encoding.spec.earlier)
        return [keyed, cells_of_keyed(encoding, ROWS.table), *compared(encoding)]
    if row_by_row:
        others = [column(name, COMBINATIONS) for name in _others(encoding)]
        rows = looked_up(encoding, called(source, COMBINATIONS)).select(*others, aliased(number(1), ROW_COUNT))
        return [cells_of_keyed(encoding, subquery(rows, "anon_keyed")), *compared(encoding)]
    cells = cells_of(encoding, combinations(encoding, source), looked_up)
    return [Step(encoding.cells, cells, "cells"), *compared(encoding)]


def compared(encoding: Encoding) -> list[Step]:
    """Make the reference values of classes, from the cells and the population."""
    population = encoding.spec.population
    if population is None:
        return shares(encoding)
    keys = _value_keys(encoding, lambda name: exact_text(column(name)))
    columns = [aliased(key.copy(), name) for name, key in keys.items()]
    people = grouped(select([*columns, aliased(count_rows(), PEOPLE)], population.copy()), list(keys.values()))
    cells = looked_up(encoding, subquery(people, COMBINATIONS)).select(column(PEOPLE, COMBINATIONS), copy=False)
    return [*shares(encoding), Step(encoding.population_cells, cells, "population")]


def shares(encoding: Encoding) -> list[Step]:
    """Make the reference values of classes from the cells."""
    steps = [
        Step(encoding.values(name), _values(encoding, name), f'shares of "{name}"') for name in encoding.spec.compared
    ]
    for name in encoding.ordered:
        work, crossings = encoding.reference_work(name), encoding.reference_crossings(name)
        code = encoding.sensitive(name)
        if name in encoding.spec.references:
            counts = _counts_of_persons(encoding, name, "position", "row_count")
        else:
            counts = SQL.query("rows_of_positions", cells=encoding.cells, code=code, counted=counted(encoding))
        positions = subquery(counts, "anon_positions")
        steps.append(Step(work, table_call("reference_work", positions), f'the order of "{name}"'))
        steps.append(Step(crossings, table_call("reference_crossings", work.table), f'shares in the order of "{name}"'))
    return steps


def cell_counts(encoding: Encoding) -> exp.Query:
    """Select one row: cells, rows, and the rows with an unmapped value, a bad weight, or no individual."""
    spec = encoding.spec
    labels = [column(encoding.sensitive_label(name, 1)) for name in spec.labelled]
    counts = {"unmapped": exp.or_(column(IS_UNMAPPED), *(label.is_(exp.null()) for label in labels), copy=False)}
    if spec.row_weight is not None:
        counts["unweighted"] = column(WEIGHT).is_(exp.null())
    if spec.individual is not None:
        counts["anonymous"] = column(INDIVIDUAL).is_(exp.null())
    return SQL.query("cell_counts", cells=encoding.cells, conditions=[*counts.values()], counts=[*counts])


def unmapped_people(encoding: Encoding) -> exp.Query:
    """Select one row: the people of the population with a value that a taxonomy lacks."""
    return SQL.query("unmapped_people", population=encoding.population_cells)


def unlabelled_values(encoding: Encoding, name: str) -> exp.Query:
    """Select one row, ``unlabelled``: the values of a compared column of persons that its taxonomy lacks."""
    label = encoding.sensitive_label(name, 1)
    return SQL.query("unlabelled_values", values=encoding.values(name), label=label)


def cells_of(encoding: Encoding, found: exp.Query, keyed: Callable[[Encoding, exp.Expr], exp.Select]) -> exp.Query:
    """Select cells: combinations with their keys and the codes of protected columns, in the order of keys.

    ``found`` has each combination once, with rows and any weight; ``keyed`` adds the words of keys.
    """
    spec = encoding.spec
    ranked = [name for name in spec.protected if name not in spec.coded]
    if spec.protected:
        rows = exp.Table(this=identifier(COMBINATIONS))
        query = keyed(encoding, rows)
        # Each value is ranked once: sorting all combinations takes longer.
        codes = [SQL.query("ranks", rows=rows, value=name, code=encoding.sensitive(name)) for name in ranked]
        ranks = [made_once(_ranks_alias(encoding, name), each) for name, each in zip(ranked, codes, strict=True)]
        query.set("with_", exp.With(expressions=[made_once(COMBINATIONS, found), *ranks]))
    else:
        query = keyed(encoding, subquery(found, COMBINATIONS))
    coded = [aliased(column(name, COMBINATIONS), encoding.sensitive(name)) for name in spec.coded]
    query = query.select(*coded, copy=False)
    for name in ranked:
        alias = _ranks_alias(encoding, name)
        on = same(column(name, alias), column(name, COMBINATIONS))
        query = query.join(exp.Table(this=identifier(alias)), on=on, copy=False)
        query = query.select(column(encoding.sensitive(name), alias), copy=False)
        if encoding.holds_release:
            query = query.select(aliased(column(name, COMBINATIONS), encoding.raw(name)), copy=False)
    for name in spec.labelled:
        relation = encoding.sensitive_codes(name)
        lookup = called(relation.table, relation.name)
        raw = exact_text(column(name, COMBINATIONS))
        query = left_join(query, lookup, same(column(VALUE, relation.name), raw))
        labels = (encoding.sensitive_label(name, depth) for depth in encoding.sensitive_depths(name))
        query = query.select(*(column(label, relation.name) for label in labels), copy=False)
    if spec.individual is not None:
        query = query.select(aliased(column(spec.individual, COMBINATIONS), INDIVIDUAL), copy=False)
    if spec.row_weight is not None:
        query = query.select(column(WEIGHT, COMBINATIONS), copy=False)
    query = query.select(column(ROW_COUNT, COMBINATIONS), copy=False)
    words = [*map(column, encoding.word_columns)]
    if words and spec.in_key_order:
        query.set("order", ascending(*words))
    return query


def looked_up(encoding: Encoding, relation: exp.Expr) -> exp.Select:
    """Look up the key words of combinations of raw values, and whether a taxonomy lacks one of the values."""
    query = with_leaves(encoding, select([], relation), COMBINATIONS)
    codes = [column("code", encoding.labels_of(position)) for position in range(len(encoding.spec.shapes))]
    unlabelled = [column(IS_UNMAPPED, COMBINATIONS)] if encoding.typed else []
    is_unmapped = exp.or_(*unlabelled, *(code.is_(exp.null()) for code in codes), copy=False)
    words = [aliased(key_word(encoding, word), name) for word, name in enumerate(encoding.word_columns)]
    return query.select(*words, aliased(is_unmapped, IS_UNMAPPED), copy=False)


def with_leaves(
    encoding: Encoding, query: exp.Select, table: str, positions: Iterable[int] | None = None
) -> exp.Select:
    """Join raw values of a table, at all or some positions, with their labels at level 0 (``encoding.labels_of``)."""
    for position in range(len(encoding.spec.quasi_identifiers)) if positions is None else positions:
        name = encoding.spec.quasi_identifiers[position]
        alias = encoding.labels_of(position)
        lookup = called(encoding.labels.table, alias)
        here = column("position", alias).eq(position), column("depth", alias).eq(0)
        is_value = same(column(VALUE, alias), exact_text(column(name, table)))
        query = left_join(query, lookup, all_of([*here, is_value]))
    return query


def key_word(encoding: Encoding, word: int, positions: Iterable[int] | None = None) -> exp.Expr:
    """Return a word of the key of a row, after :func:`with_leaves` and, beside earlier releases, ``with_persons``."""
    positions = range(len(encoding.spec.shapes)) if positions is None else positions
    positions = [place for place in positions if word in encoding.keys.label_masks(place, 0)]
    found: list[exp.Expr] = [column(encoding.key(word), encoding.labels_of(position)) for position in positions]
    if encoding.spec.earlier is not None and encoding.keys.always is not None and encoding.keys.always.word == word:
        found.append(bits_of_number(encoding))
    return all_bits(found)


def combinations(encoding: Encoding, source: exp.Expr) -> exp.Query:
    """Select the combinations of raw values in a source, with rows and any weight; few are left to look up."""
    spec = encoding.spec
    keys = _value_keys(encoding, lambda name: exact_key(name, encoding.traits))
    keys |= {
        name: exact_key(name, encoding.traits) if encoding.holds_release else column(name) for name in spec.protected
    }
    if spec.individual is not None:
        keys[spec.individual] = column(spec.individual)
    columns = [aliased(key.copy(), name) for name, key in keys.items()]
    columns.append(aliased(count_rows(), ROW_COUNT))
    if spec.row_weight is not None:
        # NULL if a row has an invalid weight.
        given = column(spec.row_weight)
        weight = cast_value(given.copy(), "DOUBLE")
        is_valid = exp.and_(given > 0, weight < cast(string("infinity"), "DOUBLE"))
        are_valid = f.bool_and(f.coalesce(is_valid, exp.false()))
        columns.append(aliased(case(are_valid, exp.Sum(this=weight)), WEIGHT))
    return grouped(select(columns, source.copy()), list(keys.values()))


def _value_keys(encoding: Encoding, key: Callable[[str], exp.Expr]) -> dict[str, exp.Expr]:
    """Return the expressions that group rows, by quasi-identifier.

    Texts become values of ENUM types where possible: a byte or two each, cast once per entry of the dictionary of a
    file or table. A text without a label becomes NULL, and is marked in a separate column.
    """
    typed = {
        name: exp.TryCast(this=exact_text(column(name)), to=own_type(kind)) for name, kind in encoding.typed.items()
    }
    keys = {name: typed.get(name) or key(name) for name in encoding.spec.quasi_identifiers}
    lost = [exp.and_(is_there(column(name)), found.copy().is_(exp.null()), copy=False) for name, found in typed.items()]
    return {**keys, IS_UNMAPPED: exp.or_(*lost, copy=False)} if lost else keys


def exact_key(name: str, traits: Mapping[str, Traits]) -> exp.Expr:
    """Return a column to group by, as text if equal values can differ in it, such as 0.0 and -0.0."""
    return column(name) if traits[name].has_one_text else exact_text(column(name))


def _values(encoding: Encoding, name: str) -> exp.Query:
    """Select the values of a compared column: code, share of the table, and the shares of its labels."""
    code = encoding.sensitive(name)
    levels = range(1, encoding.sensitive_height(name))
    labels = [encoding.sensitive_label(name, level) for level in levels]
    roles = SQL.given(code=code, labels=labels)
    if name in encoding.spec.references:
        counts = _counts_of_persons(encoding, name, code, "anon_rows", labels)
    else:
        counts = roles.query("rows_of_codes", cells=encoding.cells, counted=counted(encoding))
    return roles.query("shares", counts=counts, shares=[*map(encoding.label_share, levels)])


def _counts_of_persons(encoding: Encoding, name: str, code: str, rows: str, labels: Sequence[str] = ()) -> exp.Select:
    """Select the codes of a column of persons with their counts in its source, and their labels."""
    reference = encoding.spec.references[name]
    columns = [aliased(column("anon_code"), code), *map(column, labels), aliased(column("anon_rows"), rows)]
    query = select(columns, reference.table)
    if not labels:
        return query
    lookup = encoding.sensitive_codes(name).name
    on = same(column(VALUE, lookup), column("anon_value", reference.name))
    return left_join(query, subquery(sensitive_codes(encoding, name), lookup), on)


def cells_of_piece(encoding: Encoding, piece: exp.Expr) -> Step:
    """Make the cells of a piece, to which others are added."""
    found = subquery(combinations(encoding, piece), COMBINATIONS)
    counts = [ROW_COUNT, *([] if encoding.spec.row_weight is None else [WEIGHT])]
    others = [column(name, COMBINATIONS) for name in (*_others(encoding), *counts)]
    return Step(PIECES, looked_up(encoding, found).select(*others, copy=False), "cells of a piece")


def keyed_rows(encoding: Encoding, earlier: EarlierClasses) -> Step:
    """Make :data:`ROWS`, in which persons are found again."""
    query = looked_up(encoding, called(encoding.spec.source, COMBINATIONS))
    keys = key_columns(earlier.keys, COMBINATIONS, as_text=earlier.as_text) if earlier.is_by_person else []
    coded = encoding.spec.coded
    others = [value_of_row(name) if name in coded else column(name, COMBINATIONS) for name in _others(encoding)]
    query = with_persons(earlier, query, COMBINATIONS)
    return Step(ROWS, query.select(*others, aliased(number(1), ROW_COUNT), *keys, copy=False), "rows with their keys")


def cells_of_keyed(encoding: Encoding, relation: exp.Expr) -> Step:
    """Make the cells of the source from the cells of its pieces, or from its keyed rows."""
    labels = [*encoding.word_columns, IS_UNMAPPED]
    keys = [column(name) for name in (*labels, *_others(encoding))]
    found = grouped(select([*copies(keys), row_sum()], relation), keys)
    if encoding.spec.row_weight is not None:
        # NULL if the weight of a piece is NULL.
        are_known = f.bool_and(is_there(column(WEIGHT)))
        found = found.select(aliased(case(are_known, exp.Sum(this=column(WEIGHT))), WEIGHT), copy=False)

    def as_they_are(_: Encoding, combinations: exp.Expr) -> exp.Select:
        return select([column(name, COMBINATIONS) for name in labels], combinations)

    return Step(encoding.cells, cells_of(encoding, found, as_they_are), "cells")


def _others(encoding: Encoding) -> list[str]:
    """List the columns that distinguish cells of equal keys."""
    spec = encoding.spec
    return [*spec.protected, *([] if spec.individual is None else [spec.individual])]


def _ranks_alias(encoding: Encoding, name: str) -> str:
    return f"{encoding.sensitive(name)}_ranks"
