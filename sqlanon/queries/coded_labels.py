"""Taxonomies → codes: every label of every level as a small integer, with its bits in a key and its losses.

The information of a label, in bits, follows from its share of the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.queries import taxonomies
from sqlanon.queries.encoding import ROW_COUNT, VALUE, WEIGHT, Encoding
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_of,
    ascending,
    bits,
    called,
    case,
    cast,
    column,
    enum_type,
    f,
    filtered,
    identifier,
    is_there,
    number,
    same,
    select,
    string,
    union_all,
    unsigned_type,
    values,
)
from sqlanon.queries.source_rows import with_unknown_labels

SQL = Queries("cells")

LABEL_LOSSES = ("lm", "ncp", "rce", "log_share")  # losses that follow from taxonomies only
INFORMATION = "information"

CODED_LABELS = Relation("anon_coded_labels", "node")
"""Labels before their keys are laid out."""

MAX_STEPS = 64
"""A query of a node spells out losses of labels up to this many steps, and looks up longer ones (benchmarks.tuning)."""


def encode_labels(encoding: Encoding) -> list[Step]:
    """Make :data:`CODED_LABELS` and the codes of sensitive labels, from taxonomies only."""
    spec, names = encoding.spec, encoding.spec.quasi_identifiers
    rows = [
        [number(position), string(name), number(shape.height), number(shape.domain_size)]
        for position, (name, shape) in enumerate(zip(names, spec.shapes, strict=True))
    ]
    given = values("anon_taxonomies", ("position", "attribute", "height", "domain_size"), rows)
    labels = taxonomies.all_labels(spec.taxonomy, names, spec.leaves)
    if spec.unknown is not None and spec.unknown.roots:
        labels = with_unknown_labels(labels, spec.unknown, dict(zip(names, spec.shapes, strict=True)), spec.taxonomy)
    query = SQL.query("labels", taxonomies=given, taxonomy_labels=labels)
    return [
        Step(CODED_LABELS, query, "labels of the quasi-identifiers, with their codes"),
        *(
            Step(encoding.sensitive_codes(name), sensitive_codes(encoding, name), f'codes of "{name}"')
            for name in spec.labelled
        ),
    ]


def last_children() -> exp.Query:
    """Select position, depth, and ``last_child``, the largest number of a label among its siblings."""
    return SQL.query("last_children", labels=CODED_LABELS)


def key_labels(encoding: Encoding) -> Step:
    """Make labels with keys from :data:`CODED_LABELS`: a key has the field of its label and of all labels above."""
    fields = [(*place, field.word, field.shift) for place, field in encoding.keys.fields.items() if field.width]
    words = []
    for word in range(encoding.keys.word_count):
        child = exp.Paren(this=exp.BitwiseLeftShift(this=column("child"), expression=column("shift")))
        # The dedicated sqlglot node would infer the type of the expression whenever it is printed.
        all_children = exp.Anonymous(this="BIT_OR", expressions=[child])
        own = filtered(all_children, column("word").eq(word))
        above = exp.Order(expressions=[exp.Ordered(this=column("depth"), desc=True, nulls_first=False)])
        found = exp.Window(this=own, partition_by=[column("position"), column(VALUE)], order=above)
        words.append(aliased(f.coalesce(found, 0), encoding.key(word)))
    coded = called(CODED_LABELS.table, "anon_coded")
    columns = [column(name, "anon_coded") for name in ("position", "depth", VALUE, "label", "code", *LABEL_LOSSES)]
    query = select([*columns, *words], coded)
    if fields:
        names = ("position", "depth", "word", "shift")
        placed = values("anon_fields", names, ([*map(number, field)] for field in fields))
        using: list[str | exp.Expr | int] = [identifier("position"), identifier("depth")]
        query = query.join(placed, using=using, join_type="left", copy=False)
    return Step(encoding.labels, query, "their keys")


def loss_steps(encoding: Encoding, measures: Sequence[str]) -> exp.Query:
    """Select position, depth, last_bits and the losses of labels, by measure, of levels with few steps."""
    words = [*encoding.word_columns]
    order = ascending(*map(column, words)) if words else None
    following = [
        exp.Window(this=f.lead(column(measure)), partition_by=[column("position"), column("depth")], order=order)
        for measure in measures
    ]
    roles = SQL.given(labels=encoding.labels, words=words, losses=measures, following=following, max_steps=MAX_STEPS)
    return roles.query("loss_steps")


def value_types(encoding: Encoding) -> list[exp.Create]:
    known = is_there(column(VALUE))
    return [
        enum_type(name, at_level(encoding, position, 0, [column(VALUE)], known.copy()).distinct(copy=False), VALUE)
        for position, name in enumerate(map(encoding.typed.get, encoding.spec.quasi_identifiers))
        if name is not None
    ]


def at_level(
    encoding: Encoding, position: int, depth: int, columns: Iterable[exp.Expr], *conditions: exp.Expr
) -> exp.Select:
    """Select columns of the labels of a level that meet some conditions, a row per value."""
    here = column("position").eq(position), column("depth").eq(depth)
    return select(columns, encoding.labels.table).where(*here, *conditions, copy=False)


def label_bits(encoding: Encoding, position: int, depth: int, columns: Iterable[exp.Expr]) -> exp.Select:
    """Select columns of the labels of a level, and their bits in the words of the key."""
    words = [column(encoding.key(word)) for word in encoding.keys.label_masks(position, depth)]
    return at_level(encoding, position, depth, [*words, *columns]).distinct(copy=False)


def has_bits(encoding: Encoding, masks: Mapping[int, int], table: str, labels: str) -> exp.Expr:
    """Test whether the keys of two tables agree in the bits of a mask of each word."""
    key_at = {encoding.key(word): mask for word, mask in masks.items()}
    return all_of(
        [exp.Paren(this=bits(column(key, table), number(mask))).eq(column(key, labels)) for key, mask in key_at.items()]
    )


def sensitive_codes(encoding: Encoding, name: str) -> exp.Query:
    """Select the values of a protected column, with the codes of their labels that cells carry."""
    depths = encoding.sensitive_depths(name)
    counts = encoding.spec.protected_shapes[name].label_counts[: depths.stop]
    codes = []
    for depth, label_count in enumerate(counts):
        if depth in depths:
            code = filtered(exp.Max(this=column("code")), column("level").eq(depth))
            # One code more than labels, for the NULL of every level.
            typed = cast(code, unsigned_type(label_count + 1))
            codes.append(aliased(typed, encoding.sensitive_label(name, depth)))
    labels = taxonomies.levels(encoding.spec.taxonomy, encoding.spec.attribute_of(name))
    return SQL.query("sensitive_codes", labels=labels, codes=codes, level_count=len(counts))


def dense_rank(*values: exp.Expr, nulls_first: bool) -> exp.Window:
    return exp.Window(this=f.dense_rank(), order=ascending(*values, nulls_first=nulls_first))


def with_information(encoding: Encoding) -> Encoding:
    return replace(encoding, labels=Relation("anon_informed_labels", "node"))


def encode_information(encoding: Encoding, informed: Relation) -> Step:
    """Make labels with their information; it is 0 at the top, or without rows."""
    query = SQL.query("informed_labels", labels=encoding.labels, values=value_rows(encoding))
    if encoding.spec.roots:
        information = query.selects[-1]
        information.set("this", case(_is_root(encoding), number(0), information.this))
    return Step(informed, query, "information of labels")


def labelled_values(encoding: Encoding) -> exp.Select:
    """Select the values of every quasi-identifier with their rows, by level with their label and its losses."""
    return SQL.query("labelled_values", values=value_rows(encoding), labels=encoding.labels)


def root_rows(encoding: Encoding) -> exp.Select:
    """Select position, depth, and the rows (or their weight) with the top's label and in all: ``rows``, ``whole``."""
    return SQL.query("root_rows", values=value_rows(encoding), labels=encoding.labels, is_root=_is_root(encoding))


