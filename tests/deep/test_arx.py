"""What ARX 3.9.2 (commit aacd487, OpenJDK 17) finds on its own Adult data, for every privacy model that both have.

The optima were computed with ARX's optimal search without practical monotonicity and its quality model "Loss" under the
geometric mean; the classes at a node with its transformation of that node. Attributes are in the order of the data,
the sensitive one left out. For k-map and δ-presence ARX's data are the population and its research subset the source.

ARX cuts the loss of an attribute off after ten digits. Three of its results differ and are not repeated here: it
rejects a class whose entropy is log l exactly if the logarithms round the wrong way; beside k-anonymity or l-diversity,
its δ-presence overlooks classes of the population that are absent from the subset; and its ordered t-closeness counts
values that occur only outside the subset among those of the order, which shortens every distance.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import sqlanon as sa
from sqlanon.model.lattice import Lattice
from sqlanon.model.privacy import PrivacyModel
from sqlanon.model.quality import QualityModel
from tests.conftest import ARX_COLUMNS, reading

pytestmark = pytest.mark.adult

Node = tuple[int, ...]

OVER_30 = "SELECT * FROM adult WHERE age > 30"
EVERY_SECOND = "SELECT * FROM adult WHERE rowid % 2 = 0"

K_5 = sa.KAnonymity(5)
GEOMETRIC = sa.LM(aggregate="geometric")

# source, privacy models, suppression limit, node, classes, suppressed rows, loss where ARX says it
OPTIMA: list[tuple[str, list[PrivacyModel], float, Node, int, int, float | None]] = [
    ("adult", [K_5], 0.05, (0, 3, 0, 0, 2, 1, 1, 2, 0), 397, 1346, 0.2419323651),
    ("adult", [K_5], 0, (0, 4, 1, 1, 3, 2, 2, 1, 0), 24, 0, None),
    ("adult", [sa.DistinctLDiversity("occupation", 3), K_5], 0, (0, 4, 1, 2, 3, 2, 0, 0), 26, 0, None),
    ("adult", [sa.TCloseness("occupation", 0.2), K_5], 0, (1, 4, 1, 1, 3, 2, 2, 1), 2, 0, None),
    ("adult", [sa.DistinctLDiversity("occupation", 3), K_5], 0.05, (0, 3, 0, 0, 2, 1, 1, 0), 387, 1400, 0.1717021812),
    ("adult", [sa.EntropyLDiversity("occupation", 5.5), K_5], 0, (0, 4, 0, 1, 3, 2, 2, 1), 20, 0, 0.6131717847),
    ("adult", [sa.RecursiveCLDiversity("occupation", 2, 4), K_5], 0, (0, 4, 1, 1, 3, 2, 2, 0), 8, 0, 0.6131717847),
    ("adult", [sa.TCloseness("occupation", 0.4), K_5], 0, (0, 4, 0, 1, 3, 2, 2, 1), 20, 0, 0.6131717847),
    ("adult", [sa.TCloseness("age", 0.15, "ordered")], 0, (0, 1, 1, 3, 2, 2, 1, 0), 24, 0, 0.5266446210),
    ("adult", [sa.TCloseness("education", 0.2, "ordered")], 0, (0, 4, 1, 2, 2, 0, 1, 0), 77, 0, 0.4594898593),
    ("adult", [sa.TCloseness("occupation", 0.2, "hierarchical")], 0, (0, 4, 1, 1, 3, 2, 2, 1), 4, 0, 0.7591763053),
    ("adult", [sa.BetaLikeness("occupation", 1)], 0, (1, 4, 1, 2, 3, 2, 2, 0), 2, 0, 0.8340080864),
    ("adult", [sa.BetaLikeness("education", 2, "enhanced")], 0, (0, 4, 1, 2, 2, 2, 1, 1), 6, 0, 0.7356357250),
    ("adult", [sa.DeltaDisclosure("occupation", 3), K_5], 0, (1, 4, 1, 0, 3, 2, 2, 1), 7, 0, 0.8340080864),
    (EVERY_SECOND, [sa.KMap(25, "adult")], 0, (0, 4, 1, 1, 3, 2, 2, 1, 0), 24, 0, 0.5733899696),
    (OVER_30, [sa.DeltaPresence(0.3, 0.9, "adult")], 0, (0, 4, 0, 1, 3, 2, 2, 2, 1), 20, 0, 0.6447758336),
]

# privacy model, node, classes, suppressed rows
CLASSES: list[tuple[PrivacyModel, Node, int, int]] = [
    (sa.EntropyLDiversity("occupation", 5.5), (0, 3, 0, 1, 3, 1, 2, 1), 64, 773),
    (sa.RecursiveCLDiversity("occupation", 0.5, 3), (1, 2, 0, 0, 1, 1, 1, 1), 98, 14811),
    (sa.TCloseness("occupation", 0.3), (1, 1, 0, 0, 3, 1, 2, 1), 88, 4623),
    (sa.TCloseness("age", 0.2, "ordered"), (1, 0, 1, 1, 0, 1, 1, 1), 903, 393),
    (sa.TCloseness("occupation", 0.3, "hierarchical"), (0, 2, 0, 1, 1, 1, 1, 1), 127, 8721),
    (sa.TCloseness("education", 0.2, "hierarchical"), (1, 1, 0, 1, 2, 2, 1, 1), 106, 6294),
    (sa.BetaLikeness("education", 3), (1, 0, 1, 1, 1, 1, 1, 0), 678, 13550),
    (sa.BetaLikeness("occupation", 2, "enhanced"), (1, 2, 0, 1, 2, 1, 0, 1), 73, 11448),
    (sa.DeltaDisclosure("occupation", 2), (0, 3, 0, 0, 2, 2, 1, 1), 110, 26358),
    (sa.DeltaDisclosure("salary-class", 1), (0, 3, 0, 2, 2, 1, 1, 0), 1233, 12710),
]


@pytest.fixture(scope="module")
def session(arx_adult: Path) -> Iterator[sa.Session]:
    with reading(arx_adult) as session:
        yield session


def policy_of(
    privacy: Sequence[PrivacyModel], limit: float = 0, node: Node | None = None, quality: QualityModel = GEOMETRIC
) -> sa.Policy:
    """A policy over ARX's attributes; with a node, that one alone."""
    sensitive = list(dict.fromkeys(column for model in privacy for column in model.columns))
    quasi_identifiers = [name for name in ARX_COLUMNS if name not in sensitive]
    levels = {} if node is None else dict(zip(quasi_identifiers, node, strict=True))
    return sa.Policy(
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive,
        privacy=privacy,
        quality=quality,
        suppression_limit=limit,
        minimum_levels=levels,
        maximum_levels=levels,
    )


