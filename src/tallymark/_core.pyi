"""The native core: exact sums and counts over rows."""

from collections.abc import Sequence

import numpy
import numpy.typing

def encode_labels(
    source: object, fractions: bool, normal: object
) -> tuple[list[int | float | str], bytes] | list[tuple[int, str, int, int]]:
    """
    The labels of a column in order, and the place of each row's label among them (int64).

    A list of (side, fault, count, first row) if labels must be refused.
    """

def decide(column: object, decision: tuple[float, bool, bool, int, bool]) -> bytes | list[tuple[int, str, int, int]]:
    """
    Whether each row of a column of probabilities or margins reaches the threshold: a byte of 0 or 1 per row.

    A list of (side, fault, count, first row) if rows must be refused.
    """

def malformed_row(column: object) -> int | None:
    """
    The first row of an Arrow column that points outside of it, or -1; None for types that are not read here.
    """

def count_above(table: object, places: object) -> bytes:
    """
    How many columns of each row lie strictly above the one at its place (int64).
    """

class TextCodes:
    """
    Texts of Arrow columns as codes, in the order of their first appearance over all columns.
    """

    def __init__(self) -> None: ...
    def code(self, column: object) -> bytes:
        """The codes of one more column (int32; −1 where there is no text)."""

    def firsts(self) -> bytes:
        """
        The row, counted over all columns, in which each code appears first (int64).
        """

def are_plain(column: object) -> bool:
    """
    Whether all texts of an Arrow column are ASCII without blanks at their ends, and none is empty.
    """

def count_pairs(
    truth: object,
    prediction: object,
    weight: object | None,
    fractions: bool,
    decision: tuple[float, bool, bool, int, bool] | None,
    normal: object,
) -> (
    tuple[list[int | float | str], list[int | float | str], bytes, bytes, object, int]
    | list[tuple[int, str, int, int]]
    | None
):
    """
    Count the pairs of labels.

    Labels of both sides in order, rows and columns of the cells (int64), and counts
    (int64), or weights, their unit and whether each is whole; and the number of rows.

    A list of (side, fault, count, first row) if labels must be refused; None if a weight must.
    """

def class_counts(
    rows: object, columns: object, counts: object, row_class: object | None, column_class: object | None, classes: int
) -> tuple[list[int], list[int], list[int]]:
    """Sum cells by class: what is right, what is true, what was predicted."""

def set_threads(n: int) -> None:
    """Use at most n threads for one call."""

def set_own_threads(n: int) -> None:
    """
    Use at most n threads for one call from this thread; 0 for as many as any call may.
    """

def get_threads() -> int:
    """The most threads one call may use."""

def mutual_information(
    rows: numpy.typing.NDArray[numpy.int64],
    columns: numpy.typing.NDArray[numpy.int64],
    counts: numpy.typing.NDArray[numpy.float64],
    truth: numpy.typing.NDArray[numpy.float64],
    prediction: numpy.typing.NDArray[numpy.float64],
    total: float,
) -> float:
    """
    In nats, from the non-empty cells of the table of two partitions and the sizes of their clusters.
    """

def entropy(sizes: numpy.typing.NDArray[numpy.float64], total: float) -> float:
    """In nats, from the sizes of the clusters."""

def expected_mutual_information(
    truth: numpy.typing.NDArray[numpy.int64], prediction: numpy.typing.NDArray[numpy.int64], total: int
) -> float:
    """
    In nats, over all pairs of partitions of total rows with these cluster sizes.
    """

def silhouette(
    points: numpy.typing.NDArray[numpy.float64],
    codes: numpy.typing.NDArray[numpy.int64],
    weights: numpy.typing.NDArray[numpy.float64] | None,
    clusters: int,
) -> numpy.typing.NDArray[numpy.float64]:
    """
    The silhouette of every row of points. Weights stand for repeats of a row.
    """

def centroid_spread(
    points: numpy.typing.NDArray[numpy.float64],
    codes: numpy.typing.NDArray[numpy.int64],
    weights: numpy.typing.NDArray[numpy.float64] | None,
    clusters: int,
) -> tuple[
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
    int,
]:
    """
    Centroids and what rounding left out of them, the same of all rows, weights, totals of distances and of
    squared distances, exponent.

    The totals are per cluster, to its centroid. All lengths are in units of 2**exponent, and coordinates in
    which all rows agree are read as 0.
    """

