"""The command line: ``sqlanon``."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line and exit."""
    if sys.argv[1:] == ["--version"]:
        from sqlanon.cli.version import main as run
    else:
        from sqlanon.cli.app import main as run
    run()
