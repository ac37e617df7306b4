"""Where a run of a private method takes chance from, and who pays for it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.engines.base import Engine, ResolvedSource
from sqlanon.ledger.datasets import DataSet, charged
from sqlanon.ledger.opening import open_ledger
from sqlanon.mechanisms.accountant import Ledger
from sqlanon.mechanisms.opendp import OpenDPSource
from sqlanon.mechanisms.seeded import SeededSource
from sqlanon.mechanisms.source import RandomSource
from sqlanon.methods.base import Request
from sqlanon.methods.private.neighbours import private_method
from sqlanon.model.policy.policy import Policy


@dataclass(frozen=True)
class Chance:
    """Where a run takes chance from, and who pays: no ledger for what is not private.

    Attributes:
        source: where draws come from.
        is_private: whether that is the operating system's randomness as OpenDP draws it; no other is trusted.
        ledger: what is charged.
        dataset: whose account it is, and what is read of it.
        is_query: whether the source is a query or a view, of which nobody but its author knows what its rows stand for.
    """

    source: RandomSource
    is_private: bool
    ledger: Ledger | None
    dataset: DataSet
    is_query: bool

    @classmethod
    def found(cls, engine: Engine, source: ResolvedSource, policy: Policy, request: Request) -> Chance:
        """The operating system's randomness if no other is given, and the ledger if what is drawn claims to be private.

        Raises:
            PolicyError: OpenDP is not installed, or the source needs a name as a data set, or has another one, or one
                that nobody has declared; or what it reads belongs to several data sets, or cannot be seen.
            EngineError: there is no ledger that outlives the session, or another one is that of the warehouse.
        """
        is_query = source.dataset is None
        if request.rehearsed:
            return cls(SeededSource(0), False, None, DataSet(""), is_query)
        chosen = OpenDPSource() if request.random_source is None else request.random_source
        is_private = type(chosen) is OpenDPSource
        if not is_private or not private_method(policy).claims_privacy:
            return cls(chosen, is_private, None, DataSet(""), is_query)
        opened = open_ledger(engine, request.ledger)
        found = charged(engine, opened, source, request.dataset, request.public)
        return cls(chosen, is_private, opened, found, is_query)
