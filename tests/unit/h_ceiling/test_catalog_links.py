"""How likely a row is a person's, with the catalog in hand: examples of spec/hceiling.md (c), and every labelling."""

from fractions import Fraction

import pytest

from sqlanon.methods.h_ceiling import links as counted
from sqlanon.methods.h_ceiling.links import Links
from tests.effort import examples
from tests.worlds import chance, filled, links, read, some_classes


@pytest.mark.parametrize(
    ("k", "texts", "expected"),
    [
        pytest.param(4, ["D*AFG", "DDABC"], ["1/3", "1/5"], id="H2"),
        pytest.param(4, ["da*b*c*", "abcdd"], ["1", "1/5"], id="H3"),
        pytest.param(2, ["ab*", "ba*"], ["1/2", "1/2"], id="H4"),
        pytest.param(4, ["D*DAF", "DDAF"], ["7/24", "7/24"], id="H6"),
        pytest.param(4, ["D*DDA", "DBCE"], ["5/16", "13/48"], id="H6 with 3 + 1"),
    ],
)
def test_examples(k: int, texts: list[str], expected: list[str]) -> None:
    found = Links(filled(k, [read(text) for text in texts]))
    group = range(len(texts))
    each = [found.highest([target], group) for target in group]
    assert each == [counted.Link(Fraction(value), exact=True) for value in expected]
    assert found.of(group) == max(each, key=lambda link: link.probability)


def test_without_counterfeits_it_is_one_of_the_rows_of_the_smallest_class() -> None:
    classes = filled(3, [read(text) for text in ("ABC", "AAAA", "ABCDEF")])
    assert Links(classes).of(range(3)) == counted.Link(Fraction(1, 3), exact=True)
    assert Links(classes).of([1, 2]).effective_k == 4


@pytest.mark.repeated
def test_it_is_what_every_labelling_together_says() -> None:
    random = chance(4)
    for _ in range(examples(600)):
        k = random.choice((2, 3, 4))
        classes = some_classes(random, k, random.choice((1, 2, 3, 4)), random.choice(("ab", "abc", "abcd")))
        found = Links(filled(k, classes))
        group = range(len(classes))
        each = [found.highest([target], group) for target in group]
        assert all(link.exact for link in each)
        assert [link.probability for link in each] == links(k, classes), classes
        assert found.of(group).probability == max(link.probability for link in each)


@pytest.mark.repeated
def test_of_too_many_terms_it_is_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    random = chance(5)
    ratios: list[float] = []
    wanted = examples(100)
    monkeypatch.setattr(counted, "MAX_TERMS", 2)
    for _ in range(25 * wanted):  # one of five is a bound
        if len(ratios) == wanted:
            break
        k = random.choice((2, 3, 4))
        classes = some_classes(random, k, random.choice((2, 3, 4)), random.choice(("ab", "abc", "abcd")))
        link = Links(filled(k, classes)).of(range(len(classes)))
        truth = max(links(k, classes))
        assert link.probability >= truth, classes
        assert link.probability == truth or not link.exact
        if not link.exact:
            ratios.append(float(link.probability / truth))
    assert len(ratios) == wanted
    assert sorted(ratios)[len(ratios) // 2] < 1.5


def test_one_over_the_fewest_real_rows_is_no_bound() -> None:
    """The specification takes 1 / min n_t for one. Here both classes have two real rows, and x is likelier than 1/2."""
    classes = [read("xa*bc*"), read("yab*c*")]
    assert links(4, classes) == [Fraction(7, 12), Fraction(7, 12)]
    assert Links(filled(4, classes)).of(range(2)).probability == Fraction(7, 12)
