"""From a source to a suggested policy: evidence, roles, taxonomies, and how identifying the columns are."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from sqlglot import exp

from sqlanon.binding.stored_taxonomies import shapes
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource, Source
from sqlanon.errors import PolicyError, SqlanonError, reason_of
from sqlanon.methods.stages import Stages
from sqlanon.model.names import counted, listed
from sqlanon.model.policy.policy import Policy
from sqlanon.model.release.findings import Trial
from sqlanon.queries import suggestions as queries
from sqlanon.queries.kit.nodes import Relation, string
from sqlanon.queries.source import TaxonomyShape
from sqlanon.satellites import installed_version
from sqlanon.suggestion import roles, safe_harbor
from sqlanon.suggestion import suggested_taxonomies as taxonomies
from sqlanon.suggestion.cleaning import Proposed, cleanings, proposed, query_of, totals
from sqlanon.suggestion.column_words import described_in, read_codebook
from sqlanon.suggestion.evidence import Evidence, MeasuredSets, evidence_of, measured_sets
from sqlanon.suggestion.policy_edits import LIST_OF_ROLE
from sqlanon.suggestion.roles import MAX_NAMED_COLUMNS, Decision
from sqlanon.suggestion.suggested_taxonomies import MAX_NODES, SuggestedTaxonomy, coarsened, lattice_nodes
from sqlanon.suggestion.suggestion import TO_DECIDE, Draft, Profile, SuggestedColumn, Suggestion
from sqlanon.suggestion.toml_text import toml_value

SAFE_HARBOR: Profile = "hipaa-safe-harbor"
SUPPRESSION_LIMIT = 0.05
NO_QUASI_IDENTIFIER = "no column was taken for a quasi-identifier: a policy needs at least one, which you must name"
MAX_SAMPLED_ROWS = 10_000  # maximum number of rows on which a suggested policy is tried
MAX_QUASI_IDENTIFIERS = 10
MAX_SHARE = 0.95  # maximum share of rows with one value in a sensitive column that diversity protects
MAX_PROTECTED_COLUMNS = 2


@dataclass(frozen=True)
class Settings:
    k: int
    reason: str
    releases_values: bool = True
    notes: Sequence[str] = ()


PROFILES: dict[Profile, Settings] = {
    "research": Settings(5, "for researchers who have signed an agreement: k = 5, 2 sensitive values per class"),
    "public": Settings(
        10,
        "for anybody: k = 10, and sensitive columns that others may find out are generalized, too",
        releases_values=False,
    ),
    "hipaa-safe-harbor": Settings(
        5, "by the Safe Harbor method of HIPAA (45 CFR 164.514(b)(2)), and k = 5 as well", notes=safe_harbor.NOTES
    ),
}


def for_profile(profile: Profile, found: Evidence, decision: Decision, shown: Collection[str]) -> Decision:
    """Change a role if a profile requires it; ``shown`` are kinds of identifiers by Safe Harbor."""
    if profile == SAFE_HARBOR:
        return safe_harbor.decision_of(found, decision, shown)
    if PROFILES[profile].releases_values or decision.role in ("quasi-identifier", "identifier"):
        return decision
    if decision.role == "insensitive":
        return Decision("identifier", decision.kind, f"{decision.reason}; nothing is published as it is")
    return Decision("quasi-identifier", decision.kind, f"{decision.reason}; generalized, as anybody may look it up")


@dataclass(frozen=True)
class SuggestionRequest:
    """The user's choices, and facts on the source."""

    profile: Profile
    k: int | None  # None for the profile's
    codebook: Mapping[str, str] | str | Path | None  # descriptions of columns, or the file that has them
    cleans: bool  # suggest a policy for what a query that cleans the source returns, if it needs one
    tried: Callable[[ResolvedSource, Policy, int], Trial]  # runs a policy on some rows, and keeps only figures
    descriptions: Mapping[str, str] = field(default_factory=dict)  # those of the codebook, by lower-case name
    can_be_queried: bool = False  # a query can name the source, unlike a frame
    csv: Proposed | None = None  # proposed settings with which the source is read
    uses_stored: bool = True  # take the taxonomies that the warehouse stores


