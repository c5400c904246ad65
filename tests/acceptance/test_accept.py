"""accept: which reports meet a condition, and what it says about those that do not."""

from __future__ import annotations

import itertools
import json
import math
import operator
import pickle

import numpy as np
import pytest

import tallymark as tm

Y, P = [3.0, -0.5, 2.0, 7.0], [2.5, 0.0, 2.0, 8.0]
NAN, INF = math.nan, math.inf
SIGNS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def sliced(metrics, **how):
    """A report of two groups, a and b, of which a has a recall of 0.5 and b one of 1."""
    return tm.evaluate([1, 1, 0, 1, 0, 0], [1, 0, 0, 1, 1, 0], metrics, by=list("aaabbb"), **how)


def with_interval(**ends):
    """A report of rmse and mae, where rmse has the interval that is given."""
    report = tm.evaluate(Y, P, ["rmse", "mae"])
    for name, value in ends.items():
        setattr(report.cell("rmse"), name, value)
    return report


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("limit", [-1.5, 0.0, 0.25, 0.5, 0.75, 1e3])
def test_every_sign_means_what_it_means_in_python(sign, limit):
    """With the metric first, with the number first, and under `not`."""
    held = SIGNS[sign](0.5, limit)
    report = tm.evaluate([0.0, 0.0], [0.0, 1.0], ["mean_bias"])
    assert tm.accept(report, f"mean_bias {sign} {limit}").passed is held
    assert tm.accept(report, f"{limit}{sign}mean_bias").passed is SIGNS[sign](limit, 0.5)
    assert tm.accept(report, f"not mean_bias {sign} {limit}").passed is not held
    assert tm.accept(report, f"not not(mean_bias {sign} {limit})").passed is held


def python_value(text, numbers):
    """What Python makes of a condition: a twin for values that are all defined."""
    return bool(eval(text, {"__builtins__": {}}, numbers))


def random_condition(rng, depth=0):
    """A condition that Python reads as well."""
    shape = rng.integers(6) if depth < 4 else 0
    if shape < 2:
        operands = [str(rng.choice(["a", "b", "c"])), *(str(rng.integers(-2, 3)) for _ in range(rng.integers(1, 3)))]
        text = operands[0] + f" {rng.choice(list(SIGNS))} {operands[1]}"
        return f"{operands[2]} {rng.choice(list(SIGNS))} {text}" if len(operands) > 2 else text
    if shape == 2:
        return f"not {random_condition(rng, depth + 1)}"
    inner = [f"({random_condition(rng, depth + 1)})" if rng.integers(2) else random_condition(rng, depth + 1)]
    inner += [f"({random_condition(rng, depth + 1)})" if rng.integers(2) else random_condition(rng, depth + 1)]
    return f" {rng.choice(['and', 'or'])} ".join(inner)


def test_conditions_mean_what_python_would_say():
    """Precedence, chains, negation and parentheses, on a thousand random conditions."""
    rng = np.random.default_rng(1)
    outcomes = set()
    for _ in range(1_000):
        text = random_condition(rng)
        numbers = {name: float(rng.integers(-2, 3)) for name in "abc"}
        found = tm.accept(numbers, text)
        assert found.passed is python_value(text, numbers), text
        assert bool(found.failed) is not found.passed
        assert all(each in found.conditions and not each.passed for each in found.failed)
        outcomes.add(found.passed)
    assert outcomes == {True, False}


def test_what_is_undefined_never_makes_a_condition_true():
    """A condition with NaN passes only if it would with any number in the place of NaN."""
    rng = np.random.default_rng(2)
    seen = set()
    for _ in range(500):
        text = random_condition(rng)
        numbers = {"a": NAN, "b": float(rng.integers(-2, 3)), "c": float(rng.integers(-2, 3))}
        passed = tm.accept(numbers, text).passed
        anyhow = all(python_value(text, numbers | {"a": a / 2}) for a in range(-8, 9))
        assert anyhow or not passed, text
        seen.add((passed, anyhow))
    assert {(True, True), (False, False)} <= seen


