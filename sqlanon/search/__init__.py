"""Which nodes to look at: generators that know no database."""

from sqlanon.search.exhaustive import exhaustive
from sqlanon.search.ola import ola
from sqlanon.search.optimal import optimal
from sqlanon.search.problem import Search, SearchOutcome, SearchProblem, SearchStopped

SEARCHES = {"exhaustive": exhaustive, "ola": ola, "optimal": optimal}

__all__ = ["SEARCHES", "Search", "SearchOutcome", "SearchProblem", "SearchStopped", "exhaustive", "ola", "optimal"]
