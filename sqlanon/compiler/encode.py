"""Rows → cells: the one scan of the source.

A cell is a distinct combination of quasi-identifiers (and of the sensitive columns that a privacy model looks at, and
of the individual, if classes count individuals) with its number of rows. Every level of every quasi-identifier stands
in it as a small integer, and all of them in the bits of a key, so that a node of the lattice is one GROUP BY over a
number or two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from sqlanon.compiler import taxonomies
from sqlanon.compiler.encoding import (
    INDIVIDUAL,
    ONE_TEXT_PER_VALUE,
    PEOPLE,
    ROW_COUNT,
    VALUE,
    WEIGHT,
    Encoding,
    counted,
)
from sqlanon.compiler.macros import scalar_call
from sqlanon.compiler.nodes import (
    Step,
    aliased,
    all_bits,
    ascending,
    cast,
    column,
    count_rows,
    exact_text,
    filtered,
    grouped,
    number,
    same,
    select,
    string,
    subquery,
    union_all,
    unnested,
)

CODE_TYPES = ((0xFF, "UTINYINT"), (0xFFFF, "USMALLINT"), (0xFFFFFFFF, "UINTEGER"))

LABEL_LOSSES = {"lm": "lm_share_of", "ncp": "ncp_share_of"}
"""Losses of labels, and the macro that computes each from the leaves under the label and the domain's size."""


MOST_STEPS = 64
"""In up to so many steps what labels lose is spelled out in the query of a node; else it is looked up."""


def encode_labels(plan: Encoding) -> list[Step]:
    """The steps that make the codes of labels, from the taxonomies alone."""
    bound = plan.bound
    steps = [
        Step(
            relation, _quasi_identifier_codes(plan, position), f'codes of "{bound.policy.quasi_identifiers[position]}"'
        )
        for position, relation in enumerate(plan.codes)
    ]
    steps += [
        Step(plan.sensitive_codes(name), _sensitive_codes(plan, name), f'codes of "{name}"')
        for name in bound.sensitive_shapes
    ]
    return steps


def encode_rows(plan: Encoding) -> list[Step]:
    """The steps that make the cells, and what classes are compared with."""
    bound = plan.bound
    steps = [Step(plan.cells, _cells(plan), "cells")]
    steps += shares(plan)
    if bound.population is not None:
        steps.append(Step(plan.population_cells, _population_cells(plan, bound.population), "population"))
    return steps


def shares(plan: Encoding) -> list[Step]:
    """The steps that make what classes are compared with, from the cells."""
    return [Step(plan.values(name), _values(plan, name), f'shares of "{name}"') for name in plan.compared_columns]


def cell_counts(plan: Encoding) -> exp.Query:
    """One row: cells, rows, and how many of these have an unmapped value, a bad weight, or no individual."""
    policy = plan.bound.policy
    codes = [column(plan.code(position, 0)) for position in range(len(plan.codes))]
    codes += [column(plan.sensitive_label(name, 1)) for name in plan.bound.sensitive_shapes]
    counts = {"unmapped": exp.or_(*(code.is_(exp.null()) for code in codes), copy=False)}
    if policy.row_weight is not None:
        counts["unweighted"] = column(WEIGHT).is_(exp.null())
    if policy.individual is not None:
        counts["anonymous"] = column(INDIVIDUAL).is_(exp.null())
    columns = [aliased(count_rows(), "cells"), aliased(_count_of_rows(), "rows")]
    columns += [aliased(_count_of_rows(condition), name) for name, condition in counts.items()]
    return select(columns, plan.cells.table)


def last_children(plan: Encoding) -> exp.Query:
    """position, depth, last_child: the largest number that a label has among those under the same one."""
    return union_all(_last_children(plan, position) for position in range(len(plan.codes)))


def loss_steps(plan: Encoding) -> exp.Query | None:
    """position, depth, last_bits, lm, ncp: what labels lose, see :class:`Encoding`; None if all lose alike."""
    varying = [
        (position, depth)
        for position, shape in enumerate(plan.bound.shapes)
        for depth in range(shape.height)
        if plan.loss_varies(position, depth)
    ]
    return union_all(_loss_steps(plan, *place) for place in varying) if varying else None


def unmapped_people(plan: Encoding) -> exp.Query:
    """One row: people of the population with a value that no taxonomy knows."""
    codes = [column(plan.code(position, 0)) for position in range(len(plan.codes))]
    unmapped = exp.or_(*(code.is_(exp.null()) for code in codes), copy=False)
    people = exp.func("coalesce", filtered(exp.Sum(this=column(PEOPLE)), unmapped), number(0))
    return select([aliased(people, "unmapped")], plan.population_cells.table)


