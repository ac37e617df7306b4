"""Linked tables: persons and their rows, released together (Nergiz, Clifton and Nergiz 2009).

A model of knowledge is a :class:`~sqlanon.methods.linked.node_counts.LinkedCounter` in a file of its own, and a line of
:func:`sqlanon.methods.linked.choices.counter_of`.
"""

RUNS: dict[str, str] = {}  # a policy of several tables has a run of its own, :mod:`sqlanon.run.linked`
