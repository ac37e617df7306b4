"""What a release is worth, and whether a mechanism keeps what it claims."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlanon.evaluation.audit import Audit, Enumerable, Repeatable, audit_privacy

__all__ = ["Audit", "Enumerable", "Repeatable", "audit_privacy"]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: the command line looks in here before it needs any of it."""
    if name in __all__:
        return getattr(import_module("sqlanon.evaluation.audit"), name)
    raise AttributeError(f"module 'sqlanon.evaluation' has no attribute {name!r}")
