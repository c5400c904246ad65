"""The front page, and the page that scores two files of one's own and keeps nothing."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy import select

from tallymark.app.domain.challenges import challenge_state
from tallymark.app.domain.errors import Labels
from tallymark.app.http.request_context import ContextDep, RequestContext, handle_form
from tallymark.app.http.uploads import ParsedForm
from tallymark.app.pages.challenges import AnalysePage, FrontPage
from tallymark.app.pages.commands import score_command
from tallymark.app.pages.formatting import TASKS
from tallymark.app.pages.problems import problem_list
from tallymark.app.pages.shell import ProblemSection, SelectOption
from tallymark.app.routes.challenges import challenge_cards
from tallymark.app.store.models import Challenge
from tallymark.data.arguments import split_list
from tallymark.errors import Rejection, TallymarkError
from tallymark.rendering.page import to_page
from tallymark.submissions.document import submission_document
from tallymark.submissions.limits import Limits
from tallymark.submissions.result import SubmissionResult
from tallymark.submissions.score import score_submission

router = APIRouter()
_TASKS = [SelectOption("", "What the metrics read, else labels"), *(SelectOption(*each) for each in TASKS.items())]


@router.get("/")
def front(context: ContextDep) -> Response:
    """What this is."""
    context.may("see challenges")
    with context.service.database.reading() as session:
        every = session.scalars(select(Challenge).order_by(Challenge.created.desc())).all()
        open_now = [each for each in every if challenge_state(each, context.now) == "open"]
        view = FrontPage(
            context.shell("Scores you can trust"), challenge_cards(session, context, open_now[:6]), context.upload_limit
        )
    return context.page("front.html", view)


@router.get("/analyse")
def form(context: ContextDep) -> Response:
    """The empty form."""
    context.may("analyse a file")
    return context.page("analyse.html", AnalysePage(context.shell("Score two files"), _TASKS, context.upload_limit))


@router.post("/analyse")
async def analyse(request: Request, context: ContextDep) -> Response:
    """Score two files, and forget them."""
    context.may("analyse a file")
    return await handle_form(request, context, _analyse, files=2)


def _analyse(context: RequestContext, sent: ParsedForm) -> Response:
    lacking = {name: "Choose a file." for name in ("answers", "submission") if name not in sent.files}
    if lacking:
        return _answer(context, sent.texts, errors=lacking, status=422)
    try:
        with context.service.scoring:
            result = _score(context, sent)
    except Rejection as error:
        return _answer(context, sent.texts, problems=problem_list(error), status=422)
    except TallymarkError as error:
        return _answer(context, sent.texts, errors={"": error.write(Labels())}, status=422)
    told = _told(sent.texts)
    names = [sent.files[name].filename or name for name in ("answers", "submission")]
    document = submission_document(result, None, score_command(*names, **told))
    page = to_page(document)
    if sent.texts.get("form") == "html":
        name = {"Content-Disposition": 'attachment; filename="score.html"'}
        return Response(page, media_type="text/html", headers=name)
    return _answer(context, sent.texts, document=document, report=_as_link(page))


def _as_link(page: str) -> str:
    """A page as an address that holds all of it: it can be saved, though it is kept nowhere."""
    return f"data:text/html;charset=utf-8;base64,{b64encode(page.encode()).decode()}"


def _score(context: RequestContext, sent: ParsedForm) -> SubmissionResult:
    limits = Limits(bytes=context.settings.upload_bytes, rows=context.settings.rows)
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
    context: RequestContext,
    values: Mapping[str, str],
    *,
    errors: Mapping[str, str] | None = None,
    problems: ProblemSection | None = None,
    document: Any = None,
    report: str = "",
    status: int = 200,
) -> Response:
    shell = context.shell("Score two files", values, errors)
    view = AnalysePage(shell, _TASKS, context.upload_limit, document, problems, report)
    return context.page("analyse.html", view, status)
