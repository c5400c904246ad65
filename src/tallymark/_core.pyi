"""The native core: exact sums and counts over rows."""

from collections.abc import Sequence

def count_pairs(
    truth: object,
    prediction: object,
    weight: object | None,
    fractions: bool,
    decision: tuple[float, bool, bool, int] | None,
    normal: object,
) -> tuple[list[Any], list[Any], bytes, bytes, Any] | list[tuple[int, str, int, int]] | None:
    """
    Count the pairs of labels: labels of both sides in order, rows and columns of the cells (int64), and counts (int64), or weights and their unit. A list of (side, fault, count, first row) if labels must be refused; None if a weight must.
    """

def encode_labels(
    source: object, fractions: bool, normal: object
) -> tuple[list[Any], bytes] | list[tuple[int, str, int, int]]:
    """
    The labels of a column in order, and the place of each row's label among them (int64). A list of (side, fault, count, first row) if labels must be refused.
    """

def decide(column: object, decision: tuple[float, bool, bool, int]) -> bytes | list[tuple[int, str, int, int]]:
    """
    Whether each row of a column of probabilities or margins reaches the threshold: a byte of 0 or 1 per row. A list of (side, fault, count, first row) if rows must be refused.
    """

def class_counts(
    rows: object, columns: object, counts: object, row_class: object, column_class: object, classes: int
) -> tuple[list[int], list[int], list[int]]:
    """Sum cells by class: what is right, what is true, what was predicted."""

def set_threads(n: int) -> None:
    """Use at most n threads for one call."""

def get_threads() -> int:
    """The most threads one call may use."""

class Tasks:
    """Terms to total over rows of truth, prediction and weight."""

    def __init__(self, tasks: Sequence[tuple[int, float, int, int]]) -> None:
        """Each task is (term, parameter, truth column, prediction column)."""

    def run(
        self, truth: object, prediction: object, weight: object | None, exponentiate: bool
    ) -> list[tuple[bytes, int, int, int, int, float, float]] | None:
        """
        One (total, shift, above, below, undefined, lowest, highest) per task; None if an input must be refused.
        """
