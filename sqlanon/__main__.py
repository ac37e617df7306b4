"""``python -m sqlanon``."""

from sqlanon.cli import program

program()
