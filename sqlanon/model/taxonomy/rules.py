"""The taxonomies of a policy: rules, files relative to the policy file, and taxonomies spelled as rules."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator, model_validator
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError

from sqlanon.errors import PolicyError, TaxonomyError
from sqlanon.model.docstrings import Docstring, docstring_of
from sqlanon.model.policy_value import NotBoolean, PolicyValue, did_you_mean
from sqlanon.model.taxonomy.arguments import DateRange, IntegerRange, exact_number
from sqlanon.model.taxonomy.taxonomy import Taxonomy

Settings = dict[str, Any]


def spelled(taxonomy: Taxonomy) -> Settings:
    """Return the kind and the settings of the rule that makes a taxonomy; a query can't be spelled in a policy."""
    if taxonomy.query is not None:
        raise TaxonomyError(
            "a taxonomy from a query cannot be written in a policy: store it with session.taxonomies.load, which every "
            "policy of that warehouse can use"
        )
    if taxonomy.file is not None:
        return {"kind": "file", "file": taxonomy.file, "delimiter": taxonomy.delimiter}
    if taxonomy.rows is not None:
        return {"kind": "rows", "rows": taxonomy.rows}
    if taxonomy.coarser is not None:
        return {"kind": "columns", "columns": taxonomy.coarser}
    rules = taxonomy.rules or ()
    kind, setting = BY_MACRO[rules[0].macro] if rules else ("flat", None)
    found: Settings = {"kind": kind}
    if setting:
        found[setting] = [rule.arguments[0] for rule in rules]
    if kind == "intervals":
        found |= zip(("origin", "below", "above"), rules[0].arguments[1:], strict=True)
    return {**found, **_domain(taxonomy)}


BY_MACRO = {
    "interval_label": ("intervals", "widths"),
    "bin_label": ("cuts", "breaks"),
    "date_label": ("dates", "units"),
    "prefix_label": ("prefixes", "keep"),
    "icd9_label": ("icd9", None),
    "icd10_label": ("icd10", None),
    "ipv4_label": ("ipv4", "bits"),
}
"""The kind for each macro, and its setting with an item per level, the first argument."""


def _domain(taxonomy: Taxonomy) -> Settings:
    match taxonomy.values:
        case IntegerRange() as numbers:
            return {"minimum": numbers.minimum, "maximum": numbers.maximum}
        case DateRange() as days:
            return {"first": days.first, "last": days.last}
        case None:
            return {}
        case values:
            return {"values": values}


def _number(value: Any) -> Any:
    """Return a number, or the one that a text spells; pydantic would report others as integer and as float."""
    try:
        return value if isinstance(value, int | float) else exact_number(value)
    except TaxonomyError:
        raise PydanticCustomError("no_number", "must be a number") from None


Number = Annotated[int | float, BeforeValidator(_number), NotBoolean]
Whole = Annotated[int, NotBoolean]
Values = tuple[bool | str | int | float, ...] | None
"""The declared domain; None if the values are read from the column of the source."""


GROUPS_SCHEMA: dict[str, Any] = {
    "type": "object",
    "minProperties": 1,
    "additionalProperties": {
        "anyOf": [
            {
                "type": "array",
                "minItems": 1,
                "items": {"anyOf": [{"type": "boolean"}, {"type": "string"}, {"type": "number"}]},
            },
            {"type": "object", "description": "Groups of this group."},
        ]
    },
}
"""The JSON Schema of values listed under their labels, to the first level."""


MAKERS: dict[str, Callable[..., Taxonomy]] = {
    "intervals": Taxonomy.intervals,
    "cuts": Taxonomy.cuts,
    "dates": Taxonomy.dates,
    "prefixes": Taxonomy.prefixes,
    "zip": Taxonomy.zip_codes,
    "icd9": Taxonomy.icd9,
    "icd10": Taxonomy.icd10,
    "ipv4": Taxonomy.ipv4,
    "flat": Taxonomy.flat,
    "groups": Taxonomy.groups,
    "columns": Taxonomy.columns,
    "rows": Taxonomy.from_rows,
    "file": Taxonomy.from_csv,
}
"""The method that makes and documents the taxonomy of each kind."""


