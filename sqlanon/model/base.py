"""What every policy value shares: frozen, strict about names, and errors that list all problems in plain words."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from sqlanon.errors import PolicyError
from sqlanon.model.names import spelled_like

Level = Annotated[int, Field(ge=0, strict=True)]
"""A level of a taxonomy."""


def _no_boolean(value: Any) -> Any:
    if isinstance(value, bool):
        raise PydanticCustomError("boolean", "must be a number, not true or false")
    return value


NotBoolean = BeforeValidator(_no_boolean)
"""Refuses true and false, which pydantic takes for 1 and 0 and which are slips where a number is wanted."""

Number = Annotated[float, NotBoolean]
"""A number that need not be whole."""

NotNegative = Annotated[Number, Field(ge=0)]
"""A number that is not below 0."""


def _share(value: Any) -> Any:
    if isinstance(value, bool) or (isinstance(value, str | int | float) and not _is_share(value)):
        raise PydanticCustomError("no_share", "must be a share from 0 to 1: 0.05 is 5 %")
    return value


def _is_share(number: str | float) -> bool:
    """Whether a number, or a text that spells one, is from 0 to 1."""
    try:
        return 0 <= float(number) <= 1
    except (ValueError, OverflowError):
        return False


Share = Annotated[Number, BeforeValidator(_share), Field(ge=0, le=1)]
"""A share, which no percentage is to be taken for."""

TAG_OF_TAXONOMY = 2
"""The position of a taxonomy's kind in the path of an error: ``taxonomies``, the column, the kind, a setting."""

RESERVED_PREFIX = "anon_"
"""Names of columns may not start with this: the macros use such names inside."""


SHORT_TAGS = {"prec", "entropy", "lm", "ncp", "dm", "aecs", "ipa", "histogram"}
"""The names of kinds that are single words, and must differ from names of fields."""

NAMING_COLUMNS = ("column", "prior", "weights", "node", "target", "numeric", "sets", "impossible")
"""The fields of parts of a policy that name columns."""

MAX_COMPARED_PAIRS = 20_000
"""Of unknown and known names in one error: difflib takes a tenth of a second for them."""


class PolicyValue(BaseModel):
    """Base of the values that make up a policy."""

    # A value inside another is checked again with it: copies with changes, which pydantic makes, were not. What checks
    # a value is built when the first one is made, for a run makes few of all kinds.
    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, revalidate_instances="always", defer_build=True
    )

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        # A value is made by __init__, which takes arguments by position, and raises an error of ours. What is inside
        # another one pydantic has to make itself, so that all problems come in one error: this is how its own
        # __init__ lets it. It has no public way; tests/unit/test_policy.py says if it goes.
        cls.__init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise PolicyError(
                f"{type(self).__name__} is not valid:", problems_of(error, known_names(type(self)))
            ) from None

    def __hash__(self) -> int:
        # Fields may be dicts, which have no hash and are equal in any order.
        return hash((type(self), json.dumps(self.model_dump(mode="json"), sort_keys=True)))


def name_of_kind(kind: type[PolicyValue]) -> str:
    """The name by which a policy refers to a kind among others of its field, such as ``k-anonymity``."""
    return str(kind.model_fields["model"].default)


def respelled(value: Any, known: Sequence[str]) -> Any:
    """Names of columns, or a part of a policy with all that it has, spelled like known names in whatever case.

    Of two names that would become one the second stays as it is.
    """
    match value:
        case str():
            return spelled_like(value, known)
        case tuple():
            return tuple(respelled(each, known) for each in value)
        case dict():
            found: dict[str, Any] = {}
            for name, each in value.items():
                spelled = spelled_like(name, known)
                found[name if spelled in found or (spelled != name and spelled in value) else spelled] = each
            return found
        case PolicyValue():
            fields = [name for name in NAMING_COLUMNS if name in type(value).model_fields]
            return value.model_copy(update={name: respelled(getattr(value, name), known) for name in fields})
        case _:
            return value


