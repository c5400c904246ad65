"""PyTorch: a tally over batches of tensors is the metric of all rows, to the last bit."""

from __future__ import annotations

import copy
import json
import pickle
import threading

import numpy as np
import pytest

import tallymark as tm
from tests.training.frameworks.boosted_rows import check_documented, check_missing, stopped_at
from tests.waiting import LIMIT

pytestmark = pytest.mark.slow


def test_without_the_package_it_says_what_to_install(monkeypatch):
    """The extra is named."""
    check_missing("torch", "torch", monkeypatch)


def test_the_examples_in_the_docstrings_run():
    """The examples run."""
    check_documented("torch")


@pytest.fixture(scope="module")
def torch():
    import torch

    return torch


@pytest.fixture(scope="module")
def made():
    """The class under test."""
    from tallymark.training.frameworks.torch import TallyMetric

    return TallyMetric


@pytest.fixture
def rows(torch):
    """Margins with ties, labels and weights."""
    rng = np.random.default_rng(3)
    return (
        torch.tensor(rng.normal(size=500).round(1), dtype=torch.float32),
        torch.tensor(rng.integers(0, 2, 500)),
        torch.tensor(rng.uniform(0, 2, 500)),
    )


def filled(metric, margins, labels, weights=None, size=64):
    """A metric that has seen these rows in batches."""
    for k in range(0, len(margins), size):
        part = slice(k, k + size)
        metric.update(margins[part], labels[part], weights=None if weights is None else weights[part])
    return metric


WANTED = ["auc", "logloss", "accuracy", "ece", "average_precision"]


@pytest.mark.parametrize("size", [1, 64, 500])
@pytest.mark.parametrize("weighted", [False, True])
def test_batches_are_the_metric_of_all_rows(made, rows, size, weighted):
    """Bit for bit, whatever the size of a batch; in floats and in tensors."""
    margins, labels, weights = rows
    held = filled(made(WANTED, kind="margin"), margins, labels, weights if weighted else None, size)
    report, numbers = held.report(), held.compute()
    for name in WANTED:
        alone = tm.metric(name)(labels.numpy(), margins.numpy(), kind="margin", weights=weights if weighted else None)
        assert report[name] == alone
        assert numbers[name].item() == alone
        assert str(numbers[name].dtype) == "torch.float64"


def test_the_auc_is_that_of_scikit_learn(made, rows):
    """With weights and ties."""
    from sklearn.metrics import roc_auc_score

    margins, labels, weights = rows
    found = filled(made("auc"), margins, labels, weights).report()["auc"]
    assert found == pytest.approx(roc_auc_score(labels, margins, sample_weight=weights), rel=1e-12)


def test_tensors_of_any_type_are_read(torch, made, rows):
    """Half precision, brain floats, columns of one, strides, gradients: the numbers are those that the tensor holds."""
    margins, labels, _ = rows
    for type_ in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        given = margins.to(type_)
        assert filled(made("auc"), given, labels).report()["auc"] == tm.auc(labels, given.double().numpy())
    wanted = tm.auc(labels, margins)
    assert filled(made("auc"), margins[:, None], labels[:, None]).report()["auc"] == wanted
    assert filled(made("auc"), margins.clone().requires_grad_(), labels).report()["auc"] == wanted
    assert filled(made("auc"), margins.repeat_interleave(2)[::2], labels.to(torch.uint8)).report()["auc"] == wanted
    assert filled(made("auc"), margins, labels.bool()).report()["auc"] == wanted
    assert filled(made("auc"), margins.tolist(), labels.tolist()).report()["auc"] == wanted


def test_what_was_given_may_be_written_over(made, rows):
    """As loops do that reuse their tensors."""
    margins, labels, _ = rows
    wanted = tm.auc(labels, margins)
    metric = made("auc")
    given = margins.clone()
    metric.update(given, labels)
    given.zero_()
    assert metric.report()["auc"] == wanted


def test_columns_are_the_classes_from_zero_on(torch, made):
    """Also where no batch, or not even all of them together, has every class."""
    margins = torch.randn(90, 4, generator=torch.Generator().manual_seed(1))
    labels = torch.arange(90) % 3
    held = filled(made(["logloss", "accuracy"], kind="margin"), margins, labels, size=2)
    for name in ("logloss", "accuracy"):
        assert held.report()[name] == tm.metric(name)(labels, margins, kind="margin", classes=range(4))
    held.reset()
    held.update(margins[:, :2], labels % 2)  # forgotten with the rows
    assert held.report()["accuracy"] == tm.accuracy(labels % 2, margins[:, :2], kind="margin", classes=[0, 1])