class _Rule(PolicyValue):
    """A rule or a file for a taxonomy: its fields are the arguments of the maker of its kind."""

    if TYPE_CHECKING:
        kind: str

    @classmethod
    def documentation(cls) -> Docstring:
        """Return the documentation of the maker, extended by its own."""
        of_kind = [docstring_of(MAKERS[kind]) for kind in get_args(cls.model_fields["kind"].annotation)]
        own = docstring_of(cls)
        text = "\n\n".join(each.text for each in of_kind)
        return replace(own, text=text, members={**of_kind[0].members, **own.members})

    def taxonomy(self) -> Taxonomy:
        """Make the taxonomy; raise TaxonomyError if the settings contradict each other, or the file is invalid."""
        settings = {name: getattr(self, name) for name in type(self).model_fields if name != "kind"}
        return MAKERS[self.kind](**settings)

    @model_validator(mode="after")
    def _is_valid(self) -> _Rule:
        if not isinstance(self, FileOfTaxonomy):  # a policy can be read without its files
            with _refused_in_words():
                self.taxonomy()
        return self


@contextmanager
def _refused_in_words() -> Iterator[None]:
    """Report the problems of a taxonomy among the other problems of a policy."""
    try:
        yield
    except (TaxonomyError, PolicyError) as error:
        problems = "; ".join(error.problems) or str(error)
        raise PydanticCustomError("taxonomy", "{problems}", {"problems": problems}) from None


class Intervals(_Rule):
    """See :meth:`Taxonomy.intervals`."""

    kind: Literal["intervals"] = "intervals"
    widths: tuple[Number, ...]
    origin: Number = 0
    minimum: Whole | None = None
    maximum: Whole | None = None
    below: Number | None = None
    above: Number | None = None


class Cuts(_Rule):
    """See :meth:`Taxonomy.cuts`."""

    kind: Literal["cuts"] = "cuts"
    breaks: Annotated[tuple[tuple[Number, ...], ...], Field(min_length=1)]
    minimum: Whole | None = None
    maximum: Whole | None = None


class Groups(_Rule):
    """See :meth:`Taxonomy.groups`."""

    kind: Literal["groups"] = "groups"
    groups: Annotated[dict[str, Any], WithJsonSchema(GROUPS_SCHEMA)]

    @field_validator("groups", mode="before")
    @classmethod
    def _are_groups(cls, groups: Any) -> Any:
        with _refused_in_words():
            Taxonomy.groups(groups)
        return groups


class Columns(_Rule):
    """See :meth:`Taxonomy.columns`."""

    kind: Literal["columns"] = "columns"
    columns: Annotated[tuple[str, ...], Field(min_length=1)]


class Rows(_Rule):
    """See :meth:`Taxonomy.from_rows`."""

    kind: Literal["rows"] = "rows"
    rows: tuple[tuple[bool | str | int | float | None, ...], ...]


class Dates(_Rule):
    """See :meth:`Taxonomy.dates`."""

    kind: Literal["dates"] = "dates"
    units: tuple[str, ...] = ("month", "quarter", "year", "decade")
    first: datetime.date | None = None
    last: datetime.date | None = None


class Prefixes(_Rule):
    """See :meth:`Taxonomy.prefixes`."""

    kind: Literal["prefixes"] = "prefixes"
    keep: tuple[Whole, ...]
    values: Values = None


class IPv4(_Rule):
    """See :meth:`Taxonomy.ipv4`."""

    kind: Literal["ipv4"] = "ipv4"
    bits: tuple[Whole, ...] = (24, 16, 8)
    values: Values = None


class Codes(_Rule):
    """See :meth:`Taxonomy.zip_codes`, :meth:`Taxonomy.icd9`, :meth:`Taxonomy.icd10` and :meth:`Taxonomy.flat`."""

    kind: Literal["zip", "icd9", "icd10", "flat"]
    values: Values = None


