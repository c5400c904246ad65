"""tm.evaluate: many metrics on the same rows, every shared state computed once."""

from __future__ import annotations

from tallymark.batch import Batch, Target
from tallymark.evaluation.chosen import Wanted, check_errors, choose, plan
from tallymark.evaluation.result import Report


def evaluate(
    y_true: object,
    y_pred: object,
    metrics: Wanted = None,
    *,
    weights: object = None,
    kind: str | None = None,
    missing: str = "error",
    errors: str = "cell",
) -> Report:
    """Evaluate many metrics in one pass over the rows.

    `metrics` is a list of names and metrics, or a mapping that gives them names of your own; without it, the set goes
    by the type of the truth (rmse, mae and r2 for floats). `missing="drop"` leaves out rows with NaN or infinity and
    counts them. A metric that cannot be computed on these rows becomes a failed cell; `errors="raise"` raises instead.

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
    target = Target(kind)
    chosen_metrics = choose(metrics, y_true, target)
    batch = Batch(y_true, y_pred, weights, missing=missing)
    batch.require_rows()
    chosen = plan(chosen_metrics, target, (batch.truth_columns, batch.prediction_columns), errors=errors)
    return chosen.report(chosen.fold(batch), dropped=batch.dropped, errors=errors, batch=batch)
