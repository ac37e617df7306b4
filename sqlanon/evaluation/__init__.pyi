"""The public names of evaluations, and where each is defined."""

from sqlanon.evaluation.accuracy import (
    Accuracy as Accuracy,
    Classification as Classification,
    classification as classification,
)
from sqlanon.audits.audit import (
    Audit as Audit,
    audit_privacy as audit_privacy,
)
from sqlanon.audits.exact_audit import (
    NodeProbability as NodeProbability,
    node_probabilities as node_probabilities,
)
from sqlanon.audits.mechanisms import (
    AuditedPolicy as AuditedPolicy,
    Enumerable as Enumerable,
    Repeatable as Repeatable,
    repeatable as repeatable,
)
from sqlanon.evaluation.plans import (
    EpsilonSafePlan as EpsilonSafePlan,
    PlannedSample as PlannedSample,
    plan_epsilon_safe as plan_epsilon_safe,
)
from sqlanon.evaluation.answers import (
    compared_answers as compared_answers,
    query_answers as query_answers,
    query_errors as query_errors,
    stroke_queries as stroke_queries,
)
from sqlanon.model.methods.synthetic import (
    AverageQuery as AverageQuery,
    CountQuery as CountQuery,
    GroupQuery as GroupQuery,
)
