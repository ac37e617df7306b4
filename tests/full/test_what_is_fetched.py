"""What comes from DuckDB to Python: counts of nodes, of labels and of the release, and never a row for each cell.

Each method releases Adult while an engine writes down how many rows each fetch has. The methods that draw fetch what
they draw by, and no more: a test lists it with its reason.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from sqlanon.engines.duckdb import Compute
from sqlanon.methods.local.peeling import MAX_BATCH_NODES
from sqlanon.nodes.counting import NODES_AT_ONCE
from tests.conftest import ARX_COLUMNS, reading
from tests.effort import some

pytestmark = pytest.mark.adult

Fetched = Mapping[str, int]
"""The most rows that came by a fetch, by its purpose."""

OTHERS = [name for name in ARX_COLUMNS if name != "occupation"]
VALUES: dict[str, Any] = {"quasi_identifiers": OTHERS, "sensitive": ["occupation"]}
UNLIMITED: dict[str, Any] = {"privacy": [], "suppression_limit": []}
COUNTED: dict[str, dict[str, Any]] = {
    "k-anonymity": {"quasi_identifiers": ARX_COLUMNS},
    "no suppression": {"quasi_identifiers": ARX_COLUMNS, "suppression_limit": 0.0},
    "OLA": {"quasi_identifiers": ARX_COLUMNS[:6], "method": sa.FullDomain(search="ola"), "quality": sa.Prec()},
    "distinct l-diversity": VALUES | {"privacy": [sa.DistinctLDiversity("occupation", 3)]},
    "t-closeness": VALUES | {"privacy": [sa.KAnonymity(5), sa.TCloseness("occupation", 0.3)]},
    "delta-disclosure": VALUES | {"privacy": [sa.KAnonymity(5), sa.DeltaDisclosure("occupation", 1.5)]},
    "beta-likeness": VALUES | {"privacy": [sa.KAnonymity(5), sa.BetaLikeness("occupation", 2)]},
    "top-down specialization": {
        "quasi_identifiers": ARX_COLUMNS[:5],
        "sensitive": ["salary-class"],
        "method": sa.TopDownSpecialization(5),
    }
    | UNLIMITED,
    "relocation": VALUES | {"quasi_identifiers": ARX_COLUMNS[:5], "method": sa.Relocation(5, limit=0.1)} | UNLIMITED,
    "earlier releases": {"quasi_identifiers": ARX_COLUMNS[:6], "earlier": ["first"]},
    "local recoding": {"quasi_identifiers": ARX_COLUMNS[:6], "method": sa.LocalRecoding(lower_bound=True)},
    "local recoding, distinct l-diversity": VALUES
    | {"privacy": [sa.DistinctLDiversity("occupation", 3)], "method": sa.LocalRecoding()},
    "local recoding, entropy l-diversity": VALUES
    | {
        "quasi_identifiers": ARX_COLUMNS[:5],
        "privacy": [sa.EntropyLDiversity("occupation", 4)],
        "method": sa.LocalRecoding(),
    },
}

ABOUT_LABELS = {"taxonomies", "labels", "losses of labels", "losses of levels", "check a taxonomy"}
"""Fetches that have a row for each level or label of a taxonomy, whatever rows there are."""

SCORES = "a score for each node that the exponential mechanism chooses from"
DRAWN: dict[str, dict[str, str]] = {
    "histogram": {},  # noise is drawn for the places of the node, and added in DuckDB
    "ipa": {"scores of nodes": SCORES},
    "epsilon-safe": {"scores of nodes": SCORES, "classes": "the rows of each class that is shown, to draw which stay"},
    "diffgen": {
        "labels of the cut": "the labels that are published",
        "scores of specializations": "a score for each label that can be specialized, to choose from",
    },
    "synthetic": {"marginals": "the counts of marginals, to which noise is added"},
    "h-ceiling": {
        "nodes of the lattice": "the nodes that are looked at, a row each",
        "classes by what they lack": "how many classes lack how many rows, which are drawn",
        "entropies of values by label": "what a label says of a sensitive value, a row a level",
        "values of identifiers": "a count for each identifier that is dropped",
        "how general rows are": "the rows by level, for the choice of counterfeits",
        "what labels lose at all levels": "a loss for each label",
    },
}
"""What the methods that draw fetch beside that, and what for."""

BUDGET = sa.Budget("1", "1e-6")
DRAWING: dict[str, Any] = {
    "histogram": sa.Histogram(budget=BUDGET, node=dict.fromkeys(ARX_COLUMNS[:6], 1), accept_observed_domain=True),
    "ipa": sa.IPA(budget=BUDGET, accept_observed_domain=True),
    "epsilon-safe": sa.EpsilonSafe(k=20, beta="1/10", accept_observed_domain=True),
    "diffgen": sa.DiffGen(budget=sa.Budget("1"), specializations=10, accept_observed_domain=True),
    "synthetic": sa.Synthetic(budget=BUDGET, accept_observed_domain=True),
    "h-ceiling": sa.HCeiling(5, h=0.5),
}


@contextmanager
def fetched() -> Iterator[Fetched]:
    """Write down what is fetched in a block."""
    found: dict[str, int] = defaultdict(int)
    patch = pytest.MonkeyPatch()
    rows, arrays = Compute.fetch, Compute.arrays

    def counted_rows(self: Compute, query: Any, purpose: str, grain: Any = "count") -> Any:
        result = rows(self, query, purpose, grain)
        found[purpose] = max(found[purpose], len(result))
        return result

    def counted_arrays(self: Compute, query: Any, purpose: str) -> Any:
        result = arrays(self, query, purpose)
        found[purpose] = max(found[purpose], *map(len, result.values()))
        return result

    with patch.context() as patched:
        patched.setattr(Compute, "fetch", counted_rows)
        patched.setattr(Compute, "arrays", counted_arrays)
        yield found


def policy(**settings: Any) -> sa.Policy:
    """A policy that drops the columns that it does not name."""
    named = [*settings["quasi_identifiers"], *settings.get("sensitive", ())]
    settings = {name: value for name, value in settings.items() if value != []}
    return sa.Policy(identifiers=[name for name in ARX_COLUMNS if name not in named], **settings)


@pytest.fixture(scope="module")
def session(arx_adult: Path) -> Iterator[sa.Session]:
    with reading(arx_adult) as session:
        yield session


FEW = "k-anonymity", "OLA", "t-closeness", "top-down specialization", "earlier releases", "local recoding"


@pytest.mark.repeated
@pytest.mark.parametrize("title", some(COUNTED, *FEW))
def test_no_fetch_has_a_row_for_each_cell(session: sa.Session, title: str, tmp_path: Path) -> None:
    settings = {"privacy": [sa.KAnonymity(5)], "suppression_limit": 0.05} | COUNTED[title]
    if "earlier" in settings:
        first = policy(quasi_identifiers=ARX_COLUMNS[1:4], privacy=[sa.KAnonymity(5)])
        session.anonymize("adult", first, tmp_path / "first.parquet")
        settings["earlier"] = [sa.Earlier(str(tmp_path / "first.parquet"))]
    with fetched() as found:
        report = session.anonymize("adult", policy(**settings), tmp_path / "released.parquet").report
    if title.startswith("local recoding"):
        assert found.pop("classes") == report.class_count, "those that are published, for the record"
    labels = sum(sum(each["labels"]) for each in session.taxonomies.list().values())
    assert found.get("nodes of the lattice", 0) <= NODES_AT_ONCE
    assert max(found.values()) <= max(MAX_BATCH_NODES if "local" in title else NODES_AT_ONCE, labels)


@pytest.mark.parametrize("name", DRAWN)
def test_methods_that_draw_fetch_what_they_draw_by(session: sa.Session, name: str, tmp_path: Path) -> None:
    sensitive = [] if name in ("epsilon-safe", "synthetic") else ["salary-class" if name == "diffgen" else "occupation"]
    wanted = policy(quasi_identifiers=ARX_COLUMNS[:6], sensitive=sensitive, method=DRAWING[name])
    source = None if name == "h-ceiling" else sa.SeededSource(1)
    with fetched() as found:
        session.anonymize("adult", wanted, tmp_path / "released.parquet", random_source=source)
    several = {purpose for purpose, rows in found.items() if rows > 1}
    assert several - ABOUT_LABELS == {*DRAWN[name]}, sorted(found.items())