@pytest.mark.parametrize("sign", SIGNS)
def test_an_undefined_value_fails_its_condition(sign):
    """Under every sign and under `not`, with the reason; a failed cell with its error."""
    report = tm.evaluate([1.0, 1.0], [1.0, 2.0], ["r2", "rmse", "coverage"], errors="report")
    for text in (f"r2 {sign} 0.5", f"not r2 {sign} 0.5", f"0.5 {sign} r2", f"rmse {sign} r2"):
        found = tm.accept(report, text)
        assert not found
        assert found.conditions[0].reason == "the truth is constant"
        assert not found.conditions[0].decided
        assert math.isnan(found.conditions[0].margin)
        assert "the truth is constant" in str(found)
    failed = tm.accept(report, f"not coverage {sign} 0.5")
    assert not failed
    assert "two columns" in failed.conditions[0].reason


def test_one_that_cannot_be_decided_beside_one_that_holds():
    """`or` needs only one that holds; `and` needs both."""
    report = tm.evaluate([1.0, 1.0], [1.0, 2.0], ["r2", "rmse"])
    assert tm.accept(report, "r2 > 0.5 or rmse < 5")
    assert not tm.accept(report, "r2 > 0.5 and rmse < 5")
    assert not tm.accept(report, "not (r2 > 0.5 and rmse < 5)")
    assert tm.accept(report, "not (r2 > 0.5 and rmse > 5)")


def test_margins_say_by_how_much():
    """Positive where a condition passes, negative where it fails, 0 at the limit."""
    numbers = {"x": 0.5}
    margins = {"x > 0.25": 0.25, "x < 0.25": -0.25, "0.75 > x": 0.25, "x == 1": -0.5, "x != 1": 0.5, "x != 0.5": 0.0}
    for text, margin in margins.items():
        result = tm.accept(numbers, text).conditions[0]
        assert result == (text, 0.5, result.limit, result.passed, margin, None, (), None)
        assert result.passed is (margin > 0)
    assert math.copysign(1, tm.accept(numbers, "x <= 0.5").conditions[0].margin) == 1
    assert "the value is the limit, 0.5" in str(tm.accept(numbers, "x < 0.5").conditions[0])
    assert str(tm.accept(numbers, "x < 0.25").conditions[0]) == "x < 0.25 fails by 0.25 (0.5 against 0.25)"
    assert tm.accept({"x": INF, "y": INF}, "x >= y").conditions[0].margin == 0.0
    assert tm.accept({"x": -INF}, "x < 5").conditions[0].margin == INF


def test_metrics_are_found_by_any_of_their_names():
    """Keys, aliases, parameters in any order, and keys of one's own in quotes."""
    report = tm.evaluate(Y, P, {"typical error": "rmse", "mae": "mae", "robust": tm.Huber(delta=2), "a.lo": "mse"})
    assert tm.accept(report, "'typical error' < 1 and \"typical error\" > 0.5 and rmse < 1")
    assert tm.accept(report, "mad == 0.5")
    assert tm.accept(report, "huber( delta = 2.0 ) == robust and not robust != huber(outputs='mean', delta=2)")
    assert tm.accept(report, "'a.lo' == 0.375")
    assert tm.accept({"fscore": 0.5, "": 1.0, 3: 2.0}, "f1 == 0.5")


def test_metrics_are_found_in_any_spelling():
    """In the report and in the condition; a beta or a k may be part of the name, and a suffix follows it."""
    report = tm.evaluate(Y, P, ["RMSE", "R²"], ci=0.95)
    assert tm.accept(report, "R2 > 0.5 and RMSE < 5.0 and RSquared <= 1 and RootMeanSquaredError.n == 4")
    assert tm.accept({"R2": 0.9, "MAE": 3}, "R² > 0.8 and mae < 5")
    labels = tm.evaluate([0, 1, 1, 0] * 9, [0, 1, 0, 0] * 9, ["f0.5", "F2", "f1_macro"], ci=0.95)
    assert tm.accept(labels, "f0.5 > 0.8 and f.5.lo > 0.1 and f2 > 0.1 and f1_macro > 0.5 and F0.5.n == 36")
    assert tm.accept({"ndcg(k=10)": 0.5, "recall@5": 0.4}, "NDCG@10 == 0.5 and recall_at(k=5) == 0.4")
    for wrong in ("f0.5x > 1", "ndcg@ > 1", "ndcg@x > 1", "f0. > 1"):
        with pytest.raises(tm.ParameterError, match="`condition` cannot be read"):
            tm.accept({"ndcg": 0.5}, wrong)