def test_quantiles_are_no_classes(torch, made):
    """Columns of numbers, with numbers as targets."""
    truth, *quantiles = torch.randn(3, 20, generator=torch.Generator().manual_seed(2))
    quantiles = torch.stack(quantiles, dim=1).sort(dim=1).values
    wanted = tm.Pinball(alphas=(0.1, 0.9))
    assert filled(made(wanted), quantiles, truth).report()[wanted] == wanted(truth, quantiles)


def test_whole_numbers_are_places_in_classes_that_are_texts(torch, made):
    """In targets and in predictions; other numbers are refused with their row."""
    metric = made(tm.Recall(average=None), classes=["cat", "dog", "eel"])
    metric.update(torch.tensor([0, 1, 1]), torch.tensor([0, 1, 2]))
    assert metric.report()["recall(average=none)"] == {"cat": 1.0, "dog": 1.0, "eel": 0.0}
    assert sorted(metric.compute()) == [f"recall(average=None) · {name}" for name in ("cat", "dog", "eel")]
    with pytest.raises(tm.DomainError, match=r"must contain positions in `classes`, 0 to 2; got -100 \(row 1"):
        metric.update(torch.tensor([0, 1]), torch.tensor([0, -100]))
    several = made("hamming_loss", classes=["cat", "dog", "eel"])
    several.update(torch.tensor([[1, 0, 1], [0, 0, 0]]), torch.tensor([[1, 1, 1], [0, 0, 0]]))  # several labels per row
    assert several.report()["hamming_loss"] == pytest.approx(1 / 6)
    table = made("accuracy", classes=["cat", "dog", "eel"])
    table.update(torch.eye(3), torch.tensor([0, 1, 1]))
    assert table.report()["accuracy"] == pytest.approx(2 / 3)


def test_a_refused_batch_changes_nothing(torch, made, rows):
    """The tally is what it was, also where it was to find its classes."""
    margins, labels, _ = rows
    metric = filled(made("auc"), margins, labels)
    with pytest.raises(tm.LengthError):
        metric.update(margins[:3], labels)
    assert metric.tally.n == 500
    fresh = made("accuracy")
    with pytest.raises(tm.DomainError, match="sum to 1"):
        fresh.update(torch.ones(2, 3), torch.tensor([0, 1]))
    fresh.update(torch.eye(2), torch.tensor([0, 1]))
    assert fresh.report()["accuracy"] == 1.0


def test_a_call_gives_the_numbers_of_the_batch(made, rows):
    """And adds it."""
    margins, labels, weights = rows
    metric = made("auc")
    for part in (slice(0, 200), slice(200, 500)):
        found = metric(margins[part], labels[part], weights=weights[part])
        assert found["auc"].item() == tm.auc(labels[part], margins[part], weights=weights[part])
    assert metric.report()["auc"] == tm.auc(labels, margins, weights=weights)


def test_a_target_says_what_its_keywords_say(torch, made, rows):
    """Once for several calls; with one of the keywords it is refused."""
    values = []
    for given in ({"target": tm.Target("probability", positive=1)}, {"kind": "probability", "positive": 1}):
        metric = made(["auc", "logloss"], **given)
        metric.update(torch.tensor([0.2, 0.4, 0.9]), torch.tensor([0, 1, 1]))
        values.append(metric.report().to_json())
    assert values[0] == values[1]
    with pytest.raises(tm.ParameterError, match="`target` and `kind`"):
        made(["auc"], target=tm.Target("probability"), kind="score")


def test_queries_and_intervals_go_through(torch, made):
    """What `Tally.update` takes, as tensors."""
    relevance, scores = torch.tensor([1, 0, 0, 1]), torch.tensor([0.9, 0.2, 0.5, 0.1])
    query = torch.tensor([1, 1, 2, 2])
    metric = made("mrr")
    metric.update(scores, relevance, query=query)
    assert metric.report()["mrr"] == tm.mrr(relevance, scores, query=query)
    numbers, keys = torch.arange(40.0), torch.arange(40)
    given = {"ci": tm.Intervals(0.9, method="bootstrap", resamples=50)}
    sure = made("mae", **given)
    for part in (slice(0, 10), slice(10, 40)):
        sure.update(numbers[part], numbers[part].sin(), keys=keys[part])
    cell, whole = sure.report().cell("mae"), tm.evaluate(numbers.sin(), numbers, "mae", keys=keys, **given).cell("mae")
    assert (cell.value, cell.lo, cell.hi) == (whole.value, whole.lo, whole.hi)
    assert cell.lo < cell.value < cell.hi


