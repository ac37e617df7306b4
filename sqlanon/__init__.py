"""sqlanon: anonymize tables where they already live, in SQL inside DuckDB.

>>> import sqlanon as sa
>>> session = sa.connect(":memory:")
"""

import ast
from importlib import import_module
from pathlib import Path


def _homes() -> dict[str, str]:
    """The public names and their modules, as the stub beside this file has them."""
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module or "" for node in imports for alias in node.names}


_HOMES = _homes()

__all__ = sorted(_HOMES, key=lambda name: (not name.isupper(), name))


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: ``sqlanon --help`` needs neither DuckDB nor pydantic."""
    if name not in _HOMES:
        raise AttributeError(f"module 'sqlanon' has no attribute {name!r}")
    home = _HOMES[name]
    value = import_module(f"{home}.{name}") if home == __name__ else getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