class FileOfTaxonomy(_Rule):
    """An ARX hierarchy, see :meth:`Taxonomy.from_csv`.

    Attributes:
        file: its path, as written in the policy.
        delimiter: detected by default.
        folder: the folder of the policy, which the path is relative to. It is excluded from releases: recipients need
            not know the folders of the custodian.
    """

    kind: Literal["file"] = "file"
    file: str
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] | None = None
    folder: SkipJsonSchema[str | None] = Field(default=None, exclude=True, repr=False)

    def taxonomy(self) -> Taxonomy:
        return Taxonomy.from_csv(Path(self.folder or "", self.file), delimiter=self.delimiter)


_AnyRule = Annotated[
    Intervals | Cuts | Dates | Prefixes | IPv4 | Codes | Groups | Columns | Rows | FileOfTaxonomy,
    Field(discriminator="kind"),
]

RULES: dict[str, type[_Rule]] = {
    kind: rule
    for rule in get_args(get_args(_AnyRule)[0])
    if rule is not FileOfTaxonomy
    for kind in get_args(rule.model_fields["kind"].annotation)
}
"""Rules by kind of taxonomy."""


def made(kind: str, settings: Mapping[str, Any]) -> Taxonomy:
    """Make the taxonomy of a rule; raise TaxonomyError for an unknown kind or setting."""
    if kind not in RULES:
        raise TaxonomyError(
            f'"{kind}" is not a kind of taxonomy{did_you_mean(kind, RULES)} (one of {", ".join(RULES)})'
        )
    try:
        return RULES[kind](**{**settings, "kind": kind}).taxonomy()
    except PolicyError as error:
        raise TaxonomyError(f"the settings of a taxonomy by {kind} are not valid:", error.problems) from None


def taxonomy_of(given: Any) -> Taxonomy:
    """Make the taxonomy that a policy would name in this way: a kind, a path, or a table with its ``kind``.

    Raises:
        TaxonomyError: the kind is unknown, its settings are wrong, or a file is invalid.
    """
    if isinstance(given, Taxonomy):
        return given
    if isinstance(given, _Rule):
        return given.taxonomy()
    rule = _written(given)
    if not isinstance(rule, Mapping):
        raise TaxonomyError(f"a taxonomy is a kind, a path, or a table with its kind, not a {type(given).__name__}")
    kind = str(rule.get("kind", ""))
    if kind != "file":
        return made(kind, {name: value for name, value in rule.items() if name != "kind"})
    try:
        return FileOfTaxonomy(**rule).taxonomy()
    except PolicyError as error:
        raise TaxonomyError("the settings of a taxonomy by file are not valid:", error.problems) from None


def _written(rule: Any) -> Any:
    """Convert a kind or a file as text, or a taxonomy, to a table with settings."""
    if isinstance(rule, Taxonomy):
        with _refused_in_words():
            table = spelled(rule)
            if table["kind"] != "file":
                again = RULES[table["kind"]](**table).taxonomy()
                if replace(again, origin=rule.origin) != rule:
                    raise TaxonomyError("has numbers of more digits than a policy can hold: round them")
        return table
    if isinstance(rule, str | Path):
        return {"kind": str(rule)} if str(rule) in RULES else {"kind": "file", "file": str(rule)}
    if isinstance(rule, Mapping) and "file" in rule and "kind" not in rule:
        return {**rule, "kind": "file"}
    return rule


TaxonomyRule = Annotated[_AnyRule, BeforeValidator(_written, json_schema_input_type=_AnyRule | str)]
"""A taxonomy in a policy: ``"zip"``, ``"city.csv"``, or a table with its ``kind``."""


def rule_of(taxonomy: Taxonomy) -> Settings:
    """Return the rule that makes a taxonomy as a policy file writes it."""
    settings = spelled(taxonomy)
    return RULES[settings["kind"]](**settings).model_dump(mode="json", exclude_none=True)


def placed(written: Any, folder: Path) -> Any:
    """Add to the taxonomies of a policy file the folder that their paths are relative to."""
    if not isinstance(written, Mapping):
        return written
    rules = {name: _written(rule) for name, rule in written.items()}
    return {
        name: {**rule, "folder": str(folder)} if isinstance(rule, Mapping) and rule.get("kind") == "file" else rule
        for name, rule in rules.items()
    }
