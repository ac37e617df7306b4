"""Whole runs against brute force: random tables with NULLs, hostile names and many types, through the public API."""

import datetime
import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, Self, get_args

import duckdb
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.model.methods.full_domain import NEED_MONOTONIC_PRIVACY, NEED_MONOTONIC_QUALITY, AlgorithmName
from tests import brute_force, oracle
from tests.brute_force import MEANS, Answer, Measured, Task
from tests.case_tables import make_schema, store
from tests.effort import examples
from tests.in_pieces import reading_in_pieces
from tests.oracle import Row, Rows, Taxonomy
from tests.search_cases import SENSITIVE, SENSITIVE_TAXONOMIES, Table, privacy_models
from tests.strategies import INTEGER_VALUES, TEXT_VALUES, distinct_names, taxonomies

EXAMPLES = settings(max_examples=examples(70), deadline=None, suppress_health_check=[HealthCheck.too_slow])
FEWER = settings(EXAMPLES, max_examples=examples(30))

UNUSED_LABEL = "label of the ENUM type that no row has"
ENUM_LABELS = ("low", "it's", 'a "b"', "x,y", "(", UNUSED_LABEL)
VALUES: Mapping[str, Sequence[Any]] = {
    "VARCHAR": TEXT_VALUES,
    "INTEGER": INTEGER_VALUES,
    "DATE": (datetime.date(1969, 12, 31), datetime.date(2000, 2, 29), datetime.date(2024, 1, 1)),
    "DECIMAL(6,2)": (Decimal("-1.50"), Decimal("0.00"), Decimal("0.10"), Decimal("9999.99")),
    "BOOLEAN": (True, False),
    "ENUM": ENUM_LABELS[:-1],
}


WEIGHTS: Mapping[str, Sequence[Any]] = {
    "INTEGER": (1, 2, 7),
    "DOUBLE": (0.25, 1.0, 3.5),
    "DECIMAL(6,2)": (Decimal("0.10"), Decimal("2.00")),
}


@dataclass(frozen=True)
class Run:
    """A table, the taxonomies of its quasi-identifiers and sensitive columns, a policy and a population."""

    rows: Rows
    columns: Mapping[str, str]
    taxonomies: Mapping[str, Taxonomy]
    policy: sa.Policy
    population: Rows

    @classmethod
    def of(cls, table: Table, policy: sa.Policy) -> Self:
        """A table of texts with a policy."""
        columns = dict.fromkeys([*table.taxonomies, *SENSITIVE], "VARCHAR")
        return cls(table.rows, columns, {**SENSITIVE_TAXONOMIES, **table.taxonomies}, policy, table.population)

    @property
    def task(self) -> Task:
        """What the oracle is asked: quasi-identifiers are spelled as in taxonomies."""
        rows, people = ([self.spelled(row) for row in table] for table in (self.rows, self.population))
        return Task(rows, self.taxonomies, self.policy, people)

    def spelled(self, row: Row) -> Row:
        quasi_identifiers = self.policy.quasi_identifiers
        return {name: spelled(value) if name in quasi_identifiers else value for name, value in row.items()}


ALONE = ("rce", "classification_metric", "publisher_payout")
"""Losses that a report has as its loss alone."""


def spelled(value: object) -> str | None:
    """A value as DuckDB casts it to text."""
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None else str(value)


@st.composite
def runs(draw: st.DrawFn) -> Run:
    width = draw(st.integers(1, 3))
    *names, owner, weight = draw(distinct_names(width + 3, width + 5))
    quasi_identifiers, others = names[:width], names[width:]
    columns = {name: draw(st.sampled_from(sorted(VALUES))) for name in names}
    domains = {
        name: draw(st.lists(st.sampled_from(VALUES[kind]), min_size=1, max_size=4, unique=True))
        for name, kind in columns.items()
    }
    known = {name: draw(taxonomies([spelled(value) for value in domain])) for name, domain in domains.items()}
    fields = {name: st.sampled_from([None, *domain]) for name, domain in domains.items()}
    person = st.fixed_dictionaries({name: fields[name] for name in quasi_identifiers})
    columns |= {owner: "INTEGER", weight: draw(st.sampled_from(sorted(WEIGHTS)))}
    fields |= {owner: st.integers(0, 9), weight: st.sampled_from(WEIGHTS[columns[weight]])}
    rows = draw(st.lists(st.fixed_dictionaries(fields), min_size=1, max_size=14))
    sampled: dict[Any, list[Any]] = defaultdict(list)
    for row in rows:
        sampled[tuple(row[name] for name in quasi_identifiers)].append(row[weight])
    risks = all(sum(weights) >= len(weights) for weights in sampled.values())
    present = [{name: row[name] for name in quasi_identifiers} for row in rows[:: draw(st.integers(1, 3))]]
    return Run(
        rows=rows,
        columns=dict(draw(st.permutations(sorted(columns.items())))),
        taxonomies=known,
        policy=draw(
            policies(quasi_identifiers, {name: columns[name] for name in others}, owner, weight, known, risks=risks)
        ),
        population=[*present, *draw(st.lists(person, max_size=8))],
    )


