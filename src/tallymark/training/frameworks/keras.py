"""Keras 3, on any backend: a callback that drives an Evaluator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tallymark.optional_packages import needed
from tallymark.training.evaluator import Evaluator
from tallymark.training.frameworks.base import (
    check_evaluator,
    check_kinds,
    check_row_count,
    inputs_by_eval_set,
    rewind_to,
)

__all__ = ["EvaluatorCallback"]


with needed("tallymark.training.frameworks.keras", "keras", extra="keras"):
    from keras.callbacks import Callback


class EvaluatorCallback(Callback):  # type: ignore[misc]  # what is not installed has no type
    """Evaluate after every epoch, and stop when the evaluator says so.

    The values go into the logs as set and metric, such as `valid_auc`; Keras callbacks that follow them must come after
    this one.

    Args:
        evaluator: The `Evaluator`.
        data: The inputs of the model for each eval set, in the order of its rows: what ``model.predict`` takes.
        predict: A function of the model and the inputs, for a model with several outputs or another way to predict.
        batch_size: How many rows to predict at a time.
        restore_best: True restores the weights of the best epoch at the end.

    >>> import keras, numpy as np, tallymark as tm
    >>> x, y = np.eye(4), np.array([0, 0, 1, 1])
    >>> model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, activation="sigmoid")])
    >>> model.compile("sgd", "binary_crossentropy")
    >>> evaluator = tm.training.Evaluator(["auc"], tm.training.EvalSet("valid", y))
    >>> history = model.fit(x, y, epochs=2, verbose=0, callbacks=[EvaluatorCallback(evaluator, x)]).history
    >>> history["valid_auc"] == list(evaluator.history.values("valid", "auc").values())
    True
    """

    def __init__(
        self,
        evaluator: Evaluator,
        data: Any,
        *,
        predict: Callable[[Any, Any], Any] | None = None,
        batch_size: int | None = None,
        restore_best: bool = False,
    ) -> None:
        super().__init__()
        self.evaluator = check_evaluator(evaluator)
        self.restore_best = restore_best
        self._data = inputs_by_eval_set(evaluator, data)
        for name, inputs in self._data.items():
            check_row_count(evaluator, name, None if predict else _rows(inputs))
        self._predict = predict
        self._batch_size = batch_size
        self._begun = False
        self._best: tuple[int, Any] | None = None

    def on_train_begin(self, logs: Any = None) -> None:
        """Reject metrics that would misread what the model is trained to give."""
        loss = getattr(self.model, "loss", None)
        if self._predict is None and getattr(loss, "from_logits", False) is True:
            check_kinds(self.evaluator, "margin", f"a model for {type(loss).__name__}(from_logits=True)")
        self._begun = False

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Start anew with the first epoch, or go on where an earlier training ended."""
        if not self._begun:
            rewind_to(self.evaluator, epoch)
            if self._best is not None and self._best[0] != self.evaluator.best_round:
                self._best = None
        self._begun = True

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Evaluate, and write the values into the logs."""
        result = self.evaluator.step(epoch, self._predictions)
        if logs is not None:
            logs.update({f"{each.set}_{each.metric}": each.value for each in result.results})
        if result.improved and self.restore_best:
            self._best = result.round, self.model.get_weights()
        if result.action == "stop":
            self.model.stop_training = True

    def on_train_end(self, logs: Any = None) -> None:
        """Take the best weights, if asked to, and let callbacks of the evaluator finish."""
        if self._best is not None:
            self.model.set_weights(self._best[1])  # and keep them, for a training that goes on and gets no better
        self.evaluator.close()

    def _predictions(self) -> dict[str, Any]:
        return {name: _readable(self._predicted(inputs)) for name, inputs in self._data.items()}

    def _predicted(self, inputs: Any) -> Any:
        if self._predict is not None:
            return self._predict(self.model, inputs)
        return self.model.predict(inputs, batch_size=self._batch_size, verbose=0)


def _rows(inputs: Any) -> int | None:
    """How many rows there are; None where only a prediction tells."""
    first = list(inputs.values()) if isinstance(inputs, dict) else inputs
    shape = getattr(first[0] if isinstance(first, (list, tuple)) and first else first, "shape", None)
    return shape[0] if shape else None


def _readable(predictions: Any) -> Any:
    """Brain floats as the same numbers in a type that NumPy has."""
    return (
        predictions.astype(np.float32)
        if isinstance(predictions, np.ndarray) and predictions.dtype.kind == "V"
        else predictions
    )
