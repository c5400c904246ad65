"""The part of a form in which metrics are searched, chosen, ordered and given their parameters.

Each of its buttons sends the form, and the page comes back with the change. The form sends `metric` for each chosen
one, in order, and its parameters as `metric_0_beta`. `pick` says which button was pressed: "search", "add:fscore",
"remove:0", "up:1", or "enter" for the key, which searches if the query in `metric_search` is not the one of
`metric_searched`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tallymark.app.domain.errors import FormWording
from tallymark.app.domain.metric_search import (
    ParameterField,
    other_names,
    parameter_fields,
    search_metrics,
    split_metrics,
    with_parameters,
)
from tallymark.app.pages.formatting import direction_arrow, direction_text, pluralize
from tallymark.errors import TallymarkError
from tallymark.metrics.base import Metric
from tallymark.metrics.naming import known_metric

_MOST_HITS = 12
_MOST_CHOSEN = 20


class ChosenMetric(NamedTuple):
    """A chosen metric with the fields of its parameters; `text` is the string that is stored."""

    text: str
    name: str
    arrow: str
    direction: str
    fields: Sequence[ParameterField]


class FoundMetric(NamedTuple):
    """A metric that a search has found."""

    text: str
    name: str
    arrow: str
    direction: str
    sentence: str
    elsewhere: str
    """ "f1_score, F1Score"."""


class MetricPicker(NamedTuple):
    """The chosen metrics, and the results of a search."""

    chosen: Sequence[ChosenMetric] = ()
    query: str = ""
    searched: bool = False
    found: Sequence[FoundMetric] = ()
    summary: str = ""
    """ "3 metrics", or what to do where there are none."""


def picked_values(values: Mapping[str, str], lists: Mapping[str, Sequence[str]]) -> tuple[dict[str, str], str]:
    """The fields of a form with its metrics as one text in `metrics`, and what is wrong with one of them.

    A form without a picker has the text already.
    """
    chosen, error = [], ""
    for place, text in enumerate(lists.get("metric", ())[:_MOST_CHOSEN]):
        prefix = f"metric_{place}_"
        given = {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}
        try:
            chosen.append(with_parameters(text, given))
        except TallymarkError as wrong:
            chosen.append(text)
            error = error or wrong.write(FormWording())
    found = dict(values)
    if chosen or "picker" in values:
        chosen = _changed(chosen, values.get("pick", ""))
        found["metrics"] = ", ".join(dict.fromkeys(chosen))
    return found, error


def asks_for_picker(values: Mapping[str, str]) -> bool:
    """Whether a form changes its metrics or searches, and is not saved."""
    pick, query = values.get("pick", ""), values.get("metric_search", "").strip()
    return pick not in ("", "enter") or (pick == "enter" and query not in ("", values.get("metric_searched", "")))


def _changed(chosen: list[str], pick: str) -> list[str]:
    action, _, operand = pick.partition(":")
    if action == "add" and len(operand) <= 200:
        return [*chosen, operand]
    place = int(operand) if operand.isascii() and operand.isdigit() and len(operand) < 4 else -1
    if 0 <= place < len(chosen):
        if action == "remove":
            del chosen[place]
        if action == "up" and place:
            chosen[place - 1 : place + 1] = chosen[place], chosen[place - 1]
    return chosen


def metric_picker(values: Mapping[str, str]) -> MetricPicker:
    """The picker of a form with these fields."""
    query = values.get("metric_search", "").strip()[:100]
    searched = asks_for_picker(values) and values.get("pick") in ("search", "enter")
    found = search_metrics(query, values.get("task") or "labels") if searched else []
    more = f" The first {_MOST_HITS} are shown." if len(found) > _MOST_HITS else ""
    summary = f"{pluralize(len(found), 'metric')} found.{more}"
    if searched and not found:
        summary = f"No metric of this task is called “{query}”. Clear the search to list all of them."
    return MetricPicker(
        [_chosen(text) for text in split_metrics(values.get("metrics", ""))],
        query,
        searched,
        [_found(each) for each in (found if not query else found[:_MOST_HITS])],
        summary if query or not found else f"{pluralize(len(found), 'metric')} of this task.",
    )


def _chosen(text: str) -> ChosenMetric:
    item = known_metric(text)
    if item is None:
        return ChosenMetric(text, text, "", "unknown metric", ())
    return ChosenMetric(text, item.display_name, direction_arrow(item), direction_text(item), parameter_fields(item))


def _found(item: Metric) -> FoundMetric:
    names = ", ".join(other_names(item)[:4])
    arrow, direction = direction_arrow(item), direction_text(item)
    return FoundMetric(str(item), item.display_name, arrow, direction, item.description, names)
