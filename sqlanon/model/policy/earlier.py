"""Earlier releases of the same persons, which a policy holds the present one together with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from sqlanon.model.names import folded
from sqlanon.model.policy_value import PolicyValue


class Earlier(PolicyValue):
    """An earlier release of the same persons.

    Args:
        release: the release: a table, a file or a folder with its provenance.
        source: what it was made from, as it was then: a table, a path, a query, a version of a table of a lake. Left
            out if that is the present source, unchanged.
        key: the column that identifies a person in all of these sources, such as ``"patient_id"``. It is released
            nowhere. Left out if all releases are of the present source: each row is its own person then.

    Raises:
        PolicyError: listing every problem at once.
    """

    release: str = Field(min_length=1, kw_only=False)
    source: str | None = Field(default=None, min_length=1)
    key: str | None = Field(default=None, min_length=1)


def key_misfits(releases: Sequence[Earlier]) -> Iterable[str]:
    """Why the persons of some releases cannot be found in each other's sources, a line per problem."""
    keys = dict.fromkeys(folded(each.key) for each in releases if each.key is not None)
    without = [each for each in releases if each.key is None]
    if len(keys) > 1 or (keys and without):
        yield "all releases need the same key, by which the rows of a person are found in each source"
    for each in without:
        if each.source is not None:
            yield f'"{each.release}" has a source of its own, and needs a key by which its persons are found in others'
    names = [each.release for each in releases]
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        yield f'"{name}" is named twice'


def _as_list(given: Any) -> Any:
    """A release may be given by its name alone."""
    if isinstance(given, list | tuple):
        return [{"release": each} if isinstance(each, str) else each for each in given]
    return given


EarlierReleases = Annotated[tuple[Earlier, ...] | Literal["none"], BeforeValidator(_as_list)]
"""Releases that are held together with the present one; ``"none"`` says that nobody has both."""
