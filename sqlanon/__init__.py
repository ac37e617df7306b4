"""sqlanon: anonymize tables where they already live, in SQL inside DuckDB.

>>> import sqlanon as sa
>>> session = sa.connect(":memory:")
"""

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path


def _front(package: str, file: str) -> tuple[list[str], Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__all__``, ``__getattr__`` and ``__dir__`` of a package, whose names the stub beside a file imports.

    Each is imported on first use, so that ``sqlanon --help`` needs neither DuckDB nor pydantic.
    """
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    homes = {alias.name: node.module or "" for node in imports for alias in node.names}
    names = sorted(homes, key=lambda name: (not name.isupper(), name))

    def member(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        value = import_module(f"{home}.{name}") if home == package else getattr(import_module(home), name)
        vars(sys.modules[package])[name] = value
        return value

    return names, member, lambda: names


__all__, __getattr__, __dir__ = _front(__name__, __file__)
