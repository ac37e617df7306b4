"""Exercise: a method of one's own. Its settings, what it does with them, and one line that registers it.

It publishes at a node that the policy names, and searches for nothing: which node it is tells nobody anything of the
data. What differs from full-domain generalization is where the node comes from; all else is that method's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import sqlanon as sa
from sqlanon.engines.base import Engine, ResolvedSource
from sqlanon.methods.base import Prepared, Request
from sqlanon.methods.full_domain.method import FullDomain
from sqlanon.model.base import Level
from sqlanon.model.policy.settings import MethodSettings


class PublicNode(MethodSettings):
    """The node of the policy, if its classes meet the privacy models within the suppression limit."""

    model: Literal["public-node"] = "public-node"
    node: dict[str, Level]

    def misfits(self, policy: sa.Policy) -> Iterable[str]:
        if self.node.keys() != set(policy.quasi_identifiers):
            yield "method.node must give every quasi-identifier its level, and nothing else"


class AtPublicNode(FullDomain):
    """Full-domain generalization at the node that the policy names."""

    def prepare(self, engine: Engine, source: ResolvedSource, policy: sa.Policy, request: Request) -> Prepared:
        if request.node is not None:
            raise sa.PolicyError("the policy names the node: give no other")
        method: Any = policy.method
        node: Mapping[str, int] = method.node
        return super().prepare(engine, source, policy, Request(**{**vars(request), "node": node}))


REGISTRATION = {"kind": PublicNode, "method": f"{__name__}:{AtPublicNode.__name__}"}
"""What `sa.register` is to be told: `sa.register(**REGISTRATION)` is the one line of whoever uses it."""
