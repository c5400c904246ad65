"""Rendering: templates that escape everything and refuse undefined names, and static files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tallymark.app.pages.leaderboard import ChartPoint
from tallymark.rendering.document import Card, Section
from tallymark.rendering.html_page import SIGNS, cards_to_html, section_to_html, style_of_parts, theme_rules
from tallymark.rendering.text import printable

_CHART_WIDTH, _CHART_HEIGHT = 600, 120  # of the chart in leaderboard.html, in SVG units


def render(name: str, view: NamedTuple) -> str:
    """The page of a template, from the fields of its view.

    >>> from tallymark.app.pages.shell import ErrorPage, Shell
    >>> "<h1>Nothing is here" in render("error.html", ErrorPage(Shell("Nothing is here", "/x"), 404, "", ""))
    True
    """
    return _environment().get_template(name).render(view._asdict())


@cache
def static_files() -> dict[str, bytes]:
    """All static files by name: those of the folder, and `report.css`, the colours of both looks and what pages share
    with reports."""
    folder = files("tallymark.app").joinpath("static")
    content = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    return {**content, "report.css": (theme_rules() + style_of_parts()).encode()}


def static_address(name: str) -> str:
    """The address of a static file, with its digest. Browsers may cache it for ever: a change has a new address."""
    return f"/static/{name}?v={_digests()[name]}"


@cache
def _digests() -> dict[str, str]:
    return {name: sha256(content).hexdigest()[:12] for name, content in static_files().items()}


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("tallymark.app"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_make_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["static"] = static_address
    environment.globals["signs"] = SIGNS
    environment.filters["cards"] = _cards
    environment.filters["section"] = _section
    environment.filters["step_path"] = _step_path
    return environment


def _make_printable(value: Any) -> Any:
    """A text without control characters, so that no name can change the direction of the words around it."""
    if isinstance(value, str) and not isinstance(value, Markup) and not value.isprintable():
        return "\n".join(map(printable, value.splitlines()))
    return value


def _cards(cards: Sequence[Card]) -> Markup:
    return Markup(cards_to_html(cards))


def _section(section: Section) -> Markup:
    return Markup(section_to_html(section))


def _step_path(points: Sequence[ChartPoint]) -> str:
    """The SVG path of a step line, which keeps its height until the next point, and at last to the right edge."""
    path = ""
    for point in points:
        x, y = f"{_CHART_WIDTH * point.x:.1f}", f"{_CHART_HEIGHT * (1 - point.y):.1f}"
        path += f"H{x}V{y}" if path else f"M{x} {y}"
    return f"{path}H{_CHART_WIDTH}"
