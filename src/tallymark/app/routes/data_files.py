"""Data files: organisers upload and delete them, participants download them, also in parts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, Response
from starlette.concurrency import run_in_threadpool

from tallymark.app.domain.challenges import find_challenge
from tallymark.app.domain.data_files import add_data_file, delete_data_file, find_data_file, list_data_files
from tallymark.app.domain.errors import ForbiddenError, FormError
from tallymark.app.domain.permissions import is_allowed, resource_of
from tallymark.app.domain.submissions import clean_file_name
from tallymark.app.http.request_context import ContextDep, RequestContext, handle_form, redirect
from tallymark.app.http.uploads import ParsedForm
from tallymark.app.pages.formatting import format_bytes
from tallymark.app.pages.materials import DataFilesPage, data_file_rows
from tallymark.app.routes.organise import parse_key
from tallymark.app.store.models import Challenge

router = APIRouter()


def _find(context: RequestContext, slug: str) -> Challenge:
    context.require("have an account")
    with context.service.database.reading() as session:
        challenge, version = find_challenge(session, slug)
        context.require("organise a challenge", session, resource_of(challenge, version))
    return challenge


@router.get("/challenges/{slug}/data/{data}")
def download(slug: str, data: str, context: ContextDep) -> Response:
    """A version of a file. Clients can resume a download: ranges are answered, and the ETag is the hash."""
    with context.service.database.reading() as session:
        challenge, version = find_challenge(session, slug)
        resource = resource_of(challenge, version)
        actor = context.require("see a challenge", session, resource)
        if actor.user is not None and not is_allowed("download data", actor, resource):
            link = ("Go to the challenge", f"/challenges/{slug}")
            raise ForbiddenError("Only participants can download these files.", "Join the challenge on its page.", link)
        context.require("download data", session, resource)
        data_file = find_data_file(session, challenge, parse_key(data))
    headers = {"ETag": f'"{data_file.file}"'}
    path = context.service.files.path(data_file.file)
    return FileResponse(path, media_type="application/octet-stream", filename=data_file.file_name, headers=headers)


@router.get("/organise/{slug}/data")
def data_files(slug: str, context: ContextDep) -> Response:
    """The data files, and a form for another."""
    return _page(context, _find(context, slug))


def _page(
    context: RequestContext,
    challenge: Challenge,
    values: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
) -> Response:
    with context.service.database.reading() as session:
        files = list_data_files(session, challenge)
    view = DataFilesPage(
        context.shell(f"Data of {challenge.title}", values, errors),
        challenge.slug,
        challenge.title,
        data_file_rows(files, context.now),
        list(dict.fromkeys(each.title for each in files)),
        format_bytes(context.settings.data_bytes),
    )
    return context.page("data_files.html", view, 422 if errors else 200)


@router.post("/organise/{slug}/data")
async def change(slug: str, request: Request, context: ContextDep) -> Response:
    """Upload or delete a file."""
    challenge = await run_in_threadpool(_find, context, slug)  # before anything is read
    handler, limit = partial(_change, challenge), context.settings.data_bytes
    return await handle_form(request, context, handler, max_files=1, max_bytes=limit)


def _change(challenge: Challenge, context: RequestContext, form: ParsedForm) -> Response:
    user, path = context.signed_in_user(), f"/organise/{challenge.slug}/data"
    if "delete" in form.values:
        delete_data_file(context.service, user, challenge, parse_key(form.values["delete"]))
        return redirect(path, "data-deleted")
    try:
        if "data" not in form.files:
            raise FormError({"data": "Choose a file."})
        name = clean_file_name(form.files["data"].filename or "")
        add_data_file(context.service, user, challenge, form.values.get("title", ""), form.stream("data"), name)
    except FormError as error:
        return _page(context, challenge, form.values, error.errors)
    return redirect(path, "data-added")
