"""Catalogs of classes that Hypothesis makes: each group conceals its counterfeits, and none is missing or too many."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon.methods.h_ceiling.catalogs import Catalog, grouped
from sqlanon.methods.h_ceiling.conditions import ConditionF, Lemma
from sqlanon.methods.h_ceiling.links import Links
from tests.effort import examples
from tests.worlds import Rows, every_class_can_be_without, filled, lemma_holds, links, published, worlds

Example = tuple[int, list[Rows]]


@st.composite
def tables(draw: st.DrawFn, values: str = "abcd") -> Example:
    """k, and classes that were filled up to it; those of more than k rows have none."""
    k = draw(st.integers(2, 4))

    def filled_up(real: list[str], fakes: list[str]) -> Rows:
        return [*((value, False) for value in real), *((value, True) for value in fakes[: max(0, k - len(real))])]

    some = st.sampled_from(values)
    rows = st.builds(filled_up, st.lists(some, min_size=1, max_size=k + 1), st.lists(some, min_size=k, max_size=k))
    return k, draw(st.lists(rows, min_size=1, max_size=6))


@settings(max_examples=examples(240))
@given(tables())
def test_in_a_strict_catalog_no_class_is_sure_to_have_a_counterfeit(table: Example) -> None:
    k, classes = table
    catalog = grouped(ConditionF(filled(k, classes)))
    assert (catalog is not None) == every_class_can_be_without(k, classes)
    if catalog is None:
        return
    check(catalog, classes)
    for group in catalog.groups:
        members = [classes[position] for position in group]
        assert any(True for _ in worlds(k, members))
        assert every_class_can_be_without(k, members)


@settings(max_examples=examples(240))
@given(tables())
def test_in_a_catalog_of_the_paper_the_lemma_holds(table: Example) -> None:
    k, classes = table
    catalog = grouped(Lemma(filled(k, classes)))
    assert (catalog is not None) == lemma_holds(classes)
    if catalog is not None:
        check(catalog, classes)
        assert all(lemma_holds([classes[position] for position in group]) for group in catalog.groups)


@settings(max_examples=examples(80))
@given(tables(values="abc"))
def test_no_catalog_links_less_than_rows_of_k_do(table: Example) -> None:
    k, classes = table
    catalog = grouped(ConditionF(filled(k, classes)))
    for group in catalog.groups if catalog is not None else ():
        found = Links(filled(k, classes)).of(group)
        assert found.exact and found.probability == max(links(k, [classes[position] for position in group]))
        assert 1 <= found.effective_k <= k


def check(catalog: Catalog, classes: list[Rows]) -> None:
    """Each class with counterfeits is in one group, with others; what the groups say together is what there is."""
    together = [position for group in catalog.groups for position in group]
    assert len(set(together)) == len(together)
    assert [list(group) for group in catalog.groups] == sorted(sorted(group) for group in catalog.groups)
    own = {number: Counter(value for value, fake in rows if fake) for number, rows in enumerate(classes, 1)}
    assert {number - 1 for number, fakes in own.items() if fakes} <= set(together)
    said = published(catalog)
    assert len({tuple(numbers) for numbers, _, _ in said}) == len(catalog.groups)
    for numbers, value, count in said:
        assert len(numbers) > 1
        assert count == sum(own[number][value] for number in numbers) > 0
    assert sum(count for _, _, count in said) == sum(fakes.total() for fakes in own.values())