def suggest(
    engine: Engine,
    resolve: Callable[[Source], ResolvedSource],
    source: Source,
    asked: SuggestionRequest,
    stages: Stages,
) -> Suggestion:
    codebook = asked.codebook
    described = read_codebook(codebook) if isinstance(codebook, str | Path) else codebook or {}
    with stages.stage("read"):
        found = resolve(source)
        if (csv := proposed(engine, found)) is not None:
            engine.read_as(csv.settings)
            found = resolve(source)
    written = {name.lower(): text for name, text in described.items()}
    asked = replace(asked, descriptions=written, can_be_queried=isinstance(source, str | Path), csv=csv)
    suggestion = _suggested(engine, found, asked, stages)
    if not asked.cleans or (query := suggestion.cleaning) is None:
        return suggestion
    with stages.stage("read"):
        found = resolve(query)
    cleaned = _suggested(engine, found, replace(asked, cleans=False), stages)
    notes = cleaned.notes
    if left_out := suggestion.row_count - cleaned.row_count:
        notes = (*notes, f"the query leaves out {counted(left_out, 'row')}: lines of totals, by their first text")
    return cleaned.model_copy(update={"query": query, "notes": notes})


def _suggested(engine: Engine, source: ResolvedSource, asked: SuggestionRequest, stages: Stages) -> Suggestion:
    with stages.watching(engine), engine.scratch():
        with stages.stage("suggest"), engine.transaction():
            table = ExaminedTable(engine, source, asked)
            suggestion = table.suggestion()
        if asked.cleans and suggestion.cleaning is not None:
            return suggestion  # without a trial, since another policy follows
        with stages.stage("try"):
            return table.with_trial(suggestion)


