"""Intervals of tallies: what tells rows apart, what is kept, what is lost and says so."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

import tallymark as tm
from tallymark.states.resampling.replicates import MOST_LEFT_OUT
from tallymark.states.resampling.units import MOST_CLUSTERS
from tallymark.states.serialization import pack, unpack

RNG = np.random.default_rng(3)
Y = RNG.normal(3, 2, 90)
P = Y + RNG.normal(0, 1, 90)
W = RNG.uniform(0.1, 2, 90)
ASKED = {"ci": tm.Intervals(0.9, resamples=39, seed=2)}
RESAMPLED = {"ci": tm.Intervals(0.9, "bootstrap", resamples=39, seed=2)}
RESAMPLED = {"ci": tm.Intervals(0.9, "bootstrap", resamples=39, seed=2)}
PARTS = [np.arange(90)[k::4] for k in (2, 0, 3, 1)]


def ends(report, key):
    cell = report.cell(key)
    return cell.lo, cell.hi, cell.method


def add(metrics, y, p, parts, *, facts=None, **columns):
    asked = {**ASKED, **(facts or {})}
    pieces = [{name: column[part] for name, column in columns.items()} for part in parts]
    return sum(
        tm.Tally(metrics, **asked).update(y[part], p[part], **piece) for part, piece in zip(parts, pieces, strict=True)
    )


def test_row_numbers_as_keys_give_the_intervals_of_evaluate():
    """Keys that are the places of rows among all give what evaluate finds without keys, whatever the pieces."""
    whole = tm.evaluate(Y, P, ["wape", "rmse"], **ASKED)
    tally = add(["wape", "rmse"], Y, P, PARTS, keys=np.arange(90))
    for key in ("wape", "rmse"):
        assert ends(tally.report(), key) == ends(whole, key)
    assert whole.cell("wape").method == "bootstrap"
    assert tally.report().interval == whole.interval == ASKED["ci"]


def test_one_tally_numbers_its_rows():
    """Without keys, rows that come one piece after the other are numbered, as evaluate numbers them."""
    tally = tm.Tally(["wape"], **ASKED)
    for start in range(0, 90, 20):
        tally.update(Y[start : start + 20], P[start : start + 20])
    whole = ends(tm.evaluate(Y, P, ["wape"], **ASKED), "wape")
    assert ends(tally.report(), "wape") == whole
    empty = tm.Tally(["wape"], **ASKED)
    assert ends((empty + tally + empty).report(), "wape") == whole
    assert ends(pickle.loads(pickle.dumps(tally)).report(), "wape") == whole


def test_dropped_rows_have_no_number():
    """Rows with missing values are not counted, nor are those whose key is missing."""
    y = Y.copy()
    y[7] = np.nan
    tally = tm.Tally(["wape"], missing="drop", **ASKED).update(y[:30], P[:30]).update(y[30:], P[30:])
    assert ends(tally.report(), "wape") == ends(tm.evaluate(y, P, ["wape"], missing="drop", **ASKED), "wape")
    keys = [None if k == 7 else f"row {k}" for k in range(90)]
    whole = tm.evaluate(Y, P, ["wape"], missing="drop", keys=keys, **ASKED)
    assert whole.dropped == 1
    tally = tm.Tally(["wape"], missing="drop", **ASKED).update(Y, P, keys=keys)
    assert ends(tally.report(), "wape") == ends(whole, "wape")


def test_a_sum_of_numbered_tallies_says_what_is_lost():
    """Their rows have the same numbers, so resamples would take them for the same: values and formulas stay."""
    report = (
        tm.Tally(["wape", "rmse"], **ASKED).update(Y, P) + tm.Tally(["wape", "rmse"], **ASKED).update(Y, P)
    ).report()
    assert report["wape"] == tm.wape(Y, P)
    assert report.cell("rmse").method == "Hall"
    assert report.cell("wape").lo is None
    assert "`keys`" in report.cell("wape").notes[0]
    keyed = tm.Tally(["wape"], **ASKED).update(Y, P, keys=np.arange(90))
    mixed = (keyed + tm.Tally(["wape"], **ASKED).update(Y, P)).report()
    assert "`keys`" in mixed.cell("wape").notes[0]


def test_the_order_of_rows_with_keys_does_not_show():
    """Rows in another order have the interval of their keys, in evaluate too, and in groups."""
    order = np.random.default_rng(1).permutation(90)
    by = np.where(np.arange(90) % 3 == 0, "a", "b")
    keys = np.array([f"row {k}" for k in range(90)])
    one = tm.evaluate(Y, P, ["wape"], keys=keys, by=by, **ASKED)
    other = tm.evaluate(Y[order], P[order], ["wape"], keys=keys[order], by=by[order], **ASKED)
    assert ends(one, "wape") == ends(other, "wape") != ends(tm.evaluate(Y, P, ["wape"], **ASKED), "wape")
    alone = tm.evaluate(Y[by == "a"], P[by == "a"], ["wape"], keys=keys[by == "a"], **ASKED)
    assert ends(one.slices["a"], "wape") == ends(other.slices["a"], "wape") == ends(alone, "wape")


def test_classes_are_those_of_all_rows_in_every_resample():
    """A class of two rows is missing from many resamples, and still a class there."""
    y = np.array(["a"] * 60 + ["b"] * 28 + ["c"] * 2)
    said = np.where(RNG.random(90) < 0.6, y, "a")
    each = str(tm.Recall(average=None))
    names = [each, "fscore(average=macro)", "precision(average=macro)", "jaccard(average=macro)"]
    facts = dict(RESAMPLED)
    whole = tm.evaluate(y, said, names, **facts)
    report = add(names, y, said, PARTS, facts=facts, keys=np.arange(90)).report()
    assert all(ends(report, name) == ends(whole, name) for name in names)
    assert set(report.cell(each).lo) == {"a", "b", "c"}
    rare = np.arange(90) < 2
    p = np.clip(0.4 * rare + 0.6 * RNG.random(90), 0, 1)
    names = ["brier", "ece(bins=3)", "logloss", "recall", "precision"]
    facts["kind"] = "probability"
    for labels, positive in ((rare.astype(int), None), (np.where(rare, "yes", "no"), "yes")):
        facts["positive"] = positive
        whole = tm.evaluate(labels, p, names, **facts)
        report = add(names, labels, p, PARTS, facts=facts, keys=np.arange(90)).report()
        assert all(ends(report, name) == ends(whole, name) for name in names)
        assert report.cell("brier").method == "bootstrap"


def test_the_rows_of_tables_are_resampled_whole():
    """Columns of outputs, of classes and of labels, whose rows stay together."""
    rng = np.random.default_rng(4)
    two = np.column_stack([Y, P])
    cases = [
        (two, two + rng.normal(size=(90, 2)), ["mae", "r2(outputs=each)"], {}),
        (rng.integers(0, 3, 90), rng.dirichlet([1, 1, 1], 90), ["accuracy", "logloss"], {"classes": [0, 1, 2]}),
        (rng.integers(0, 3, 90), rng.random((90, 3)), ["top_k_accuracy(k=2)"], {"classes": [0, 1, 2], "kind": "score"}),
        (rng.integers(0, 2, (90, 3)), rng.integers(0, 2, (90, 3)), ["hamming_loss", "fscore(average=macro)"], {}),
    ]
    for y, p, names, facts in cases:
        facts = {**RESAMPLED, **facts}
        whole = tm.evaluate(y, p, names, **facts)
        tally = add(names, y, p, PARTS, facts=facts, keys=np.arange(90))
        back = tm.Tally.from_bytes(tally.to_bytes())
        for name in names:
            assert ends(back.report(), name) == ends(whole, name)
            assert whole.cell(name).method == "bootstrap"


@pytest.mark.parametrize("n", [255, 256, 257, 700, MOST_LEFT_OUT, MOST_LEFT_OUT + 1])
def test_few_and_many_rows(n):
    """Rows are left out one by one, in groups, or not at all, as in evaluate."""
    rng = np.random.default_rng(n)
    y, p, keys = rng.exponential(size=n), np.zeros(n), rng.integers(0, 1 << 62, n)
    whole = tm.evaluate(y, p, ["mae"], keys=keys, **RESAMPLED)
    parts = np.array_split(rng.permutation(n), 3)
    tally = add(["mae"], y, p, parts, facts=RESAMPLED, keys=keys)
    assert ends(tally.report(), "mae") == ends(whole, "mae")
    assert ends(tm.Tally.from_bytes(tally.to_bytes()).report(), "mae") == ends(whole, "mae")


def test_many_clusters_are_told_apart_as_far_as_it_matters():
    """As in evaluate, with bounded memory."""
    n = MOST_CLUSTERS + 50
    rng = np.random.default_rng(0)
    y, p, cluster = rng.normal(size=n), np.zeros(n), rng.permutation(n)
    whole = tm.evaluate(y, p, ["mae"], cluster=cluster, **ASKED)
    tally = add(["mae"], y, p, np.array_split(np.arange(n), 2), cluster=cluster)
    assert ends(tally.report(), "mae") == ends(whole, "mae")
    assert whole.cell("mae").method == "bootstrap of clusters"


def test_weights_of_some_rows_only():
    """What has a formula for plain rows keeps no resamples of them: weights of 1 say that they are to be kept."""
    half = np.arange(90) < 45
    keys = np.arange(90)
    plain = tm.Tally(["mae"], **ASKED).update(Y[half], P[half], keys=keys[half])
    rest = tm.Tally(["mae"], **ASKED).update(Y[~half], P[~half], weights=W[~half], keys=keys[~half])
    assert plain.report().cell("mae").method == "Hall"
    assert rest.report().cell("mae").method == "bootstrap"
    mixed = (plain + rest).report().cell("mae")
    assert mixed.lo is None
    assert "weights of 1" in mixed.notes[0]
    weights = np.where(half, 1.0, W)
    ones = tm.Tally(["mae"], **ASKED).update(Y[half], P[half], keys=keys[half], weights=weights[half])
    assert ones.report().cell("mae").method == "Hall"
    whole = tm.evaluate(Y, P, ["mae"], weights=weights, **ASKED)
    assert ends((rest + ones).report(), "mae") == ends(whole, "mae")


def test_rows_of_weight_zero_take_no_part():
    """In pieces as in the whole, be it that a piece has no others."""
    weights = np.where(np.arange(90) % 4 == 1, 0.0, W)
    whole = tm.evaluate(Y, P, ["wape"], weights=weights, **ASKED)
    assert ends(add(["wape"], Y, P, PARTS, keys=np.arange(90), weights=weights).report(), "wape") == ends(whole, "wape")
    kept = np.flatnonzero(weights)
    without = tm.Tally(["wape"], **ASKED).update(Y[kept], P[kept], weights=weights[kept], keys=kept)
    assert ends(without.report(), "wape") == ends(whole, "wape")


def test_what_grows_with_the_rows_is_not_resampled():
    """Rank metrics have their formula, or say what has none; nothing is lost in silence."""
    y = (Y > 3).astype(int)
    report = add(["auc", "average_precision", "pr_auc"], y, P, PARTS, facts={"kind": "score"}).report()
    whole = tm.evaluate(y, P, ["auc"], kind="score", **ASKED)
    assert ends(report, "auc") == ends(whole, "auc")
    assert report.cell("auc").method == "DeLong"
    for key in ("average_precision", "pr_auc"):
        assert report.cell(key).lo is None
        assert "grows with the rows; use evaluate" in report.cell(key).notes[0]


def test_states_that_are_too_large_are_not_kept():
    """Many pairs of labels a thousand times: the reason is the same whatever the pieces, and the value stays."""
    rng = np.random.default_rng(5)
    y, p = rng.integers(0, 80, 3000), rng.integers(0, 80, 3000)
    parts = np.array_split(np.arange(3000), 4)
    asked = {"ci": tm.Intervals(0.9, resamples=1000)}
    for pieces in (parts, parts[::-1], [np.arange(3000)]):
        tally = add(["v_measure"], y, p, pieces, facts=asked, keys=np.arange(3000))
        report = tm.Tally.from_bytes(tally.to_bytes()).report()
        assert report["v_measure"] == tm.v_measure(y, p)
        assert "the state is too large" in report.cell("v_measure").notes[0]
    with pytest.raises(tm.ParameterError, match="keeps one state per replicate"):
        tm.Tally(["wape"], ci=tm.Intervals(0.9, resamples=10_001))
    tm.Tally(["wape"], ci=tm.Intervals(0.9, method="analytic", resamples=10_001))


def test_analytic_tallies_keep_no_resamples():
    """They say where there is no formula, as evaluate does."""
    tally = tm.Tally(["wape", "rmse"], ci=tm.Intervals(0.9, method="analytic")).update(Y, P)
    found = tally + tally
    assert "no analytic interval" in found.report().cell("wape").notes[0]
    assert found.report().cell("rmse").method == "Hall"
    assert len(tally.to_bytes()) < 10_000


def test_no_rows_and_failures():
    """A tally without rows, or with a metric that cannot read them, has a report all the same."""
    empty = tm.Tally(["wape", "auc"], **ASKED)
    assert empty.report().reasons["wape"] == "no rows"
    assert tm.Tally.from_bytes(empty.to_bytes()).report().interval == empty.interval
    report = tm.Tally(["wape", "coverage"], **ASKED).update(Y, P).report(errors="report")
    assert set(report.failures) == {"coverage"}
    assert report.cell("wape").lo is not None
    assert "90 % interval" in str(report)
    bounded = tm.Tally(["auc(bounded=8)"], **ASKED).update(Y > 3, P).report().cell("auc(bounded=8)")
    assert any("not an interval" in note for note in bounded.notes)
    assert tm.Tally(["confusion_matrix"], **ASKED).update([1, 0], [1, 1]).report().cell("confusion_matrix").lo is None


@pytest.mark.parametrize(
    ("given", "error", "match"),
    [
        ({"keys": np.zeros(90)}, tm.ParameterError, r"be unique; got 0\.0 twice \(row 1\)"),
        ({"keys": np.arange(89)}, tm.LengthError, "one label per row"),
        ({}, tm.ParameterError, "for all rows of a tally or for none"),
        ({"cluster": np.arange(90)}, tm.StateError, "pass `cluster` for all"),
        ({"keys": [None] * 90}, tm.MissingValueError, "keys"),
    ],
)
def test_rows_that_cannot_be_told_apart_are_refused(given, error, match):
    """And the tally stays as it was."""
    tally = tm.Tally(["wape"], **ASKED).update(Y, P, keys=np.arange(90))
    before = tally.to_bytes()
    with pytest.raises(error, match=match):
        tally.update(Y, P, **given)
    assert tally.to_bytes() == before


def test_keys_and_clusters_are_for_intervals():
    """Without `ci` they would be ignored, so they are refused."""
    for name in ("keys", "cluster"):
        with pytest.raises(tm.ParameterError, match=f"`{name}` only affects the resampling"):
            tm.Tally(["wape"]).update(Y, P, **{name: np.arange(90)})
    with pytest.raises(tm.ParameterError, match="`keys` only affects the resampling"):
        tm.evaluate(Y, P, ["wape"], keys=np.arange(90))
    with pytest.raises(tm.StateError, match="same intervals"):
        tm.Tally(["wape"], ci=0.9) + tm.Tally(["wape"], ci=0.95)
    with pytest.raises(tm.StateError, match="same intervals"):
        tm.Tally(["wape"], ci=0.9) + tm.Tally(["wape"])


def test_threads_do_not_show():
    """Any number of them gives the same bytes."""
    before, found = tm.get_threads(), []
    y, p = np.random.default_rng(0).normal(size=(2, 6000))
    try:
        for threads in (1, 3):
            tm.set_threads(threads)
            found.append(tm.Tally(["wape"], **ASKED).update(y, p).to_bytes())
    finally:
        tm.set_threads(before)
    assert found[0] == found[1]


def test_bytes_that_do_not_fit_are_refused():
    """Settings, states and rows must belong together."""
    tally = tm.Tally(["wape", "rmse"], **ASKED).update(Y, P, keys=np.arange(90))
    _, fields = unpack(tally.to_bytes())
    states = fields["interval_states"]
    others = unpack(tm.Tally(["wape", "rmse"], **ASKED).update(Y[:9], P[:9]).to_bytes())[1]["interval_states"]
    for change in (
        {"interval": {**fields["interval"], "seed": 3}},
        {"interval": {**fields["interval"], "level": 2.0}},
        {"interval": {**fields["interval"], "resamples": 10**9}},
        {"interval": 3},
        {"interval_states": []},
        {"interval_states": states[:-1]},
        {"interval_states": states[::-1]},
        {"interval_states": others},
        {"interval_states": 5},
        {"columns": [2, 2]},
    ):
        with pytest.raises(tm.TallymarkError):
            tm.Tally.from_bytes(pack("Tally", {**fields, **change}))
    del fields["numbered"]
    with pytest.raises(tm.StateError, match="valid Tally"):
        tm.Tally.from_bytes(pack("Tally", fields))


@pytest.mark.parametrize("heavy", [1.0, 2.0, 2.5])
@pytest.mark.parametrize("keyed", [False, True])
def test_a_tally_of_rows_some_of_which_weigh_nothing_is_the_report(keyed, heavy):
    """By place or by key, in pieces of which one weighs nothing, with a group that does not either."""
    rng = np.random.default_rng(8)
    y, groups = rng.integers(0, 3, 90), rng.integers(0, 3, 90)
    p = np.where(rng.random(90) < 0.7, y, rng.integers(0, 3, 90))
    weights = np.where((rng.random(90) < 0.4) | (groups == 1), 0.0, rng.choice([1.0, heavy], 90))
    weights[30:60] = 0.0
    metrics = ["mcc", "accuracy", "recall(average=macro)", "gap(accuracy)", "worst(accuracy)"]
    asked = RESAMPLED
    columns = {"weights": weights, "by": groups, **({"keys": rng.permutation(90)} if keyed else {})}
    whole = tm.evaluate(y, p, metrics, **columns, **asked)
    tally = tm.Tally(metrics, by="group", **asked)
    for part in np.split(np.arange(90), [30, 60]):
        tally.update(y[part], p[part], **{name: column[part] for name, column in columns.items()})
    found = tally.report()
    assert [ends(found, key) for key in metrics] == [ends(whole, key) for key in metrics]
    for group, each in whole.slices.items():
        assert [ends(found.slices[group], key) for key in metrics[:3]] == [ends(each, key) for key in metrics[:3]]


def test_rows_that_weigh_nothing_are_not_there():
    """Weights of 0 and 1 are plain rows in pieces as they are together, and have the interval of a formula."""
    weights = (np.arange(len(Y)) % 3 > 0).astype(float)
    whole = tm.evaluate(Y, P, ["rmse", "r2"], weights=weights, keys=np.arange(len(Y)), **ASKED)
    tally = tm.Tally(["rmse", "r2"], **ASKED)
    for part in np.array_split(np.arange(len(Y)), 3):
        tally.update(Y[part], P[part], weights=weights[part], keys=part)
    for key in ("rmse", "r2"):
        assert ends(tally.report(), key) == ends(whole, key)
    assert tally.report().cell("rmse").method == "Hall"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("recall", None),
        ("mcc", None),
        ("auc", "score"),
        ("brier", "probability"),
        ("spearman", None),
        ("pearson", None),
    ],
)
def test_rows_that_weigh_nothing_have_the_formula_of_the_others(name, kind):
    """Of all rows and of groups, for states that keep counts, scores, sums or rows."""
    y, weights, by = (Y > 3).astype(int), (np.arange(90) % 3 > 0).astype(float), np.arange(90) % 2
    p = np.clip(np.round(P / P.max(), 1), 0, 1) if kind else (P > 2.5).astype(int)
    if name in ("spearman", "pearson"):
        y, p = Y, P
    asked = {"ci": tm.Intervals(0.9, method="analytic"), "kind": kind}
    whole = tm.evaluate(y, p, [name], weights=weights, by=by, **asked)
    tally = tm.Tally([name], by="g", **asked)
    for part in np.array_split(np.arange(90), 3):
        tally.update(y[part], p[part], weights=weights[part], by=by[part])
    found = tally.report()
    for mine, theirs in ((whole, found), (whole.slices[0], found.slices[0])):
        assert mine.cell(name).lo is not None
        assert ends(mine, name) == ends(theirs, name)
        assert mine.cell(name).notes == theirs.cell(name).notes


def test_rows_without_weight_can_be_kept():
    """States of intervals are of the rows that weigh something; such a tally comes back from its bytes."""
    for facts in ({"ci": 0.9}, RESAMPLED):
        tally = tm.Tally(["accuracy"], by="g", **facts)
        tally.update([0, 1, 0, 1] * 5, [0, 1, 1, 1] * 5, weights=[1, 1, 0, 1] * 5, by=["a", "a", "b", "a"] * 5)
        back = tm.Tally.from_bytes(tally.to_bytes())
        assert back.report().to_json() == tally.report().to_json()


def test_weights_too_large_for_their_squares():
    """Pieces say so as all rows do, however the others weigh."""
    y = [0, 1, 0, 1, 1, 0]
    for large, other in ((1e200, 1.0), (1e160, 1e150)):
        tally = tm.Tally(["mcc"], ci=0.95).update(y, y, weights=[large] * 6).update(y, y, weights=[other] * 6)
        assert "there were 0" in tally.report().cell("mcc").notes[0]


def test_a_tally_makes_as_many_resamples_as_it_can_keep():
    """At a level that needs more, formulas answer and the rest says what it needs."""
    assert tm.Tally(["mcc"], ci=0.9996).interval.resamples == 9998
    assert tm.Tally(["mcc"], ci=0.9997).interval.resamples == 10_000
    report = tm.Tally(["rmse", "r2"], ci=0.9999).update(Y, P).report()
    assert report.cell("rmse").lo < report["rmse"] < report.cell("rmse").hi
    assert report.cell("r2").notes == (
        "no interval: an interval at a level of 99.99 % needs 19,999 resamples; there are 10,000",
    )


def test_another_process_reads_a_tally_with_intervals(tmp_path):
    """One that has loaded nothing of what intervals need."""
    path = tmp_path / "part.tally"
    tm.Tally(["wape", "rmse"], **ASKED).update(Y, P, keys=np.arange(90)).save(path)
    code = f"import tallymark as tm; print(tm.Tally.load({str(path)!r}).report().cell('wape').lo)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert float(found) == tm.evaluate(Y, P, ["wape"], **ASKED).cell("wape").lo