def known_names(model: type[BaseModel]) -> dict[str, list[str]]:
    """Every key that may stand anywhere in a value of ``model``, with the kinds of parts that have it."""
    names: dict[str, list[str]] = {name: [] for name in model.model_fields}
    for title, definition in model.model_json_schema().get("$defs", {}).items():
        fields = definition.get("properties", {})
        kind = fields.get("model", fields.get("kind", {})).get("const", title)
        for name in fields:
            names.setdefault(name, []).append(kind)
    return dict(sorted(names.items()))


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``; did you mean "x"?`` if a known name is close, else nothing."""
    folded = {candidate.casefold(): candidate for candidate in known}
    close = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    return f'; did you mean "{folded[close[0]]}"?' if close else ""


def unknown_names(names: Iterable[str], known: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The names that are not known, each with :func:`did_you_mean` until ``MAX_COMPARED_PAIRS`` were compared.

    A policy for another table can name thousands of columns that are not there: all come, the last without a proposal.
    """
    candidates = dict.fromkeys(known)
    compared = 0
    for name in names:
        if name not in candidates:
            yield name, did_you_mean(name, candidates) if compared < MAX_COMPARED_PAIRS else ""
            compared += len(candidates)


def problems_of(error: ValidationError, known: Mapping[str, Sequence[str]]) -> list[str]:
    """One line per problem: where, and what is wrong; the offending input itself is not repeated."""
    found = error.errors(include_url=False, include_input=False)
    return [line for details in found if not _follows_from_others(details, found) for line in _lines(details, known)]


def failed_checks(problems: Sequence[str]) -> PydanticCustomError:
    """What a validator of a whole value raises: several problems at once."""
    return PydanticCustomError("failed_checks", "several problems", {"problems": list(problems)})


def _follows_from_others(details: Mapping[str, Any], found: Sequence[Mapping[str, Any]]) -> bool:
    """Whether other problems are enough.

    A list is also reported as too short when its only item is wrong, and a default that depends on what is not valid.
    """
    if details["type"] == "default_factory_not_called":
        return True
    location = details["loc"]
    return details["type"] == "too_short" and any(
        other["loc"][: len(location)] == location and other is not details for other in found
    )


def _lines(details: Mapping[str, Any], known: Mapping[str, Sequence[str]]) -> list[str]:
    if details["type"] == "failed_checks":
        return list(details["ctx"]["problems"])
    where = _path(details["loc"])
    return [f"{where}: {_message(details, known)}" if where else _message(details, known)]


def _message(details: Mapping[str, Any], known: Mapping[str, Sequence[str]]) -> str:
    context = details.get("ctx", {})
    match details["type"]:
        case "extra_forbidden":
            name = str(details["loc"][-1])
            if owners := known.get(name):
                return f"unknown key here; it is a key of {', '.join(owners)}"
            return f"unknown key{did_you_mean(name, known)}"
        case "too_short":
            return "needs at least one"
        case "tuple_type":
            return "must be a list"
        case "union_tag_not_found":
            return f'has no "{_key_of_kind(context)}", the name of its kind'
        case "union_tag_invalid":
            tags = [tag.strip("' ") for tag in context["expected_tags"].split(",")]
            meant = did_you_mean(context["tag"], tags)
            return f'unknown {_key_of_kind(context)} "{context["tag"]}"{meant} (one of {", ".join(tags)})'
        case _:
            message = str(details["msg"])
            return message[0].lower() + message[1:]


def _key_of_kind(context: Mapping[str, Any]) -> str:
    """The key that names the kind of a table."""
    return str(context["discriminator"]).strip("'")


def _path(location: Iterable[int | str]) -> str:
    """``('privacy', 0, 'k-anonymity', 'k')`` → ``privacy[0].k``; the tag of a union is left out."""
    path = ""
    previous: int | str = ""
    for depth, step in enumerate(location):
        if depth == TAG_OF_TAXONOMY and path.startswith("taxonomies."):
            continue
        if isinstance(step, int):
            path += f"[{step}]"
        elif not (isinstance(previous, int) or previous in ("quality", "method")) or not _is_tag(step):
            path += f".{step}" if path else step
        previous = step
    return path


def _is_tag(step: str) -> bool:
    """Tags of unions are the values of ``model``: words joined by hyphens, or one of the short names."""
    return "-" in step or step in SHORT_TAGS
