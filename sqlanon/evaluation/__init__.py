"""What a release is worth, and whether a mechanism keeps what it claims.

>>> from sqlanon import evaluation
>>> print(evaluation.CountQuery(column="age", width=5, where={"diagnosis": "stroke"}))
count of age by 5 where diagnosis
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlanon.evaluation.accuracy import Accuracy, Classification, classification
    from sqlanon.evaluation.audit import Audit, audit_privacy
    from sqlanon.evaluation.mechanisms import AuditedPolicy, Enumerable, Repeatable, repeatable
    from sqlanon.evaluation.node_chances import NodeProbability, node_probabilities
    from sqlanon.evaluation.plans import EpsilonSafePlan, PlannedSample, plan_epsilon_safe
    from sqlanon.evaluation.queries import query_answers, query_errors
    from sqlanon.evaluation.workload import AverageQuery, CountQuery, GroupQuery, stroke_queries

__all__ = [
    "Accuracy",
    "Audit",
    "AuditedPolicy",
    "AverageQuery",
    "Classification",
    "CountQuery",
    "Enumerable",
    "EpsilonSafePlan",
    "GroupQuery",
    "NodeProbability",
    "PlannedSample",
    "Repeatable",
    "audit_privacy",
    "classification",
    "node_probabilities",
    "plan_epsilon_safe",
    "query_answers",
    "query_errors",
    "repeatable",
    "stroke_queries",
]

_HOMES = {
    "accuracy": ("Accuracy", "Classification", "classification"),
    "audit": ("Audit", "audit_privacy"),
    "mechanisms": ("AuditedPolicy", "Enumerable", "Repeatable", "repeatable"),
    "node_chances": ("NodeProbability", "node_probabilities"),
    "plans": ("EpsilonSafePlan", "PlannedSample", "plan_epsilon_safe"),
    "queries": ("query_answers", "query_errors"),
    "workload": ("AverageQuery", "CountQuery", "GroupQuery", "stroke_queries"),
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, as ``sqlanon`` itself does."""
    for home, public in _HOMES.items():
        if name in public:
            value: object = getattr(import_module(f"sqlanon.evaluation.{home}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'sqlanon.evaluation' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
