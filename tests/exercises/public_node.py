"""Exercise: a method of one's own. Its settings, what it does with them, and one line that registers it.

It publishes at a node that the policy names, and searches for nothing: which node it is reveals nothing of the data.
What differs from full-domain generalization is where the node comes from; all else is that method's.
"""

from collections.abc import Iterable
from typing import Any, Literal

import sqlanon as sa
from sqlanon.binding.bound import BoundPolicy
from sqlanon.methods.full_domain.full_domain_run import FullDomainRun, given_levels
from sqlanon.model.lattice import Levels
from sqlanon.model.methods.settings import MethodSettings
from sqlanon.model.policy_value import Level, Share


class PublicNode(MethodSettings):
    """The node of the policy, if its classes meet the privacy models within the suppression limit."""

    model: Literal["public-node"] = "public-node"
    node: dict[str, Level]
    suppression_limit: Share = 0.0

    def misfits(self, policy: sa.Policy) -> Iterable[str]:
        if self.node.keys() != set(policy.quasi_identifiers):
            yield "method.node must give every quasi-identifier its level, and nothing else"


class PublicNodeRun(FullDomainRun):
    """Full-domain generalization at the node that the policy names."""

    takes_node = False
    instead_of_node = "the policy names one"

    def given(self, bound: BoundPolicy) -> Levels:
        method: Any = bound.policy.method
        return given_levels(bound, method.node)


REGISTRATION = {"kind": PublicNode, "method": f"{__name__}:{PublicNodeRun.__name__}"}
"""The arguments of `sa.register`: `sa.register(**REGISTRATION)` is the one line of whoever uses it."""
