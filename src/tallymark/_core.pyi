"""The native core: exact sums over rows."""

from collections.abc import Sequence

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
