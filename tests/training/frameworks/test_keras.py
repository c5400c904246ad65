"""Keras: the same numbers in the logs, weights, and early stopping where a hand computation stops."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import tallymark as tm
from tests.training.frameworks import boosted_rows as rows

pytestmark = [
    pytest.mark.slow,
    # Keras reads its own variables through NumPy in a way that NumPy will not have for ever.
    pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy keyword:DeprecationWarning"),
]
TRAIN, VALID = slice(0, 60), slice(60, None)


@pytest.fixture(scope="module")
def keras():
    import keras

    return keras


@pytest.fixture(scope="module")
def ours(keras):
    from tallymark.training.frameworks import keras

    return keras


@pytest.fixture
def seen(keras):
    """A callback that keeps what the model says after every epoch."""

    class Seen(keras.callbacks.Callback):
        def __init__(self):
            super().__init__()
            self.predictions = []

        def on_epoch_end(self, epoch, logs=None):
            self.predictions.append(self.model.predict(X[VALID], verbose=0))

    return Seen()


X = rows.two_classes()[0]


def model(keras, outputs=1, activation=None, loss=None):
    """A small network that overfits soon."""
    keras.utils.set_random_seed(7)
    layers = [keras.Input((4,)), keras.layers.Dense(64, "tanh"), keras.layers.Dense(outputs, activation)]
    made = keras.Sequential(layers)
    made.compile(keras.optimizers.Adam(0.05), loss or keras.losses.BinaryCrossentropy(from_logits=activation is None))
    return made


def fit(trained, y, callbacks, epochs=60, x=X, **given):
    return trained.fit(x[TRAIN], y[TRAIN], epochs=epochs, verbose=0, callbacks=callbacks, **given).history


def test_without_the_package_it_says_what_to_install(monkeypatch):
    """The extra is named."""
    rows.check_missing("keras", "keras", monkeypatch)


def test_the_examples_in_the_docstrings_run(ours):
    """The examples run."""
    rows.check_documented("keras")


@pytest.mark.parametrize(("name", "kind"), [("logloss", "margin"), ("auc", "margin"), ("brier", "probability")])
def test_stops_where_a_loop_by_hand_stops(keras, ours, seen, name, kind):
    """By scikit-learn's metric on the predictions of every epoch, with weights; and the best weights come back."""
    from sklearn import metrics

    _, y, w = rows.two_classes()
    held = tm.training.EvalSet("valid", y[VALID], weights=w[VALID], kind=kind)
    evaluator = tm.training.Evaluator([name, "accuracy"], held, early_stopping=tm.training.EarlyStopping(4))
    trained = model(keras, activation=None if kind == "margin" else "sigmoid")
    callback = ours.EvaluatorCallback(evaluator, X[VALID], restore_best=True)
    history = fit(trained, y, [callback, seen])
    by_hand = {"logloss": metrics.log_loss, "auc": metrics.roc_auc_score, "brier": metrics.brier_score_loss}[name]
    margins = [found[:, 0].astype(float) for found in seen.predictions]
    probabilities = [1 / (1 + np.exp(-found)) if kind == "margin" else found for found in margins]
    values = [by_hand(y[VALID], found, sample_weight=w[VALID]) for found in probabilities]
    last, best = rows.stopped_at(values, 4, tm.metric(name).better)
    assert (len(history["loss"]) - 1, evaluator.best_round) == (last, best)
    for key in (name, "accuracy"):
        exact = [tm.metric(key)(y[VALID], found, kind=kind, weights=w[VALID]) for found in seen.predictions]
        assert history[f"valid_{key}"] == exact
    assert history[f"valid_{name}"] == pytest.approx(values, rel=1e-6)
    assert np.array_equal(trained.predict(X[VALID], verbose=0), seen.predictions[best])


def test_without_being_asked_the_last_weights_stay(keras, ours, seen):
    """As a training leaves them."""
    _, y, _ = rows.two_classes()
    evaluator = tm.training.Evaluator(
        "auc", tm.training.EvalSet("valid", y[VALID]), early_stopping=tm.training.EarlyStopping(2)
    )
    trained = model(keras)
    fit(trained, y, [ours.EvaluatorCallback(evaluator, X[VALID], batch_size=7), seen])
    assert np.array_equal(trained.predict(X[VALID], verbose=0), seen.predictions[-1])


