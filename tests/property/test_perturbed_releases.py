"""Releases with perturbed columns: what swapping keeps, what is refused, and what records and checks say."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from math import ceil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.model.release.perturbed import perturbed_columns
from tests.effort import examples
from tests.perturbed_tables import released_in

EXAMPLES = settings(max_examples=examples(96), deadline=None, suppress_health_check=[HealthCheck.too_slow])
HOSTILE = 'a""b"; drop table x --'
QUOTED = HOSTILE.replace('"', '""')


@pytest.fixture(scope="module")
def session() -> Iterator[sa.Session]:
    with sa.connect(threads=1) as session:
        yield session


def policy(perturbation: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "quasi_identifiers": ["age"],
        "sensitive": ["income", "job"],
        "insensitive": ["region", "number", HOSTILE],
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "taxonomies": {"age": {"kind": "flat"}},
        "perturbation": perturbation,
        **fields,
    }


def table(rows: list[dict[str, Any]]) -> pa.Table:
    kinds = {"age": pa.int64(), "income": pa.int64(), "job": pa.string(), "region": pa.string()}
    return pa.table(
        {
            **{name: pa.array([row[name] for row in rows], kind) for name, kind in kinds.items()},
            "number": pa.array([*range(len(rows))], pa.int64()),
            HOSTILE: pa.array([row["income"] for row in rows], pa.int64()),
        }
    )


def released(session: sa.Session, rows: pa.Table, fields: dict[str, Any], seed: int = 1) -> list[dict[str, Any]]:
    session.connection.register("made", rows)
    session.connection.execute("CREATE OR REPLACE TABLE people AS FROM made")
    session.connection.execute("DROP TABLE IF EXISTS out")
    draws = sa.SeededSource(seed) if fields["perturbation"] else None
    session.anonymize("people", fields, "out", random_source=draws, listed=False)
    session.connection.unregister("made")
    found = session.connection.execute("FROM out ORDER BY number").fetchall()
    names = [column[0] for column in session.connection.execute("DESCRIBE out").fetchall()]
    return [dict(zip(names, row, strict=True)) for row in found]


VALUES = st.one_of(st.none(), st.integers(0, 12))
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "age": st.integers(0, 3),
            "income": VALUES,
            "job": st.sampled_from(["a", "b", None]),
            "region": st.sampled_from(["N", "S", None]),
        }
    ),
    min_size=2,
    max_size=40,
)


@EXAMPLES
@given(ROWS, st.sampled_from([0.4, 0.7, 1.0]), st.sampled_from([[], ["region"], ["region", "job"]]), st.integers(0, 9))
def test_swapping_keeps_values_of_strata_and_moves_few_ranks(
    session: sa.Session, rows: list[dict[str, Any]], share: float, within: list[str], seed: int
) -> None:
    source = table(rows)
    setting = {"kind": "swap", "share": share, "within": within, "together": [HOSTILE]}
    given_rows, strata = source.to_pylist(), defaultdict(list)
    for row in given_rows:
        strata[tuple(row[name] for name in within)].append(row["income"])
    widths = {key: ceil(share * sum(each is not None for each in own)) for key, own in strata.items()}
    if any(width == 1 for width in widths.values()):
        with pytest.raises(
            sa.PolicyError, match=r'"income" has [0-9]+ strata, of [0-9]+ values together, with blocks of one'
        ):
            released(session, source, policy({"income": setting}), seed)
        return
    known = [{each for each in own if each is not None} for own in strata.values()]
    if {len(own) for own in known} - {0} == {1}:
        with pytest.raises(sa.PolicyError, match="one value in each stratum"):
            released(session, source, policy({"income": setting}), seed)
        return
    found = released(session, source, policy({"income": setting}), seed)
    shown = defaultdict(list)
    for was, now in zip(given_rows, found, strict=True):
        key = tuple(was[name] for name in within)
        shown[key].append(now["income"])
        assert {name: now[name] for name in ("job", "region", "number")} == {
            name: was[name] for name in ("job", "region", "number")
        }
        assert (now["income"] is None) == (was["income"] is None)
        assert now[HOSTILE] == now["income"]
        if was["income"] is not None and now["income"] != was["income"]:
            own = sorted(each for each in strata[key] if each is not None)
            low, high = sorted([was["income"], now["income"]])
            between = own.index(high) - (len(own) - 1 - own[::-1].index(low))  # the least ranks that it moved
            assert between < widths[key]
    assert {key: Counter(own) for key, own in shown.items()} == {key: Counter(own) for key, own in strata.items()}


def test_places_of_blocks_and_rows_are_drawn(session: sa.Session) -> None:
    """Each row gets each value of its block as often, and blocks begin anywhere: the offset is drawn."""
    strata = 400
    rows = [{"age": 0, "income": at % 12, "job": "a", "region": str(at // 12)} for at in range(12 * strata)]
    setting = {"kind": "swap", "share": 0.25, "within": ["region"]}
    found = released(session, table(rows), policy({"income": setting}))
    moves = Counter((was["income"], now["income"]) for was, now in zip(rows, found, strict=True))
    # Blocks of three ranks; two ranks at a distance d share one with probability (3 - d) / 3, and then it is 1 / 3.
    for was in range(3, 9):
        for now in range(was - 4, was + 5):
            expected = strata * max(3 - abs(was - now), 0) / 9
            assert abs(moves[was, now] - expected) <= 4.5 * expected**0.5, (was, now)


NINE = [{"age": 0, "income": number, "job": "ab"[number % 2], "region": "N"} for number in range(9)]


class TestRecords:
    def test_second_draws_are_refused_unless_asked(self, session: sa.Session) -> None:
        session.connection.register("made", table(NINE))
        session.connection.execute("CREATE OR REPLACE TABLE folk AS FROM made")
        wanted = policy({"income": {"kind": "swap", "share": 0.5}})
        first = session.anonymize("folk", wanted, "first")
        assert [each.column for each in first.report.perturbed] == ["income"]
        with pytest.raises(sa.PolicyError) as refused:
            session.anonymize("folk", policy({"INCOME": {"kind": "swap", "share": 1.0}}), "second")
        assert refused.value.problems == ('"income" in first',)
        session.connection.execute("DROP TABLE first")
        with pytest.raises(sa.PolicyError):  # the policy is the same
            session.anonymize("folk", wanted, "first")
        again = policy({"income": {"kind": "swap", "share": 0.5, "again": True}})
        session.anonymize("folk", again, "second")
        session.anonymize("folk", policy({}), "third")

    def test_the_list_knows_columns_of_releases_that_moved(self, tmp_path: Path) -> None:
        drawn = {"income": {"kind": "swap", "share": 0.5, "together": [HOSTILE]}}
        with sa.connect(tmp_path / "w.duckdb") as session:
            session.connection.register("made", table(NINE))
            session.connection.execute("CREATE TABLE folk AS FROM made")
            session.anonymize("folk", policy(drawn), tmp_path / "first.csv")
            (tmp_path / "first.csv").rename(tmp_path / "handed_out.csv")
            with pytest.raises(sa.PolicyError) as refused:
                session.anonymize("folk", policy({HOSTILE.upper(): {"kind": "noise"}}), "second")
            assert refused.value.problems == (f'"{QUOTED}" in {tmp_path}/first.csv',)
            session.anonymize("folk", policy({"number": {"kind": "noise"}}), "third")
            listed = session.releases.list().releases
            assert [each.perturbed for each in listed] == [("income", HOSTILE), ("number",)]

    def test_lists_of_earlier_versions_get_the_columns(self, tmp_path: Path) -> None:
        with sa.connect(tmp_path / "w.duckdb") as session:
            session.connection.register("made", table(NINE))
            session.connection.execute("CREATE TABLE folk AS FROM made")
            session.anonymize("folk", policy({}), "first")
            session.connection.execute("ALTER TABLE anon.releases DROP COLUMN perturbed")
        with sa.connect(tmp_path / "w.duckdb", read_only=True) as session:
            session.anonymize("folk", policy({"income": {"kind": "noise"}}), tmp_path / "second.csv")
            assert [each.perturbed for each in session.releases.list().releases] == [None, ("income",)]
        with sa.connect(tmp_path / "w.duckdb") as session:
            session.anonymize("folk", policy({"number": {"kind": "noise"}}), "third")
            assert [each.perturbed for each in session.releases.list().releases] == [None, ("income",), ("number",)]

    @pytest.mark.parametrize("into", ["first", "first.csv", "first.parquet"])
    def test_releases_of_earlier_versions_are_known_by_their_records(self, tmp_path: Path, into: str) -> None:
        wanted, other = ({"income": {"kind": "swap", "share": share}} for share in (0.5, 1.0))
        target = tmp_path / into if "." in into else into
        with sa.connect(tmp_path / "w.duckdb") as session:
            session.connection.register("made", table(NINE))
            session.connection.execute("CREATE TABLE folk AS FROM made")
            session.anonymize("folk", policy(wanted), target)
            session.connection.execute("ALTER TABLE anon.releases DROP COLUMN perturbed")
        for read_only in (True, False):
            with sa.connect(tmp_path / "w.duckdb", read_only=read_only) as session:
                with pytest.raises(sa.PolicyError) as refused:
                    session.anonymize("folk", policy(other), tmp_path / "second.csv")
                assert refused.value.problems == (f'"income" in {target}',)
                session.anonymize("folk", policy({}), tmp_path / f"other_{read_only}.csv")
        with sa.connect(tmp_path / "w.duckdb") as session:  # only the hash of a replaced policy is known
            session.anonymize("folk", policy({}), target, replace=True)
            with pytest.raises(sa.PolicyError) as refused:
                session.anonymize("folk", policy(wanted), "second")
            assert refused.value.problems == (f'"income" in {target}',)
            session.anonymize("folk", policy(other), "second")

    def test_files_on_no_list_are_not_replaced_by_a_second_draw(self, tmp_path: Path) -> None:
        source, into = tmp_path / "people.csv", tmp_path / "out.csv"
        source.write_text("age,income\n" + "".join(f"{at % 2},{at}\n" for at in range(20)))
        wanted = sa.Policy(
            quasi_identifiers=["age"],
            insensitive=["income"],
            privacy=[sa.KAnonymity(2)],
            taxonomies={"age": {"kind": "flat"}},
            perturbation={"income": {"kind": "swap", "share": 0.5}},
        )
        with sa.connect() as session:
            session.anonymize(source, wanted, into)
        before = into.read_bytes()
        for other in (wanted, wanted.changed({"perturbation": {"income": {"kind": "noise"}}})):
            with sa.connect() as session, pytest.raises(sa.PolicyError, match=r"income.* which the run would replace"):
                session.anonymize(source, other, into, replace=True)
        assert into.read_bytes() == before

    def test_verification_knows_swapped_values(self, session: sa.Session) -> None:
        wanted = policy({"income": {"kind": "swap", "share": 0.5, "again": True}})
        released(session, table(NINE), wanted)
        assert session.verify("out", wanted, source="people").shortfalls == ()
        session.connection.execute("UPDATE out SET income = 8 WHERE income = 1")
        with pytest.raises(sa.VerificationError) as failed:
            session.verify("out", wanted, source="people")
        assert '1 rows have values of "income" that its source lacks, or has less often' in failed.value.problems

    def test_records_have_no_facts_of_draws(self, session: sa.Session) -> None:
        wanted = policy({"income": {"kind": "swap", "share": 0.5, "again": True}})
        released(session, table(NINE), wanted)
        [(comment,)] = session.connection.execute(
            "SELECT comment FROM duckdb_tables() WHERE table_name = 'out'"
        ).fetchall()
        assert '"perturbed"' not in comment
        assert '"kind":"swap"' in comment.replace(" ", "")
        report = session.report("out", wanted, source="people")
        [income] = [each for each in report.columns if each.name == "income"]
        assert income.treatment[0] == "permuted within 50 % of the ranks (rank swapping)"
        assert report.utility is not None
        kept = {each["statistic"]: (each["source_value"], each["release_value"]) for each in report.utility.statistics}
        assert kept["mean"] == kept["median"] == (4, 4)
        assert session.report("out", wanted, source="people", edition="public").utility is None
        released(session, table(NINE), policy({}))
        assert session.report("out", policy({}), source="people").utility is None

    def test_contracts_say_what_became_of_columns(self, session: sa.Session) -> None:
        drawn = {"job": {"kind": "pram", "form": "plain", "change": 0.25}, "income": {"kind": "swap", "share": 0.5}}
        released(session, table(NINE), policy(drawn))
        made = session.contract("out")
        described = {each.name: each.description for each in made.columns}
        claim = (
            '"job" has local differential privacy with ε = |ln(3 (L - 1))| for its L possible values: each value was '
            "kept with probability 0.75, or became any other one alike"
        )
        assert described["job"] == f"redrawn with probability 0.25 (PRAM, plain); {claim}"
        assert described["income"] == "permuted within 50 % of the ranks (rank swapping)"
        assert described["region"] == ""
        assert claim in made.claims

    def test_findings_do_not_take_shown_values_for_true_ones(self, session: sa.Session) -> None:
        session.connection.register("made", table([{**row, "job": "ab"[at > 7]} for at, row in enumerate(NINE)]))
        session.connection.execute("CREATE OR REPLACE TABLE people AS FROM made")
        wanted = policy({"job": {"kind": "pram", "change": 0.01}})
        made = session.anonymize("people", wanted, "alike", random_source=sa.SeededSource(1), listed=False)
        assert made.report.findings is not None
        income, job = made.report.findings.homogeneous_columns
        said = {each.column: each.model_copy(update={"homogeneous_rows": 9}).sentence for each in (income, job)}
        assert (
            said["income"]
            .partition(" rows ")[2]
            .startswith("(100.0 %) are in classes with a single value, which their quasi-identifiers give away")
        )
        assert said["job"] == (
            'no privacy model protects the sensitive "job": 9 of 9 released rows (100.0 %) are in classes that show a '
            "single value, which is perturbed and need not be theirs"
        )


REFUSED: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"age": {"kind": "swap"}}, {}, 'perturbation: "age" is a quasi-identifier'),
    ({"incme": {"kind": "swap"}}, {}, '"incme" is not among the sensitive or insensitive columns'),
    ({"income": {"kind": "swap", "together": ["job"]}, "job": {"kind": "swap"}}, {}, '"job" is perturbed 2 times'),
    ({"income": {"kind": "swap", "within": ["income"]}}, {}, "within names .income., which is perturbed itself"),
    ({"income": {"kind": "swap", "by": ["region"]}}, {}, r'perturbation\.income\.by: .* within = \["region"\]'),
    ({"income": {"kind": "swap", "share": 0}}, {}, r"perturbation\.income\.share"),
    (
        {"job": {"kind": "swap"}},
        {"privacy": [{"model": "distinct-l-diversity", "column": "job", "l": 2}]},
        '"job" cannot be perturbed: a privacy model or a loss counts its true values',
    ),
    (
        {"job": {"kind": "pram", "form": "plain", "matrix": "publish", "within": ["age"]}},
        {},
        'within names "age", a quasi-identifier, whose values the published matrix would show',
    ),
    ({"income": {"kind": "swap"}}, {"row_weight": "income"}, "it has the weights of rows"),
    ({"income": {"kind": "swap"}}, {"individual": "income"}, "it has the owners of rows"),
]


@pytest.mark.parametrize(("perturbation", "fields", "words"), REFUSED)
def test_what_does_not_fit_is_refused(perturbation: dict[str, Any], fields: dict[str, Any], words: str) -> None:
    with pytest.raises(sa.PolicyError, match=words):
        sa.Policy(**policy(perturbation, **fields))


def test_private_methods_are_refused() -> None:
    with pytest.raises(sa.PolicyError, match="promises differential privacy, which ends"):
        sa.Policy(
            quasi_identifiers=["age"],
            sensitive=["job"],
            insensitive=[],
            method=sa.IPA(),
            perturbation={"job": {"kind": "swap"}},
        )


def test_unperturbed_policies_have_the_hashes_of_before() -> None:
    assert "perturbation" not in sa.Policy(**policy({})).as_recorded()


def test_noise_stays_within_public_bounds(session: sa.Session) -> None:
    rows = [{**row, "income": 10 * number} for number, row in enumerate(NINE)]
    wanted = policy(
        {"income": {"kind": "noise", "relative": 0.9}}, bottom_coding={"income": 20}, top_coding={"income": 60}
    )
    shown = {row["income"] for seed in range(4) for row in released(session, table(rows), wanted, seed)}
    assert (min(shown), max(shown)) == (20, 60)
    assert len(shown) > 4
    assert session.verify("out", wanted, source="people").shortfalls == ()


def test_values_that_a_taxonomy_lacks_are_listed_by_a_query_of_the_source(session: sa.Session) -> None:
    known = {"age": sa.Taxonomy.from_rows([["0", "*"]])}
    drawn = {"income": {"kind": "noise"}, "job": {"kind": "pram"}}
    rows = table([{**row, "age": number % 2} for number, row in enumerate(NINE)])
    with pytest.raises(sa.UnsatisfiableError) as refused:
        released(session, rows, policy(drawn, taxonomies=known, unknown={"age": "suppress"}))
    assert ' FROM the_source) AS "texts" WHERE' in refused.value.problems[0]
    assert "anon_" not in refused.value.problems[0]


def test_columns_of_one_value_are_not_swapped(session: sa.Session) -> None:
    rows = [{**row, "income": 7} for row in NINE]
    with pytest.raises(sa.PolicyError, match='"income" has one value in each stratum, which would stay'):
        released(session, table(rows), policy({"income": {"kind": "swap", "share": 0.5}}))


def test_a_report_names_columns_whose_values_all_stayed() -> None:
    _, report = released_in(sa.connect(), {"paid": "INTEGER"}, [(0,), (1,)] * 4, {"paid": sa.Noise(relative=1e-9)})
    assert [each.changed for each in report.perturbed] == [0]
    assert 'all values of "paid" are its own' in str([*perturbed_columns(report.perturbed)])


def test_reports_of_values_without_moments(session: sa.Session) -> None:
    """Figures on what columns keep are left out where there are none; the report is there."""
    session.connection.execute(
        "CREATE OR REPLACE TABLE wild AS SELECT i % 3 AS age, CASE i WHEN 4 THEN 'inf'::DOUBLE ELSE i END AS x"
        " FROM range(40) _ (i)"
    )
    wanted = sa.Policy(
        quasi_identifiers=["age"],
        insensitive=["x"],
        privacy=[sa.KAnonymity(2)],
        taxonomies={"age": {"kind": "flat"}},
        perturbation={"x": {"kind": "swap", "share": 0.5}},
    )
    session.anonymize("wild", wanted, "wild_released", random_source=sa.SeededSource(1), replace=True, listed=False)
    assert session.report("wild_released", wanted, source="wild").utility is None
