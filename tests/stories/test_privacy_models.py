"""Privacy models through the engine, where random tables would seldom look: printed numbers and rare inputs."""

import json
import math
from collections.abc import Mapping
from typing import ClassVar, Literal

import pytest

import sqlanon as sa
from tests import oracle


def table(session: sa.Session, columns: str, rows: str) -> None:
    session.connection.execute(f"CREATE TABLE people AS SELECT * FROM ({rows}) AS given ({columns})")
    session.taxonomies.load("q", sa.Taxonomy.flat(), source="people")


def attained(session: sa.Session, release: sa.Release) -> list[float | None]:
    """What the last bound attains: by the engine's classes, and by the macros over the release."""
    provenance = json.loads(session.provenance(release.into) or "")["sqlanon"]
    return [provenance["privacy"][-1]["attained"], release.report.models[-1].attained]


class TestEntropyDiversity:
    """exp(H) is shown to 12 decimals, which the sum of logarithms is good for."""

    def test_one_value_is_one(self, session: sa.Session) -> None:
        """The sum alone makes 0.9999999999999996 or 1.0000000000000004 of these."""
        session.taxonomies.load("q", sa.Taxonomy.flat(["a"]))
        policy = sa.Policy(quasi_identifiers=["q"], sensitive=["s"], privacy=[sa.EntropyLDiversity("s", 2)])
        for rows in (22, 26):
            session.connection.execute(
                f"CREATE OR REPLACE TABLE people AS SELECT 'a' AS q, 'b' AS s FROM range({rows})"
            )
            assert session.measure("people", policy).models[-1].attained == 1.0


class TestMConcealing:
    """spec/mconcealing.md (e)."""

    ROWS: ClassVar = [
        ("A", "x", "u"),
        ("A", "x", "v"),
        ("A", "y", "u"),
        ("A", "y", "u"),
        ("B", "x", "u"),
        ("B", "x", "u"),
    ]

    @pytest.fixture
    def people(self, session: sa.Session) -> sa.Session:
        table(session, "q, s1, s2", f"VALUES {', '.join(map(str, self.ROWS))}")
        return session

    @staticmethod
    def policy(*models: sa.MConcealing, **options: object) -> sa.Policy:
        return sa.Policy(quasi_identifiers=["q"], sensitive=["s1", "s2"], privacy=models, quality=sa.Prec(), **options)

    def largest_risk(self, prior: Mapping[str, float], quasi_identifiers: list[str]) -> float:
        rows = [dict(zip(("q", "s1", "s2"), row, strict=True)) for row in self.ROWS]
        return max(record["anon_m"] for record in oracle.record_risks(rows, quasi_identifiers, prior))

    def test_the_largest_risk(self, people: sa.Session) -> None:
        """Bounds that the classes just meet."""
        priors = {(0.1, 0.2): 0.5, (0, 0): 0.5, (1, 1): 1}
        models = []
        for (first, second), m in priors.items():
            prior = {"s1": first, "s2": second}
            models.append(sa.MConcealing(m, prior, "node" if first == 0 else "class"))
            assert self.largest_risk(prior, ["q"]) == pytest.approx(m)
        release = people.anonymize("people", self.policy(*models), "out")
        assert release.node == {"q": 0}
        assert release.report.suppressed_rows == 0
        recorded = json.loads(people.provenance("out") or "")["sqlanon"]["privacy"]
        assert [model.attained for model in release.report.models] == pytest.approx([*priors.values()])
        assert [model["attained"] for model in recorded] == pytest.approx([*priors.values()])

    def test_a_class_above_m_is_suppressed(self, people: sa.Session) -> None:
        model = sa.MConcealing(0.42, {"s1": 0.1, "s2": 0.2})
        release = people.anonymize("people", self.policy(model, suppression_limit=0.34), "out")
        assert release.node == {"q": 0}
        assert release.report.suppressed_rows == 2
        assert attained(people, release) == pytest.approx([0.42, 0.42])

    def test_a_node_above_m_is_rejected(self, people: sa.Session) -> None:
        prior = {"s1": 0.1, "s2": 0.2}
        model = sa.MConcealing(0.42, prior, "node")
        release = people.anonymize("people", self.policy(model, suppression_limit=0.34), "out")
        assert release.node == {"q": 1}
        assert release.report.suppressed_rows == 0
        whole = self.largest_risk(prior, [])
        assert attained(people, release) == pytest.approx([whole, whole])

    @pytest.mark.parametrize(
        ("prior", "size", "inverse_m"),
        [
            ((0.01, 0.01, 0.01), 104, 25.62),
            ((0.05, 0.05, 0.05), 7003, 7.01),
            ((0.05, 0.01, 0.01), 228, 13.70),
            ((0.01, 0.01, 0.01, 0.01, 0.01), 8, 5.96),
        ],
    )
    def test_rows_that_any_secret_tells_apart(
        self, session: sa.Session, prior: tuple[float, ...], size: int, inverse_m: float
    ) -> None:
        """Mazzone 2019, section 6.1.4, spec/mconcealing.md (d): the least 1/m of a class of k rows."""
        names = [f"s{position}" for position in range(len(prior))]
        table(session, f"q, {', '.join(names)}", f"SELECT 'A'{', i' * len(prior)} FROM range({size}) AS numbers (i)")
        known = dict(zip(names, prior, strict=True))
        policy = sa.Policy(quasi_identifiers=["q"], sensitive=names, privacy=[sa.MConcealing(1, known)])
        (found,) = session.measure("people", policy).models
        assert found.attained is not None
        assert 1 / found.attained == pytest.approx(inverse_m, abs=0.005)
        assert 1 / found.attained == pytest.approx(oracle.largest_inverse_m(size, known))

    def test_a_risk_is_no_more_than_certain(self, session: sa.Session) -> None:
        """The probabilities of all states of this prior sum to a last digit more than 1."""
        table(session, "q, s1, s2, s3", "SELECT i, i, i, i FROM range(4) AS numbers (i)")
        model = sa.MConcealing(1, {"s1": 0.05, "s2": 0.05, "s3": 0.15})
        policy = sa.Policy(
            quasi_identifiers=["q"],
            sensitive=["s1", "s2", "s3"],
            privacy=[model],
            quality=sa.Prec(),
            objective="privacy",
            max_loss=0,
        )
        assert attained(session, session.anonymize("people", policy, "out")) == [1, 1]

    def test_inverse_ola_with_two_priors_keeps_both(self, people: sa.Session) -> None:
        models = [sa.MConcealing(0.6, {"s1": 0.1}), sa.MConcealing(1, {"s2": 1})]
        policy = sa.Policy(
            quasi_identifiers=["q"],
            sensitive=["s1", "s2"],
            privacy=models,
            quality=sa.Prec(),
            objective="privacy",
            max_loss=0,
        )
        release = people.anonymize("people", policy, "out")
        assert [result.required for result in release.report.models] == [0.6, 1]
        assert [result.attained for result in release.report.models] == pytest.approx([0.5, 1])