def test_text_classes_follow_the_order_of_the_columns(keras, ours, seen):
    """Texts in the eval set, in the order of the columns that the model was trained on."""
    x, y, w = rows.three_classes()
    names = np.array(["eel", "cat", "dog"])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    facts = {"kind": "margin", "classes": names}
    held = tm.training.EvalSet("valid", names[y[VALID]], weights=w[VALID], **facts)
    evaluator = tm.training.Evaluator(["logloss", "auc", "fscore(average=macro)"], held)
    history = fit(model(keras, 3, loss=loss), y, [ours.EvaluatorCallback(evaluator, X[VALID]), seen], 3, x)
    for key in evaluator.metrics:
        exact = [tm.metric(key)(names[y[VALID]], found, weights=w[VALID], **facts) for found in seen.predictions]
        assert history[f"valid_{key}"] == exact


def test_each_eval_set_has_its_inputs_and_values(keras, ours, seen):
    """Each has its inputs and its values."""
    x, y, _ = rows.numbers()
    sets = [tm.training.EvalSet("train", y[TRAIN]), tm.training.EvalSet("valid", y[VALID])]
    evaluator = tm.training.Evaluator(
        {"error": "rmse"}, sets, early_stopping=tm.training.EarlyStopping(3, monitor=("valid", "rmse"))
    )
    callback = ours.EvaluatorCallback(evaluator, {"valid": X[VALID], "train": X[TRAIN]})
    history = fit(model(keras, loss="mse"), y, [callback, seen], x=x)
    assert history["valid_error"] == [tm.rmse(y[VALID], found) for found in seen.predictions]
    assert history["train_error"][-1] < history["valid_error"][-1]
    assert len(history["loss"]) < 60


def test_callbacks_of_keras_see_the_values(keras, ours, tmp_path):
    """Early stopping and checkpoints that follow them, told which way is better."""
    _, y, _ = rows.two_classes()
    evaluator = tm.training.Evaluator("auc", tm.training.EvalSet("valid", y[VALID]))
    theirs = keras.callbacks.EarlyStopping("valid_auc", patience=3, mode="max")
    path = tmp_path / "best.weights.h5"
    kept = keras.callbacks.ModelCheckpoint(path, "valid_auc", save_best_only=True, save_weights_only=True, mode="max")
    trained = model(keras)
    history = fit(trained, y, [ours.EvaluatorCallback(evaluator, X[VALID]), theirs, kept])
    last, best = rows.stopped_at(history["valid_auc"], 3, "higher")
    assert (len(history["loss"]) - 1, theirs.best_epoch, evaluator.best_round) == (last, best, best)
    trained.load_weights(path)
    assert tm.auc(y[VALID], trained.predict(X[VALID], verbose=0)) == evaluator.best_value


def test_epochs_that_are_not_evaluated_leave_the_logs_alone(keras, ours):
    """With a period of 3, the model is asked in epochs 0, 3, 6."""
    _, y, _ = rows.two_classes()
    asked = []
    evaluator = tm.training.Evaluator("auc", tm.training.EvalSet("valid", y[VALID]), period=3)
    callback = ours.EvaluatorCallback(
        evaluator, X[VALID], predict=lambda m, x: asked.append(1) or m.predict(x, verbose=0)
    )
    assert len(fit(model(keras), y, [callback], 8)["valid_auc"]) == 3
    assert len(asked) == 3


def test_a_second_training_starts_anew_and_one_that_goes_on_keeps_its_rounds(keras, ours):
    """By the number of its first epoch."""
    _, y, _ = rows.two_classes()
    closed = []
    evaluator = tm.training.Evaluator("auc", tm.training.EvalSet("valid", y[VALID]), callbacks=Closing(closed))
    callback, trained = ours.EvaluatorCallback(evaluator, X[VALID]), model(keras)
    fit(trained, y, [callback], 3)
    fit(trained, y, [callback], 5, initial_epoch=3)
    assert [each.round for each in evaluator.history] == [0, 1, 2, 3, 4]
    fit(trained, y, [callback], 2)
    assert [each.round for each in evaluator.history] == [0, 1]
    assert len(closed) == 3


def test_the_best_weights_of_a_training_that_goes_on(keras, ours):
    """They come back where nothing better follows; another training has its own."""
    _, y, _ = rows.two_classes()
    evaluator = tm.training.Evaluator("logloss", tm.training.EvalSet("valid", y[VALID], kind="margin"))
    callback, trained = ours.EvaluatorCallback(evaluator, X[VALID], restore_best=True), model(keras)
    fit(trained, y, [callback], 12)
    value, best = evaluator.best_value, evaluator.best_round
    trained.optimizer.learning_rate = 1.0
    fit(trained, y, [callback], 14, initial_epoch=12)
    assert (evaluator.best_value, evaluator.best_round, len(evaluator.history)) == (value, best, 14)
    assert tm.logloss(y[VALID], trained.predict(X[VALID], verbose=0), kind="margin") == value
    other = model(keras)
    fit(other, y, [callback], 1)
    assert tm.logloss(y[VALID], other.predict(X[VALID], verbose=0), kind="margin") == evaluator.best_value != value


