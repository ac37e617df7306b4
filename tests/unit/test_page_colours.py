"""Colours of a page: texts can be read, and what is compared differs in brightness, for print and the colour-blind."""

import itertools
import re

import pytest

from sqlanon.report.svg import asset

TEXT, GRAPHIC = 4.5, 3.0
"""The least contrast of texts and of parts of pictures (WCAG 2.2, 1.4.3 and 1.4.11)."""

STYLE = asset("picture.css")
LIGHT, DARK, PRINT = (
    dict(re.findall(r"--(\w+): (#\w+)", block)) for block in re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)
)
SCHEMES = pytest.mark.parametrize(
    "scheme", [LIGHT, {**LIGHT, **DARK}, {**LIGHT, **PRINT}], ids=["light", "dark", "print"]
)


def luminance(colour: str) -> float:
    """The relative luminance of ``#rgb`` or ``#rrggbb``, as WCAG defines it."""
    digits = colour.removeprefix("#")
    if len(digits) == 3:
        digits = "".join(2 * digit for digit in digits)
    parts = [int(digits[start : start + 2], 16) / 255 for start in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("#000", "#ffffff") == pytest.approx(21)
    assert contrast("#777", "#fff") == pytest.approx(4.48, abs=0.005)


@SCHEMES
def test_texts_can_be_read(scheme: dict[str, str]) -> None:
    for text, ground in itertools.product(("text", "quiet", "bad", "good", "doubtful", "after"), ("back", "soft")):
        assert contrast(scheme[text], scheme[ground]) >= TEXT, (text, ground)


@SCHEMES
def test_what_is_compared_differs_in_brightness(scheme: dict[str, str]) -> None:
    for one, other in itertools.combinations(("before", "after", "back"), 2):
        assert contrast(scheme[one], scheme[other]) >= GRAPHIC, (one, other)
    assert contrast(scheme["after"], scheme["off"]) >= GRAPHIC  # levels that are released, and the others
