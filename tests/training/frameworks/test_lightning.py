"""Lightning: the same numbers in its logs, weights, and early stopping where a hand computation stops."""

from __future__ import annotations

import json
import logging
import subprocess
import sys

import numpy as np
import pytest

import tallymark as tm
from tests.training.frameworks import boosted_rows as rows

pytestmark = [
    pytest.mark.slow,
    # Lightning asks torch for names that torch is about to change, and advises more workers for small loaders.
    pytest.mark.filterwarnings("ignore:.*LeafSpec.*is deprecated:FutureWarning"),
    pytest.mark.filterwarnings("ignore:.*does not have many workers.*:UserWarning"),
]


@pytest.fixture(scope="module")
def models():
    from tests.training.frameworks import lightning_models

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    return lightning_models


@pytest.fixture(scope="module")
def ours(models):
    from tallymark.training.frameworks import lightning

    return lightning


@pytest.fixture
def valid(models):
    """Inputs, labels and weights of the validation rows."""
    return [held.numpy() for held in models.tensors(models.PARTS[1])]


def followed(valid, name="logloss", patience=4, **given):
    _, y, w = valid
    held = tm.training.EvalSet("valid", y, weights=w, kind="margin")
    return tm.training.Evaluator([name, "auc"], held, early_stopping=tm.training.EarlyStopping(patience), **given)


def fit(models, callbacks, epochs=60, network=None, data=None, ckpt_path=None, **given):
    trained = network or models.Network()
    trainer = models.trainer(callbacks, epochs, **given)
    trainer.fit(trained, models.loader(models.PARTS[0]), data, ckpt_path=ckpt_path)
    return trained, trainer


def test_without_the_package_it_says_what_to_install(monkeypatch):
    """The extra is named."""
    rows.check_missing("lightning", "lightning", monkeypatch)


def test_the_examples_in_the_docstrings_run(ours):
    """The examples run."""
    rows.check_documented("lightning")


@pytest.mark.parametrize("name", ["logloss", "brier"])
def test_stops_where_a_loop_by_hand_stops(models, ours, valid, name):
    """By scikit-learn's metric on the predictions of every epoch, with weights; and the best weights come back."""
    from sklearn import metrics

    x, y, w = valid
    evaluator = followed(valid, name)
    network, trainer = fit(models, [ours.EvaluatorCallback(evaluator, x, batch_size=models.BATCH, restore_best=True)])
    by_hand = {"logloss": metrics.log_loss, "brier": metrics.brier_score_loss}[name]
    values = [by_hand(y, 1 / (1 + np.exp(-found.astype(float))), sample_weight=w) for found in network.seen]
    last, best = rows.stopped_at(values, 4, "lower")
    assert (len(network.seen) - 1, evaluator.best_round) == (last, best)
    for key in (name, "auc"):
        exact = [tm.metric(key)(y, found, kind="margin", weights=w) for found in network.seen]
        assert list(evaluator.history.values("valid", key).values()) == exact
        assert trainer.callback_metrics[f"valid_{key}"].item() == exact[-1]
    assert np.array_equal(network.told(), network.seen[best])


def test_a_tally_in_a_module_logs_the_value_of_all_batches(models, valid):
    """All digits of it, in every validation; not a mean over batches."""
    _, y, w = valid
    network, trainer = fit(models, [], 2, models.Validated(), models.loader(models.PARTS[1]))
    for name in ("auc", "logloss"):
        exact = tm.metric(name)(y, network.seen[-1], kind="margin", weights=w)
        assert trainer.callback_metrics[name].item() == exact


def test_callbacks_of_lightning_see_the_values(models, ours, valid, tmp_path):
    """Early stopping and checkpoints that follow them, whatever their place in the list."""
    from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint

    x, y, w = valid
    evaluator = tm.training.Evaluator("auc", tm.training.EvalSet("valid", y, weights=w))
    stopping = EarlyStopping("valid_auc", patience=3, mode="max", check_on_train_epoch_end=True)
    kept = ModelCheckpoint(tmp_path, monitor="valid_auc", mode="max", save_on_train_epoch_end=True)
    callbacks = [kept, stopping, ours.EvaluatorCallback(evaluator, x, batch_size=models.BATCH)]
    network, _ = fit(models, callbacks, enable_checkpointing=True)
    values = [tm.auc(y, found, weights=w) for found in network.seen]
    last, best = rows.stopped_at(values, 3, "higher")
    assert (len(network.seen) - 1, evaluator.best_round) == (last, best)
    assert kept.best_model_score.item() == values[best]
    assert stopping.best_score.item() == values[best]


