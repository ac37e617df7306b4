"""Policies as TOML files."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from sqlanon.errors import PolicyError
from sqlanon.model.budget import WrittenFloat
from sqlanon.model.taxonomy.rules import placed


def read_toml(path: str | Path) -> dict[str, Any]:
    """The fields in a policy file; files of taxonomies that it names are beside it.

    Raises:
        PolicyError: the file cannot be read, or is not TOML; it names the file.
    """
    try:
        with Path(path).open("rb") as file:
            values = tomllib.load(file, parse_float=WrittenFloat)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PolicyError(f"the policy file {path} is not valid TOML: {error}") from None
    except RecursionError:
        raise PolicyError(f"the policy file {path} is not valid TOML: its values are nested too deep") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise PolicyError(f"the policy file {path} cannot be read: {reason}") from None
    if "taxonomies" in values:
        values["taxonomies"] = placed(values["taxonomies"], Path(path).parent)
    return values
