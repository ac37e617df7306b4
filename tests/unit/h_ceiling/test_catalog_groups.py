"""Which classes a catalog puts together: the examples of the paper, ties, and that what is kept changes nothing."""

import pytest

from sqlanon.methods.h_ceiling import catalogs as offers
from sqlanon.methods.h_ceiling.catalogs import Catalog, grouped
from sqlanon.methods.h_ceiling.conditions import Condition, ConditionF, Lemma
from tests.effort import examples
from tests.worlds import chance, filled, published, read, some_classes

CONDITIONS = [ConditionF, Lemma]


def catalog_of(condition: type[Condition], k: int, *texts: str) -> Catalog | None:
    return grouped(condition(filled(k, [read(text) for text in texts])))


def groups_of(condition: type[Condition], k: int, *texts: str) -> list[list[int]] | None:
    """The numbers of the classes of each group, from 1 on."""
    catalog = catalog_of(condition, k, *texts)
    return catalog and [[position + 1 for position in group] for group in catalog.groups]


@pytest.mark.parametrize("condition", CONDITIONS)
class TestOfEither:
    def test_table_8_of_the_paper(self, condition: type[Condition]) -> None:
        """Class 1 has three rows and a counterfeit Diabetes, class 2 four rows; four of these eight have Diabetes."""
        catalog = catalog_of(condition, 4, "DAFD*", "DDHG")
        assert catalog is not None and published(catalog) == [([1, 2], "D", 1)]

    def test_table_7_of_the_paper_is_never_published(self, condition: type[Condition]) -> None:
        assert catalog_of(condition, 4, "DAFD*", "AHHG") is None

    def test_without_counterfeits_there_are_no_groups(self, condition: type[Condition]) -> None:
        catalog = catalog_of(condition, 3, "ABC", "ABCD")
        assert catalog is not None and (catalog.groups, published(catalog)) == ((), [])

    def test_it_takes_most_of_what_is_missing_then_the_smallest_group_then_the_first(
        self, condition: type[Condition]
    ) -> None:
        assert groups_of(condition, 4, "xya*b*", "aaaa", "zzab", "zabz") == [[1, 3]]
        assert groups_of(condition, 3, "zab", "abz", "xa*b*", "aaa") == [[1, 3]]
        assert groups_of(condition, 2, "aa", "xa*", "ya*", "za") == [[1, 2], [3, 4]]

    def test_several_values_may_need_several_classes(self, condition: type[Condition]) -> None:
        catalog = catalog_of(condition, 4, "xa*b*c*", "aaaa", "cccc", "dddd", "bbbb")
        assert catalog is not None and published(catalog) == [([1, 2, 3, 5], value, 1) for value in "abc"]

    def test_classes_may_conceal_each_other(self, condition: type[Condition]) -> None:
        assert groups_of(condition, 4, "abcd*", "dabc*") == [[1, 2]]

    @pytest.mark.repeated
    def test_what_is_kept_of_values_changes_nothing(
        self, condition: type[Condition], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        random = chance(6)
        for _ in range(examples(200)):
            classes = filled(4, some_classes(random, 4, 30, "abcdefg"))
            expected = grouped(condition(classes))
            with monkeypatch.context() as patch:
                patch.setattr(offers, "MAX_BYTES", 1)
                found = grouped(condition(classes))
            assert (expected and expected.groups) == (found and found.groups)


class TestStrict:
    def test_a_class_of_more_rows_is_of_no_use(self) -> None:
        assert groups_of(ConditionF, 4, "D*AFG", "DDABC") is None
        assert groups_of(ConditionF, 4, "D*AFG", "DDABC", "DBBB") == [[1, 3]]
        assert groups_of(Lemma, 4, "D*AFG", "DDABC", "EBBD") == [[1, 3]]

    def test_two_classes_that_are_full_of_counterfeits_need_a_third(self) -> None:
        assert groups_of(ConditionF, 2, "ab*", "ba*") is None
        assert groups_of(ConditionF, 2, "ab*", "ba*", "ac") == [[1, 2, 3]]
        assert groups_of(Lemma, 2, "ab*", "ba*", "ac") == [[1, 2]]

    def test_where_no_group_has_what_is_missing_another_one_may_make_room(self) -> None:
        """Only class 2 has an a, and it is full; only class 3 has no a, but has a place for c."""
        assert groups_of(ConditionF, 3, "a*xx", "b*c*a", "cyy", "bzz") == [[1, 2, 3, 4]]
