"""Searches for a node, as generators that don't depend on a database."""

from collections.abc import Callable, Mapping

from sqlanon.model.methods.full_domain import AlgorithmName
from sqlanon.search.optimal import optimal as optimal_search
from sqlanon.search.problem import (
    BATCH_SIZE,
    Answers,
    Inquiry,
    Proof,
    Search,
    SearchOutcome,
    SearchProblem,
    SearchStopped,
    batches,
    margin,
)
from sqlanon.search.published_searches import datafly, exhaustive, incognito, inverse_ola, ola, samarati

SEARCHES: Mapping[AlgorithmName, Callable[[SearchProblem], Search]] = {
    "optimal": optimal_search,
    "exhaustive": exhaustive,
    "ola": ola,
    "inverse-ola": inverse_ola,
    "datafly": datafly,
    "samarati": samarati,
    "incognito": incognito,
}

__all__ = [
    "BATCH_SIZE",
    "SEARCHES",
    "Answers",
    "Inquiry",
    "Proof",
    "Search",
    "SearchOutcome",
    "SearchProblem",
    "SearchStopped",
    "batches",
    "margin",
]
