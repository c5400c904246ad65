"""Themes: contrasts that everybody can read, and style sheets that have both."""

from __future__ import annotations

import re

import pytest

import tallymark as tm
from tallymark.rendering.plots.theme import DARK, LIGHT, THEMES, find_theme, theme_style


def luminance(colour: str) -> float:
    """As WCAG 2 defines it."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(share * c for share, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(first: str, second: str) -> float:
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def mixed(over: str, under: str, share: float) -> str:
    parts = [[int(c[k : k + 2], 16) for k in (1, 3, 5)] for c in (over, under)]
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02x}" for a, b in zip(*parts, strict=True))


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_text_and_marks_stand_out(theme):
    """Text by 4.5, which names of lines in their colours are too, and marks by 3."""
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    for paper in (theme.paper, theme.stripe):
        for text in (theme.ink, theme.quiet, *theme.series):
            assert contrast(text, paper) >= 4.5, text
    for mark in (theme.rule, theme.heat):
        assert contrast(mark, theme.paper) >= 3, mark
    assert len(set(theme.series)) == len(theme.series) == 8


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_ink_can_be_read_in_every_shade_of_a_cell(theme):
    """From the lightest to the full heat."""
    for step in range(21):
        assert contrast(theme.ink, mixed(theme.heat, theme.paper, step / 20)) >= 4.5


def test_a_style_sheet_has_both_themes():
    """For the reader's system, and for pages and notebooks that say which they are."""
    style = theme_style(".here")
    for theme in (LIGHT, DARK):
        for name, colour in theme.colours().items():
            assert f"--{name}:{colour}" in style
    assert "@media (prefers-color-scheme:dark){.here{" in style
    assert "[data-theme=dark] .here" in style
    assert len(re.findall("{", style)) == len(re.findall("}", style))


def test_an_unknown_theme_is_refused():
    """With those that there are."""
    with pytest.raises(tm.ParameterError, match="`theme` must be one of light, dark; got 'blue'"):
        find_theme("blue")
