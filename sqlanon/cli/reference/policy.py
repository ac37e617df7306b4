"""The page of policies: what the schema says of every key."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sqlanon.model.base import KINDS, PolicyValue, name_of_kind
from sqlanon.model.docstrings import docstring_of
from sqlanon.model.taxonomy.rules import MAKERS

HEAD = """# The keys of a policy

Every key of a policy, as a TOML file has it and as Python takes it.
In Python a policy is `sa.Policy(...)` with the same keys, and what has a `model` is a value: `sa.KAnonymity(5)`.
`sqlanon schema` prints the JSON Schema that this page is made from; editors complete and check policy files by it.

"""
RULES = """## Rules of taxonomies

The values of `taxonomies`, by column. A kind without settings stands alone, `zip = "zip"`, and so does a file.

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


def page() -> str:
    """The page as Markdown."""
    import sqlanon.papers.methods  # noqa: F401
    from sqlanon.model.policy.policy import Policy

    schema = Policy.model_json_schema()
    definitions = schema["$defs"]
    parts = [HEAD, f"## Keys\n\n{schema['description']}\n\n{_keys(schema)}\n\n"]
    for field, (heading, remark) in PARTS.items():
        values = [_value(kind, definitions[kind.__name__]) for kind in KINDS[field].values()]
        parts += [f"## {heading}\n\n{remark}\n\n", *values]
    parts += [RULES, *(_rule(kind, definitions) for kind in MAKERS)]
    named = {kind.__name__ for kinds in KINDS.values() for kind in kinds.values()}
    others = [name for name, found in definitions.items() if name not in named and "kind" not in found["properties"]]
    parts += ["## Parts of methods\n\n", *(_part(name, definitions[name]) for name in others)]
    return "".join(parts)


def _value(kind: type[PolicyValue], definition: Mapping[str, Any]) -> str:
    return _described(kind.__name__, f'`model = "{name_of_kind(kind)}"`', definition["description"], _keys(definition))


def _rule(kind: str, definitions: Mapping[str, Any]) -> str:
    [definition] = [each for each in definitions.values() if kind in _kinds(each)]
    return _described(kind, f'`kind = "{kind}"`', docstring_of(MAKERS[kind]).text, _keys(definition))


def _part(name: str, definition: Mapping[str, Any]) -> str:
    return _described(name, definition["description"], _keys(definition))


def _described(heading: str, *texts: str) -> str:
    return "".join(f"{text}\n\n" for text in (f"### {heading}", *texts) if text)


def _kinds(definition: Mapping[str, Any]) -> list[str]:
    field = definition["properties"].get("kind", {})
    return [field["const"]] if "const" in field else field.get("enum", [])


def _keys(definition: Mapping[str, Any]) -> str:
    fields = {name: field for name, field in definition["properties"].items() if name not in ("model", "kind")}
    required = definition.get("required", ())
    return "\n".join(_key(name, field, is_required=name in required) for name, field in fields.items())


def _key(name: str, field: Mapping[str, Any], *, is_required: bool) -> str:
    """A line: its name, what it can be, what holds without it, and what it means."""
    default = field.get("default")
    without = (
        ["required"] if is_required else [f"`{json.dumps(default)}` by default"] if default not in (None, []) else []
    )
    return f"- `{name}` ({'; '.join([_type(field), *without])}): {field['description'].removesuffix('.')}."


def _type(field: Mapping[str, Any]) -> str:
    """What a value can be, in words."""
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