def value_rows(encoding: Encoding) -> exp.Select:
    """Select position, value, and rows (or their weight) of occurring values; unknown ones count as one."""
    keys = [*encoding.word_columns]
    counted = ROW_COUNT if encoding.spec.row_weight is None else WEIGHT
    keyed = []
    for position in range(len(encoding.spec.shapes)):
        masks = encoding.keys.label_masks(position, 0)
        words: dict[int, exp.Expr] = {word: bits(column(keys[word]), number(mask)) for word, mask in masks.items()}
        of_key = [words.get(word, number(0)) for word in range(len(keys))]
        roles = SQL.given(position=position, words=of_key, keys=keys, counted=counted, groups=[*words.values()])
        keyed.append(roles.query("keyed_rows", cells=encoding.cells))
    query = SQL.query("value_rows", keyed=union_all(keyed), labels=encoding.labels, keys=keys)
    if encoding.spec.roots:
        query = query.where(same(column("label", "anon_labels"), column(VALUE, "anon_labels")), copy=False)
    return query


def _is_root(encoding: Encoding) -> exp.Expr:
    """Test whether a label is the top of a taxonomy that labels unknown values there."""
    names = encoding.spec.quasi_identifiers
    found = [
        exp.and_(
            column("position", "anon_labels").eq(names.index(name)),
            column("label", "anon_labels").eq(root),
            copy=False,
        )
        for name, root in encoding.spec.roots.items()
    ]
    return exp.Paren(this=exp.or_(*found, copy=False))
