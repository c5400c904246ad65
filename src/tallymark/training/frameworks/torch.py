"""PyTorch: a module that adds up metrics over batches, and over processes."""

from __future__ import annotations

from threading import RLock
from typing import Any, TypeVar

import numpy as np

from tallymark.data.arguments import describe
from tallymark.data.arrays import count_columns, named_codes
from tallymark.data.target import Target, target_of
from tallymark.errors import DomainError, ParameterError, StateError, Text
from tallymark.evaluation.default_metrics import MetricsLike
from tallymark.evaluation.report import Report
from tallymark.evaluation.tally import Tally
from tallymark.optional_packages import needed

__all__ = ["TallyMetric", "unpadded_rows"]


with needed("tallymark.training.frameworks.torch", "torch", extra="torch"):
    import torch
    from torch import distributed
    from torch.utils.data import BatchSampler, DataLoader, DistributedSampler

_OF_NUMPY = (torch.float16, torch.float32, torch.float64)
_KNOWN_SAMPLERS = ("torch", "lightning", "pytorch_lightning")  # packages, of which the order of rows is known
_Method = TypeVar("_Method")


def _eagerly(method: _Method) -> _Method:
    """A method that is left out of graphs that torch compiles: it has nothing for them."""
    return torch.compiler.disable(method)  # type: ignore[no-any-return]  # likewise


class TallyMetric(torch.nn.Module):  # type: ignore[misc]  # what is not installed has no type
    """Metrics over the batches that a model sees: `update` with each, then read the report of all, in every process.

    Inputs may be on any device, of any type, and track gradients; the tally is on the host. Without `classes`, K
    columns of predictions with whole numbers as targets have the classes 0 to K − 1, as for torch.nn.CrossEntropyLoss;
    if `classes` are strings, whole numbers are positions in them. Rows that a `DistributedSampler` repeats count twice
    unless `unpadded_rows` leaves them out.

    Args:
        persistent: True makes the tally part of `state_dict`.
        process_group: The processes whose tallies are added when a value is read; by default all.
        others: Other parameters of `Tally`, such as `by` and `ci`.

    >>> import torch
    >>> metric = TallyMetric(["auc", "accuracy"], kind="margin")
    >>> metric.update(torch.tensor([-2.2, -0.4]), torch.tensor([0, 0]))
    >>> metric.update(torch.tensor([-0.6, 1.4]), torch.tensor([1, 1]))
    >>> metric.report()["auc"]
    0.75
    """

    def __init__(
        self,
        metrics: MetricsLike,
        *,
        target: Target | None = None,
        kind: str | None = None,
        classes: object = None,
        positive: object = None,
        normalize: bool = False,
        missing: str = "error",
        persistent: bool = False,
        process_group: Any = None,
        **others: Any,
    ) -> None:
        super().__init__()
        self._given = {"missing": missing, **others}
        about = target_of(target, kind, classes, positive, normalize)
        self._tally = Tally(metrics, target=about, **self._given)
        self._first = (self._tally.metrics, about)
        self.persistent = persistent
        self.process_group = process_group
        self._lock = RLock()

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in vars(self).items() if key != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._lock = RLock()

    @property
    def tally(self) -> Tally:
        """The tally of this process."""
        return self._tally

    @_eagerly
    def update(
        self,
        preds: Any,
        target: Any,
        *,
        weights: Any = None,
        query: Any = None,
        by: Any = None,
        keys: Any = None,
        cluster: Any = None,
    ) -> None:
        """Add a batch, predictions first, as torch has it. If it is refused, the tally stays as it was."""
        facts = {"weights": weights, "query": query, "by": by, "keys": keys, "cluster": cluster}
        with self._lock:  # the first batch may replace the tally
            self._tally = self._updated(self._tally, preds, target, facts)

    @_eagerly
    def forward(self, preds: Any, target: Any, **facts: Any) -> dict[str, Any]:
        """Add a batch as `update` does, and give the numbers of this batch alone, in this process."""
        batch = self._updated(self._empty_tally(), preds, target, facts)
        self.update(preds, target, **facts)
        return _as_tensors(batch.report(errors="raise"))

    def gather(self) -> Tally:
        """The tally of all processes, which must all ask for it; each gets the same."""
        if not (distributed.is_available() and distributed.is_initialized()):
            return self._tally
        pieces: list[Any] = [None] * distributed.get_world_size(self.process_group)
        if len(pieces) < 2:  # alone, or no part of the group
            return self._tally
        distributed.all_gather_object(pieces, self._tally.to_bytes(), group=self.process_group)
        # A process that had no batch need not know the classes that the others found.
        tallies = [tally for tally in map(Tally.from_bytes, pieces) if tally.n or tally.dropped]
        return sum(tallies[1:], start=tallies[0]) if tallies else self._tally

    @_eagerly
    def report(self, *, errors: str = "raise") -> Report:
        """The report of all batches of all processes, which must all ask for it."""
        return self.gather().report(errors=errors)

    def compute(self) -> dict[str, Any]:
        """Every number of the report by name, in tensors of float64, of which loggers keep all digits."""
        return _as_tensors(self.report(errors="raise"))

    def reset(self) -> None:
        """Forget all batches."""
        self._tally = self._empty_tally()

    def _empty_tally(self, columns: int = 1) -> Tally:
        metrics, about = self._first
        return Tally(metrics, target=about.with_classes(range(columns)), **self._given)

    def _updated(self, tally: Tally, preds: Any, target: Any, facts: dict[str, Any]) -> Tally:
        truth, prediction = on_host(target), on_host(preds)
        if _are_class_codes(truth) and count_columns(prediction) > 1 and not tally.n:
            tally = self._empty_tally(count_columns(prediction))
        truth, prediction = self._class_names(truth, "target"), self._class_names(prediction, "preds")
        return tally.update(truth, prediction, **on_host(facts))

    def _class_names(self, values: Any, name: str) -> Any:
        """The classes at the places that whole numbers are, where the classes are texts."""
        classes = self._first[1].classes
        if classes is None or not isinstance(classes[0], str) or not _are_class_codes(values):
            return values
        outside = np.flatnonzero((values < 0) | (values >= len(classes)))
        if len(outside):
            raise DomainError(
                argument=name,
                expected=Text("contain positions in {classes}, 0 to {}", len(classes) - 1),
                got=str(values.flat[outside[0]]),
                place=f"row {outside[0]}",
            )
        return named_codes(values.ravel(), classes)

    def get_extra_state(self) -> Any:
        # Bytes in a tensor, since torch loads tensors without running code.
        if not self.persistent:
            return torch.empty(0, dtype=torch.uint8)
        return torch.frombuffer(bytearray(self._tally.to_bytes()), dtype=torch.uint8)

    def set_extra_state(self, state: Any) -> None:
        if not isinstance(state, torch.Tensor):
            raise StateError(f"a TallyMetric is saved as a tensor of bytes; got {describe(state)}")
        saved = Tally.from_bytes(on_host(state).tobytes())
        self._tally = self._empty_tally(len(saved.target.classes or ())) + saved

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        if not self.persistent:
            del destination[f"{prefix}_extra_state"]

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing: list[str], *others: Any
    ) -> None:
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing, *others)
        if f"{prefix}_extra_state" in missing:  # a model may be saved with a tally or without
            missing.remove(f"{prefix}_extra_state")

    def extra_repr(self) -> str:
        return repr(self._tally).removeprefix("Tally(").removesuffix(")")