def test_a_class_or_an_output_stands_in_brackets():
    """By its label or its number, quoted where it needs to be."""
    labels = ["cat", "a dog", "cat", "x[1]"]
    report = tm.evaluate(labels, ["cat", "cat", "cat", "x[1]"], ["recall(average=None)"])
    assert tm.accept(report, "recall(average=none)[cat] == 1 and recall(average=None)[ a dog ] == 0")
    assert tm.accept(report, "recall(average=None)['x[1]'] == 1")
    outputs = tm.evaluate(np.ones((3, 2)), [[1.0, 2.0]] * 3, ["rmse(outputs=each)"])
    assert tm.accept(outputs, "rmse(outputs=each)[0] == 0 and rmse(outputs=each)[1] == 1")
    assert tm.accept(tm.evaluate([0, 1], [0, 1], ["recall(average=None)"]), "recall(average=None)[1] == 1")
    assert tm.accept({"recall": {"a": 0.5, "b": None}}, "recall[a] == 0.5 and not recall[b] > 1").passed is False


def test_a_number_and_a_text_that_read_alike():
    """Quotes tell which of them is meant; where one of them is there alone, they do not matter."""
    both = {"recall": {1: 0.25, "1": 0.75}}
    assert tm.accept(both, """recall[1] == 0.25 and recall["1"] == 0.75 and recall[ '1' ] == 0.75""")
    for labels in ([0, 1], ["0", "1"]):
        report = tm.evaluate(labels, labels, ["recall(average=None)"])
        assert tm.accept(report, """recall(average=None)[1] == 1 and recall(average=None)["1"] == 1""")

    class Odd:
        def __str__(self):
            return "1"

    with pytest.raises(tm.ParameterError, match="has 2 parts that read so, of the types int, Odd: give them names"):
        tm.accept({"recall": {1: 0.5, Odd(): 0.5}}, "recall[1] > 0")


def test_keys_that_name_no_metric_cost_next_to_nothing(monkeypatch):
    """Of a mapping with many of them none is compared with the names that there are."""
    import difflib

    monkeypatch.setattr(difflib, "get_close_matches", lambda *_, **__: pytest.fail("names were compared"))
    many = {f"metric {k}(": float(k) for k in range(1000)} | {f"loss_{k}": 1.0 for k in range(1000)}
    assert tm.accept({**many, "fscore": 0.5, "fscore(beta=": 0.1}, "f1 == 0.5 and loss_7 == 1")


def test_percentages_follow_the_unit():
    """80% is 0.8 of a share, 80 of a metric in percent, and an error of what is neither."""
    assert tm.accept({"accuracy": 0.8}, "accuracy == 80%")
    assert tm.accept({"mape": 12.0, "my share": 0.123}, "mape == 12 % and 'my share' == 12.3%")
    assert tm.accept(tm.evaluate(Y, P, ["wape"]), "1% < wape < 50%")
    groups = tm.evaluate(Y, P, ["wape", "gap(wape)", "ratio(wape)"], by=list("aabb"))
    assert tm.accept(groups, "gap(wape) < 30% and wape.gap < 30% and ratio(wape) > 30% and wape.ratio > 30%")
    for text in ("mae < 5%", "mae.n > 5%"):
        with pytest.raises(tm.ParameterError, match="write a plain number"):
            tm.accept(tm.evaluate(Y, P, ["mae"]), text)


def test_the_ends_of_an_interval():
    """A report without intervals says how to get them; one that lacks just this one cannot decide."""
    report = with_interval(lo=0.4, hi=0.8, method="exact")
    assert tm.accept(report, "0.3 < rmse.lo < 0.5 and rmse.hi == 0.8 and rmse.n == 4")
    absent = tm.accept(report, "not mae.lo > 5")
    assert not absent
    assert absent.conditions[0].reason == "there is no interval"
    with pytest.raises(tm.ParameterError, match="evaluate with ci="):
        tm.accept(tm.evaluate(Y, P, ["rmse"]), "rmse.lo > 0")
    parts = tm.evaluate(["a", "b"], ["a", "a"], ["recall(average=None)", "accuracy"])
    parts.cell("recall(average=None)").lo = {"a": 0.25, "b": None}
    assert tm.accept(parts, "recall(average=None)[a].lo == 0.25")
    assert not tm.accept(parts, "not recall(average=None)[b].lo > 1")
    parts.cell("recall(average=None)").lo = 0.25
    assert not tm.accept(parts, "recall(average=None)[a].lo == 0.25")


