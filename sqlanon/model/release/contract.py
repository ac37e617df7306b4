"""A data contract of a release: its columns, what it promises, and the queries that check it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlanon.model.release.measurement import Result
from sqlanon.report import yaml
from sqlanon.report.document import Code, Document

STANDARD = "v3.1.0"
"""The version of the Open Data Contract Standard (Bitol 2025)."""

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
OPERATORS = {
    ">=": "mustBeGreaterOrEqualTo",
    "<=": "mustBeLessOrEqualTo",
    "<": "mustBeLessThan",
}


class ContractColumn(Result):
    """A column of a release.

    Attributes:
        name: its name.
        type: its type in DuckDB.
        role: its role in the policy; empty of a column that the method adds.
        description: what became of it.
    """

    name: str
    type: str
    role: str
    description: str

    @property
    def logical_type(self) -> str:
        """Its type in the words of the standard."""
        if self.type.endswith("]"):
            return "array"
        if self.type.startswith("TIMESTAMP"):
            return "timestamp"
        return LOGICAL_TYPES.get(self.type.partition("(")[0], "string")


class ContractCheck(Result):
    """A bound of a privacy model.

    Attributes:
        model: the privacy model.
        query: makes one row with one number, by the text of the macros, which need not be installed.
        comparison: how the number compares with ``required`` where the model is met.
    """

    model: str
    query: str
    comparison: str
    required: float


class Contract(Result):
    """What a release is and promises, in the form of the Open Data Contract Standard.

    Attributes:
        release: its name, or its path.
        kind: ``table``, ``view`` or ``file``.
        description: how it was made.
        record_sha256: the hash of its record, which identifies it.
        policy_sha256: that of its policy.
        columns: its columns, in their order.
        checks: the bounds that a query over the release alone can check.
        claims, conditions, not_covered: what it promises, on what that rests, and what it leaves out.
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
        """The contract in the fields of the standard."""
        return {
            "apiVersion": STANDARD,
            "kind": "DataContract",
            "id": self.record_sha256,
            "name": self.release,
            "version": self.record_sha256[:12],
            "status": "active",
            "description": {
                "purpose": self.description,
                "usage": _sentences("It promises what it does as long as:", self.conditions),
                "limitations": _sentences("It does not cover:", self.not_covered),
            },
            "schema": [
                {
                    "name": self.release,
                    "physicalName": self.release,
                    "physicalType": self.kind,
                    "logicalType": "object",
                    "properties": [*self._properties()],
                    "quality": [*self._quality()],
                }
            ],
            "customProperties": [
                {"property": "sqlanonRecordSha256", "value": self.record_sha256},
                {"property": "sqlanonPolicySha256", "value": self.policy_sha256},
            ],
        }

    def to_yaml(self) -> str:
        """The contract as a file ``*.odcs.yaml``."""
        return yaml.text(self.to_odcs())

    def document(self) -> Document:
        return Document(f"Contract of {self.release}", (Code(self.to_yaml()),))

    def _properties(self) -> Iterator[dict[str, Any]]:
        for each in self.columns:
            yield {
                "name": each.name,
                "logicalType": each.logical_type,
                "physicalType": each.type,
                **({"description": each.description} if each.description else {}),
                **({"tags": [each.role]} if each.role else {}),
            }

    def _quality(self) -> Iterator[dict[str, Any]]:
        for claim in self.claims:
            yield {"type": "text", "description": claim}
        for each in self.checks:
            yield {
                "type": "sql",
                "name": each.model,
                "query": each.query,
                OPERATORS[each.comparison]: int(each.required) if each.required.is_integer() else each.required,
                "dimension": "conformity",
            }


def _sentences(heading: str, sentences: tuple[str, ...]) -> str:
    return "\n".join((heading, *(f"- {sentence}" for sentence in sentences)))
