"""Forms as they come in: read in pieces, counted before they are kept, on disk where they are large."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, BinaryIO, NamedTuple

from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import FormParser, MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

from tallymark.app.domain.errors import RequestError

PLAIN = 600_000  # bytes of a form without files
_SLACK = 600_000  # bytes of a form beside its files
_FIELD = 400_000  # bytes of the longest text: rules, whatever their script
_DRAINED = 4  # times the limit, that are read and thrown away so that a browser gets to see the answer


class UploadTooLarge(MultiPartException):
    """More was sent than may be."""


class ParsedForm(NamedTuple):
    """A form: its texts, all values of fields that come several times, and its files with their names."""

    texts: dict[str, str]
    lists: dict[str, list[str]]
    files: dict[str, UploadFile]

    def stream(self, name: str) -> BinaryIO:
        """The content of a file."""
        return self.files[name].file

    def close(self) -> None:
        """Forget the files."""
        for each in self.files.values():
            each.file.close()


def format_bytes(count: int) -> str:
    """A size as a person reads it.

    >>> show_bytes(10_000_000), show_bytes(2_500)
    ('10 MB', '2.5 kB')
    """
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 1000)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} bytes"


async def read_form(request: Request, files: int = 0, most: int = 0) -> ParsedForm:
    """The form of a request, with at most so many files of at most so many bytes each."""
    limit = files * most + _SLACK if files else PLAIN
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    stream = _counted(request, limit)
    try:
        if kind == "multipart/form-data":
            parser = _Parser(request.headers, stream, max_files=files, max_fields=100, max_part_size=_FIELD)
            return _sorted(await parser.read(), most)
        if kind == "application/x-www-form-urlencoded":
            return _sorted(await FormParser(request.headers, stream).parse(), most)
    except UploadTooLarge:
        told = (
            f"At most {format_bytes(most)} a file are taken here." if files else "This is more than the form can hold."
        )
        raise RequestError(413, f"The file is too large. {told}", "Leave out columns that nobody needs.") from None
    except (MultiPartException, ClientDisconnect, UnicodeError, ValueError):
        raise RequestError(400, "The form could not be read.", "Go back, and send it again.") from None
    raise RequestError(415, "The form was sent in a way that is not known here.", "Go back, and send it again.")


class _Parser(MultiPartParser):
    """A parser that leaves no file open, and takes none that broke off."""

    async def read(self) -> FormData:
        """The form."""
        try:
            form = await self.parse()
            whole = sum(isinstance(value, UploadFile) for _, value in form.multi_items())
            if whole < len(self._files_to_close_on_error):
                raise MultiPartException("a file has no end")
        except BaseException:
            for each in self._files_to_close_on_error:
                each.close()
            raise
        return form


async def _counted(request: Request, most: int) -> AsyncGenerator[bytes, None]:
    total = 0
    async for piece in request.stream():
        total += len(piece)
        if total <= most:
            yield piece
        elif total > _DRAINED * most:
            break
    if total > most:
        raise UploadTooLarge("more was sent than may be")


def _check(text: str) -> None:
    """Refuse what databases cannot keep: the character NUL, and halves of characters."""
    if "\0" in text:
        raise ValueError("a text has the character NUL")
    text.encode()


def _sorted(form: FormData, most: int) -> ParsedForm:
    texts: dict[str, str] = {}
    lists: dict[str, list[str]] = {}
    files: dict[str, UploadFile] = {}
    held: list[tuple[str, Any]] = form.multi_items()
    for name, value in held:
        if isinstance(value, str):
            _check(name + value)
            texts.setdefault(name, value)
            lists.setdefault(name, []).append(value)
        elif value.size or value.filename:
            files[name] = value
        else:
            value.file.close()
    large = next((name for name, file in files.items() if (file.size or 0) > most), None)
    if large is not None:
        for file in files.values():
            file.file.close()
        raise UploadTooLarge("a file is larger than it may be")
    return ParsedForm(texts, lists, files)
