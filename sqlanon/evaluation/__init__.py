"""Evaluation of releases: accuracy, query errors, plans, and audits of privacy claims.

>>> from sqlanon import evaluation
>>> print(evaluation.CountQuery(column="age", width=5, where={"diagnosis": "stroke"}))
count of age by 5 where diagnosis
"""

from sqlanon import _front

__all__, __getattr__, __dir__ = _front(__name__, __file__)
