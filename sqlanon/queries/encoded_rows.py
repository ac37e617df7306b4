"""Rows → cells: the one scan of the source.

A cell is a distinct combination of quasi-identifiers (and of the protected columns, and of the individual, if
classes count individuals) with its number of rows. The labels of all quasi-identifiers at every
level stand in the bits of its key, so that a node of the lattice is one GROUP BY over a number or two. Cells for a
search are in the order of their keys, in which those of a class stand close together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from sqlglot import exp

from sqlanon.queries.coded_labels import dense_rank, sensitive_codes
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
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_bits,
    all_of,
    ascending,
    cast,
    column,
    count_rows,
    filtered,
    grouped,
    identifier,
    left_join,
    made_once,
    number,
    own_type,
    same,
    select,
    string,
    subquery,
)
from sqlanon.queries.persons_of_rows import bits_of_number, key_columns, value_of_row, with_persons
from sqlanon.queries.source import Traits

COMBINATIONS = "anon_rows"


def encode_rows(encoding: Encoding) -> list[Step]:
    """The steps that make the cells, and what classes are compared with."""
    if encoding.spec.earlier is not None:
        return [keyed_rows(encoding, encoding.spec.earlier), cells_of_keyed(encoding, ROWS), *compared(encoding)]
    cells = cells_of(encoding, combinations(encoding, encoding.spec.source), looked_up)
    return [Step(encoding.cells, cells, "cells"), *compared(encoding)]


def compared(encoding: Encoding) -> list[Step]:
    """The steps that make what classes are compared with, beside the cells."""
    population = encoding.spec.population
    if population is None:
        return shares(encoding)
    people = Step(encoding.population_cells, _population_cells(encoding, population), "population")
    return [*shares(encoding), people]


def shares(encoding: Encoding) -> list[Step]:
    """The steps that make what classes are compared with, from the cells."""
    steps = [
        Step(encoding.values(name), _values(encoding, name), f'shares of "{name}"') for name in encoding.spec.compared
    ]
    for name in encoding.ordered:
        work, crossings = encoding.reference_work(name), encoding.reference_crossings(name)
        steps.append(Step(work, table_call("reference_work", _positions(encoding, name)), f'the order of "{name}"'))
        steps.append(Step(crossings, table_call("reference_crossings", work.table), f'shares in the order of "{name}"'))
    return steps


def cell_counts(encoding: Encoding) -> exp.Query:
    """One row: cells, rows, and how many of these have an unmapped value, a bad weight, or no individual."""
    spec = encoding.spec
    labels = [column(encoding.sensitive_label(name, 1)) for name in spec.labelled]
    unmapped = exp.or_(column(IS_UNMAPPED), *(label.is_(exp.null()) for label in labels), copy=False)
    counts = {"unmapped": unmapped}
    if spec.row_weight is not None:
        counts["unweighted"] = column(WEIGHT).is_(exp.null())
    if spec.individual is not None:
        counts["anonymous"] = column(INDIVIDUAL).is_(exp.null())
    columns = [aliased(count_rows(), "cells"), aliased(_count_of_rows(), "rows")]
    columns += [aliased(_count_of_rows(condition), name) for name, condition in counts.items()]
    return select(columns, encoding.cells.table)


def unmapped_people(encoding: Encoding) -> exp.Query:
    """One row: people of the population with a value that no taxonomy knows."""
    people = exp.func("coalesce", filtered(exp.Sum(this=column(PEOPLE)), column(IS_UNMAPPED)), number(0))
    return select([aliased(people, "unmapped")], encoding.population_cells.table)


def _count_of_rows(condition: exp.Expr | None = None) -> exp.Expr:
    rows = exp.Sum(this=column(ROW_COUNT))
    return exp.func("coalesce", rows if condition is None else filtered(rows, condition), number(0))


def cells_of(encoding: Encoding, found: exp.Query, keyed: Callable[[Encoding, exp.Expr], exp.Select]) -> exp.Query:
    """The cells: combinations with their keys and with the codes of their protected columns, in the order of keys.

    Args:
        encoding: that of the run.
        found: the combinations, each once, with ``anon_row_count``, and the weight if there is one.
        keyed: gives the combinations of a relation the words of their keys.
    """
    spec = encoding.spec
    ranked = [name for name in spec.protected if name not in spec.coded]
    if spec.protected:
        query = keyed(encoding, exp.Table(this=identifier(COMBINATIONS)))
        ranks = [made_once(_ranks_alias(encoding, name), _ranks(encoding, name)) for name in ranked]
        query.set("with_", exp.With(expressions=[made_once(COMBINATIONS, found), *ranks]))
    else:
        query = keyed(encoding, subquery(found, COMBINATIONS))
    codes = [aliased(column(name, COMBINATIONS), encoding.sensitive(name)) for name in spec.coded]
    query = query.select(*codes, copy=False)
    for name in ranked:
        query = _with_rank(encoding, query, name)
        if encoding.holds_release:
            query = query.select(aliased(column(name, COMBINATIONS), encoding.raw(name)), copy=False)
    for name in spec.labelled:
        query = _with_labels(encoding, query, name)
    if spec.individual is not None:
        query = query.select(aliased(column(spec.individual, COMBINATIONS), INDIVIDUAL), copy=False)
    if spec.row_weight is not None:
        query = query.select(column(WEIGHT, COMBINATIONS), copy=False)
    query = query.select(column(ROW_COUNT, COMBINATIONS), copy=False)
    words = [column(encoding.key(word)) for word in range(encoding.keys.word_count)]
    if words and spec.in_key_order:
        query.set("order", ascending(*words))
    return query


def looked_up(encoding: Encoding, relation: exp.Expr) -> exp.Select:
    """The words of the keys of combinations of raw values, and whether a taxonomy does not know one of these."""
    query = with_leaves(encoding, select([], relation), COMBINATIONS)
    codes = [column("code", encoding.labels_of(position)) for position in range(len(encoding.spec.shapes))]
    unlabelled = [column(IS_UNMAPPED, COMBINATIONS)] if encoding.typed else []
    is_unmapped = exp.or_(*unlabelled, *(code.is_(exp.null()) for code in codes), copy=False)
    words = [aliased(key_word(encoding, word), encoding.key(word)) for word in range(encoding.keys.word_count)]
    return query.select(*words, aliased(is_unmapped, IS_UNMAPPED), copy=False)


def with_leaves(
    encoding: Encoding, query: exp.Select, table: str, positions: Iterable[int] | None = None
) -> exp.Select:
    """The query of a table with raw values, joined with the label of each at level 0 (``encoding.labels_of``).

    ``positions`` are those of the quasi-identifiers that are looked up; all if None.
    """
    for position in range(len(encoding.spec.quasi_identifiers)) if positions is None else positions:
        name = encoding.spec.quasi_identifiers[position]
        alias = encoding.labels_of(position)
        lookup = exp.alias_(encoding.labels.table, alias, table=True)
        here = column("position", alias).eq(number(position)), column("depth", alias).eq(number(0))
        is_value = same(column(VALUE, alias), exact_text(column(name, table)))
        query = left_join(query, lookup, all_of([*here, is_value]))
    return query


def key_word(encoding: Encoding, word: int, positions: Iterable[int] | None = None) -> exp.Expr:
    """A word of the key of a row joined by :func:`with_leaves` at the same positions: the bits of its values there.

    Beside earlier releases ``with_persons`` has joined it, too.
    """
    positions = range(len(encoding.spec.shapes)) if positions is None else positions
    positions = [place for place in positions if word in encoding.keys.label_masks(place, 0)]
    found: list[exp.Expr] = [column(encoding.key(word), encoding.labels_of(position)) for position in positions]
    if encoding.spec.earlier is not None and encoding.keys.always is not None and encoding.keys.always.word == word:
        found.append(bits_of_number(encoding))
    return all_bits(found)


def _ranks(encoding: Encoding, name: str) -> exp.Select:
    """The values of a protected column by their order, each ranked once: to sort all combinations takes longer."""
    values = select([column(name)], exp.Table(this=identifier(COMBINATIONS))).distinct(copy=False)
    rank = cast(dense_rank(column(name), nulls_first=False), "UINTEGER")
    return select([column(name), aliased(rank, encoding.sensitive(name))], subquery(values, "anon_values"))


def _with_rank(encoding: Encoding, query: exp.Select, name: str) -> exp.Select:
    """The place of a protected column's value in the order of its values."""
    alias = _ranks_alias(encoding, name)
    on = same(column(name, alias), column(name, COMBINATIONS))
    query = query.join(exp.Table(this=identifier(alias)), on=on, copy=False)
    return query.select(column(encoding.sensitive(name), alias), copy=False)


