"""Lightning: a callback that drives an Evaluator. In a module of Lightning, metrics are those of PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from typing import Any

import numpy as np

from tallymark.errors import ParameterError, Text
from tallymark.intervals.settings import check_least
from tallymark.optional_packages import needed
from tallymark.training.evaluator import Evaluator
from tallymark.training.frameworks.base import check_evaluator, check_row_count, inputs_by_eval_set, rewind_to
from tallymark.training.frameworks.torch import on_host, sampler_of
from tallymark.training.history import History

__all__ = ["EvaluatorCallback"]


with needed("tallymark.training.frameworks.lightning", "lightning", extra="lightning"):
    import torch
    from lightning.pytorch.callbacks import Callback
    from torch.utils.data import DataLoader, Dataset, RandomSampler, SubsetRandomSampler, WeightedRandomSampler

_SHUFFLING = (RandomSampler, SubsetRandomSampler, WeightedRandomSampler)


class EvaluatorCallback(Callback):  # type: ignore[misc]  # what is not installed has no type
    """Evaluate after every epoch, and stop when the evaluator says so.

    Values are logged as set and metric, such as `valid_auc`, with all digits, for Lightning's callbacks and loggers.
    Checkpoints keep the history. Each process evaluates all rows, and all stop when one does.

    Args:
        evaluator: The `Evaluator`.
        data: The inputs of the model for each eval set, in the order of its rows: a tensor, a data set, a DataLoader
            that does not shuffle, or batches.
        predict: A function of the model and a batch; by default the model is called with the batch, or with its first
            part if it is a tuple.
        batch_size: How many rows of a tensor or a data set to predict at a time.
        restore_best: True restores the weights of the best epoch at the end.

    >>> import lightning, tallymark as tm, torch
    >>> valid = tm.training.EvalSet("valid", [0, 1])
    >>> evaluator = tm.training.Evaluator(["auc"], valid, early_stopping=tm.training.EarlyStopping(5))
    >>> callback = EvaluatorCallback(evaluator, torch.eye(2), restore_best=True)
    >>> trainer = lightning.Trainer(callbacks=[callback], logger=False, enable_checkpointing=False)
    """

    def __init__(
        self,
        evaluator: Evaluator,
        data: Any,
        *,
        predict: Callable[[Any, Any], Any] | None = None,
        batch_size: int = 1024,
        restore_best: bool = False,
    ) -> None:
        super().__init__()
        self.evaluator = check_evaluator(evaluator)
        self.restore_best = restore_best
        size = check_least("batch_size", batch_size, 1)
        self._data = {}
        for name, inputs in inputs_by_eval_set(evaluator, data).items():
            check_row_count(evaluator, name, None if predict else _rows(inputs))
            self._data[name] = _batches(name, inputs, size)
        self._predict = predict or _call
        self._best: tuple[int, dict[str, Any]] | None = None

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """Start anew, or go on where an earlier training ended."""
        rewind_to(self.evaluator, trainer.current_epoch)
        if self._best is not None and self._best[0] != self.evaluator.best_round:
            self._best = None

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Evaluate, and log the values."""
        result = self.evaluator.step(trainer.current_epoch, lambda: self._predictions(trainer, pl_module))
        for each in result.results:
            pl_module.log(f"{each.set}_{each.metric}", torch.tensor(each.value, dtype=torch.float64), batch_size=1)
        if result.improved and self.restore_best:
            self._best = result.round, deepcopy(pl_module.state_dict())
        if trainer.strategy.reduce_boolean_decision(result.action == "stop", all=False):
            trainer.should_stop = True

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        """Take the best weights, if asked to, and let callbacks of the evaluator finish."""
        if self._best is not None:
            pl_module.load_state_dict(self._best[1])  # and keep them, for a training that goes on and gets no better
        self.evaluator.close()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        """Let callbacks of the evaluator finish when a training fails, too."""
        self.evaluator.close()

    @property
    def state_key(self) -> str:
        """What tells this callback from others of its kind in a checkpoint."""
        sets, metrics = list(self.evaluator.eval_sets), list(self.evaluator.metrics or ())
        return str(self._generate_state_key(sets=sets, metrics=metrics))

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint keeps: the history, and the best weights if they are to come back."""
        best = {} if self._best is None else {"best": self._best}
        return {"history": self.evaluator.history.to_json(indent=None), **best}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from the history of a checkpoint."""
        self.evaluator.resume(History.from_json(state_dict["history"]))
        self._best = state_dict.get("best") if self.restore_best else None

    def _predictions(self, trainer: Any, module: Any) -> dict[str, Any]:
        training = [part for part in module.modules() if part.training]
        module.eval()
        try:
            with torch.no_grad(), trainer.precision_plugin.forward_context():
                return {name: self._predicted(trainer, module, inputs) for name, inputs in self._data.items()}
        finally:
            for part in training:
                part.training = True

    def _predicted(self, trainer: Any, module: Any, batches: Iterable[Any]) -> Any:
        moved = (trainer.strategy.batch_to_device(batch, module.device) for batch in batches)
        outputs = [self._predict(module, trainer.precision_plugin.convert_input(batch)) for batch in moved]
        for output in outputs:
            if getattr(output, "ndim", 0) == 0:
                raise ParameterError(
                    f"the model must give an array with a row for each of a batch; it gave {type(output).__name__}",
                    hint=Text("Pass {predict}, a function of the model and a batch that does"),
                )
        return np.concatenate([on_host(output) for output in outputs]) if outputs else np.empty(0)


def _call(module: Any, batch: Any) -> Any:
    return module(batch[0] if isinstance(batch, (tuple, list)) else batch)


def _rows(inputs: Any) -> int | None:
    """How many rows there are; None where only a prediction tells."""
    return (
        len(inputs) if isinstance(inputs, (np.ndarray, torch.Tensor, Dataset)) and hasattr(inputs, "__len__") else None
    )


def _batches(name: str, inputs: Any, size: int) -> Any:
    if isinstance(inputs, np.ndarray):
        inputs = torch.as_tensor(inputs)
    if isinstance(inputs, torch.Tensor):
        return inputs.split(size)
    if isinstance(inputs, Dataset):
        inputs = DataLoader(inputs, batch_size=size)
    if isinstance(inputs, Iterator):
        return list(inputs)  # which is read in every epoch
    sampler = sampler_of(inputs)
    if isinstance(sampler, _SHUFFLING) or getattr(sampler, "shuffle", False) is True:
        raise ParameterError(
            Text("{data} must keep the order of the rows of the eval set {}; its DataLoader shuffles them", repr(name)),
            argument="data",
            hint="Make one with shuffle=False",
        )
    return inputs
