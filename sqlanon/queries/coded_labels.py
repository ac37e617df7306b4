"""Taxonomies → codes: every label of every level as a small integer, with its bits in a key and with what it loses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlglot import exp

from sqlanon.queries import taxonomies
from sqlanon.queries.encoding import VALUE, Encoding
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_of,
    ascending,
    bit_or,
    bits,
    cast,
    column,
    copies,
    count_rows,
    enum_type,
    filtered,
    grouped,
    identifier,
    number,
    select,
    string,
    subquery,
    unsigned_type,
    values,
)
from sqlanon.queries.unknown import with_unknown_labels

LABEL_LOSSES = ("lm", "ncp")
"""Losses of labels that follow from taxonomies alone."""

CODED_LABELS = Relation("anon_coded_labels", "node")
"""The labels before their keys are laid out."""


MAX_STEPS = 64
"""The most steps of what labels lose that the query of a node spells out; of more it is looked up.

Measured by tests.benchmarks.tuning.
"""


def encode_labels(encoding: Encoding) -> list[Step]:
    """The steps that make :data:`CODED_LABELS` and the codes of sensitive labels, from the taxonomies alone."""
    steps = [Step(CODED_LABELS, _coded_labels(encoding), "labels of the quasi-identifiers, with their codes")]
    steps += [
        Step(encoding.sensitive_codes(name), sensitive_codes(encoding, name), f'codes of "{name}"')
        for name in encoding.spec.labelled
    ]
    return steps


def last_children() -> exp.Query:
    """position, depth, last_child: the largest number that a label has among those under the same one."""
    place = [column("position"), column("depth")]
    last = aliased(exp.Max(this=column("child")), "last_child")
    return grouped(select([*place, last], CODED_LABELS.table), [each.copy() for each in place])


def key_labels(encoding: Encoding) -> Step:
    """The step that makes the labels with their keys from :data:`CODED_LABELS`.

    The key of a label has the bits of its own field and of those of all labels above it.
    """
    fields = [(*place, field.word, field.shift) for place, field in encoding.keys.fields.items() if field.width]
    words = [aliased(_word(word), encoding.key(word)) for word in range(encoding.keys.word_count)]
    coded = exp.alias_(CODED_LABELS.table, "anon_coded", table=True)
    columns = [column(name, "anon_coded") for name in ("position", "depth", VALUE, "label", "code", *LABEL_LOSSES)]
    query = select([*columns, *words], coded)
    if fields:
        names = ("position", "depth", "word", "shift")
        placed = values("anon_fields", names, ([*map(number, field)] for field in fields))
        using: list[str | exp.Expr | int] = [identifier("position"), identifier("depth")]
        query = query.join(placed, using=using, join_type="left", copy=False)
    return Step(encoding.labels, query, "their keys")


def loss_steps(encoding: Encoding, measures: Sequence[str]) -> exp.Query:
    """position, depth, last_bits and a column per measure: what labels lose, see :class:`Encoding`.

    Those of levels with too many steps are left out.
    """
    words = [column(encoding.key(word)) for word in range(encoding.keys.word_count)]
    losses = [column(name) for name in measures]
    place = [column("position"), column("depth")]
    labels = select([*place, *words, *losses], encoding.labels.table).distinct(copy=False)
    order = ascending(*copies(words)) if words else None
    following = [
        exp.Window(this=exp.func("lead", loss.copy()), partition_by=copies(place), order=order) for loss in losses
    ]
    differs = exp.NullSafeNEQ(this=exp.Tuple(expressions=copies(losses)), expression=exp.Tuple(expressions=following))
    last_bits = aliased(cast(exp.Array(expressions=copies(words)), "BIGINT[]"), "last_bits")
    steps = select([*copies(place), last_bits, *copies(losses)], subquery(labels, "anon_labels"))
    steps.set("qualify", exp.Qualify(this=differs))
    few = select([exp.Star()], subquery(steps, "anon_steps"))
    count = exp.Window(this=count_rows(), partition_by=copies(place))
    few.set("qualify", exp.Qualify(this=exp.LTE(this=count, expression=number(MAX_STEPS))))
    return few


def value_types(encoding: Encoding) -> list[exp.Create]:
    """The statements that make the types of values, from the labels."""
    known = exp.Not(this=column(VALUE).is_(exp.null()))
    return [
        enum_type(name, at_level(encoding, position, 0, [column(VALUE)], known.copy()).distinct(copy=False), VALUE)
        for position, name in enumerate(map(encoding.typed.get, encoding.spec.quasi_identifiers))
        if name is not None
    ]


def at_level(
    encoding: Encoding, position: int, depth: int, columns: Iterable[exp.Expr], *conditions: exp.Expr
) -> exp.Select:
    """Some columns of the labels of a level that meet some conditions, a row per value."""
    here = column("position").eq(number(position)), column("depth").eq(number(depth))
    return select(columns, encoding.labels.table).where(*here, *conditions, copy=False)


def label_bits(encoding: Encoding, position: int, depth: int, columns: Iterable[exp.Expr]) -> exp.Select:
    """Some columns of the labels of a level, and their bits in the words of the key."""
    words = [column(encoding.key(word)) for word in encoding.keys.label_masks(position, depth)]
    return at_level(encoding, position, depth, [*words, *columns]).distinct(copy=False)


def has_bits(encoding: Encoding, masks: Mapping[int, int], table: str, labels: str) -> exp.Expr:
    """Whether the key of one table has, in the bits of the mask of each word, what another has there."""
    key_at = {encoding.key(word): mask for word, mask in masks.items()}
    return all_of(
        [exp.Paren(this=bits(column(key, table), number(mask))).eq(column(key, labels)) for key, mask in key_at.items()]
    )


def _coded_labels(encoding: Encoding) -> exp.Query:
    spec = encoding.spec
    names = spec.quasi_identifiers
    shapes = [
        [number(position), string(name), number(shape.height), number(shape.domain_size)]
        for position, (name, shape) in enumerate(zip(names, spec.shapes, strict=True))
    ]
    given = values("anon_taxonomies", ("position", "attribute", "height", "domain_size"), shapes)
    query = taxonomies.all_labels(spec.taxonomy, names, spec.leaves)
    if spec.unknown is not None and spec.unknown.roots:
        query = with_unknown_labels(query, spec.unknown, dict(zip(names, spec.shapes, strict=True)), spec.taxonomy)
    return Queries("cells").query("labels", taxonomies=given, taxonomy_labels=query)


def _word(word: int) -> exp.Expr:
    """A word of the key of a label: the bits of its own field and of those above."""
    child = exp.Paren(this=exp.BitwiseLeftShift(this=column("child"), expression=column("shift")))
    above = exp.Ordered(this=column("depth"), desc=True, nulls_first=False)
    own = filtered(bit_or(child), column("word").eq(number(word)))
    partition: list[exp.Expr] = [column("position"), column(VALUE)]
    bits = exp.Window(this=own, partition_by=partition, order=exp.Order(expressions=[above]))
    return exp.func("coalesce", bits, number(0))


def sensitive_codes(encoding: Encoding, name: str) -> exp.Query:
    """The values of a protected column: per level that cells carry the code of the label.

    The codes of a level are in the order of the leaves under its labels.
    """
    depths = encoding.sensitive_depths(name)
    counts = encoding.spec.protected_shapes[name].label_counts[: depths.stop]
    order = ascending(column("leaf_count"), column("label"), nulls_first=True)
    code = exp.Window(this=exp.func("dense_rank"), partition_by=[column("level")], order=order)
    labels = subquery(taxonomies.levels(encoding.spec.taxonomy, encoding.spec.attribute_of(name)), "anon_taxonomy")
    coded = select([column("level"), column("value"), aliased(code, "code")], labels)
    columns = [aliased(column("value"), VALUE)]
    columns += [
        aliased(_code(depth, label_count), encoding.sensitive_label(name, depth))
        for depth, label_count in enumerate(counts)
        if depth in depths
    ]
    found = select(columns, subquery(coded, "anon_coded"))
    found = found.where(exp.LT(this=column("level"), expression=number(len(counts))), copy=False)
    return grouped(found, [column("value")]).having(count_rows().eq(number(len(counts))), copy=False)


def _code(depth: int, label_count: int) -> exp.Cast:
    """The code of a value's label at a level."""
    code = filtered(exp.Max(this=column("code")), column("level").eq(number(depth)))
    return cast(code, _code_type(label_count))


def dense_rank(*values: exp.Expr, nulls_first: bool) -> exp.Window:
    """The place of some values among all that are different, from 1."""
    return exp.Window(this=exp.func("dense_rank"), order=ascending(*values, nulls_first=nulls_first))


def _code_type(label_count: int) -> str:
    # One more than there are labels, for the NULL that every level knows.
    return unsigned_type(label_count + 1)
