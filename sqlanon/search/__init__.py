"""Which nodes to look at: generators that know no database."""

from sqlanon.search.exhaustive import exhaustive
from sqlanon.search.optimal import optimal
from sqlanon.search.problem import Search, SearchOutcome, SearchProblem

SEARCHES = {"exhaustive": exhaustive, "optimal": optimal}

__all__ = ["SEARCHES", "Search", "SearchOutcome", "SearchProblem", "exhaustive", "optimal"]
