"""Reference pages, which are made of the installed version: commands, policies, macros, and Python."""

from importlib import import_module

GENERATED = ("commands", "policy", "macros", "python")
"""The names of the pages, and of the modules that make them."""


def generated(name: str) -> str:
    """A page as Markdown."""
    page: str = import_module(f"{__name__}.{name}").page()
    return page
