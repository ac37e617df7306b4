"""Which method a policy asks for: found by name, and imported when it is first asked for."""

from __future__ import annotations

from importlib import import_module

from sqlanon.errors import PolicyError
from sqlanon.methods.base import Method
from sqlanon.model.policy.policy import Policy

METHODS = {
    "full-domain": "sqlanon.methods.full_domain.method:FullDomain",
    "ipa": "sqlanon.methods.noisy_node.ipa.method:NoisyCountsRelease",
    "histogram": "sqlanon.methods.noisy_node.ipa.method:NoisyCountsRelease",
    "h-ceiling": "sqlanon.methods.h_ceiling.method:Ceiling",
    "diffgen": "sqlanon.methods.cuts.diffgen.method:DrawnGeneralization",
    "epsilon-safe": "sqlanon.methods.noisy_node.epsilon_safe.method:EpsilonSafeRelease",
    "relocation": "sqlanon.methods.relocation.method:Relocated",
    "top-down-specialization": "sqlanon.methods.cuts.top_down.method:FromTheTop",
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


def method_of(policy: Policy) -> Method:
    """The method of a policy."""
    module, _, name = METHODS[policy.method.name].partition(":")
    method: Method = getattr(import_module(module), name)()
    return method
