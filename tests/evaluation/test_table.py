"""evaluate_table: the same report from every source, and what is refused before anything is read."""

from __future__ import annotations

import pickle

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import tallymark as tm
from tallymark.evaluation.table import ColumnRoles, TableJob
from tallymark.sources.base import chunks
from tallymark.sources.csv import reader
from tallymark.sources.datasets import FileDataset
from tallymark.sources.files import read_columns

N = 400
NAMES = ["auc", "logloss", "brier", "accuracy", "auc(bounded=64)"]


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(5)
    p = rng.random(N)
    y = rng.random(N) < p
    return pd.DataFrame(
        {
            "unused": [object()] * N,
            "happened": np.where(y, "yes", "no"),
            "p": p.round(2),
            "weight": rng.integers(1, 4, N).astype(float),
            "city": rng.choice(["Ulm", "Bonn", "Köln"], N),
            "id": rng.permutation(N),
        }
    )


def written(frame, folder):
    """The rows in a folder of Parquet files of several row groups, a CSV file and an Arrow file."""
    held = frame.drop(columns="unused")
    parts = folder / "parts" / "day=1"
    parts.mkdir(parents=True)
    held[:150].to_parquet(parts / "a.parquet", row_group_size=60)
    held[150:150].to_parquet(parts / "b.parquet")
    held[150:].to_parquet(parts / "c.pq", row_group_size=100)
    (parts / "_SUCCESS").write_text("")
    (parts / ".c.pq.crc").write_text("x")
    held.to_csv(folder / "all.csv", index=False)
    held.to_csv(folder / "all.tsv.gz", index=False, sep="\t")
    pyarrow.feather.write_feather(held, folder / "all.arrow", chunksize=90)
    pl.from_pandas(held).write_ipc(folder / "views.arrow", record_batch_size=90)  # with texts as string_view
    pl.from_pandas(held).write_ipc_stream(folder / "stream.arrow")
    return folder


def sources_of(frame, folder):
    """Every kind of source of the same rows."""
    held = frame.drop(columns="unused")
    table = pa.Table.from_pandas(held, preserve_index=False)
    cuts = [held[k : k + 70] for k in range(0, N, 70)]
    return {
        "pandas": frame,
        "polars": pl.from_pandas(held),
        "arrow": table,
        "mapping": {name: held[name].to_numpy() for name in held},
        "lazy": pl.from_pandas(held).lazy(),
        "frames": iter(cuts),
        "mappings": [{name: cut[name].tolist() for name in cut} for cut in cuts],
        "batches": table.to_batches(max_chunksize=30),
        "reader": table.to_reader(),
        "dataset": pyarrow.dataset.dataset(table),
        "duckdb": duckdb.from_arrow(table),
        "folder": folder / "parts",
        "pattern": str(folder / "parts" / "**" / "*.p*"),
        "list": [folder / "parts" / "day=1" / "c.pq", str(folder / "parts" / "day=1" / "a.parquet")],
        "csv": str(folder / "all.csv"),
        "tsv": folder / "all.tsv.gz",
        "arrow file": folder / "all.arrow",
        "arrow file of views": folder / "views.arrow",
        "arrow stream": folder / "stream.arrow",
    }


IN_MEMORY = ["pandas", "polars", "arrow", "mapping"]
IN_PIECES = ["lazy", "frames", "mappings", "batches", "reader", "dataset", "duckdb"]
ON_DISK = ["folder", "pattern", "list", "csv", "tsv", "arrow file", "arrow file of views", "arrow stream"]


@pytest.fixture(scope="module")
def folder(frame, tmp_path_factory):
    return written(frame, tmp_path_factory.mktemp("rows"))


def numbers_of(report):
    """All numbers of a report, with its intervals."""
    every = [report, *(report.slices or {}).values()]
    cells = [each.cell(key) for each in every for key in each]
    return [(cell.value, cell.lo, cell.hi, cell.method, cell.n) for cell in cells]


def expected_of(frame, **asked):
    """What `evaluate` says of the columns."""
    rows = {"by": {"city": frame["city"]}, "kind": "probability", "positive": "yes"}
    return tm.evaluate(frame["happened"].tolist(), frame["p"].to_numpy(), NAMES, **rows, **asked)


