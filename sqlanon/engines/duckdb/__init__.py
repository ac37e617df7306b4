"""The only package that imports DuckDB, and that knows its catalog, its types and its errors.

The rest of sqlanon sees the names in ``__init__.pyi``.
"""

from sqlanon import _front

__all__, __getattr__, __dir__ = _front(__name__, __file__)