@pytest.mark.parametrize("form", ["tensor", "dataset", "loader", "batches", "once"])
def test_inputs_come_in_any_form(models, ours, valid, form):
    """Of several parts, the first is the input."""
    _, y, w = valid
    loader = models.loader(models.PARTS[1])
    data = {
        "tensor": models.tensors(models.PARTS[1])[0],
        "dataset": loader.dataset,
        "loader": loader,
        "batches": [x for x, *_ in loader],
        "once": (x for x, *_ in loader),
    }[form]
    evaluator = followed(valid)
    network, _ = fit(models, [ours.EvaluatorCallback(evaluator, {"valid": data}, batch_size=models.BATCH)], 2)
    exact = [tm.auc(y, found, weights=w) for found in network.seen]
    assert list(evaluator.history.values("valid", "auc").values()) == exact


def test_a_function_of_model_and_batch_predicts(models, ours, valid):
    """From the model and a batch."""
    x, y, w = valid
    evaluator = followed(valid)
    callback = ours.EvaluatorCallback(
        evaluator, x, batch_size=models.BATCH, predict=lambda network, batch: -network(batch)[:, 0]
    )
    network, _ = fit(models, [callback], 1)
    assert evaluator.history[0].value("valid", "auc") == tm.auc(y, -network.seen[0], weights=w)


def test_inputs_are_cast_to_the_precision_of_the_model(models, ours, valid):
    """Inputs become what the model computes in."""
    x, y, w = valid
    evaluator = followed(valid)
    network, _ = fit(models, [ours.EvaluatorCallback(evaluator, x, batch_size=models.BATCH)], 2, precision="64-true")
    assert network.seen[0].dtype == np.float64
    exact = [tm.auc(y, found, weights=w) for found in network.seen]
    assert list(evaluator.history.values("valid", "auc").values()) == exact


def test_a_checkpoint_goes_on_where_it_was(models, ours, valid, tmp_path):
    """With the history and the patience that was left: the same values, and the same end."""

    def run(evaluator, *given, **others):
        callback = ours.EvaluatorCallback(evaluator, valid[0], batch_size=models.BATCH)
        return fit(models, [callback], *given, network=models.Network(dropout=0.0), **others)

    whole, later = followed(valid), followed(valid)
    run(whole)
    _, trainer = run(followed(valid), len(whole.history) - 2)
    trainer.save_checkpoint(tmp_path / "half.ckpt")
    run(later, ckpt_path=tmp_path / "half.ckpt")
    assert list(later.history) == list(whole.history)
    assert (later.stopped, later.best_round) == (True, whole.best_round)


def test_the_best_weights_of_a_training_that_goes_on(models, ours, valid, tmp_path):
    """They come back where nothing better follows, also from a checkpoint and with another callback."""
    import torch

    x, y, w = valid

    def value(network):
        with torch.no_grad():
            return tm.logloss(y, network.eval()(torch.as_tensor(x)).numpy(), weights=w, kind="margin")

    def callback(evaluator):
        return ours.EvaluatorCallback(evaluator, x, batch_size=len(x), restore_best=True)

    def network():
        return models.Network(dropout=0.0)

    evaluator, later = followed(valid, patience=50), followed(valid, patience=50)
    _, trainer = fit(models, [callback(evaluator)], 25, network=network())
    best = evaluator.best_round
    assert best < 24
    trainer.save_checkpoint(tmp_path / "last.ckpt")
    held = callback(later)
    for _ in range(2):  # the second time with a callback that knows another training
        trained, _ = fit(models, [held], 27, network=network(), ckpt_path=tmp_path / "last.ckpt")
        assert (later.best_round, len(later.history)) == (best, 27)
        assert value(trained) == later.best_value == evaluator.best_value
    fit(models, [held], 1, network=network())
    assert later.best_round == 0


def test_several_callbacks_and_a_training_that_fails(models, ours, valid, tmp_path):
    """Each keeps its own history in a checkpoint; callbacks of an evaluator finish in any case."""
    x, y, _ = valid
    closed = []

    class Closing:
        def __call__(self, round):
            if round.round == 3:
                raise RuntimeError("out of luck")

        def close(self):
            closed.append(True)

    evaluators = followed(valid), tm.training.Evaluator("auc", tm.training.EvalSet("other", y), callbacks=Closing())
    callbacks = [ours.EvaluatorCallback(each, x) for each in evaluators]
    _, trainer = fit(models, callbacks, 2)
    assert closed == [True]
    trainer.save_checkpoint(tmp_path / "both.ckpt")
    for each in evaluators:
        each.reset()
    with pytest.raises(RuntimeError, match="out of luck"):
        fit(models, callbacks, 5, ckpt_path=tmp_path / "both.ckpt")
    assert [[each.round for each in held.history] for held in evaluators] == [[0, 1, 2, 3], [0, 1, 2, 3]]
    assert closed == [True, True]


