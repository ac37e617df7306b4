"""Where a run of a private method takes chance from, and who pays for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlanon.engines.base import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.ledger.datasets import DataSet, charged
from sqlanon.ledger.opening import open_ledger
from sqlanon.mechanisms.accountant import Ledger
from sqlanon.mechanisms.opendp import OpenDPSource
from sqlanon.mechanisms.seeded import SeededSource
from sqlanon.mechanisms.source import RandomSource
from sqlanon.methods.base import Request
from sqlanon.methods.shared.private.neighbours import private_method
from sqlanon.model.datasets import KnownSource
from sqlanon.model.policy.policy import Policy


@dataclass(frozen=True)
class Chance:
    """Where a run takes chance from, and who pays: no ledger for what is not private.

    Attributes:
        source: where draws come from.
        is_private: whether that is the operating system's randomness as OpenDP draws it; no other is trusted.
        ledger: what is charged.
        dataset: whose account it is, and what is read of it.
        is_query: whether the source is a query or a view; only its author knows what its rows stand for.
        individual: the column of the data set that identifies the owner of a row, by whatever name the source has it;
            None if the unit of privacy is a row, or nothing is charged.
    """

    source: RandomSource
    is_private: bool
    ledger: Ledger | None
    dataset: DataSet
    is_query: bool
    individual: str | None = None

    @property
    def opened_account(self) -> str | None:
        """The account that the run opens in the ledger, None if it had a row before or none is charged."""
        return self.dataset.name if self.ledger is not None and self.dataset.is_new else None

    @classmethod
    def found(cls, engine: Engine, source: ResolvedSource, policy: Policy, request: Request) -> Chance:
        """The operating system's randomness if no other is given, and the ledger if what is drawn claims to be private.

        Raises:
            PolicyError: OpenDP is not installed, or the source needs a name as a data set, or has another one, or one
                that nobody has declared; or what it reads belongs to several data sets, or cannot be seen; or its
                individuals cannot be traced to a column of the data set.
            EngineError: there is no ledger that outlives the session, or another one is that of the warehouse.
        """
        is_query = source.dataset is None
        if request.is_dry_run:
            return cls(SeededSource(0), False, None, DataSet(""), is_query)
        chosen = OpenDPSource() if request.random_source is None else request.random_source
        is_private = type(chosen) is OpenDPSource
        if not is_private or not private_method(policy).claims_privacy:
            return cls(chosen, is_private, None, DataSet(""), is_query)
        opened = open_ledger(engine, request.ledger, must_be_capped=request.must_be_capped)
        found = charged(engine, opened, source, request.dataset, request.public)
        return cls(chosen, is_private, opened, found, is_query, individual_of(engine, source, policy, found))


def individual_of(engine: Engine, source: ResolvedSource, policy: Policy, dataset: DataSet) -> str | None:
    """The column of a data set that identifies the owner of a row, None if the policy knows rows alone.

    A query could redefine it, so that what is charged for all rows of one is about some of them, or of many together.

    Raises:
        PolicyError: it is not known to be a column of the tables or files that are charged.
    """
    if policy.individual is None:
        return None
    origin = engine.traced(source, policy.individual)
    public = {each.name for each in dataset.public}
    is_public = origin is not None and (origin.tables & public or (not origin.tables and _has_files(dataset.public)))
    if origin is None or is_public:
        raise PolicyError(
            f'"{policy.individual}" of {source.description} is not known to be a plain column of what is charged, so '
            "nobody can say whose rows are counted: name it, or rename it with AS, and make it of nothing else"
        )
    return origin.name


def _has_files(sources: Iterable[KnownSource]) -> bool:
    return any(each.is_file for each in sources)
