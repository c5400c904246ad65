"""Views become pages: templates that escape everything, and refuse names that they are not given."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tallymark.app.pages.leaderboard import Point
from tallymark.rendering.document import Card, Section
from tallymark.rendering.html_page import SIGNS, cards_to_html, section_to_html, style_of_parts, theme_rules
from tallymark.rendering.text import printable

_WIDE, _HIGH = 600, 120  # of the drawing of progress, in its own units


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
    held = {each.name: each.read_bytes() for each in folder.iterdir() if each.is_file()}
    return {**held, "report.css": (theme_rules() + style_of_parts()).encode()}


def static_address(name: str) -> str:
    """Where a static file is, with its digest: it may be kept for ever, and a new one has another address."""
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
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["static"] = static_address
    environment.globals["signs"] = SIGNS
    environment.filters["cards"] = _cards
    environment.filters["section"] = _section
    environment.filters["steps"] = _steps
    environment.filters["across"] = _across
    environment.filters["down"] = _down
    return environment


def _shown(value: Any) -> Any:
    """What stands in a page: of plain texts only what can be read, so that no name can turn the words around it."""
    if isinstance(value, str) and not isinstance(value, Markup) and not value.isprintable():
        return "\n".join(map(printable, value.splitlines()))
    return value


def _cards(cards: Sequence[Card]) -> Markup:
    return Markup(cards_to_html(cards))


def _section(section: Section) -> Markup:
    return Markup(section_to_html(section))


def _across(point: Point) -> str:
    return f"{_WIDE * point.x:.1f}"


def _down(point: Point) -> str:
    return f"{_HIGH * (1 - point.y):.1f}"


def _steps(points: Sequence[Point]) -> str:
    """A path that keeps its height until the next point, and after the last one goes on to the right edge."""
    path = ""
    for point in points:
        path += f"H{_across(point)}V{_down(point)}" if path else f"M{_across(point)} {_down(point)}"
    return f"{path}H{_WIDE}"