@pytest.mark.parametrize("name", [*IN_MEMORY, *IN_PIECES, *ON_DISK])
def test_every_source_has_the_same_report(frame, folder, name):
    """Values and slices are those of evaluate on the same rows, to the last bit, whatever holds them."""
    found = tm.evaluate_table(
        sources_of(frame, folder)[name],
        truth="happened",
        prediction="p",
        metrics=NAMES,
        weights="weight",
        by="city",
        kind="probability",
        positive="yes",
    )
    expected = expected_of(frame, weights=frame["weight"].to_numpy())
    assert set(found.slices) == {"Bonn", "Köln", "Ulm"}
    assert numbers_of(found) == numbers_of(expected)


@pytest.mark.parametrize("keys", [None, "id"])
@pytest.mark.parametrize("name", ["pandas", "frames", "duckdb", "folder", "csv"])
def test_intervals_are_those_of_all_rows(frame, folder, name, keys):
    """By keys, or by the order of rows where the source has one: the ends of evaluate."""
    asked = {"ci": tm.Intervals(0.9, method="bootstrap", resamples=99, seed=3)}
    asked_columns = {"truth": "happened", "prediction": "p", "by": "city", "keys": keys, "metrics": NAMES[1:3]}
    source = sources_of(frame, folder)[name]
    found = tm.evaluate_table(source, **asked_columns, kind="probability", positive="yes", **asked)
    given = {} if keys is None else {"keys": frame["id"].to_numpy()}
    rows = {"by": {"city": frame["city"]}, "kind": "probability", "positive": "yes"}
    expected = tm.evaluate(frame["happened"].tolist(), frame["p"].to_numpy(), NAMES[1:3], **rows, **given, **asked)
    assert numbers_of(found) == numbers_of(expected)
    assert found.cell("logloss").lo < found["logloss"] < found.cell("logloss").hi


def test_several_prediction_columns_are_read_as_one_table(tmp_path):
    """One column per class, bound by `classes`; the truth may show a class in one file only."""
    rng = np.random.default_rng(1)
    table = rng.dirichlet(np.ones(3), 60)
    labels = rng.choice(["a", "b", "c"], 60)
    held = pd.DataFrame({"y": labels, "p1": table[:, 0], "p2": table[:, 1], "p3": table[:, 2]}).sort_values("y")
    for k in range(3):
        held[20 * k : 20 * k + 20].to_parquet(tmp_path / f"{k}.parquet")
    asked = {"truth": "y", "prediction": ["p1", "p2", "p3"], "metrics": ["logloss", "auc", "accuracy"]}
    facts = {"classes": ["a", "b", "c"], "kind": "probability"}
    found = tm.evaluate_table(tmp_path, **asked, **facts)
    expected = tm.evaluate(held["y"].tolist(), held[["p1", "p2", "p3"]].to_numpy(), asked["metrics"], **facts)
    assert numbers_of(found) == numbers_of(expected)


def test_types_of_csv_are_those_of_all_rows(tmp_path):
    """Whole numbers are labels until a later field is none; then everything is read again as it was written."""
    path = tmp_path / "late.csv"
    lines = [f"{k % 3},{k % 3}" for k in range(200_000)]
    lines[150_000] = "x,1"
    lines[160_000] = "2,x"
    path.write_text("y,p\n" + "\n".join(lines))
    found = tm.evaluate_table(path, truth="y", prediction="p", metrics=["accuracy"], kind="label")
    assert found["accuracy"] == (200_000 - 2) / 200_000
    assert found.n == 200_000
    with pytest.raises(tm.TypeOfDataError, match=r"Column 'y' was read as text because row 150,000 of .* is 'x'"):
        tm.evaluate_table(path, truth="y", prediction="p", metrics=["rmse"])


NAN_AMONG_TEXTS = {
    "first": ["nan,nan", "NaN,nan", "b,nan", "b,b"],
    "after numbers": ["1,1", "nan,2", "b,1", "nan,b"],
    "last": ["a,b", "b,b", "nan,nan", "inf,nan"],
    "among them": ["a,nan", "nan,nan", "nan,a", "a,a"],
    "among the labels of one side": ["nan,nan", "nan,a", "nan,b", "nan,nan"],
}