def _count_of_rows(condition: exp.Expr | None = None) -> exp.Expr:
    rows = exp.Sum(this=column(ROW_COUNT))
    return exp.func("coalesce", rows if condition is None else filtered(rows, condition), number(0))


def _last_children(plan: Encoding, position: int) -> exp.Select:
    depths = plan.depths(position)
    last = (exp.func("coalesce", exp.Max(this=column(plan.child(position, depth))), number(0)) for depth in depths)
    columns = [
        aliased(number(position), "position"),
        aliased(unnested(number(depth) for depth in depths), "depth"),
        aliased(unnested(last), "last_child"),
    ]
    return select(columns, plan.codes[position].table)


def _loss_steps(plan: Encoding, position: int, depth: int) -> exp.Select:
    """The last of the labels in the order of their bits that lose alike; nothing if there are too many of them."""
    losses = [aliased(column(plan.label_loss(name, position, depth)), name) for name in LABEL_LOSSES]
    words = [column(plan.key(word)) for word in plan.keys.label_masks(position, depth)]
    labels = subquery(label_bits(plan, position, depth, losses), "anon_labels")
    here = exp.Tuple(expressions=[column(name) for name in LABEL_LOSSES])
    order = ascending(*words) if words else None
    following = exp.Tuple(
        expressions=[exp.Window(this=exp.func("lead", column(name)), order=order) for name in LABEL_LOSSES]
    )
    columns = [
        aliased(number(position), "position"),
        aliased(number(depth), "depth"),
        aliased(cast(exp.Array(expressions=[word.copy() for word in words]), "BIGINT[]"), "last_bits"),
        *(column(name) for name in LABEL_LOSSES),
    ]
    steps = select(columns, labels)
    steps.set("qualify", exp.Qualify(this=exp.NullSafeNEQ(this=here, expression=following)))
    few = select([exp.Star()], subquery(steps, "anon_steps"))
    count = exp.Window(this=count_rows())
    few.set("qualify", exp.Qualify(this=exp.LTE(this=count, expression=number(MOST_STEPS))))
    return few


def label_bits(plan: Encoding, position: int, depth: int, columns: Sequence[exp.Expr]) -> exp.Select:
    """Some columns of the labels of a level, and their bits in the words of the key."""
    return select([*_words(plan, position, depth), *columns], plan.codes[position].table).distinct(copy=False)


def _words(plan: Encoding, position: int, depth: int) -> list[exp.Alias]:
    """The bits of a quasi-identifier's labels, from a level up, in each word of the key that has some."""
    masks = plan.keys.label_masks(position, depth)
    return [aliased(_bits(plan, position, depth, word), plan.key(word)) for word in masks]


def _bits(plan: Encoding, position: int, depth: int, word: int) -> exp.Expr:
    """The bits of a quasi-identifier's labels in a word of the key, from a level up, from its codes."""
    parts: list[exp.Expr] = []
    for above in plan.depths(position)[depth:]:
        place = plan.keys.fields[position, above]
        if place.word == word and place.width:
            child = column(plan.child(position, above))
            parts.append(exp.Paren(this=exp.BitwiseLeftShift(this=child, expression=number(place.shift))))
    return all_bits(parts)


def _quasi_identifier_codes(plan: Encoding, position: int) -> exp.Query:
    """The values of one quasi-identifier: per level the code of the label and what the label loses."""
    shape = plan.bound.shapes[position]

    def columns(depth: int, alias: str) -> list[exp.Expr]:
        losses = [
            aliased(
                scalar_call(macro, column("leaf_count", alias), number(shape.domain_size)),
                plan.label_loss(measure, position, depth),
            )
            for measure, macro in LABEL_LOSSES.items()
        ]
        return [aliased(column("code", alias), plan.code(position, depth)), *losses]

    codes = _codes(plan, plan.bound.policy.quasi_identifiers[position], shape.label_counts, columns)
    children = [_child(plan, position, depth) for depth in plan.depths(position)]
    return select([exp.Star(), *children], subquery(codes, "anon_labels"))


def _child(plan: Encoding, position: int, depth: int) -> exp.Alias:
    """The number of a value's label at a level among those under the same label of the next level."""
    order = ascending(column(plan.code(position, depth)))
    above = depth + 1
    parent = [column(plan.code(position, above))] if above in plan.depths(position) else []
    rank = exp.Window(this=exp.func("dense_rank"), partition_by=parent, order=order)
    return aliased(exp.Sub(this=rank, expression=number(1)), plan.child(position, depth))


