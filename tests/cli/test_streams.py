"""Files that are read in pieces, and tallies that are saved and merged: the numbers are those of all rows at once."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from contextlib import contextmanager
from types import ModuleType

import numpy as np
import pandas as pd
import pyarrow.dataset
import pyarrow.feather
import pytest

import tallymark as tm
from tallymark.cli import progress, streaming
from tallymark.cli.run import run
from tests.cli.conftest import without_baselines

N = 300
PROBABILITY = ("--truth", "late", "--prediction", "p", "--kind", "probability")
VALUE = ("--truth", "minutes", "--prediction", "predicted")


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(7)
    p = rng.random(N).round(2)
    late = rng.random(N) < p
    minutes = rng.normal(30, 9, N).round(1)
    return pd.DataFrame(
        {
            "id": rng.permutation(N),
            "late": late.astype(int),
            "word": np.where(late, "late", "in time"),
            "p": p,
            "q": 1 - p,
            "minutes": minutes,
            "predicted": (minutes + rng.normal(0, 3, N)).round(1),
            "orders": rng.integers(1, 4, N),
            "city": rng.choice(["Köln", "Bonn", "Ulm"], N),
            "code": [f"{k % 3:03d}" for k in range(N)],
        }
    )


@pytest.fixture
def folder(frame, tmp_path, monkeypatch):
    """All rows in one file, and again in three of each form."""
    monkeypatch.chdir(tmp_path)
    frame.to_csv("all.csv", index=False)
    for k in range(3):
        part = frame[100 * k : 100 * k + 100]
        part.to_csv(f"day{k}.csv", index=False)
        for form in ("parquet", "arrow"):
            (tmp_path / form).mkdir(exist_ok=True)
        part.to_parquet(f"parquet/{k}.parquet", row_group_size=30)
        pyarrow.feather.write_feather(part, f"arrow/{k}.arrow")
    return tmp_path


@pytest.fixture
def told(capfdbinary, monkeypatch):
    """Runs a command here: its exit code, what it printed and what it complained about."""

    def call(*args):
        words = [str(arg) for arg in args]
        monkeypatch.setattr("sys.argv", ["tallymark", *words])
        code = run(words)
        out, err = capfdbinary.readouterr()
        return code, without_baselines(out.decode()), err.decode()

    return call


ASKED = {
    "values": (*VALUE, "--by", "city", "--weights", "orders", "--min-rows", "20"),
    "probabilities": (*PROBABILITY, "--ci", "0.9"),
    "resampled": (*VALUE, "--metrics", "wape", "--ci", "0.9", "--resamples", "50", "--keys", "id"),
    "in the order of rows": (*VALUE, "--metrics", "wape", "--ci", "0.9", "--resamples", "50"),
    "clusters": (*VALUE, "--metrics", "wape", "--ci", "0.9", "--resamples", "50", "--cluster", "city"),
    "a positive number": (*PROBABILITY, "--positive", "0"),
    "a positive text": ("--truth", "word", "--prediction", "p", "--positive", "late"),
    "classes": ("--truth", "word", "--prediction", "p,q", "--classes", "late,in time"),
    "labels": ("--truth", "late", "--prediction", "orders", "--labels"),
    "codes": ("--truth", "code", "--prediction", "orders", "--labels", "--metrics", "adjusted_rand"),
    "numbers with zeros in front": ("--truth", "code", "--prediction", "orders", "--kind", "value"),
    "queries": ("--truth", "late", "--prediction", "p", "--query", "city"),
    "several outputs": ("--truth", "minutes,p", "--prediction", "predicted,q", "--kind", "value"),
}


@pytest.mark.parametrize("asked", ASKED.values(), ids=list(ASKED))
def test_pieces_have_the_numbers_of_the_whole(told, folder, asked):
    """One file at once, one in pieces, several, a pattern and folders: the same JSON, character by character."""
    whole = told("evaluate", "all.csv", *asked, "--json")
    assert (whole[0], whole[2]) == (0, "")
    assert told("evaluate", "all.csv", *asked, "--json", "--stream") == whole
    assert told("evaluate", "day0.csv", "day1.csv", "day2.csv", *asked, "--json") == whole
    assert told("evaluate", "day?.csv", *asked, "--json") == whole
    assert told("evaluate", "parquet", *asked, "--json") == whole
    assert told("evaluate", "arrow", *asked, "--json") == whole


def test_which_files_are_read_in_pieces(told, folder, monkeypatch):
    """One file is read at once up to a size; the numbers are the same, also of metrics that keep the rows."""
    pieces, read = [], streaming._read_files
    monkeypatch.setattr(streaming, "_read_files", lambda *args: pieces.append(args) or read(*args))
    asked = (*VALUE, "--metrics", "median_absolute_error", "--json")
    whole = told("evaluate", "all.csv", *asked)
    assert (whole[0], len(pieces)) == (0, 0)
    for one in (("all.csv", "--stream"), ("day*.csv",), ("parquet",), ("day0.csv", "day1.csv", "day2.csv")):
        assert told("evaluate", *one, *asked) == whole
    assert len(pieces) == 4
    monkeypatch.setattr(streaming, "MIN_STREAMED", 100)
    assert told("evaluate", "all.csv", *asked) == whole
    assert len(pieces) == 5
    assert told("evaluate", "all.csv", *asked, "--no-stream") == whole
    assert told("evaluate", "al?.csv", *asked, "--no-stream") == whole
    code, _, err = told("evaluate", "parquet", *asked, "--no-stream")
    assert (code, err.startswith("tallymark: `--no-stream` reads all rows of one file at once")) == (2, True)
    assert len(pieces) == 5


def test_folders_of_table_formats_are_refused(told, folder):
    """Their folders hold deleted rows as well, however files in them are named."""
    (folder / "parquet" / "_delta_log").mkdir()
    for paths in (["parquet"], ["parquet/*.parquet"], ["parquet/0.parquet"], ["day0.csv", "parquet/1.parquet"]):
        for asked in ([], ["--stream"], ["--engine", "dask"]):
            code, out, err = told("evaluate", *paths, *VALUE, *asked)
            assert (code, out) == (2, "")
            assert err.startswith("tallymark: `parquet` is a Delta table")


def test_addresses_are_refused_with_a_way_to_open_them(told, folder):
    """One file that is read at once, and several."""
    for paths in (["s3://bucket/rows.parquet"], ["day0.csv", "s3://bucket/rows.parquet"]):
        code, _, err = told("evaluate", *paths, *VALUE)
        assert (code, "got an address. Download it, or open it in Python" in err) == (2, True)


def test_types_are_decided_by_all_rows_not_the_first_file(told, folder):
    """Metrics and labels go by all rows, whatever the first file held."""
    (folder / "a.csv").write_text("y,p,s\n1,1,1\n2,2,1\n")
    (folder / "b.csv").write_text("y,p,s\n0.5,1.5,x\n3,2,y\n")
    code, out, _ = told("evaluate", "a.csv", "b.csv", "--truth", "y", "--prediction", "p", "--json")
    assert (code, set(json.loads(out)["metrics"])) == (0, {"rmse", "mae", "r2"})
    asked = ("--truth", "s", "--prediction", "s", "--metrics", "recall(average=binary)", "--json")
    for positive in ("1", "x"):
        code, out, err = told("evaluate", "a.csv", "b.csv", *asked, "--positive", positive)
        assert (code, err) == (0, "")
        assert json.loads(out)["metrics"]["recall(average=binary)"]["value"] == 1.0


def test_reports_of_pieces_in_every_form(told, folder):
    """Pages, Markdown, CSV and conditions; what cannot be drawn without the rows says so."""
    code, out, err = told("evaluate", "parquet", *PROBABILITY, "--by", "city", "--html", "r.html", "-o", "r.md")
    assert (code, out, err) == (0, "", "")
    page = (folder / "r.html").read_text()
    assert page.count("<svg") >= 4
    assert "tm.Tally([&quot;auc&quot;" in page
    assert "by=[&quot;city&quot;]" in page
    assert "| ROC AUC |" in (folder / "r.md").read_text()
    code, _, _ = told("evaluate", "parquet", *VALUE, "--html", "v.html")
    assert code == 0
    assert "the rows of this report are gone" in (folder / "v.html").read_text()
    whole = told("evaluate", "all.csv", *VALUE, "--csv")
    assert told("evaluate", "parquet", *VALUE, "--csv") == whole
    code, out, err = told("evaluate", "parquet", *VALUE, "--accept", "rmse < 1")
    assert code == 1
    assert out.startswith("refused")
    assert err.startswith("tallymark: refused: rmse < 1 fails by ")


def test_days_are_merged_to_the_whole(told, folder):
    """Tallies of files that were read at once and in pieces add up to all rows, with groups and intervals."""
    asked = (*PROBABILITY, "--by", "city", "--ci", "0.9", "--keys", "id")
    expected = told("evaluate", "all.csv", *asked, "--json")
    assert told("evaluate", "day0.csv", *asked, "--save-tally", "0.tally")[0] == 0
    assert told("evaluate", "day1.csv", *asked, "--save-tally", "1.tally", "--stream")[0] == 0
    assert told("evaluate", "parquet/2.parquet", *asked, "--save-tally", "2.tally")[0] == 0
    assert told("merge", "0.tally", "1.tally", "2.tally", "--json") == expected
    assert told("merge", "?.tally", "--json") == expected
    code, out, _ = told("merge", "2.tally", "0.tally", "-o", "some.tally")
    assert code == 0
    assert out.startswith("200 rows")
    assert told("merge", "some.tally", "1.tally", "--json", "--save-tally", "month.tally") == expected
    assert tm.Tally.load("month.tally").n == N
    assert told("merge", "month.tally", "-o", "month.html")[:2] == (0, "")
    assert (folder / "month.html").read_text().count("<svg") >= 4
    assert told("merge", "month.tally", "--accept", "auc > 0.99")[0] == 1
    assert told("merge", "month.tally", "--min-rows", "50")[0] == 0


def test_a_tally_that_cannot_be_merged_is_named(told, folder):
    """The error names the file, and no input is written over."""
    told("evaluate", "day0.csv", *VALUE, "--save-tally", "a.tally")
    told("evaluate", "day1.csv", *VALUE, "--save-tally", "b.tally")
    told("evaluate", "day1.csv", *PROBABILITY, "--save-tally", "other.tally")
    kept = (folder / "a.tally").read_bytes()
    (folder / "cut.tally").write_bytes(kept[:-7])
    (folder / "flipped.tally").write_bytes(kept[:100] + bytes([kept[100] ^ 1]) + kept[101:])
    for args, message in {
        ("a.tally", "other.tally"): "`other.tally` cannot be added to `a.tally`: only tallies of the same metrics",
        ("a.tally", "cut.tally"): "`cut.tally` does not contain a tally: ",
        ("flipped.tally",): "`flipped.tally` does not contain a tally: ",
        ("day0.csv",): "`day0.csv` does not contain a tally: these bytes are not a tallymark state",
        ("a.tally", "none.tally"): "the tally `none.tally` could not be read: No such file",
        ("*.none",): "no file matches `*.none`",
        ("parquet",): "the tally `parquet` could not be read: Is a directory",
        ("a.tally", "./a.tally"): "each tally must be named once, since its rows would count twice; `./a.tally` was",
        ("a.tally", "b.tally", "-o", "a.tally"): "`--output` must be another file than the one that is read",
        ("a.tally", "--save-tally", "a.tally"): "`--save-tally` must be another file than the one that is read",
        ("a.tally", "-o", "x.tally", "--save-tally", "y.tally"): "`--save-tally` and `--output` must not both be",
        ("a.tally", "--save-tally", "-"): "`--save-tally` must be a file",
        ("a.tally", "--min-rows", "3"): "`--min-rows` is the smallest size of groups that are compared; this tally has",
        ("a.tally", "--accept", "rmse <"): "`--accept` ",
    }.items():
        code, out, err = told("merge", *args)
        assert (code, out, err.count("\n")) == (2, "", 3 if "--accept" in args else 1)  # a drawing shows where
        assert err.startswith(f"tallymark: {message}")
    assert (folder / "a.tally").read_bytes() == kept
    assert not (folder / "x.tally").exists()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("parquet", "--truth", "word", "--prediction", "p,q"), "`--classes` must name the class of each column"),
        (("parquet", *PROBABILITY, "--positive", "yes"), "`--positive` must be an integer, like the labels in"),
        (("day?.csv", *PROBABILITY, "--positive", "yes"), "`--positive` must be an integer, like the labels in"),
        (("parquet", "--truth", "lat", "--prediction", "p"), "`parquet/0.parquet` has no column 'lat'. Did you mean"),
        (("parquet", *VALUE, "--min-rows", "3"), "`--min-rows` is the smallest group size to compare: pass"),
        (("parquet", *VALUE, "--keys", "id"), "`--keys` only affects the resampling for intervals: pass `--ci` too"),
        (("-", "parquet", *VALUE), "standard input (-) must be the only file"),
        (("-", *VALUE, "--stream"), "standard input (-) must be the only file"),
        (("none/*.csv", *VALUE), "no file matches `none/*.csv`"),
        (("day0.csv", "none.csv", *VALUE), "there is no file `none.csv`"),
        (("day?.csv", *VALUE, "-o", "day1.csv"), "`--output` must be another file than the one that is read"),
        (("parquet", *VALUE, "--html", "parquet/0.parquet"), "`--html` must be another file than the one that is read"),
        (("all.csv", *VALUE, "--save-tally", "all.csv"), "`--save-tally` must be another file than the one that is"),
        (("parquet", *VALUE, "--scheduler", "x"), "`--scheduler` is the address of an engine; pass `--engine` too"),
        (("day?.csv", *VALUE, "--engine", "dask"), "`--engine` is for Parquet, whose columns have types; got"),
        (("parquet", *VALUE, "--engine", "dask", "--labels"), "`--labels` is for files that are read here"),
        (("parquet", "--truth", "word", "--prediction", "p", "--kind", "value"), "column 'word' must contain numbers;"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_in_pieces(told, folder, args, message):
    """2, and a sentence in the words of the command line."""
    code, out, err = told("evaluate", *args)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"tallymark: {message}")


def test_no_tally_is_kept_of_rows_that_fail(told, folder):
    """Nothing is written where there is no report."""
    assert told("evaluate", "day?.csv", "--truth", "word", "--prediction", "p", "--save-tally", "x.tally")[0] == 2
    assert not (folder / "x.tally").exists()


@pytest.fixture
def engine(monkeypatch):
    """An engine that reads the files here, and writes down what it was asked."""
    heard = []
    module = ModuleType("tallymark.sources.dask")

    @contextmanager
    def connected(scheduler):
        heard.append(("connected", scheduler))
        yield
        heard.append("closed")

    def open_files(paths, columns):
        heard.append((paths, columns))
        return pyarrow.dataset.dataset(paths)

    module.connected, module.open_files = connected, open_files
    monkeypatch.setitem(sys.modules, "tallymark.sources.dask", module)
    return heard


def test_an_engine_is_given_paths_and_columns(told, folder, engine):
    """Whole paths, since workers stand elsewhere; addresses as they are; the report is the same."""
    asked = (*PROBABILITY, "--by", "city", "--positive", "1", "--json")
    assert told("evaluate", "parquet", *asked, "--engine", "dask", "--scheduler", "tcp://x") == told(
        "evaluate", "all.csv", *asked
    )
    paths = [str(folder / "parquet" / f"{k}.parquet") for k in range(3)]
    assert engine == [("connected", "tcp://x"), (paths, ["late", "p", "city"]), "closed"]
    assert streaming._find_parquet(["s3://bucket/rows/", "parquet/0.parquet"]) == [
        "s3://bucket/rows/",
        "parquet/0.parquet",
    ]


def test_a_path_that_an_engine_cannot_open_is_explained_in_one_sentence(told, folder, engine):
    """Columns are looked for here first, where files are here; else the engine's own words are told in one sentence."""
    asked = ("--truth", "lat", "--prediction", "p", "--engine", "dask")
    code, _, err = told("evaluate", "parquet", *asked)
    assert (code, engine) == (2, [])
    assert err.startswith("tallymark: `parquet/0.parquet` has no column 'lat'. Did you mean 'late'? Its columns are ")
    assert err.count("\n") == 1
    code, _, err = told("evaluate", "nowhere://rows.parquet", *asked)
    assert (code, engine[0], engine[-1]) == (2, ("connected", None), (["nowhere://rows.parquet"], ["lat", "p"]))
    assert err.startswith("tallymark: the engine could not open `nowhere://rows.parquet` with the columns lat, p: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_while_files_are_read(told, folder, monkeypatch, threads):
    """130, one word, no tally, and no thread is left; here the signal comes with the first piece that is done."""
    before, alive, once = tm.get_threads(), set(threading.enumerate()), [signal.SIGINT]

    @contextmanager
    def progress_bar(what, long=progress.LONG):
        yield lambda done, total: once and os.kill(os.getpid(), once.pop())

    monkeypatch.setattr(streaming, "progress_bar", progress_bar)
    tm.set_threads(threads)
    try:
        outcome = told("evaluate", "parquet", "arrow", *VALUE, "--save-tally", "x.tally", "-o", "x.json")
    finally:
        tm.set_threads(before)
    assert outcome == (130, "", "\ntallymark: interrupted\n")
    assert not {"x.tally", "x.json"} & {path.name for path in folder.iterdir()}
    for thread in set(threading.enumerate()) - alive:  # one that was just being started ends by itself
        thread._started.wait(60)
        thread.join(60)
    assert set(threading.enumerate()) <= alive


def test_progress_counts_the_bytes_of_files_read(folder, monkeypatch):
    """It hears of bytes of files, as far as they are read."""
    heard = []

    @contextmanager
    def progress_bar(what, long=progress.LONG):
        heard.append(what)
        yield lambda done, total: heard.append((done, total))

    monkeypatch.setattr(streaming, "progress_bar", progress_bar)
    assert run(["evaluate", "day0.csv", "parquet", *VALUE, "-o", "r.txt"]) == 0
    size = sum(path.stat().st_size for path in [folder / "day0.csv", *(folder / "parquet").iterdir()])
    assert heard[0] == "2 files"
    assert heard[-1][0] <= heard[-1][1]
    assert size - 100 < heard[-1][0] <= size


def test_scores_in_ranges_give_the_same_numbers(folder, told):
    """The numbers are those of all scores at once; what ranges do not have is refused in the words of options."""
    asked = ("evaluate", "parquet", *PROBABILITY, "--metrics", "auc,ks,logloss", "--json")
    code, plain, _ = told(*asked)
    assert code == 0
    assert told(*asked, "--score-ranges", 5)[:2] == (0, plain)
    assert told("evaluate", "all.csv", *asked[2:], "--score-ranges", 5)[0] == 0
    for more, sentence in (
        (("--weights", "orders"), "`--weights` was given. Leave one of them out"),
        (("--save-tally", "a.tally"), "leave `--score-ranges` out"),
        (("--score-ranges", 0), "`--score-ranges` must be an integer from 1 to 65,536; got 0"),
    ):
        code, _, complaint = told(*asked, "--score-ranges", 5, *more)
        assert code == 2
        assert sentence in complaint
    code, _, complaint = told("evaluate", "all.csv", *asked[2:], "--score-ranges", 5, "--no-stream")
    assert code == 2
    assert "`--score-ranges` has not; leave one out" in complaint