@pytest.mark.parametrize(
    "asked", [{}, {"metrics": ["accuracy"], "by": "y"}, {"metrics": ["accuracy"], "missing": "drop"}]
)
@pytest.mark.parametrize("name", NAN_AMONG_TEXTS)
def test_nan_in_a_column_of_texts_is_a_text(tmp_path, name, asked):
    """In whichever file it stands: what a column holds in one file with all rows is the rule."""
    lines = NAN_AMONG_TEXTS[name]
    whole = tmp_path / "whole.csv"
    whole.write_text("\n".join(["y,p", *lines]))
    for part in range(2):
        (tmp_path / f"{part}.csv").write_text("\n".join(["y,p", *lines[2 * part : 2 * part + 2]]))
    held = read_columns(whole, ["y", "p"])

    def outcome(report):
        try:
            found = report()
        except tm.TallymarkError:
            return "refused"
        return found.n, found.dropped, numbers_of(found)

    by = {"by": {"y": held["y"].values}} if "by" in asked else {}
    expected = outcome(lambda: tm.evaluate(held["y"].values, held["p"].values, **{**asked, **by}))
    assert (expected == "refused") == (name == "among the labels of one side")
    for source in (whole, [tmp_path / "0.csv", tmp_path / "1.csv"], [tmp_path / "1.csv", tmp_path / "0.csv"]):
        assert outcome(lambda source=source: tm.evaluate_table(source, truth="y", prediction="p", **asked)) == expected


def test_nan_long_before_a_text(tmp_path):
    """Of a file that is one table of many batches; where no text follows, it is a missing number."""
    lines = ["nan,nan", *["1,1"] * 200_000]
    path = tmp_path / "late.csv"
    asked = {"truth": "y", "prediction": "p", "metrics": ["accuracy"], "kind": "label"}
    path.write_text("\n".join(["y,p", *lines, "x,x"]))
    assert tm.evaluate_table(path, **asked)["accuracy"] == 1.0
    path.write_text("\n".join(["y,p", *lines]))
    with pytest.raises(tm.MissingValueError, match=r"got nan \(row 0 of `[^`]*late.csv`\)\. Pass missing"):
        tm.evaluate_table(path, **asked)


def test_an_empty_field_is_refused_at_once(tmp_path, monkeypatch):
    """Not after all files were read for their types, since no text could make it one."""
    monkeypatch.setattr(FileDataset, "infer_types", lambda *_: pytest.fail("all fields were read"))
    (tmp_path / "0.csv").write_text("y,p\n0.5,1.0\n,1.0\n")
    (tmp_path / "1.csv").write_text("y,p\n0.5,1.0\n")
    with pytest.raises(tm.MissingValueError, match=r"0\.csv"):
        tm.evaluate_table(tmp_path, truth="y", prediction="p", metrics=["mae"])


BIG = 2**53 + 1  # which no float holds


@pytest.mark.parametrize("odd", ["1.0", "1e0", "nan", str(10**40)])
@pytest.mark.parametrize("block", [32, 1 << 20])
def test_large_whole_numbers_in_csv_stay_apart(tmp_path, monkeypatch, odd, block):
    """As labels, groups, clusters and queries, whatever else the column holds and in whatever blocks it is read."""
    monkeypatch.setattr(reader, "BLOCK", block)
    truth, prediction = [BIG, 5, BIG, BIG - 1], [BIG - 1, 5, BIG, BIG]
    fields = [f"{y},{p},1,{k}" for k, (y, p) in enumerate(zip(truth, prediction, strict=True))]
    (tmp_path / "rows.csv").write_text("\n".join(["y,p,one,k", *fields, f"{odd},{odd},1,4", ""]))
    last = [] if odd == "nan" else [1 if odd.startswith("1.") or "e" in odd else int(odd)]
    truth, prediction = truth + last, prediction + last
    asked = {"metrics": ["accuracy"], "missing": "drop", "kind": "label"}
    found = tm.evaluate_table(tmp_path / "rows.csv", truth="y", prediction="p", by="y", **asked)
    assert found["accuracy"] == (2 + len(last)) / (4 + len(last))
    assert list(found.slices) == sorted(set(truth))
    ones, places = [1] * len(truth), list(range(len(truth)))
    for asked in ({"cluster": truth, "metrics": ["mae"], "ci": 0.9}, {"query": truth, "metrics": ["ndcg"]}):
        names = {"truth": "one", "prediction": "k", **dict.fromkeys({"cluster", "query"} & asked.keys(), "y")}
        found = tm.evaluate_table(tmp_path / "rows.csv", missing="drop", **{**asked, **names})
        assert numbers_of(found) == numbers_of(tm.evaluate(ones, places, **asked))


