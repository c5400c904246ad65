"""Pagination of long lists."""

from __future__ import annotations

from tallymark.app.domain.errors import NotFoundError
from tallymark.app.pages.formatting import plural
from tallymark.app.pages.shell import Link, Pagination

_NEIGHBOURS = 3  # pages linked on either side of the current one


def paginate(
    count: int, page: int, page_size: int, path: str, noun: str, query: str = ""
) -> tuple[int, Pagination | None]:
    """Where a page starts, and links to the others; None where there is one. Every link keeps `query`."""
    last = max(-(-count // page_size), 1)
    if not 1 <= page <= last:
        raise NotFoundError()
    if last == 1:
        return 0, None

    def address(number: int) -> str:
        return f"{path}?page={number}{query}"

    near = range(max(page - _NEIGHBOURS, 1), min(page + _NEIGHBOURS, last) + 1)
    links = [Link(str(number), address(number), number == page) for number in sorted({1, last, *near})]
    start = (page - 1) * page_size
    sentence = f"{plural(noun).capitalize()} {start + 1:,} to {min(start + page_size, count):,} of {count:,}"
    previous, following = (address(page - 1) if page > 1 else ""), (address(page + 1) if page < last else "")
    return start, Pagination(sentence, links, previous, following)