def test_inverse_ola_that_may_suppress_everything_keeps_the_largest_classes(session: sa.Session) -> None:
    table(session, "q", "SELECT unnest([1, 1, 2, 2, 2, 3, 3, 3])")
    policy = sa.Policy(
        quasi_identifiers=["q"], privacy=[], quality=sa.Prec(), objective="privacy", max_loss=0, suppression_limit=1
    )
    release = session.anonymize("people", policy, "out")
    assert (release.report.rows.released, release.report.min_class_size) == (6, 3)
    assert [str(result.model) for result in release.report.models] == ["k-anonymity (k = 3)"]


def test_the_order_of_an_enum_is_that_of_its_type(session: sa.Session) -> None:
    """low, mid, high: the release holds them as text, in whose order high comes first."""
    session.connection.execute("CREATE TYPE size AS ENUM ('low', 'mid', 'high')")
    rows = "SELECT i // 2, ['low', 'mid', 'low', 'high'][i + 1]::size FROM range(4) AS numbers (i)"
    table(session, "q, s", rows)
    model = sa.TCloseness("s", 1, "ordered")
    policy = sa.Policy(quasi_identifiers=["q"], sensitive=["s"], privacy=[model], quality=sa.Prec())
    release = session.anonymize("people", policy, "out")
    expected = oracle.ordered_distance([1, 2], [1, 2, 1, 3], [1, 2, 3])
    assert attained(session, release) == pytest.approx([expected, expected])


