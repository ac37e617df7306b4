"""Policies as users give them: as a value, a mapping or a file, and checked whatever was done to them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sqlanon.errors import PolicyError
from sqlanon.model.base import known_names, problems_of
from sqlanon.model.policy.policy import Policy

GivenPolicy = Policy | Mapping[str, Any] | str | Path
"""How a policy may be given: as it is, as a mapping of its fields, or as the path of a TOML file."""


def policy_of(given: GivenPolicy) -> Policy:
    """The policy that is given, checked: a copy with changes (``model_copy``) was not when it was made.

    Raises:
        PolicyError: it is not valid, cannot be read, or is no policy at all.
    """
    if isinstance(given, Policy):
        try:
            return Policy.model_validate(given)
        except ValidationError as error:
            raise PolicyError("Policy is not valid:", problems_of(error, known_names(Policy))) from None
    if isinstance(given, Mapping):
        if not all(isinstance(key, str) for key in given):
            raise PolicyError("the keys of a policy are texts, the names of its fields")
        return Policy(**given)
    if isinstance(given, str | Path):
        return Policy.from_toml(given)
    kind = type(given).__name__
    article = "an" if kind[0] in "aeiou" else "a"
    raise PolicyError(f"a policy is a Policy, a dict or the path of a TOML file, not {article} {kind}")
