"""How probabilities and margins become labels: whether they are to, which column a threshold is for, and the names."""

from __future__ import annotations

from collections.abc import Sequence

from tallymark.batch import Batch
from tallymark.errors import ParameterError, ShapeError, Text
from tallymark.labels import Label
from tallymark.states.counts import find_positive, knows_positive
from tallymark.target import Target, show_labels

LABELS = "labels"
POSITIVE = "positive"  # predictions are whether the row is of the positive class, whose label the truth tells


def decides(batch: Batch, target: Target) -> bool:
    """Whether predictions are probabilities or margins to decide on, by kind, type and shape."""
    kind = target.kind
    one = batch.prediction_columns == 1
    found = kind != "label" and (kind is not None or not one or batch.prediction_labels.type == "real")
    if target.normalize and (one or not found):
        held = "one column" if found else "labels"
        raise ParameterError(
            Text("{normalize} divides the probabilities of several columns; {y_pred} held {}", held),
            argument="normalize",
        )
    if one or kind is not None:
        return found
    if batch.prediction.dtype.kind != "f":
        raise ShapeError(
            argument="y_pred",
            expected="be one label per row, or probabilities",
            got=f"{batch.prediction_columns} columns of type {batch.prediction.dtype}",
            hint=Text("Pass a table of 0 and 1 as {y_true} too if rows have several labels"),
        )
    return True


def threshold_column(classes: Sequence[Label], target: Target, threshold: float, default: float) -> int:
    """The column whose probability or margin the threshold is for; 2 where there is none, and the largest decides."""
    if len(classes) > 2 or not knows_positive(classes, target):
        if threshold != default:
            why = Text("is for two classes" if len(classes) > 2 else "needs {positive}, the class that it is for")
            raise ParameterError(
                Text("{threshold} {}; here the largest of the columns ({}) decides", why, show_labels(classes)),
                argument="threshold",
            )
        return 2
    place = find_positive(classes, target)
    return 2 if place is None else place


def check_two(classes: Sequence[Label], *, labels: bool = True) -> None:
    """Refuse one column of predictions for more than two classes."""
    if len(classes) > 2:
        raise ShapeError(
            argument="y_pred",
            expected="have one column per class where there are more than two",
            got=f"one column for {len(classes)} classes ({show_labels(classes)})",
            hint=Text('Pass {kind="label"} if it holds labels') if labels else None,
        )


def name_decisions(truth: Sequence[Label], target: Target, *, labels: bool = True) -> tuple[Label, Label]:
    """The labels that predictions of no and yes stand for, by the labels of the truth.

    `labels` says that the predictions could be labels as well.
    """
    classes = truth if target.classes is None else target.classes
    check_two(classes, labels=labels)
    place = find_positive(classes, target)
    positive = classes[place] if place is not None else 1 if target.positive is None else target.positive
    others = [label for label in classes if label != positive]
    if others:
        return others[0], positive
    return f"not {positive}" if isinstance(positive, str) else 0 if positive else 1, positive
