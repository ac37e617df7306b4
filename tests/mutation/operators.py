"""What can be broken in a function or a query: one operator at one place, by trees and never by text.

A line that ends with ``# no mutants: why`` has none; what ``no mutants of sum(rows): why`` names in the comment of a
function or query is neither changed nor dropped: nobody could see a difference. Texts and exceptions have none.
"""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlglot import exp, parse_one

DIALECT = "duckdb"
NO_MUTANTS = re.compile(r"# no mutants: \S")
NO_MUTANTS_OF = re.compile(r"^ *(?:--|#) no mutants of (.+?): \S", re.MULTILINE)
ROLE = re.compile(r"('(?:[^']|'')*'|--.*)|(?<![:\w]):(?=[a-z])")
MARK = "anon_role_"


@dataclass(frozen=True)
class Change:
    """One change: its line, what stood there, what stands there instead, and the whole after it, as code or as SQL."""

    line: int
    before: str
    after: str
    whole: ast.FunctionDef | str

    def __str__(self) -> str:
        return f"{_short(self.before)} → {_short(self.after)}"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 70 else flat[:67] + "..."


COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.Gt: ast.GtE, ast.Eq: ast.NotEq, ast.In: ast.NotIn, ast.Is: ast.IsNot,
    ast.LtE: ast.Lt, ast.GtE: ast.Gt, ast.NotEq: ast.Eq, ast.NotIn: ast.In, ast.IsNot: ast.Is,
}  # fmt: skip
ADDED = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.BitAnd, ast.BitOr)
CALLED = [("max", "min"), ("all", "any"), ("ceil", "floor"), ("maximum", "minimum")]
OTHER_NAME = dict(CALLED) | {other: name for name, other in CALLED}


def of_python(function: ast.FunctionDef, lines: list[str], comment: str = "") -> Iterator[Change]:
    """The changes of a function; ``lines`` are those of its file, ``comment`` is what stands above it."""
    last, named = function.body[-1], set(NO_MUTANTS_OF.findall(comment))
    trees = (node for node in ast.walk(function) if named and isinstance(node, ast.expr) and ast.unparse(node) in named)
    spared = {id(node) for tree in trees for node in ast.walk(tree) if isinstance(node, ast.expr)}
    for parent, name, place, node in list(_places(function)):
        if NO_MUTANTS.search(lines[node.lineno - 1]) or id(node) in spared:
            continue
        for new in _instead(node, parent, name, is_last=node is last):
            kept = {id(each) for each in ast.walk(new)}
            if any(id(term) in spared - kept for term in ast.iter_child_nodes(node)):
                continue
            before, after = ast.unparse(node), ast.unparse(new) if isinstance(new, ast.expr) else "(nothing)"
            _put(parent, name, place, ast.copy_location(new, node))
            yield Change(node.lineno, before, after, function)
            _put(parent, name, place, node)


def _put(parent: ast.AST, name: str, place: int | None, node: ast.AST) -> None:
    if place is None:
        setattr(parent, name, node)
    else:
        getattr(parent, name)[place] = node


Place = tuple[ast.AST, str, int | None, ast.expr | ast.stmt]


def _places(parent: ast.AST) -> Iterator[Place]:
    """Every expression and statement in which something can be broken, with where it hangs."""
    for name, value in ast.iter_fields(parent):
        if name in ("annotation", "returns", "args", "decorator_list") and not isinstance(parent, ast.Call):
            continue
        for place, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(node, ast.expr | ast.stmt):
                yield parent, name, place, node
            is_spared = isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr)
            if isinstance(node, ast.AST) and not is_spared and getattr(node, "arg", "") != "strict":
                yield from _places(node)


def _instead(node: ast.AST, parent: ast.AST, name: str, *, is_last: bool) -> Iterator[ast.expr | ast.stmt]:
    """What can stand in the place of a node."""
    if isinstance(node, ast.stmt):
        is_call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        early = isinstance(node, ast.Return) and not is_last and not isinstance(parent, ast.FunctionDef | ast.Match)
        if is_call or early or isinstance(node, ast.Raise | ast.AugAssign):
            yield ast.Pass()
        return
    if not isinstance(node, ast.Constant) or not _is_beside_an_order(parent):
        yield from OF_PYTHON[type(node)](node) if type(node) in OF_PYTHON else ()
    if isinstance(parent, ast.comprehension) and name == "ifs":
        yield ast.Constant(True)
    is_condition = name == "test" and isinstance(parent, ast.If | ast.IfExp | ast.While)
    if is_condition and isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.NamedExpr):
        yield ast.UnaryOp(ast.Not(), node)


def _is_beside_an_order(parent: ast.AST) -> bool:
    """Whether a number is compared: one off is what ``<`` and ``<=`` differ by."""
    return isinstance(parent, ast.Compare) and isinstance(parent.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE)


def _compared(node: ast.Compare) -> Iterator[ast.expr]:
    for place, operator in enumerate(node.ops):
        others = [*node.ops[:place], COMPARED[type(operator)](), *node.ops[place + 1 :]]
        yield ast.Compare(node.left, others, node.comparators)


