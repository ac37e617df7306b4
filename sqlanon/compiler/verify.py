"""Measuring a table as it is: the public macros, expanded over it."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.compiler.macros import table_call
from sqlanon.compiler.nodes import aliased, column, names, string, subquery
from sqlanon.model.policy import Policy
from sqlanon.model.privacy import PrivacyModel

MEASURE_MACROS = {
    "class_size": ("k_anonymity", "k"),
    "distinct_diversity": ("distinct_l_diversity", "l"),
    "entropy_diversity": ("entropy_l_diversity", "l"),
}


def attained(source: exp.Expr, policy: Policy, model: PrivacyModel) -> exp.Query:
    """One row, ``attained``: the measure of one privacy model over a table as it is."""
    macro, result = MEASURE_MACROS[model.measure]
    arguments = [source.copy(), names(policy.quasi_identifiers)]
    if model.sensitive is not None:
        arguments.append(string(model.sensitive))
    return exp.select(aliased(column(result), "attained")).from_(
        subquery(table_call(macro, *arguments), "anon_measured")
    )


def risks(source: exp.Expr, quasi_identifiers: tuple[str, ...]) -> dict[str, exp.Query]:
    """The measures that need no privacy model: k-anonymity, prosecutor risk, uniqueness; one row each."""
    return {
        "k_anonymity": table_call("k_anonymity", source.copy(), names(quasi_identifiers)),
        "prosecutor_risk": table_call("prosecutor_risk", source.copy(), names(quasi_identifiers)),
        "sample_uniqueness": table_call("sample_uniqueness", source.copy(), names(quasi_identifiers)),
    }