def test_conditions_on_the_worst_group_the_gap_and_the_ratio():
    """The worst group, the gap and the ratio between groups, with the groups; and metrics that compare groups."""
    report = sliced(["recall", "precision", "gap(recall)", "mape", "confusion_matrix", "coverage"], errors="report")
    found = tm.accept(report, "recall.worst == 50% and recall.gap < 0.6 and recall.ratio == 50%")
    assert found
    assert "recall.worst == 50%: recall is highest for b (1), lowest for a (0.5)" in str(found)
    assert found.to_dict()["conditions"][0]["notes"] == found.conditions[0].notes
    assert tm.accept(report, "gap(recall) == 0.5 and gap('recall') == recall.gap")
    assert "two columns" in tm.accept(report, "not coverage.worst > 1").conditions[0].reason
    for text in ("recall[a].gap > 1", "gap(recall).worst > 1", "confusion_matrix.gap > 1"):
        with pytest.raises(tm.ParameterError, match="one number"):
            tm.accept(report, text)
    with pytest.raises(tm.ParameterError, match="excludes every group"):
        tm.accept(sliced(["recall"], min_rows=4), "recall.worst > 0")


def test_slices_that_cannot_decide():
    """One group has nothing to compare with; a metric that fails in a group fails its condition."""
    one = tm.evaluate([1, 0], [1, 0], ["recall"], by=["a", "a"])
    assert not tm.accept(one, "not recall.gap > 0.5")
    assert "fewer than two groups" in tm.accept(one, "recall.gap >= 0").conditions[0].reason
    failing = sliced(["accuracy", "recall"])
    failing.slices["a"].cell("recall").error = tm.DomainError("a group without a meaning")
    assert tm.accept(failing, "not recall.worst > 1").conditions[0].reason == "a group without a meaning"
    assert tm.accept(failing, "accuracy.worst > 0.5")


def test_of_a_list_all_must_hold():
    """As if they were joined by `and`, each read for itself."""
    numbers = {"a": 1.0, "b": 2.0}
    assert tm.accept(numbers, ["a > 0", "b > 5 or b > 1"])
    found = tm.accept(numbers, (text for text in ["a > 5 or a > 6", "b > 1"]))
    assert not found
    assert [each.text for each in found.failed] == ["a > 5", "a > 6"]
    assert found.condition == "(a > 5 or a > 6) and (b > 1)"


def test_it_prints_and_exports():
    """As text, as HTML, as plain data, as JSON, and as an error."""
    report = tm.evaluate([1.0, 1.0], [1.0, 2.0], ["r2", "mae"])
    found = tm.accept(report, "mae  <  0.25 or r2 > 0.5")
    assert found.sentence == (
        "refused: mae < 0.25 fails by 0.25 (0.5 against 0.25); r2 > 0.5 cannot be decided: the truth is constant"
    )
    assert str(found).startswith("refused · 0 of 2 conditions passed\n\ncondition")
    assert "&lt; 0.25" in found._repr_html_()
    data = json.loads(found.to_json())
    assert data["passed"] is False
    assert data["condition"] == "mae < 0.25 or r2 > 0.5"
    assert data["conditions"][1] == {
        "text": "r2 > 0.5",
        "value": None,
        "limit": 0.5,
        "passed": False,
        "margin": None,
        "reason": "the truth is constant",
        "notes": [],
    }
    with pytest.raises(tm.AcceptanceError, match=r"mae < 0\.25 fails by 0\.25"):
        found.require()
    held = tm.accept(report, "mae < 1 or mae > 3")
    assert held.require() is held
    assert "asked for: mae < 1 or mae > 3" in str(held)
    assert held.to_dict()["failed"] == []
    assert pickle.loads(pickle.dumps(found)).to_json() == found.to_json()
    many = tm.accept({"x": 1.0}, ["x > 5"] * 30)
    assert many.sentence.endswith("; and 20 more")


