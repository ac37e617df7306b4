"""The base of policy values: frozen, strict about names, with errors that list all problems in plain words."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from inspect import Parameter, Signature
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, TypeAlias, TypeVar, dataclass_transform

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationError,
)
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

from sqlanon.errors import PolicyError
from sqlanon.model.docstrings import Docstring, docstring_of
from sqlanon.model.names import spelled_like, speller

Level = Annotated[int, Field(ge=0, strict=True)]  # a level of a taxonomy


def _no_boolean(value: Any) -> Any:
    if isinstance(value, bool):
        raise PydanticCustomError("boolean", "must be a number, not true or false")
    return value


NotBoolean = BeforeValidator(_no_boolean)
"""Refuses true and false, which pydantic would take for 1 and 0."""
OneOrSeveral = BeforeValidator(lambda given: (given,) if isinstance(given, str) else given)
"""Accepts a single text as a list of one."""
Number = Annotated[float, NotBoolean]
NotNegative = Annotated[Number, Field(ge=0)]


def _share(value: Any) -> Any:
    if isinstance(value, str | int | float):
        try:
            is_share = 0 <= float(value) <= 1 and not isinstance(value, bool)
        except (ValueError, OverflowError):
            is_share = False
        if not is_share:
            raise PydanticCustomError("no_share", "must be a share from 0 to 1: 0.05 is 5 %")
    return value


Share = Annotated[Number, BeforeValidator(_share), Field(ge=0, le=1)]  # with an error that explains percentages

TAG_OF_RULE = 2
"""The position of a rule's kind in the path of an error: ``taxonomies``, the column, the kind, a setting."""
KNOWN_ROWS = "known-rows"  # the model of linked tables, which a policy of one table does not take
RESERVED_PREFIX = "anon_"  # of columns inside macros

MAX_COMPARED_PAIRS = 20_000  # of unknown and known names in one error, a tenth of a second of difflib


if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)


@dataclass_transform(kw_only_default=True, field_specifiers=(Field,))
class _ByPosition(ModelMetaclass):
    """Creates values from arguments by name or, for fields with ``kw_only=False``, by position; with our own error.

    It replaces an ``__init__``, which pydantic would also call for values inside another one, whose problems must be
    reported with all others.
    """

    # Type checkers know the arguments from the fields: a signature here would hide them.
    if not TYPE_CHECKING:

        def __call__(self, *values: Any, **settings: Any) -> Any:
            try:
                return super().__call__(**self.by_name(values, settings))
            except ValidationError as error:
                raise PolicyError(f"{self.__name__} is not valid:", problems_of(error, known_names(self))) from None

        @property
        def __signature__(self) -> Signature:
            return self.signature()

        @__signature__.setter
        def __signature__(self, made: object) -> None:
            """Ignore the signature of pydantic, which has no arguments by position."""


