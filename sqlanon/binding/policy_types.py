"""The types of columns that a private method reads and publishes: those of its policy, where rows would decide them.

One cell of a CSV file, or a missing value of a frame, makes another type of its whole column, which shows in what is
released whatever the noise is. So the columns of such sources are texts, numbers in bins are whole if all edges of
these are, and lines of CSV files have one form.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlanon.binding.coding import coded
from sqlanon.binding.written_values import refuse_texts
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.model.methods.synthetic import Synthetic
from sqlanon.model.names import folded
from sqlanon.model.policy.policy import Policy
from sqlanon.queries.source import SourceColumn
from sqlanon.queries.tables import typed as queries

FORM = (
    "private methods read CSV in one form, since another would be guessed from its rows: commas (tabs in .tsv) between "
    'cells, double quotes around them, and names in the first line; say by [csv] what is otherwise, such as delim = ";"'
)


def unguessed(engine: Engine, source: ResolvedSource, policy: Policy) -> tuple[ResolvedSource, Sequence[SourceColumn]]:
    """A source that fits a policy, and its columns; for a private method, nothing is guessed of lines of CSV files.

    Raises:
        PolicyError: columns and roles do not match one to one, a private method reads a query that guesses types, or
            CSV files have lines of another form.
        EngineError: CSV files have other columns than the first one.
    """
    found = engine.unguessed(source) if policy.has_private_method else source
    columns = engine.describe(found.relation)
    try:
        policy.check_columns([column.name for column in columns], source.description)
    except PolicyError as error:
        if found.relation is source.relation:
            raise
        raise PolicyError(f"{error.heading.removesuffix(':')}, as {FORM}:", error.problems) from None
    return found, columns


def as_policy_says(engine: Engine, source: ResolvedSource, policy: Policy) -> ResolvedSource:
    """An unguessed source with the numbers coded that a policy bounds; for a private method in types of the policy.

    Raises:
        PolicyError: a private method reads texts in place of numbers; or as :func:`sqlanon.binding.coding.coded`.
    """
    if not (policy.has_private_method and source.follows_rows):
        return coded(engine, source, policy)
    numeric = policy.method.without_taxonomy
    columns = engine.describe(source.relation)
    numbers = [*_named(columns, (*numeric, *policy.coded_columns))]
    refuse_texts(engine, source, [found.name for found in numbers if found.traits.is_text])
    read = {found.name: queries.number_of(found.name) for found in numbers}
    source = coded(engine, replace(source, relation=queries.typed(source.relation, read)), policy)
    columns = engine.describe(source.relation)
    whole = [found for found in _named(columns, numeric) if _is_whole(policy, found.name)]
    texts = _named(columns, {*policy.quasi_identifiers, *policy.sensitive} - {*numeric})
    read = {found.name: queries.number_of(found.name, is_whole=True) for found in whole}
    read |= {found.name: queries.text_of(found) for found in texts}
    return replace(source, relation=queries.typed(source.relation, read))


def _named(columns: Sequence[SourceColumn], names: Iterable[str]) -> list[SourceColumn]:
    """The columns of some names, in whatever case."""
    wanted = {*map(folded, names)}
    return [found for found in columns if folded(found.name) in wanted]


def _is_whole(policy: Policy, name: str) -> bool:
    """Whether the numbers of a column are published as whole ones: its step is, or else all edges of its bins are."""
    if not isinstance(policy.method, Synthetic):
        return False
    own = next(each for each in policy.method.numeric if folded(each) == folded(name))
    step = policy.method.step.get(own)
    return all(edge % 1 == 0 for edge in (policy.method.numeric[own].edges if step is None else (step,)))
