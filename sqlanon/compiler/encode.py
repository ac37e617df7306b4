"""Rows → cells: the one scan of the source.

A cell is a distinct combination of quasi-identifiers (and of the sensitive columns that a privacy model looks
at) with its number of rows. Every level of every quasi-identifier stands in it as a small integer, so that a node
of the lattice is one GROUP BY over a few narrow columns.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from sqlanon.compiler import taxonomies
from sqlanon.compiler.bind import BoundPolicy
from sqlanon.compiler.macros import scalar_call
from sqlanon.compiler.nodes import (
    Relation,
    Step,
    aliased,
    cast,
    column,
    count_rows,
    exact_text,
    filtered,
    grouped,
    number,
    same,
    select,
    subquery,
)

CODE_TYPES = ((0xFF, "UTINYINT"), (0xFFFF, "USMALLINT"), (0xFFFFFFFF, "UINTEGER"))


@dataclass(frozen=True)
class Encoding:
    """The temporary tables of a run and the names of their columns.

    Attributes:
        bound: the policy and what it is bound to.
        codes: per quasi-identifier, its values with the code and the losses of their label at each level.
        cells: the cells.
        label_losses: the losses of labels that cells carry too, for measures that need them in every node:
            ``lm``, ``ncp``, both or none.
    """

    bound: BoundPolicy
    codes: tuple[Relation, ...]
    cells: Relation
    label_losses: tuple[str, ...]

    def code(self, position: int, depth: int) -> str:
        """The column of ``cells`` with the code of a quasi-identifier at a level."""
        return f"anon_code_{position}_{depth}"

    def label_loss(self, measure: str, position: int, depth: int) -> str:
        """The column with the loss of the label of a quasi-identifier at a level."""
        return f"anon_{measure}_{position}_{depth}"

    def carries_label_loss(self, position: int, depth: int) -> bool:
        """Whether cells carry losses of labels at a level: only between the values and the top do labels differ."""
        return 0 < depth < self.bound.shapes[position].height

    def sensitive(self, name: str) -> str:
        """The column of ``cells`` with the code of a protected column."""
        return f"anon_sensitive_{self.bound.policy.protected_columns.index(name)}"


ONE_TEXT_PER_VALUE = frozenset(
    (
        "BOOLEAN",
        "TINYINT",
        "SMALLINT",
        "INTEGER",
        "BIGINT",
        "HUGEINT",
        "UTINYINT",
        "USMALLINT",
        "UINTEGER",
        "UBIGINT",
        "UHUGEINT",
        "DECIMAL",
        "DATE",
        "TIME",
        "TIMESTAMP",
        "TIMESTAMP_S",
        "TIMESTAMP_MS",
        "TIMESTAMP_NS",
        "UUID",
        "ENUM",
    )
)
"""Types in which two values are equal just when their texts are."""

LABEL_LOSSES = {"lm": "lm_share_of", "ncp": "ncp_share_of"}
"""Losses of labels, and the macro that computes each from the leaves under the label and the domain's size."""

ROW_COUNT = "anon_row_count"
VALUE = "anon_value"


def encoding(bound: BoundPolicy, *, label_losses: tuple[str, ...]) -> Encoding:
    """Names for the temporary tables of a run."""
    codes = [Relation(f"anon_codes_{position}", "node") for position in range(len(bound.shapes))]
    return Encoding(bound, tuple(codes), Relation("anon_cells", "cell"), label_losses)


def encode(plan: Encoding) -> list[Step]:
    """The steps that make the codes and the cells."""
    steps = [
        Step(relation, _codes(plan, position), f'codes of "{plan.bound.policy.quasi_identifiers[position]}"')
        for position, relation in enumerate(plan.codes)
    ]
    return [*steps, Step(plan.cells, _cells(plan), "cells")]


def cell_counts(plan: Encoding) -> exp.Query:
    """One row: cells, their rows, and the rows with a value that no taxonomy knows."""
    unmapped = exp.or_(
        *(column(plan.code(position, 0)).is_(exp.null()) for position in range(len(plan.codes))), copy=False
    )
    return exp.select(
        aliased(count_rows(), "cells"),
        aliased(exp.func("coalesce", exp.Sum(this=column(ROW_COUNT)), number(0)), "rows"),
        aliased(
            exp.func("coalesce", filtered(exp.Sum(this=column(ROW_COUNT)), unmapped), number(0)),
            "unmapped",
        ),
    ).from_(plan.cells.table)


