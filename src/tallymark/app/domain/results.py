"""What came of a submission, as its page and its report tell it: never more than its reader may know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tallymark.app.domain.challenges import is_over
from tallymark.app.domain.scoring import LEVEL
from tallymark.app.domain.versions import metrics_of, scoring_of
from tallymark.app.http.request_context import RequestContext
from tallymark.app.pages.commands import check_command, score_command
from tallymark.app.pages.formatting import card, format_interval, many, moment, show_value
from tallymark.app.pages.problems import stored_problems
from tallymark.app.pages.submissions import RankSummary as Place
from tallymark.app.pages.submissions import ResultPage
from tallymark.app.store.models import Challenge, LeaderboardEntry, StoredScore, Submission, Version
from tallymark.metrics.base import Metric
from tallymark.rendering.document import Card, Code, Document, Notes, Section
from tallymark.rendering.table import Table
from tallymark.submissions.document import class_percent
from tallymark.submissions.match import list_ids
from tallymark.submissions.parts import PRIVATE, PUBLIC

_MOST_TIED = 12
_REFRESH = 3


def page(session: Session, visit: RequestContext, held: Submission) -> ResultPage:
    """The page of a result."""
    scored = held.state == "scored"
    waits = scored and held.work == "intervals" and _sees(visit, held.challenge, "shows_intervals")
    return ResultPage(
        shell=visit.shell(held.file_name),
        key=held.key,
        slug=held.challenge.slug,
        challenge=held.challenge.title,
        team=held.team.name,
        file=held.file_name,
        sent=moment(held.created, visit.now),
        state="scoring" if held.state == "queued" and held.claimed_by is not None else held.state,
        sentence=_sentence(session, held),
        note=held.note,
        late=held.late,
        refresh=_REFRESH if held.state == "queued" or waits else None,
        cards=_cards(visit, held) if scored else (),
        pending="The intervals are being computed; they follow in a moment." if waits else "",
        counts=_counts(visit, held) if scored else (),
        standing=_standing(session, held) if scored else None,
        sections=_sections(visit, held) if scored else (),
        problems=stored_problems(held.facts) if held.state == "rejected" and held.facts else None,
        facts=_facts(held),
        has_report=scored,
    )


def document(session: Session, visit: RequestContext, held: Submission) -> Document:
    """The report of a result, as a file that needs nothing else."""
    counts = Table("", ("rows", "count"), [(name, count) for name, count in _counts(visit, held)], numbers=("count",))
    standing = _standing(session, held)
    place = [] if standing is None else [f"{standing.rank} of {standing.of}. {standing.sentence}"]
    sections = [
        *([Section("standing", "Where it stands", "", [Notes(place)])] if place else []),
        *([Section("rows", "Rows", "", [counts])] if counts.rows else []),
        *_sections(visit, held),
        Section("facts", "What it was scored with", "", [Table("", ("what", "which"), list(_facts(held)))]),
    ]
    sent = moment(held.created, visit.now).text
    line = f"{held.challenge.title} · {held.team.name} · sent {sent}"
    return Document(held.file_name, line, _cards(visit, held), sections)


def _sees(visit: RequestContext, challenge: Challenge, what: str) -> bool:
    """Whether somebody sees what participants may not, or may."""
    return visit.organises or bool(getattr(challenge, what))


def _sentence(session: Session, held: Submission) -> str:
    if held.state == "rejected":
        return "It could not be scored, and cost nothing. All that was found is below: mend it, and send it again."
    if held.state == "failed":
        return "Something went wrong on our side. It cost nothing; those who run the challenge can see it."
    if held.state == "scored":
        late = " It came after the deadline and is not ranked." if held.late else ""
        return f"Scored on {_rows_of(held)}.{late}"
    if held.claimed_by is not None:
        return "It is being scored now."
    before = (Submission.work == "score") & (Submission.created < held.created)
    ahead = session.scalar(select(func.count()).select_from(Submission).where(before)) or 0
    comes = "comes" if ahead == 1 else "come"
    return f"It waits; {many(ahead, 'submission')} {comes} before it." if ahead else "It is the next in the queue."


def _rows_of(held: Submission) -> str:
    version = held.version
    if version.public is None:
        return many(version.rows, "row")
    return f"the {many(version.public_rows, 'row')} of the public part"


def _scores(held: Submission, part: str) -> list[tuple[Metric, StoredScore]]:
    metrics = metrics_of(held.version)
    return [(metrics[each.name], each) for each in held.scores if each.part == part and each.name in metrics]


def _cards(visit: RequestContext, held: Submission) -> list[Card]:
    intervals = _sees(visit, held.challenge, "shows_intervals")
    return [card(item, score, intervals=intervals) for item, score in _scores(held, PUBLIC)]


def _counts(visit: RequestContext, held: Submission) -> list[tuple[str, str]]:
    facts = held.facts or {}
    names = [("compared", "compared"), ("missing", "missing"), ("extra", "extra")]
    if _sees(visit, held.challenge, "shows_counts"):
        words = ("right in public", "wrong or missing in public") if held.version.public else ("right", "wrong")
        names[1:1] = list(zip(("matches", "mismatches"), words, strict=True))
    return [(told, f"{facts[name]:,}") for name, told in names if facts.get(name) is not None]


def _standing(session: Session, held: Submission) -> Place | None:
    """The place of a submission that is the best of its team, and who cannot be told from it."""
    own = session.scalar(
        select(LeaderboardEntry).where(LeaderboardEntry.submission_id == held.id, LeaderboardEntry.part == PUBLIC)
    )
    if own is None:
        return _other_standing(session, held)
    total, rank, tied = place_of(session, own)
    told = [each for each in tied if each != held.team.name][:_MOST_TIED]
    sentence = (
        "The rows cannot tell it apart from the others of its group."
        if told
        else "No other entry is in its group."
        if own.group is not None
        else "Nothing tells whether it differs from those beside it."
    )
    return Place(rank, many(total, "entry"), sentence, told)


def _other_standing(session: Session, held: Submission) -> Place | None:
    other = session.scalar(
        select(LeaderboardEntry).where(
            LeaderboardEntry.team_id == held.team_id,
            LeaderboardEntry.part == PUBLIC,
            LeaderboardEntry.challenge_id == held.challenge_id,
        )
    )
    if other is None:
        return None
    total, rank, _ = place_of(session, other)
    return Place(rank, many(total, "entry"), "That is the place of your team, by another submission.")


def place_of(session: Session, own: LeaderboardEntry) -> tuple[int, str, Sequence[str]]:
    """How many entries there are, the places of a group, and its teams."""
    board = (LeaderboardEntry.challenge_id == own.challenge_id) & (LeaderboardEntry.part == own.part)
    total = session.scalar(select(func.count()).select_from(LeaderboardEntry).where(board)) or 0
    if own.group is None:
        return total, str(own.place), ()
    group = board & (LeaderboardEntry.group == own.group)
    first, last = session.execute(
        select(func.min(LeaderboardEntry.place), func.max(LeaderboardEntry.place)).where(group)
    ).one()
    near = select(LeaderboardEntry).where(group).order_by(LeaderboardEntry.place).limit(_MOST_TIED + 1)
    return total, ranks(first, last), [each.team.name for each in session.scalars(near)]


def ranks(first: int, last: int) -> str:
    """The places that a group shares."""
    return str(first) if first == last else f"{first}–{last}"


def _sections(visit: RequestContext, held: Submission) -> list[Section]:
    facts = held.facts or {}
    sections = []
    if facts.get("warnings"):
        sections.append(Section("warnings", "To look at twice", "", [Notes(facts["warnings"])]))
    if held.version.public is not None and (is_over(held.challenge, visit.now) or visit.organises):
        sections.append(Section("private", "On the private part", "", [_private(visit, held)]))
    if facts.get("classes") and _sees(visit, held.challenge, "shows_classes"):
        sections.append(Section("classes", "Classes", "", [_classes(facts["classes"])]))
    absent = _absent(facts)
    if absent:
        sections.append(Section("ids", "Ids in only one file", "", [Notes(absent)]))
    if facts.get("preview"):
        told = "The first rows as they were read."
        sections.append(Section("preview", "Preview", told, [_preview(facts["preview"])], folded=True))
    return [*sections, _reproduce(visit, held)]


def _private(visit: RequestContext, held: Submission) -> Table:
    scores = _scores(held, PRIVATE)
    if not _sees(visit, held.challenge, "shows_intervals"):
        plain = [(score.name, show_value(item, score.value)) for item, score in scores]
        return Table("", ("score", "value"), plain, numbers=("value",))
    rows = [(score.name, show_value(item, score.value), format_interval(item, score)) for item, score in scores]
    return Table("", ("score", "value", "95 % interval"), rows, numbers=("value",))


def _classes(classes: Sequence[Mapping[str, Any]]) -> Table:
    names = list(classes[0])
    rows = [tuple(_of_class(name, value) for name, value in each.items()) for each in classes]
    return Table("", ["F1" if name == "fscore" else name for name in names], rows, numbers=("F1", *names[1:]))


def _of_class(name: str, value: Any) -> Any:
    """A share in percent; the number of rows as it is."""
    if name == "support":
        return int(value)
    if isinstance(value, float):
        return class_percent(value)
    return "undefined" if value is None else value


def _absent(facts: Mapping[str, Any]) -> list[str]:
    return [
        f"{told}: {list_ids(facts[f'{name}_ids'], facts[name])}"
        for name, told in (("missing", "missing from the file"), ("extra", "not asked for"))
        if facts.get(name)
    ]


def _preview(rows: Sequence[Mapping[str, Any]]) -> Table:
    return Table("", tuple(rows[0]), [tuple(each.values()) for each in rows])


def _reproduce(visit: RequestContext, held: Submission) -> Section:
    told = scoring_of(held.version).told()
    codes = [Code("Check a file before it is sent", check_command(held.file_name, "sample.csv", **told))]
    command = score_command(
        "ANSWERS", held.file_name, mode="challenge", **told, ci=LEVEL, resamples=visit.settings.resamples
    )
    of = "" if held.version.public is None else ", whose rows are those of one part"
    codes.append(Code(f"Score it, with the answers{of}", command))
    return Section("reproduce", "How to reproduce", "The same file gives the same number to the last bit.", codes)


def _facts(held: Submission) -> list[tuple[str, str]]:
    version: Version = held.version
    return [
        ("answers and metrics", f"version {version.number}"),
        ("rows of the answers", f"{version.rows:,}"),
        ("file", f"sha256 {held.file}"),
        ("software", version.software),
    ]
