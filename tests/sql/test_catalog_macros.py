"""What recipients do with a catalog, against the oracle, and against the rows that were true."""

from collections import Counter
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from tests import oracle
from tests.oracle import CLASS_ID, MASK
from tests.sql.test_oracle import FEW_EXAMPLES, ask, assert_same_rows, connection, insert, load_table, table_call
from tests.strategies import distinct_names

RELEASED, CATALOG = "released", "catalog"
VALUES = [None, "a", "b", "*", "NULL"]


@dataclass(frozen=True)
class Release:
    """Rows of numbered classes, which of them are true, and the catalog of the others."""

    names: list[str]
    rows: oracle.Rows
    is_true: list[bool]
    catalog: list[oracle.CatalogRow]

    @property
    def sensitive(self) -> str:
        return self.names[-1]

    @property
    def quasi_identifiers(self) -> list[str]:
        return self.names[:-1]

    @property
    def true_rows(self) -> oracle.Rows:
        return [row for row, is_true in zip(self.rows, self.is_true, strict=True) if is_true]


@st.composite
def releases(draw: st.DrawFn) -> Release:
    """Classes with a label each, some of them in groups, and rows of them of which any may be invented."""
    names = draw(distinct_names(2, 3))
    groups = draw(st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=3), max_size=3))
    in_groups = dict.fromkeys(number for group in groups for number in group)
    ids = draw(st.permutations(range(1, 6)))
    rows: oracle.Rows = [
        {CLASS_ID: number, **dict.fromkeys(names[:-1], f"[{number}]"), names[-1]: value}
        for number, value in draw(st.lists(st.tuples(st.sampled_from(ids), st.sampled_from(VALUES)), max_size=14))
    ]
    parts, left = [], list(in_groups)
    for group in groups:
        parts.append(sorted(number for number in left if number in group))
        left = [number for number in left if number not in group]
    is_true = draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    is_true = [
        true or not any(row[CLASS_ID] in part for part in parts) for row, true in zip(rows, is_true, strict=True)
    ]
    catalog = []
    for part in parts:
        invented = [row for row, true in zip(rows, is_true, strict=True) if not true and row[CLASS_ID] in part]
        counts = Counter(row[names[-1]] for row in invented)
        catalog += [(part, value, count) for value, count in counts.items()]
    return Release(names, rows, is_true, catalog)


def load(release: Release) -> None:
    connection().execute("DELETE FROM anon.taxonomy")
    names, sensitive = release.names, release.sensitive
    load_table(RELEASED, {CLASS_ID: "BIGINT", **dict.fromkeys(names, "VARCHAR")}, release.rows)
    load_table(CATALOG, {"class_ids": "BIGINT[]", sensitive: "VARCHAR", "counterfeits": "BIGINT"}, [])
    insert(CATALOG, [list(row) for row in release.catalog])


@FEW_EXAMPLES
@given(releases())
def test_the_truth_of_rows(release: Release) -> None:
    load(release)
    truths = oracle.row_truths(release.rows, release.catalog, release.sensitive)
    weighted = [{**row, "anon_truth": truth} for row, truth in zip(release.rows, truths, strict=True)]
    assert_same_rows(ask(table_call("row_truths", RELEASED, CATALOG, release.sensitive)), weighted)
    name = release.quasi_identifiers[0]
    found = ask(table_call("corrected_counts", RELEASED, CATALOG, release.sensitive, name, None))
    expected = oracle.estimated_counts(release.rows, {}, name, None, truths)
    assert {row["group_label"]: round(row["answer"], 9) for row in found} == {
        label: round(answer or 0, 9) for label, answer in expected.items()
    }
    found = ask(table_call("corrected_averages", RELEASED, CATALOG, release.sensitive, name, None, CLASS_ID))
    expected = oracle.estimated_averages(release.rows, {}, name, None, CLASS_ID, truths)
    assert {row["group_label"]: round(row["answer"], 9) for row in found} == {
        label: round(answer or 0, 9) for label, answer in expected.items()
    }


@FEW_EXAMPLES
@given(releases())
def test_counts_of_sensitive_values_are_exact(release: Release) -> None:
    load(release)
    found = ask(table_call("corrected_counts", RELEASED, CATALOG, release.sensitive, release.sensitive, None))
    expected = Counter(row[release.sensitive] for row in release.true_rows)
    assert {row["group_label"]: round(row["answer"], 9) for row in found} == expected


@FEW_EXAMPLES
@given(releases())
def test_the_truthful_view(release: Release) -> None:
    load(release)
    names, sensitive = release.quasi_identifiers, release.sensitive
    found = ask(table_call("truthful_rows", RELEASED, CATALOG, names, sensitive))
    assert_same_rows(found, oracle.truthful_rows(release.rows, release.catalog, names, sensitive))
    # As many rows of every value as are true.
    values = Counter(row[sensitive] for row in release.true_rows)
    assert Counter(row[sensitive] for row in found) == values
    # What is left of a class is true, wherever in the group its counterfeits are.
    kept = Counter((row[CLASS_ID], row[sensitive]) for row in found if row[CLASS_ID] is not None)
    assert kept <= Counter((row[CLASS_ID], row[sensitive]) for row in release.true_rows)
    assert all({row[name] for name in names} == {MASK} for row in found if row[CLASS_ID] is None)
    # And nothing more is masked than has to be: a class that had all counterfeits of the group would keep as many.
    for ids, value, count in release.catalog:
        for number in ids:
            shown = sum(row[CLASS_ID] == number and row[sensitive] == value for row in release.rows)
            assert kept[number, value] == max(shown - count, 0)