def test_large_whole_numbers_among_others_are_values(tmp_path):
    """A regression has the value of the same numbers as floats."""
    (tmp_path / "rows.csv").write_text(f"y,p\n{BIG},1.5\n0.5,{10**20 + 1}\n")
    found = tm.evaluate_table(tmp_path / "rows.csv", truth="y", prediction="p")
    assert numbers_of(found) == numbers_of(tm.evaluate([float(BIG), 0.5], [1.5, float(10**20 + 1)]))


def in_layout(texts, kind):
    """Texts in an Arrow array of a type."""
    plain = pa.array(texts)
    if not pa.types.is_dictionary(kind):
        return plain.cast(kind)
    coded = plain.dictionary_encode()
    return pa.DictionaryArray.from_arrays(coded.indices, coded.dictionary.cast(kind.value_type))


VALUES = [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view()]


@pytest.mark.parametrize("kind", [*VALUES, *[pa.dictionary(pa.int32(), kind) for kind in VALUES]], ids=str)
def test_every_layout_of_texts_has_the_same_report(tmp_path, kind):
    """As labels and as groups, in memory, in pieces and in files; an empty text is missing."""
    labels, groups = ["a", "b", None, "", "a", "a"], ["x", "y", "x", "x", "", "y"]
    table = pa.table({"y": in_layout(labels, kind), "p": in_layout(labels[::-1], kind), "g": in_layout(groups, kind)})
    with pa.ipc.new_file(tmp_path / "file.arrow", table.schema) as file:
        file.write_table(table, max_chunksize=4)
    with pa.ipc.new_stream(tmp_path / "stream.arrow", table.schema) as stream:
        stream.write_table(table, max_chunksize=4)
    sources = [table, table.to_batches(max_chunksize=4), tmp_path / "file.arrow", tmp_path / "stream.arrow"]
    if not (pa.types.is_dictionary(kind) and "view" in str(kind)):  # which pyarrow does not write
        pq.write_table(table, tmp_path / "rows.parquet", row_group_size=4)
        sources.append(tmp_path / "rows.parquet")
    for source in sources:
        found = tm.evaluate_table(source, truth="y", prediction="p", metrics=["accuracy"], by="g", missing="drop")
        assert (found.n, found.dropped, found["accuracy"], list(found.slices)) == (3, 3, 2 / 3, ["x", "y"])


def test_nulls_decimals_dates_and_categories(tmp_path):
    """Typed columns are read as evaluate reads them; missing values are refused with their place, or dropped."""
    from datetime import date
    from decimal import Decimal

    held = pa.table(
        {
            "y": pa.array([Decimal("1.25"), Decimal("2.50"), None, Decimal("4.00")]),
            "p": pa.array([1.5, 2.0, 3.0, 4.5], pa.float32()),
            "day": pa.array([date(2026, 1, 1)] * 2 + [date(2026, 1, 2)] * 2),
            "kind": pa.array(["b", "a", "b", "a"]).dictionary_encode(),
        }
    )
    pq.write_table(held, tmp_path / "rows.parquet", row_group_size=2)
    asked = {"truth": "y", "prediction": "p", "metrics": ["mae"], "by": ["day", "kind"]}
    with pytest.raises(tm.MissingValueError, match=r"`truth` .*got nan \(row 2 of `[^`]*rows.parquet`"):
        tm.evaluate_table(tmp_path / "rows.parquet", **asked)
    found = tm.evaluate_table(tmp_path / "rows.parquet", missing="drop", **asked)
    assert (found.n, found.dropped, found["mae"]) == (3, 1, pytest.approx(1.25 / 3))
    assert ("2026-01-02", "a") in found.slices
    assert numbers_of(found) == numbers_of(tm.evaluate_table(held, missing="drop", **asked))


