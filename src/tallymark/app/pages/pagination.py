"""Long lists, a page at a time."""

from __future__ import annotations

from tallymark.app.domain.errors import not_found
from tallymark.app.pages.formatting import pluralize
from tallymark.app.pages.shell import Link, Pagination

_NEAR = 3


def paginate(count: int, page: int, size: int, path: str, what: str, more: str = "") -> tuple[int, Pagination | None]:
    """Where a page begins, and links to the others; None where there is one. `more` is kept in every address."""
    last = max(-(-count // size), 1)
    if not 1 <= page <= last:
        raise not_found()
    if last == 1:
        return 0, None

    def at(number: int) -> str:
        return f"{path}?page={number}{more}"

    near = sorted({1, last, *(n for n in range(page - _NEAR, page + _NEAR + 1) if 1 <= n <= last)})
    links = [Link(str(n), at(n), n == page) for n in near]
    start = (page - 1) * size
    plural = pluralize(2, what).partition(" ")[2]
    sentence = f"{plural.capitalize()} {start + 1:,} to {min(start + size, count):,} of {count:,}"
    before, after = (at(page - 1) if page > 1 else ""), (at(page + 1) if page < last else "")
    return start, Pagination(sentence, links, before, after)