def _sensitive_codes(plan: Encoding, name: str) -> exp.Query:
    """The values of a protected column: per level that cells carry the code of the label."""

    def columns(depth: int, alias: str) -> list[exp.Expr]:
        return [aliased(column("code", alias), plan.sensitive_label(name, depth))] if depth else []

    shape = plan.bound.sensitive_shapes[name]
    return _codes(plan, name, shape.label_counts[: plan.sensitive_depths(name).stop], columns)


def _codes(
    plan: Encoding, attribute: str, label_counts: Sequence[int], columns: Callable[[int, str], list[exp.Expr]]
) -> exp.Query:
    """The values of one taxonomy, with columns made from the labels of each level."""
    query = exp.select(aliased(column("value", "anon_level_0"), VALUE))
    for depth, label_count in enumerate(label_counts):
        alias = f"anon_level_{depth}"
        labels = subquery(_coded_labels(plan, attribute, depth, label_count), alias)
        if depth == 0:
            query = query.from_(labels, copy=False)
        else:
            on = same(column("value", alias), column("value", "anon_level_0"))
            query = query.join(labels, on=on, copy=False)
        query = query.select(*columns(depth, alias), copy=False)
    return query


def _coded_labels(plan: Encoding, attribute: str, depth: int, label_count: int) -> exp.Query:
    """One level of a taxonomy: value, the code of its label, the leaves under it, of which labels are in the order."""
    labels = subquery(taxonomies.level(plan.bound.taxonomy, attribute, depth), "anon_labels")
    leaves = subquery(taxonomies.leaves(plan.bound.taxonomy, attribute, depth), "anon_leaves")
    label = column("label", "anon_labels")
    # A label that no value of the taxonomy carries is NULL, which is its own single leaf.
    leaf_count = exp.func("coalesce", column("leaf_count", "anon_leaves"), number(1))
    return (
        exp.select(
            column("value", "anon_labels"),
            aliased(cast(_rank(leaf_count.copy(), label, nulls_first=True), _code_type(label_count)), "code"),
            aliased(leaf_count, "leaf_count"),
        )
        .from_(labels)
        .join(leaves, on=same(column("label", "anon_leaves"), label.copy()), join_type="left")
    )


def _rank(*values: exp.Expr, nulls_first: bool) -> exp.Window:
    return exp.Window(this=exp.func("dense_rank"), order=ascending(*values, nulls_first=nulls_first))


def _code_type(label_count: int) -> str:
    # One more than there are labels, for the NULL that every level knows.
    return next((name for largest, name in CODE_TYPES if label_count + 1 <= largest), "UBIGINT")


def _cells(plan: Encoding) -> exp.Query:
    """Group the rows by raw values first, then look up the codes of the few combinations that are left."""
    policy = plan.bound.policy
    query = _looked_up(plan, _combinations(plan))
    for name in policy.protected_columns:
        rank = cast(_rank(column(name, "anon_rows"), nulls_first=False), "UINTEGER")
        query = query.select(aliased(rank, plan.sensitive(name)), copy=False)
        if plan.holds_release:
            query = query.select(aliased(column(name, "anon_rows"), plan.raw(name)), copy=False)
    for name in plan.bound.sensitive_shapes:
        query = _with_labels(plan, query, name)
    if policy.individual is not None:
        query = query.select(aliased(column(policy.individual, "anon_rows"), INDIVIDUAL), copy=False)
    if policy.row_weight is not None:
        query = query.select(column(WEIGHT, "anon_rows"), copy=False)
    return query.select(column(ROW_COUNT, "anon_rows"), copy=False)


def _looked_up(plan: Encoding, combinations: exp.Query) -> exp.Select:
    """The codes of combinations of raw values at every level below the top, and the words of their keys."""
    query = exp.select().from_(subquery(combinations, "anon_rows"))
    for position in range(len(plan.codes)):
        alias = _codes_alias(position)
        raw = exact_text(column(plan.bound.policy.quasi_identifiers[position], "anon_rows"))
        lookup = subquery(_codes_with_bits(plan, position), alias)
        query = query.join(lookup, on=same(column(VALUE, alias), raw), join_type="left", copy=False)
        query = query.select(*(column(name, alias) for name in _code_columns(plan, position)), copy=False)
    return query.select(*(_key_word(plan, word) for word in range(plan.keys.word_count)), copy=False)


def _codes_with_bits(plan: Encoding, position: int) -> exp.Select:
    """The values of a quasi-identifier with their codes and their bits in the words of the key."""
    codes = [column(name) for name in _code_columns(plan, position)]
    return select([column(VALUE), *codes, *_words(plan, position, 0)], plan.codes[position].table)


def _code_columns(plan: Encoding, position: int) -> list[str]:
    return [plan.code(position, depth) for depth in plan.depths(position)]


