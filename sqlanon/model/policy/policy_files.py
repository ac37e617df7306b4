"""Policies in files: their text, their fields, and errors that name the file."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import ValidationError

from sqlanon.errors import PolicyError
from sqlanon.model.budget import WrittenFloat
from sqlanon.model.policy_value import PolicyValue, known_names, problems_of
from sqlanon.model.taxonomy.rules import placed
from sqlanon.model.whole_files import read_whole

MAX_FILE_MB = 10  # of a policy file


def read_policy_text(path: Path) -> str:
    try:
        return read_whole(path, MAX_FILE_MB).decode("utf-8-sig")  # with the BOM of Windows editors
    except UnicodeDecodeError:
        raise PolicyError(f"the policy file {path} is not UTF-8: save it as UTF-8") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise PolicyError(f"the policy file {path} cannot be read: {reason}") from None


def fields_of(text: str, path: str | Path) -> dict[str, Any]:
    """Return the fields in the text of a policy file."""
    try:
        return tomllib.loads(text, parse_float=WrittenFloat)
    except tomllib.TOMLDecodeError as error:
        raise PolicyError(f"the policy file {path} is not valid TOML: {error}") from None
    except RecursionError:
        raise PolicyError(f"the policy file {path} is not valid TOML: its values are nested too deep") from None


Checked = TypeVar("Checked", bound=PolicyValue)


def checked(policy: Checked) -> Checked:
    """Check a copy with changes (``model_copy``), which was not checked."""
    kind = type(policy)
    try:
        return kind.model_validate(policy)
    except ValidationError as error:
        raise PolicyError(f"{kind.__name__} is not valid:", problems_of(error, known_names(kind))) from None


class WholePolicy(PolicyValue):
    """A policy of one table or of several."""

    @classmethod
    def from_toml(cls, path: str | Path) -> Self:
        """Read a policy from a TOML file.

        Raises:
            PolicyError: the file cannot be read, is not TOML, or is not a policy; it names the file.
        """
        return cls.of_file(fields_of(read_policy_text(Path(path)), path), path)

    @classmethod
    def of_file(cls, values: dict[str, Any], path: str | Path) -> Self:
        """Return the policy with the fields of a file, whose taxonomies may be files beside it."""
        tables = values.get("tables")
        for roles in (values, *(tables.values() if isinstance(tables, Mapping) else ())):
            if isinstance(roles, dict) and "taxonomies" in roles:
                roles["taxonomies"] = placed(roles["taxonomies"], Path(path).parent)
        try:
            return cls(**values)
        except PolicyError as error:
            raise PolicyError(f"the policy file {path} is not valid:", error.problems) from None

    def changed(self, changes: Mapping[str, Any]) -> Self:
        """Return the policy with other values of some fields, checked, as in a policy file."""
        return checked(self.model_copy(update=changes))


def sha256_of_fields(fields: Mapping[str, Any]) -> str:
    """Return a hash of fields in any order."""
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()
