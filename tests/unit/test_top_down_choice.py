"""The choice of a cut by answers that are written down: what is remembered of classes that have not changed."""

from collections.abc import Mapping, Sequence

from sqlanon.methods.cut_pieces import Piece, Specialization, TaxonomyAxis
from sqlanon.methods.top_down.specialize import score, specialized

AXES = (TaxonomyAxis(0, "town", 4, ((0, 1, 2, 3), (0, 2), (0,))), TaxonomyAxis(1, "sex", 2, ((0, 1), (0,))))

TOWN, NORTH, SOUTH, SEX = Piece(0, 0, 4), Piece(0, 0, 2), Piece(0, 2, 4), Piece(1, 0, 2)

GAINS = {TOWN: 0.9, NORTH: 0.5, SOUTH: 0.5, SEX: 0.1}

LEAST = [
    {TOWN: 50, SEX: 10},
    {NORTH: 20, SOUTH: 20, SEX: 10},
    {SEX: 12},  # of the north alone: the ten are in the south
    {SEX: 15},  # of the south alone
]
"""What is counted in each round, of the rows whose class is new."""


class Answers:
    """Evidence that was written down."""

    def __init__(self) -> None:
        self.done: list[Piece] = []

    def splits(self, intervals: Sequence[Piece]) -> Mapping[Piece, int]:
        return {}

    def gains(self, specializations: Sequence[Specialization]) -> Mapping[Specialization, float]:
        return {each: GAINS[each.piece] for each in specializations}

    def least_rows(self, specializations: Sequence[Specialization]) -> Mapping[Specialization, int]:
        counted = LEAST[len(self.done)] if len(self.done) < len(LEAST) else {}
        return {each: counted[each.piece] for each in specializations if each.piece in counted}

    def specialize(self, specialization: Specialization) -> None:
        self.done.append(specialization.piece)


def test_classes_that_have_not_changed_are_reckoned_with() -> None:
    answers = Answers()
    chosen = specialized(AXES, 100, 2, answers)
    assert answers.done == [TOWN, NORTH, SOUTH, SEX]
    assert (chosen.smallest, chosen.is_final) == (10, True)


def test_a_label_that_would_leave_too_few_rows_stays() -> None:
    answers = Answers()
    chosen = specialized(AXES, 100, 11, answers)
    assert answers.done == [TOWN, NORTH, SOUTH]
    assert (chosen.smallest, chosen.is_final) == (20, True)
    assert chosen.cut.widths == (4, 1)


def test_a_search_is_stopped_before_its_next_step() -> None:
    answers = Answers()
    chosen = specialized(AXES, 100, 2, answers, stopped=lambda: len(answers.done) == 2)
    assert answers.done == [TOWN, NORTH]
    assert (chosen.smallest, chosen.is_final) == (20, False)


def test_scores() -> None:
    assert score(0.5, 100, 100) == 0.5
    assert score(0.5, 100, 76) == 0.02
