"""Plot: figure, SVG, PNG and files, of its own settings and without a trace in those of others."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import warnings
from xml.etree import ElementTree

import matplotlib
import pytest

import tallymark as tm
from tallymark.rendering.plots.curves import Line, roc_plot
from tallymark.rendering.plots.group_dots import GroupDot, group_dots_plot
from tallymark.rendering.table import Table

HOSTILE = '<script>alert("$x^2$")</script> \x00\n\ud800\u202e 表'
PLAIN = 'id="zz" url(#p) #1a1d23 1.23456 $x$'  # which looks like what is changed in tags


def some_plot(name="one"):
    return roc_plot([Line(name, [0, 0.2, 1], [0, 0.9, 1], 0.85)], Table("t", ("a",), [(1.0,)]))


def hostile_plot():
    dots = [GroupDot(HOSTILE, 0.5, 10, 0.4, 0.6), GroupDot("$\\frac{1}{", 0.7, 20)]
    return group_dots_plot(PLAIN, HOSTILE, dots, GroupDot("all", 0.6, 30), Table(HOSTILE, (PLAIN,), [(HOSTILE,)]))


@pytest.mark.parametrize("theme", ["light", "dark", "auto"])
def test_an_svg_is_small_named_and_of_its_own(theme):
    """Well-formed, with title and description, no reference to anything outside, and no style for the page."""
    svg = some_plot().svg(theme)
    root = ElementTree.fromstring(svg)
    space = "{http://www.w3.org/2000/svg}"
    assert root.find(f"{space}title").text == "ROC curve"
    assert "the area under the curve is 0.85" in root.find(f"{space}desc").text
    assert root.get("role") == "img"
    named = {root.find(f"{space}{tag}").get("id") for tag in ("title", "desc")}
    assert set(root.get("aria-labelledby").split()) == named
    assert not list(root.iter(f"{space}style")) + list(root.iter(f"{space}metadata"))
    assert not re.search(r'(href|src)="(?!#)', svg)
    assert re.findall(r"https?://[^\"]*", svg) == ["http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"]
    assert "chance" in {text.text for text in root.iter(f"{space}text")}
    assert len(svg) < 8_000


def test_the_same_plot_has_the_same_bytes():
    """At any time, so that pages can be compared; ids differ between plots and themes."""
    assert some_plot().svg() == some_plot().svg()
    assert some_plot().png() == some_plot().png()
    ids = [set(re.findall(r' id="([^"]*)"', svg)) for svg in (some_plot().svg(), some_plot().svg("dark"))]
    other = roc_plot([Line("", [0, 0.3, 1], [0, 0.9, 1], 0.8)], Table("t", ("a",), []))
    ids.append(set(re.findall(r' id="([^"]*)"', other.svg())))
    assert all(ids)
    assert not ids[0] & ids[1]
    assert not ids[0] & ids[2]


def test_every_reference_leads_to_an_id():
    """Clip paths are those of the plot itself."""
    svg = some_plot().svg()
    used = re.findall(r"url\(#([^)]*)\)", svg)
    assert used
    assert set(used) <= set(re.findall(r' id="([^"]*)"', svg))


def test_one_element_can_have_both_themes():
    """Colours are variables of the page, with those of the light theme where it has none; files bring their own."""
    svg = some_plot().svg("auto")
    assert "var(--series-1,#1f5fbf)" in svg
    assert not re.search(r"(?<!,)#[0-9a-f]{6}", svg)
    assert "#ffffff" not in svg


@pytest.mark.parametrize("theme", ["light", "auto"])
def test_labels_of_users_stay_what_they_are(theme):
    """No mathematics, no markup, no reference; control characters are replaced, and nothing in a text is rewritten."""
    plot = hostile_plot()
    svg = plot.svg(theme)
    assert "<script" not in svg
    root = ElementTree.fromstring(svg)
    texts = ["".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "$\\frac{1}{" in texts
    assert any(text.startswith(f"{PLAIN} by <script>") for text in texts)
    assert any(text.startswith("<script>alert(") for text in texts)
    assert plot.title.endswith("���� 表")
    assert plot.png()[:4] == b"\x89PNG"
    assert "<script" not in plot._repr_html_()


def test_an_interrupt_leaves_no_half_of_a_picture(tmp_path, monkeypatch):
    """The old one stays."""
    (tmp_path / "a.svg").write_text("old")

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", stop)
    with pytest.raises(KeyboardInterrupt):
        some_plot().save(tmp_path / "a.svg")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.svg", "old")]


def test_the_file_ending_decides_the_format(tmp_path):
    """SVG, PNG and PDF; the theme can be chosen; other names are refused."""
    plot = some_plot()
    for name, start in (("a.svg", b"<svg"), ("a.PNG", b"\x89PNG"), ("a.pdf", b"%PDF")):
        plot.save(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)
    plot.save(str(tmp_path / "b.svg"), theme="auto")
    both = (tmp_path / "b.svg").read_text()
    assert "prefers-color-scheme:dark" in both
    ElementTree.fromstring(both)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.PNG", "a.pdf", "a.svg", "b.svg"]
    with pytest.raises(tm.ParameterError, match=r"`path` must end in .svg, .png, .pdf; got 'a.gif'"):
        plot.save("a.gif")


def test_a_size_out_of_range_is_refused():
    """In inches."""
    assert some_plot().figure(width=8, height=3).get_size_inches().tolist() == [8, 3]
    with pytest.raises(tm.ParameterError, match="`width` must be from 1 to 100 inches; got 1200"):
        some_plot().figure(width=1200)
    with pytest.raises(tm.ParameterError, match="`theme` must be one of light, dark; got 'auto'"):
        some_plot().png("auto")


def test_settings_of_the_user_neither_change_nor_show():
    """A style of one's own for other figures is kept, and has no part in ours."""
    plain = some_plot().svg()
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red", "svg.fonttype": "path"}):
        before = dict(matplotlib.rcParams)
        assert some_plot().svg() == plain
        assert dict(matplotlib.rcParams) == before