def _with_labels(encoding: Encoding, query: exp.Select, name: str) -> exp.Select:
    """The codes of a protected column's labels."""
    relation = encoding.sensitive_codes(name)
    lookup = exp.alias_(relation.table, relation.name, table=True)
    raw = exact_text(column(name, COMBINATIONS))
    query = left_join(query, lookup, same(column(VALUE, relation.name), raw))
    labels = [encoding.sensitive_label(name, depth) for depth in encoding.sensitive_depths(name)]
    return query.select(*(column(label, relation.name) for label in labels), copy=False)


def combinations(encoding: Encoding, source: exp.Expr) -> exp.Query:
    """The combinations of raw values that rows of a source have, with their number, and their weight if there is one.

    Rows are grouped by raw values first, so that codes are looked up for the few combinations that are left.
    """
    spec = encoding.spec
    individual = () if spec.individual is None else (spec.individual,)
    keys = _value_keys(encoding, lambda name: exact_key(name, encoding.traits))
    keys |= {
        name: exact_key(name, encoding.traits) if encoding.holds_release else column(name) for name in spec.protected
    }
    keys |= {name: column(name) for name in individual}
    columns = [aliased(key.copy(), name) for name, key in keys.items()]
    columns.append(aliased(count_rows(), ROW_COUNT))
    if spec.row_weight is not None:
        columns.append(aliased(_weight(column(spec.row_weight)), WEIGHT))
    return grouped(select(columns, source.copy()), list(keys.values()))


