"""Partitions in the classes of a fit of local recoding, against lists of rows: each in the class of the least loss."""

import tempfile
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.methods.local.local_table import UNITS
from tests import oracle
from tests.brute_force import Labels
from tests.case_tables import store
from tests.effort import examples
from tests.oracle import Row, Rows
from tests.property.test_increments import (
    Published,
    Sequel,
    check_partition,
    check_parts,
    check_sidecar,
    sequels,
    session,
)

EXAMPLES = settings(max_examples=examples(8), deadline=None, suppress_health_check=[HealthCheck.too_slow])

ClassLabels = tuple[tuple[int, str | None], ...]
"""By quasi-identifier the level and the label of a class."""


@dataclass
class InClasses(Published):
    """What the oracle publishes of listed classes.

    Attributes:
        listed: the classes by their numbers.
    """

    listed: Mapping[int, ClassLabels] = field(default_factory=dict)

    def classes(self, rows: Rows) -> dict[Labels, Rows]:
        found = defaultdict(list)
        for row in rows:
            number = self.covering(row)
            if number is not None:
                found[tuple(label for _, label in self.listed[number])].append(row)
        return found

    def counts(self, rows: Rows) -> Counter[tuple[Any, ...]]:
        columns = self.sequel.policy.protected_columns
        return Counter(
            (*labels, *(row[name] for name in columns)) for labels, found in self.classes(rows).items() for row in found
        )

    def covering(self, row: Row) -> int | None:
        """The class of the least loss that covers a row, of several the first; None if there is none."""
        covering = [(self.loss(labels), number) for number, labels in self.listed.items() if self.covers(labels, row)]
        return min(covering)[1] if covering else None

    def covers(self, labels: ClassLabels, row: Row) -> bool:
        names, taxonomies = self.sequel.policy.quasi_identifiers, self.sequel.taxonomies
        return all(
            oracle.label_of(taxonomies[name], level, row[name]) == label
            for name, (level, label) in zip(names, labels, strict=True)
        )

    def loss(self, labels: ClassLabels) -> int:
        """What the labels of a class lose by LM, in the integers that are compared."""
        names = self.sequel.policy.quasi_identifiers
        lost = 0
        for name, (level, label) in zip(names, labels, strict=True):
            taxonomy = self.sequel.taxonomies[name]
            share = oracle.lm_share(oracle.leaves(taxonomy, level, label), len(taxonomy))
            lost += round(share * (1 / len(names) * UNITS))
        return lost


@st.composite
def local_sequels(draw: st.DrawFn) -> Sequel:
    """Sequels by a policy of local recoding, without a node."""
    found = draw(sequels())
    assume(not any(isinstance(model, sa.MConcealing) for model in found.policy.privacy))
    method = sa.LocalRecoding(suppression_limit=found.policy.suppression_limit)
    policy = found.policy.model_copy(update={"method": method})
    return replace(found, policy=policy, node=dict.fromkeys(found.node, 0))


def listed_in(sidecar: Path) -> dict[int, ClassLabels]:
    """The classes that a sidecar lists."""
    connection = session().connection
    connection.execute(f"ATTACH '{sidecar}' AS looked_at (READ_ONLY)")
    rows = connection.execute(
        "SELECT anon_class, list((depth, label) ORDER BY position) FROM looked_at.classes GROUP BY anon_class"
    ).fetchall()
    connection.execute("DETACH looked_at")
    return {number: tuple((depth, label) for depth, label in labels) for number, labels in rows}


@EXAMPLES
@given(sequel=local_sequels())
def test_rows_go_to_the_class_of_the_least_loss_and_all_partitions_meet_the_policy(sequel: Sequel) -> None:
    store(session().connection, "source_rows", sequel.columns, sequel.rows)
    for name, taxonomy in sequel.taxonomies.items():
        session().taxonomies.load(name, sa.Taxonomy.from_rows(taxonomy))
    with tempfile.TemporaryDirectory() as folder:
        sidecar = Path(folder) / "rows.fit"
        try:
            fit = session().partitions.fit(
                "source_rows", sequel.policy, sidecar, every_partition=sequel.every_partition
            )
        except sa.UnsatisfiableError:
            event("no fit")
            assume(False)
        published = InClasses(sequel, listed=listed_in(sidecar))
        check_fit(published, fit)
        for target, rows in sequel.partitions:
            check_partition(sequel, published, sidecar, target, rows)
            check_sidecar(published, sidecar)
        if published.released:
            check_parts(sequel, folder)


def check_fit(published: InClasses, fit: sa.Fit) -> None:
    """The classes hold on the source of the fit, with all rows that are not counted as suppressed."""
    classes = published.classes(published.sequel.rows)
    assert len(classes) == len(published.listed) == fit.class_count
    assert all(map(published.meets, classes.values()))
    assert sum(map(len, classes.values())) == fit.rows - fit.suppressed_rows
