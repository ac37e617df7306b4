"""A room is entered by its front, the modules that others import; all others are its own, and may change alone.

Satellites look inside of rooms, as tests do. Rooms without an entry have hardly a module that no other room imports:
they hold values and queries that all layers share. A contract in ``pyproject.toml`` holds the front of
``engines/duckdb``.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator

from sqlanon.satellites import SATELLITES
from tests.conftest import ROOT

FRONTS = {
    "api": "connection linked_calls partitions session session_ledger session_releases session_taxonomies",
    "chance": "accountant exact opendp random_source scales",
    "evaluation": "plans results",
    "joint": "beside persons",
    "methods": "base points stages syntactic full_domain.full_domain_run full_domain.relaxation linked.choices "
    "linked.encoded linked.node_counts linked.remarks linked.written_rows local.class_labels "
    "local.least_loss local.local_classes local.local_run local.local_table perturbation.perturbed_rows",
    "nodes": "choice counting roll_up table",
    "partitions": "apply fit sidecar",
    "run": "contract demo earlier explain exploration explorer lattice_table linked linked_reports pipeline "
    "preparations recorded release_reports row_samples reported_release",
    "search": "__init__ arrays boxes",
    "suggestion": "column_profiles linked_suggestion safe_harbor suggest suggest_linked suggested_taxonomies "
    "suggestion",
    "verification": "found_linked found_release linked measure sample_risks utility verify verify_linked",
}


def modules() -> dict[str, ast.Module]:
    """The modules of the package, by their path without ``.py``."""
    folder = ROOT / "sqlanon"
    return {
        path.relative_to(folder).with_suffix("").as_posix().replace("/", "."): ast.parse(path.read_text())
        for path in folder.rglob("*.py")
    }


def imported(tree: ast.Module, known: dict[str, ast.Module]) -> Iterator[str]:
    """The modules that a module imports something of."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sqlanon."):
            module = (node.module or "").removeprefix("sqlanon.")
            for each in node.names:
                names = (f"{module}.{each.name}", module, f"{module}.__init__")
                yield from (name for name in names[: 1 if names[0] in known else 3] if name in known)


def test_others_import_the_front() -> None:
    found, known = defaultdict(set), modules()
    for name, tree in known.items():
        for module in imported(tree, known):
            room, _, inside = module.partition(".")
            if name.partition(".")[0] not in (room, *SATELLITES):
                found[room].add(inside)
    assert {room: sorted(found[room]) for room in FRONTS} == {
        room: sorted(front.split()) for room, front in FRONTS.items()
    }
