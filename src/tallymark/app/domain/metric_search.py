"""Metrics for a challenge: searched by any name that people use, and with parameters from the fields of a form."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from tallymark.data.arguments import split_list
from tallymark.errors import TallymarkError
from tallymark.metrics import registry
from tallymark.metrics.base import Metric
from tallymark.metrics.names_elsewhere import names_elsewhere
from tallymark.metrics.naming import fold, known_metric, metric
from tallymark.metrics.parameters import show
from tallymark.submissions.disclosure import scores_only
from tallymark.submissions.score import score_submission

_IDS = range(8)
_NUMBERS = [f"{k + 1}.5" for k in _IDS]
_SHARES = [f"0.{k + 1}" for k in _IDS]
_LABELS = ["ab"[k % 2] for k in _IDS]
_COLUMNS = ["0.6,0.3,0.1", "0.2,0.5,0.3"]
# Small answers and submissions of each task, by which metrics are tried: header, rows, and arguments.
_TRIALS: dict[str, list[tuple[str, Sequence[str], str, Sequence[str], dict[str, object]]]] = {
    "labels": [("label", _LABELS, "label", _LABELS, {"positive": "b"})],
    "numbers": [("label", _NUMBERS, "label", _NUMBERS[::-1], {})],
    "probabilities": [
        ("label", _LABELS, "label", _SHARES, {"positive": "b"}),
        ("label", ["abc"[k % 3] for k in _IDS], "a,b,c", [_COLUMNS[k % 2] for k in _IDS], {"classes": ["a", "b", "c"]}),
    ],
    "ranking": [("label,query", [f"{k % 3},{k // 4}" for k in _IDS], "label", _SHARES, {})],
}


class ParameterField(NamedTuple):
    """A parameter of a metric: its value as text, and the texts to choose from where it is one of a few."""

    key: str
    value: str
    options: Sequence[str]


def search_metrics(query: str, task: str) -> list[Metric]:
    """The metrics of a task that a query names here or in another library, best match first; all for an empty one.

    >>> [str(each) for each in search_metrics("F1Score", "labels")][:1]
    ['fscore']
    """
    usable, wanted = _usable(task), fold(query.strip())
    if not wanted:
        return [metric(name) for name in sorted(usable, key=lambda name: fold(metric(name).display_name))]
    found: dict[str, tuple[int, str]] = {}
    exact = known_metric(query.strip())
    if exact is not None:
        found[str(exact)] = (0, "")
    for name, text in _index():
        place = 1 if name == wanted else 2 if name.startswith(wanted) else 3 if wanted in name else 0
        if place and (place, name) < found.get(text, (9, "")):
            found[text] = (place, name)
    for name in usable:
        if name not in found and wanted in fold(metric(name).description):
            found[name] = (4, name)
    best_first = sorted(found, key=lambda text: (*found[text], text))
    return [each for each in map(metric, best_first) if each.name in usable]


def other_names(item: Metric) -> list[str]:
    """What other libraries call a metric, each name once."""
    return list(dict.fromkeys(row.name for row in names_elsewhere() if row.here == str(item)))


@lru_cache(maxsize=1)
def _index() -> list[tuple[str, str]]:
    """Folded names with the metrics that they stand for, as strings."""
    pairs = [(name, name) for name in (*registry.classes, *registry.aliases)]
    pairs += [(cls.display, name) for name, cls in registry.classes.items() if cls.display]
    pairs += [(row.name, row.here) for row in names_elsewhere() if row.here]
    return [(fold(name), str(found)) for name, text in pairs if (found := known_metric(text)) is not None]


@cache
def _usable(task: str) -> frozenset[str]:
    """The names of the metrics that score a submission of a task by one number, as a trial of each shows."""
    return frozenset(
        each.name
        for each in registry.instances()
        if any(_scores(each, task, *trial) for trial in _TRIALS.get(task, ()))
    )


def _scores(
    item: Metric,
    task: str,
    header: str,
    rows: Sequence[str],
    submitted_header: str,
    submitted: Sequence[str],
    arguments: Mapping[str, object],
) -> bool:
    answers, submission = _csv(header, rows), _csv(submitted_header, submitted)
    try:
        result = score_submission(answers, submission, task=task, metrics=[item], mode="challenge", **arguments)  # type: ignore[arg-type]
        if not result.report.failures:
            scores_only(result.report)
            return all(isinstance(value, float) for value in result.scores.values())
    except TallymarkError:
        pass
    return False


def _csv(header: str, rows: Sequence[str]) -> io.BytesIO:
    return io.BytesIO("".join([f"row_id,{header}\n", *(f"{k},{row}\n" for k, row in enumerate(rows))]).encode())


def parameter_fields(item: Metric) -> list[ParameterField]:
    """The parameters of a metric that a form can set; not `undefined`, since undefined values are not ranked."""
    fields = []
    for key, parameter in type(item)._parameters.items():
        if key != "undefined" and item.name in registry.classes:
            fields.append(ParameterField(key, show(getattr(item, key)), [show(each) for each in parameter.options]))
    return fields


def with_parameters(text: str, given: Mapping[str, str]) -> str:
    """A metric with parameters from fields, as a string; an empty field stands for the default.

    >>> with_parameters("fscore", {"beta": "2", "average": "macro"})
    'fscore(beta=2, average=macro)'
    """
    item = metric(text)
    changed = {}
    for field in parameter_fields(item):
        written = given.get(field.key, field.value).strip()
        if not written:
            changed[field.key] = type(item)._parameters[field.key].default
        elif written != field.value:
            changed[field.key] = getattr(metric(f"{item.name}({field.key}={written})"), field.key)
    return str(item.replace(**changed)) if changed else text


def split_metrics(text: str) -> list[str]:
    """The metrics of a comma-separated text."""
    return split_list([text.replace("\n", ",")])
