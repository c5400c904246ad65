"""What is wrong with a header and with entries, whatever they were read from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from tallymark.sources.arrow import load
from tallymark.sources.files import likely_separator
from tallymark.submissions.entries import Check, Entries
from tallymark.submissions.limits import Limits
from tallymark.submissions.problems import SubmissionProblems


def validate_header(
    names: Sequence[str],
    wanted: Mapping[str, str],
    limits: Limits,
    form: str,
    *,
    cut: bool = False,
    separator: str = "",
) -> SubmissionProblems:
    """What is wrong with the names of the columns, of which there may be more where they were `cut`."""
    found, line = SubmissionProblems(), 1 if form == "CSV" else None
    if limits.columns is not None and len(names) > limits.columns:
        found.note("too_many_columns", line, count=f"{len(names):,}{' or more' * cut}", most=f"{limits.columns:,}")
    shown = ", ".join(repr(name[:40]) for name in names[:20]) + (", …" if len(names) > 20 else "") or "none"
    likely = likely_separator(names, separator) if form == "CSV" else None
    if likely is not None:
        shown += f"; if {likely} separates its fields, set it as the separator"
    times = Counter(names)
    for name in wanted:
        count = times[name]
        if count == 0:
            found.note("missing_column", line, column=repr(name), found=shown)
        elif count > 1:
            found.note("repeated_column", line, column=repr(name), count=count)
    return found


def validate_entries(entries: Entries, check: Check, limits: Limits) -> SubmissionProblems:
    """What is wrong with entries: their number, the length of their texts, and what `check` finds."""
    found = SubmissionProblems()
    if not entries.rows:
        found.note("empty_file", form=entries.form)
        return found
    if limits.field_length is not None:
        compute = load("pyarrow.compute")
        for name, values in entries.columns.items():
            if isinstance(values, np.ndarray):
                continue
            if (compute.max(compute.binary_length(values)).as_py() or 0) <= limits.field_length:
                continue
            long = compute.utf8_length(values)
            longest = compute.max(long).as_py()
            if longest > limits.field_length:
                row = compute.index(compute.greater(long, limits.field_length), True).as_py()
                place = entries.place(row, name)
                facts = {"count": f"{longest:,}", "most": f"{limits.field_length:,}"}
                found.note("field_too_long", place.line, place.column, **facts)
    return found.join(check(entries))
