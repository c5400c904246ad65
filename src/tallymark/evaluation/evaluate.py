"""tm.evaluate: many metrics on the same rows, every shared state computed once."""

from __future__ import annotations

from typing import Any

from tallymark.data.batch import Batch
from tallymark.data.groups import group_columns
from tallymark.data.target import Target, target_of
from tallymark.errors import ParameterError, TallymarkError, Text
from tallymark.evaluation.report import Report
from tallymark.evaluation.selection import DATA_FAULTS, MetricPlan, Wanted, check_errors, plan, select_metrics
from tallymark.intervals.settings import Intervals, interval_settings
from tallymark.metrics.fairness.base import check_min_rows
from tallymark.states.groups import slice_states


def evaluate(
    y_true: object,
    y_pred: object,
    metrics: Wanted = None,
    *,
    weights: object = None,
    query: object = None,
    target: Target | None = None,
    kind: str | None = None,
    classes: object = None,
    positive: object = None,
    normalize: bool = False,
    missing: str = "error",
    errors: str = "cell",
    by: object = None,
    min_rows: int = 1,
    ci: float | Intervals | None = None,
    cluster: object = None,
    keys: object = None,
) -> Report:
    """Evaluate many metrics in one pass over the rows.

    `metrics` is a list of names and metrics, or a mapping that gives them names of your own; without it, the set goes
    by the types: rmse, mae and r2 for a truth of floats; accuracy and macro precision, recall and F for labels.

    `kind` says what the predictions are, where their type does not tell: "value", "label", "probability" (of the
    positive class, or one column per class), "margin" (before sigmoid or softmax) or "score". `classes` are all classes
    there are, in the order of the columns; `positive` is the positive one, by default 1 where the other is 0 or -1;
    `normalize=True` divides probabilities by the sum of their row. A `target` says all of this at once. `query` is the
    label of the query that each row belongs to, which metrics of rankings read. `missing="drop"` leaves out rows with
    missing values and counts them. A metric that cannot be computed on these rows becomes a failed cell;
    `errors="raise"` raises instead.

    `by` holds the group of each row: one column of labels, or a table or mapping of several. Every metric is then read
    for every group as well, as `report.slices`; metrics of groups, such as `gap("recall")` and "demographic_parity",
    compare them, and leave out groups of fewer than `min_rows` rows.

    `ci=0.95` puts a 95 % interval around every number, as `cell.lo` and `cell.hi`: by a formula where the metric has
    one, else by a bootstrap of 1,000 resamples, or more if the level needs them; `ci=Intervals(...)` asks for one of
    them, for a number of resamples and for the seed from which they follow. `cluster` holds a label for each row, and
    rows of one label, such as those of one patient, are resampled together. `keys` hold a label that no other row has,
    such as an id: rows are then resampled by it and not by their place, so that neither their order nor a `Tally` of
    pieces changes the interval.

    >>> report = evaluate([3, -0.5, 2, 7], [2.5, 0, 2, 8], ["rmse", "mae"])
    >>> report["mae"]
    0.5
    >>> print(report)
    4 rows
    <BLANKLINE>
    metric     value  better  unit
    ──────  ────────  ──────  ─────────
    rmse    0.612372  lower   same as y
    mae     0.5       lower   same as y
    """
    check_errors(errors)
    about = target_of(target, kind, classes, positive, normalize)
    columns = None if by is None else group_columns(by)
    if check_min_rows(min_rows) > 1 and by is None:
        raise ParameterError(
            Text("{min_rows} is the smallest size of groups that are compared: pass {by}, the groups, too"),
            argument="min_rows",
        )
    settings = interval_settings(ci, cluster=cluster is not None, keys=keys is not None)
    batch = Batch(y_true, y_pred, weights, missing=missing, query=query, by=columns, cluster=cluster, keys=keys)
    return evaluate_batch(batch, metrics, about, errors=errors, min_rows=min_rows, settings=settings)


def evaluate_batch(
    batch: Batch,
    metrics: Wanted,
    target: Target,
    *,
    errors: str = "cell",
    min_rows: int = 1,
    settings: Intervals | None = None,
) -> Report:
    """The report of rows that have been read already."""
    batch.require_rows()
    chosen = plan_batch(batch, metrics, target, errors=errors)
    return evaluate_planned(batch, chosen, errors=errors, min_rows=min_rows, settings=settings)


def plan_batch(batch: Batch, metrics: Wanted, target: Target, *, errors: str) -> MetricPlan:
    """The metrics for rows that have been read already, and their plan."""
    return plan(
        select_metrics(metrics, batch, target), target, (batch.truth_columns, batch.prediction_columns), errors=errors
    )


def evaluate_planned(
    batch: Batch,
    chosen: MetricPlan,
    *,
    errors: str = "cell",
    min_rows: int = 1,
    settings: Intervals | None = None,
) -> Report:
    """The report of rows that there are, with metrics whose plan is made."""
    try:
        states = chosen.fold(batch)
    except DATA_FAULTS:
        raise
    except TallymarkError:
        if errors == "raise":
            raise
        chosen = chosen.without_unreadable(batch)
        states = chosen.fold(batch)
    slices = slice_states(batch, states) if batch.group_names else None
    of_groups: dict[str, Any] = {"slices": slices, "by": batch.group_names, "min_rows": min_rows}
    report = chosen.report(states, dropped=batch.dropped, errors=errors, batch=batch, **of_groups)
    if settings is not None:
        from tallymark.evaluation.intervals import add_intervals  # most calls ask for none

        add_intervals(report, settings, chosen, states, batch, slices)
    batch.memo.clear()  # the report keeps the rows, and should keep no more
    return report
