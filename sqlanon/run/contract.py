"""Data contracts of releases: columns, promises, and queries that check them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource, Source
from sqlanon.methods.base import method_of
from sqlanon.model.labels import NodeRecord
from sqlanon.model.names import in_quotes
from sqlanon.model.policy.policy import Policy
from sqlanon.model.record import Record
from sqlanon.model.release import Result
from sqlanon.queries.kit.steps import printed
from sqlanon.queries.measures import Comparison, MeasuredClasses, attained
from sqlanon.report.document import Code, Part
from sqlanon.run.recorded import ROLES, recorded_release
from sqlanon.satellites import installed_version
from sqlanon.verification.found_release import FoundRelease

STANDARD = "v3.1.0"  # the version of the Open Data Contract Standard (Bitol 2025)

LOGICAL_TYPES = {
    "BOOLEAN": "boolean",
    "DATE": "date",
    "DECIMAL": "number",
    "DOUBLE": "number",
    "FLOAT": "number",
    "STRUCT": "object",
    "MAP": "object",
    "TIME": "time",
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"), "integer"),
    **dict.fromkeys(("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"), "integer"),
}
OPERATORS = {">=": "mustBeGreaterOrEqualTo", "<=": "mustBeLessOrEqualTo", "<": "mustBeLessThan"}


class ContractColumn(Result):
    name: str
    type: str  # in DuckDB
    role: str  # in the policy; empty for a column that the method adds
    description: str  # how it was generalized or perturbed

    @property
    def logical_type(self) -> str:
        """The type as the standard names it."""
        if self.type.endswith("]"):
            return "array"
        if self.type.startswith("TIMESTAMP"):
            return "timestamp"
        return LOGICAL_TYPES.get(self.type.partition("(")[0], "string")


class ContractCheck(Result):
    """A bound of a privacy model."""

    model: str
    query: str  # returns one number, without installed macros
    comparison: str  # between the number and ``required``, if the model is met
    required: float


class Contract(Result):
    """A data contract of a release, by the Open Data Contract Standard.

    Attributes:
        release: its name or path.
        kind: ``table``, ``view`` or ``file``.
        description: how it was made.
        record_sha256: the hash of its record, which identifies it.
        policy_sha256: the hash of its policy.
        columns: its columns, in order.
        checks: the bounds that a query over the release alone can check.
        claims, conditions, not_covered: its promises, their conditions, and what they leave out.
    """

    release: str
    kind: str
    description: str
    record_sha256: str
    policy_sha256: str
    columns: tuple[ContractColumn, ...]
    checks: tuple[ContractCheck, ...]
    claims: tuple[str, ...]
    conditions: tuple[str, ...]
    not_covered: tuple[str, ...]

    def to_odcs(self) -> dict[str, Any]:
        """Return the contract as a document of the standard."""
        properties = [
            {
                "name": each.name,
                "logicalType": each.logical_type,
                "physicalType": each.type,
                **({"description": each.description} if each.description else {}),
                **({"tags": [each.role]} if each.role else {}),
            }
            for each in self.columns
        ]
        quality: list[dict[str, Any]] = [{"type": "text", "description": claim} for claim in self.claims]
        for check in self.checks:
            required = int(check.required) if check.required.is_integer() else check.required
            name, comparison = check.model, OPERATORS[check.comparison]
            quality.append(
                {"type": "sql", "name": name, "query": check.query, comparison: required, "dimension": "conformity"}
            )
        return {
            "apiVersion": STANDARD,
            "kind": "DataContract",
            "id": self.record_sha256,
            "name": self.release,
            "version": self.record_sha256[:12],
            "status": "active",
            "description": {
                "purpose": self.description,
                "usage": "\n- ".join(("It promises what it does as long as:", *self.conditions)),
                "limitations": "\n- ".join(("It does not cover:", *self.not_covered)),
            },
            "schema": [
                {
                    "name": self.release,
                    "physicalName": self.release,
                    "physicalType": self.kind,
                    "logicalType": "object",
                    "properties": properties,
                    "quality": quality,
                }
            ],
            "customProperties": [
                {"property": "sqlanonRecordSha256", "value": self.record_sha256},
                {"property": "sqlanonPolicySha256", "value": self.policy_sha256},
            ],
        }

    def to_yaml(self) -> str:
        """Return the contract as the text of a file ``*.odcs.yaml``."""
        return as_yaml(self.to_odcs())

    @property
    def heading(self) -> str:
        return f"Contract of {self.release}"

    def parts(self) -> Iterator[Part]:
        yield Code(self.to_yaml())


def contract(engine: Engine, release: Source, resolve: Callable[[Source], ResolvedSource]) -> Contract:
    found, record, policy = recorded_release(engine, release, resolve)
    promise = record.promise
    made_by = f"Released by method {policy.method.name}, described by sqlanon {installed_version()}."
    return Contract(
        release=str(release),
        kind="file" if found.source.files else "table",
        description=" ".join((made_by, method_of(policy).about_rows)).strip(),
        record_sha256=found.record_sha256 or record.sha256,
        policy_sha256=record.policy_sha256 or "",
        columns=tuple(_columns(engine, found, record, policy)),
        checks=tuple(_checks(engine, found, policy)),
        claims=() if promise is None else promise.claims,
        conditions=() if promise is None else promise.conditions,
        not_covered=() if promise is None else promise.not_covered,
    )


def _columns(engine: Engine, found: FoundRelease, record: Record, policy: Policy) -> Iterator[ContractColumn]:
    roles = {name: role for field, role in ROLES.items() for name in getattr(policy, field)}
    levels = record.labels.levels if isinstance(record.labels, NodeRecord) else {}
    changes = dict(policy.changes)
    for column in engine.describe(found.source.relation):
        name, description = column.name, ""
        if name in levels:
            level = levels[name]
            description = f"generalized to level {level} of its taxonomy" if level else "as it is in the source"
        elif name in changes:
            description = "; ".join((changes[name].in_words, *changes[name].claims(in_quotes(name))))
        yield ContractColumn(name=name, type=column.type, role=roles.get(name, ""), description=description)


def _checks(engine: Engine, found: FoundRelease, policy: Policy) -> Iterator[ContractCheck]:
    if policy.has_private_method or policy.population is not None or policy.individual is not None:
        return
    classes, comparison = MeasuredClasses(policy.quasi_identifiers), Comparison(engine.taxonomy)
    for model in policy.privacy:
        # Labels would need the taxonomies of the session.
        of_rows = [bound for bound in model.bounds if bound.measure.view != "labels"]
        for bound in () if model.compares_with_source else of_rows:
            query = attained(found.source.relation, classes, bound, comparison)
            text = printed(query, pretty=False)
            yield ContractCheck(model=str(model), query=text, comparison=bound.comparison, required=bound.required)


def as_yaml(value: Mapping[str, Any]) -> str:
    """Write a mapping with alphabetic keys as YAML 1.2: in blocks, with single-line texts as in JSON."""
    return "".join(f"{line}\n" for line in _lines(value))


def _lines(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if _is_block(item):
                yield f"{key}:"
                yield from (f"  {line}" for line in _lines(item))
            elif isinstance(item, str) and _is_literal(item):
                yield f"{key}: |-"
                yield from (f"  {line}" for line in item.split("\n"))
            else:
                yield f"{key}: {_scalar(item)}"
    else:
        for item in value:
            inner = [*_lines(item)] if _is_block(item) else [_scalar(item)]
            yield f"- {inner[0]}"
            yield from (f"  {line}" for line in inner[1:])


def _is_block(value: Any) -> bool:
    return isinstance(value, (Mapping, list)) and bool(value)


def _is_literal(words: str) -> bool:
    lines = words.split("\n")
    return len(lines) > 1 and all(line and line.isprintable() and not line[0].isspace() for line in lines)


def _scalar(value: Any) -> str:
    """Write a value as JSON, which YAML reads, with YAML's escape for unprintable characters."""
    written = json.dumps(value, ensure_ascii=False)
    return "".join(sign if sign.isprintable() else f"\\U{ord(sign):08x}" for sign in written)
