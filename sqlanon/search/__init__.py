"""Which nodes to look at: generators that know no database."""

from collections.abc import Callable, Mapping

from sqlanon.model.methods.full_domain import AlgorithmName
from sqlanon.search.datafly import datafly
from sqlanon.search.exhaustive import exhaustive
from sqlanon.search.incognito import incognito
from sqlanon.search.inverse_ola import inverse_ola
from sqlanon.search.ola import ola
from sqlanon.search.optimal.search import optimal as optimal_search
from sqlanon.search.problem import Inquiry, Search, SearchOutcome, SearchProblem, SearchStopped
from sqlanon.search.samarati import samarati

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
    "SEARCHES",
    "Inquiry",
    "Search",
    "SearchOutcome",
    "SearchProblem",
    "SearchStopped",
    "datafly",
    "exhaustive",
    "incognito",
    "inverse_ola",
    "ola",
    "samarati",
]
