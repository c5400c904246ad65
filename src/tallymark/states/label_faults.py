"""What was wrong with labels or probabilities, in words: the core names the row, the batch knows what stood there."""

from __future__ import annotations

from tallymark.arrays import describe, malformed
from tallymark.batch import Batch
from tallymark.errors import DomainError, InputError, MissingValueError, TypeOfDataError

Fault = tuple[int, str, int, int]  # side, fault, how many rows, the first of them

# Faults that hide others come first: mixed types before fractions, missing values before everything.
_ORDER = ("malformed", "missing", "unreadable", "mixed", "outside", "sum", "fractional")


def label_fault(batch: Batch, faults: list[Fault], *, decided: bool, labels: bool = True) -> InputError:
    """The error for the first fault.

    `decided` says that predictions were read as probabilities or margins, `labels` that they could be labels as well.
    """
    side, fault, count, row = min(faults, key=lambda f: (_ORDER.index(f[1]), f[0]))
    name = batch.names[side]
    rows, place = batch.places.rows_have(count), batch.places.row(row)
    if fault == "malformed":
        return malformed(f"`{name}`", place)
    numbers = decided and side == 1
    if fault == "missing":
        what = "be finite" if numbers else "have a label in every row"
        found = "NaN or infinity" if numbers else "none"
        return MissingValueError(
            f"`{name}` must {what}; {rows} {found}, the first at {place} ({_shown(batch, side, row)}). "
            'Pass missing="drop" to leave such rows out'
        )
    several = batch.prediction_columns > 1 and batch.truth_columns == 1
    if fault == "outside":
        advice = "normalize=True to divide each row by its sum, " if several else ""
        if labels and not several:
            advice = 'kind="label" if they are labels, '
        return DomainError(
            f"`y_pred` must hold probabilities in [0, 1]; {rows} values outside, the first at {place} "
            f'({_shown(batch, side, row)}). Pass {advice}kind="margin" if they are margins'
        )
    if fault == "sum":
        return DomainError(
            f"`y_pred` must hold probabilities that sum to 1 in every row; {rows} another sum, the first at {place} "
            f"({_shown(batch, side, row)}). Pass normalize=True to divide rows by their sum, unless it is 0, or "
            'kind="margin" for margins'
        )
    if fault == "fractional":
        return DomainError(
            f"`{name}` must hold labels, which are whole numbers or strings; {rows} a fraction, the first at {place} "
            f"({_shown(batch, side, row)})"
        )
    if fault == "mixed":
        return TypeOfDataError(
            f"`{name}` must hold numbers or strings, not both; it held {_shown(batch, side, 0)} in "
            f"{batch.places.row(0)} and {_shown(batch, side, row)} in {place}"
        )
    return TypeOfDataError(
        f"`{name}` must hold labels, which are numbers or strings; {place} is {describe(batch.item(side, row))}"
    )


def _shown(batch: Batch, side: int, row: int) -> str:
    item = batch.item(side, row)
    try:
        text = repr(item)
    except Exception:  # it is only to be shown
        return describe(item)
    return text if len(text) <= 60 else text[:57] + "..."