def _value_keys(encoding: Encoding, key: Callable[[str], exp.Expr]) -> dict[str, exp.Expr]:
    """What rows are grouped by for their quasi-identifiers, by name.

    Texts are values of ENUM types where there are some: a byte or two each, found once for each entry of a dictionary
    in which a file or a table has them. NULL also stands for a text without a label, which is a column of its own.
    """
    typed = {
        name: exp.TryCast(this=exact_text(column(name)), to=own_type(kind)) for name, kind in encoding.typed.items()
    }
    keys = {name: typed.get(name) or key(name) for name in encoding.spec.quasi_identifiers}
    lost = [
        exp.and_(exp.Not(this=column(name).is_(exp.null())), found.copy().is_(exp.null()), copy=False)
        for name, found in typed.items()
    ]
    return {**keys, IS_UNMAPPED: exp.or_(*lost, copy=False)} if lost else keys


def _weight(weight: exp.Expr) -> exp.Expr:
    """The weight of a cell; NULL where a row has a weight that cannot be one."""
    valid = exp.and_(
        exp.GT(this=weight, expression=number(0)),
        exp.LT(this=cast_value(weight.copy(), "DOUBLE"), expression=cast(string("infinity"), "DOUBLE")),
    )
    return exp.Case(
        ifs=[
            exp.If(
                this=exp.func("bool_and", exp.func("coalesce", valid, exp.false())),
                true=exp.Sum(this=cast_value(weight.copy(), "DOUBLE")),
            )
        ]
    )


def exact_key(name: str, traits: Mapping[str, Traits]) -> exp.Expr:
    """A column to group by: as text where equal values can have different texts.

    Such as 0.0 and -0.0, one month and thirty days, or a and A under a collation.
    """
    return column(name) if traits[name].has_one_text else exact_text(column(name))


def _values(encoding: Encoding, name: str) -> exp.Query:
    """The values of a compared column: code, share of the table, and the shares of its labels."""
    code = encoding.sensitive(name)
    labels = [encoding.sensitive_label(name, level) for level in range(1, encoding.sensitive_height(name))]
    carried = [aliased(exp.AnyValue(this=column(label)), label) for label in labels]
    if name in encoding.spec.references:
        counts = _counts_of_persons(encoding, name, code, "anon_rows", labels)
    else:
        rows = aliased(counted(encoding), "anon_rows")
        counts = grouped(select([column(code), *carried, rows], encoding.cells.table), [column(code)])
    shares = [
        aliased(_share(), "anon_share"),
        *(
            aliased(_share(partition_by=[column(label)]), encoding.label_share(level))
            for level, label in enumerate(labels, 1)
        ),
    ]
    return select([column(code), *(column(label) for label in labels), *shares], subquery(counts, "anon_counts"))


def _share(partition_by: list[exp.Expr] | None = None) -> exp.Expr:
    """The rows of a value, or of its label, as a share of the whole table."""
    rows: exp.Expr = column("anon_rows")
    if partition_by is not None:
        rows = exp.Window(this=exp.Sum(this=rows), partition_by=partition_by)
    return exp.Div(this=rows, expression=exp.Window(this=exp.Sum(this=column("anon_rows"))))


def _positions(encoding: Encoding, name: str) -> exp.Subquery:
    """The codes of a compared column, which are numbered in its order, and the rows of each."""
    if name in encoding.spec.references:
        return subquery(_counts_of_persons(encoding, name, "position", "row_count"), "anon_positions")
    code = column(encoding.sensitive(name))
    columns = [aliased(code, "position"), aliased(counted(encoding), "row_count")]
    return subquery(grouped(select(columns, encoding.cells.table), [code.copy()]), "anon_positions")


