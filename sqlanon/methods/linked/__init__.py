"""Linked tables: persons and their rows, released together (Nergiz, Clifton and Nergiz 2009)."""

RUNS: dict[str, str] = {}  # a policy of several tables has a run of its own, :mod:`sqlanon.run.linked`
