"""Input that is out to break the reading of labels: clear errors, and never a crash or a wrong number."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import tallymark as tm


def hostile(error, *, before=lambda: None):
    class Hostile(int):
        def fail(self, *args):
            before()
            raise error

        __int__ = __index__ = __float__ = __trunc__ = __floor__ = __hash__ = __eq__ = __repr__ = __str__ = fail
        __bool__ = __lt__ = __reduce__ = fail

    return Hostile(3)


@pytest.mark.parametrize("error", [RuntimeError("no"), KeyError("no"), OverflowError("no"), StopIteration(), OSError()])
def test_an_error_in_the_code_of_a_label_becomes_ours(error):
    """As truth, prediction, weights, class and cluster: an error of ours, whatever theirs was."""
    bad = hostile(error)
    array = np.empty(2, dtype=object)
    array[:] = [1, bad]
    for call in (
        lambda: tm.accuracy([1, bad], [1, 2]),
        lambda: tm.accuracy([1, 2], (1, bad)),
        lambda: tm.accuracy(array, [1, 2]),
        lambda: tm.accuracy([1, bad], [1, 2], missing="drop"),
        lambda: tm.accuracy([1, 2], [1, 2], weights=[1, bad]),
        lambda: tm.recall([1, 2], [1, 2], positive=bad),
        lambda: tm.recall([1, 2], [1, 2], classes=[1, bad]),
        lambda: tm.adjusted_rand([1, bad], [1, 2]),
        lambda: tm.silhouette([[1.0], [2.0], [3.0]], [1, bad, 2]),
        lambda: tm.evaluate([1, bad], [1, 2]),
        lambda: tm.accuracy([bad], [[0.5, 0.5]]),
        lambda: tm.rmse([1, bad], [1, 2]),
        lambda: tm.auc([1, bad], [0.1, 0.2]),
        lambda: tm.auc(array, [0.1, 0.2], bounded=4),
        lambda: tm.auc([1, 0], [0.1, 0.2], weights=[1, bad]),
        lambda: tm.average_precision([1, bad, 2], np.eye(3)),
    ):
        with pytest.raises(tm.TallymarkError):
            call()


def test_objects_that_cannot_be_shown():
    """The message does without."""

    class Shy:
        def __repr__(self):
            raise RuntimeError("no")

    for call in (
        lambda: tm.accuracy([Shy(), 1], [1, 2]),
        lambda: tm.accuracy(Shy(), [1, 2]),
        lambda: tm.recall([1], [1], positive=Shy()),
    ):
        with pytest.raises(tm.TallymarkError, match="of type Shy"):
            call()


def test_a_list_that_changes_while_it_is_read():
    """It shrinks, grows or is filled with something else; what is gone is missing."""
    for change in ("clear", "grow", "replace"):
        items = [1, 2]

        class Changing(int):
            def __int__(self, items=items, change=change):
                if change == "clear":
                    items.clear()
                elif change == "grow":
                    items.extend(range(100_000))
                else:
                    items[:] = ["x"] * len(items)
                return 5

            __index__ = __int__

        items += [Changing(7), 3, 4] * 2
        other = list(range(8))
        try:
            assert tm.accuracy(items, other) >= 0.0
        except tm.TallymarkError:
            assert change != "grow"
        items[:] = [1, 2, Changing(7), 3]
        try:
            tm.accuracy(other[:4], items)
        except tm.TallymarkError:
            assert change != "grow"


def test_an_object_array_that_changes_while_it_is_read():
    """Its items are held while they are read."""
    array = np.empty(1000, dtype=object)

    class Changing(int):
        def __int__(self):
            array[:] = None
            return 1

        __index__ = __int__

    array[:] = [Changing(k) for k in range(1000)]
    with pytest.raises(tm.MissingValueError, match="999 rows"):
        tm.accuracy(array, range(1000))
    array[:] = [Changing(k) for k in range(1000)]
    with pytest.raises(tm.MissingValueError, match="999 rows"):
        tm.auc(array, np.arange(1000.0))


def test_containers_that_misreport_their_length_are_refused():
    """Sequences, lists, tuples and Arrow columns that say they have more rows, or fewer."""

    def lying(base, n):
        return type("Lying", (base,), {"__len__": lambda self: n})

    class Sequence:
        def __init__(self, items, n):
            self.items, self.n = items, n

        def __len__(self):
            return self.n

        def __getitem__(self, k):
            return self.items[k]

    for n in (1, 5000):
        for base in (list, tuple):
            assert tm.evaluate(lying(base, n)([1, 2]), lying(base, n)([1, 2]), ["accuracy"]).n == 2
        for make in (lambda v, n=n: Sequence(v, n), lambda v, n=n: Arrow(pa.chunked_array([list(map(str, v))]), n)):
            for call in (
                lambda m=make: tm.accuracy(m([1, 2]), m([1, 2])),
                lambda m=make, n=n: tm.accuracy(m([1, 2]), ["1"] * n),
                lambda m=make, n=n: tm.accuracy(m([1, 2]), m([1, 2]), weights=[1.0] * n),
                lambda m=make, n=n: tm.accuracy(m([1, 2]), m([1, 2]), missing="drop"),
                lambda m=make, n=n: tm.silhouette([[float(k)] for k in range(n)], m([1, 2])),
                lambda m=make, n=n: tm.auc(m([1, 2]), [0.5] * n),
                lambda m=make, n=n: tm.auc(m([1, 2]), [0.5] * n, weights=[1.0] * n, bounded=4),
                lambda m=make, n=n: tm.auc(m([1, 2]), np.ones((n, 3)), classes=[1, 2, 3]),
            ):
                with pytest.raises(tm.TallymarkError):
                    call()
    with pytest.raises(tm.TypeOfDataError):
        tm.accuracy(lying(Sequence, -1)([1], 1), [1])


class Arrow:
    """Something that says it is an Arrow column of strings."""

    type = "string"

    def __init__(self, column, rows=2):
        self.column, self.rows = column, rows

    def __len__(self):
        return self.rows

    def __arrow_c_stream__(self, requested_schema=None):
        return self.column() if callable(self.column) else self.column.__arrow_c_stream__()


class ArrowArray(Arrow):
    """The same by the interface for arrays."""

    __arrow_c_stream__ = property()

    def __arrow_c_array__(self, requested_schema=None):
        return self.column() if callable(self.column) else self.column.__arrow_c_array__()


def test_arrow_capsules_that_are_bad():
    """The wrong name, no capsule at all, one that was read before, and one that cannot be made."""

    def fail():
        raise RuntimeError("no")

    array, chunked = pa.array(["a", "b"]), pa.chunked_array([["a", "b"]])
    used = chunked.__arrow_c_stream__()
    assert pa.chunked_array(Arrow(lambda: used)).to_pylist() == ["a", "b"]
    used_array = array.__arrow_c_array__()
    assert pa.array(ArrowArray(lambda: used_array)).to_pylist() == ["a", "b"]
    assert tm.accuracy(Arrow(chunked), ["a", "b"]) == 1.0
    for make, columns in (
        (Arrow, [fail, lambda: None, lambda: 3, lambda: array.__arrow_c_array__()[0], lambda: used]),
        (ArrowArray, [fail, lambda: None, lambda: (1, 2), lambda: (), lambda: used_array]),
    ):
        for column in columns:
            with pytest.raises(tm.TypeOfDataError):
                tm.accuracy(make(column), ["a", "b"])
            with pytest.raises(tm.TallymarkError):
                tm.accuracy(["a", "b"], make(column), missing="drop")
    once = array.__arrow_c_array__()
    for attempt in range(2):
        if attempt == 0:
            assert tm.accuracy(ArrowOnly(lambda: once), ["a", "b"]) == 1.0
            continue
        with pytest.raises(tm.TypeOfDataError, match="read before"):
            tm.accuracy(ArrowOnly(lambda: once), ["a", "b"])
    for column in (
        pa.chunked_array([[["a"], ["b"]]]),
        pa.table({"a": ["a", "b"], "b": ["a", "b"]}),
        pa.chunked_array([[1.5, 2]]),
    ):
        with pytest.raises(tm.TallymarkError):
            tm.accuracy(Arrow(column), ["a", "b"])
    with pytest.raises(tm.MissingValueError, match="row 1"):
        tm.accuracy(Arrow(pa.chunked_array([["a", None]])), ["a", "b"])
    assert tm.accuracy(Arrow(pa.table({"x": ["a", "b"]})), ["a", "b"]) == 1.0


class ArrowOnly:
    """Something that has the interface for arrays and no other."""

    type = "string"

    def __init__(self, column):
        self.column = column

    def __len__(self):
        return 2

    def __arrow_c_array__(self, requested_schema=None):
        return self.column()


@pytest.mark.slow
def test_as_many_categories_as_rows_are_read_in_any_order():
    """As many as rows, on both sides, in any order of the categories."""
    n = 100_000
    names = [f"c{k}" for k in range(n)]
    y = pd.Series(pd.Categorical(names, categories=names[::-1]))
    assert tm.accuracy(y, names) == 1.0
    assert tm.adjusted_rand(y, y) == 1.0
    assert (
        tm.davies_bouldin(
            np.arange(float(n))[:, None] // 10, pd.Categorical.from_codes(np.arange(n) // 1000, names[::-1])
        )
        > 0
    )
    assert tm.accuracy(pa.array(names).dictionary_encode(), y) == 1.0
