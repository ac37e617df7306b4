"""Methods of a session for tables before, and beside, anonymization."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sqlanon.api.opened import Part
from sqlanon.engines.locks import exclusive
from sqlanon.methods.stages import Progress, silent
from sqlanon.model.destination import CsvFormulas, Replace, destination, replacing, with_csv_formulas

if TYPE_CHECKING:
    from sqlanon.engines.relations import Source
    from sqlanon.model.policy.policy import GivenPolicy
    from sqlanon.model.prepared_tables import Flattened, Generalized
    from sqlanon.model.release.profiles import SourceProfile
    from sqlanon.model.release.sample_risk import SampleRisk
    from sqlanon.model.release.utility import Utility
    from sqlanon.suggestion.linked_suggestion import LinkedSuggestion
    from sqlanon.suggestion.suggestion import Profile, Suggestion


class Preparations(Part):
    """Methods of a session that suggest a policy, or write tables as sensitive as their sources."""

    @exclusive
    def suggest(
        self,
        source: Source,
        *,
        k: int | None = None,
        profile: Profile = "research",
        codebook: Mapping[str, str] | str | Path | None = None,
        clean: bool = False,
        progress: Progress = silent,
    ) -> Suggestion:
        """Suggest a policy for a source: roles of columns with reasons, taxonomies, and measures of identification.

        Rules derive roles from the forms of values, names, descriptions (comments on the columns of a table, a
        codebook) and counts. A column without evidence is dropped until a person decides. ``write("policy.toml")``
        writes the policy, which runs as it is.

        Args:
            source: the table to anonymize.
            k: how many rows look alike at least; by default the k of the profile.
            profile: who gets the data: ``"research"`` for recipients who have signed an agreement (k = 5),
                ``"public"`` for anybody (k = 10, sensitive columns generalized as well), ``"hipaa-safe-harbor"`` for
                45 CFR 164.514(b)(2).
            codebook: descriptions of columns, by name; or the path of a CSV file with ``column`` (or ``variable``) and
                ``description`` (or ``label``).
            clean: make the policy for a query that cleans the values of the source, if some need it.
            progress: called with an :class:`sqlanon.Event` as in :meth:`anonymize`, in the stages ``read``,
                ``suggest`` and ``try``. An exception in it ends the call.

        Raises:
            PolicyError: the codebook cannot be read, or rows are not in the database.
            EngineError: the source does not exist, or cannot be read.
        """
        from sqlanon.methods.stages import Stages
        from sqlanon.run.pipeline import tried
        from sqlanon.suggestion.suggest import SuggestionRequest, suggest

        asked = SuggestionRequest(profile, k, codebook, clean, partial(tried, self._engine))
        return suggest(self._engine, self._opened.resolve, source, asked, Stages(self._opened.callback(progress)))

    @exclusive
    def suggest_linked(
        self,
        sources: Mapping[str, Source | None] | Sequence[str] | None = None,
        *,
        k: int | None = None,
        profile: Profile = "research",
        progress: Progress = silent,
    ) -> LinkedSuggestion:
        """Suggest a policy for linked tables: how they hang together, roles of columns with reasons, and taxonomies.

        Declared foreign keys and columns that have the keys of other tables link them. The table of persons is the one
        whose name says so, or from which most tables hang. ``write("policy.toml")`` writes the policy.

        Args:
            sources: the tables by name, or their names; by default all of the warehouse.
            k: how many persons look alike at least, as in :meth:`suggest`.
            profile: who gets the data, as in :meth:`suggest`.
            progress: as in :meth:`suggest`, in the stage ``suggest``.

        Raises:
            PolicyError: no table has the keys of another one, or rows are not in the database.
            EngineError: a source does not exist, or cannot be read.
        """
        from sqlanon.methods.stages import Stages
        from sqlanon.run.pipeline import tried
        from sqlanon.suggestion.suggest import SuggestionRequest
        from sqlanon.suggestion.suggest_linked import suggest_linked

        names = [found.table.name for found in self._engine.own_tables()] if sources is None else sources
        given = names if isinstance(names, Mapping) else dict.fromkeys(names)
        read = {name: self._opened.resolve(name if source is None else source) for name, source in given.items()}
        asked = SuggestionRequest(profile, k, None, False, partial(tried, self._engine))
        declared = [*self._engine.foreign_keys()]
        return suggest_linked(self._engine, read, declared, asked, Stages(self._opened.callback(progress)))

    @exclusive
    def columns(self, source: Source) -> dict[str, str]:
        """Return the columns of a source, in order, with their types as DuckDB spells them.

        Raises:
            EngineError: the source does not exist, or cannot be read.
        """
        return {column.name: column.type for column in self._engine.describe(self._opened.resolve(source).relation)}

    @exclusive
    def profile(
        self,
        source: Source,
        columns: Sequence[str] | None = None,
        *,
        least: int = 5,
        hidden: Collection[str] = (),
    ) -> SourceProfile:
        """Return a profile of each column: values, missing ones, a histogram or frequencies, and frequent values.

        Args:
            source: the table.
            columns: the columns to profile, in this order; by default all. A CSV file or a query is read once per call.
            least: values of fewer rows are rare, and not shown.
            hidden: columns that show no value, only counts.

        Raises:
            PolicyError: a column is not there, or ``least`` is below 1.
            EngineError: the source does not exist, or cannot be read.
        """
        from sqlanon.suggestion.column_profiles import profile

        return profile(self._engine, self._opened.resolve(source), columns, least=least, hidden=hidden)

    @exclusive
    def risk(
        self,
        source: Source,
        keys: Sequence[str] = (),
        *,
        policy: GivenPolicy | None = None,
        weight: str | None = None,
        household: str | None = None,
        population: float | None = None,
        at_most: float | None = None,
        max_size: int | None = None,
        nulls: str = "value",
    ) -> SampleRisk:
        """Estimate what a sample, such as a survey, gives away of its population: rows that an attacker finds.

        The estimates are a bracket, the individual risk of Benedetti and Franconi (1998) and a model of independent
        keys, and no bounds.

        Args:
            source: the sample, a row per person.
            keys: the columns that an attacker knows of everybody; by default the quasi-identifiers of the policy.
            policy: the policy whose quasi-identifiers, and whose ``row_weight``, are taken where none are named.
            weight: the column with the number of people that a row stands for.
            household: the column of households, which are found by single members, and by all members together.
            population: how many people there are; without weights each row stands for population / rows.
            at_most: the largest acceptable share of rows that are found, by the higher estimate, from 0 to 1.
            max_size: the largest sets of keys that may single out a row; by default as large as 4,096 sets allow.
            nulls: ``value`` if NULL in a key is a value like any other; ``any`` if rows with NULL may be of anybody
                whom their other keys fit, which is at most 64 patterns of NULLs, and are special by other keys alone.

        Raises:
            PolicyError: lists what is wrong with columns, weights or numbers, with counts of rows.
            EngineError: the source does not exist, or cannot be read.
        """
        from sqlanon.verification.sample_risks import SampleQuestion, sample_risk

        if policy is not None:
            read = self._opened.checked(policy, "risk")
            keys, weight = keys or read.quasi_identifiers, weight or read.row_weight
        keys = [keys] if isinstance(keys, str) else keys or ()
        asked = SampleQuestion(keys, weight, household, population, at_most, max_size, nulls)
        return sample_risk(self._engine, self._opened.resolve(source), asked)

    @exclusive
    def compare(
        self,
        source: Source,
        release: Source,
        columns: Sequence[str] = (),
        *,
        key: str | None = None,
        weight: str | None = None,
        formula: str | None = None,
    ) -> Utility:
        """Measure what a release keeps of its source: numbers, tables and models of both, beside each other.

        Means, standard deviations, totals and correlations with their differences in standard errors, quantiles,
        tables of one to three columns, eigenvalues and inverses of correlations, and the propensity score are always
        there. Columns that show labels in place of numbers, or have numbers beyond 1e100, are left out, with a note.
        The figures are for the custodian: a private release spends nothing on them, and they are not covered by its
        guarantee.

        Args:
            source: the table that the release was made from.
            release: the release, or any table with columns of the same names.
            columns: the columns to compare; by default all that both tables have.
            key: a column that identifies rows in both tables: losses by row, and rows that are close.
            weight: the column with the number of people that a row stands for, in both tables.
            formula: a regression whose coefficients are compared, such as ``income ~ age + sex``: a number, and terms
                that are numbers or have at most 30 values. Names with other signs are in double quotes.

        Raises:
            PolicyError: lists what is wrong with columns, the formula, keys, weights or numbers, with counts of rows.
            EngineError: a table does not exist, or cannot be read.
        """
        from sqlanon.verification.utility import UtilityQuestion, compared

        columns = [columns] if isinstance(columns, str) else columns or ()
        asked = UtilityQuestion(columns, key, weight, formula)
        return compared(self._engine, self._opened.resolve(source), self._opened.resolve(release), asked)

    @exclusive
    def flatten(
        self,
        source: Source,
        into: str | Path,
        *,
        individual: str,
        event: str | Sequence[str],
        order: str | Sequence[str],
        first: int,
        keep: str | Sequence[str] = (),
        count: str | None = None,
        csv_formulas: CsvFormulas | None = None,
        replace: Replace = False,
    ) -> Flattened:
        """Turn events into a table with a row per individual, with first events as columns (Mazzone 2019, section 4.2).

        The events become ``<event>_1`` to ``<event>_<first>``, NULL if an individual has fewer, so that a policy can
        take their sequence as quasi-identifiers. The result is as sensitive as the source: nothing is anonymized yet.
        NULL is an event, too. Simultaneous events are ordered by text, and NULLs in the order come last.

        Args:
            source: the events, a row each.
            into: the target.
            individual: the column that identifies the individual of an event.
            event: the column that becomes columns, or several, whose values of one row stay together.
            order: the column by which the events of an individual are ordered, or several, the most significant first.
            first: how many events of an individual become columns, at least 1.
            keep: columns that are the same in all rows of an individual.
            count: the name of a new column for the number of all events of an individual.
            csv_formulas: as in :meth:`anonymize`, with the note in the ``notes`` of the result.
            replace: as in :meth:`anonymize`, except ``"changed"``.

        Returns:
            the numbers of individuals and events, and of those cut off.

        Raises:
            PolicyError: a column is missing or would occur twice, rows have no individual, or a column to keep varies;
                it gives counts.
            EngineError: the database or the file system refused a step; the target is as it was before.
        """
        from sqlanon.model.prepared_tables import Flattening
        from sqlanon.run.preparations import flatten

        flattening = Flattening(individual=individual, event=event, order=order, first=first, keep=keep, count=count)
        may_go, target = replacing(replace, detects_changes=False), with_csv_formulas(destination(into), csv_formulas)
        return flatten(self._engine, self._opened.resolve(source), flattening, target, replace=may_go)

    @exclusive
    def generalize(
        self,
        source: Source,
        release: str | Path,
        into: str | Path,
        *,
        csv_formulas: CsvFormulas | None = None,
        replace: Replace = False,
    ) -> Generalized:
        """Give new rows the labels of a release, such as the test part of data whose training part was released.

        Predictors become labels recorded in the note of the release: values by the taxonomies of the warehouse, numbers
        by the interval around them, or the nearest one, and sets by the labels of their items. NULL and all other
        columns are unchanged. For a release of local recoding, a row gets the labels of the recorded class that covers
        all its values with the least loss, and rows that no class covers are left out. The result is as sensitive as
        the source: nothing is anonymized.

        Args:
            source: the rows.
            release: the name of a table, file or folder that a method with a cut, such as :class:`DiffGen`, or
                :class:`LocalRecoding` published.
            into: the target.
            csv_formulas: as in :meth:`anonymize`, with the note in the ``notes`` of the result.
            replace: as in :meth:`anonymize`, except ``"changed"``.

        Returns:
            the number of rows, and the generalized columns.

        Raises:
            PolicyError: the release records no labels of several levels, columns are missing or of another kind, or
                values have no label; it gives counts.
            TaxonomyError: the warehouse lacks taxonomies of the release, or has different ones.
            EngineError: the database or the file system refused a step; the target is as it was before.
        """
        from sqlanon.run.preparations import generalize

        may_go, target = replacing(replace, detects_changes=False), with_csv_formulas(destination(into), csv_formulas)
        read, released = self._opened.resolve(source), self._opened.resolve(release)
        return generalize(self._engine, read, released, destination(release), target, replace=may_go)