def test_threads_can_draw_at_once():
    """Settings are those of the process, so they take turns."""
    expected, before = some_plot().svg(), list(warnings.filters)
    found = []
    threads = [threading.Thread(target=lambda: found.append(some_plot().svg())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4
    assert warnings.filters == before


def test_a_notebook_shows_the_numbers_too():
    """The drawing in both themes, and the table below it."""
    html = some_plot()._repr_html_()
    assert "<svg" in html
    assert "<table>" in html
    assert "prefers-color-scheme:dark" in html
    assert repr(some_plot()) == "Plot('ROC curve': ROC curve: the area under the curve is 0.85; chance has 0.5.)"


def test_without_matplotlib_it_says_what_to_install(monkeypatch):
    """As an ImportError that is ours."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    plot = some_plot()
    with pytest.raises(tm.MissingPackageError, match=r'pip install "tallymark\[plots\]"') as caught:
        plot.svg()
    assert isinstance(caught.value, ImportError)


def test_matplotlib_is_loaded_when_something_is_drawn():
    """Not by the import, not by an evaluation, and pyplot never; even where there is no font cache yet."""
    code = (
        "import sys, warnings; warnings.simplefilter('error'); import tallymark as tm\n"
        "r = tm.evaluate([0, 1, 1], [0.1, 0.4, 0.8], ['auc'])\n"
        "print('matplotlib' in sys.modules, 'tallymark.rendering.plots' in sys.modules)\n"
        "plot = r.plot.roc(); print('matplotlib' in sys.modules)\n"
        "plot.svg(); plot.png(); print('matplotlib' in sys.modules, 'matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, check=True)
    assert done.stdout.split() == ["False", "False", "False", "True", "False"]


def test_looking_for_fonts_is_no_news(tmp_path):
    """Where that takes more than five seconds, matplotlib says so; here it never does."""
    code = (
        "import threading; timer = threading.Timer; threading.Timer = lambda wait, say: timer(0, say)\n"
        "import tallymark as tm; tm.evaluate([0, 1, 1], [0.1, 0.4, 0.8], ['auc']).plot.roc().svg()"
    )
    environment = {**os.environ, "MPLCONFIGDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert list(tmp_path.glob("fontlist*"))
    assert done.stderr == ""
