"""The front page, and the page that scores two files of one's own and keeps nothing."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy import select

from tallymark.app.domain.challenges import state_of
from tallymark.app.http.errors import Labels
from tallymark.app.http.request_context import RequestContext, Visiting, answer_form
from tallymark.app.http.uploads import Sent
from tallymark.app.pages.challenges import AnalysePage, FrontPage
from tallymark.app.pages.commands import score_command
from tallymark.app.pages.formatting import TASKS
from tallymark.app.pages.problems import problem_list
from tallymark.app.pages.shell import ProblemSection, SelectOption
from tallymark.app.routes.challenges import tiles
from tallymark.app.store.models import Challenge
from tallymark.data.arguments import split_list
from tallymark.errors import Rejection, TallymarkError
from tallymark.rendering.page import to_page
from tallymark.submissions.document import submission_document
from tallymark.submissions.result import SubmissionResult
from tallymark.submissions.score import score_submission
from tallymark.submissions.settings import Limits

router = APIRouter()
_TASKS = [SelectOption("", "What the metrics read, else labels"), *(SelectOption(*each) for each in TASKS.items())]


@router.get("/")
def front(visit: Visiting) -> Response:
    """What this is."""
    visit.may("see challenges")
    with visit.service.database.reading() as session:
        every = session.scalars(select(Challenge).order_by(Challenge.created.desc())).all()
        open_now = [each for each in every if state_of(each, visit.now) == "open"]
        view = FrontPage(visit.shell("Scores you can trust"), tiles(session, visit, open_now[:6]), visit.upload_limit)
    return visit.page("front.html", view)


@router.get("/analyse")
def form(visit: Visiting) -> Response:
    """The empty form."""
    visit.may("analyse a file")
    return visit.page("analyse.html", AnalysePage(visit.shell("Score two files"), _TASKS, visit.upload_limit))


@router.post("/analyse")
async def analyse(request: Request, visit: Visiting) -> Response:
    """Score two files, and forget them."""
    visit.may("analyse a file")
    return await answer_form(request, visit, _analyse, files=2)


def _analyse(visit: RequestContext, sent: Sent) -> Response:
    lacking = {name: "Choose a file." for name in ("answers", "submission") if name not in sent.files}
    if lacking:
        return _answer(visit, sent.texts, errors=lacking, status=422)
    try:
        with visit.service.scoring:
            result = _score(visit, sent)
    except Rejection as error:
        return _answer(visit, sent.texts, problems=problem_list(error), status=422)
    except TallymarkError as error:
        return _answer(visit, sent.texts, errors={"": error.write(Labels())}, status=422)
    told = _told(sent.texts)
    names = [sent.files[name].filename or name for name in ("answers", "submission")]
    document = submission_document(result, None, score_command(*names, **told))
    page = to_page(document)
    if sent.texts.get("form") == "html":
        name = {"Content-Disposition": 'attachment; filename="score.html"'}
        return Response(page, media_type="text/html", headers=name)
    return _answer(visit, sent.texts, document=document, report=_as_link(page))


def _as_link(page: str) -> str:
    """A page as an address that holds all of it: it can be saved, though it is kept nowhere."""
    return f"data:text/html;charset=utf-8;base64,{b64encode(page.encode()).decode()}"


def _score(visit: RequestContext, sent: Sent) -> SubmissionResult:
    limits = Limits(bytes=visit.settings.upload_bytes, rows=visit.settings.rows)
    return score_submission(sent.stream("answers"), sent.stream("submission"), **_told(sent.texts), limits=limits)


def _told(texts: Mapping[str, str]) -> dict[str, Any]:
    """What the form says, in the words of the call."""
    given = {
        "id": texts.get("id_column", "").strip(),
        "label": texts.get("label_column", "").strip(),
        "task": texts.get("task", "").strip(),
        "query": texts.get("query_column", "").strip(),
        "positive": texts.get("positive", "").strip(),
        "classes": split_list([texts.get("class_names", "")]),
        "metrics": split_list([texts.get("metrics", "")]),
        "ci": 0.95 if texts.get("intervals") == "1" else None,
    }
    return {name: value for name, value in given.items() if value}


def _answer(
    visit: RequestContext,
    values: Mapping[str, str],
    *,
    errors: Mapping[str, str] | None = None,
    problems: ProblemSection | None = None,
    document: Any = None,
    report: str = "",
    status: int = 200,
) -> Response:
    shell = visit.shell("Score two files", values, errors)
    view = AnalysePage(shell, _TASKS, visit.upload_limit, document, problems, report)
    return visit.page("analyse.html", view, status)
