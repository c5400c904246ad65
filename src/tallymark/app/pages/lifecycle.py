"""The page that confirms a step in the life of a challenge, with what it publishes or changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple

from tallymark.app.domain.challenges import is_over, is_revealed, state_once_published
from tallymark.app.domain.lifecycle import Audience
from tallymark.app.pages.formatting import page_time, pluralize
from tallymark.app.pages.shell import Link, Shell
from tallymark.app.store.models import Challenge, Version

_BUTTONS = {
    "publish": "Publish",
    "delete": "Delete draft",
    "close": "Close challenge",
    "reopen": "Reopen challenge",
    "reveal": "Reveal private part",
    "hide": "Hide private part",
}


class StepPage(NamedTuple):
    """`/organise/{slug}/steps/{step}` (step.html): what a step changes, and the button that takes it."""

    shell: Shell
    slug: str
    title: str
    heading: str
    """ "Close challenge?"."""
    button: str
    changes: Sequence[str]
    obstacle: str = ""
    """What must be changed before; without it the step can be taken."""


def step_links(challenge: Challenge, steps: Sequence[str]) -> list[Link]:
    """Links to the pages that confirm these steps."""
    return [Link(_BUTTONS[step], f"/organise/{challenge.slug}/steps/{step}") for step in steps]


def step_page(
    shell: Shell, challenge: Challenge, version: Version, step: str, audience: Audience, now: datetime, obstacle: str
) -> StepPage:
    """The page that confirms a step."""
    button = _BUTTONS[step]
    changes = _CHANGES[step](challenge, version, audience, now)
    return StepPage(shell, challenge.slug, challenge.title, f"{button}?", button, changes, obstacle)


def _publish(challenge: Challenge, version: Version, _: Audience, now: datetime) -> list[str]:
    soon = challenge.opens is not None and state_once_published(challenge, now) == "soon"
    opening = page_time(challenge.opens, now).text if soon and challenge.opens else ""
    end = "" if challenge.deadline is None else f" until {page_time(challenge.deadline, now).text}"
    accepted = f"from {opening}{end}" if soon else f"at once{end}"
    changes = [
        "Everybody sees the title, the summary, the rules and the metrics, and the sample file with all "
        f"{pluralize(version.rows, 'id')}. The answers stay hidden.",
        f"Submissions are accepted {accepted}.",
    ]
    if version.public is not None:
        when = "as soon as the challenge is over" if challenge.reveal == "closing" else "when you reveal them"
        changes.append(f"Private scores are shown {when}.")
    return [*changes, "A published challenge cannot become a draft again."]


def _delete(challenge: Challenge, *_: object) -> list[str]:
    return [
        f"“{challenge.title}” is deleted with its rules and settings, for all of its organisers.",
        "This cannot be undone.",
    ]


def _close(challenge: Challenge, version: Version, audience: Audience, _: datetime) -> list[str]:
    changes = [f"{pluralize(audience.teams, 'team')} can no longer submit files, also not late ones."]
    if version.public is not None:
        changes[0] += " Their final selection stays as it is."
    if version.public is not None and challenge.reveal == "closing":
        changes += _reveal(challenge, version, audience._replace(queued=0))
    elif version.public is not None:
        changes.append("The private part stays hidden until you reveal it.")
    return [*changes, *_queued(audience)]


def _reopen(challenge: Challenge, version: Version, audience: Audience, now: datetime) -> list[str]:
    end = "" if challenge.deadline is None else f" until {page_time(challenge.deadline, now).text}"
    changes = [f"{pluralize(audience.teams, 'team')} can submit files again{end}."]
    if version.public is not None and is_revealed(challenge, now):
        changes.append(
            "The private part is hidden again. Participants have seen private scores, so what they submit from now on "
            "may be chosen by them."
        )
    return changes


def _reveal(_: Challenge, version: Version, audience: Audience, *__: object) -> list[str]:
    private_rows = pluralize(version.rows - version.public_rows, "private row")
    return [
        f"{pluralize(audience.scored_teams, 'team')} will see their private scores.",
        f"The final ranking, on {private_rows}, becomes public.",
        *_queued(audience),
    ]


def _hide(_: Challenge, __: Version, audience: Audience, *___: object) -> list[str]:
    return [
        f"{pluralize(audience.scored_teams, 'team')} will no longer see their private scores, and the final ranking is "
        "hidden from everybody but the organisers.",
        "Whoever has seen or downloaded them keeps what they have.",
    ]


def _queued(audience: Audience) -> list[str]:
    if not audience.queued:
        return []
    verb = "is" if audience.queued == 1 else "are"
    return [f"{pluralize(audience.queued, 'submission')} {verb} still being scored and can change the ranking."]


_CHANGES: dict[str, Callable[[Challenge, Version, Audience, datetime], list[str]]] = {
    "publish": _publish,
    "delete": _delete,
    "close": _close,
    "reopen": _reopen,
    "reveal": _reveal,
    "hide": _hide,
}


def unrevealed_sentence(challenge: Challenge, version: Version, now: datetime) -> str:
    """That the private part is still hidden after the end; empty where it is not."""
    if version.public is None or not is_over(challenge, now) or is_revealed(challenge, now):
        return ""
    return "The challenge is over. The final ranking is shown here when its organisers reveal it."
