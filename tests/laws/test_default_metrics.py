"""The law of default metrics: pieces report what the whole does, or ask for `kind=`."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm

COLUMNS = {
    "zeros and ones": st.integers(0, 1),
    "zeros and ones as floats": st.sampled_from([0.0, 1.0]),
    "signs": st.sampled_from([-1, 1]),
    "bools": st.booleans(),
    "few whole numbers": st.integers(0, 3),
    "many whole numbers": st.integers(0, 40),
    "strings": st.sampled_from(["ash", "beech", "cedar"]),
    "decimals": st.sampled_from([-0.5, 0.25, 1.0, 2.5]),
    "probabilities": st.sampled_from([0.0, 0.25, 0.5, 1.0]),
}


def outcome(call):
    """The values and what the columns were read as; the class of an error, which a tally raises for the first metric
    that cannot read the rows."""
    try:
        report = call()
    except tm.TallymarkError as error:
        return type(error), error.argument
    if report.failures:
        error = next(iter(report.failures.values()))
        return type(error), error.argument
    values = {key: report.cell(key)._value for key in report}
    return {key: "nan" if value != value else value for key, value in values.items()}, report.inferred_kind


@given(st.data(), st.sampled_from(sorted(COLUMNS)), st.sampled_from(sorted(COLUMNS)), st.integers(1, 60))
def test_pieces_report_what_the_whole_does_or_ask_for_a_kind(data, truth, prediction, n):
    """In one tally, and in a sum of tallies."""
    y = np.array(data.draw(st.lists(COLUMNS[truth], min_size=n, max_size=n)))
    p = np.array(data.draw(st.lists(COLUMNS[prediction], min_size=n, max_size=n)))
    cut = data.draw(st.integers(0, n))
    parts = [(y[:cut], p[:cut]), (y[cut:], p[cut:])]
    whole = outcome(lambda: tm.evaluate(y, p))
    for pieces in (
        outcome(lambda: tm.Tally().update(*parts[0]).update(*parts[1]).report()),
        outcome(lambda: (tm.Tally().update(*parts[0]) + tm.Tally().update(*parts[1])).report()),
    ):
        both_fail = isinstance(pieces[0], type) and isinstance(whole[0], type)
        assert pieces == whole or both_fail or pieces == (tm.ParameterError, "kind")
