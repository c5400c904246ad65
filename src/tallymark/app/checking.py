"""What the check in the browser has to know: rules, columns and limits of a challenge, as JSON in its page."""

from __future__ import annotations

from collections.abc import Sequence

from tallymark.engines.files import BOUNDLESS, COMPRESSED, FOREIGN, PARQUET, separator_of
from tallymark.report import to_json
from tallymark.submissions.limits import Limits, check_limits
from tallymark.submissions.rules import RULES
from tallymark.submissions.tasks import class_names, column_names, task_of


def check_settings(
    *,
    id: str = "row_id",
    label: str = "label",
    task: str | None = None,
    classes: Sequence[str] | None = None,
    limits: Limits | None = None,
    separator: str | None = None,
) -> str:
    """The settings of the check as JSON that may stand inside of a `<script>`.

    `classes` are the names of the columns where each class has one of probabilities. The answers and their ids are not
    among the settings: what needs them is checked when a file has arrived.
    """
    names, what, most = column_names(id, label), task_of(task, None), check_limits(limits)
    data = {
        "rules": {code: {"says": rule.says, "mend": rule.mend} for code, rule in RULES.items()},
        "id": names.id,
        "label": names.label,
        "task": what,
        "classes": class_names(classes, names, what),
        "separator": None if separator is None else separator_of(separator),
        "limits": {name: getattr(most, name) for name in ("bytes", "rows", "columns", "field_length", "labels")},
        "forms": {
            "later": [magic.hex() for magic in (PARQUET, *COMPRESSED)],
            "foreign": {magic.hex(): told for magic, told in (BOUNDLESS | FOREIGN).items()},
        },
    }
    return to_json(data, indent=None).replace("<", "\\u003c")
