"""All small linked databases of spec/linked.md, section 3.5, and all attackers.

python -m pytest -s tests/deep/test_linked_universes.py prints how many of each were tried.
"""

import sys
from collections.abc import Callable

import pytest

from tests.linked_universes import (
    MODELS,
    NAMES,
    THREE_TABLES,
    TWO_TABLES,
    Found,
    Setting,
    certainly_hidden,
    databases_of,
    examine,
    examine_hidden_rows,
    examine_mixed_levels,
    examine_what_is_possible,
    examine_worlds,
    fewest_hidden,
    on_a_ladder,
    paired,
    persons_left,
    schema_of,
)

FOUR_VALUES = (Setting(3, 2, 4, 2), Setting(3, 2, 4, 3))


def of_all(settings: tuple[Setting, ...], examine: Callable[[Setting], Found]) -> Found:
    """What was found in all universes."""
    found = Found()
    for setting in settings:
        found.add(examine(setting))
    sys.stdout.write(f"{found}\n")
    return found


def test_persons_suppressed_in_two_tables() -> None:
    found = of_all(TWO_TABLES, examine)
    assert found.faults == 0
    assert (found.databases, found.pairs) == (6_538, 823_788)
    assert found.attacks == {"A": 119_358, "B(1)": 269_120, "B(2)": 287_506}


def test_persons_suppressed_in_three_tables() -> None:
    found = of_all(THREE_TABLES, examine)
    assert found.faults == 0
    assert (found.databases, found.pairs) == (8_575, 128_625 + 3 * 4 * 8_575)
    assert found.attacks == {"A": 16_770, "B(1)": 130_580, "B(2)": 101_051}


def test_rows_hidden_by_class() -> None:
    found = of_all((*TWO_TABLES, *THREE_TABLES), examine_hidden_rows)
    assert found.faults == 0
    assert (found.databases, found.pairs, found.attacks["B(1)"]) == (15_113, 136_017, 405_760)


def test_rows_of_mixed_levels() -> None:
    found = of_all((*TWO_TABLES, *FOUR_VALUES), examine_mixed_levels)
    assert found.faults == 0
    assert (found.databases, found.attacks["B(1)"]) == (16_458, 149_392)


@pytest.mark.parametrize(("mixed", "attacks", "speaking"), [(False, 282_080, 5_264), (True, 141_040, 3_724)])
def test_hidden_rows_say_nothing_unless_the_cap_is_known(mixed: bool, attacks: int, speaking: int) -> None:
    settings = (*TWO_TABLES, FOUR_VALUES[0])
    found = of_all(settings, lambda setting: examine_what_is_possible(setting, 1, mixed=mixed))
    assert (found.faults, found.attacks["B(1)"]) == (0, attacks)
    assert of_all(settings, lambda setting: examine_what_is_possible(setting, 0, mixed=mixed)).faults == speaking


@pytest.mark.parametrize("m", MODELS)
def test_all_worlds_with_persons_suppressed(m: int | None) -> None:
    def of_nodes(setting: Setting) -> Found:
        schema, found = schema_of(setting), Found()
        for node in schema.nodes():
            found.add(examine_worlds(setting, persons_left(schema, node, setting.k, m), m))
        return found

    found = of_all(TWO_TABLES, of_nodes)
    assert (found.databases, found.faults) == (4 * 6_538, 0)
    assert found.attacks == {NAMES[m]: {None: 32_340, 1: 115_374, 2: 106_950}[m]}


def test_all_worlds_of_ladders() -> None:
    def of_levels(setting: Setting) -> Found:
        schema, found = schema_of(setting, paired(setting.values)), Found()
        for level in (0, 1):
            found.add(examine_worlds(setting, on_a_ladder(schema, (level,), setting.k), None))
        return found

    found = of_all((*TWO_TABLES, FOUR_VALUES[0]), of_levels)
    assert (found.databases, found.attacks["A"], found.faults) == (2 * 11_498, 53_352, 0)


@pytest.mark.parametrize(("k", "broken"), [(2, 96), (3, 0)])
def test_the_bound_for_two_known_rows_is_monotone_and_the_cover_is_not(k: int, broken: int) -> None:
    setting = Setting(4, 2, 4, k, has_values=False)
    schema = schema_of(setting, paired(4))
    low, high = sorted(schema.nodes(), key=repr)
    counted = [0, 0]
    for persons in databases_of(setting):
        fewest = {node: fewest_hidden(persons, schema, node, k) for node in (low, high)}
        certain = {node: certainly_hidden([schema.label(each, node) for each in persons], k) for node in (low, high)}
        assert certain[high] <= certain[low] <= fewest[low]
        assert certain[high] <= fewest[high]
        counted[0] += 1
        counted[1] += fewest[high] > fewest[low]
    assert counted == [3_060, broken]
