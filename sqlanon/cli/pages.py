"""Reference pages of policies, macros and Python, generated from the installed version."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from textwrap import fill
from typing import Any, get_args

from pydantic import BaseModel

import sqlanon as sa
from sqlanon.api.partitions import Partitions
from sqlanon.api.session_ledger import Ledger
from sqlanon.api.session_releases import ReleaseRegister
from sqlanon.api.session_taxonomies import Taxonomies
from sqlanon.model.docstrings import docstring_of
from sqlanon.model.perturbation import AnyPerturbation
from sqlanon.model.policy_value import KINDS, PolicyValue
from sqlanon.model.release import Result
from sqlanon.model.taxonomy.rules import MAKERS
from sqlanon.queries.kit.macros import Macro, documented, macro_files, macros_of
from sqlanon.satellites import all_offered

POLICY_HEAD = """# The keys of a policy

Every key of a policy, as a TOML file has it and as Python takes it.
In Python a policy is `sa.Policy(...)` with the same keys, and what has a `model` is a value: `sa.KAnonymity(5)`.
`sqlanon schema` prints the JSON Schema that this page is made from; editors complete and check policy files by it.

"""
RULES = """## Rules of taxonomies

The values of `taxonomies`, by column. A kind without settings stands alone, `zip = "zip"`, and so does a file.

"""
PERTURBATIONS = """## Perturbations

The values of `perturbation`, by sensitive or insensitive column: `[perturbation.income]`.

"""
LINKED = """## Policies of several tables

Persons and the rows that belong to them have one policy: `sa.LinkedPolicy(...)` in Python, and in TOML a file with
`[tables.visits]` for each table. `sqlanon schema --linked` prints its JSON Schema.

"""
PARTS = {
    "privacy": ("Models of privacy", "One or more in the list `privacy`; a class of rows must meet all of them."),
    "quality": ("Losses", "The value of `quality`: what is lost least."),
    "method": ("Methods", "The value of `method`; the keys below stand in `[method]`."),
}
VALUE, ONE = "value", "one of those below"
WORDS = {"string": "text", "integer": "whole number", "boolean": "true or false", "object": "table"}
SCALARS = ("text", "whole number", "number", "true or false")
PLURALS = {"text": "texts", "whole number": "whole numbers", "number": "numbers", VALUE: "values", ONE: "those below"}


def policy_page() -> str:
    all_offered("methods")  # they register themselves
    schema = sa.Policy.model_json_schema()
    definitions = schema["$defs"]
    parts = [POLICY_HEAD, f"## Keys\n\n{schema['description']}\n\n{_keys(schema)}\n\n"]
    for field, (heading, remark) in PARTS.items():
        parts.append(f"## {heading}\n\n{remark}\n\n")
        for model, value in KINDS[field].items():
            definition = definitions.pop(value.__name__)
            parts.append(_described(value.__name__, f'`model = "{model}"`', definition["description"], definition))
    parts.append(RULES)
    for kind, maker in MAKERS.items():
        [definition] = [each for each in definitions.values() if kind in _kinds(each)]
        parts.append(_described(kind, f'`kind = "{kind}"`', docstring_of(maker).text, definition))
    parts.append(PERTURBATIONS)
    for each in get_args(get_args(AnyPerturbation)[0]):
        definition, kind = definitions.pop(each.__name__), each.model_fields["kind"].default
        parts.append(_described(each.__name__, f'`kind = "{kind}"`', definition["description"], definition))
    parts.append("## Parts of methods\n\n")
    for name, definition in definitions.items():
        if "kind" not in definition["properties"]:
            parts.append(_described(name, "", definition["description"], definition))
    return "".join([*parts, LINKED, *_of_linked_tables()])


def _of_linked_tables() -> Iterator[str]:
    schema = sa.LinkedPolicy.model_json_schema()
    yield _described("LinkedPolicy", "", schema["description"], schema)
    for value in (sa.TableRoles, sa.KnownRows):
        model = value.model_fields.get("model")
        definition = schema["$defs"][value.__name__]
        spelled = f'`model = "{model.default}"`' if model is not None else "The values of `tables`, by name."
        yield _described(value.__name__, spelled, definition["description"], definition)


def _described(heading: str, spelled: str, text: str, definition: Mapping[str, Any]) -> str:
    return "".join(f"{part}\n\n" for part in (f"### {heading}", spelled, text, _keys(definition)) if part)


def _kinds(definition: Mapping[str, Any]) -> list[str]:
    field = definition["properties"].get("kind", {})
    return [field["const"]] if "const" in field else field.get("enum", [])


def _keys(definition: Mapping[str, Any]) -> str:
    lines = []
    for name, field in definition["properties"].items():
        if name in ("model", "kind"):
            continue
        remarks = [_type(field)]
        if name in definition.get("required", ()):
            remarks.append("required")
        elif (default := field.get("default")) not in (None, []):
            remarks.append(f"`{json.dumps(default)}` by default")
        lines.append(f"- `{name}` ({'; '.join(remarks)}): {field['description'].removesuffix('.')}.")
    return "\n".join(lines)


def _type(field: Mapping[str, Any]) -> str:
    kinds = list(dict.fromkeys(_kinds_of_values(field)))
    if {"text", "number"} <= {*kinds} and "true or false" in kinds:
        kinds = [VALUE, *(kind for kind in kinds if kind not in SCALARS)]
    elif "number" in kinds:
        kinds = [kind for kind in kinds if kind != "whole number"]
    return " or ".join(filter(None, (", ".join(kinds[:-1]), kinds[-1])))


def _kinds_of_values(field: Mapping[str, Any]) -> Iterator[str]:
    match field:
        case {"oneOf": _} | {"discriminator": _}:
            yield ONE
        case {"anyOf": alternatives}:
            for alternative in alternatives:
                yield from _kinds_of_values(alternative)
        case {"enum": values}:
            yield from (f"`{json.dumps(value)}`" for value in values)
        case {"type": "null"}:
            pass
        case _:
            yield _kind_of_values(field)


def _kind_of_values(field: Mapping[str, Any]) -> str:
    match field:
        case {"$ref": str(place)}:
            return f"`{place.rpartition('/')[2]}`"
        case {"const": value}:
            return f"`{json.dumps(value)}`"
        case {"type": "array", "items": items}:
            return f"list of {_several(items)}"
        case {"type": "object", "additionalProperties": dict(values)}:
            return f"table of {_several(values)}"
    kind: str = field["type"]
    return WORDS.get(kind, kind)


def _several(field: Mapping[str, Any]) -> str:
    kind = _type(field)
    return PLURALS.get(kind, kind)


MACROS_HEAD = """# Macros

