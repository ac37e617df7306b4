"""Taxonomies → codes: every label of every level as a small integer, with its bits in a key and with what it loses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from sqlanon.compiler import taxonomies
from sqlanon.compiler.encoding import (
    VALUE,
    Encoding,
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
    filtered,
    grouped,
    number,
    select,
    subquery,
    union_all,
    unnested,
)

CODE_TYPES = ((0xFF, "UTINYINT"), (0xFFFF, "USMALLINT"), (0xFFFFFFFF, "UINTEGER"))

LABEL_LOSSES = {"lm": "lm_share_of", "ncp": "ncp_share_of"}
"""Losses of labels that taxonomies tell, and the macro of each, of the leaves under the label and the domain's size."""


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


def last_children(plan: Encoding) -> exp.Query:
    """position, depth, last_child: the largest number that a label has among those under the same one."""
    return union_all(_last_children(plan, position) for position in range(len(plan.codes)))


def loss_steps(plan: Encoding, measures: Sequence[str]) -> exp.Query | None:
    """position, depth, last_bits and a column per measure: what labels lose, see :class:`Encoding`.

    None if all lose alike. The measures are to vary at the same levels.
    """
    varying = [
        (position, depth)
        for position, shape in enumerate(plan.bound.shapes)
        for depth in range(shape.height)
        if any(plan.loss_varies(measure, position, depth) for measure in measures)
    ]
    return union_all(_loss_steps(plan, *place, measures) for place in varying) if varying else None


def _last_children(plan: Encoding, position: int) -> exp.Select:
    depths = plan.depths(position)
    last = (exp.func("coalesce", exp.Max(this=column(plan.child(position, depth))), number(0)) for depth in depths)
    columns = [
        aliased(number(position), "position"),
        aliased(unnested(number(depth) for depth in depths), "depth"),
        aliased(unnested(last), "last_child"),
    ]
    return select(columns, plan.codes[position].table)


def _loss_steps(plan: Encoding, position: int, depth: int, measures: Sequence[str]) -> exp.Select:
    """The last of the labels in the order of their bits that lose alike; nothing if there are too many of them."""
    losses = [aliased(column(plan.label_loss(name, position, depth)), name) for name in measures]
    words = [column(plan.key(word)) for word in plan.keys.label_masks(position, depth)]
    labels = subquery(label_bits(plan, position, depth, losses), "anon_labels")
    here = exp.Tuple(expressions=[column(name) for name in measures])
    order = ascending(*words) if words else None
    following = exp.Tuple(
        expressions=[exp.Window(this=exp.func("lead", column(name)), order=order) for name in measures]
    )
    columns = [
        aliased(number(position), "position"),
        aliased(number(depth), "depth"),
        aliased(cast(exp.Array(expressions=[word.copy() for word in words]), "BIGINT[]"), "last_bits"),
        *(column(name) for name in measures),
    ]
    steps = select(columns, labels)
    steps.set("qualify", exp.Qualify(this=exp.NullSafeNEQ(this=here, expression=following)))
    few = select([exp.Star()], subquery(steps, "anon_steps"))
    count = exp.Window(this=count_rows())
    few.set("qualify", exp.Qualify(this=exp.LTE(this=count, expression=number(MOST_STEPS))))
    return few


def label_bits(plan: Encoding, position: int, depth: int, columns: Iterable[exp.Expr]) -> exp.Select:
    """Some columns of the labels of a level, and their bits in the words of the key."""
    return select([*label_words(plan, position, depth), *columns], plan.codes[position].table).distinct(copy=False)


def label_words(plan: Encoding, position: int, depth: int) -> list[exp.Alias]:
    """The bits of a quasi-identifier's labels, from a level up, in each word of the key that has some.

    They are made of columns of its codes.
    """
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
    attribute = plan.bound.policy.quasi_identifiers[position]
    losses = [
        aliased(scalar_call(macro, column("leaf_count"), number(shape.domain_size)), measure)
        for measure, macro in LABEL_LOSSES.items()
    ]
    found = [aliased(column("value"), VALUE)]
    for depth, label_count in enumerate(shape.label_counts):
        found.append(aliased(_code(depth, label_count), plan.code(position, depth)))
        found += [
            aliased(_at_level(depth, measure), plan.label_loss(measure, position, depth)) for measure in LABEL_LOSSES
        ]
    values = _values(found, levels=len(shape.label_counts))
    children = [_child(plan, position, depth) for depth in plan.depths(position)]
    labels = _coded_labels(plan, attribute, losses)
    query = select([exp.Star(), *children], exp.to_table("anon_values"))
    return query.with_("anon_coded", as_=labels, copy=False).with_("anon_values", as_=values, copy=False)


def _child(plan: Encoding, position: int, depth: int) -> exp.Alias:
    """The number of a value's label at a level among those under the same label of the next level."""
    order = ascending(column(plan.code(position, depth)))
    above = depth + 1
    parent = [column(plan.code(position, above))] if above in plan.depths(position) else []
    rank = exp.Window(this=exp.func("dense_rank"), partition_by=parent, order=order)
    return aliased(exp.Sub(this=rank, expression=number(1)), plan.child(position, depth))


def _sensitive_codes(plan: Encoding, name: str) -> exp.Query:
    """The values of a protected column: per level that cells carry the code of the label."""
    depths = plan.sensitive_depths(name)
    counts = plan.bound.sensitive_shapes[name].label_counts[: depths.stop]
    found = [aliased(column("value"), VALUE)]
    found += [
        aliased(_code(depth, label_count), plan.sensitive_label(name, depth))
        for depth, label_count in enumerate(counts)
        if depth in depths
    ]
    return _values(found, levels=len(counts)).with_("anon_coded", as_=_coded_labels(plan, name, []), copy=False)


def _coded_labels(plan: Encoding, attribute: str, losses: Sequence[exp.Expr]) -> exp.Select:
    """All labels of a taxonomy: level, value, the code of the label and its losses.

    The codes of a level are in the order of the leaves under its labels.
    """
    order = ascending(column("leaf_count"), column("label"), nulls_first=True)
    code = exp.Window(this=exp.func("dense_rank"), partition_by=[column("level")], order=order)
    labels = subquery(taxonomies.levels(plan.bound.taxonomy, attribute), "anon_taxonomy")
    return select([column("level"), column("value"), aliased(code, "code"), *losses], labels)


def _values(columns: Sequence[exp.Expr], *, levels: int) -> exp.Select:
    """A row per value of the coded labels, with columns made of its labels; values that lack one are left out."""
    labels = select(columns, exp.to_table("anon_coded")).where(exp.LT(this=column("level"), expression=number(levels)))
    return grouped(labels, [column("value")]).having(count_rows().eq(number(levels)), copy=False)


def _code(depth: int, label_count: int) -> exp.Cast:
    """The code of a value's label at a level."""
    return cast(_at_level(depth, "code"), _code_type(label_count))


def _at_level(depth: int, name: str) -> exp.Filter:
    """What a column of the coded labels is at a level."""
    return filtered(exp.Max(this=column(name)), column("level").eq(number(depth)))


def dense_rank(*values: exp.Expr, nulls_first: bool) -> exp.Window:
    """The place of some values among all that are different, from 1."""
    return exp.Window(this=exp.func("dense_rank"), order=ascending(*values, nulls_first=nulls_first))


def _code_type(label_count: int) -> str:
    # One more than there are labels, for the NULL that every level knows.
    return next((name for largest, name in CODE_TYPES if label_count + 1 <= largest), "UBIGINT")