def test_the_verdict_comes_first_then_what_failed():
    """In print, in colours, as HTML, on a page, in Markdown and in JSON."""
    report = tm.evaluate(Y, P, ["r2", "rmse"]).with_acceptance("r2 > 0.8 and rmse < 0.5")
    lines = str(report).splitlines()
    assert lines[0] == "refused · 1 of 2 conditions passed"
    assert [line.split()[0] for line in lines[4:6]] == ["rmse", "r2"]
    assert [each.text for each in report.acceptance.conditions] == ["r2 > 0.8", "rmse < 0.5"]
    assert report.to_terminal().startswith("\x1b[1;31mrefused")
    assert '<td class="poor">failed</td>' in report._repr_html_()
    page = report.to_html()
    places = [
        page.index(each) for each in ('class="poor"><span aria-hidden="true">✗</span> Refused', "rmse &lt;", "r2 &gt;")
    ]
    assert places == sorted(places)
    assert places[-1] < page.index('class="cards"')
    assert report.to_markdown().split("\n")[4:7] == ["## Refused", "", "1 of 2 conditions passed"]
    assert next(iter(report.to_dict())) == "acceptance"
    accepted = tm.evaluate(Y, P, ["r2"]).with_acceptance("r2 > 0.8")
    assert "Accepted</h2>" in accepted.to_html()
    assert accepted.to_terminal().startswith("\x1b[1;32maccepted")


def test_numbers_have_the_digits_of_their_interval():
    """More where a margin would round to 0, and four without an interval."""
    rng = np.random.default_rng(1)
    report = tm.evaluate(truth := rng.normal(10, 2, 400), truth + rng.normal(0, 1, 400), ["mae", "rmse"], ci=0.95)
    limit = report["mae"] - 0.0004
    near = tm.accept(report, f"mae < {limit!r}").conditions[0]
    assert near.numbers()[0] == f"{report['mae']:.4f}"
    assert near.numbers()[2] == "-0.0004"
    assert str(near).startswith(f"mae < {limit!r} fails by 0.0004 ({report['mae']:.4f} against ")
    far = tm.accept(report, "mae < 5").conditions[0]
    shown = str(report.cell("mae").shown(report["mae"], *report.cell("mae").bounds()[0])[0])
    assert far.numbers()[:2] == (shown, "5")
    assert tm.accept(report, "mae.hi < 5").conditions[0].decimals == far.decimals
    assert tm.accept({"mae": 0.123456}, "mae < 1").conditions[0].numbers() == ("0.1235", "1", "0.8765")


def test_what_stands_for_an_undefined_value_is_named():
    """The number decides, and the reader learns that it stands for something."""
    report = tm.evaluate([1.0, 1.0], [1.0, 2.0], ["r2(undefined=0)"])
    found = tm.accept(report, "r2(undefined=0) >= 0")
    assert found
    assert "the truth is constant" in str(found)


def test_all_conditions_are_evaluated():
    """A name that is not there is an error, wherever it stands and whatever the others say."""
    for text in itertools.permutations(["a > 0", "b > 0", "a < 5"]):
        for word in (" or ", " and ", " or not "):
            with pytest.raises(tm.ParameterError, match="asks for b, which is not in the mapping; it has a"):
                tm.accept({"a": 1.0}, word.join(text))


def test_numbers_of_other_types():
    """Whatever is a number; an array, a text or a truth value is not."""
    from decimal import Decimal
    from fractions import Fraction

    numbers = {"a": np.float32(0.5), "b": np.int64(3), "c": Decimal("0.5"), "d": Fraction(1, 2), "e": 10**400}
    assert tm.accept(numbers, "a == 0.5 and b == 3 and c == 50% and d == 0.5 and e > 1e308")
    assert not tm.accept({"a": -(10**400)}, "a > 0")
    for bad in (True, "0.5", np.ones(3), object(), b"1", 1j):
        with pytest.raises(tm.ParameterError, match="must be a number"):
            tm.accept({"a": bad}, "a > 0")


def test_the_worst_of_what_is_best_near_a_number_is_every_group():
    """Which may be off to either side: the one that is furthest off would hide those on the other side of a limit."""
    truth, predicted, group = np.zeros(6), [-10.0, -10.0, 5.0, 5.0, 1.0, 1.0], list("aabbcc")
    report = tm.evaluate(truth, predicted, ["mean_bias"], by=group)
    assert report.slices.worst("mean_bias") == -10
    found = tm.accept(report, "-11 < mean_bias.worst < 2")
    assert [(each.passed, each.value) for each in found.conditions] == [(True, -10), (False, 5)]
    assert not tm.accept(report, "not mean_bias.worst >= 5")
    assert tm.accept(report, "-11 < mean_bias.worst < 6 and mean_bias.worst == -10")
    assert "highest for b (5), lowest for a (-10)" in str(found)