def read_probabilities(
    table: object, places: object, margin: bool, normalize: bool, positive: int, wanted: list[int], out: object
) -> list[tuple[int, str, int, int]]:
    """
    Write what is wanted of every row of probabilities, one quantity per row of out (float64).

    A list of (side, fault, count, first row) if rows must be refused, else an empty one.
    """

def classes_present(places: object, count: int) -> list[bool] | None:
    """
    Which of the classes 0 to count - 1 occur (int64); None if there is any other number.
    """

def read_margins(margins: object, out: object) -> bool:
    """
    Write what the sigmoid makes of a column to the one row of out (float64); whether all margins are finite.
    """

def read_probability_columns(
    table: object, margin: bool, normalize: bool, out: object
) -> list[tuple[int, str, int, int]]:
    """
    Write every probability, one row of out (float64) per column: of margins by softmax, of others divided by their sum.

    A list of (side, fault, count, first row) if rows must be refused, else an empty one.
    """

def total_bins(
    truth: object, probability: object, weight: object | None, bins: int
) -> list[tuple[tuple[bytes, int], tuple[bytes, int], tuple[bytes, int]]]:
    """
    Per bin of equal width the exact totals of weight, probability and what happened, each as bytes and a shift.
    """

def read_table(table: object) -> tuple[bytes, float, float] | None:
    """
    Numbers as float64, row by row, with the lowest and the highest; None if one is not finite.
    """

class Rankings:
    """Rows brought together by query and sorted by score."""

    def __init__(
        self,
        relevance: numpy.typing.NDArray[numpy.float64],
        score: numpy.typing.NDArray[numpy.float64],
        codes: numpy.typing.NDArray[numpy.int64] | None,
        queries: int,
        weights: numpy.typing.NDArray[numpy.float64] | None,
        stable: bool,
    ) -> None:
        """
        Codes name the query of each row; without them all queries have as many rows. Weights are per query.
        """

    def total(self, measure: int, k: float, exponential: bool, strict: bool) -> tuple[bytes, int]:
        """
        The exact total of weight times measure over queries with a relevant row, as bytes and a shift.

        If strict, rows of equal scores are taken in their order; else the measure is the mean over all orders.
        """

    @property
    def counts(self) -> tuple[int, int, int]:
        """
        Queries with a relevant row, those without, and those of the former that have one row only.
        """

    @property
    def weights(self) -> tuple[tuple[bytes, int], tuple[bytes, int]]:
        """
        The exact weights of queries with and without a relevant row, where there are weights.
        """

    @property
    def highest(self) -> float:
        """The highest relevance."""

def rank_sums(
    negative: object, positive: object, steps: bool, trapezoids: bool, distance: bool
) -> tuple[int, int, int, int, float, float] | tuple[bool, bool, float, float, float, float]:
    """
    Counts of both classes and sums over them, or with weights whether there are any and the values.
    """

def stretch_sums(
    negative: tuple[
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64] | None,
        numpy.typing.NDArray[numpy.int64] | None,
    ],
    positive: tuple[
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64] | None,
        numpy.typing.NDArray[numpy.int64] | None,
    ],
    whole: tuple[int, int],
    above: tuple[int, int],
    steps: bool,
    trapezoids: bool,
    distance: bool,
) -> tuple[int, int, tuple[bytes, int], tuple[bytes, int]]:
    """
    Twice the wins, the largest distance and the exact areas of a stretch of the scores of two classes.

    `whole` and `above` count the negatives and positives of all scores, and of those above the stretch.
    """

def placement_sums(
    negative: tuple[
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64] | None,
        numpy.typing.NDArray[numpy.int64] | None,
    ],
    positive: tuple[
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64] | None,
        numpy.typing.NDArray[numpy.int64] | None,
    ],
    whole: tuple[int, int],
    above: tuple[int, int],
) -> tuple[int, int, int]:
    """
    Twice the wins of a stretch of scores, and the squares of twice the places of negatives and of positives.
    """

def class_sums(
    groups: list[
        tuple[
            numpy.typing.NDArray[numpy.float64],
            numpy.typing.NDArray[numpy.float64] | None,
            numpy.typing.NDArray[numpy.int64] | None,
        ]
    ],
    own: int,
) -> list[tuple[int, int, int] | tuple[bool, bool, float]]:
    """
    Per class the counts of both and twice the wins of one's own; with weights whether there are any, and the area.
    """

def score_steps(
    negative: object, positive: object
) -> tuple[
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64] | None,
    numpy.typing.NDArray[numpy.float64] | None,
]:
    """
    Distinct scores, the highest first; the weight of positives and negatives from there on up.

    With weights also what lies below; without, that is a difference of whole numbers.
    """

