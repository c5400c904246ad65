"""Metrics by name."""

from __future__ import annotations

import pytest

import tallymark as tm
from tallymark.metrics import registry


def test_a_name_a_string_a_mapping_and_a_class_make_the_same_metric():
    """All of them lead to the same metric."""
    expected = tm.Huber(delta=2.0)
    for wish in ("huber(delta=2)", " huber( delta = 2.0 ) ", {"name": "huber", "delta": 2}, expected):
        assert tm.metric(wish) == expected
    assert tm.metric("huber", delta=2) == tm.metric(tm.huber, delta=2) == expected
    assert tm.metric({"name": "huber"}, delta=2) == expected
    assert tm.metric(tm.Huber) == tm.huber
    assert tm.metric() == tm.rmse


def test_values_have_one_normal_form():
    """So that equal metrics have equal keys."""
    assert tm.Huber(delta=2) == tm.Huber(delta=2.0)
    assert str(tm.Huber(delta=2)) == "huber(delta=2)"
    assert tm.Pinball(alphas=[0.1, 0.9]) == tm.Pinball(alphas=(0.1, 0.9))
    assert str(tm.Pinball(alphas=[0.25])) == "pinball(alphas=(0.25,))"
    assert str(tm.Rmse(outputs="each")) == "rmse(outputs=each)"
    assert str(tm.Huber(delta=1e300)) == "huber(delta=1e+300)"
    assert tm.metric("rmse(outputs=[1, 2])").outputs == (1.0, 2.0)
    assert tm.metric("r2(undefined=-1)").undefined == -1.0
    assert tm.metric("r2(undefined=None)") == tm.r2
    assert repr(tm.Huber(delta=2)) == "Huber(delta=2.0)"


def test_what_is_set_to_its_default_is_remembered_and_changes_nothing_else():
    """Equality, hash and name are those of the value."""
    explicit = tm.metric("accuracy(threshold=0.5)")
    assert explicit.explicit_parameters == {"threshold"}
    assert tm.accuracy.explicit_parameters == tm.Accuracy().explicit_parameters == frozenset()
    assert (explicit, hash(explicit), str(explicit)) == (tm.accuracy, hash(tm.accuracy), "accuracy")
    assert tm.metric("f1_macro").explicit_parameters == {"average"}
    assert explicit.to_dict() == tm.accuracy.to_dict()


def test_aliases_print_as_our_name():
    """Printed is always our own name."""
    for alias, name in {"mad": "mae", "rsquared": "r2", "poisson": "poisson_deviance", "quantile": "pinball"}.items():
        assert tm.metric(alias).name == name
    assert set(registry.aliases).isdisjoint(registry.classes)


def test_several_names_in_one_string_are_asked_for_as_a_list():
    """Names with commas between them, as on the command line."""
    with pytest.raises(tm.ParameterError, match=r"Pass several as a list: \['auc', 'f1'\]"):
        tm.metric("auc, f1")


def test_a_name_cannot_be_taken_twice():
    """Unless the same class is defined again, as a notebook cell does."""

    def define(where):
        return type(
            "MeanTwin", (tm.extend.SumMetric,), {"__module__": where, "__qualname__": "MeanTwin", "__doc__": "A twin."}
        )

    try:
        define("notebook")
        again = define("notebook")
        assert type(tm.metric("mean_twin")) is again
        with pytest.raises(tm.ParameterError, match=r"'mean_twin' is already used by notebook\.MeanTwin"):
            define("elsewhere")
        with pytest.raises(tm.ParameterError, match="identifier"):
            type("Bad", (tm.extend.SumMetric,), {"name": "not a name"})
    finally:
        del registry.classes["mean_twin"]


def test_whether_higher_is_better():
    """None where the best value lies between, or where there is no direction."""
    found = {item: item.higher_is_better for item in (tm.auc, tm.rmse, tm.mean_bias, tm.confusion_matrix)}
    assert list(found.values()) == [True, False, None, None]


def test_signatures_show_the_parameters():
    """In help, notebooks and editors."""
    import inspect

    assert list(inspect.signature(tm.Huber).parameters) == ["delta", "outputs", "undefined"]
    shown = str(inspect.signature(tm.Huber(delta=2)))
    assert (
        shown == "(y_true, y_pred, *, weights=None, query=None, target=None, kind=None, classes=None, "
        "positive=None, normalize=None, missing='error', delta=2.0, outputs='mean', undefined=None)"
    )


def test_the_listing_is_a_sequence_that_prints_as_a_table():
    """A sequence of metrics that prints as a table."""
    listing = tm.list_metrics(family="regression")
    assert len(listing) == len(listing.names) == len(listing.to_dicts())
    assert listing[0].name == listing.names[0]
    assert listing[:2].names == listing.names[:2]
    text = repr(listing)
    assert text.startswith(f"{len(listing)} metrics")
    assert all(name in text for name in listing.names)
    assert "<table>" in listing._repr_html_()
    assert repr(listing[:1]).startswith("1 metric\n")
    facts = {entry["name"]: entry for entry in listing.to_dicts()}
    assert facts["coverage"]["better"] == 0.9
    assert facts["spearman"]["state"] == "rows"
    assert tm.list_metrics().names[: len(listing)] != []


def test_the_bare_word_none_is_none_in_any_case():
    """In any case, as a bare word; in quotes it is a word like others."""
    assert tm.metric("recall(average=none)") == tm.metric("recall(average=None)") == tm.Recall(average=None)
    with pytest.raises(tm.ParameterError, match="average"):
        tm.metric("recall(average='none')")


def test_a_metric_may_be_a_parameter_of_another():
    """With quotes or without; one that is too deep is refused."""
    assert tm.metric('gap("fscore(beta=2)")') == tm.metric("gap(fscore(beta=2))") == tm.gap(tm.FScore(beta=2))
    with pytest.raises(tm.ParameterError, match="a metric is written as"):
        tm.metric("gap(" + "-" * 900 + "1)")


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("f2", {"beta": 1}), ("f1_macro", {"average": "micro"}), ("huber(delta=2)", {"delta": 3}), ("F2", {"beta": 3})],
)
def test_a_parameter_beside_a_name_that_says_another_is_refused(name, parameters):
    """The same value is fine."""
    with pytest.raises(tm.ParameterError, match="set it once"):
        tm.metric(name, **parameters)
    same = tm.metric(name).parameters()
    assert tm.metric(name, **{key: same[key] for key in parameters}) == tm.metric(name)