@pytest.mark.parametrize(("source", "privacy", "limit", "node", "classes", "suppressed", "loss"), OPTIMA)
def test_the_optimum_is_the_one_of_arx(
    session: sa.Session,
    tmp_path: Path,
    source: str,
    privacy: list[PrivacyModel],
    limit: float,
    node: Node,
    classes: int,
    suppressed: int,
    loss: float | None,
) -> None:
    """ARX checks 1,218 nodes or more of 12,960."""
    report = session.anonymize(source, policy_of(privacy, limit), into=tmp_path / "arx.parquet").report
    assert tuple(report.node.values()) == node
    assert (report.class_count, report.suppressed_rows) == (classes, suppressed)
    assert loss is None or report.loss == pytest.approx(loss, abs=1e-9)
    assert report.proven_optimal
    assert privacy != [K_5] or report.checked_nodes < 1218


@pytest.mark.parametrize(("model", "node", "classes", "suppressed"), CLASSES)
def test_the_classes_that_are_suppressed_at_a_node_are_those_of_arx(
    session: sa.Session, tmp_path: Path, model: PrivacyModel, node: Node, classes: int, suppressed: int
) -> None:
    report = session.anonymize("adult", policy_of([model], 1, node), into=tmp_path / "arx.parquet").report
    assert (report.class_count, report.suppressed_rows) == (classes, suppressed)


# ARX's own optima on its Adult, as the issue gives them: k, percent, quality, loss, node
ARX_OPTIMA = [
    (5, 0, sa.DMStar(), 33_627_534, (1, 1, 1, 2, 3, 2, 2, 1, 1)),
    (5, 0, sa.Entropy(), 407_289.539, (1, 2, 1, 1, 3, 2, 2, 1, 1)),
    (5, 5, sa.DMStar(), 1_402_154, (0, 0, 1, 1, 2, 2, 2, 1, 1)),
    (5, 5, sa.Entropy(), 249_978.708, (0, 0, 1, 1, 2, 2, 2, 1, 1)),
]


@pytest.mark.parametrize(("k", "percent", "quality", "loss", "node"), ARX_OPTIMA)
def test_arx_optima(
    session: sa.Session, tmp_path: Path, k: int, percent: int, quality: sa.DMStar | sa.Entropy, loss: float, node: Node
) -> None:
    policy = policy_of([sa.KAnonymity(k)], percent / 100, quality=quality)
    report = session.anonymize("adult", policy, into=tmp_path / "arx.parquet").report
    assert report.lattice_nodes == 12960 == Lattice(tuple(ARX_COLUMNS), tuple(report.heights.values())).size
    assert tuple(report.node.values()) == node
    assert report.loss == pytest.approx(loss, abs=5e-4)


