"""Drawings: what is in them, that no text is cut or covered by another, and that they stay small."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

import tallymark as tm
from tallymark.rendering.plots import canvas
from tallymark.rendering.plots.canvas import shorten_names, show_tick, show_value, text_inches, truncate_text
from tallymark.rendering.plots.class_balance import ClassCount, class_balance_plot
from tallymark.rendering.plots.confusion_matrix import MOST_CLASSES, confusion_matrix_plot, mistakes_plot
from tallymark.rendering.plots.curves import Band, Line, precision_recall_plot, roc_plot
from tallymark.rendering.plots.forest import ForestRow, differences_plot
from tallymark.rendering.plots.gain import gain_plot
from tallymark.rendering.plots.group_dots import MOST_GROUPS, GroupDot, group_dots_plot
from tallymark.rendering.plots.learning import LearningPanel, learning_plot
from tallymark.rendering.plots.qq import qq_plot
from tallymark.rendering.plots.reliability import ReliabilityBin, reliability_plot
from tallymark.rendering.plots.residual_boxes import ResidualBox, residual_boxes_plot
from tallymark.rendering.plots.scatter import predictions_plot, residuals_plot, spread_table
from tallymark.rendering.plots.score_histogram import ClassScores, score_histogram_plot
from tallymark.rendering.plots.thresholds import BestThresholdMark, thresholds_plot
from tallymark.rendering.table import Table

pytestmark = pytest.mark.slow

NONE = Table("", ("a",), [])
ALL = GroupDot("all", 0.5, 100)
LONG = "a name that goes on and on, as names of classes do where nobody stops them"
RNG = np.random.default_rng(7)


def lines(count, name="line {}"):
    x = np.linspace(0, 1, 50)
    return [Line(name.format(k), x, x ** (0.1 + k / 10), 0.9 - k / 50, share=0.3 + k / 100) for k in range(count)]


def matrix(size, name="{}", counts=None):
    counts = RNG.integers(0, 2_000_000, (size, size)) if counts is None else counts
    return confusion_matrix_plot([name.format(k) for k in range(size)], counts, NONE)


def dots(count, name="group {}"):
    found = [GroupDot(name.format(k), (-1) ** k * k / 10, 10**k, k / 10 - 1, k / 10 + 1) for k in range(count)]
    return group_dots_plot(
        "metric", "group", [*found, GroupDot("none", float("nan"), 3)], ALL, NONE, interval="95 % intervals"
    )


def pairs(count, name="model {} − other"):
    found = [
        ForestRow(name.format(k), k / 100, k / 100 - 0.02, k / 100 + 0.02, k > 2, "0.01 [−0.01, 0.03]")
        for k in range(count)
    ]
    ranks = [("first", 0.9, "a"), (name.format(2), 0.8, "ab"), ("third", float("nan"), "")]
    return differences_plot("auc", found, ranks, NONE, intervals="95 % intervals", better="higher")


def cloud(rows, scale=1.0, weights=None):
    truth = RNG.normal(size=rows) * scale
    prediction = truth + RNG.normal(size=rows) * scale
    facts = {"rmse": 1.0, "table": NONE}
    residuals = residuals_plot(prediction, prediction - truth, weights, bias=0.0, **facts)
    return residuals, predictions_plot(truth, prediction, weights, r2=0.5, **facts)


def thresholds():
    at = np.array([np.inf, 0.9, 0.5, 0.2])
    values = {"precision": [np.nan, 1, 1, 0.5], "recall": [0, 0.1, 0.6, 1], "fscore": [0, 0.2, 0.75, 0.67]}
    return thresholds_plot(at, values, BestThresholdMark("fscore", 0.5, 0.75), NONE, unit=True)


def histogram(*names, outside=0.0):
    classes = [ClassScores(name, RNG.dirichlet(np.ones(30)), 10.0**5, 0.5) for name in names]
    return score_histogram_plot(np.linspace(-2, 9, 31), classes, NONE, what="score", counted="rows", outside=outside)


def balance(count, name="class {}"):
    counts = [ClassCount(name.format(k), 10.0 * k, 12.0 * k) for k in range(count)]
    return class_balance_plot(counts, 100.0, NONE, left_out="the 24 of 5,000 that differ most")


def residuals_by(count, name="group {}"):
    boxes = [ResidualBox(name.format(k), 10**k, [k - 3.0, k - 1.0, k, k + 1.0, k + 2.0]) for k in range(count)]
    return residual_boxes_plot("group", boxes, NONE, left_out="12 lowest and highest of 5,000")


def qq(scale):
    normal = np.linspace(-3, 3, 200)
    return qq_plot(normal, scale * normal**3, mean=scale, deviation=2.5 * scale, table=NONE, departure="heavy tails")


def learning(panels, sets, rounds=60, best=40):
    at = np.arange(rounds, dtype=float)
    values = np.where(at % 20 == 7, np.nan, np.exp(-at / 9))
    drawn = [LearningPanel(f"RMSE {k}", dict.fromkeys(sets, (at, values + k))) for k in range(panels)]
    return learning_plot(drawn, sets, best, NONE)


BAND = "99.9 % confidence band, simultaneous"
STEPS = np.linspace(0, 1, 50)
BINS = [ReliabilityBin(k / 10, (k + 1) / 10, k / 10 + 0.05, min(1, k / 9), 10.0**k, 0.1, 0.9) for k in range(10)]
DRAWINGS = {
    "roc": roc_plot(lines(1), NONE),
    "roc of 8": roc_plot(lines(8), NONE),
    "roc of long": roc_plot(lines(8, LONG), NONE),
    "precision": precision_recall_plot(lines(1), NONE),
    "precision of 5": precision_recall_plot(lines(5, "表表 {}"), NONE),
    "roc with a band": roc_plot(lines(1), NONE, band=Band.of_boxes(STEPS, STEPS**0.2, (0.1, 0.2), BAND), note=" So."),
    "precision with a band": precision_recall_plot(
        lines(1), NONE, band=Band.of_steps(STEPS[1:], STEPS[1:] / 2, STEPS[1:], BAND)
    ),
    "thresholds": thresholds(),
    "reliability": reliability_plot(BINS, 0.05, NONE, what="share of positives", interval="99.9 % Wilson interval"),
    **{f"matrix of {size}": matrix(size) for size in (1, 2, 3, 7, 12, 13, MOST_CLASSES)},
    "matrix of long": matrix(5, LONG + " {}"),
    "mistakes": mistakes_plot([(LONG, "b", 12, 0.5), ("c", "d", 3.5, 0.1)], 300, 0.7, NONE),
    "no mistakes": mistakes_plot([], 300, 1.0, NONE),
    "dots": dots(9),
    "one dot": dots(1),
    "many dots": dots(MOST_GROUPS - 1),
    "dots of long": dots(4, LONG + " {}"),
    "histogram": histogram("0", "1", outside=12.0),
    "histogram of one": histogram("yes"),
    "histogram of long": histogram(LONG, LONG + "!"),
    "gain": gain_plot(STEPS, STEPS**0.2, 0.2, NONE, positives="the positives"),
    "gain of long": gain_plot(STEPS, STEPS**0.2, 0.2, NONE, positives=f"the rows of {LONG}"),
    "boxes": residuals_by(3),
    "boxes of long": residuals_by(24, LONG + " {}"),
    "qq": qq(1e-9),
    "qq of large": qq(1e9),
    "learning": learning(2, ["train", "valid"]),
    "learning of one round": learning(1, ["train"], rounds=1, best=None),
    "learning of long": learning(7, [f"{LONG} {k}" for k in range(9)]),
    "balance": balance(2),
    "balance of long": balance(24, LONG + " {}"),
    "pairs": pairs(6),
    "one pair": pairs(1, LONG + " {}"),
    **{f"cloud of {rows}, {k}": plot for rows in (1, 200, 5_000) for k, plot in enumerate(cloud(rows))},
    "large": cloud(50, 1e9)[0],
    "small": cloud(50, 1e-9)[1],
}


def boxes(plot, theme):
    """The boxes of all texts that are drawn, as matplotlib draws them."""
    figure = plot.figure(theme)
    canvas = FigureCanvasAgg(figure)
    drawn, draw = [], Text.draw

    def record(self, renderer, *args, **kwargs):
        draw(self, renderer, *args, **kwargs)
        if self.get_visible() and self.get_text().strip():
            drawn.append((self.get_text(), self.get_window_extent(renderer)))

    Text.draw = record
    try:
        canvas.draw()
    finally:
        Text.draw = draw
    return figure.bbox, drawn


@pytest.mark.filterwarnings("ignore:Glyph")  # wide signs, which the font of the tests does not have
@pytest.mark.parametrize("name", DRAWINGS)
def test_no_text_is_cut_or_covers_another(name):
    """All texts lie within the drawing and apart from each other; the font is wider than those of browsers."""
    whole, found = boxes(DRAWINGS[name], "light")
    assert found
    for text, box in found:
        assert box.x0 >= -0.5, text
        assert box.y0 >= -0.5, text
        assert box.x1 <= whole.x1 + 0.5, text
        assert box.y1 <= whole.y1 + 0.5, text
    for (first, a), (second, b) in itertools.combinations(found, 2):
        across = min(a.x1, b.x1) - max(a.x0, b.x0)
        up = min(a.y1, b.y1) - max(a.y0, b.y0)
        assert across <= 1 or up <= 1.5, (first, second)


@pytest.mark.parametrize("name", DRAWINGS)
def test_drawings_are_small_and_described(name):
    """A page has a dozen of them; a sentence has an end."""
    plot = DRAWINGS[name]
    assert len(plot.svg("auto")) < 100_000
    assert plot.description.endswith(".")
    assert plot.description[:1].isupper() or "dot" in name or name == "thresholds"


def path_of(plot, colour="#1f5fbf"):
    """The points of the line of a colour, in points of the page."""
    d = re.search(rf'<path d="([^"]*)"[^>]*style="fill: none; stroke: {colour}', plot.svg()).group(1)
    at, out = [0.0, 0.0], []
    for command, rest in re.findall(r"([Mlhv])([^Mlhvz]*)", d):
        numbers = [float(n) for n in re.findall(r"-?(?:\d+\.?\d*|\.\d+)", rest)]
        if command == "M":
            at = numbers
        elif command == "h":
            at = [at[0] + numbers[0], at[1]]
        elif command == "v":
            at = [at[0], at[1] + numbers[0]]
        else:
            at = [at[0] + numbers[0], at[1] + numbers[1]]
        out.append(tuple(at))
    return np.array(out)


def test_what_is_drawn_is_the_full_curve_to_half_a_pixel():
    """From the file itself, at a width of 2,000 pixels: thinning, rounding and steps together."""
    truth = RNG.integers(0, 2, 20_000)
    curve = tm.roc_curve(truth, truth + RNG.normal(size=20_000), kind="score")
    plot = roc_plot([Line("", curve.fpr, curve.tpr, 0.7)], NONE)
    drawn = path_of(plot)
    assert len(drawn) < len(curve) / 2
    axes = plot.figure().axes[0]
    where = axes.transAxes.transform([(0, 0), (1, 1)]) * 72 / plot.figure().dpi
    ends = [axes.get_xlim(), axes.get_ylim()]
    full = np.column_stack(
        [
            where[0, k] + (side - low) / (high - low) * (where[1, k] - where[0, k])
            for k, (side, (low, high)) in enumerate(zip((curve.fpr, curve.tpr), ends, strict=True))
        ]
    )
    full[:, 1] = plot.size[1] * 72 - full[:, 1]
    scale = 2_000 / (plot.size[0] * 72)
    worst = 0.0
    for point in full[::7]:
        way = np.diff(drawn, axis=0)
        along = np.clip(((point - drawn[:-1]) * way).sum(axis=1) / np.maximum((way**2).sum(axis=1), 1e-300), 0, 1)
        worst = max(worst, np.hypot(*(point - drawn[:-1] - along[:, None] * way).T).min() * scale)
    assert worst < 0.5


def test_precision_is_drawn_in_steps():
    """Level to the next recall, since precision between two points is not on the line between them."""
    plot = precision_recall_plot([Line("", [0, 0.5, 1], [1.0, 0.8, 0.4], 0.6, share=0.4)], NONE)
    path = path_of(plot)
    assert len(path) == 5
    assert all(a[0] == b[0] or a[1] == b[1] for a, b in itertools.pairwise(path))


def test_a_matrix_has_its_counts_and_shares():
    """Shares are those of a row; a row of nothing has none."""
    plot = confusion_matrix_plot(["cat", "dog"], np.array([[3, 1], [0, 0]]), NONE)
    texts = [text for text, _ in boxes(plot, "dark")[1]]
    assert {"3", "1", "75 %", "25 %"} <= set(texts)
    assert plot.description == (
        "Confusion matrix of 2 classes: 75.0 % of the rows are right; the most frequent mistake is cat taken for dog "
        "(1 time, 25 % of its rows)."
    )
    right = confusion_matrix_plot(["cat", "dog"], np.eye(2, dtype=int), NONE)
    assert right.description == "Confusion matrix of 2 classes: 100.0 % of the rows are right."


def test_the_axis_of_groups_shows_their_differences():
    """Values from 0.98 to 1 fill it, with their intervals; zero is not on it."""
    groups = [GroupDot("a", 0.985, 50, 0.98, 0.99), GroupDot("b", 0.995, 50, 0.99, 1.0), GroupDot("c", np.nan, 1)]
    axes = group_dots_plot("ROC AUC", "region", groups, ALL._replace(value=0.99), NONE).figure().axes[0]
    assert axes.get_xlim() == pytest.approx((0.9788, 1.0012))
    level = group_dots_plot("ROC AUC", "region", [GroupDot("a", 0.5, 50)], ALL, NONE).figure().axes[0]
    assert level.get_xlim() == pytest.approx((0.475, 0.525))


def test_rows_far_outside_are_told_and_not_shown():
    """One outlier is not to make all others one dot."""
    truth = np.linspace(0, 1, 500)
    prediction = truth.copy()
    prediction[7] = 1e6
    plot = residuals_plot(prediction, prediction - truth, None, bias=0.0, rmse=1.0, table=NONE)
    assert any("1 row outside" in text for text, _ in boxes(plot, "light")[1])
    with pytest.raises(tm.UndefinedError, match="too far apart to be drawn"):
        residuals_plot(np.array([-1e308, 1e308]), np.array([1e308, -1e308]), None, bias=0.0, rmse=1.0, table=NONE)


def test_a_spread_is_a_histogram():
    """Rows by value, and the mean of another column there; weights count."""
    table = spread_table("t", np.array([0.0, 0.1, 12.0]), np.array([1.0, 3.0, 0.5]), np.array([1.0, 2.0, 5.0]), "mean")
    assert table.headings == ("from", "to", "rows", "mean")
    assert table.rows == [(0.0, 1.0, 4.0, 1.75), (11.0, 12.0, 0.5, 5.0)]
    assert [row[2] for row in spread_table("t", np.array([2.0, 2.0]), None).rows] == [2.0]


def test_numbers_have_four_digits_and_a_true_minus():
    """As in tables, with a true minus, and thousands apart."""
    assert [show_tick(v) for v in (0.0, -0.25, 12_500.0, 1e-7, 2e12)] == ["0", "−0.25", "12,500", "1e−07", "2e+12"]
    assert [show_value(v) for v in (0.5, 0.8675309, -12.34567, 1234.5678, 1e-9)] == [
        "0.5",
        "0.8675",
        "−12.35",
        "1,235",
        "1e−09",
    ]


def test_the_key_of_letters_is_whole_or_left_out():
    """Beside long names of models there is no room for it; the description has it anyway."""
    for plot, shown in ((pairs(3), True), (pairs(3, LONG + " {}"), False)):
        texts = [text for text, _ in boxes(plot, "light")[1] if text.startswith("same letter")]
        assert texts == ["same letter: not significant"] * shown
        assert "Models that share a letter do not differ significantly" in plot.description


def test_texts_are_cut_where_there_is_no_room():
    """And say so; wide signs take twice the room."""
    assert truncate_text("short", 3) == "short"
    cut = truncate_text(LONG, 1)
    assert cut.endswith("…")
    assert text_inches(cut) <= 1
    assert text_inches("表") == 2 * text_inches("a")
    assert [truncate_text("ab" * 9, text_inches("x" * k)) for k in (0, 1, 2, 5, 17)] == [
        "…",
        "…",
        "a…",
        "abab…",
        "ab" * 8 + "…",
    ]


def test_a_very_long_text_is_cut_at_once(monkeypatch):
    """Not letter by letter, each of which would look at all that is left."""
    looks = []
    monkeypatch.setattr(canvas, "text_width", lambda text: looks.append(text) or len(text))
    assert truncate_text("x" * 100_000, 1).endswith("x…")
    assert len(looks) < 50


def test_shortened_names_stay_different():
    """Cut in the middle; without what all share where that would make them equal; numbered where nothing else helps."""
    width = text_inches("x" * 12)
    places = [f"the northern region, office {k} of it" for k in "abc"]
    assert shorten_names(["north", "south"], width) == ["north", "south"]
    assert shorten_names(["a very long name 1", "a very long name 2"], width) == ["a very…ame 1", "a very…ame 2"]
    for names in (places, [f"{k} and the whole of the north" for k in "abc"], ["x" * k for k in range(90, 120)]):
        shown = shorten_names(names, width)
        assert len(set(shown)) == len(names)
        assert max(map(text_inches, shown)) <= width
        assert [each.code for each in shown] == names


def test_full_names_are_on_hover():
    """Of names that are shortened."""
    names = [f"the region in the far <north> of the country, {k}" for k in "ab"]
    groups, whole = [GroupDot(name, 1.0, 9) for name in names], GroupDot("all", 1.0, 18)
    svg = group_dots_plot("MAE", "region", groups, whole, Table("", ("region",), [])).svg()
    for k in "ab":
        assert f"<title>the region in the far &lt;north&gt; of the country, {k}</title>" in svg
