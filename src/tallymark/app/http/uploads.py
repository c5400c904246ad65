"""Uploaded forms: read as a stream, refused once they exceed the limit, and kept on disk if they are large."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, BinaryIO, NamedTuple

from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import FormParser, MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

from tallymark.app.http.errors import RequestError, invalid_form
from tallymark.app.pages.formatting import format_bytes

MAX_PLAIN_FORM = 600_000  # bytes of a form without files
_FORM_OVERHEAD = 600_000  # bytes of a form beside its files
_MAX_FIELD = 400_000  # bytes of the longest text: rules, in any script
_MAX_FIELDS = 300
_DRAIN_FACTOR = 4  # times the limit, read and thrown away so that the browser shows the answer


class UploadTooLarge(MultiPartException):
    """The request body or one of its files exceeds the limit."""


class ParsedForm(NamedTuple):
    """A form: the first value of each text field, all of its values, and the uploaded files."""

    values: dict[str, str]
    lists: dict[str, list[str]]
    files: dict[str, UploadFile]

    def stream(self, name: str) -> BinaryIO:
        """The content of a file."""
        return self.files[name].file

    def close(self) -> None:
        """Close the files, which deletes them."""
        for file in self.files.values():
            file.file.close()


async def read_form(request: Request, max_files: int = 0, max_bytes: int = 0) -> ParsedForm:
    """The form of a request, with at most `max_files` files of at most `max_bytes` each."""
    limit = max_files * max_bytes + _FORM_OVERHEAD if max_files else MAX_PLAIN_FORM
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    stream = limited_stream(request, limit)
    try:
        if content_type == "multipart/form-data":
            parser = _Parser(
                request.headers, stream, max_files=max_files, max_fields=_MAX_FIELDS, max_part_size=_MAX_FIELD
            )
            return _parse(await parser.read(), max_bytes)
        if content_type == "application/x-www-form-urlencoded":
            return _parse(await FormParser(request.headers, stream).parse(), max_bytes)
    except UploadTooLarge:
        if not max_files:
            raise RequestError(413, "The form is too large.", "Shorten its texts.") from None
        limit_text = f"A file may have at most {format_bytes(max_bytes)}."
        raise RequestError(413, limit_text, "Remove unneeded columns.") from None
    except (MultiPartException, ClientDisconnect, UnicodeError, ValueError):
        raise invalid_form() from None
    raise RequestError(415, "The encoding of the form is not supported.", "Go back and try again.")


class _Parser(MultiPartParser):
    """A parser that leaves no file open, and refuses a truncated form."""

    async def read(self) -> FormData:
        """The form."""
        try:
            form = await self.parse()
            complete = sum(isinstance(value, UploadFile) for _, value in form.multi_items())
            if complete < len(self._files_to_close_on_error):
                raise MultiPartException("a file is truncated")
        except BaseException:
            for file in self._files_to_close_on_error:
                file.close()
            raise
        return form


async def limited_stream(request: Request, limit: int) -> AsyncGenerator[bytes, None]:
    """The body of a request; raises `UploadTooLarge` if it exceeds the limit."""
    total = 0
    async for chunk in request.stream():
        total += len(chunk)
        if total <= limit:
            yield chunk
        elif total > _DRAIN_FACTOR * limit:
            break
    if total > limit:
        raise UploadTooLarge("the request exceeds the limit")


def _check_text(text: str) -> None:
    """Reject what databases cannot store: the character NUL, and lone surrogates."""
    if "\0" in text:
        raise ValueError("a text has a NUL character")
    text.encode()


def _parse(form: FormData, max_bytes: int) -> ParsedForm:
    values: dict[str, str] = {}
    lists: dict[str, list[str]] = {}
    files: dict[str, UploadFile] = {}
    items: list[tuple[str, Any]] = form.multi_items()
    for name, value in items:
        if isinstance(value, str):
            _check_text(name + value)
            values.setdefault(name, value)
            lists.setdefault(name, []).append(value)
        elif value.size or value.filename:
            files[name] = value
        else:
            value.file.close()
    if any((file.size or 0) > max_bytes for file in files.values()):
        for file in files.values():
            file.file.close()
        raise UploadTooLarge("a file exceeds the limit")
    return ParsedForm(values, lists, files)