@pytest.mark.parametrize(
    ("quality", "most"), [(sa.DM(), 200), (sa.AECS(), 400), (sa.Prec(), 250)], ids=("dm", "aecs", "prec")
)
def test_few_nodes_are_checked_where_nothing_may_be_suppressed(
    session: sa.Session, tmp_path: Path, quality: sa.DM | sa.AECS | sa.Prec, most: int
) -> None:
    """Chosen as if as many nodes satisfied as fail, it would be 541 to 986."""
    report = session.anonymize("adult", policy_of([K_5], quality=quality), into=tmp_path / "arx.parquet").report
    assert report.proven_optimal
    assert report.checked_nodes < most


def test_few_nodes_are_checked_where_classes_prove_much_of_less_general_ones(
    session: sa.Session, tmp_path: Path
) -> None:
    """Of 4,320; by the sizes of classes alone 2,913."""
    models = [sa.KAnonymity(5), sa.TCloseness("occupation", 0.2)]
    report = session.anonymize("adult", policy_of(models, 0.05), into=tmp_path / "close.parquet").report
    assert (report.lattice_nodes, report.proven_optimal) == (4320, True)
    assert report.checked_nodes < 150


@pytest.mark.parametrize(("quality", "most"), [(sa.DM(), 1000), (sa.AECS(), 4000)], ids=("dm", "aecs"))
def test_few_nodes_are_checked_where_much_may_be_suppressed(
    session: sa.Session, tmp_path: Path, quality: sa.DM | sa.AECS, most: int
) -> None:
    """If what suppressed rows cost, and how few classes can be kept, proved nothing, it would be 6,728 and 6,486."""
    report = session.anonymize("adult", policy_of([K_5], 0.2, quality=quality), into=tmp_path / "arx.parquet").report
    assert report.proven_optimal
    assert report.checked_nodes < most


def test_the_average_class_size_of_arx(session: sa.Session, tmp_path: Path) -> None:
    """ARX counts the suppressed rows, as one class more; without them, to suppress 1,436 rows would pay."""
    policy = policy_of([K_5], 0.05, quality=sa.AECS())
    report = session.anonymize("adult", policy, into=tmp_path / "arx.parquet").report
    assert report.suppressed_rows == 906
    assert report.loss == pytest.approx(30162 / (report.class_count + 1) / 5)
    assert report.proven_optimal


PAID = ("sex", "age", "race", "marital-status", "education")


@pytest.mark.parametrize(
    ("limit", "node", "suppressed", "lost"),
    [(0.05, (1, 0, 1, 2, 2), 1427, 19_883_638.20), (1, (1, 3, 0, 0, 0), 6167, 16_536_411.79)],
)
def test_the_payout_of_a_publisher_against_whom_no_attack_pays_is_that_of_arx(
    session: sa.Session, tmp_path: Path, limit: float, node: Node, suppressed: int, lost: float
) -> None:
    """Within 5 % the optimum, of 270 nodes."""
    levels = {} if limit < 1 else dict(zip(PAID, node, strict=True))
    policy = sa.Policy(
        quasi_identifiers=PAID,
        rest="identifier",
        privacy=[sa.NoAttack(300, 4)],
        quality=sa.PublisherPayout(300, 4, 1200, 300),
        suppression_limit=limit,
        minimum_levels=levels,
        maximum_levels=levels,
    )
    report = session.anonymize("adult", policy, into=tmp_path / "arx.parquet").report
    assert tuple(report.node.values()) == node
    assert report.suppressed_rows == suppressed
    assert report.loss == pytest.approx(lost, abs=0.005)


@pytest.mark.parametrize(
    ("figures", "node", "suppressed", "lost"),
    [
        ((300, 4, 1200, 300), (0, 0, 0, 0, 0), 0, 1_805_100),
        ((50, 10, 100, 300), (0, 1, 0, 0, 0), 2578, 682_549.00143),
    ],
)
def test_the_classes_that_pay_their_publisher_are_those_of_arx(
    session: sa.Session, tmp_path: Path, figures: tuple[float, ...], node: Node, suppressed: int, lost: float
) -> None:
    policy = sa.Policy(
        quasi_identifiers=PAID,
        rest="identifier",
        privacy=[sa.Profitability(*figures)],
        quality=sa.PublisherPayout(*figures),
        suppression_limit=1,
        node=dict(zip(PAID, node, strict=True)),
    )
    report = session.anonymize("adult", policy, into=tmp_path / "arx.parquet").report
    assert report.suppressed_rows == suppressed
    assert report.loss == pytest.approx(lost, rel=1e-11)
    assert session.verify(tmp_path / "arx.parquet", policy).shortfalls == ()
