"""The files that a policy names: in what travels with a release they go by their names and what is in them.

Where they lie on the machine of the custodian is nobody's business who gets the release.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sqlanon.model.policy.policy import Policy
from sqlanon.model.privacy import PopulationModel
from sqlanon.model.taxonomy.rules import FileOfTaxonomy

ABSOLUTE = re.compile(r"(?:file:|~|/|[A-Za-z]:[/\\])", re.IGNORECASE)
"""How a path begins that tells where something lies."""

QUOTED = re.compile(r"""(['"])((?:file:|~|/|[A-Za-z]:[/\\])(?:(?!\1).)*)\1""", re.IGNORECASE)
"""Such a path in a query."""


def without_places(policy: Policy, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Facts about a release with the names of the files of its policy in place of their absolute paths.

    Where there are any, ``policy_files`` lists their names, each with the SHA-256 of its content; None for a glob or a
    folder, and for a file that is not there.
    """
    paths = dict.fromkeys(_paths(policy))
    if not paths:
        return dict(facts)
    files = [{"name": _name(path), "sha256": _sha256(path)} for path in paths]
    longest_first = sorted(paths, key=len, reverse=True)
    return {**{key: _named(value, longest_first) for key, value in facts.items()}, "policy_files": files}


def _paths(policy: Policy) -> Iterator[str]:
    """The absolute paths that a policy has, in queries too; relative ones tell nothing of the machine."""
    for rule in policy.taxonomies.values():
        if isinstance(rule, FileOfTaxonomy) and ABSOLUTE.match(rule.file):
            yield rule.file
    for model in policy.privacy:
        if isinstance(model, PopulationModel):
            if ABSOLUTE.match(model.population):
                yield model.population
            else:
                yield from (path for _, path in QUOTED.findall(model.population))


def _named(value: Any, paths: list[str]) -> Any:
    match value:
        case str():
            for path in paths:
                value = value.replace(path, _name(path))
            return value
        case Mapping():
            return {key: _named(each, paths) for key, each in value.items()}
        case list() | tuple():
            return [_named(each, paths) for each in value]
        case _:
            return value


def _name(path: str) -> str:
    return re.split(r"[/\\]", path.rstrip("/\\"))[-1] or path


def _sha256(path: str) -> str | None:
    try:
        with Path(path.removeprefix("file:")).expanduser().open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError, RuntimeError):
        return None  # a glob, a folder, or no file of this machine