class ExaminedTable:
    def __init__(
        self, engine: Engine, source: ResolvedSource, asked: SuggestionRequest, copy: Relation = queries.COPY
    ) -> None:
        if engine.is_far(source.relation):
            raise PolicyError(
                f"a policy is suggested from values, which stay on their server: copy some rows of {source.description}"
            )
        self._engine, self._source, self._asked = engine, source, asked
        self.relation = source.relation
        if not (isinstance(source.relation, exp.Table) and source.dataset and not source.files):
            engine.run(queries.copied(source.relation, copy))
            self.relation = copy.table
        columns = engine.describe(self.relation)
        comments = engine.column_comments(source.relation) if isinstance(source.relation, exp.Table) else {}
        written = {name.lower(): comment for name, comment in comments.items()}
        written |= {**described_in(source.files), **asked.descriptions}
        found = evidence_of(engine, self.relation, columns)
        described = [replace(each, description=written.get(each.name.lower(), "")) for each in found]
        self.evidence = {each.name: each for each in described}
        self.rows = found[0].rows if found else 0
        self._numbers: dict[str, str] = {}

    def suggestion(self, keys: Collection[str] = (), dropped: Mapping[str, str] = MappingProxyType({})) -> Suggestion:
        """Decide roles but of keys, and of columns dropped for a reason; then taxonomies; and measure the columns."""
        decisions = {**self._decisions()}
        decisions |= {name: Decision("identifier", "key", reason) for name, reason in dropped.items()}
        for name in keys:
            del decisions[name], self.evidence[name]
        wanted = [name for name, decision in decisions.items() if decision.role == "quasi-identifier"]
        # A policy's taxonomies replace stored ones of earlier policies.
        known = shapes(self._engine, wanted) if self._asked.uses_stored else {}
        stored = {name: shape for name, shape in known.items() if not shape.is_of_policy}
        fine = self._taxonomies(decisions, wanted, stored)
        made = coarsened(fine)
        measured = measured_sets(self._engine, self.relation, [self.evidence[name] for name in wanted])
        has_commas = self._source.csv is None
        mended = cleanings(self._engine, self.relation, self.evidence, decisions, has_commas=has_commas)
        left_out = totals(self._engine, self.relation, self.evidence)
        advice = [each.advice for each in (*mended, left_out) if each is not None]
        notes = [*self._notes(decisions, measured, fine, made), *advice]
        in_the_way = tuple(name for name in stored if made[name].rule)
        if in_the_way:
            statement = exp.delete("anon.taxonomy", where=exp.column("attribute").isin(*in_the_way), dialect="duckdb")
            notes.append(
                "the warehouse stores taxonomies of columns that need others for this profile; if nothing else uses "
                f"them: {statement.sql('duckdb')}"
            )
        suggestion = Suggestion(
            source=self._source.description,
            profile=self._asked.profile,
            k=self._k,
            row_count=self.rows,
            columns=tuple(self._column(name, decision, made) for name, decision in decisions.items()),
            quasi_identifiers=measured.together,
            alone=measured.alone,
            without=measured.without,
            lattice_nodes=lattice_nodes(made),
            in_the_way=in_the_way,
            notes=tuple(notes),
            cleaning=query_of(self._queried, mended, left_out) if advice and self._asked.can_be_queried else None,
        )
        suggestion._draft = self._draft(decisions, made, suggestion)
        return suggestion

    def with_trial(self, suggestion: Suggestion) -> Suggestion:
        """Try the suggestion on some rows, and choose the more useful method."""
        if not suggestion.runs or suggestion.lattice_nodes > MAX_NODES:
            return suggestion
        policy = suggestion.draft().policy
        sample = ResolvedSource(self.relation, self._source.description)
        if self.rows > MAX_SAMPLED_ROWS:
            step = queries.sampled(self.relation, MAX_SAMPLED_ROWS)
            self._engine.run(step)
            sample = replace(sample, relation=step.makes.table)
        try:
            trial = self._asked.tried(sample, policy, self.rows)
        except SqlanonError as error:
            rows, columns = min(self.rows, MAX_SAMPLED_ROWS), len(policy.quasi_identifiers)
            trial = Trial(source_rows=self.rows, rows=rows, columns=columns, reason=reason_of(error))
        draft = suggestion._draft.with_trial(trial)
        tried = suggestion.model_copy(
            update={"trial": trial, "method": draft.method, "notes": (*suggestion.notes, *trial.sentences)}
        )
        tried._draft = draft
        return tried

    @property
    def _queried(self) -> exp.Expr:
        """The source in a query: a CSV file by its name, which a query reads in the same way."""
        if self._source.csv is None or len(self._source.files) != 1:
            return self._source.relation
        return exp.Table(this=string(self._source.files[0]))

    @property
    def _k(self) -> int:
        return self._asked.k or PROFILES[self._asked.profile].k

    def _decisions(self) -> Mapping[str, Decision]:
        names = (*self.evidence,)
        found = {name: roles.decided(each, names) for name, each in self.evidence.items()}
        counts = self._pair_counts(roles.twin_candidates(self.evidence))
        # Two columns determine each other if they have as many pairs of values as values.
        values = {name: each.values for name, each in self.evidence.items()}
        twins = [(one, other) for (one, other), count in counts.items() if count == values[one] == values[other]]
        found = roles.with_twins(found, [*twins, *roles.monotone_twins(self._engine, self.relation, self.evidence)])
        self._numbers = {
            one: other for pair in twins for one, other in (pair, pair[::-1]) if self.evidence[other].is_number
        }
        shown: Mapping[str, Sequence[str]] = {}
        if self._asked.profile == SAFE_HARBOR:
            released = [self.evidence[name].column for name in found if found[name].role != "identifier"]
            shown = safe_harbor.shown_kinds(self._engine, self.relation, released)
        found = {
            name: for_profile(self._asked.profile, self.evidence[name], found[name], shown.get(name, ()))
            for name in found
        }
        individuals = [name for name, decision in found.items() if decision.is_individual]
        for name in individuals[1:]:
            found[name] = roles.undecided(found[name].reason)
        if individuals:
            return found
        counts = self._pair_counts(roles.individual_candidates(self.evidence, found))
        return roles.with_individual(counts, self.evidence, found)

    def _pair_counts(self, pairs: Iterable[roles.Pair]) -> roles.Counts:
        return roles.pair_counts(self._engine, self.relation, self.evidence, pairs)

    def _taxonomies(
        self, decisions: Mapping[str, Decision], wanted: list[str], stored: Mapping[str, TaxonomyShape]
    ) -> dict[str, SuggestedTaxonomy]:
        tails = self._tails([name for name in wanted if self.evidence[name].is_number and name not in stored])
        found = {
            name: self._safe_harbor_taxonomy(name, decisions[name].kind)
            or (taxonomies.stored(stored[name].height - 1) if name in stored else None)
            or taxonomies.suggested(self.evidence[name], decisions[name].kind, tails.get(name))
            for name in wanted
        }
        texts = [
            name
            for name, each in found.items()
            if each.rule.get("kind") == "flat" and self.evidence[name].values > taxonomies.FEW_TEXTS
        ]
        others = [name for name in wanted if self.evidence[name].column.traits.is_text]
        counts = self._pair_counts(roles.coarser_candidates(self.evidence, texts, others))

        def within(pair: roles.Pair) -> bool:
            return self._pair_counts([pair])[pair] == self.evidence[pair[0]].values

        for name in texts:
            coarser = roles.coarser_columns(name, counts, self.evidence, within)
            found[name] = taxonomies.of_levels("columns", "columns", coarser) if coarser else self._of_texts(name)
        return found

    def _safe_harbor_taxonomy(self, name: str, kind: str) -> SuggestedTaxonomy | None:
        if self._asked.profile != SAFE_HARBOR:
            return None
        values = [value for value, _ in self._values(name)] if kind == "zip" else []
        return safe_harbor.taxonomy_of(self.evidence[name], kind, values)

    def _values(self, name: str) -> list[tuple[str, bool]]:
        """Fetch the values of a column as its taxonomy has them, and whether each is frequent."""
        rows = self._engine.fetch(queries.own_labels(self.relation, name), "values of a column", "cell")
        return [(row["value"], row["is_frequent"]) for row in rows]

    def _tails(self, numbers: list[str]) -> dict[str, tuple[float, float]]:
        if not numbers:
            return {}
        asked = queries.tails(self.relation, [self.evidence[name].column for name in numbers])
        rows = self._engine.fetch(asked, "where tails begin")
        return {numbers[row["place"]]: (row["low"], row["high"]) for row in rows}

    def _of_texts(self, name: str) -> SuggestedTaxonomy:
        if self.evidence[name].has_empty:
            return taxonomies.flat("a file of groups cannot name its empty texts: make them missing")
        if name in self._numbers:
            numbers = self.evidence[self._numbers[name]].column
            ordered = queries.ordered_values(self.relation, name, numbers)
            return taxonomies.of_ordered([row["value"] for row in self._engine.fetch(ordered, "an order", "cell")])
        return taxonomies.of_texts(self._values(name))

    def _column(self, name: str, decision: Decision, made: Mapping[str, SuggestedTaxonomy]) -> SuggestedColumn:
        found = self.evidence[name]
        return SuggestedColumn(
            name=name,
            role=decision.role,
            is_undecided=decision.is_undecided,
            kind=decision.kind,
            reason=decision.reason,
            taxonomy=made[name].words if name in made else None,
            values=found.values,
            missing=found.rows - found.filled,
        )

    def _notes(
        self,
        decisions: Mapping[str, Decision],
        measured: MeasuredSets,
        fine: Mapping[str, SuggestedTaxonomy],
        made: Mapping[str, SuggestedTaxonomy],
    ) -> Iterator[str]:
        if not measured.together:
            yield NO_QUASI_IDENTIFIER
        if 0 < self.rows < self._k:
            yield f"fewer than {self._k} rows: no release has classes of {self._k}"
        if not self.rows:
            yield "there are no rows: roles are guessed from names only, and there is nothing to release"
        if any(made[name] is not taxonomy for name, taxonomy in fine.items()):
            yield f"taxonomies are coarser than they could be, for a lattice of at most {MAX_NODES:,} nodes"
        if measured.together and (len(made) > MAX_QUASI_IDENTIFIERS or lattice_nodes(made) > MAX_NODES):
            least = ", ".join(measured.least_distinguishing[:MAX_NAMED_COLUMNS])
            fewer = f"; of these, {least} distinguish rows least" if least else ""
            yield f"{len(made)} quasi-identifiers make a release coarse{fewer}"
        yield from self._notes_on_columns(decisions)
        yield from PROFILES[self._asked.profile].notes

    def _notes_on_columns(self, decisions: Mapping[str, Decision]) -> Iterator[str]:
        for name, decision in decisions.items():
            if decision.kind == "weight":
                yield f'"{name}" is dropped: `row_weight` counts a survey weight in losses'
            if decision.role == "sensitive" and self.evidence[name].is_unique:
                yield f'"{name}" stays as it is and is nearly unique: drop it, or round its values'
        if (proposed := self._asked.csv) is not None:
            yield from proposed.notes
            for setting, reason in proposed.reasons.items():
                yield f"[csv] {setting} = {toml_value(getattr(proposed.settings, setting))}: {reason}"
        names = [name for name, found in self.evidence.items() if found.shape == "decimal_comma"]
        if names and self._source.csv is not None:
            yield (
                f"{listed(names)} {'has' if len(names) == 1 else 'have'} numbers with a decimal comma, read as texts; "
                '[csv] decimal = "," reads them, with all other texts of the columns in nullstr'
            )

    def _draft(
        self, decisions: Mapping[str, Decision], made: Mapping[str, SuggestedTaxonomy], suggestion: Suggestion
    ) -> Draft:
        profile = PROFILES[self._asked.profile]
        columns: dict[str, dict[str, str]] = {}
        for name, decision in decisions.items():
            mark = "? " if decision.is_undecided else ""
            columns.setdefault(LIST_OF_ROLE[decision.role], {})[name] = mark + decision.reason
        settings: dict[str, tuple[object, str]] = {
            "suppression_limit": (SUPPRESSION_LIMIT, "5 % of the rows may be left out")
        }
        if self._asked.profile == SAFE_HARBOR:
            settings |= safe_harbor.settings_of({name: (self.evidence[name], decisions[name]) for name in decisions})
        for name, decision in decisions.items():
            if decision.is_individual:
                settings["individual"] = (name, "classes count persons in place of rows")
        sensitive = [self.evidence[name] for name in columns.get("sensitive", ())]
        # Diversity models protect the first columns in which most classes can be diverse.
        protected = [each for each in sensitive if each.values > 1 and each.largest <= MAX_SHARE * each.rows]
        diversity = [
            {"model": "distinct-l-diversity", "column": each.name, "l": 2} for each in protected[:MAX_PROTECTED_COLUMNS]
        ]
        heading = [
            # Without the path, which recipients of the policy need not know.
            f"A policy for {Path(suggestion.source).name}, by sqlanon init {installed_version()}; {profile.reason}.",
            "Roles are guesses by rules. Look at each, first at those with a ?: they are dropped until you decide.",
            TO_DECIDE,
            *suggestion.notes,
        ]
        return Draft(
            heading=heading,
            columns=columns,
            settings=settings,
            privacy=[{"model": "k-anonymity", "k": self._k}, *diversity],
            taxonomies={name: taxonomy for name, taxonomy in made.items() if taxonomy.rule},
            csv={} if self._source.csv is None else self._source.csv.model_dump(mode="json", exclude_defaults=True),
        )