class Closing:
    """A callback of an evaluator that tells when it is closed."""

    def __init__(self, closed):
        self.closed = closed

    def __call__(self, round):
        pass

    def close(self):
        self.closed.append(True)


def test_margins_that_are_not_declared_are_refused_before_training(keras, ours, seen):
    """Where a loss from logits says that they are margins; scores need no declaration."""
    _, y, _ = rows.two_classes()
    for name in ("logloss", "accuracy"):
        evaluator = tm.training.Evaluator(name, tm.training.EvalSet("valid", y[VALID]))
        with pytest.raises(tm.KindError, match=r'BinaryCrossentropy\(from_logits=True\).*kind="margin"'):
            fit(model(keras), y, [ours.EvaluatorCallback(evaluator, X[VALID]), seen])
    assert seen.predictions == []
    evaluator = tm.training.Evaluator("logloss", tm.training.EvalSet("valid", y[VALID]))
    halves = ours.EvaluatorCallback(evaluator, X[VALID], predict=lambda model, x: np.full(len(x), 0.5))
    assert fit(model(keras), y, [halves], 1)["valid_logloss"] == [pytest.approx(np.log(2))]


def test_a_function_picks_one_of_several_outputs(keras, ours):
    """A function says which is meant; brain floats are read as the numbers that they are."""
    import ml_dtypes

    _, y, _ = rows.two_classes()
    evaluator = tm.training.Evaluator("auc", tm.training.EvalSet("valid", y[VALID]))
    told = {"risk": X[VALID, 0].astype(ml_dtypes.bfloat16), "other": None}
    history = fit(model(keras), y, [ours.EvaluatorCallback(evaluator, X[VALID], predict=lambda *_: told["risk"])], 1)
    assert history["valid_auc"] == [tm.auc(y[VALID], told["risk"].astype(float))]


def test_inputs_must_be_of_the_eval_sets(ours):
    """All of them, by name; what drives must be an evaluator."""
    sets = [tm.training.EvalSet("train", [0, 1]), tm.training.EvalSet("valid", [0, 1])]
    for data, was in ((X, "array"), ({"valid": X}, "of 'valid'"), ({}, "of nothing")):
        with pytest.raises(tm.ParameterError, match=f"`data` must map each of the eval sets 'train', 'valid'.*{was}"):
            ours.EvaluatorCallback(tm.training.Evaluator("auc", sets), data)
    with pytest.raises(tm.ParameterError, match="got a mapping of 'image', 'text'"):  # the parts of one input
        ours.EvaluatorCallback(tm.training.Evaluator("auc", sets[:1]), {"image": X, "text": X})
    with pytest.raises(tm.ParameterError, match="`evaluator` must be an Evaluator"):
        ours.EvaluatorCallback("auc", X)
    for few in (X[:7], [X[:7], X], {"train": {"image": X[:7]}}):
        with pytest.raises(tm.LengthError, match="rows of the eval set 'train', which are 2; got 7"):
            ours.EvaluatorCallback(tm.training.Evaluator("auc", sets[:1]), few)


@pytest.mark.parametrize("argument", ["metrics", "weighted_metrics"])
@pytest.mark.parametrize("wanted", [tm.metric("auc"), tm.Auc, tm.mse])
@pytest.mark.parametrize("eagerly", [False, True])
def test_metrics_that_keras_would_average_over_batches_are_refused(keras, wanted, argument, eagerly):
    """The sentence names the callback; calls from callbacks of Keras stay allowed, as in the other tests."""
    made = model(keras)
    made.compile("sgd", "mse", run_eagerly=eagerly, **{argument: [wanted]})
    with pytest.raises(
        tm.ParameterError, match=r"averages the values of batches.*frameworks\.keras\.EvaluatorCallback"
    ):
        made.fit(X[TRAIN], rows.two_classes()[1][TRAIN], verbose=0)


@pytest.mark.parametrize("backend", ["jax"])
def test_the_callback_works_on_other_backends(backend):
    """Where the state of a model is elsewhere while it trains, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.training.frameworks.keras_training"],
        env={**os.environ, "KERAS_BACKEND": backend},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [backend, "fine"]
