"""Plot: a drawing with its title, a sentence that says what is seen, and a table of its numbers."""

from __future__ import annotations

import logging
import os
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from tallymark.data.arguments import check_path
from tallymark.errors import ParameterError, brief
from tallymark.optional_packages import needed
from tallymark.rendering.files import write_atomically
from tallymark.rendering.html_table import STYLE, to_html
from tallymark.rendering.plots.svg import tidy_svg, use_css_variables
from tallymark.rendering.plots.theme import LIGHT, Theme, find_theme, theme_style
from tallymark.rendering.table import Table
from tallymark.rendering.text import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Plot"]


WIDTH, HEIGHT = 5.2, 3.7  # inches
_FORMS = ("svg", "png", "pdf")
_SETTINGS: Any = {  # of matplotlib
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "tallymark",  # the same plot has the same bytes
    "pdf.fonttype": 42,
    "font.family": ["DejaVu Sans"],  # which comes with matplotlib, so that every machine lays out alike
    "text.parse_math": False,  # a dollar is a dollar
    "text.usetex": False,
    "path.simplify": False,  # lines are thinned already
    "axes.unicode_minus": True,
}
_one_at_a_time = threading.RLock()  # matplotlib's settings are those of the process


class Plot:
    """A drawing that is also a sentence and a table, so that everybody can read it.

    `title` and `description` say what is seen, `table` has the numbers. `figure()` is a matplotlib figure; `svg()`,
    `png()` and `save()` need no more than the theme, "light" or "dark". A notebook shows it in the theme of the reader.
    """

    __slots__ = ("_draw", "description", "size", "table", "title")

    def __init__(
        self,
        title: str,
        description: str,
        table: Table,
        draw: Callable[[Figure, Theme], None],
        size: tuple[float, float] = (WIDTH, HEIGHT),
    ) -> None:
        self.title = printable(title)
        self.description = printable(description)
        self.table = table
        self.size = size
        self._draw = draw

    if not TYPE_CHECKING:  # which knows the attributes

        def __getattr__(self, name: str) -> Any:
            """Say what stands for the methods of a figure of matplotlib."""
            hint = {"savefig": '; call plot.save("plot.svg")', "show": "; plot.figure() is a figure of matplotlib"}
            raise AttributeError(f"a plot has no attribute {name!r}{hint.get(name, '')}", name=name, obj=self)

    def figure(self, theme: str = "light", width: float | None = None, height: float | None = None) -> Figure:
        """The drawing as a matplotlib figure, of its own size in inches or of another."""
        colours = find_theme(theme)
        size = (_inches("width", width, self.size[0]), _inches("height", height, self.size[1]))
        with _drawing() as new_figure:
            figure: Figure = new_figure(figsize=size, facecolor=colours.paper)
            self._draw(figure, colours)
            return figure

    def svg(self, theme: str = "light", width: float | None = None, height: float | None = None) -> str:
        """The drawing as an SVG element for a page; its text can be read, found and copied.

        The theme "auto" takes its colours from the style sheet around it, which `theme_style` writes, so that one
        element serves both themes.
        """
        drawn = "light" if theme == "auto" else theme
        figure = self.figure(drawn, width, height)
        text = StringIO()
        with _drawing():
            figure.savefig(text, format="svg", transparent=theme == "auto", dpi=72)
        svg = tidy_svg(text.getvalue(), self.title, self.description, theme, getattr(figure, "full_texts", {}))
        return use_css_variables(svg, LIGHT) if theme == "auto" else svg

    def png(
        self, theme: str = "light", dpi: float = 192, width: float | None = None, height: float | None = None
    ) -> bytes:
        """The drawing as a PNG image."""
        return self._write("png", theme, width, height, dpi=dpi, metadata={"Software": None, "Title": self.title})

    def save(
        self,
        path: str | os.PathLike[str],
        theme: str = "light",
        width: float | None = None,
        height: float | None = None,
    ) -> None:
        """Write a file, whole: SVG, PNG or PDF, as its name ends. An SVG file of the theme "auto" has both themes."""
        place = check_path(path)
        ending = Path(place).suffix.lower().removeprefix(".")
        if ending not in _FORMS:
            raise ParameterError(
                argument="path", expected=f"end in {', '.join('.' + f for f in _FORMS)}", got=brief(place)
            )
        if ending == "svg":
            text = self.svg(theme, width, height)
            if theme == "auto":
                text = text.replace(">", f"><style>{theme_style('svg')}svg{{background:var(--paper)}}</style>", 1)
            data = text.encode()
        elif ending == "png":
            data = self.png(theme, width=width, height=height)
        else:
            data = self._write("pdf", theme, width, height, metadata={"CreationDate": None, "Title": self.title})
        write_atomically(place, data)

    def _write(self, form: str, theme: str, width: float | None, height: float | None, **options: Any) -> bytes:
        figure = self.figure(theme, width, height)
        buffer = BytesIO()
        with _drawing():
            figure.savefig(buffer, format=form, **options)
        return buffer.getvalue()

    def __copy__(self) -> Plot:
        return self  # nothing changes it

    def __deepcopy__(self, memo: dict[int, Any]) -> Plot:
        return self

    def __reduce__(self) -> NoReturn:
        raise ParameterError(
            "a plot cannot be pickled; keep its drawing with plot.save(path), plot.svg() or plot.png()"
        )

    def __repr__(self) -> str:
        return f"Plot({self.title!r}: {self.description})"

    def _repr_html_(self) -> str:
        return (
            f'<div class="tallymark"><style>{STYLE}{theme_style()}</style>{self.svg("auto")}'
            f"<details><summary>Numbers</summary>{to_html(self.table)}</details></div>"
        )


def _inches(name: str, given: float | None, own: float) -> float:
    if given is None:
        return own
    if not 1 <= given <= 100:
        raise ParameterError(argument=name, expected="be from 1 to 100 inches", got=brief(given))
    return float(given)


@contextmanager
def _drawing() -> Iterator[Any]:
    """Matplotlib's settings for our drawings, and its class of figures: no window, and no state that others see."""
    with _one_at_a_time, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # signs that the font does not have are drawn by the reader's own
        with needed("a plot", "matplotlib", extra="plots"), _silent("matplotlib.font_manager"):
            import matplotlib
            from matplotlib.figure import Figure
        with matplotlib.rc_context():
            matplotlib.rcdefaults()
            matplotlib.rcParams.update(_SETTINGS)
            yield Figure


@contextmanager
def _silent(name: str) -> Iterator[None]:
    """Without the words of a logger: the first import looks for fonts, and says so where that takes a while."""
    logger = logging.getLogger(name)
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)
