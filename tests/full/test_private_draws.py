"""What is drawn for a release: combinations that nobody has, which rows of an individual count, and nothing else."""

import itertools
import math
from collections import Counter
from typing import Any

import duckdb
import numpy as np
import pytest

import sqlanon as sa
from sqlanon.chance.accountant import Accountant, Charge
from sqlanon.chance.exact import Integers, Probability, bounds
from sqlanon.methods.base import Run
from sqlanon.methods.noisy_node.ipa import draw_counts, public_domains, thresholds
from sqlanon.methods.noisy_node.shared import Draws, prepared
from sqlanon.model.methods.noisy import CELLS, ROLLED_UP, NoisyCounts
from sqlanon.nodes.table import encode_table
from sqlanon.queries.noise import Domain, equal_rows
from sqlanon.queries.published_rows import release
from sqlanon.queries.recodings import AtCut
from sqlanon.queries.source_rows import bounded_rows
from sqlanon.release import publishing
from tests.engines import engine_of

AGES, SEXES, ILLNESSES = range(4), "fm", ["cold", "flu", "x", None]
PEOPLE = [(0, "f", "flu"), (0, "f", "flu"), (2, "m", "cold"), (3, "f", "x"), (3, None, "cold")]


class AllUnseen(sa.SeededSource):
    """A source that adds the same to every count, and shows all combinations that nobody has, by as much more."""

    def __init__(self, noise: int, above: int) -> None:
        super().__init__(1)
        self.noise, self.above = noise, above
        self.asked: dict[str, Any] = {}
        self.charged: list[str] = []
        """The steps that noise was charged to, in the order of the draws."""

    def discrete_laplace(self, size: int, charge: Charge, *, sensitivity: int = 1) -> Integers:
        self.charged.append(charge.purpose)
        return np.full(size, self.noise, dtype=np.int64)

    def discrete_laplace_tail(self, size: int, charge: Charge, *, sensitivity: int = 1) -> Integers:
        self.asked |= {"charge": charge.purpose, "sensitivity": sensitivity, "size": size}
        return np.full(size, self.above, dtype=np.int64)

    def binomial(self, trials: int, probability: Probability, *, runs: int = 1) -> Integers:
        self.asked |= {"trials": trials, "probability": probability}
        return np.full(runs, trials, dtype=np.int64)


