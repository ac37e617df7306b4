"""What releases each loss leads to: the columns that become ``*``, the information that others keep, the rows that go.

    python -m tests.benchmarks.losses

Needs the Adult data (SQLANON_DATA). Prints a row per table, k, suppression limit and loss, and then the means by loss.
Information is that of Entropy: of each quasi-identifier the share of the bits of its column that labels tell, times the
share of rows that are released. The last columns of a row are its mean over quasi-identifiers, its least, the share of
suppressed rows, all in percent, and the columns at the top; of the means, the share of columns that are there.
"""

import statistics
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import sqlanon as sa
from sqlanon.binding.prepare import prepare
from sqlanon.model.quality import QualityModel
from sqlanon.nodes import choice
from sqlanon.nodes.table import encode_table
from sqlanon.run.demo import TAXONOMIES, invent
from tests.benchmarks.processes import say
from tests.conftest import ARX_COLUMNS, DATA, UCI_COLUMNS, UCI_QUASI_IDENTIFIERS, make_adult
from tests.engines import engine_of

LOSSES: dict[str, QualityModel] = {
    "Entropy": sa.Entropy(),
    "charged Entropy": sa.Entropy(suppressed="charged"),
    "Prec": sa.Prec(),
    "charged Prec": sa.Prec(suppressed="charged"),
    "LM": sa.LM(),
    "geometric LM": sa.LM(aggregate="geometric"),
    "NCP": sa.NCP(),
}

HOSPITAL_ROWS = 5000


@dataclass(frozen=True)
class Outcome:
    """What a loss leads to.

    Attributes:
        stars: the quasi-identifiers at the top level.
        kept: by quasi-identifier, the share of its information that the release tells.
        suppressed: the share of rows that are suppressed.
    """

    stars: list[str]
    kept: list[float]
    suppressed: float


def main() -> None:
    outcomes: dict[str, list[Outcome]] = {name: [] for name in LOSSES}
    with tempfile.TemporaryDirectory() as folder:
        for title, path, table, policy in tables(Path(folder)):
            for k, limit in ((k, limit) for k in (5, 10) for limit in (0.0, 0.01, 0.05)):
                for name, quality in LOSSES.items():
                    wanted = policy_of(policy, k, limit, quality)
                    with sa.connect(path) as session:
                        outcome = outcome_of(session, table, wanted)
                    outcomes[name].append(outcome)
                    stars = ", ".join(outcome.stars) or "none"
                    line(title, f"k={k}", f"{100 * limit:g} %", name, *figures(outcome), stars)
    for name, found in outcomes.items():
        stars = statistics.mean(len(outcome.stars) / len(outcome.kept) for outcome in found)
        least = statistics.mean(min(outcome.kept) for outcome in found)
        mean = statistics.mean(statistics.mean(outcome.kept) for outcome in found)
        suppressed = statistics.mean(outcome.suppressed for outcome in found)
        line("mean", "", "", name, f"{100 * mean:.1f}", f"{100 * least:.1f}", f"{100 * suppressed:.2f}", f"{stars:.2f}")


def line(*cells: str) -> None:
    widths = (9, 5, 4, 16, 6, 6, 6, 0)
    say("  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip())


def figures(outcome: Outcome) -> tuple[str, str, str]:
    """The mean and the least share of information that is kept, and the share of suppressed rows, in percent."""
    mean, least = statistics.mean(outcome.kept), min(outcome.kept)
    return f"{100 * mean:.1f}", f"{100 * least:.1f}", f"{100 * outcome.suppressed:.2f}"


def tables(folder: Path) -> Iterator[tuple[str, Path, str, sa.Policy]]:
    with sa.connect(folder / "hospital.duckdb") as session:
        invent(engine_of(session), rows=HOSPITAL_ROWS, seed=1)
        for name, taxonomy in TAXONOMIES.items():
            session.taxonomies.load(name, taxonomy, source="visits")
    hospital = sa.Policy(
        quasi_identifiers=list(TAXONOMIES),
        sensitive=["diagnosis"],
        identifiers=["patient_id", "ssn"],
        insensitive=["length_of_stay"],
        privacy=[sa.KAnonymity(5)],
    )
    yield "hospital", folder / "hospital.duckdb", "visits", hospital
    others = [name for name in UCI_COLUMNS if name not in UCI_QUASI_IDENTIFIERS]
    uci = sa.Policy(quasi_identifiers=UCI_QUASI_IDENTIFIERS, insensitive=others, privacy=[sa.KAnonymity(5)])
    yield "UCI Adult", make_adult(folder / "uci.duckdb", DATA / "adult_uci"), "adult", uci
    arx = sa.Policy(quasi_identifiers=ARX_COLUMNS, privacy=[sa.KAnonymity(5)])
    yield "ARX Adult", make_adult(folder / "arx.duckdb", DATA / "adult_arx"), "adult", arx


def policy_of(policy: sa.Policy, k: int, limit: float, quality: QualityModel) -> sa.Policy:
    return sa.Policy(**{**dict(policy), "privacy": [sa.KAnonymity(k)], "suppression_limit": limit, "quality": quality})


def outcome_of(session: sa.Session, table: str, policy: sa.Policy) -> Outcome:
    engine = engine_of(session)
    bound = prepare(engine, engine.resolve(table), policy)
    with engine.transaction(), engine.scratch():
        encoded = encode_table(engine, bound, label_losses=policy.quality.label_losses)
        best = choice.choose_node(engine, encoded, lambda *_: None).best
        assert best is not None
        suppressed = best.suppressed_rows / encoded.context.row_count
        lattice, bits = encoded.context.lattice, encoded.context.losses.entropy
        places = list(zip(policy.quasi_identifiers, best.levels, lattice.heights, bits, strict=True))
        kept = [(1 - suppressed) * (1 - lost[level] / lost[-1]) for _, level, _, lost in places]
    return Outcome([name for name, level, height, _ in places if level == height], kept, suppressed)


if __name__ == "__main__":
    main()
