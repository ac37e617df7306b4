"""Worked examples of what is added to sqlanon from outside: each registers itself, and edits nothing."""