def curve_points(
    curve: str, negative: object, positive: object, drop: bool
) -> tuple[numpy.typing.NDArray[numpy.float64], ...]:
    """
    Thresholds, and the columns of a curve of runs without weights: roc, precision_recall, det or lift.

    With `drop`, points that the curve does not need are left out.
    """

def roc_and_sums(
    negative: object, positive: object, drop: bool, steps: bool
) -> tuple[tuple[numpy.typing.NDArray[numpy.float64], ...], tuple[int, int, int, int, float, float]]:
    """
    The points of the ROC curve, and from the same walk what rank_sums gives, without the trapezoids.
    """

class Tasks:
    """Terms to total over rows of truth, prediction and weight."""

    def __init__(self, tasks: Sequence[tuple[int, float, int, int]]) -> None:
        """Each task is (term, parameter, truth column, prediction column)."""

    def run(
        self, truth: object, prediction: object, weight: object | None, link: int
    ) -> list[tuple[bytes, int, int, int, int, float, float]] | None:
        """
        One (total, shift, above, below, undefined, lowest, highest) per task; None if an input must be refused.
        """

def poisson_counts(
    seed: int, replicate: int, keys: numpy.typing.NDArray[numpy.uint64]
) -> numpy.typing.NDArray[numpy.uint8]:
    """
    How often the rows with these keys count in a replicate of the bootstrap.
    """

def poisson_counts_of_places(seed: int, replicate: int, first: int, rows: int) -> numpy.typing.NDArray[numpy.uint8]:
    """The same where the key of a row is its place: first, first + 1, …"""

def resampled_areas(
    keys: numpy.typing.NDArray[numpy.uint64],
    steps: numpy.typing.NDArray[numpy.uint8],
    weights: numpy.typing.NDArray[numpy.float64] | None,
    seed: int,
    first: int,
    resamples: int,
) -> numpy.typing.NDArray[numpy.float64]:
    """
    The area under the ROC curve in every replicate, of rows in the order of their scores.
    """

def resampled_precision(
    keys: numpy.typing.NDArray[numpy.uint64],
    steps: numpy.typing.NDArray[numpy.uint8],
    weights: numpy.typing.NDArray[numpy.float64] | None,
    seed: int,
    first: int,
    resamples: int,
) -> numpy.typing.NDArray[numpy.float64]:
    """
    The area under the steps of precision by recall in every replicate, of rows from the highest score down.
    """

def resampled_cells(
    cells: numpy.typing.NDArray[numpy.int64],
    count: int,
    keys: numpy.typing.NDArray[numpy.uint64] | None,
    seed: int,
    first: int,
    resamples: int,
) -> numpy.typing.NDArray[numpy.int64]:
    """How many rows there are in every cell, in every replicate."""

def sort_scores(
    truth: object, scores: object, weight: object | None, normal: object
) -> (
    tuple[
        list[int | str],
        list[
            tuple[
                numpy.typing.NDArray[numpy.float64],
                numpy.typing.NDArray[numpy.float64] | None,
                numpy.typing.NDArray[numpy.int64] | None,
            ]
        ]
        | None,
        tuple[bytes, int] | None,
        int,
    ]
    | list[tuple[int, str, int, int]]
    | None
):
    """
    The labels in order, the runs of each, the exact total weight and the rows; no runs of more than two labels.

    Faults of the labels if rows must be refused; None if a score or a weight must.
    """

def bin_scores(
    truth: object, scores: object, most: int, normal: object
) -> tuple[list[int | str], int, bytes, list[bytes], int, bool] | list[tuple[int, str, int, int]] | None:
    """
    The labels in order, how many first bits of the scores are told apart, the bins, and the rows of each label.

    After them all rows, and whether all scores lie in [0, 1]. Faults of the labels if rows must be refused; None if
    a score must, or there are many labels.
    """

def sort_columns(
    places: object, classes: int, table: object, weight: object | None
) -> (
    tuple[
        list[
            list[
                tuple[
                    numpy.typing.NDArray[numpy.float64],
                    numpy.typing.NDArray[numpy.float64] | None,
                    numpy.typing.NDArray[numpy.int64] | None,
                ]
            ]
        ],
        tuple[bytes, int] | None,
    ]
    | None
):
    """
    For every column the runs of every class, and the exact total weight; None if a score or a weight must be refused.
    """

def merge_runs(
    left: object, right: object
) -> tuple[
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64] | None,
    numpy.typing.NDArray[numpy.int64] | None,
]:
    """The runs of both sets of rows."""
