"""Which nodes to look at: generators that know no database."""

from sqlanon.search.exhaustive import exhaustive
from sqlanon.search.ola import ola
from sqlanon.search.optimal import optimal
from sqlanon.search.problem import Search, SearchOutcome, SearchProblem

SEARCHES = {"exhaustive": exhaustive, "ola": ola, "optimal": optimal}

__all__ = ["SEARCHES", "Search", "SearchOutcome", "SearchProblem", "exhaustive", "ola", "optimal"]