def unpadded_rows(loader: Any, batch: int) -> slice:
    """Return the rows of a batch, by its number, that count: without those that a `DistributedSampler` repeats.

    The sampler repeats some rows at the end so that all processes have equally many. `loader` is the DataLoader of the
    process; without a `DistributedSampler`, and with ``drop_last=True``, which repeats none, all rows count.

    >>> import torch
    >>> from torch.utils.data import DataLoader, DistributedSampler
    >>> data = torch.arange(5)
    >>> second = DataLoader(data, batch_size=2, sampler=DistributedSampler(data, 2, rank=1, shuffle=False))
    >>> [rows.tolist() for rows in second], [rows[unpadded_rows(second, k)].tolist() for k, rows in enumerate(second)]
    ([[1, 3], [0]], [[1, 3], []])
    """
    if not isinstance(loader, DataLoader):
        raise ParameterError(
            argument="loader",
            expected="be the DataLoader of the batch",
            got=describe(loader),
            hint="Of several, pass one, such as loaders[dataloader_idx]",
        )
    sampler = sampler_of(loader)
    if not isinstance(sampler, DistributedSampler):
        return slice(None)
    if (
        type(loader.batch_sampler) is not BatchSampler
        or type(sampler).__iter__.__module__.partition(".")[0] not in _KNOWN_SAMPLERS
        or not getattr(loader, "in_order", True)
    ):
        raise ParameterError(
            Text(
                "{loader} must have batches of the rows of a DistributedSampler in their "
                "order; it may have another order, in which nobody knows the repeated rows"
            ),
            argument="loader",
        )
    own = len(range(sampler.rank, len(sampler.dataset), sampler.num_replicas))
    return slice(max(own - batch * loader.batch_sampler.batch_size, 0))


def sampler_of(loader: Any) -> Any:
    """What chooses the rows of a DataLoader."""
    inner = getattr(getattr(loader, "batch_sampler", None), "sampler", None)
    return getattr(loader, "sampler", None) if inner is None else inner


def on_host(value: Any) -> Any:
    """A tensor as an array that NumPy has, with the same numbers; anything else as it is, but for tensors in a dict."""
    if isinstance(value, dict):
        return {key: on_host(each) for key, each in value.items()}
    if not isinstance(value, torch.Tensor):
        return value
    if value.is_floating_point() and value.dtype not in _OF_NUMPY:
        value = value.float()  # of narrower types, which NumPy lacks
    return value.numpy(force=True)


def _are_class_codes(values: Any) -> bool:
    """Whether these are whole numbers, one per row: the way in which torch tells classes."""
    return (
        isinstance(values, np.ndarray) and values.dtype.kind in "iu" and values.ndim > 0 and count_columns(values) == 1
    )


def _as_tensors(report: Report) -> dict[str, Any]:
    cells = {key: report.cell(key) for key in report}
    return {
        f"{key} · {part}" if part else key: torch.tensor(value, dtype=torch.float64)
        for key, cell in cells.items()
        if not cell.is_table
        for part, value in cell.parts()
    }
