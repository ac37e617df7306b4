"""When a group conceals its counterfeits: condition F against every world, and lemma 1, which is not enough.

The examples are those of spec/hceiling.md (c), by their numbers.
"""

import re
import sys
from random import Random

import pytest

import sqlanon as sa
from sqlanon.methods.h_ceiling.conditions import ConditionF, Lemma
from tests.effort import examples
from tests.worlds import Rows, chance, every_class_can_be_without, filled, lemma_holds, read, some_classes, worlds

H2 = (4, ["D*AFG", "DDABC"])
H3 = (4, ["da*b*c*", "abcdd"])
H4 = (2, ["ab*", "ba*"])
H4_OF_FOUR = (4, ["abc*d*", "cda*b*"])
H6 = (4, ["D*DAF", "DDAF"])


class TestExamples:
    @pytest.mark.parametrize(("example", "missing"), [(H2, 1), (H3, 3), (H4, 1), (H4_OF_FOUR, 1)])
    def test_the_lemma_holds_and_the_condition_does_not(self, example: tuple[int, list[str]], missing: int) -> None:
        k, texts = example
        classes = [read(text) for text in texts]
        assert Lemma(filled(k, classes)).holds(range(2)) and lemma_holds(classes)
        condition = ConditionF(filled(k, classes))
        assert not condition.holds(range(2)) and not every_class_can_be_without(k, classes)
        assert sum(condition.missing(0, range(2)).values()) == missing

    def test_both_hold_where_either_class_can_have_the_counterfeit(self) -> None:
        classes = filled(H6[0], [read(text) for text in H6[1]])
        assert Lemma(classes).holds(range(2)) and ConditionF(classes).holds(range(2))

    def test_alone_a_class_conceals_nothing(self) -> None:
        classes = filled(4, [read("D*AFG"), read("DAFG")])
        for condition in (ConditionF(classes), Lemma(classes)):
            assert condition.missing(0, [0]) == {ord("D"): 1}
            assert condition.missing(1, [1]) == {}

    def test_a_counterfeit_of_another_class_may_have_to_make_room(self) -> None:
        # Classes 1 and 2 have their counterfeits a and b. There is room for b in class 3 alone, which makes room for a.
        classes = [read(text) for text in ("a*xx", "b*c*a", "bcx")]
        assert every_class_can_be_without(3, classes)
        assert ConditionF(filled(3, classes)).holds(range(3))
        assert ConditionF(filled(3, classes)).missing(0, [0, 1]) == {ord("a"): 1}

    def test_what_would_make_room_is_wanted_too(self) -> None:
        condition = ConditionF(filled(3, [read(text) for text in ("a*xx", "b*c*a", "xxx")]))
        assert condition.missing(0, [0, 1]) == {ord("a"): 1}
        assert condition.wanted(0, [0, 1]) == {ord("a"): 1, ord("b"): 1, ord("c"): 1}


@pytest.mark.repeated
def test_the_condition_is_that_there_is_a_world_for_every_class() -> None:
    random = chance(20170104)
    held = 0
    for _ in range(count := examples(4000)):
        k, classes = random_classes(random)
        expected = every_class_can_be_without(k, classes)
        assert ConditionF(filled(k, classes)).holds(range(len(classes))) == expected, classes
        held += expected
    assert 0.15 < held / count < 0.85


@pytest.mark.repeated
def test_what_is_missing_is_what_no_world_moves_out_of_a_class() -> None:
    random = chance(1)
    for _ in range(examples(1000)):
        k, classes = random_classes(random)
        condition = ConditionF(filled(k, classes))
        for target, rows in enumerate(classes):
            missing = condition.missing(target, range(len(classes)))
            least = min(sum(number == target for number, _ in world) for world in worlds(k, classes))
            assert sum(missing.values()) == least, classes
            own = filled(k, [rows]).own_counterfeits.get(0, {})
            assert all(0 < count <= own[value] for value, count in missing.items())


@pytest.mark.repeated
def test_the_lemma_is_what_the_paper_says() -> None:
    random = chance(2)
    for _ in range(examples(2000)):
        k, classes = random_classes(random)
        assert Lemma(filled(k, classes)).holds(range(len(classes))) == lemma_holds(classes), classes


def test_without_scipy_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.sparse.csgraph", None)
    with pytest.raises(sa.EngineError, match=re.escape("pip install '.[eval]'")):
        ConditionF(filled(4, [read("DAFG")]))


def random_classes(random: Random) -> tuple[int, list[Rows]]:
    k = random.choice((2, 3, 4))
    most = random.choice((k, k + 1))
    return k, some_classes(random, k, random.choice((2, 3, 4)), random.choice(("ab", "abc", "abcd")), most)