def test_the_interval_of_the_worst_group_is_a_metric_of_its_own():
    """What to do is said, and not to ask for another thing whose name is near."""
    groups = {"by": ["a", "a", "b", "b"] * 5, "ci": 0.9}
    rows = [1, 0, 1, 0] * 5, [1, 0, 0, 0] * 5
    report = tm.evaluate(*rows, ["recall"], **groups)
    for asked, made in {
        "recall.worst.lo > 0.2": "worst(recall).lo",
        "recall.lo.worst > 0.2": "worst(recall).lo",
        "0.2 > recall.gap.hi": "gap(recall).hi",
        "recall < recall.hi.ratio": "ratio(recall).hi",
    }.items():
        with pytest.raises(tm.ParameterError) as caught:
            tm.accept(report, asked)
        assert f": write {made}, and evaluate {made[:-3]} too\n" in str(caught.value)
    with pytest.raises(tm.ParameterError, match=r"worst\(recall\), which is not in the report; evaluate it too"):
        tm.accept(report, "worst(recall).lo > 0.2")
    assert not tm.accept(tm.evaluate(*rows, ["recall", "worst(recall)"], **groups), "worst(recall).lo > 0.2")


def test_a_group_in_brackets_is_told_the_way():
    """Brackets hold classes; where a group of the report is named like what they hold, its own report is named."""
    report = sliced(["recall", "recall(average=none)"], ci=0.9)
    for text in ("recall[a] > 0.5", "recall[a].lo > 0.1", "recall(average=none)[a] > 0.5"):
        with pytest.raises(tm.ParameterError, match=r"evaluate its rows alone, or accept report\.slices\['a'\]$"):
            tm.accept(report, text)
    with pytest.raises(tm.ParameterError, match=r"is one number and has no parts$"):
        tm.accept(report, "recall[north] > 0.5")
    assert tm.accept(report.slices["a"], "recall == 0.5")
    both = {"sex": ["f", "f", "m"], "region": ["north", "south", "north"]}
    pairs = tm.evaluate([1, 1, 1], [1, 0, 1], ["accuracy"], by=both)
    with pytest.raises(tm.ParameterError, match=r"slices\[\('f', 'north'\)\]"):
        tm.accept(pairs, "accuracy[f north] > 0.5")


def test_the_worst_group_is_rounded_as_its_interval_says():
    """In the table of conditions as in the table of groups."""
    truth, by = [1, 1, 1, 0, 0, 0] * 20, ["a", "b"] * 60
    report = tm.evaluate(truth, [1, 0, 1, 0, 0, 1] * 20, ["accuracy"], by=by, ci=0.95)
    (condition,) = tm.accept(report, "accuracy.worst > 0.1").conditions
    cells = [each.cell("accuracy") for each in report.slices.values()]
    worst = min(cells, key=lambda cell: cell.value)
    assert condition.numbers()[0] == str(worst.shown(worst.value, worst.lo, worst.hi)[0])


@pytest.mark.parametrize(("limit", "text"), [({"auc": 0.8}, "auc > 0.8"), ({"RMSE": 5}, "RMSE < 5")])
def test_limits_as_keywords_say_how_to_write_them(limit, text):
    """With the sign by which the metric is better."""
    for conditions in ([], ["auc > 0.5"]):
        with pytest.raises(tm.ParameterError, match=f'Write the condition as a string: "{text}"'):
            tm.accept({"auc": 0.9, "rmse": 3.0}, *conditions, **limit)
    with pytest.raises(tm.ParameterError, match="`condition` must be a string or a list of strings"):
        tm.accept({"auc": 0.9})


def test_what_contains_reports_is_refused_with_the_report_to_pass():
    """A comparison and a cross-validation; the latter maps names to scores, which are not numbers."""
    found = tm.compare([0, 1, 1, 0], {"a": [0, 1, 0, 0], "b": [0, 1, 1, 1]}, ["accuracy"])
    with pytest.raises(tm.ParameterError, match="Comparison; pass one of its reports"):
        tm.accept(found, "accuracy > 0.5")
    folds = tm.model_selection.cross_validate(
        lambda *_: lambda rows: rows[:, 0], np.arange(10.0)[:, None], np.arange(10.0), scoring=["mae"]
    )
    with pytest.raises(tm.ParameterError, match="CrossValidation; pass its out_of_fold"):
        tm.accept(folds, "mae < 1")
    assert tm.accept(folds.out_of_fold, "mae < 1")