Every macro: what it takes, what it returns, and an example. Those of schema `anon` are for people, and made of those of
schema `anon_helpers`.
`sqlanon install` puts them in a DuckDB file, and `FROM anon.help()` lists them there. A macro that returns a table
stands in FROM, and the others stand wherever a value does. The examples read the tables of `fixtures/clinic.sql` in the
repository. Begin with [k_anonymity](#k_anonymity) and [sample_uniqueness](#sample_uniqueness) to measure a table,
[generalize](#generalize) and [suppress](#suppress) to change one, and [lm](#lm) for what that loses.
"""
COMMENT_LABELS = re.compile(r"\n(?=(?:Returns|Source|Example): )")


def macros_page() -> str:
    parts = [MACROS_HEAD]
    for path in macro_files():
        if macros := macros_of(path):
            heading = re.sub(r"^\d+_", "", path.stem).replace("_", " ").capitalize()
            parts += [f"## {heading}\n\n{_comment(documented(path))}\n", *map(_macro, macros)]
    return "\n".join(parts)


def _macro(macro: Macro) -> str:
    text, _, _ = macro.comment.partition("Example:\n")
    call = f"{macro.qualified}({', '.join(macro.parameters)})"
    kind = "FROM " if macro.is_table else ""
    example = re.sub(r"^  ", "", macro.example, flags=re.MULTILINE)
    return f"### {macro.name}\n\n```sql\n{kind}{call}\n```\n\n{_comment(text)}\n\n```sql\n{example}\n```\n"


def _comment(comment: str) -> str:
    """Write a comment as Markdown, with stars escaped."""
    paragraphs = re.sub(r"\n{3,}", "\n\n", COMMENT_LABELS.sub("\n\n", comment.strip()))
    return re.sub(r"`[^`]*`|\*", lambda found: r"\*" if found[0] == "*" else found[0], paragraphs)


PYTHON_HEAD = """# Python

Every public name of the package, which is imported as `import sqlanon as sa`.
What a policy holds, its privacy models, losses and methods, is described in `sqlanon guide policy`.

"""
PARTS_OF_SESSIONS = {"taxonomies": Taxonomies, "partitions": Partitions, "ledger": Ledger, "releases": ReleaseRegister}

OF_POLICIES = ("from_toml", "with_k", "model_copy", "sha256")  # documented methods of policies

KINDS_OF_MEMBERS = {"Values of policies": PolicyValue, "Results": BaseModel, "Errors": Exception}

SHARED = (PolicyValue, Result)  # base classes, whose methods are described once or not at all

INTERNAL = (  # members for other modules of the package
    *("document", "heading", "parts", "summary", "of_method", "tables", "figures", "sentences", "uneven_suppression"),
    *("generalization", "rows_in_words", "search_in_words"),
    *("exposure", "reworded", "with_guide", "held_by", "averaged", "refuse_strangers", "model_post_init"),
)

REMARKS = {
    "Results": "What the verbs of a session return. A notebook shows each of them, `to_html()` makes a page of it that "
    "needs no other file, and `model_dump_json()` has all its fields.\n\n",
    "Errors": "All are a `sa.SqlanonError`. A message says where, what, and what next.\n\n",
}
LINE = 80  # the longest line of code


def python_page() -> str:
    members = {name: getattr(sa, name) for name in dir(sa) if name != "evaluation"}
    groups: dict[str, list[str]] = {"Sessions": ["connect", "Session"], "Policies": ["Policy", "Taxonomy"]}
    groups |= {heading: [] for heading in (*KINDS_OF_MEMBERS, "Others")}
    for name, member in members.items():
        if name not in (*groups["Sessions"], *groups["Policies"]):
            kinds = member.__mro__ if inspect.isclass(member) else ()
            groups[next((group for group, kind in KINDS_OF_MEMBERS.items() if kind in kinds), "Others")].append(name)
    parts = [PYTHON_HEAD]
    for heading, names in groups.items():
        parts.append(f"## {heading}\n\n{REMARKS.get(heading, '')}")
        if heading == "Values of policies":
            parts.append(f"{', '.join(f'`sa.{name}`' for name in names)}: see `sqlanon guide policy`.\n\n")
            continue
        parts += [_member(f"sa.{name}", members[name]) for name in names]
        if heading == "Sessions":
            parts += [_member(f"session.{name}", part) for name, part in PARTS_OF_SESSIONS.items()]
    parts.append(f"## Evaluation\n\n{docstring_of(sa.evaluation).summary}\n\n")
    parts += [_member(f"sa.evaluation.{name}", getattr(sa.evaluation, name)) for name in dir(sa.evaluation)]
    return "".join(parts)


def _member(name: str, member: Any) -> str:
    heading = name.removeprefix("sa.").removeprefix("evaluation.")
    if not inspect.isclass(member):
        return f"### {heading}\n\n{_call(name, member)}{_said(member)}"
    owner = "session" if member is sa.Session else name if name.startswith("session.") else heading
    parts = [f"### {heading}\n\n{_said(member)}"]
    for below, found in _methods(member).items():
        method = f"{owner}.{below}"
        function = getattr(found, "__func__", found)
        call = "" if isinstance(found, property) else _call(method, function, is_method=True)
        parts.append(f"#### {method}\n\n{call}{_said(function)}")
    return "".join(parts)


def _methods(member: type) -> dict[str, Any]:
    if member.__module__.startswith("sqlanon.chance"):
        return {}  # draws, for methods of anonymization only
    kinds = [kind for kind in member.__mro__ if kind.__module__.startswith("sqlanon.") and kind not in SHARED]
    found = {name: each for kind in reversed(kinds) for name, each in vars(kind).items() if not name.startswith("_")}
    called = {
        name: each
        for name, each in found.items()
        if inspect.isfunction(each) or isinstance(each, property | classmethod)
    }
    is_policy = member is sa.Policy
    return {name: each for name, each in called.items() if (name in OF_POLICIES if is_policy else name not in INTERNAL)}


class _Spelled(str):
    """A text that a signature shows without quotes."""

    __repr__ = str.__str__


def _call(name: str, function: Any, *, is_method: bool = False) -> str:
    """Write a call with defaults; types are in the text."""
    bare = []
    for each in [*inspect.signature(function).parameters.values()][is_method:]:
        default = _Spelled("...") if inspect.isfunction(each.default) else each.default
        bare.append(each.replace(annotation=each.empty, default=default))
    call = f"{name}{inspect.Signature(bare)}"
    return f"```python\n{fill(call, LINE, subsequent_indent='    ', break_on_hyphens=False)}\n```\n\n"


def _said(member: Any) -> str:
    said = docstring_of(member)
    returns = f"Returns: {said.returns}" if said.returns else ""
    parts = (said.text, _texts(said.members), returns, _texts(said.errors, "Raises "))
    return "".join(f"{part}\n\n" for part in parts if part)


def _texts(said: dict[str, str], prefix: str = "") -> str:
    """Write a line per text, with the names that share it."""
    lines = [([f"`{name}`" for name, _ in same], text) for text, same in groupby(said.items(), key=itemgetter(1))]
    return "\n".join(f"- {prefix}{', '.join(names)}: {text}" for names, text in lines)