@pytest.mark.parametrize(
    ("type_name", "texts"), [("DOUBLE", ["0.0", "-0.0", "1"]), ("INTERVAL", ["1 month", "30 days", "1 day"])]
)
def test_equal_values_are_one_value_whatever_their_texts(session: sa.Session, type_name: str, texts: list[str]) -> None:
    """Half of the rows of each class have it: in one class in both texts, in the others in one of them."""
    connection = session.connection
    connection.execute(f"CREATE TABLE values_of_classes (q INTEGER, s {type_name})")
    one, other, last = texts
    rows = [(q, s) for q, pair in enumerate([(one, other), (one, one), (other, other)]) for s in (*pair, last, last)]
    connection.executemany("INSERT INTO values_of_classes VALUES (?, ?)", rows)
    table(session, "q, s", "FROM values_of_classes")
    distances = [sa.TCloseness("s", 0.001, "equal"), sa.TCloseness("s", 0.001, "ordered"), sa.BetaLikeness("s", 0.001)]
    models = [sa.DistinctLDiversity("s", 2), *distances]
    policy = sa.Policy(quasi_identifiers=["q"], sensitive=["s"], privacy=models, quality=sa.Prec())
    release = session.anonymize("people", policy, "out")
    recorded = json.loads(session.provenance("out") or "")["sqlanon"]["privacy"]
    for found in ([model.attained for model in release.report.models], [model["attained"] for model in recorded]):
        assert found == pytest.approx([2, 0, 0, 0])
    assert release.report.node == {"q": 0}
    kept = connection.sql("SELECT CAST(s AS VARCHAR) FROM out").fetchall()
    spelled = connection.sql("SELECT CAST(s AS VARCHAR) FROM people").fetchall()
    assert sorted(kept) == sorted(spelled)


@pytest.mark.parametrize(("variant", "expected"), [("basic", 1), ("enhanced", math.inf)])
def test_a_gain_beyond_the_logarithm_meets_no_enhanced_likeness(
    session: sa.Session, variant: Literal["basic", "enhanced"], expected: float
) -> None:
    """A class of nothing but x, which half of the rows have: its gain of 1 is more than -ln(0.5)."""
    table(session, "q, s", "VALUES ('A', 'x'), ('A', 'x'), ('B', 'y'), ('B', 'y')")
    model = sa.BetaLikeness("s", 2, variant)
    policy = sa.Policy(quasi_identifiers=["q"], sensitive=["s"], privacy=[model])
    (found,) = session.measure("people", policy).models
    assert (found.attained, found.met) == (expected, variant == "basic")


def test_verification_knows_the_individuals_that_a_release_leaves_out(session: sa.Session) -> None:
    table(session, "q, who", "SELECT 'A', i % 2 FROM range(6) AS numbers (i)")
    for count, bound in ((2, 2), (None, 3)):
        policy = sa.Policy(
            quasi_identifiers=["q"], identifiers=["who"], individual="who", privacy=[sa.KAnonymity(bound)]
        )
        if count is None:
            with pytest.raises(sa.UnsatisfiableError):
                session.anonymize("people", policy, "out", replace=True)
        else:
            assert attained(session, session.anonymize("people", policy, "out")) == [2, 2]
            assert session.verify("out", policy).measurement.notes[0].startswith("classes count rows")


def test_rows_of_nobody_add_no_individual_to_a_measurement(session: sa.Session) -> None:
    table(session, "q, who", "VALUES ('A', 1), ('A', NULL), ('A', NULL)")
    policy = sa.Policy(quasi_identifiers=["q"], insensitive=["who"], individual="who", privacy=[sa.KAnonymity(2)])
    [result] = session.measure("people", policy).models
    assert (result.attained, result.met) == (1, False)


def test_presence_is_measured_where_it_is_least_and_where_it_is_most(session: sa.Session) -> None:
    session.connection.execute(
        "CREATE TABLE few AS SELECT ['f', 'f', 'm'][1 + i] AS sex, 'flu' AS illness FROM range(3) AS numbers (i); "
        "CREATE TABLE all_of_them (sex VARCHAR); "
        "INSERT INTO all_of_them SELECT 'f' FROM range(4); INSERT INTO all_of_them SELECT 'm' FROM range(10)"
    )
    session.taxonomies.load("sex", sa.Taxonomy.flat(["f", "m"]))
    presence = sa.DeltaPresence(0.2, 0.4, "all_of_them")
    policy = sa.Policy(quasi_identifiers=["sex"], sensitive=["illness"], privacy=[presence])
    least, most = session.measure("few", policy).models[:2]
    assert (least.comparison, least.attained, least.met) == (">=", 0.1, False)
    assert (most.comparison, most.attained, most.met) == ("<=", 0.5, False)