def _key_word(plan: Encoding, word: int) -> exp.Alias:
    """A word of the key of a cell: the bits of its quasi-identifiers there."""
    positions = [position for position in range(len(plan.codes)) if word in plan.keys.label_masks(position, 0)]
    return aliased(all_bits(column(plan.key(word), _codes_alias(position)) for position in positions), plan.key(word))


def _with_labels(plan: Encoding, query: exp.Select, name: str) -> exp.Select:
    """The codes of a protected column's labels."""
    relation = plan.sensitive_codes(name)
    lookup = exp.alias_(relation.table, relation.name, table=True)
    raw = exact_text(column(name, "anon_rows"))
    query = query.join(lookup, on=same(column(VALUE, relation.name), raw), join_type="left", copy=False)
    labels = [plan.sensitive_label(name, depth) for depth in plan.sensitive_depths(name)]
    return query.select(*(column(label, relation.name) for label in labels), copy=False)


def _combinations(plan: Encoding) -> exp.Query:
    policy = plan.bound.policy
    individual = () if policy.individual is None else (policy.individual,)
    keys = {name: _key(plan, name) for name in policy.quasi_identifiers}
    keys |= {name: _key(plan, name) if plan.holds_release else column(name) for name in policy.protected_columns}
    keys |= {name: column(name) for name in individual}
    columns = [aliased(key.copy(), name) for name, key in keys.items()]
    columns.append(aliased(count_rows(), ROW_COUNT))
    if policy.row_weight is not None:
        columns.append(aliased(_weight(column(policy.row_weight)), WEIGHT))
    return grouped(select(columns, plan.bound.source.copy()), list(keys.values()))


def _weight(weight: exp.Expr) -> exp.Expr:
    """The weight of a cell; NULL where a row has a weight that cannot be one."""
    valid = exp.and_(
        exp.GT(this=weight, expression=number(0)),
        exp.LT(this=cast(weight.copy(), "DOUBLE"), expression=cast(string("infinity"), "DOUBLE")),
    )
    return exp.Case(
        ifs=[
            exp.If(
                this=exp.func("bool_and", exp.func("coalesce", valid, exp.false())),
                true=exp.Sum(this=cast(weight.copy(), "DOUBLE")),
            )
        ]
    )


def _key(plan: Encoding, name: str) -> exp.Expr:
    """A column to group by: as text where equal values can have different texts.

    Such as 0.0 and -0.0, one month and thirty days, or a and A under a collation.
    """
    return column(name) if plan.types[name] in ONE_TEXT_PER_VALUE else exact_text(column(name))


def _values(plan: Encoding, name: str) -> exp.Query:
    """The values of a compared column: code, share of the table, cumulative share, and the shares of its labels."""
    code = plan.sensitive(name)
    labels = [plan.sensitive_label(name, level) for level in range(1, plan.sensitive_height(name))]
    carried = [aliased(exp.AnyValue(this=column(label)), label) for label in labels]
    rows = aliased(counted(plan), "anon_rows")
    counts = grouped(select([column(code), *carried, rows], plan.cells.table), [column(code)])
    shares = [
        aliased(_share(), "anon_share"),
        aliased(_share(order=ascending(column(code))), "anon_cumulative"),
        *(
            aliased(_share(partition_by=[column(label)]), plan.label_share(level))
            for level, label in enumerate(labels, 1)
        ),
    ]
    return select([column(code), *(column(label) for label in labels), *shares], subquery(counts, "anon_counts"))


def _share(partition_by: list[exp.Expr] | None = None, order: exp.Order | None = None) -> exp.Expr:
    """The rows of a value, of its label, or of the values up to it, as a share of the whole table."""
    rows: exp.Expr = column("anon_rows")
    if partition_by is not None or order is not None:
        rows = exp.Window(this=exp.Sum(this=rows), partition_by=partition_by or [], order=order)
    return exp.Div(this=rows, expression=exp.Window(this=exp.Sum(this=column("anon_rows"))))


def _population_cells(plan: Encoding, population: exp.Expr) -> exp.Query:
    """The cells of the population, over the quasi-identifiers alone."""
    names = plan.bound.policy.quasi_identifiers
    keys = [exact_text(column(name)) for name in names]
    columns = [aliased(key.copy(), name) for key, name in zip(keys, names, strict=True)]
    people = grouped(select([*columns, aliased(count_rows(), PEOPLE)], population.copy()), keys)
    return _looked_up(plan, people).select(column(PEOPLE, "anon_rows"), copy=False)


def _codes_alias(position: int) -> str:
    return f"anon_codes_{position}"
