"""Lists that people write in one line."""

from __future__ import annotations

from collections.abc import Iterable


def split_list(texts: Iterable[str]) -> list[str]:
    """Values between commas; those in parentheses and quotes belong to the value.

    >>> split_list(("rmse,fscore(beta=2, average=macro)", "mae"))
    ['rmse', 'fscore(beta=2, average=macro)', 'mae']
    """
    found: list[str] = []
    for text in texts:
        depth, quote, start = 0, "", 0
        for place, letter in enumerate(text):
            if quote:
                quote = "" if letter == quote else quote
            elif letter in "\"'":
                quote = letter
            elif letter in "([{":
                depth += 1
            elif letter in ")]}":
                depth -= 1
            elif letter == "," and depth == 0:
                found.append(text[start:place])
                start = place + 1
        found.append(text[start:])
    return [text.strip() for text in found if text.strip()]