@st.composite
def policies(
    draw: st.DrawFn,
    quasi_identifiers: list[str],
    others: Mapping[str, str],
    owner: str,
    weight: str,
    known: Mapping[str, Taxonomy],
    *,
    risks: bool,
) -> sa.Policy:
    """``risks``: no combination of quasi-identifiers stands for fewer people than it has rows."""
    roles = {name: draw(st.sampled_from(["sensitive", "sensitive", "identifiers", "insensitive"])) for name in others}
    roles |= {name: draw(st.sampled_from(["identifiers", "insensitive"])) for name in (owner, weight)}
    sensitive = [name for name, role in roles.items() if role == "sensitive"]
    individual = draw(st.sampled_from([None, None, owner]))
    models = draw(privacy_models(sensitive, individual=individual is not None) if sensitive else st.just([]))
    models = [model for model in models if is_defined(model, others)] or [sa.KAnonymity(2)]
    quality = draw(qualities(quasi_identifiers, [] if individual else sensitive, of_rows=individual is None))
    row_weight = None if quality.counts_rows_alone else draw(st.sampled_from([None, None, weight]))
    risks = risks and individual is None and not quality.counts_rows_alone
    if risks and draw(st.sampled_from([True, False, False])):
        estimators = st.sampled_from(["both", "negative-binomial", "poisson"])
        named = draw(st.sampled_from([None, weight])) if row_weight else weight
        at_most = st.sampled_from([0.02, 0.1, 0.25, 0.6, 0.9])
        kind = draw(st.sampled_from([sa.IndividualRisk, sa.ExpectedReidentifications]))
        risk = draw(st.builds(kind, at_most, weight=st.just(named), estimator=estimators))
        models = [*models, risk]
    policy = sa.Policy(
        quasi_identifiers=quasi_identifiers,
        **{role: [name for name in roles if roles[name] == role] for role in set(roles.values())},
        privacy=models,
        quality=quality,
        suppression_limit=draw(st.sampled_from([0.0, 0.1, 0.29, 0.5, 1.0])),
        **draw(levels({name: oracle.height(known[name]) for name in quasi_identifiers})),
        row_weight=row_weight,
        individual=individual,
    )
    is_kept = policy.population or policy.weighs_risks or any(isinstance(each, sa.Profitability) for each in models)
    suppression = "drop" if is_kept else draw(st.sampled_from(["drop", "mask"]))
    search = draw(st.sampled_from([name for name in get_args(AlgorithmName) if is_sound(name, policy)]))
    searched: dict[str, Any] = {"search": search}
    if search == "inverse-ola":
        searched = {"objective": "privacy", "max_loss": draw(st.sampled_from([0.0, 0.3, 0.5, 1.0, 20.0, 100.0]))}
    return sa.Policy(**{**dict(policy), "suppression": suppression, **searched})


def is_defined(model: object, kinds: Mapping[str, str]) -> bool:
    """The oracle spells no booleans in taxonomies and does not know the order of an ENUM."""
    match model:
        case sa.TCloseness(distance="hierarchical", column=column):
            return kinds[column] != "BOOLEAN"
        case sa.TCloseness(distance="ordered", column=column):
            return kinds[column] != "ENUM"
        case _:
            return True


def is_sound(search: AlgorithmName, policy: sa.Policy) -> bool:
    if search in NEED_MONOTONIC_PRIVACY and not all(map(policy.is_monotonic, policy.privacy)):
        return False
    if search == "inverse-ola" and any(isinstance(model, MEANS) for model in policy.privacy):
        return False
    is_monotonic = policy.quality.monotonic_without_suppression and policy.suppression_limit == 0
    return search not in NEED_MONOTONIC_QUALITY or is_monotonic or policy.quality.monotonic


