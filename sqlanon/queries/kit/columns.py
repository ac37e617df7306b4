"""Resolving lists of columns that are known: one projection per name, as any engine understands it."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp


def resolve_lists(tree: exp.Expr) -> None:
    """Replace, in place, what stands for columns of a list that is spelled out.

    ``anon.listed(['a', 'b'])`` is the list, and ``anon.listed_at(['a', 'b'], 3)`` the last of its names.
    """
    for call in list(tree.find_all(exp.Dot)):
        function = call.expression
        name = function.name.lower() if isinstance(function, exp.Anonymous) else ""
        if name not in ("listed", "listed_at") or not isinstance(function.expressions[0], exp.Array):
            continue
        given = function.expressions[0]
        if name == "listed":
            call.replace(given)
        elif given.expressions:
            call.replace(given.expressions[min(int(function.expressions[1].name), len(given.expressions)) - 1])


def resolve_columns(tree: exp.Expr) -> None:
    """Replace, in place, every ``COLUMNS`` over a constant list of names by those columns.

    ``COLUMNS(['a', 'b'])`` and ``COLUMNS(map_keys(MAP {...}))`` repeat the projection
    that they stand in, with ``alias(COLUMNS(...))`` as the name; ``f(*COLUMNS(...))`` becomes several arguments; and
    ``COLUMNS(lambda c: NOT list_contains(names, c))`` becomes ``* EXCLUDE``.
    """
    for select in list(tree.find_all(exp.Select)):
        select.set("expressions", [new for old in select.expressions for new in _resolved(old)])


def _resolved(projection: exp.Expr) -> list[exp.Expr]:
    _resolve_unpacked(projection)
    columns = _own_columns(projection)
    if not columns:
        return [projection]
    excluded = _excluded(projection)
    if excluded is not None:
        return [exp.Star(except_=[exp.to_identifier(name, quoted=True) for name in excluded])]
    names = _constant_names(columns[0].this)
    if names is None:
        return [projection]
    return [_for_name(projection, name) for name in names]


def _resolve_unpacked(projection: exp.Expr) -> None:
    """``row(*COLUMNS(['a', 'b']))`` → ``row(a, b)``."""
    for columns in [node for node in _own_columns(projection) if node.args.get("unpack")]:
        names = _constant_names(columns.this)
        function = columns.parent
        if names is not None and isinstance(function, exp.Func):
            function.set("expressions", [_column(name) for name in names])


def _own_columns(projection: exp.Expr) -> list[exp.Columns]:
    """The ``COLUMNS`` of this projection, not those of a query within it."""
    within = projection.walk(prune=lambda node: isinstance(node, exp.Query) and node is not projection)
    return [node for node in within if isinstance(node, exp.Columns)]


def _for_name(projection: exp.Expr, name: str) -> exp.Expr:
    root = exp.Paren(this=projection.copy())
    for columns in _own_columns(root):
        call = columns.parent
        if isinstance(call, exp.Anonymous) and call.name.lower() == "alias":
            call.replace(exp.Literal.string(name))
        else:
            columns.replace(_column(name))
    resolved: exp.Expr = root.this.pop()
    if isinstance(resolved, exp.Alias):
        return resolved
    return exp.alias_(resolved, exp.to_identifier(name, quoted=True), copy=False)


def _excluded(projection: exp.Expr) -> list[str] | None:
    """The names that ``COLUMNS(lambda c: NOT list_contains(names, c))`` leaves out."""
    if not isinstance(projection, exp.Columns) or not isinstance(projection.this, exp.Lambda):
        return None
    condition = projection.this.this
    contains = condition.this if isinstance(condition, exp.Not) else None
    return _constant_names(contains.this) if isinstance(contains, exp.ArrayContains) else None


def _constant_names(names: exp.Expr) -> list[str] | None:
    if isinstance(names, exp.MapKeys):
        return _map_keys(names.this)
    if isinstance(names, exp.Array):
        return _strings(names.expressions)
    if isinstance(names, exp.DPipe):
        both = _constant_names(names.this), _constant_names(names.expression)
        return None if both[0] is None or both[1] is None else [*both[0], *both[1]]
    return None


def _map_keys(node: exp.Expr) -> list[str] | None:
    if isinstance(node, exp.ToMap) and isinstance(node.this, exp.Struct):
        return _strings([entry.this for entry in node.this.expressions])
    return None


def _strings(values: Sequence[exp.Expr]) -> list[str] | None:
    if all(isinstance(value, exp.Literal) and value.is_string for value in values):
        return [value.name for value in values]
    return None


def _column(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True))
