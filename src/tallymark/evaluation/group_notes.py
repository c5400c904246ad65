"""What to know about the values of groups: every note once, with the metrics and the groups that it belongs to."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from tallymark.evaluation.result import Cell, Report, why
from tallymark.lists import first_of
from tallymark.metrics.group_metric import show_group
from tallymark.report.notes import together
from tallymark.states import Group

_MOST = 6  # notes of a kind, in print

_KINDS: tuple[Callable[[Cell], Iterable[str]], ...] = (
    lambda cell: filter(None, [why(cell)]),
    lambda cell: cell.value_notes,
    lambda cell: cell.interval_notes,
)
Places = list[tuple[str, Group]]  # the key of a metric, and a group


def notes_of_groups(reports: Mapping[Group, Report], metrics: Sequence[str], shown: Collection[Group]) -> list[str]:
    """Why values are missing, then what to know about values, then about intervals; of many those that most of the
    values of the groups `shown` have.

    The kinds are cut one by one, as each group may have a note on its intervals that no other has, and those would hide
    what the values are made of.
    """
    cells = [((key, group), report.cell(key)) for key in metrics for group, report in reports.items()]
    found = [together((text, place) for place, cell in cells for text in texts(cell)) for texts in _KINDS]

    def seen(note: tuple[str, Places]) -> int:
        return sum(group in shown for _, group in note[1])

    ranked = [sorted(notes.items(), key=seen, reverse=True) for notes in found]
    lines = [f"{_belongs_to(places)}: {text}" for notes in ranked for text, places in notes[:_MOST]]
    more = sum(map(len, ranked)) - len(lines)
    if more:
        lines.append(f"{more:,} more note{'' if more == 1 else 's'}: see .slices.to_pandas() or the report as CSV")
    return lines


def _belongs_to(places: Places) -> str:
    """Metrics and their groups; metrics with the same groups together."""
    groups_of = together(places)
    same = together((tuple(groups), key) for key, groups in groups_of.items())
    parts = [f"{first_of(keys)} for {first_of(list(map(show_group, groups)))}" for groups, keys in same.items()]
    return first_of(parts, "; ")
