"""Themes: the colours of plots and pages, light and dark."""

from __future__ import annotations

from typing import NamedTuple

from tallymark.errors import ParameterError, brief


class Theme(NamedTuple):
    """Colours by what they are for. Text has a contrast of at least 4.5 to the paper, marks one of at least 3."""

    paper: str
    ink: str
    quiet: str
    """Text that is to stand back."""
    rule: str
    """Lines that mean something: axes, the diagonal, zero."""
    line: str
    """Lines that only guide the eye: the grid."""
    stripe: str
    heat: str
    """What a cell of the largest share is filled with; ink can be read on it."""
    series: tuple[str, ...]
    """Colours of lines and of the text beside them, the first one for what stands alone."""

    def colours(self) -> dict[str, str]:
        """Every colour by the name that style sheets know it by."""
        plain = {name: getattr(self, name) for name in self._fields if name != "series"}
        return plain | {f"series-{k}": colour for k, colour in enumerate(self.series, start=1)}


LIGHT = Theme(
    paper="#ffffff",
    ink="#1a1d23",
    quiet="#5b6472",
    rule="#868e9a",
    line="#d9dde3",
    stripe="#f5f6f8",
    heat="#5593da",
    series=("#1f5fbf", "#a64b00", "#1b7838", "#7b3fa0", "#b3261e", "#00707a", "#6b6200", "#b0287f"),
)
DARK = Theme(
    paper="#15181d",
    ink="#e6e8ec",
    quiet="#a3abb8",
    rule="#7d8694",
    line="#3a404a",
    stripe="#22262d",
    heat="#2f66aa",
    series=("#7fb2ff", "#f2a65a", "#6cc58a", "#c9a0f0", "#ff8a80", "#57c7d4", "#d3c35a", "#f38ac9"),
)
THEMES = {"light": LIGHT, "dark": DARK}
_FOLLOWS = "[data-jp-theme-light={light}] {on},.vscode-{name} {on},[data-theme={name}] {on}"


def find_theme(name: object) -> Theme:
    """The theme of a name."""
    if not isinstance(name, str) or name not in THEMES:
        raise ParameterError(argument="theme", expected=f"be one of {', '.join(THEMES)}", got=brief(name))
    return THEMES[name]


def theme_style(on: str = ".tallymark") -> str:
    """A style sheet that gives elements the colours of both themes, as the reader's system or the page around says."""
    light, dark = (
        ";".join(f"--{name}:{colour}" for name, colour in theme.colours().items()) for theme in (LIGHT, DARK)
    )
    return (
        f"{on}{{{light}}}@media (prefers-color-scheme:dark){{{on}{{{dark}}}}}"
        f"{_FOLLOWS.format(light='false', name='dark', on=on)}{{{dark}}}"
        f"{_FOLLOWS.format(light='true', name='light', on=on)}{{{light}}}"
    )