class PolicyValue(BaseModel, metaclass=_ByPosition):
    """Base of the values that make up a policy.

    Attributes:
        refused: keys, and kinds of parts, that it does not take although other values do, with the reason.
        naming_columns: the fields that name columns, directly or in their parts.
    """

    refused: ClassVar[Mapping[str, str]] = {}
    naming_columns: ClassVar[Sequence[str]] = (
        *("column", "prior", "weights", "importance", "aggregate", "node", "target", "numeric", "step", "sets"),
        *("impossible", "levels", "nulls", "refine", "together", "within"),
    )
    # A value inside another is checked again with it, since copies with changes by pydantic were not. Validators are
    # built with the first value, since a run needs few kinds.
    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, revalidate_instances="always", defer_build=True
    )

    def spelled_like(self, known: Sequence[str]) -> Self:
        """Return the value with its columns in their spelling among known names."""
        fields = [name for name in self.naming_columns if name in type(self).model_fields]
        return self.model_copy(update={name: respelled(getattr(self, name), known) for name in fields})

    @classmethod
    def arguments(cls) -> dict[str, FieldInfo]:
        """Return the arguments of the value by name, without its kind."""
        return {name: field for name, field in cls.model_fields.items() if name != "model"}

    @classmethod
    def documentation(cls) -> Docstring:
        """Return the documentation of the value and its fields, including inherited ones."""
        inherited = [docstring_of(kind).members for kind in reversed(cls.__mro__) if issubclass(kind, PolicyValue)]
        own = docstring_of(cls)
        return replace(own, members=reduce(or_, inherited, {}))

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Return the schema with the docstring's descriptions of fields, for editors."""
        schema = handler(core_schema)
        described, documentation = handler.resolve_ref_schema(schema), cls.documentation()
        if documentation.text:
            described["description"] = documentation.text
        for name, text in documentation.members.items():
            if name in cls.model_fields and name in described["properties"]:
                described["properties"][name]["description"] = text
        return schema

    @classmethod
    def by_name(cls, values: Sequence[Any], settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return arguments by position and by name, all by name, without None."""
        names = [name for name, field in cls.model_fields.items() if field.kw_only is False]
        if len(values) > len(names):
            raise TypeError(f"{cls.__name__} takes {len(names)} arguments by position, not {len(values)}")
        given = dict(zip(names, values, strict=False))
        if repeated := given.keys() & settings.keys():
            raise TypeError(f"{cls.__name__} has two values of {', '.join(repeated)}")
        return {name: value for name, value in {**given, **settings}.items() if value is not None}

    @classmethod
    def signature(cls) -> Signature:
        """Return the arguments for ``help``."""
        texts = {
            name: text for kind in reversed(cls.__mro__) for name, text in vars(kind).get("__annotations__", {}).items()
        }
        parameters = []
        for name, field in cls.arguments().items():
            kind = Parameter.POSITIONAL_OR_KEYWORD if field.kw_only is False else Parameter.KEYWORD_ONLY
            default = field.default if field.default_factory is None else ...
            default = Parameter.empty if field.is_required() else default
            parameters.append(Parameter(name, kind, default=default, annotation=texts.get(name, field.annotation)))
        return Signature(sorted(parameters, key=lambda each: each.kind))

    def __hash__(self) -> int:
        # Fields may be dicts, which aren't hashable, and are equal in any order.
        return hash((type(self), json.dumps(self.model_dump(mode="json"), sort_keys=True)))


def name_of_kind(kind: type[PolicyValue]) -> str:
    return str(kind.model_fields["model"].default)


SETTINGS = ("suppression_limit", "suppression", "search", "objective", "max_loss", "node")
"""The settings of full domains that a policy accepts as its own; problems name them without a path."""

KINDS: dict[str, dict[str, type[PolicyValue]]] = {"privacy": {}, "quality": {}, "method": {}}
"""The kinds of values of a policy's fields, by field and name: see :func:`kind_of`."""

Kind = TypeVar("Kind", bound=type[PolicyValue])


def kind_of(field: str) -> Callable[[Kind], Kind]:
    """Register a class as a kind of a policy's field, under the default of its ``model``."""

    def registered(kind: Kind) -> Kind:
        KINDS[field][name_of_kind(kind)] = kind
        return kind

    return registered


@dataclass(frozen=True)
class OneOf:
    """Annotation of a base class: one of the kinds of a field that are registered at the first validation."""

    field: str

    def __get_pydantic_core_schema__(self, base: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        # By name: modules register in the order of imports, which differs between commands.
        union: Any = reduce(or_, (kind for _, kind in sorted(KINDS[self.field].items())))
        return handler.generate_schema(Annotated[union, Field(discriminator="model")])


@dataclass(frozen=True)
class Kept:
    """Annotation of a field that takes more than it keeps: type checkers see what is given, and pydantic this kind."""

    kind: Any

    def __get_pydantic_core_schema__(self, given: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler.generate_schema(self.kind)


Names = Annotated[Sequence[str], Kept(tuple[str, ...])]


def respelled(value: Any, known: Sequence[str]) -> Any:
    """Respell names of columns, or a part of a policy with its contents, like known names.

    If two names would become one, the second stays unchanged.
    """
    match value:
        case str():
            return spelled_like(value, known)
        case tuple():
            return tuple(respelled(each, known) for each in value)
        case dict():
            found: dict[str, Any] = {}
            spell = speller(known)
            for name, each in value.items():
                spelled = spell(name)
                own = respelled(each, known) if isinstance(each, PolicyValue) else each
                found[name if spelled in found or (spelled != name and spelled in value) else spelled] = own
            return found
        case PolicyValue():
            return value.spelled_like(known)
        case _:
            return value


Known: TypeAlias = Mapping[str, Sequence[str]]
"""The kinds of parts that have a key, or, in a text, why none has it."""


def known_names(model: type[PolicyValue]) -> dict[str, list[str] | str]:
    """Return every possible key in a value of ``model``, with the kinds of parts that have it, or why none takes it."""
    names: dict[str, list[str]] = {name: [] for name in model.model_fields}
    for title, definition in model.model_json_schema().get("$defs", {}).items():
        fields = definition.get("properties", {})
        kind = fields.get("model", fields.get("kind", {})).get("const", title)
        for name in fields:
            names.setdefault(name, []).append(kind)
    return {**dict(sorted(names.items())), **model.refused}


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``; did you mean "x"?`` if a known name is close, otherwise an empty text."""
    folded = {candidate.casefold(): candidate for candidate in known}
    close = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    return f'; did you mean "{folded[close[0]]}"?' if close else ""


def unknown_names(names: Iterable[str], known: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield unknown names, each with :func:`did_you_mean` until ``MAX_COMPARED_PAIRS`` were compared.

    A policy for another table can name thousands of missing columns: the last ones come without a proposal.
    """
    candidates = dict.fromkeys(known)
    compared = 0
    for name in names:
        if name not in candidates:
            yield name, did_you_mean(name, candidates) if compared < MAX_COMPARED_PAIRS else ""
            compared += len(candidates)


def problems_of(error: ValidationError, known: Known) -> list[str]:
    """Return a line per problem, with its place and reason, but without the invalid input."""
    found = error.errors(include_url=False, include_input=False)
    return [line for details in found if not _follows_from_others(details, found) for line in _lines(details, known)]


def failed_checks(problems: Sequence[str]) -> PydanticCustomError:
    """Return the error of a validator of a whole value, with several problems."""
    return PydanticCustomError("failed_checks", "several problems", {"problems": list(problems)})


def _follows_from_others(details: Mapping[str, Any], found: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a problem is redundant.

    A list is also reported as too short if its only item is invalid, and a default if it depends on invalid values.
    """
    if details["type"] == "default_factory_not_called":
        return True
    location = details["loc"]
    return details["type"] == "too_short" and any(
        other["loc"][: len(location)] == location and other is not details for other in found
    )


def _lines(details: Mapping[str, Any], known: Known) -> list[str]:
    if details["type"] == "failed_checks":
        return list(details["ctx"]["problems"])
    where = _path(details["loc"])
    return [f"{where}: {_message(details, known)}" if where else _message(details, known)]


def _message(details: Mapping[str, Any], known: Known) -> str:
    context = details.get("ctx", {})
    match details["type"]:
        case "extra_forbidden":
            return _unknown_key(str(details["loc"][-1]), known)
        case "too_short":
            return "needs at least one"
        case "tuple_type" | "sequence_str":
            return "must be a list"
        case "is_instance_of" if context["class"] == "Sequence":
            return "must be a list"
        case "union_tag_not_found":
            return f'has no "{_key_of_kind(context)}", the name of its kind'
        case "union_tag_invalid":
            return _unknown_kind(context, known)
        case _:
            message = str(details["msg"])
            return message[0].lower() + message[1:]


def _unknown_key(name: str, known: Known) -> str:
    owners = known.get(name)
    if isinstance(owners, str):
        return owners
    return (
        f"unknown key here; it is a key of {', '.join(owners)}" if owners else f"unknown key{did_you_mean(name, known)}"
    )


def _unknown_kind(context: Mapping[str, Any], known: Known) -> str:
    if isinstance(why := known.get(context["tag"]), str):
        return f'"{context["tag"]}" {why}'
    tags = [tag.strip("' ") for tag in context["expected_tags"].split(",")]
    meant = did_you_mean(context["tag"], tags)
    return f'unknown {_key_of_kind(context)} "{context["tag"]}"{meant} (one of {", ".join(tags)})'


def _key_of_kind(context: Mapping[str, Any]) -> str:
    return str(context["discriminator"]).strip("'")


def _path(location: Iterable[int | str]) -> str:
    """Join a path without tags of unions: ``('privacy', 0, 'k-anonymity', 'k')`` → ``privacy[0].k``."""
    tags = {KNOWN_ROWS, *(name for kinds in KINDS.values() for name in kinds)}
    path = ""
    previous: int | str = ""
    steps = [*location]
    of_table = 2 if steps[:1] == ["tables"] else 0  # the steps to a table of several
    for depth, step in enumerate(steps):
        if depth == of_table + TAG_OF_RULE and steps[of_table] in ("taxonomies", "perturbation"):
            continue
        if path == "method" and step in SETTINGS:
            path = str(step)
        elif isinstance(step, int):
            path += f"[{step}]"
        elif not (isinstance(previous, int) or previous in ("quality", "method")) or step not in tags:
            path += f".{step}" if path else step
        previous = step
    return path