def _without_a_term(node: ast.BoolOp) -> Iterator[ast.expr]:
    for place in range(len(node.values)):
        rest = node.values[:place] + node.values[place + 1 :]
        yield rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)


def _one_side(node: ast.BinOp) -> Iterator[ast.expr]:
    if isinstance(node.op, ADDED) and not _is_text(node.left, node.right):
        yield node.left
        yield node.right


def _another_value(node: ast.Constant) -> Iterator[ast.expr]:
    if isinstance(node.value, bool | int):
        yield ast.Constant(not node.value if isinstance(node.value, bool) else node.value + 1)


def _without_sign(node: ast.UnaryOp) -> Iterator[ast.expr]:
    if isinstance(node.op, ast.Not) or (isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant)):
        yield node.operand


def _another_call(node: ast.Call) -> Iterator[ast.expr]:
    match node.func:
        case ast.Name(name) if name in OTHER_NAME:
            yield ast.Call(ast.Name(OTHER_NAME[name], ast.Load()), node.args, node.keywords)
        case ast.Attribute(value, name) if name in OTHER_NAME:
            yield ast.Call(ast.Attribute(value, OTHER_NAME[name], ast.Load()), node.args, node.keywords)


OF_PYTHON: dict[type[ast.AST], Callable[[Any], Iterator[ast.expr]]] = {
    ast.Compare: _compared, ast.BoolOp: _without_a_term, ast.BinOp: _one_side, ast.Constant: _another_value,
    ast.UnaryOp: _without_sign, ast.Call: _another_call,
}  # fmt: skip


def _is_text(*nodes: ast.expr) -> bool:
    return any(isinstance(node, ast.JoinedStr) or isinstance(getattr(node, "value", None), str) for node in nodes)


OF_SQL: dict[type[exp.Expr], tuple[type[exp.Expr], ...]] = {
    exp.LT: (exp.LTE,), exp.LTE: (exp.LT,), exp.GT: (exp.GTE,), exp.GTE: (exp.GT,), exp.EQ: (exp.NEQ,),
    exp.NEQ: (exp.EQ,), exp.NullSafeEQ: (exp.NullSafeNEQ,), exp.NullSafeNEQ: (exp.NullSafeEQ,),
    exp.Max: (exp.Min,), exp.Min: (exp.Max,), exp.Sum: (exp.Max,),
    exp.Ceil: (exp.Floor,), exp.Floor: (exp.Ceil,),
}  # fmt: skip


def of_sql(text: str, comment: str = "") -> Iterator[Change]:
    """The changes of a query, whose roles are written ``:name``, or of a statement that creates a macro."""
    spared = set(NO_MUTANTS_OF.findall(comment))
    tree = parse_one(ROLE.sub(lambda found: found[1] or MARK, text), read=DIALECT)
    for node in tree.walk():
        node.comments = None
    for node in list(tree.walk()):
        before, is_spared = _sql(node), spared and any(_sql(each) in spared for each in _and_around(node))
        for new in [] if is_spared else _instead_in_sql(node):
            after = "(nothing)" if new is None else _sql(new)
            whole = tree.copy()
            # The copy has its nodes in the same order.
            twin = next(twin for each, twin in zip(tree.walk(), whole.walk(), strict=True) if each is node)
            twin.replace(new) if new is not None else twin.pop()
            yield Change(0, before, after, _sql(whole))


def _and_around(node: exp.Expr | None) -> Iterator[exp.Expr]:
    while node is not None:
        yield node
        node = node.parent


def unchanged(text: str) -> str:
    """The text as it is written with no change: what the tests have to pass with."""
    return _sql(parse_one(ROLE.sub(lambda found: found[1] or MARK, text), read=DIALECT))


def _sql(tree: exp.Expr) -> str:
    return tree.sql(DIALECT, comments=False).replace(MARK, ":")


def _instead_in_sql(node: exp.Expr) -> Iterator[exp.Expr | None]:
    for kind in OF_SQL.get(type(node), ()):
        yield kind(**{name: value for name, value in node.copy().args.items() if name in kind.arg_types})
    if isinstance(node, exp.And | exp.Add | exp.Sub | exp.Mul | exp.Div):
        yield node.this.copy()
        yield node.expression.copy()
    is_compared = isinstance(node.parent, exp.LT | exp.LTE | exp.GT | exp.GTE | exp.SHA2)
    if isinstance(node, exp.Literal) and node.is_int and not is_compared:
        yield exp.Literal.number(int(node.name) + 1)
    if isinstance(node, exp.Filter | exp.Not) or (isinstance(node, exp.Distinct) and len(node.expressions) == 1):
        yield (node.expressions[0] if isinstance(node, exp.Distinct) else node.this).copy()
    is_clause = isinstance(node, exp.Where | exp.Having | exp.Qualify) and not isinstance(node.parent, exp.Filter)
    if is_clause and not isinstance(node.this, exp.And):
        yield None