@pytest.mark.parametrize("read", ["files", "batches"])
def test_metrics_that_keep_rows_have_the_values_of_evaluate(read, tmp_path):
    """To the last bit, also by group and of a function that depends on the order of the rows."""
    rng = np.random.default_rng(5)
    y, x, city = rng.normal(size=900), rng.normal(size=900), rng.choice(["Ulm", "Bonn"], 900)
    held = pd.DataFrame({"y": y, "p": y + x, "city": city})
    for place in range(9):
        held[100 * place : 100 * (place + 1)].to_parquet(tmp_path / f"{place}.parquet", row_group_size=10)
    own = tm.custom(lambda y, p, w: float(np.abs(np.diff(y - p)).sum()), name="own")
    metrics = ["median_absolute_error", "spearman", "d2_absolute", "d2_pinball", own, "gap(own)", "rmse"]
    source = tmp_path if read == "files" else [held[:500], held[500:]]
    found = tm.evaluate_table(source, truth="y", prediction="p", by="city", metrics=metrics)
    assert numbers_of(found) == numbers_of(tm.evaluate(held.y, held.p, metrics, by={"city": city}))
    points = tm.evaluate_table(tmp_path, truth=["y", "p"], prediction="city", metrics=["silhouette", "davies_bouldin"])
    assert list(points.values()) == [
        each(held[["y", "p"]].to_numpy(), city) for each in (tm.silhouette, tm.davies_bouldin)
    ]
    tally = tm.evaluation.tally_table(source, truth="y", prediction="p", metrics=["spearman"])
    assert tally.report()["spearman"] == tm.spearman(held.y, held.p)


@pytest.mark.parametrize(
    ("source", "asked", "told"),
    [
        (42, {}, "`source` must be a table, a path, batches"),
        ([1, 2], {}, "`source` must yield tables.*item 0 was 1"),
        ([], {}, "`source` must name at least one file"),
        (iter([]), {}, "`source` has no rows"),
        ("nowhere/*.parquet", {}, "no file matches"),
        ("nowhere.parquet", {}, "there is no file"),
        ({"y": [1.0]}, {"truth": "z"}, "the table has no column 'z'. Its columns are 'y'"),
        ({"y": [1.0]}, {"truth": 3}, "`truth` must be the name of a column"),
        ({"y": [1.0]}, {"weights": ["a", "b"]}, "`weights` must be the name of a column; got"),
        (iter([{"y": [1.0]}]), {"keys": "y"}, "`keys` only affects the resampling"),
        (iter([{"y": [1.0]}]), {"min_rows": 3}, "`min_rows` is the smallest group size"),
        ({"y": [1.0, "a"]}, {}, "column 'y' must contain values of one type"),
        (
            [{"y": 1.0}, {"y": 2.0}],
            {},
            r"column 'y' must contain one value per row; got 1.0. .*pandas.DataFrame\(rows\)",
        ),
    ],
)
def test_what_cannot_be_read_is_refused(source, asked, told):
    """Each error says what was wrong with which argument."""
    with pytest.raises(tm.TallymarkError, match=told):
        tm.evaluate_table(source, **{"truth": "y", "prediction": "y", "metrics": ["mae"], **asked})


def test_the_progress_function_is_called_up_to_the_end(folder):
    """A function hears how much of how much is done, up to all of it."""
    heard = []
    asked = {"truth": "happened", "prediction": "p", "metrics": ["auc"], "kind": "probability", "positive": "yes"}
    tm.evaluate_table(folder / "parts", **asked, progress=lambda done, total: heard.append((done, total)))
    assert heard == sorted(heard)
    assert heard[-1][0] == heard[-1][1] > 0


def test_a_job_pickles_and_adds_bytes(frame):
    """What travels to a worker gives the same bytes as here, in any grouping."""
    tally = tm.Tally(["auc"], kind="probability", positive="yes", by="city")
    job = TableJob(tally.to_bytes(), ColumnRoles(("happened",), ("p",), by=("city",)))
    sent = pickle.loads(pickle.dumps(job))
    table = pa.Table.from_pandas(frame[["happened", "p", "city"]], preserve_index=False)
    parts = [sent.fold(chunks(table.slice(k, 50).to_batches())) for k in range(0, N, 50)]
    assert sent.add([sent.add(parts[:3]), sent.fold([]), sent.add(parts[3:])]) == job.fold(chunks(table.to_batches()))


