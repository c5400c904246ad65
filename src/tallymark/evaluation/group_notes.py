"""What to know about the values of groups: every note once, with the metrics and the groups that it belongs to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from tallymark.evaluation.result import Cell, Report, why
from tallymark.metrics.group_metric import show_group
from tallymark.states import Group

_MOST = 6  # notes of a kind, in print
_MOST_NAMES = 5  # of groups or metrics in a row

Places = dict[str, list[Group]]  # the groups by the key of a metric


def notes_of_groups(reports: Mapping[Group, Report], metrics: Sequence[str], shown: Collection[Group]) -> list[str]:
    """Why values are missing, then what to know about values, then about intervals; of many those that most of the
    values of the groups `shown` have.

    The kinds are cut one by one, as each group may have a note on its intervals that no other has, and those would hide
    what the values are made of.
    """
    found: tuple[dict[str, Places], ...] = ({}, {}, {})
    for key in metrics:
        for group, report in reports.items():
            for notes, texts in zip(found, _texts(report.cell(key)), strict=True):
                for text in dict.fromkeys(texts):
                    notes.setdefault(text, {}).setdefault(key, []).append(group)

    def seen(note: tuple[str, Places]) -> int:
        return sum(group in shown for groups in note[1].values() for group in groups)

    ranked = [sorted(notes.items(), key=seen, reverse=True) for notes in found]
    lines = [f"{_belongs_to(places)}: {text}" for notes in ranked for text, places in notes[:_MOST]]
    more = sum(map(len, ranked)) - len(lines)
    if more:
        lines.append(f"{more:,} more note{'' if more == 1 else 's'}: see .slices.to_pandas() or the report as CSV")
    return lines


def first_of(names: Sequence[str], joint: str = ", ") -> str:
    """The first names, and how many more there are."""
    more = len(names) - _MOST_NAMES
    return joint.join([*names[:_MOST_NAMES], *([f"and {more:,} more"] if more > 0 else [])])


def _texts(cell: Cell) -> tuple[Iterable[str], ...]:
    reason = why(cell)
    return (() if reason is None else (reason,), cell.value_notes, cell.interval_notes)


def _belongs_to(places: Places) -> str:
    """Metrics and their groups; metrics with the same groups together."""
    together: dict[tuple[Group, ...], list[str]] = {}
    for key, groups in places.items():
        together.setdefault(tuple(groups), []).append(key)
    parts = [f"{first_of(keys)} for {first_of(list(map(show_group, groups)))}" for groups, keys in together.items()]
    return first_of(parts, "; ")
