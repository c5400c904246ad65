"""The words, numbers and signs of a condition, and how a mistake among them is shown."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from tallymark.errors import ParameterError, Text

_LONGEST = 10_000  # characters of a condition
_LONGEST_NUMBER = 100
_SHOWN = 60  # characters on each side of a mistake
_KEYWORDS = ("and", "or", "not")
_NOT_FINITE = ("nan", "inf", "infinity")
_INSTEAD = {
    "=": "==",
    "=>": ">=",
    "=<": "<=",
    "<>": "!=",
    "≥": ">=",
    "≤": "<=",
    "≠": "!=",
    "−": "-",
    "&": "and",
    "&&": "and",
    "|": "or",
    "||": "or",
    "!": "not",
    ",": "and",
    ";": "and",
}
_GOES_ON = re.compile(r"[\w%.]|,[0-9]")  # what a number cannot be followed by
_HIDDEN = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")  # would garble a message
_TOKEN = re.compile(
    r"""
    (?P<blank>\s+)
    | (?P<number>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?P<percent>[ ]?%)?
    | (?P<word>[^\W\d]\w*)
    | (?P<quoted>"[^"]+"|'[^']+')
    | (?P<part>\[\s*(?:"[^"]+"|'[^']+')\s*\]|\[[^]["']+\])
    | (?P<mistake>=[<>]|<>|=(?!=)|&&?|\|\|?|!(?!=)|[≥≤≠−,;])
    | (?P<sign>[<>=!]=|[<>])
    | (?P<mark>[().])
    """,
    re.VERBOSE,
)


class Token(NamedTuple):
    """A piece of a condition: what it is, as written, where, and what it stands for."""

    kind: str
    text: str
    start: int
    value: str


def tokens_of(text: str) -> list[Token]:
    """The pieces of a condition, and the end as the last one."""
    if len(text) > _LONGEST:
        raise ParameterError(
            argument="condition",
            expected=f"be a text of at most {_LONGEST:,} characters",
            got=f"{len(text):,}",
            hint="A list of conditions can say more",
        )
    if hidden := _HIDDEN.search(text):
        raise refuse(text, hidden.start(), f"there is no character {ord(hidden.group()):#06x} in a condition")
    tokens, at = [], 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise refuse(text, at, _unreadable(text[at]))
        token = _token(text, found)
        at += len(token.text)
        if token.kind != "blank":
            tokens.append(token)
    return [*tokens, Token("end", "", len(text), "")]


def _token(text: str, found: re.Match[str]) -> Token:
    kind, written, start = str(found.lastgroup), found.group(), found.start()
    if kind in ("number", "percent"):
        number = found.group("number")
        if len(number) > _LONGEST_NUMBER:
            raise refuse(text, start, f"a number has at most {_LONGEST_NUMBER} characters")
        if _GOES_ON.match(text, found.end()):
            raise refuse(text, found.end(), f"expected a blank after the number {written}; a number is such as 1000.5")
        return Token("number", written, start, number)
    if kind == "word":
        return _word(text, written, start)
    if kind == "quoted":
        return Token("name", written, start, written[1:-1])
    if kind == "part":
        inside = written[1:-1].strip()
        if not inside:
            raise refuse(text, start, "expected a class or the number of an output in the brackets")
        return Token(kind, written, start, inside[1:-1] if inside[0] in "\"'" else inside)
    if kind == "mistake":
        raise refuse(text, start, f"there is no {written!r} in a condition; write {_INSTEAD[written]}")
    return Token(kind, written, start, written)


def _word(text: str, word: str, start: int) -> Token:
    """A keyword, or the name of a metric with its parameters if it has some."""
    if word in _KEYWORDS:
        return Token("keyword", word, start, word)
    if word.lower() in _KEYWORDS:
        raise refuse(text, start, f"there is no {word!r} in a condition; write {word.lower()}")
    if word.lower() in _NOT_FINITE:
        raise refuse(text, start, f"a limit is a finite number, not {word}; a key of that name is quoted")
    opened = start + len(word)
    if text.startswith("(", opened):
        word = text[start : _closing(text, opened) + 1]
    return Token("name", word, start, word)


def _closing(text: str, opened: int) -> int:
    """Where the parameters of a metric end. Parentheses in quotes do not count."""
    depth, quote = 0, ""
    for at in range(opened, len(text)):
        character = text[at]
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        else:
            depth += (character == "(") - (character == ")")
            if depth == 0:
                return at
    raise refuse(text, opened, "this parenthesis is never closed")


def _unreadable(character: str) -> str:
    if character in "\"'":
        return "this quote is empty or never closed"
    if character in "[]":
        return "expected a class or the number of an output in brackets, quoted if it has quotes or brackets in it"
    if character in "+-*/^%":
        return "there is no arithmetic in a condition: it compares metrics with numbers such as -0.5"
    return f"there is no {character!r} in a condition"


def refuse(text: str, at: int, problem: str) -> ParameterError:
    """The error for a mistake at a place, with the line that it is in and a caret below the place."""
    first = max(text.rfind("\n", 0, at) + 1, at - _SHOWN)
    end = text.find("\n", at)
    last = min(len(text) if end < 0 else end, at + _SHOWN)
    line = _printable(text[first:last])
    below = "".join(_blank_as_wide_as(character) for character in line[: at - first])
    return ParameterError(
        Text("{condition} cannot be read at character {}: {}\n    {}\n    {}^", at + 1, problem, line, below),
        argument="condition",
    )


def _blank_as_wide_as(character: str) -> str:
    if unicodedata.combining(character):
        return ""
    return "\u3000" if unicodedata.east_asian_width(character) in "WF" else " "


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else " " if c.isspace() else "�" for c in text)