def test_another_training_starts_anew(models, ours, valid):
    """With the same callback."""
    x, _, _ = valid
    evaluator = followed(valid, patience=50)
    callback = ours.EvaluatorCallback(evaluator, x, batch_size=models.BATCH)
    fit(models, [callback], 3)
    fit(models, [callback], 2)
    assert [each.round for each in evaluator.history] == [0, 1]


def test_inputs_and_eval_sets_must_match(models, ours, valid):
    """All eval sets have some, in the order of their rows."""
    x, _, _ = valid
    shuffled = models.loader(models.PARTS[1], shuffle=True)
    with pytest.raises(tm.ParameterError, match=r"`data` must keep the order .* 'valid'; .* shuffle=False"):
        ours.EvaluatorCallback(followed(valid), shuffled)
    with pytest.raises(tm.ParameterError, match="`data` must map each of the eval sets 'valid'"):
        ours.EvaluatorCallback(followed(valid), {"test": x})
    with pytest.raises(tm.ParameterError, match="`batch_size` must be"):
        ours.EvaluatorCallback(followed(valid), x, batch_size=0)
    with pytest.raises(tm.ParameterError, match="`evaluator` must be an Evaluator"):
        ours.EvaluatorCallback(None, x, batch_size=models.BATCH)
    for few in (x[:7], models.tensors(models.PARTS[1])[0][:7], models.loader(slice(60, 67)).dataset):
        with pytest.raises(tm.LengthError, match="rows of the eval set 'valid', which are 340; got 7"):
            ours.EvaluatorCallback(followed(valid), few)
    with pytest.raises(tm.ParameterError, match=r"the model must give an array .* it gave dict. Pass `predict`"):
        fit(models, [ours.EvaluatorCallback(followed(valid), x, predict=lambda model, batch: {"a": model(batch)})], 1)
    with pytest.raises(tm.LengthError, match=r"340 and .*eval set 'valid'"):  # only a prediction tells
        fit(models, [ours.EvaluatorCallback(followed(valid), models.loader(slice(60, 67)))], 1)


def test_loaders_that_shuffle_are_refused(models, ours, valid):
    """Whatever shuffles their rows."""
    from torch.utils import data

    held = models.loader(models.PARTS[1]).dataset
    samplers = [
        data.SubsetRandomSampler(range(340)),
        data.WeightedRandomSampler(valid[2], 340),
        data.DistributedSampler(held, 1, 0, shuffle=True),
    ]
    loaders = [data.DataLoader(held, sampler=each) for each in samplers]
    loaders.append(data.DataLoader(held, batch_sampler=data.BatchSampler(data.RandomSampler(held), 10, False)))
    for loader in loaders:
        with pytest.raises(tm.ParameterError, match="its DataLoader shuffles"):
            ours.EvaluatorCallback(followed(valid), loader)
    in_order = data.DataLoader(held, sampler=data.DistributedSampler(held, 1, 0, shuffle=False))
    ours.EvaluatorCallback(followed(valid), in_order)


def test_two_processes_stop_together_with_the_values_of_all_rows(models, valid, tmp_path):
    """Both have the values of all rows, and stop together where a hand computation does; a tally is that of both."""
    _, y, w = valid
    command = [sys.executable, "-m", "tests.training.frameworks.lightning_processes", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    first, second = (json.loads((tmp_path / f"facts{rank}.json").read_text()) for rank in range(2))
    assert first == second
    margins = np.array(first["seen"], dtype=np.float32)
    values = [tm.logloss(y, found, kind="margin", weights=w) for found in margins]
    assert [each["results"][0]["value"] for each in first["history"]["rounds"]] == values
    assert len(values) - 1 == rows.stopped_at(values, 4, "lower")[0]
    assert first["logged"]["valid_logloss"] == values[-1]
    # The halves of the rows are in other batches, which shows in the last bits of what a network says.
    assert first["logged"]["logloss"] == pytest.approx(values[-1], rel=1e-6)
    assert first["logged"]["auc"] == pytest.approx(tm.auc(y, margins[-1], weights=w), rel=1e-6)
    odd = models.tensors(models.ODD)[2].numpy()
    assert first["odd"] == {"rows": 127, "padded": 64, "mae": tm.mae(odd, np.zeros(127))}  # of 128 in both
