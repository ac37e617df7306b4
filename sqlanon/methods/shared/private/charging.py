"""The account of a run of a private method: opened for its policy, and told of by whatever ends the run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlanon.errors import with_spent
from sqlanon.mechanisms.accountant import Accountant
from sqlanon.methods.shared.private.chance import Chance
from sqlanon.methods.shared.private.neighbours import private_method, unit_of
from sqlanon.model.budget import sequential_composition
from sqlanon.model.policy.policy import Policy


def accountant_of(chance: Chance, policy: Policy) -> Accountant:
    """Who charges the data set of a run for what a policy with a private method spends."""
    return Accountant(
        chance.ledger,
        dataset=chance.dataset.name,
        method=private_method(policy).name,
        policy_sha256=policy.sha256(),
        unit=unit_of(policy, chance.individual),
        sources=chance.dataset.sources,
        public=chance.dataset.public,
    )


@contextmanager
def answering(accountant: Accountant) -> Iterator[None]:
    """Have whatever ends a run tell what it was charged before."""
    try:
        yield
    except BaseException as error:
        if paid := accountant.paid:
            with_spent(error, **sequential_composition(paid).model_dump(mode="json"))
        raise