@pytest.fixture
def session() -> sa.Session:
    session = sa.connect(duckdb.connect(config={"threads": 1}))
    session.connection.execute("CREATE TABLE people (age INTEGER, sex VARCHAR, illness VARCHAR, person INTEGER)")
    session.connection.executemany(
        "INSERT INTO people VALUES (?, ?, ?, ?)", [(*person, place) for place, person in enumerate(PEOPLE)]
    )
    session.taxonomies.load("age", sa.Taxonomy.from_rows([[str(age), str(age // 2), "*"] for age in AGES]))
    session.taxonomies.load("sex", sa.Taxonomy.flat(list(SEXES)))
    session.taxonomies.load("illness", sa.Taxonomy.flat(ILLNESSES[:-1]))
    return session


def policy(method: NoisyCounts) -> sa.Policy:
    return sa.Policy(
        quasi_identifiers=["age", "sex"],
        sensitive=["illness"],
        identifiers=["person"],
        individual="person" if method.rows_per_individual > 1 else None,
        method=method,
    )


class TestUnseen:
    """With δ = 0 every combination of the public domain has noise, and what is shown tells nothing of who is there."""

    @pytest.mark.parametrize(
        ("levels", "rows", "above"), [((0, 0), 1, 0), ((1, 0), 3, 2), ((1, 1), 1, 2), ((2, 1), 3, 0)]
    )
    def test_all_of_the_domain_is_shown_once(
        self, session: sa.Session, levels: tuple[int, int], rows: int, above: int
    ) -> None:
        method = sa.IPA(
            budget=sa.Budget(1),
            node=dict(zip(("age", "sex"), levels, strict=True)),
            rows_per_individual=rows,
            accept_observed_domain=True,
        )
        source = AllUnseen(100, above)
        release = session.anonymize("people", policy(method), "released", random_source=source)
        least = release.report.thresholds
        shown = Counter(session.connection.execute("SELECT age, sex, illness FROM released").fetchall())
        of_nobody = dict.fromkeys(self.domain(levels), least[CELLS] + above)
        of_people = Counter(self.combination(person, levels) for person in PEOPLE)
        left_over = Counter({("*", "*", illness): 100 for illness in ILLNESSES})
        expected = Counter({**of_nobody, **{key: count + 100 for key, count in of_people.items()}})
        assert shown == expected + left_over
        assert source.charged == [CELLS, ROLLED_UP]
        assert source.asked["charge"] == CELLS
        assert source.asked["sensitivity"] == rows
        assert source.asked["trials"] == source.asked["size"] == len(expected) - len(of_people)
        base = math.exp(-float(method.budgets[CELLS].epsilon) / rows)
        assert float(bounds(source.asked["probability"], 64)[0]) == pytest.approx(base ** least[CELLS] / (1 + base))

    def test_what_is_left_over_of_a_value_has_noise_though_nobody_has_it(self, session: sa.Session) -> None:
        """Where no combination is shown."""
        session.connection.execute("DELETE FROM people WHERE illness = 'cold'")
        method = sa.IPA(budget=sa.Budget(1), node={"age": 2, "sex": 1}, minimum_count=1 << 20)
        release = session.anonymize("people", policy(method), "released", random_source=NothingUnseen(50, 0))
        shown = Counter(session.connection.execute("SELECT age, sex, illness FROM released").fetchall())
        assert release.report.thresholds[ROLLED_UP] <= 50
        assert shown == {("*", "*", "cold"): 50, ("*", "*", "flu"): 52, ("*", "*", "x"): 51, ("*", "*", None): 50}

    def domain(self, levels: tuple[int, int]) -> list[tuple[str | None, ...]]:
        """All combinations of labels and value: NULL is a label below the top."""
        ages = [str(age // 2 if levels[0] else age) for age in AGES] if levels[0] < 2 else ["*"]
        sexes = list(SEXES) if levels[1] == 0 else ["*"]
        labels = [
            [*dict.fromkeys(found), *([None] if level < top else [])]
            for found, level, top in ((ages, levels[0], 2), (sexes, levels[1], 1))
        ]
        return list(itertools.product(*labels, ILLNESSES))

    def combination(self, person: tuple[int, str | None, str], levels: tuple[int, int]) -> tuple[str | None, ...]:
        age, sex, illness = person
        return [str(age), str(age // 2), "*"][levels[0]], [sex, "*"][levels[1]], illness


def test_counts_of_a_cut_have_noise_as_those_of_a_node_have(session: sa.Session) -> None:
    """Ages up to 1 as one, all above by year: no node of the lattice."""
    method = sa.Histogram(budget=sa.Budget(1), node={"age": 0, "sex": 0}, accept_observed_domain=True)
    engine, source = engine_of(session), AllUnseen(100, 2)
    cuts = [(1, "0"), (0, "2"), (0, "3")], [(0, str(sex)) for sex in SEXES]
    accountant = Accountant(None, dataset="", method=method.name, policy_sha256="")
    draws = Draws(method, source, accountant.charge(method.budgets))
    domain = Domain((4, 3), len(ILLNESSES))
    with engine.transaction(), engine.scratch():
        bound = prepared(engine, engine.resolve("people"), policy(method))
        table = encode_table(engine, bound, label_losses=("ncp",))
        assert public_domains(engine, table).values == domain.values
        recoding = AtCut(table.encoding, cuts)
        publishing.make_cuts(engine, recoding)
        relations = draw_counts(engine, table, recoding, draws, domain)
        publishing.make_labels(engine, recoding)
        engine.run(equal_rows(recoding, relations, with_left_over=False))
        shown = Counter(session.connection.execute(release(table.encoding).sql("duckdb")).fetchall())
    labels = {0: "0", 1: "0", 2: "2", 3: "3"}
    of_people = Counter((labels[age], sex, illness) for age, sex, illness in PEOPLE)
    least = thresholds(method, domain)[CELLS]
    of_nobody = dict.fromkeys(itertools.product(("0", "2", "3", None), (*SEXES, None), ILLNESSES), least + 2)
    assert shown == Counter({**of_nobody, **{key: count + 100 for key, count in of_people.items()}})
    assert least + 2 != 100


class NothingUnseen(AllUnseen):
    """A source that shows no combination that nobody has."""

    def binomial(self, trials: int, probability: Probability, *, runs: int = 1) -> Integers:
        return np.zeros(runs, dtype=np.int64)


def test_rows_of_an_individual_are_chosen_by_the_seed(session: sa.Session) -> None:
    session.connection.execute("CREATE TABLE visits AS SELECT i // 40 AS person, i AS visit FROM range(400) AS r (i)")
    relation = engine_of(session).resolve("visits").relation

    def kept(seed: int) -> set[tuple[int, int]]:
        rows = bounded_rows(relation, "person", 1, seed, ["person", "visit"]).sql("duckdb")
        return set(session.connection.execute(f"SELECT person, visit FROM {rows}").fetchall())

    first, again, other = kept(1), kept(1), kept(2)
    assert first == again
    assert first != other
    assert len(first) == len(other) == 10


def test_a_release_that_is_not_what_was_drawn_is_withdrawn(
    session: sa.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = Run.released_rows
    monkeypatch.setattr(Run, "released_rows", lambda *given: honest(*given).limit(1, copy=False))
    method = sa.Histogram(budget=sa.Budget(1, "0.01"), node={"age": 2, "sex": 1})
    with pytest.raises(sa.VerificationError, match="the written release differs from the drawn one"):
        session.anonymize("people", policy(method), "released", random_source=AllUnseen(100, 0))
    assert session.connection.execute(
        "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'released'"
    ).fetchall() == [(0,)]
