"""Which method a policy asks for: found by name, and imported when it is first asked for."""

from __future__ import annotations

from importlib import import_module

from sqlanon.errors import PolicyError
from sqlanon.methods.base import Run
from sqlanon.model.policy.policy import Policy

METHODS = {
    "full-domain": "sqlanon.methods.full_domain.method:FullDomainRun",
    "ipa": "sqlanon.methods.noisy_node.ipa:NoisyCountsRun",
    "histogram": "sqlanon.methods.noisy_node.ipa:NoisyCountsRun",
    "h-ceiling": "sqlanon.methods.h_ceiling.method:HCeilingRun",
    "diffgen": "sqlanon.methods.cuts.diffgen.method:DiffGenRun",
    "epsilon-safe": "sqlanon.methods.noisy_node.epsilon_safe:EpsilonSafeRun",
    "relocation": "sqlanon.methods.relocation.method:RelocationRun",
    "top-down-specialization": "sqlanon.methods.cuts.top_down.method:TopDownRun",
}
"""The module and the class of each method, by name."""


def add_method(name: str, place: str) -> None:
    """Have policies find a method.

    Args:
        name: the name of the settings that ask for it.
        place: the module and the class, as in :data:`METHODS`.

    Raises:
        PolicyError: this package has a method of that name.
    """
    if METHODS.get(name, place) != place:
        raise PolicyError(f'there is a method "{name}" already, in {METHODS[name]}')
    METHODS[name] = place


def remove_method(name: str) -> None:
    """Forget a method that was added."""
    METHODS.pop(name, None)


def method_of(policy: Policy) -> type[Run]:
    """The method of a policy: the class of its runs."""
    module, _, name = METHODS[policy.method.name].partition(":")
    method: type[Run] = getattr(import_module(module), name)
    return method
