"""To whom a release goes, what for, and who approves it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from sqlanon.model.policy_value import PolicyValue

MAX_SIGNS = 500
"""The most signs of one term: the page of a release has two sheets of paper."""


def _not_blank(words: str) -> str:
    if not words.strip():
        raise PydanticCustomError("blank", "is blank; write it, or leave the key out")
    return words.strip()


Words = Annotated[str, Field(max_length=MAX_SIGNS), AfterValidator(_not_blank)]


class ReleaseTerms(PolicyValue):
    """To whom a release goes, what for, and who approves it; its report and its record state them, so they are public.

    Args:
        recipient: who gets the release, such as ``"the university hospital of Jena"``.
        purpose: what the recipient uses it for.
        approved_by: who approves it: a name, or an office.

    Raises:
        PolicyError: listing every problem at once.
    """

    recipient: Words | None = None
    purpose: Words | None = None
    approved_by: Words | None = None


def _a_table(given: Any) -> Any:
    if not isinstance(given, Mapping | ReleaseTerms):
        raise PydanticCustomError("no_table", "must be a table: [release] with recipient, purpose and approved_by")
    return given


Terms = Annotated[ReleaseTerms, BeforeValidator(_a_table, json_schema_input_type=ReleaseTerms)]
