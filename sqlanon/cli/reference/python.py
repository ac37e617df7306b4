"""The page of the Python interface: the docstring of every public name."""

from __future__ import annotations

import inspect
from itertools import groupby
from operator import itemgetter
from textwrap import fill
from typing import Any

from pydantic import BaseModel

import sqlanon as sa
from sqlanon.api.ledger import Ledger
from sqlanon.api.partitions import Partitions
from sqlanon.api.release_register import ReleaseRegister
from sqlanon.api.taxonomies import Taxonomies
from sqlanon.model.base import PolicyValue
from sqlanon.model.docstrings import docstring_of
from sqlanon.model.release import Result

HEAD = """# Python

Every public name of the package, which is imported as `import sqlanon as sa`.
What a policy holds, its privacy models, losses and methods, is described in `sqlanon guide policy`.

"""
PARTS_OF_SESSIONS = {
    "taxonomies": Taxonomies,
    "partitions": Partitions,
    "ledger": Ledger,
    "releases": ReleaseRegister,
}

OF_POLICIES = ("from_toml", "with_k", "model_copy", "sha256")
"""The methods of a policy that are for users."""

SHARED = (PolicyValue, Result)
"""Classes whose methods all values have: they are described once, or not for users."""

INTERNAL = (
    *("document", "parts", "sections", "figures", "sentences", "generalization", "rows_in_words", "search_in_words"),
    *("exposure", "reworded", "with_guide", "held_by", "averaged", "refuse_strangers", "model_post_init"),
)
"""Members that other modules of the package use."""

REMARKS = {
    "Results": "What the verbs of a session return. A notebook shows each of them, `to_html()` makes a page of it that "
    "needs no other file, and `model_dump_json()` has all its fields.\n\n",
    "Errors": "All are a `sa.SqlanonError`. A message says where, what, and what next.\n\n",
}
LINE = 80
"""The longest line of code."""


def page() -> str:
    """The page as Markdown."""
    members = {name: getattr(sa, name) for name in dir(sa) if name != "evaluation"}
    groups: dict[str, list[str]] = {"Sessions": ["connect", "Session"], "Policies": ["Policy", "Taxonomy"]}
    groups |= {heading: [] for heading in ("Values of policies", "Results", "Errors", "Others")}
    for name, member in members.items():
        if name not in (*groups["Sessions"], *groups["Policies"]):
            groups[_group(member)].append(name)
    parts = [HEAD]
    for heading, names in groups.items():
        parts.append(f"## {heading}\n\n{REMARKS.get(heading, '')}")
        if heading == "Values of policies":
            parts.append(f"{', '.join(f'`sa.{name}`' for name in names)}: see `sqlanon guide policy`.\n\n")
            continue
        parts += [_member(f"sa.{name}", members[name]) for name in names]
        if heading == "Sessions":
            parts += [_member(f"session.{name}", part) for name, part in PARTS_OF_SESSIONS.items()]
    evaluations = {name: getattr(sa.evaluation, name) for name in dir(sa.evaluation)}
    parts += [f"## Evaluation\n\n{docstring_of(sa.evaluation).summary}\n\n"]
    return "".join([*parts, *(_member(f"sa.evaluation.{name}", member) for name, member in evaluations.items())])


def _group(member: Any) -> str:
    kinds = {PolicyValue: "Values of policies", BaseModel: "Results", Exception: "Errors"}
    return next(
        (group for kind, group in kinds.items() if inspect.isclass(member) and issubclass(member, kind)), "Others"
    )


def _member(name: str, member: Any) -> str:
    """A function, or a class with its methods."""
    heading = name.removeprefix("sa.").removeprefix("evaluation.")
    if not inspect.isclass(member):
        return f"### {heading}\n\n{_call(name, member)}{_said(member)}"
    owner = "session" if member is sa.Session else name if name.startswith("session.") else heading
    methods = [_method(owner, method, found) for method, found in _methods(member).items()]
    return "".join([f"### {heading}\n\n{_said(member)}", *methods])


def _methods(member: type) -> dict[str, Any]:
    """The methods and properties for users that a class has of this package, in the order in which they are defined."""
    if member.__module__.startswith("sqlanon.mechanisms"):
        return {}  # the draws of a source, which methods call
    kinds = [kind for kind in member.__mro__ if kind.__module__.startswith("sqlanon.") and kind not in SHARED]
    found = {name: each for kind in reversed(kinds) for name, each in vars(kind).items()}
    return {name: each for name, each in found.items() if _is_for_users(member, name, each)}


def _is_for_users(owner: type, name: str, member: Any) -> bool:
    if not (inspect.isfunction(member) or isinstance(member, property | classmethod)) or name.startswith("_"):
        return False
    return name in OF_POLICIES if owner is sa.Policy else name not in INTERNAL


def _method(owner: str, name: str, method: Any) -> str:
    if isinstance(method, property):
        return f"#### {owner}.{name}\n\n{_said(method)}"
    function = getattr(method, "__func__", method)
    return f"#### {owner}.{name}\n\n{_call(f'{owner}.{name}', function, is_method=True)}{_said(function)}"


def _call(name: str, function: Any, *, is_method: bool = False) -> str:
    """How it is called, with defaults and without types, which the text has."""
    parameters = list(inspect.signature(function).parameters.values())[is_method:]
    bare = [each.replace(annotation=inspect.Parameter.empty, default=_default(each)) for each in parameters]
    call = f"{name}{inspect.Signature(bare)}"
    return f"```python\n{fill(call, LINE, subsequent_indent='    ', break_on_hyphens=False)}\n```\n\n"


def _default(parameter: inspect.Parameter) -> Any:
    is_function = inspect.isfunction(parameter.default)
    return _Spelled("...") if is_function else parameter.default


class _Spelled(str):
    """A text that a signature shows without quotes."""

    __repr__ = str.__str__


def _said(member: Any) -> str:
    said = docstring_of(member)
    returns = [f"Returns: {said.returns}"] if said.returns else []
    return "".join(
        f"{part}\n\n" for part in (said.text, _list(said.members), *returns, _list(said.errors, "Raises ")) if part
    )


def _list(said: dict[str, str], prefix: str = "") -> str:
    """A line a text, with the names that share it."""
    lines = [([f"`{name}`" for name, _ in same], text) for text, same in groupby(said.items(), key=itemgetter(1))]
    return "\n".join(f"- {prefix}{', '.join(names)}: {text}" for names, text in lines)
