"""Recodings → labels: what each value of a quasi-identifier becomes, and by which bits of their keys cells find it.

The labels of a level are among those that a run makes of all levels. Those of a cut are a table of their own, with the
bits of values in place of those of labels: no mask is the same for labels of several levels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlglot import exp

from sqlanon.model.recoding import AtCut, AtLevel, Part, Recoding
from sqlanon.queries.cells.encoding import VALUE, Encoding
from sqlanon.queries.cells.labels import at_level, dense_rank
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    column,
    count_rows,
    filtered,
    grouped,
    left_join,
    number,
    same,
    select,
    string,
    subquery,
    values,
)


def has_several_labels(encoding: Encoding, position: int, part: Part) -> bool:
    """Whether there is more than one label, so that labels have codes.

    At its top level a quasi-identifier has one label for all; a taxonomy of level 0 alone has none for NULL, which then
    stands apart.
    """
    return isinstance(part, AtCut) or part.level in encoding.depths(position)


def code_column(encoding: Encoding, position: int, part: Part) -> str:
    """The column of classes with the code of a quasi-identifier's label."""
    return encoding.code(position, part.level) if isinstance(part, AtLevel) else f"anon_code_{position}_cut"


def code(encoding: Encoding, position: int, part: Part) -> exp.Alias:
    """The code of a label, as classes have it."""
    return aliased(column("code"), code_column(encoding, position, part))


def code_columns(encoding: Encoding, recoding: Recoding) -> list[tuple[int, str]]:
    """Position and code column of every quasi-identifier that still distinguishes rows."""
    return [
        (position, code_column(encoding, position, part))
        for position, part in enumerate(recoding.parts)
        if has_several_labels(encoding, position, part)
    ]


def key_masks(encoding: Encoding, position: int, part: Part) -> Mapping[int, int]:
    """The bits that encode the label of a cell, for each word of its key that has any."""
    return encoding.keys.label_masks(position, part.level if isinstance(part, AtLevel) else 0)


def label_count(encoding: Encoding, position: int, part: Part) -> int:
    """How many labels there are at most, besides NULL."""
    if isinstance(part, AtLevel):
        return encoding.spec.shapes[position].label_counts[part.level]
    return len(part.labels)


def labels_of_values(
    encoding: Encoding, position: int, part: Part, columns: Iterable[exp.Expr], *conditions: exp.Expr
) -> exp.Select:
    """Some columns of the labels that values become and that meet some conditions, a row per value.

    They are those of :attr:`Encoding.labels`, the words of keys being what cells are compared with.
    """
    if isinstance(part, AtLevel):
        return at_level(encoding, position, part.level, columns, *conditions)
    return select(columns, cut_labels(position).table).where(*conditions, copy=False)


def bits_of_labels(encoding: Encoding, position: int, part: Part, columns: Iterable[exp.Expr]) -> exp.Select:
    """Some columns of the labels, and the bits in the words of the key by which cells find them."""
    words = [column(encoding.key(word)) for word in key_masks(encoding, position, part)]
    return labels_of_values(encoding, position, part, [*words, *columns]).distinct(copy=False)


def cut_labels(position: int) -> Relation:
    """The labels of a quasi-identifier at a cut, a row per value."""
    return Relation(f"anon_cut_labels_{position}", "node")


def cuts(recoding: Recoding) -> list[tuple[int, AtCut]]:
    """The quasi-identifiers that are at a cut, by position."""
    return [(position, part) for position, part in enumerate(recoding.parts) if isinstance(part, AtCut)]


def cut_step(encoding: Encoding, position: int, cut: AtCut) -> Step:
    """The step that makes :func:`cut_labels`; labels of several levels that read the same have one code."""
    given = [[number(level), string(label)] for level, label in cut.labels]
    labels = exp.alias_(encoding.labels.table, "anon_labels", table=True)
    found = select([column(VALUE, "anon_labels"), column("label", "anon_labels")], labels)
    found = found.join(
        values("anon_cut", ("depth", "label"), given),
        on=exp.and_(
            column("depth", "anon_labels").eq(column("depth", "anon_cut")),
            column("label", "anon_labels").eq(column("label", "anon_cut")),
            copy=False,
        ),
        copy=False,
    ).where(column("position", "anon_labels").eq(number(position)), copy=False)
    words = [column(encoding.key(word)) for word in range(encoding.keys.word_count)]
    leaves = subquery(at_level(encoding, position, 0, [column(VALUE), *words]), "anon_leaves")
    label = column("label", "anon_found")
    query = select(
        [
            column(VALUE, "anon_leaves"),
            label,
            aliased(dense_rank(label.copy(), nulls_first=False), "code"),
            *(column(word.name, "anon_leaves") for word in words),
        ],
        leaves,
    )
    on = same(column(VALUE, "anon_found"), column(VALUE, "anon_leaves"))
    query = left_join(query, subquery(found, "anon_found"), on)
    return Step(cut_labels(position), query, f'labels of "{encoding.spec.quasi_identifiers[position]}" at a cut')


def cut_misfits(position: int) -> exp.Query:
    """One row: values without a label of the cut, ``without``, and with more than one, ``several``."""
    labels = aliased(count_rows(), "anon_label_count")
    is_missing = exp.and_(column("label").is_(exp.null()), column(VALUE).is_(exp.null()).not_(), copy=False)
    missing = aliased(exp.LogicalOr(this=is_missing), "anon_is_missing")
    by_value = grouped(select([labels, missing], cut_labels(position).table), [column(VALUE)])
    several = exp.GT(this=column("anon_label_count"), expression=number(1))
    columns = [
        aliased(filtered(count_rows(), column("anon_is_missing")), "without"),
        aliased(filtered(count_rows(), several), "several"),
    ]
    return select(columns, subquery(by_value, "anon_values"))
