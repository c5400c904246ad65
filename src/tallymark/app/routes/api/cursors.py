"""Cursors: opaque texts that say where the next part of a list begins."""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, TypeVar

from fastapi import Query

from tallymark.app.domain.errors import FormError
from tallymark.app.routes.api.models import Page

MAX_LIMIT = 100
_MAX_NUMBER = (1 << 31) - 1  # of a column in PostgreSQL

Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT, description="How many items to return.")]
Cursor = Annotated[str, Query(max_length=100, description="The member `next` of the part before.")]
_Row = TypeVar("_Row")


def encode_cursor(*numbers: int) -> str:
    """A cursor from the numbers of the last item."""
    return urlsafe_b64encode(".".join(map(str, numbers)).encode()).decode().rstrip("=")


def decode_cursor(cursor: str, count: int = 1) -> list[int] | None:
    """The numbers of a cursor; None for an empty one, which is the beginning."""
    if not cursor:
        return None
    try:
        words = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii").split(".")
    except (ValueError, binascii.Error):
        words = []
    if len(words) != count or not all(word.isdigit() and len(word) <= 10 for word in words):
        raise FormError({"cursor": "Send the member next of an earlier answer as it was."})
    return [min(int(word), _MAX_NUMBER) for word in words]


def make_page(
    rows: Sequence[_Row], limit: int, number: Callable[[_Row], Iterable[int]], item: Callable[[_Row], Any]
) -> Page[Any]:
    """A part of a list from `limit + 1` rows, of which the last only says that there are more."""
    shown = rows[:limit]
    return Page(
        items=[item(row) for row in shown],
        next=encode_cursor(*number(shown[-1])) if len(rows) > limit else None,
    )
