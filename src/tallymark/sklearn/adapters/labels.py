"""Metrics of labels, with the conventions of scikit-learn.

All of them read one count of pairs of labels (or, of several labels per row, one count per column). Where a value is
undefined, scikit-learn's own functions decide on the counts: they divide by zero as `zero_division` says, and warn.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import _classification as theirs
from sklearn.utils.extmath import _nanaverage

from tallymark.data.arrays import Array
from tallymark.data.labels import Label
from tallymark.metrics.base import Metric
from tallymark.metrics.classification.accuracy import accuracy, balanced_accuracy, error_rate
from tallymark.metrics.classification.agreement import cohen_kappa, mcc
from tallymark.sklearn.adapters.inputs import as_array, column, positive_weights, require_bool, same_rows
from tallymark.sklearn.served import UnservedError
from tallymark.states.labels.counts import LABELS
from tallymark.states.labels.encoding import count_label_pairs
from tallymark.states.labels.pairs import Pairs, PairsOf

__all__ = [
    "accuracy_score",
    "balanced_accuracy_score",
    "class_likelihood_ratios",
    "classification_report",
    "cohen_kappa_score",
    "confusion_matrix",
    "f1_score",
    "fbeta_score",
    "hamming_loss",
    "jaccard_score",
    "matthews_corrcoef",
    "multilabel_confusion_matrix",
    "precision_recall_fscore_support",
    "precision_score",
    "recall_score",
    "zero_one_loss",
]

_HEADINGS = ("precision", "recall", "f1-score", "support")
_LABELS = PairsOf()
_AVERAGES = (None, "micro", "macro", "weighted", "samples", "binary")


class LabelPairs:
    """How often, or with which weight, each label of the truth met each predicted one."""

    __slots__ = ("columns", "dtypes", "predicted", "rows", "state", "truth", "values", "weighted")

    def __init__(self, state: Pairs, dtypes: tuple[Any, Any], weights: Array | None) -> None:
        self.state = state
        self.dtypes = dtypes
        self.weighted = weights is not None
        self.truth, self.predicted = state.labels
        self.rows, self.columns = state.cells
        self.values: Array = state.values  # type: ignore[assignment]
        if weights is not None:
            exact = [math.ldexp(value, state.unit or 0) for value in state.values]
            self.values = np.array(exact, np.float64 if weights.dtype.kind == "f" else np.int64)

    def classes(self) -> list[Label]:
        """The labels of both sides, in order."""
        return self.truth if self.truth == self.predicted else sorted({*self.truth, *self.predicted})

    def places(self, classes: Sequence[Label]) -> tuple[Array, Array]:
        """The class of truth and prediction of each pair; behind them all where it is another."""
        if self.truth == classes == self.predicted:
            return self.rows, self.columns
        index = {label: k for k, label in enumerate(classes)}
        at = [np.array([index.get(label, len(classes)) for label in side]) for side in (self.truth, self.predicted)]
        return at[0][self.rows], at[1][self.columns]

    def table(self, classes: Sequence[Label]) -> Array:
        """The confusion matrix of these classes; pairs with any other label are left out."""
        size = len(classes)
        table = np.zeros((size + 1, size + 1), self.values.dtype)
        table[self.places(classes)] = self.values  # no two pairs have both classes in common but those left out
        return table[:size, :size]

    def arrays(self) -> tuple[Array, Array]:
        """Each pair once, as truth and prediction of the types that were given."""
        sides = zip((self.truth, self.predicted), (self.rows, self.columns), self.dtypes, strict=True)
        truth, predicted = (np.array(labels, None if of.kind == "U" else of)[at] for labels, at, of in sides)
        return truth, predicted

    def classes_as_given(self) -> Array:
        """The labels of both sides, of the type that they have in common."""
        kinds = {of.kind for of in self.dtypes}
        if len(kinds) > 1 and not kinds <= {"U", "O"}:
            raise UnservedError("y_true and y_pred are of different types, and one of them names the labels")
        return np.array(self.classes(), None if kinds & {"U", "O"} else np.result_type(*self.dtypes))

    def read(self, metric: Metric) -> float | None:
        """The value of a metric of labels; None where it is undefined."""
        value = float(metric.read(self.state).value)
        return None if math.isnan(value) else value

    def answer(self, original: Callable[..., Any], **parameters: Any) -> Any:
        """What a function of scikit-learn makes of the pairs, each weighted by its count."""
        return original(*self.arrays(), sample_weight=self.values, **parameters)


def count_pairs(y_true: Any, y_pred: Any, sample_weight: Any) -> LabelPairs:
    """The pairs of two columns of labels."""
    truth, predicted = column(y_true, "y_true"), column(y_pred, "y_pred")
    same_rows(truth, predicted)
    weights = positive_weights(sample_weight, len(truth))
    found = count_label_pairs(truth, predicted, weights, False, None)
    if found is None or isinstance(found, list):
        raise UnservedError("y_true or y_pred contains values that are not labels")
    if isinstance(found.labels[0][0], str) != isinstance(found.labels[1][0], str):
        raise UnservedError("one of y_true and y_pred contains strings, the other numbers")
    return LabelPairs(Pairs(_LABELS, (1, 1), LABELS, found.rows, found), (truth.dtype, predicted.dtype), weights)


class Counts(NamedTuple):
    """Per label (or per row, of averages over rows): hits, what was predicted, what is true; and the total."""

    hits: Array
    predicted: Array
    true: Array
    total: Any


def _is_table(values: Any) -> bool:
    if isinstance(values, (list, tuple)):
        return bool(values) and isinstance(values[0], (list, tuple, np.ndarray))
    return getattr(values, "ndim", 1) == 2


def _indicators(values: Any, name: str) -> Array:
    """A table of one column per label, as truth values."""
    found = as_array(values, name)
    if found.dtype.kind not in "biu" or found.ndim != 2 or found.shape[1] < 2 or not len(found):
        raise UnservedError(f"{name} is not a table of 0 and 1 with a column per label")
    if found.dtype.kind == "b":
        return found
    if found.min() < 0 or found.max() > 1:
        raise UnservedError(f"{name} is not a table of 0 and 1 with a column per label")
    return found.astype(bool)


def _indicator_pair(y_true: Any, y_pred: Any) -> tuple[Array, Array]:
    truth, predicted = _indicators(y_true, "y_true"), _indicators(y_pred, "y_pred")
    if truth.shape != predicted.shape:
        raise UnservedError("y_true and y_pred have different shapes")
    return truth, predicted


def _count(y_true: Any, y_pred: Any, sample_weight: Any, labels: Any, samplewise: bool) -> Counts:
    if _is_table(y_true) or _is_table(y_pred):
        return _count_indicators(y_true, y_pred, sample_weight, labels, samplewise)
    if samplewise:
        raise UnservedError("averages over rows need several labels per row")
    pairs = count_pairs(y_true, y_pred, sample_weight)
    return _count_labels(pairs, pairs.classes() if labels is None else _selection(labels, pairs))


def _count_labels(pairs: LabelPairs, classes: Sequence[Label]) -> Counts:
    known = pairs.classes()
    rows, columns = pairs.places(known)
    own, size = rows == columns, len(known)
    sums = [
        np.bincount(places, pairs.values[chosen], size)
        for places, chosen in ((rows[own], own), (columns, slice(None)), (rows, slice(None)))
    ]
    if not pairs.weighted and own.any():  # scikit-learn keeps whole numbers unless it has nothing to count
        sums = [each.astype(np.int64) for each in sums]
    if classes != known:
        index = {label: k for k, label in enumerate(known)}
        at = [index.get(label, size) for label in classes]
        sums = [np.append(each, each.dtype.type(0))[at] for each in sums]
    return Counts(sums[0], sums[1], sums[2], pairs.values.sum())


def _count_indicators(y_true: Any, y_pred: Any, sample_weight: Any, labels: Any, samplewise: bool) -> Counts:
    truth, predicted = _indicator_pair(y_true, y_pred)
    weights = positive_weights(sample_weight, len(truth))
    if labels is not None:
        places = np.asarray(labels)
        if places.dtype.kind not in "iu" or places.ndim != 1 or not len(places) or places.min() < 0:
            raise UnservedError("labels are not columns")
        truth, predicted = truth[:, places], predicted[:, places]
    tables = (truth & predicted, predicted, truth)
    axis = 1 if samplewise else 0
    if weights is None:
        hits, called, true = (np.count_nonzero(table, axis=axis) for table in tables)
        return Counts(hits, called, true, truth.shape[axis])
    if samplewise:
        hits, called, true = (weights * np.count_nonzero(table, axis=1) for table in tables)
        return Counts(hits, called, true, weights * truth.shape[1])
    if not (truth.any() or predicted.any()):
        raise UnservedError("no row has a label")
    hits, called, true = (weights.astype(np.float64) @ table for table in tables)
    return Counts(hits, called, true, weights.sum())


def _selection(labels: Any, pairs: LabelPairs) -> list[Label]:
    """The labels asked for, of the type of those that occur."""
    found = column(labels, "labels")
    text = isinstance(pairs.truth[0], str)
    if (found.dtype.kind in "UO") != text:
        raise UnservedError("labels are of another type than y_true")
    chosen = found.tolist()
    return chosen if text else [int(label) if label == int(label) else label for label in chosen]


def _set_wise(
    y_true: Any, y_pred: Any, sample_weight: Any, labels: Any, pos_label: Any, average: Any
) -> tuple[Counts, str | None]:
    """The counts that precision, recall and their relatives read."""
    if average not in _AVERAGES:
        raise UnservedError("average is not one of those there are")
    if average != "binary":
        if pos_label is not None and not (isinstance(pos_label, int) and pos_label == 1):
            raise UnservedError("pos_label is ignored where average is not 'binary'")
        return _count(y_true, y_pred, sample_weight, labels, average == "samples"), average
    if _is_table(y_true) or _is_table(y_pred):
        raise UnservedError("average='binary' of several labels per row")
    pairs = count_pairs(y_true, y_pred, sample_weight)
    classes = pairs.classes()
    if len(classes) > 2 or pos_label not in classes:
        raise UnservedError("average='binary' needs two labels, of which pos_label is one")
    return _count_labels(pairs, [pos_label]), average


def _divide(above: Array, below: Array, name: str, modifier: str, average: Any, warn_for: Any, zero: Any) -> Array:
    if below.all():
        return np.asarray(above / below)
    return np.asarray(theirs._prf_divide(above, below, name, modifier, average, warn_for, zero))


def _check_zero_division(zero_division: Any) -> None:
    if isinstance(zero_division, str):
        known = zero_division == "warn"
    else:
        known = isinstance(zero_division, (int, float)) and (zero_division in (0, 1) or math.isnan(zero_division))
    if not known or isinstance(zero_division, bool):
        raise UnservedError("zero_division is not 'warn', 0, 1 or NaN")


def _mean(values: Array, weights: Array | None) -> float:
    return (
        float(_nanaverage(values, weights=weights))
        if weights is not None or np.isnan(values).any()
        else float(values.mean())
    )


def precision_recall_fscore_support(
    y_true: Any,
    y_pred: Any,
    *,
    beta: float = 1.0,
    labels: Any = None,
    pos_label: Any = 1,
    average: Any = None,
    warn_for: Sequence[str] = ("precision", "recall", "f-score"),
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> Any:
    _check_zero_division(zero_division)
    if isinstance(beta, bool) or not isinstance(beta, (int, float)) or not beta >= 0:
        raise UnservedError("beta is not a number of at least 0")
    if not isinstance(warn_for, (list, tuple, set)):
        raise UnservedError("warn_for is not a list")
    counts, average = _set_wise(y_true, y_pred, sample_weight, labels, pos_label, average)
    weights = None
    if average == "weighted":
        weights = counts.true
    elif average == "samples" and sample_weight is not None:
        weights = np.asarray(sample_weight)
    return _scores(counts, beta, average, warn_for, zero_division, weights)


def _scores(
    counts: Counts, beta: float, average: str | None, warn_for: Sequence[str], zero_division: Any, weights: Array | None
) -> Any:
    """Precision, recall, F and support, by label or averaged with the weights of the labels or rows."""
    hits, called, true = counts.hits, counts.predicted, counts.true
    if average == "micro":
        hits, called, true = (each.sum(keepdims=True) for each in (hits, called, true))
    options = (average, warn_for, zero_division)
    precision = _divide(hits, called, "precision", "predicted", *options)
    recall = _divide(hits, true, "recall", "true", *options)
    if beta == math.inf:
        score = recall
    elif beta == 0:
        score = precision
    else:
        square = beta**2
        below = square * true.astype(np.float64) + called.astype(np.float64)
        score = _divide((1 + square) * hits.astype(np.float64), below, "f-score", "true nor predicted", *options)
    if average is None:
        return precision, recall, score, true
    return (*(_mean(each, weights) for each in (precision, recall, score)), None)


def _score(place: int, name: str) -> Callable[..., Any]:
    """A function of one of precision, recall and F1, which take the same arguments."""

    def score(
        y_true: Any,
        y_pred: Any,
        *,
        labels: Any = None,
        pos_label: Any = 1,
        average: Any = "binary",
        sample_weight: Any = None,
        zero_division: Any = "warn",
    ) -> Any:
        return precision_recall_fscore_support(
            y_true,
            y_pred,
            labels=labels,
            pos_label=pos_label,
            average=average,
            warn_for=(name,),
            sample_weight=sample_weight,
            zero_division=zero_division,
        )[place]

    return score


precision_score = _score(0, "precision")
recall_score = _score(1, "recall")
f1_score = _score(2, "f-score")


def fbeta_score(
    y_true: Any,
    y_pred: Any,
    *,
    beta: float,
    labels: Any = None,
    pos_label: Any = 1,
    average: Any = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> Any:
    return precision_recall_fscore_support(
        y_true,
        y_pred,
        beta=beta,
        labels=labels,
        pos_label=pos_label,
        average=average,
        warn_for=("f-score",),
        sample_weight=sample_weight,
        zero_division=zero_division,
    )[2]


def jaccard_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: Any = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> Any:
    _check_zero_division(zero_division)
    if isinstance(zero_division, float) and math.isnan(zero_division):
        raise UnservedError("zero_division is not 'warn', 0 or 1")
    counts, average = _set_wise(y_true, y_pred, sample_weight, labels, pos_label, average)
    above, below = counts.hits, counts.predicted + counts.true - counts.hits
    if average == "micro":
        above, below = above.sum(keepdims=True), below.sum(keepdims=True)
    score = _divide(above, below, "jaccard", "true or predicted", average, ("jaccard",), zero_division)
    if average is None:
        return score
    weights = None
    if average == "weighted" and counts.true.any():
        weights = counts.true
    elif average == "samples" and sample_weight is not None:
        weights = np.asarray(sample_weight)
    return float(np.average(score, weights=weights))


def multilabel_confusion_matrix(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, labels: Any = None, samplewise: bool = False
) -> Any:
    require_bool(samplewise, "samplewise")
    counts = _count(y_true, y_pred, sample_weight, labels, samplewise)
    hits, total = counts.hits, counts.total
    fp, fn = counts.predicted - hits, counts.true - hits
    return np.stack([total - hits - fp - fn, fp, fn, hits]).T.reshape(-1, 2, 2)


def accuracy_score(y_true: Any, y_pred: Any, *, normalize: bool = True, sample_weight: Any = None) -> Any:
    require_bool(normalize, "normalize")
    if _is_table(y_true) or _is_table(y_pred):
        truth, predicted = _indicator_pair(y_true, y_pred)
        weights = positive_weights(sample_weight, len(truth))
        right = (truth == predicted).all(axis=1)
        hits = np.count_nonzero(right) if weights is None else weights[right].sum()
        total = len(truth) if weights is None else weights.sum()
    else:
        pairs = count_pairs(y_true, y_pred, sample_weight)
        if normalize:
            return pairs.read(accuracy)
        truth, predicted = pairs.places(pairs.classes())
        return float(pairs.values[truth == predicted].sum())
    return float(hits / total if normalize else hits)


def zero_one_loss(y_true: Any, y_pred: Any, *, normalize: bool = True, sample_weight: Any = None) -> Any:
    score = accuracy_score(y_true, y_pred, normalize=normalize, sample_weight=sample_weight)
    if normalize:
        return 1 - score
    return (len(y_true) if sample_weight is None else np.sum(np.asarray(sample_weight))) - score


def hamming_loss(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> Any:
    if not (_is_table(y_true) or _is_table(y_pred)):
        return count_pairs(y_true, y_pred, sample_weight).read(error_rate)
    truth, predicted = _indicator_pair(y_true, y_pred)
    weights = positive_weights(sample_weight, len(truth))
    if weights is not None and weights.dtype == np.float32:
        raise UnservedError("weights of float32, whose type the result has")
    wrong = np.count_nonzero(truth != predicted, axis=1)
    if weights is None:
        return float(wrong.sum() / truth.size)
    return weights.astype(np.float64) @ wrong / (truth.shape[1] * weights.mean() * len(truth))


def confusion_matrix(
    y_true: Any, y_pred: Any, *, labels: Any = None, sample_weight: Any = None, normalize: Any = None
) -> Any:
    if normalize not in (None, "true", "pred", "all"):
        raise UnservedError("normalize is not one of those there are")
    pairs = count_pairs(y_true, y_pred, sample_weight)
    classes = pairs.classes() if labels is None else _selection(labels, pairs)
    if len(classes) < 2 or len(set(classes)) < len(classes) or not set(classes) & set(pairs.truth):
        return pairs.answer(theirs.confusion_matrix, labels=labels, normalize=normalize)
    table = pairs.table(classes)
    if normalize is None:
        return table
    axis = {"true": 1, "pred": 0, "all": None}[normalize]
    with np.errstate(all="ignore"):
        return np.nan_to_num(table / table.sum(axis=axis, keepdims=True))


def balanced_accuracy_score(y_true: Any, y_pred: Any, *, sample_weight: Any = None, adjusted: bool = False) -> Any:
    require_bool(adjusted, "adjusted")
    pairs = count_pairs(y_true, y_pred, sample_weight)
    score, classes = pairs.read(balanced_accuracy), len(pairs.truth)
    if score is None or classes == 1:
        return pairs.answer(theirs.balanced_accuracy_score, adjusted=adjusted)
    if len(pairs.classes()) > classes:
        warnings.warn("y_pred contains classes not in y_true", stacklevel=3)
    return (score - 1 / classes) / (1 - 1 / classes) if adjusted else score


def cohen_kappa_score(
    y1: Any,
    y2: Any,
    *,
    labels: Any = None,
    weights: Any = None,
    sample_weight: Any = None,
    replace_undefined_by: Any = np.nan,
) -> Any:
    pairs = count_pairs(y1, y2, sample_weight)
    all_labels = labels is None or (weights is None and set(_selection(labels, pairs)) >= set(pairs.classes()))
    if all_labels and weights in (None, "linear", "quadratic"):
        value = pairs.read(cohen_kappa.replace(weighting=weights))
        if value is not None:
            return value
    parameters = {"labels": labels, "weights": weights, "replace_undefined_by": replace_undefined_by}
    return pairs.answer(theirs.cohen_kappa_score, **parameters)


def matthews_corrcoef(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> Any:
    pairs = count_pairs(y_true, y_pred, sample_weight)
    if len(pairs.classes()) == 1:
        return pairs.answer(theirs.matthews_corrcoef)
    return pairs.read(mcc) or 0.0


def class_likelihood_ratios(
    y_true: Any, y_pred: Any, *, labels: Any = None, sample_weight: Any = None, replace_undefined_by: Any = np.nan
) -> Any:
    pairs = count_pairs(y_true, y_pred, sample_weight)
    if len(pairs.classes()) != 2 or (labels is not None and np.size(labels) != 2):
        raise UnservedError("class_likelihood_ratios needs two classes")
    return pairs.answer(theirs.class_likelihood_ratios, labels=labels, replace_undefined_by=replace_undefined_by)


def classification_report(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    target_names: Any = None,
    sample_weight: Any = None,
    digits: int = 2,
    output_dict: bool = False,
    zero_division: Any = "warn",
) -> Any:
    if _is_table(y_true) or _is_table(y_pred):
        raise UnservedError("a report on several labels per row")
    require_bool(output_dict, "output_dict")
    if type(digits) is not int or digits < 0:
        raise UnservedError("digits is not a whole number")
    _check_zero_division(zero_division)
    pairs = count_pairs(y_true, y_pred, sample_weight)
    classes = pairs.classes() if labels is None else _selection(labels, pairs)
    counts = _count_labels(pairs, classes)
    shown = pairs.classes_as_given() if labels is None else np.asarray(labels)
    names = [f"{label!s}" for label in shown] if target_names is None else target_names
    if len(names) != len(classes):
        raise UnservedError("target_names are not one per label")
    whole = labels is None or set(classes) >= set(pairs.classes())
    averages = {"accuracy" if whole else "micro avg": "micro", "macro avg": "macro", "weighted avg": "weighted"}
    options = (("precision", "recall", "f-score"), zero_division)
    rows = [(name, *row) for name, *row in zip(names, *_scores(counts, 1.0, None, *options, None), strict=True)]
    total = counts.true.sum()
    for name, average in averages.items():
        weights = counts.true if average == "weighted" else None
        rows.append((name, *_scores(counts, 1.0, average, *options, weights)[:3], total))
    if not output_dict:
        return _report_text(rows, digits, single="accuracy" if whole else None)
    report: dict[str, Any] = {name: dict(zip(_HEADINGS, map(float, row), strict=True)) for name, *row in rows}
    if whole:
        report["accuracy"] = report["accuracy"]["precision"]
    return report


def _report_text(rows: list[Any], digits: int, *, single: str | None) -> str:
    """The last three rows are averages; of the first of them only one value is shown if it is the `single` one."""
    width = max(*(len(name) for name, *_ in rows[:-3]), len("weighted avg"), digits)
    lines = [f"{'':>{width}s}  " + " ".join(f"{heading:>9}" for heading in _HEADINGS), ""]
    for k, (name, *values, support) in enumerate(rows, start=-len(rows)):
        cells = [f"{value:>9.{digits}f}" for value in values]
        if k == -3:
            lines.append("")
            cells[:2] = [" " * 9] * 2 if name == single else cells[:2]
        lines.append(f"{name:>{width}s}  " + " ".join([*cells, f"{support!s:>9}"]))
    return "\n".join(lines) + "\n"
