"""The front page, and the page that scores two files without storing them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy import select

from tallymark.app.domain.challenges import challenge_state
from tallymark.app.domain.errors import FormWording
from tallymark.app.http.request_context import ContextDep, RequestContext, handle_form
from tallymark.app.http.uploads import ParsedForm
from tallymark.app.pages.challenges import AnalysePage, FrontPage
from tallymark.app.pages.commands import score_command
from tallymark.app.pages.formatting import TASK_NAMES
from tallymark.app.pages.problems import problem_section
from tallymark.app.pages.shell import ProblemSection, SelectOption
from tallymark.app.routes.challenges import challenge_cards
from tallymark.app.store.models import Challenge
from tallymark.data.arguments import split_list
from tallymark.errors import Rejection, TallymarkError
from tallymark.rendering.html_page import to_page
from tallymark.submissions.document import submission_document
from tallymark.submissions.result import SubmissionResult
from tallymark.submissions.score import score_submission
from tallymark.submissions.settings import Limits

router = APIRouter()
_MAX_CARDS = 6
_TASKS = [SelectOption("", "From the metrics, else labels"), *(SelectOption(*each) for each in TASK_NAMES.items())]


@router.get("/")
def front(context: ContextDep) -> Response:
    """The front page, with open challenges."""
    context.require("see challenges")
    with context.service.database.reading() as session:
        newest_first = session.scalars(select(Challenge).order_by(Challenge.created.desc())).all()
        open_now = [each for each in newest_first if challenge_state(each, context.now) == "open"]
        view = FrontPage(
            context.shell("Scores that you can check"),
            challenge_cards(session, context, open_now[:_MAX_CARDS]),
            context.upload_limit,
        )
    return context.page("front.html", view)


@router.get("/analyse")
def analyse_form(context: ContextDep) -> Response:
    """The empty form."""
    context.require("analyse a file")
    return context.page("analyse.html", AnalysePage(context.shell("Score two files"), _TASKS, context.upload_limit))


@router.post("/analyse")
async def analyse(request: Request, context: ContextDep) -> Response:
    """Score two files, and delete them."""
    context.require("analyse a file")
    return await handle_form(request, context, _analyse, max_files=2)


def _analyse(context: RequestContext, form: ParsedForm) -> Response:
    missing = {name: "Choose a file." for name in ("answers", "submission") if name not in form.files}
    if missing:
        return _analyse_page(context, form.values, errors=missing, status=422)
    try:
        with context.service.scoring_slots:
            result = _score(context, form)
    except Rejection as error:
        return _analyse_page(context, form.values, problems=problem_section(error), status=422)
    except TallymarkError as error:
        return _analyse_page(context, form.values, errors={"": error.write(FormWording())}, status=422)
    arguments = _arguments(form.values)
    names = [form.files[name].filename or name for name in ("answers", "submission")]
    document = submission_document(result, None, score_command(*names, **arguments))
    page = to_page(document)
    if form.values.get("form") == "html":
        headers = {"Content-Disposition": 'attachment; filename="score.html"'}
        return Response(page, media_type="text/html", headers=headers)
    return _analyse_page(context, form.values, document=document, report=_data_url(page))


def _data_url(page: str) -> str:
    """A page as a data: URL, since the server does not store it."""
    return f"data:text/html;charset=utf-8;base64,{b64encode(page.encode()).decode()}"


def _score(context: RequestContext, form: ParsedForm) -> SubmissionResult:
    limits = Limits(bytes=context.settings.upload_bytes, rows=context.settings.rows)
    return score_submission(form.stream("answers"), form.stream("submission"), **_arguments(form.values), limits=limits)


def _arguments(values: Mapping[str, str]) -> dict[str, Any]:
    """The fields of the form as arguments of `score_submission`."""
    arguments = {
        "id": values.get("id_column", "").strip(),
        "label": values.get("label_column", "").strip(),
        "task": values.get("task", "").strip(),
        "query": values.get("query_column", "").strip(),
        "positive": values.get("positive", "").strip(),
        "classes": split_list([values.get("class_names", "")]),
        "metrics": split_list([values.get("metrics", "")]),
        "ci": 0.95 if values.get("intervals") == "1" else None,
    }
    return {name: value for name, value in arguments.items() if value}


def _analyse_page(
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
