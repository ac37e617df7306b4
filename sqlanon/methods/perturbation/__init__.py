"""Perturbation: published values are changed by draws or by groups before a method reads the rows.

A kind is a :class:`~sqlanon.methods.perturbation.change.Change` in a file of its own, and a line of
:data:`~sqlanon.methods.perturbation.perturbed_rows.KINDS`.
"""

RUNS: dict[str, str] = {}  # it changes the source of any method that publishes rows
