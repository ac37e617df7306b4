"""The command line: ``sqlanon``."""

from sqlanon.cli.app import main

__all__ = ["main"]
