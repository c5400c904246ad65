"""What was wrong with labels or probabilities, in words: the core names the row, the batch knows what stood there."""

from __future__ import annotations

from tallymark.arrays import describe, malformed
from tallymark.batch import Batch
from tallymark.errors import Argument, DomainError, InputError, MissingValueError, Text, TypeOfDataError

Fault = tuple[int, str, int, int]  # side, fault, how many rows, the first of them

# Faults that hide others come first: mixed types before fractions, missing values before everything.
_ORDER = ("malformed", "missing", "unreadable", "mixed", "outside", "sum", "fractional")


def label_fault(batch: Batch, faults: list[Fault], *, decided: bool, labels: bool = True) -> InputError:
    """The error for the first fault.

    `decided` says that predictions were read as probabilities or margins, `labels` that they could be labels as well.
    """
    side, fault, count, row = min(faults, key=lambda f: (_ORDER.index(f[1]), f[0]))
    name = batch.names[side]
    if fault == "malformed":  # and not to be shown
        return malformed(Argument(name), batch.places.row(row))
    place, shown = batch.places.first_of(count, row), _shown(batch, side, row)
    if fault == "missing":
        return MissingValueError(
            argument=name,
            expected="be finite" if decided and side == 1 else "have a label in every row",
            got=shown,
            place=place,
            hint=Text('Pass {missing="drop"} to leave such rows out'),
        )
    several = batch.prediction_columns > 1 and batch.truth_columns == 1
    if fault == "outside":
        other = Text("")
        if several:
            other = Text("{normalize=True} to divide each row by its sum, ")
        elif labels:
            other = Text('{kind="label"} if they are labels, ')
        return DomainError(
            argument="y_pred",
            expected="hold probabilities in [0, 1]",
            got=shown,
            place=place,
            hint=Text('Pass {}{kind="margin"} if they are margins', other),
        )
    if fault == "sum":
        return DomainError(
            argument="y_pred",
            expected="hold probabilities that sum to 1 in every row",
            got=shown,
            place=place,
            hint=Text(
                'Pass {normalize=True} to divide rows by their sum, unless it is 0, or {kind="margin"} for margins'
            ),
        )
    if fault == "fractional":
        return DomainError(
            argument=name, expected="hold labels, which are whole numbers or strings", got=shown, place=place
        )
    if fault == "mixed":
        return TypeOfDataError(
            argument=name,
            expected="hold numbers or strings, not both",
            got=f"{_shown(batch, side, 0)} in {batch.places.row(0)} and {shown} in {batch.places.row(row)}",
        )
    return TypeOfDataError(
        argument=name,
        expected="hold labels, which are numbers or strings",
        got=describe(batch.item(side, row)),
        place=place,
    )


def _shown(batch: Batch, side: int, row: int) -> str:
    item = batch.item(side, row)
    try:
        text = repr(item)
    except Exception:  # it is only to be shown
        return describe(item)
    return text if len(text) <= 60 else text[:57] + "..."
