"""Text of the app and of reports is legible by its contrast with backgrounds (WCAG 2.2, success criterion 1.4.3)."""

import re
from importlib.resources import files

import pytest

from sqlanon.report.html import style

STYLE = style() + (files("sqlanon.app") / "static" / "app.css").read_text(encoding="utf-8")
MIXED = {*re.findall(r"color-mix\(in srgb, var\(--after\) (\d+)%, transparent\)", STYLE)}
LEAST = 4.5

Colour = tuple[float, float, float]


def palette(scheme: str) -> dict[str, Colour]:
    """Return the colours of the light or the dark scheme by name."""
    light, dark = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)[:2]
    found = dict(re.findall(r"--(\w+): #(\w+);", light if scheme == "light" else dark))
    return {name: rgb(text * 2 if len(text) == 3 else text) for name, text in found.items()}


def rgb(text: str) -> Colour:
    red, green, blue = (int(text[place : place + 2], 16) / 255 for place in (0, 2, 4))
    return red, green, blue


def contrast(one: Colour, other: Colour) -> float:
    """Return the ratio of their relative luminances, as WCAG defines both."""

    def luminance(colour: Colour) -> float:
        parts = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour)
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))

    darker, lighter = sorted(map(luminance, (one, other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_legible_on_each_background(scheme: str) -> None:
    colours = palette(scheme)
    backgrounds = {name: colours[name] for name in ("back", "soft")}
    for under, share in {(under, int(share)) for under in backgrounds for share in MIXED}:
        mixed = zip(colours["after"], colours[under], strict=True)
        red, green, blue = (over * share / 100 + below * (1 - share / 100) for over, below in mixed)
        backgrounds[f"{share} % of after on {under}"] = red, green, blue
    texts = {*re.findall(r"(?<![\w-])color: var\(--(\w+)\)", STYLE)} - {"back"}
    assert texts >= {"text", "quiet", "bad", "doubtful"} and MIXED
    low = {
        (text, behind): ratio
        for text in texts
        for behind, colour in backgrounds.items()
        if (ratio := contrast(colours[text], colour)) < LEAST
    }
    for behind in ("after", "doubtful"):  # of buttons, the chosen tab, labels in strips
        if (ratio := contrast(colours["back"], colours[behind])) < LEAST:
            low["back", behind] = ratio
    assert low == {}
