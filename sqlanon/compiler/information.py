"""What information labels have: in bits, from their rows among those of all cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.compiler.encode import label_words
from sqlanon.compiler.encoding import ROW_COUNT, WEIGHT, Encoding
from sqlanon.compiler.macros import scalar_call
from sqlanon.compiler.nodes import (
    Relation,
    Step,
    aliased,
    all_of,
    bits,
    column,
    count_rows,
    grouped,
    number,
    select,
    subquery,
)

INFORMATION = "information"
VALUE_ROWS = "anon_value_rows"


def with_information(plan: Encoding) -> Encoding:
    """The encoding with codes that have the information of labels beside them."""
    codes = (Relation(f"anon_informed_codes_{position}", "node") for position in range(len(plan.codes)))
    return replace(plan, codes=tuple(codes))


def encode_information(plan: Encoding, informed: Sequence[Relation]) -> list[Step]:
    """The steps that make the codes with the information of the labels of each level below the top."""
    names = plan.bound.policy.quasi_identifiers
    return [
        Step(relation, _informed(plan, position), f'information of "{names[position]}"')
        for position, relation in enumerate(informed)
    ]


def value_rows(plan: Encoding, position: int) -> exp.Select:
    """The rows (or their weight) of each value of a quasi-identifier, by its bits in the words of the key."""
    counted = ROW_COUNT if plan.bound.policy.row_weight is None else WEIGHT
    rows = aliased(exp.Sum(this=column(counted)), VALUE_ROWS)
    keys = {plan.key(word): mask for word, mask in plan.keys.label_masks(position, 0).items()}
    words = [aliased(bits(column(key), number(mask)), key) for key, mask in keys.items()]
    marginal = grouped(select([*words, rows], plan.cells.table), [word.this.copy() for word in words])
    # Without a key to group by there would be a row of no rows.
    marginal.set("having", exp.Having(this=exp.GT(this=count_rows(), expression=number(0))))
    return marginal


def _informed(plan: Encoding, position: int) -> exp.Select:
    words = label_words(plan, position, 0)
    coded = subquery(select([exp.Star(), *words], plan.codes[position].table), "anon_codes")
    on = all_of([column(word.alias, "anon_codes").eq(column(word.alias, "anon_marginal")) for word in words])
    names = [exp.to_identifier(word.alias, quoted=True) for word in words]
    everything = exp.Column(
        this=exp.Star(except_=names) if names else exp.Star(), table=exp.to_identifier("anon_codes", quoted=True)
    )
    columns = [
        aliased(_information(plan, position, depth), plan.label_loss(INFORMATION, position, depth))
        for depth in plan.depths(position)
    ]
    query = select([everything, *columns], coded)
    return query.join(subquery(value_rows(plan, position), "anon_marginal"), on=on, join_type="left", copy=False)


def _information(plan: Encoding, position: int, depth: int) -> exp.Expr:
    """That of the label of a value; nothing where the data has no row of it."""
    rows = exp.Sum(this=column(VALUE_ROWS, "anon_marginal"))
    of_label = exp.Window(this=rows, partition_by=[column(plan.code(position, depth), "anon_codes")])
    of_all = exp.Window(this=rows.copy())
    return exp.func("coalesce", scalar_call("label_information", of_label, of_all), number(0))