@pytest.mark.parametrize("by", ["group", ["group", "half"]])
def test_update_and_call_take_groups(made, torch, rows, by):
    """In a column or several, to an update or a call, as in a tally."""
    margins, labels, _ = rows
    groups = {"group": torch.arange(500) % 3, "half": torch.arange(500) // 250}
    groups = groups["group"] if by == "group" else groups
    metric = made(["auc", "gap(auc)"], kind="score", by=by)
    for part in (slice(0, 200), slice(200, 500)):
        given = {key: held[part] for key, held in groups.items()} if isinstance(groups, dict) else groups[part]
        add = metric.update if part.start else metric
        add(margins[part], labels[part], by=given)
    tally = tm.Tally(["auc", "gap(auc)"], kind="score", by=by)
    held = {key: each.numpy() for key, each in groups.items()} if isinstance(groups, dict) else groups.numpy()
    expected = tally.update(labels.numpy(), margins.numpy(), by=held).report()
    assert metric.report().to_dict() == expected.to_dict()
    assert len(expected.slices) == (3 if by == "group" else 6)


def test_no_batch_is_undefined_and_says_so(made):
    """Not 0."""
    assert made("auc").report().cell("auc").reason == "no rows"
    assert np.isnan(made("auc").compute()["auc"].item())


def test_tables_are_in_the_report_only(torch, made):
    """A confusion matrix is no number."""
    metric = made(["accuracy", "confusion_matrix"])
    metric.update(torch.tensor([0, 1]), torch.tensor([0, 0]))
    assert list(metric.compute()) == ["accuracy"]
    assert metric.report()["confusion_matrix"].to_dict()


def test_a_tally_is_saved_where_it_is_asked_for(torch, made, rows, tmp_path):
    """As bytes in a tensor, which torch reads without running code; and training goes on from there."""
    margins, labels, _ = rows
    half = filled(made("auc", persistent=True), margins[:200], labels[:200])
    torch.save(half.state_dict(), tmp_path / "half.pt")
    later = made("auc", persistent=True)
    later.load_state_dict(torch.load(tmp_path / "half.pt", weights_only=True))
    assert filled(later, margins[200:], labels[200:]).report()["auc"] == tm.auc(labels, margins)


def test_a_model_is_saved_without_its_tally(torch, made, rows):
    """By default, so that a checkpoint fits with metrics and without; one that has a tally loads everywhere too."""
    margins, labels, _ = rows

    def model(**given):
        return torch.nn.ModuleDict({"body": torch.nn.Linear(2, 1), "metric": made("auc", **given)})

    plain = model()
    filled(plain["metric"], margins, labels)
    assert set(plain.state_dict()) == {"body.weight", "body.bias"}
    kept = model(persistent=True)
    kept.load_state_dict(plain.state_dict())
    filled(kept["metric"], margins, labels)
    plain["metric"].reset()
    plain.load_state_dict(kept.state_dict())
    assert plain["metric"].tally.n == 500


def test_a_tally_of_other_metrics_is_refused(torch, made, rows):
    """And bytes that are none."""
    margins, labels, _ = rows
    saved = filled(made("auc", persistent=True), margins, labels).state_dict()
    for other in (made("logloss"), made("auc", kind="margin"), made("auc", classes=["a", "b"])):
        with pytest.raises(tm.StateError, match="same metrics and target"):
            other.load_state_dict(saved)
    with pytest.raises(tm.StateError):
        made("auc").load_state_dict({"_extra_state": torch.zeros(9, dtype=torch.uint8)})
    with pytest.raises(tm.StateError, match="tensor of bytes"):
        made("auc").load_state_dict({"_extra_state": None})


def test_it_is_a_module(torch, made, rows):
    """Which prints, copies, pickles and moves; it has no parameters."""
    margins, labels, _ = rows
    metric = filled(made(["auc", "logloss"], kind="margin"), margins, labels)
    assert repr(metric) == "TallyMetric(auc, logloss; 500 rows)"
    assert list(metric.parameters()) == []
    for other in (copy.deepcopy(metric), pickle.loads(pickle.dumps(metric)), metric.to(torch.float16)):
        assert other.report() == metric.report()
    other.reset()
    assert other.tally.n == 0


def test_it_stands_in_code_that_torch_compiles(torch, made, rows):
    """The graph breaks there, without a warning."""
    margins, labels, _ = rows
    metric = made("auc")

    @torch.compile(backend="eager")
    def step(margins, labels):
        return metric(margins * 2, labels)["auc"] + metric.compute()["auc"]

    assert step(margins, labels).item() == 2 * tm.auc(labels, margins)


def test_a_wrong_kind_is_refused_at_once(made):
    """Before a model is trained in vain."""
    with pytest.raises(tm.TallymarkError, match="kind"):
        made("auc", kind="logit")
    with pytest.raises(tm.UnknownMetricError, match="auk"):
        made("auk")


@pytest.fixture(scope="module")
def trained(torch, tmp_path_factory):
    """What two processes wrote that trained together: by process, and the margins of all rows by epoch."""
    from tests.training.frameworks import processes

    folder = tmp_path_factory.mktemp("processes")
    torch.multiprocessing.spawn(processes.run, args=(str(folder),), nprocs=2)
    facts = [json.loads((folder / f"facts{rank}.json").read_text()) for rank in range(2)]
    seen = np.concatenate([np.load(folder / f"seen{rank}.npy") for rank in range(2)], axis=1)
    _, y, weights = processes.made()
    return facts, seen, y[100:], weights[100:], processes


def test_each_process_has_the_value_of_all_rows(trained):
    """Each has the value of the rows of both, with their weights, bit for bit."""
    facts, seen, y, weights, _ = trained
    assert facts[0]["values"] == facts[1]["values"]
    for margins, found in zip(seen, facts[0]["values"], strict=True):
        for name, value in found.items():
            assert value == tm.metric(name)(y, margins, kind="margin", weights=weights)
    assert [each["own"] for each in facts] == [400, 200]
    assert [each["all"] for each in facts] == [600, 600]


def test_processes_stop_together_where_a_hand_computation_does(trained):
    """By scikit-learn's log loss over all rows of every epoch."""
    from sklearn.metrics import log_loss

    facts, seen, y, weights, processes = trained
    by_hand = [log_loss(y, 1 / (1 + np.exp(-margins.astype(float))), sample_weight=weights) for margins in seen]
    stop, best = stopped_at(by_hand, processes.PATIENCE, "lower")
    assert [len(each["values"]) - 1 for each in facts] == [stop, stop]
    assert [each["best"] for each in facts] == [best, best]


def test_a_process_without_rows_adds_nothing(trained):
    """It has the values of the others; where none has rows, they are undefined."""
    facts, *_ = trained
    assert [each["alone"] for each in facts] == [2 / 3, 2 / 3]
    assert [each["never"] for each in facts] == ["no rows", "no rows"]


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize(("n", "world", "size"), [(801, 2, 64), (8, 2, 4), (9, 2, 4), (7, 3, 2), (1, 3, 2), (5, 4, 1)])
def test_rows_that_a_sampler_repeats_are_left_out(torch, n, world, size, shuffle):
    """Each row counts once; where the last ones are dropped, none counts twice."""
    from tallymark.training.frameworks.torch import unpadded_rows

    data = torch.arange(n)
    for drop_last in (False, True):
        found = []
        for rank in range(world):
            sampler = torch.utils.data.DistributedSampler(data, world, rank, shuffle=shuffle, drop_last=drop_last)
            loader = torch.utils.data.DataLoader(data, size, sampler=sampler)
            found += [row for k, rows in enumerate(loader) for row in rows[unpadded_rows(loader, k)].tolist()]
        assert len(set(found)) == len(found) == (n // world * world if drop_last else n)


def test_repeated_rows_nobody_can_know_are_an_error(torch):
    """Of a sampler of unknown order, or of several loaders at once; other samplers repeat none."""
    from tallymark.training.frameworks.torch import unpadded_rows

    class Backwards(torch.utils.data.DistributedSampler):
        def __iter__(self):
            return iter(sorted(super().__iter__(), reverse=True))

    data = torch.arange(5)
    assert unpadded_rows(torch.utils.data.DataLoader(data, 2, shuffle=True), 1) == slice(None)
    with pytest.raises(tm.ParameterError, match="may have another order"):
        unpadded_rows(torch.utils.data.DataLoader(data, 2, sampler=Backwards(data, 2, 1)), 1)
    with pytest.raises(tm.ParameterError, match=r"`loader` must be the DataLoader of the batch; got .*list"):
        unpadded_rows([torch.utils.data.DataLoader(data)], 0)


def test_threads_that_share_a_metric_lose_no_batch(torch, made):
    """Not even the first, which decides how many classes there are."""
    for _ in range(20):
        metric, start = made(["accuracy"]), threading.Barrier(4)
        preds, target = torch.eye(3).repeat(4, 1), torch.arange(3).repeat(4)

        def update(metric=metric, start=start, preds=preds, target=target):
            start.wait(LIMIT)
            for _ in range(5):
                metric.update(preds, target)

        threads = [threading.Thread(target=update) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(LIMIT)
        assert metric.tally.n == 4 * 5 * 12


def test_copies_and_pickles_go_on_by_themselves(torch, made):
    """A copy has the batches so far, and takes more."""
    metric = made(["mae"])
    metric.update(torch.tensor([1.0]), torch.tensor([2.0]))
    for back in (copy.deepcopy(metric), pickle.loads(pickle.dumps(metric))):
        back.update(torch.tensor([1.0]), torch.tensor([1.0]))
        assert back.report()["mae"] == 0.5
    assert metric.tally.n == 1