def _codes(plan: Encoding, position: int) -> exp.Query:
    """The values of one taxonomy: value, and per level the code of its label and what the label loses."""
    shape = plan.bound.shapes[position]
    attribute = plan.bound.policy.quasi_identifiers[position]
    query = exp.select(aliased(column("value", "anon_level_0"), VALUE))
    for depth, label_count in enumerate(shape.label_counts):
        alias = f"anon_level_{depth}"
        labels = subquery(_coded_labels(plan, attribute, depth, label_count), alias)
        if depth == 0:
            query = query.from_(labels, copy=False)
        else:
            on = same(column("value", alias), column("value", "anon_level_0"))
            query = query.join(labels, on=on, copy=False)
        losses = [
            aliased(
                scalar_call(macro, column("leaf_count", alias), number(shape.domain_size)),
                plan.label_loss(measure, position, depth),
            )
            for measure, macro in LABEL_LOSSES.items()
        ]
        query = query.select(aliased(column("code", alias), plan.code(position, depth)), *losses, copy=False)
    return query


def _coded_labels(plan: Encoding, attribute: str, depth: int, label_count: int) -> exp.Query:
    """One level of a taxonomy: value, the code of its label, the leaves under it."""
    labels = subquery(taxonomies.level(plan.bound.taxonomy, attribute, depth), "anon_labels")
    leaves = subquery(taxonomies.leaves(plan.bound.taxonomy, attribute, depth), "anon_leaves")
    label = column("label", "anon_labels")
    rank = exp.Window(
        this=exp.func("dense_rank"), order=exp.Order(expressions=[exp.Ordered(this=label, nulls_first=True)])
    )
    return (
        exp.select(
            column("value", "anon_labels"),
            aliased(cast(rank, _code_type(label_count)), "code"),
            # A label that no value of the taxonomy carries is NULL, which is its own single leaf.
            aliased(exp.func("coalesce", column("leaf_count", "anon_leaves"), number(1)), "leaf_count"),
        )
        .from_(labels)
        .join(leaves, on=same(column("label", "anon_leaves"), label.copy()), join_type="left")
    )


def _code_type(label_count: int) -> str:
    # One more than there are labels, for the NULL that every level knows.
    return next((name for largest, name in CODE_TYPES if label_count + 1 <= largest), "UBIGINT")


def _cells(plan: Encoding) -> exp.Query:
    """Group the rows by raw values first, then look up the codes of the few combinations that are left."""
    policy = plan.bound.policy
    query = exp.select().from_(subquery(_combinations(plan), "anon_rows"))
    for position, relation in enumerate(plan.codes):
        alias = f"anon_codes_{position}"
        raw = exact_text(column(policy.quasi_identifiers[position], "anon_rows"))
        lookup = exp.alias_(relation.table, alias, table=True)
        query = query.join(lookup, on=same(column(VALUE, alias), raw), join_type="left", copy=False)
        # The top level has one label, so no GROUP BY needs its code.
        for depth in range(max(plan.bound.shapes[position].height, 1)):
            carried = plan.label_losses if plan.carries_label_loss(position, depth) else ()
            losses = [column(plan.label_loss(measure, position, depth), alias) for measure in carried]
            query = query.select(column(plan.code(position, depth), alias), *losses, copy=False)
    for name in policy.protected_columns:
        order = exp.Order(expressions=[exp.Ordered(this=column(name, "anon_rows"), nulls_first=True)])
        rank = exp.Window(this=exp.func("dense_rank"), order=order)
        query = query.select(aliased(cast(rank, "UINTEGER"), plan.sensitive(name)), copy=False)
    return query.select(column(ROW_COUNT, "anon_rows"), copy=False)


def _combinations(plan: Encoding) -> exp.Query:
    policy = plan.bound.policy
    types = {source_column.name: source_column.type for source_column in plan.bound.columns}
    keys = [_key(name, types[name]) for name in policy.quasi_identifiers]
    keys += [column(name) for name in policy.protected_columns]
    names = (*policy.quasi_identifiers, *policy.protected_columns)
    selected = [aliased(key.copy(), name) for key, name in zip(keys, names, strict=True)]
    return grouped(select([*selected, aliased(count_rows(), ROW_COUNT)], plan.bound.source.copy()), keys)


def _key(name: str, type_name: str) -> exp.Expr:
    """A quasi-identifier to group by: as text where equal values can have different texts.

    Such as 0.0 and -0.0, one month and thirty days, or a and A under a collation.
    """
    base = type_name.upper().partition("(")[0]
    return column(name) if base in ONE_TEXT_PER_VALUE else exact_text(column(name))