def qualities(names: list[str], counted: list[str], *, of_rows: bool) -> st.SearchStrategy[Any]:
    others = st.dictionaries(st.sampled_from(names[1:]), st.sampled_from([0.0, 2.0])) if names[1:] else st.just({})
    weights = others.map(lambda found: {names[0]: 0.5, **found}) | st.just({})
    return st.one_of(
        st.builds(sa.Prec, weights=weights, suppressed=st.sampled_from(["ignored", "charged"])),
        st.builds(sa.LM, aggregate=st.sampled_from(["arithmetic", "geometric"]), weights=weights),
        st.sampled_from(
            [sa.Entropy(), sa.Entropy(suppressed="charged"), sa.NCP(), sa.RCE(), sa.DMStar(), sa.DM(), sa.AECS()]
        ),
        *(st.just(sa.ClassificationMetric(name)) for name in counted),
        *([st.just(sa.PublisherPayout(3, 0.75, 2, 10))] if of_rows else []),
    )


@st.composite
def levels(draw: st.DrawFn, heights: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Bounds of some levels."""
    maximum = {name: draw(st.integers(0, height)) for name, height in heights.items() if draw(st.integers(0, 4)) == 0}
    minimum = {
        name: draw(st.integers(0, maximum.get(name, height)))
        for name, height in heights.items()
        if draw(st.integers(0, 4)) == 0
    }
    return {"minimum_levels": minimum, "maximum_levels": maximum}


# The warehouse


@cache
def session() -> sa.Session:
    connection = duckdb.connect(config={"threads": 1})
    make_schema(connection)
    return sa.connect(connection)


def load(run: Run) -> None:
    labels = ", ".join("'" + label.replace("'", "''") + "'" for label in ENUM_LABELS)
    columns = {name: f"ENUM ({labels})" if kind == "ENUM" else kind for name, kind in run.columns.items()}
    store(session().connection, "raw_data", columns, run.rows)
    names = sorted(run.policy.quasi_identifiers)
    store(session().connection, "everyone", {name: columns[name] for name in names}, run.population)
    known = {name: run.taxonomies[name] for name in (*names, *run.policy.sensitive_taxonomies)}
    # Straight into the table: half of an example's time would go into loading its taxonomies.
    session().connection.execute("DELETE FROM anon.taxonomy")
    session().connection.executemany("INSERT INTO anon.taxonomy VALUES (?, ?, ?, ?)", oracle.taxonomy_rows(known))


def inventory() -> set[tuple[Any, ...]]:
    """All that the catalog has but the list of releases: tables, views, macros, types, schemas, temporary ones too."""
    return set(
        session()
        .connection.execute(
            "SELECT 'table', database_name, schema_name, table_name FROM duckdb_tables() "
            "WHERE schema_name <> 'anon' OR table_name <> 'releases' "
            "UNION ALL SELECT 'view', database_name, schema_name, view_name FROM duckdb_views() "
            "UNION ALL SELECT 'schema', database_name, schema_name, '' FROM duckdb_schemas() "
            "UNION ALL SELECT 'type', database_name, schema_name, type_name FROM duckdb_types() "
            "UNION ALL SELECT 'macro', database_name, schema_name, function_name FROM duckdb_functions()"
        )
        .fetchall()
    )


def fetch(query: str) -> list[tuple[Any, ...]]:
    return session().connection.execute(query).fetchall()


@contextmanager
def target(*, parquet: bool) -> Iterator[tuple[str, str]]:
    """A name to publish under, and the relation to read it from."""
    if parquet:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "release.parquet"
            yield str(path), f"'{path}'"
            assert sorted(Path(folder).iterdir()) in ([], [path])
    else:
        try:
            yield "published", "published"
        finally:
            session().connection.execute("DROP TABLE IF EXISTS published")


# The properties


@EXAMPLES
@given(run=runs(), parquet=st.booleans(), in_pieces=st.booleans())
def test_a_release_is_what_the_oracle_makes(run: Run, parquet: bool, in_pieces: bool) -> None:
    event("read in pieces" if in_pieces else "read at once")
    with reading_in_pieces(2) if in_pieces else nullcontext():
        check_release(run, parquet=parquet)


def check_release(run: Run, *, parquet: bool) -> None:
    load(run)
    before = inventory()
    event(f"search {run.policy.search}")
    nodes = brute_force.lattice(run.task)
    expected = expected_of(run, nodes)
    with target(parquet=parquet) as (name, relation):
        if expected is None:
            event("no node satisfies the policy")
            with pytest.raises(sa.UnsatisfiableError):
                session().anonymize("raw_data", run.policy, into=name)
            assert inventory() == before
            return
        release = session().anonymize("raw_data", run.policy, into=name)
        added = set() if parquet else {("table", "memory", "main", "published")}
        assert inventory() == before | added
        task = published_task(run, expected)
        best = brute_force.measured(task, expected.best.node)
        check_node(release, expected, best)
        rows = check_rows(run, task, release, relation)
        check_report(task, release, best, rows)
        check_models(task, release, json.loads(session().provenance(name) or "")["sqlanon"])
        if measures_alone(task.policy):
            assert session().verify(name, task.policy).met
        if task.policy.weighs_risks:
            source = session().verify(name, task.policy, source="raw_data")
            assert source.measurement.models == release.report.models


def expected_of(run: Run, nodes: list[Measured]) -> Answer | None:
    """What the search of the policy is to find; of Datafly, which promises little, only that it finds what is there."""
    policy = run.policy
    satisfying = {node.levels for node in nodes if node.satisfies}
    if policy.objective == "privacy":
        found = brute_force.inverse_answer(nodes, policy.max_loss or 0.0)
        return found if found and brute_force.most_private(policy, found.best.attainable) else None
    if policy.search == "datafly":
        return brute_force.answer(datafly_path(run.task, nodes)[-1:])
    if policy.search == "samarati":
        least = min(map(sum, satisfying), default=0)
        return brute_force.answer([node for node in nodes if node.height == least])
    found = brute_force.answer(nodes)
    if found and policy.search in ("ola", "incognito"):
        return Answer(found.best, found.loss, found.ties & brute_force.minimal(satisfying))
    return found


def datafly_path(task: Task, nodes: list[Measured]) -> list[Measured]:
    """Up from the bottom: the column with the most distinct labels goes one level up until a node satisfies."""
    known = {node.levels: node for node in nodes}
    path = [known[min(known)]]
    while not path[-1].satisfies and path[-1].levels != max(known):
        node = path[-1].node
        labels = oracle.generalize(task.rows, task.taxonomies, node)
        counts = {
            name: len({row[name] for row in labels})
            for position, name in enumerate(node)
            if node[name] < max(known)[position]
        }
        name = max(counts, key=lambda name: counts[name])
        path.append(known[tuple({**node, name: node[name] + 1}.values())])
    return path


def published_task(run: Run, expected: Answer) -> Task:
    """With Inverse OLA the release is held to the most private models that its node attains."""
    if run.policy.objective == "utility":
        return run.task
    policy = brute_force.most_private(run.policy, expected.best.attainable)
    assert policy is not None
    return run.task.under(policy)


def measures_alone(policy: sa.Policy) -> bool:
    """Whether a release can be measured without its source, its population and its individuals."""
    beside = any(model.compares_with_source for model in policy.privacy) or policy.population or policy.weighs_risks
    return not beside and (policy.individual is None or policy.individual in policy.insensitive)


def check_node(release: sa.Release, expected: Answer, best: Measured) -> None:
    report = release.report
    assert release.node == report.node == best.node
    assert report.loss == pytest.approx(best.loss)
    assert {tuple(node.values()) for node in report.ties} == expected.ties
    assert report.tie_count == len(expected.ties)
    assert report.ties[0] == release.node
    for measure, loss in report.losses.items():
        if loss is not None:  # LM and NCP are measured where they were asked for
            assert loss == pytest.approx(best.losses[measure]), measure
    plain = {"geometric_lm": "lm", "charged_prec": "prec", "charged_entropy": "entropy"}
    asked = plain.get(report.quality, report.quality)
    if asked not in ALONE:
        assert report.losses[asked] is not None


def check_rows(run: Run, task: Task, release: sa.Release, relation: str) -> Rows:
    expected = brute_force.released(task, release.node)
    names = [name for name in run.columns if name not in run.policy.identifiers]
    described = fetch(f"DESCRIBE FROM {relation}")
    assert [column[0] for column in described] == names
    for name, kind, *_ in described:
        text = name in run.policy.quasi_identifiers or run.columns[name] == "ENUM"
        assert kind == ("VARCHAR" if text else run.columns[name])
    found = fetch(f"FROM {relation}")
    assert Counter(found) == Counter(tuple(row[name] for name in names) for row in expected)
    assert found == fetch(f"FROM {relation} ORDER BY ALL")
    return expected


def check_report(task: Task, release: sa.Release, best: Measured, rows: Rows) -> None:
    policy, report, counts = task.policy, release.report, release.report.rows
    assert counts.source == len(task.rows)
    assert counts.released == len(rows)
    assert counts.dropped + counts.released == counts.source
    assert counts.masked + counts.dropped == report.suppressed_rows == best.suppressed_rows
    assert report.suppressed_rows <= brute_force.allowed_rows(policy.suppression_limit, len(task.rows))
    classes = oracle.classes(rows, policy.quasi_identifiers)
    assert report.class_count == len(classes)
    assert report.min_class_size == min(map(len, classes.values()))
    said = {reason: any(reason in note for note in report.notes) for reason in ("were dropped, not masked", "weights")}
    assert said == {
        "were dropped, not masked": policy.suppression == "mask" and counts.dropped > 0,
        "weights": policy.row_weight is not None,
    }


def check_models(task: Task, release: sa.Release, provenance: dict[str, Any]) -> None:
    """Every bound of every model, as the release attains it; the provenance knows the kept classes alone."""
    groups = list(brute_force.published(task, release.node).values())
    results, recorded = iter(release.report.models), iter(provenance["privacy"])
    for model in task.policy.privacy:
        attained = brute_force.worst(task, release.node, groups, model)
        assert all(brute_force.passes(attained, model))
        for value, bound in zip(attained, model.bounds, strict=True):
            result, entry = next(results), next(recorded)
            assert (result.model, result.measure, result.met) == (str(model), bound.measure.name, True)
            assert result.attained == pytest.approx(value)
            assert (entry["model"], entry["measure"]) == (result.model, result.measure)
            assert entry["required"] == result.required == bound.required
            if not release.report.rows.masked:
                assert entry["attained"] == pytest.approx(value)
    assert next(results, None) is next(recorded, None) is None


@FEWER
@given(run=runs())
def test_the_lattice_is_what_the_oracle_measures(run: Run) -> None:
    load(run)
    before = inventory()
    table = session().lattice("raw_data", run.policy)
    assert inventory() == before
    expected = brute_force.lattice(run.task)
    found = {tuple(dict(row["node"]).values()): row for row in table.to_pylist()}
    assert len(found) == table.num_rows == len(expected)
    for node in expected:
        row = found[node.levels]
        assert dict(row["node"]) == node.node
        assert row["height"] == node.height
        assert row["class_count"] == node.class_count
        assert row["min_class_size"] == node.min_class_size
        assert row["suppressed_rows"] == node.suppressed_rows
        assert row["satisfies"] == node.satisfies
        shown = {name: loss for name, loss in node.losses.items() if name not in ALONE}
        if run.policy.quality.measure not in shown and run.policy.quality.measure in node.losses:
            shown["loss"] = node.losses[run.policy.quality.measure]
        for measure, loss in shown.items():
            assert row[measure] == (None if loss is None else pytest.approx(loss)), measure


@FEWER
@given(run=runs())
def test_a_measurement_is_what_the_oracle_measures(run: Run) -> None:
    load(run)
    task, raw = run.task, dict.fromkeys(run.policy.quasi_identifiers, 0)
    groups = list(brute_force.classes(task, raw).values())
    sizes = [len(members) for members in groups]
    found = session().measure("raw_data", run.policy)
    assert (found.row_count, found.class_count, found.k) == (len(run.rows), len(groups), min(sizes))
    assert found.unique_rows == sizes.count(1)
    assert found.unique_share == pytest.approx(sizes.count(1) / len(run.rows))
    assert found.highest_prosecutor_risk == pytest.approx(1 / min(sizes))
    assert found.average_prosecutor_risk == pytest.approx(len(sizes) / len(run.rows))
    results = iter(found.models)
    for model in run.policy.privacy:
        attained = brute_force.worst(task, raw, groups, model)
        for value, met in zip(attained, brute_force.passes(attained, model), strict=True):
            result = next(results)
            assert result.attained == pytest.approx(value)
            assert result.met == met
    assert next(results, None) is None
    assert found.met == all(result.met for result in found.models)
    assert len(found.notes) == any(model.compares_with_source for model in run.policy.privacy)
