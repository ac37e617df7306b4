"""Rows that are not in the database: the same releases and reports, and nothing but counts comes near."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import pytest

import sqlanon as sa
from sqlanon.engines.duckdb import OpenedDatabase
from sqlanon.methods.full_domain.full_domain_run import FullDomainRun
from sqlanon.run import demo
from tests.effort import some
from tests.far_rows import FarRows
from tests.far_stays import FEW, POLICIES, SEARCHED, T_CLOSENESS, TABLES, Sides, open_stays, policy, with_far_rows
from tests.reports import alone


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sides]:
    with duckdb.connect(config={"threads": 1}) as connection:
        open_stays(connection)
        yield with_far_rows(connection, tmp_path_factory.mktemp("far"), "visits", *TABLES.values())


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sides]:
    """20,000 invented visits of the demonstration."""
    with duckdb.connect(config={"threads": 1}) as connection:
        engine = OpenedDatabase(connection, owned=False).engine()
        with mock.patch.object(type(engine), "install"):  # of macros, which no run needs
            demo.invent(engine, rows=20_000, seed=1)
        sa.connect(connection).taxonomies.load_all({name: demo.TAXONOMIES[name] for name in ("age", "sex")})
        yield with_far_rows(connection, tmp_path_factory.mktemp("far"), "visits")


ALL_KEPT = {"identifiers": ["id"], "insensitive": ["patient", "nights"]}
CODED = {"bottom_coding": {"nights": 2}, "top_coding": {"age": 50}, "quality": sa.LM(aggregate="geometric")}
CLOSE = (*T_CLOSENESS, sa.TCloseness("diagnosis", 0.4, "ordered"))
MEANS = sa.LocalRecoding(aggregate={"age": "mean"})
STAY = {
    "kept columns, coded and masked": policy(sa.KAnonymity(2), suppression="mask", **ALL_KEPT, **CODED),
    "closeness": policy(sa.KAnonymity(2), sa.DistinctLDiversity("diagnosis", 2), *CLOSE),
    "weights": POLICIES["weights"],
    "individuals": POLICIES["individuals"],
}
"""Policies whose cells may stay where the rows are. Options that do not meet are in one policy."""

NEAR = {
    "unknown values": POLICIES["unknown values"],
    "risks of a sample": policy(sa.IndividualRisk(0.5, "nights"), sa.ExpectedReidentifications(0.4, "nights")),
    "local with kept columns, masks and means": policy(sa.KAnonymity(3), method=MEANS, suppression="mask", **ALL_KEPT),
}
METHODS = ("relocation", "histogram", "ipa of individuals", "epsilon-safe", "diffgen by information", "top-down")
NEAR |= {name: POLICIES[name] for name in METHODS}
"""Policies whose cells have to come near; the hospital has others, and so has test_spark_rows: h-ceiling, sets."""


def test_a_report_beside_far_rows_has_no_row_of_them(sides: Sides, monkeypatch: pytest.MonkeyPatch) -> None:
    """The groups that are missing altogether and the findings are those of near rows, also where cells stay there."""
    fine = {"suppression_limit": 0.5, "maximum_levels": {"age": 1, "sex": 0}}
    wanted = policy(sa.KAnonymity(2), insensitive=["patient", "nights"], identifiers=["id"], **fine)
    sides.released(wanted)
    near = sides.session.report(f"{sides.folder}/", wanted, source="visits")
    monkeypatch.setattr(sides.far, "max_cells", FEW)
    far = sides.session.report(f"{sides.folder}/", wanted, source="far.visits")
    assert ("m", 0) in [(each.label, each.after) for column in far.columns for each in column.labels]
    assert far.model_copy(update={"source": near.source, "verification": near.verification}) == near
    assert "rows before and after" in near.to_html()
    assert "rows before and after" not in far.to_html()
    assert "No rows beside their labels" in far.to_html()
    assert "No rows beside their labels" not in near.to_html()


FAR = "kept columns, coded and masked", "closeness", "local with kept columns, masks and means", "epsilon-safe"
"""Tier 2 has the statements of all others in test_golden.py, and their rows in test_spark_rows.py."""


@pytest.mark.repeated
@pytest.mark.parametrize("name", some({**STAY, **NEAR}, *FAR))
def test_far_rows_are_released_as_near_ones(sides: Sides, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """So are cells that stay there, as they are more than may come near."""
    wanted, table = {**STAY, **NEAR}[name], TABLES.get(name, "visits")
    near, far = (sides.released(wanted, place, table) for place in ("", "far."))
    assert far.node == near.node
    changed = {"seconds": far.report.seconds, "source": far.report.source, "into": far.report.into}
    assert alone(near).model_copy(update=changed) == alone(far)
    there, here = sides.there, sides.connection.table("released")
    assert (there.columns, there.types) == (here.columns, here.types)
    rows = Counter(map(repr, here.fetchall()))
    assert Counter(map(repr, there.fetchall())) == rows
    if name in STAY:
        monkeypatch.setattr(sides.far, "max_cells", FEW)
        sides.far.statements.clear()
        staying = sides.released(wanted)
        assert staying.node == near.node
        changed = {name: getattr(staying.report, name) for name in SEARCHED}
        assert near.report.findings is not None
        finer = {"finer_nodes": staying.report.findings.finer_nodes}
        changed["findings"] = alone(near).findings.model_copy(update=finer)
        assert alone(near).model_copy(update=changed) == alone(staying)
        assert Counter(map(repr, sides.there.fetchall())) == rows
        assert all(each.rows is None or each.rows <= FEW for each in sides.far.statements)
    assert {*sides.far.relations} == {"visits", *TABLES.values()}


KEPT = {"sensitive": ["diagnosis"], "insensitive": ["length_of_stay", "zip", "admission"], "suppression_limit": 0.05}
T_AND_L = sa.EntropyLDiversity("diagnosis", 2), sa.TCloseness("diagnosis", 0.5)
HOSPITAL = {
    "k, l and t": (
        {**KEPT, "privacy": [sa.KAnonymity(5), *T_AND_L]},
        ["cells", "equal rows", f"measure {T_AND_L[1]}"],
        6,
    ),
    "masks": ({**KEPT, "privacy": [sa.KAnonymity(50)], "suppression": "mask"}, ["cells", "equal rows"], 4),
    "ipa": ({"sensitive": ["diagnosis"], "method": sa.IPA(budget=sa.Budget(2, "0.001"))}, ["cells"], 1),
}
"""Policies for the hospital, what reads all rows of the source, and how many statements read what was written."""


@pytest.mark.parametrize(("roles", "of_source", "of_release"), HOSPITAL.values(), ids=HOSPITAL)
def test_nothing_but_counts_comes_near(
    hospital: Sides, roles: dict[str, Any], of_source: list[str], of_release: int
) -> None:
    wanted = sa.Policy(quasi_identifiers=["age", "sex"], rest="identifier", **roles)
    near = hospital.released(wanted, "")
    hospital.far.statements.clear()
    far = hospital.released(wanted)
    assert far.node == near.node
    there, here = hospital.there, hospital.connection.table("released")
    assert Counter(there.fetchall()) == Counter(here.fetchall())
    statements = hospital.far.statements
    cells = next(each.rows for each in statements if each.purpose == "cells")
    (classes,) = here.aggregate("count(DISTINCT (age, sex))").fetchall()[0]
    assert cells < 2_000
    assert all(each.rows <= cells + classes + 1_000 for each in statements if each.rows is not None)
    # A few rows are looked at besides, as many as a LIMIT says.
    assert [each.purpose for each in statements if "visits" in each.sql and "LIMIT" not in each.sql] == of_source
    made_for_the_run = [each.purpose for each in statements if '"main"."anon_equal_rows"' in each.sql]
    assert {*made_for_the_run} <= {"write the release"}
    assert len([each for each in statements if ".released.run." in each.sql]) == of_release


def test_a_method_that_has_not_been_checked_is_refused(sides: Sides) -> None:
    unchecked = mock.patch.object(FullDomainRun, "takes_far_rows", new=False)
    with unchecked, pytest.raises(sa.PolicyError, match="can only read rows in the database"):
        sides.released(POLICIES["k"])


def test_what_cannot_be_published_is_discarded(sides: Sides) -> None:
    sides.released(POLICIES["k"])
    rows = sides.there.fetchall()
    with mock.patch("sqlanon.publish.folders.publish", side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        sides.released(POLICIES["masks"])
    assert sides.there.fetchall() == rows
    assert [path.name for path in sides.folder.parent.iterdir()] == ["released"]


NEED_THEM = ("local", "relocation", "h-ceiling", "histogram", "ipa", "epsilon-safe", "diffgen", "top-down")
"""One policy of each method that counts on cells which are near; those of full domains are in test_far_rows."""


def test_a_method_that_needs_the_cells_is_refused(tmp_path: Path) -> None:
    with duckdb.connect(config={"threads": 1}) as connection:
        open_stays(connection)
        sides = with_far_rows(connection, tmp_path, "visits", *TABLES.values(), far=FarRows(max_cells=5))
        before = sides.far.relations
        for name in NEED_THEM:
            with pytest.raises(sa.EngineError, match="more than max_cells"):
                sides.released(POLICIES[name], table=TABLES.get(name, "visits"))
            assert sides.far.relations == before, name