def _counts_of_persons(encoding: Encoding, name: str, code: str, rows: str, labels: Sequence[str] = ()) -> exp.Select:
    """The codes of a column of persons, and how many of its source have each, under these names; and their labels."""
    reference = encoding.spec.references[name]
    columns = [aliased(column("anon_code"), code), *map(column, labels), aliased(column("anon_rows"), rows)]
    query = select(columns, reference.table)
    if not labels:
        return query
    lookup = encoding.sensitive_codes(name).name
    on = same(column(VALUE, lookup), column("anon_value", reference.name))
    return left_join(query, subquery(sensitive_codes(encoding, name), lookup), on)


def unlabelled_values(encoding: Encoding, name: str) -> exp.Query:
    """One row, ``unlabelled``: the values of a compared column of persons that the taxonomy of the column lacks."""
    is_unlabelled = column(encoding.sensitive_label(name, 1)).is_(exp.null())
    count = aliased(filtered(count_rows(), is_unlabelled), "unlabelled")
    return select([count], encoding.values(name).table)


def _population_cells(encoding: Encoding, population: exp.Expr) -> exp.Query:
    """The cells of the population, over the quasi-identifiers alone."""
    keys = _value_keys(encoding, lambda name: exact_text(column(name)))
    columns = [aliased(key.copy(), name) for name, key in keys.items()]
    people = grouped(select([*columns, aliased(count_rows(), PEOPLE)], population.copy()), list(keys.values()))
    return looked_up(encoding, subquery(people, COMBINATIONS)).select(column(PEOPLE, COMBINATIONS), copy=False)


def _ranks_alias(encoding: Encoding, name: str) -> str:
    return f"{encoding.sensitive(name)}_ranks"


PIECES = Relation("anon_pieces", "cell")
"""The cells of all pieces: those that several pieces have stand there as often."""


def cells_of_piece(encoding: Encoding, piece: exp.Expr) -> Step:
    """The step that makes the cells of a piece, or adds them to those of others."""
    found = subquery(combinations(encoding, piece), COMBINATIONS)
    others = [column(name, COMBINATIONS) for name in (*_others(encoding), *_counts(encoding))]
    return Step(PIECES, looked_up(encoding, found).select(*others, copy=False), "cells of a piece")


ROWS = Relation("anon_keyed_rows", "rows")
"""The rows of the source with their keys, and what identifies their persons if each has one."""


def keyed_rows(encoding: Encoding, earlier: EarlierClasses) -> Step:
    """The step that makes :data:`ROWS`, among which persons are found again."""
    query = looked_up(encoding, exp.alias_(encoding.spec.source.copy(), COMBINATIONS, table=True))
    keys = key_columns(earlier.keys, COMBINATIONS, as_text=earlier.as_text) if earlier.is_by_person else []
    coded = encoding.spec.coded
    others = [value_of_row(name) if name in coded else column(name, COMBINATIONS) for name in _others(encoding)]
    query = with_persons(earlier, query, COMBINATIONS)
    return Step(ROWS, query.select(*others, aliased(number(1), ROW_COUNT), *keys, copy=False), "rows with their keys")


def cells_of_keyed(encoding: Encoding, relation: Relation) -> Step:
    """The step that makes the cells of the source from those of its pieces, or from its rows."""
    keys = [*_keys(encoding), *_others(encoding)]
    found = grouped(select([*map(column, keys), row_sum()], relation.table), [column(name) for name in keys])
    if encoding.spec.row_weight is not None:
        found = found.select(_weight_of_pieces(), copy=False)
    return Step(encoding.cells, cells_of(encoding, found, _as_they_are), "cells")


def _as_they_are(encoding: Encoding, relation: exp.Expr) -> exp.Select:
    """Combinations that have the words of their keys already."""
    return select([column(name, COMBINATIONS) for name in _keys(encoding)], relation)


def _keys(encoding: Encoding) -> list[str]:
    """The columns that encode the labels of a cell."""
    return [*(encoding.key(word) for word in range(encoding.keys.word_count)), IS_UNMAPPED]


def _others(encoding: Encoding) -> list[str]:
    """What distinguishes cells of the same key."""
    spec = encoding.spec
    return [*spec.protected, *([] if spec.individual is None else [spec.individual])]


def _counts(encoding: Encoding) -> list[str]:
    return [ROW_COUNT, *([] if encoding.spec.row_weight is None else [WEIGHT])]


def _weight_of_pieces() -> exp.Alias:
    """The weights of all pieces; NULL where one of them is."""
    known = exp.func("bool_and", exp.Not(this=column(WEIGHT).is_(exp.null())))
    return aliased(exp.Case(ifs=[exp.If(this=known, true=exp.Sum(this=column(WEIGHT)))]), WEIGHT)
