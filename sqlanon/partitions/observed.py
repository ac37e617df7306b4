"""Taxonomies that later partitions will not match: of values read off the source, or of texts in its time zone."""

from __future__ import annotations

from sqlanon.binding.bound import BoundPolicy
from sqlanon.errors import PolicyError, TaxonomyError
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


def refuse_zoned_columns(bound: BoundPolicy) -> None:
    """Refuse taxonomies of columns whose texts depend on the time zone of the session.

    Raises:
        PolicyError: names each of them: where an apply runs in another time zone, it would find other values.
    """
    zoned = [found for found in bound.columns if found.name in bound.all_shapes and found.traits.depends_on_time_zone]
    if zoned:
        raise PolicyError(
            "the texts of these columns depend on the time zone of the session, so that a partition that is read in "
            "another would have other values than the fit; cast them in a view, for example by "
            "CAST(timezone('UTC', seen_at) AS DATE):",
            [f'"{found.name}" ({found.type})' for found in zoned],
        )


def _settings(bound: BoundPolicy, found: SourceColumn) -> str:
    """The settings that declare the domain of a column: those of its rule, or else those that suit its type."""
    rule = bound.policy.taxonomies.get(found.name)
    if isinstance(rule, Dates) or (rule is None and found.traits.is_date):
        return DATES
    if isinstance(rule, Intervals) or (rule is None and found.traits.is_number):
        return NUMBERS
    return VALUES
