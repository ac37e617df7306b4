"""Taxonomies whose values were read off the source of a fit: later partitions will have values that they lack."""

from __future__ import annotations

from sqlanon.binding.bound import BoundPolicy
from sqlanon.errors import TaxonomyError
from sqlanon.model.taxonomy.rules import Dates, Intervals
from sqlanon.queries.source import SourceColumn

DATES, NUMBERS = "`first` and `last`", "`minimum` and `maximum`"
VALUES = "its `values`, or name a file of values and labels"


def refuse_observed_domains(bound: BoundPolicy) -> None:
    """Refuse taxonomies whose domain was observed.

    Raises:
        TaxonomyError: names each of them and the settings that declare its domain.
    """
    columns = {found.name: found for found in bound.columns}
    observed = [name for name, domain in bound.domains.items() if domain == "observed"]
    if observed:
        raise TaxonomyError(
            "the values of these taxonomies were observed: read off the data, or changed in SQL since they were "
            "loaded. A later partition with any other value could not be published. Declare the values, or accept "
            "that with --accept-observed-domain (accept_observed_domain=True):",
            [f'"{name}": declare {_settings(bound, columns[name])}' for name in observed],
        )


def _settings(bound: BoundPolicy, found: SourceColumn) -> str:
    """The settings that declare the domain of a column: those of its rule, or else those that suit its type."""
    rule = bound.policy.taxonomies.get(found.name)
    if isinstance(rule, Dates) or (rule is None and found.traits.is_date):
        return DATES
    if isinstance(rule, Intervals) or (rule is None and found.traits.is_number):
        return NUMBERS
    return VALUES
