"""Where a release comes from, as JSON that travels with it: hashes, counts and thresholds, never a cell value."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from sqlanon.compiler.bind import BoundPolicy
from sqlanon.compiler.macros import sql_folder
from sqlanon.engines.base import NOTE_KEY
from sqlanon.model.lattice import Levels
from sqlanon.model.release import RowCounts


def provenance(
    bound: BoundPolicy,
    levels: Levels,
    attained: list[float],
    rows: RowCounts,
    fit: Mapping[str, object] | None = None,
) -> str:
    """The provenance of a release as one line of JSON under the key ``sqlanon``.

    ``fit`` tells of a partition what it was published with; what is attained is then that of all partitions.
    """
    policy = bound.policy
    asked = [(model, each.measure.name, each.required) for model in policy.privacy for each in model.bounds]
    document: dict[str, object] = {
        "version": installed_version(),
        "code_sha256": code_sha256(),
        "policy": policy.model_dump(mode="json"),
        "policy_sha256": policy.sha256(),
        "taxonomy_sha256": {
            name: shape.sha256 for name, shape in zip(policy.quasi_identifiers, bound.shapes, strict=True)
        },
        "node": bound.lattice.named(levels),
        "privacy": [
            {"model": str(model), "measure": measure, "required": required, "attained": value}
            for (model, measure, required), value in zip(asked, attained, strict=True)
        ],
        "rows": rows.model_dump(),
    }
    if fit is not None:
        document["fit"] = fit
    return json.dumps({NOTE_KEY: document}, sort_keys=True)


def installed_version() -> str:
    """The version of this package, ``unknown`` if it is run without being installed."""
    try:
        return version("sqlanon")
    except PackageNotFoundError:
        return "unknown"


@cache
def code_sha256() -> str:
    """A hash of every SQL and Python file of this package."""
    digest = hashlib.sha256()
    for folder, pattern in ((sql_folder(), "**/*.sql"), (Path(__file__).parents[1], "**/*.py")):
        for path in sorted(folder.glob(pattern)):
            digest.update(path.relative_to(folder).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()