def test_days_add_up_to_the_month(frame, tmp_path):
    """Tallies are saved, loaded and added without the rows."""
    asked = {"truth": "happened", "prediction": "p", "metrics": NAMES, "kind": "probability", "positive": "yes"}
    for day in range(4):
        tally = tm.evaluation.tally_table(frame[day * 100 : day * 100 + 100], by="city", **asked)
        tally.save(tmp_path / f"{day}.tally")
    month = sum(tm.Tally.load(tmp_path / f"{day}.tally") for day in range(4))
    assert numbers_of(month.report()) == numbers_of(expected_of(frame))
    (tmp_path / "broken.tally").write_bytes((tmp_path / "0.tally").read_bytes()[:-1])
    with pytest.raises(tm.FileError, match=r"broken\.tally` does not contain a tally"):
        tm.Tally.load(tmp_path / "broken.tally")
    with pytest.raises(tm.FileError, match="could not be read: No such file"):
        tm.Tally.load(tmp_path / "none.tally")


@pytest.fixture
def unreadable(tmp_path):
    """Three files of which the second has a prediction that is not a probability."""
    for k, high in enumerate((0.9, 1.5, 0.8)):
        pd.DataFrame({"y": [0, 1], "p": [0.2, high]}).to_csv(tmp_path / f"{k}.csv", index=False)
    return tmp_path


def test_a_metric_that_cannot_read_some_rows_of_files_fails_and_the_others_go_on(unreadable):
    """As in memory: named metrics raise with a report, and `errors="report"` keeps the cell."""
    frame = pd.concat(pd.read_csv(path) for path in sorted(unreadable.iterdir()))
    in_memory = tm.evaluate(frame, "y", "p", ["rmse", "logloss"], errors="report")
    report = tm.evaluate(unreadable, "y", "p", ["rmse", "logloss"], errors="report")
    assert (report["rmse"], report.n) == (in_memory["rmse"], 6)
    assert "`prediction` must contain probabilities" in str(report.failures["logloss"])
    assert "1.csv" in str(report.failures["logloss"])
    assert "`prediction` must contain probabilities" in str(in_memory.failures["logloss"])
    for call in (tm.evaluate, tm.evaluation.tally_table):
        with pytest.raises(tm.DomainError, match="`prediction` must contain") as raised:
            call(unreadable, "y", "p", metrics=["rmse", "logloss"])
        assert raised.value.report["rmse"] == in_memory["rmse"]
    tally = tm.evaluation.tally_table(unreadable, "y", "p", ["rmse", "logloss"], errors="report")
    assert set(tally.failures) == {"logloss"}


def test_reading_stops_where_no_metric_is_left():
    """And before it starts where the kind of predictions says that a metric cannot read them."""
    rows, read = {"y": ["a", "b"], "p": [0.2, 0.9]}, []

    def batches():
        for k in range(3):
            read.append(k)
            yield rows

    with pytest.raises(tm.TypeOfDataError, match="`truth` must contain real numbers"):
        tm.evaluate_table(batches(), "y", "p", ["rmse", "mae"])
    assert read == [0]
    with pytest.raises(tm.KindError):
        tm.evaluate_table(batches(), "y", "p", ["auc", "rmse"], kind="score")
    assert read == [0]
    report = tm.evaluate_table(batches(), "y", "p", ["rmse", "mae"], errors="report")
    assert (report.n, len(report.failures)) == (6, 2)


def test_failures_travel_from_workers():
    """A job pickles, and its pieces are bytes."""
    empty = tm.Tally(["rmse", "logloss"])
    job = pickle.loads(pickle.dumps(TableJob(empty.to_bytes(), ColumnRoles(("y",), ("p",)), keep_failures=True)))
    tables = [pa.record_batch({"y": [0, 1], "p": [0.2, high]}) for high in (0.9, 1.5)]
    tally = tm.Tally.from_bytes(job.add([job.fold(chunks([table])) for table in tables]))
    assert set(tally.failures) == {"logloss"}
    assert "row 1" in str(tally.failures["logloss"])


def test_a_frame_with_its_own_columns_is_told_how_to_call():
    """Arrays of metric names are still metrics."""
    frame = pd.DataFrame({"y": [0, 1, 1], "p": [0.1, 0.8, 0.4]})
    with pytest.raises(tm.ParameterError, match=r'evaluate\(frame, "y", "p"\)'):
        tm.evaluate(frame, frame.y, frame.p)
    assert list(tm.evaluate(frame[["y"]], frame[["p"]], np.array(["auc", "brier"]))) == ["auc", "brier"]
