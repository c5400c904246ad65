"""The language of conditions such as ``r2 > 0.8 and rmse < 5``: text in, comparisons out. Nothing is evaluated."""

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
_CORRECTIONS = {
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
    | (?P<word>[fF][0-9]*\.[0-9]+(?!\w)|[^\W\d]\w*(?:@[0-9]+(?!\w))?)
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


def condition_tokens(text: str) -> list[Token]:
    """The pieces of a condition, and the end as the last one."""
    if len(text) > _LONGEST:
        raise ParameterError(
            argument="condition",
            expected=f"be a string of at most {_LONGEST:,} characters",
            got=f"{len(text):,}",
            hint="Split it into a list of conditions",
        )
    if hidden := _HIDDEN.search(text):
        raise syntax_error(text, hidden.start(), f"there is no character {ord(hidden.group()):#06x} in a condition")
    tokens, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise syntax_error(text, at, _unreadable(text[at]))
        token = _token(text, match)
        at += len(token.text)
        if token.kind != "blank":
            tokens.append(token)
    return [*tokens, Token("end", "", len(text), "")]


def _token(text: str, match: re.Match[str]) -> Token:
    kind, written, start = str(match.lastgroup), match.group(), match.start()
    if kind in ("number", "percent"):
        number = match.group("number")
        if len(number) > _LONGEST_NUMBER:
            raise syntax_error(text, start, f"a number has at most {_LONGEST_NUMBER} characters")
        if _GOES_ON.match(text, match.end()):
            raise syntax_error(
                text, match.end(), f"expected a blank after the number {written}; a number is such as 1000.5"
            )
        return Token("number", written, start, number)
    if kind == "word":
        return _word(text, written, start)
    if kind == "quoted":
        return Token("name", written, start, written[1:-1])
    if kind == "part":
        inside = written[1:-1].strip()
        if not inside:
            raise syntax_error(text, start, "expected a class or the number of an output in the brackets")
        return Token(kind, written, start, inside[1:-1] if inside[0] in "\"'" else inside)
    if kind == "mistake":
        raise syntax_error(text, start, f"unknown operator {written!r}; write {_CORRECTIONS[written]}")
    return Token(kind, written, start, written)


def _word(text: str, word: str, start: int) -> Token:
    """A keyword, or the name of a metric with its parameters if it has some."""
    if word in _KEYWORDS:
        return Token("keyword", word, start, word)
    if word.lower() in _KEYWORDS:
        raise syntax_error(text, start, f"unknown operator {word!r}; write {word.lower()}")
    if word.lower() in _NOT_FINITE:
        raise syntax_error(text, start, f"a limit must be finite; got {word}. Quote a key of that name")
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
    raise syntax_error(text, opened, "this parenthesis is never closed")


def _unreadable(character: str) -> str:
    if character in "\"'":
        return "this quote is empty or never closed"
    if character in "[]":
        return "expected a class or the number of an output in brackets, quoted if it has quotes or brackets in it"
    if character in "+-*/^%":
        return "arithmetic is not supported: compare a metric with a number such as -0.5"
    return f"there is no {character!r} in a condition"


def syntax_error(text: str, at: int, problem: str) -> ParameterError:
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


_LONGEST_VALUE = 1_000
_DEEPEST = 50  # parentheses and `not` within each other
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_SIGNS = "a comparison (<, <=, >, >=, ==, !=)"
_ENDS, _OVER_SLICES = ("lo", "hi"), ("worst", "gap", "ratio")
_SUFFIXES = (*_ENDS, "n", *_OVER_SLICES)


class Number(NamedTuple):
    """A number as written, and the share that it is if a % follows it."""

    text: str
    value: float
    share: float | None


class Value(NamedTuple):
    """A metric of the report, a part of it if it has several, and what is asked of it; and all of it as written.
    `quoted` says whether the part is in quotes."""

    text: str
    metric: str
    part: str | None
    suffix: str | None
    quoted: bool = False


class ComparisonNode(NamedTuple):
    """Two operands and the sign between them."""

    left: Number | Value
    sign: str
    right: Number | Value


class ConditionGroup(NamedTuple):
    """Conditions of which every one must hold, or some one."""

    every: bool
    parts: tuple[Condition, ...]


Condition = ComparisonNode | ConditionGroup


def parse_condition(text: str) -> Condition:
    """The condition in a text; an error points at the place of a mistake."""
    reader = _Parser(text)
    condition = reader.disjunction(False)
    if reader.next.kind != "end":
        raise reader.expected("and, or, or the end")
    return condition


class _Parser:
    """Walks the tokens from left to right, one function for each line of the grammar."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = condition_tokens(text)
        self._at = 0
        self._depth = 0

    @property
    def next(self) -> Token:
        return self._tokens[self._at]

    def expected(self, what: str) -> ParameterError:
        found = "the end" if self.next.kind == "end" else repr(self.next.text)
        return syntax_error(self._text, self.next.start, f"expected {what}; found {found}")

    def _accept(self, *texts: str) -> bool:
        """Step over the next token if it is one of these."""
        if self.next.kind not in ("keyword", "sign", "mark") or self.next.text not in texts:
            return False
        self._at += 1
        return True

    def disjunction(self, negated: bool) -> Condition:
        parts = [self._conjunction(negated)]
        while self._accept("or"):
            parts.append(self._conjunction(negated))
        return _group(negated, parts)

    def _conjunction(self, negated: bool) -> Condition:
        parts = [self._negation(negated)]
        while self._accept("and"):
            parts.append(self._negation(negated))
        return _group(not negated, parts)

    def _negation(self, negated: bool) -> Condition:
        opened = self.next
        if not self._accept("not", "("):
            return self._comparison(negated)
        self._depth += 1
        if self._depth > _DEEPEST:
            raise syntax_error(
                self._text, opened.start, f"more than {_DEEPEST} parentheses and `not` within each other"
            )
        if opened.text == "not":
            condition = self._negation(not negated)
        else:
            condition = self.disjunction(negated)
            if not self._accept(")"):
                raise self.expected("and, or, or a closing parenthesis")
        self._depth -= 1
        return condition

    def _comparison(self, negated: bool) -> Condition:
        start, left = self.next.start, self._operand()
        parts: list[Condition] = []
        while self.next.kind == "sign":
            sign = self.next.text
            self._at += 1
            right = self._operand()
            if isinstance(left, Number) and isinstance(right, Number):
                raise syntax_error(
                    self._text, start, f"{left.text} {sign} {right.text} compares two numbers and no metric"
                )
            if left[1:] == right[1:]:
                raise syntax_error(self._text, start, f"{left.text} is compared with itself")
            parts.append(ComparisonNode(left, _OPPOSITE[sign] if negated else sign, right))
            left = right
        if not parts:
            raise self.expected(f"{_SIGNS} after {left.text}")
        return _group(not negated, parts)

    def _operand(self) -> Number | Value:
        token = self.next
        if token.kind == "number":
            self._at += 1
            return Number(token.text, *_parse_number(self._text, token))
        if token.kind != "name":
            raise self.expected("a metric or a number")
        self._at += 1
        part, quoted = None, False
        if self.next.kind == "part":
            part, quoted = self.next.value, self.next.text[1:].lstrip()[0] in "\"'"
            self._at += 1
        suffix = self._suffix(token.value) if self._accept(".") else None
        last = self._tokens[self._at - 1]
        written = self._text[token.start : last.start + len(last.text)]
        if len(written) > _LONGEST_VALUE:
            raise syntax_error(
                self._text, token.start, f"a metric with its parameters has at most {_LONGEST_VALUE:,} characters"
            )
        return Value(" ".join(written.split()), token.value, part, suffix, quoted)

    def _suffix(self, metric: str) -> str:
        if self.next.text not in _SUFFIXES:
            raise self.expected(f"one of {', '.join(_SUFFIXES)} after the dot (a key with a dot is quoted)")
        suffix = self.next.text
        self._at += 1
        if self.next.text == ".":
            self._refuse_interval_of_groups(metric, {suffix, self._tokens[self._at + 1].text})
        return suffix

    def _refuse_interval_of_groups(self, metric: str, suffixes: set[str]) -> None:
        """Two suffixes in a row are none; where they ask for an interval over slices, say which metric has it."""
        over, ends = suffixes & set(_OVER_SLICES), suffixes & set(_ENDS)
        if over and ends:
            made = f"{over.pop()}({metric})"
            raise syntax_error(self._text, self.next.start, f"write {made}.{ends.pop()}, and evaluate {made} too")


def _group(every: bool, parts: list[Condition]) -> Condition:
    return parts[0] if len(parts) == 1 else ConditionGroup(every, tuple(parts))


def _parse_number(text: str, token: Token) -> tuple[float, float | None]:
    """The number, and as a share if it is a percentage: rounded once, so that 12.3% is 0.123."""
    digits, _, exponent = token.value.lower().partition("e")
    value = float(token.value)
    share = float(f"{digits}e{int(exponent or 0) - 2}") if token.text.endswith("%") else None
    if abs(value) == float("inf") or (0.0 in (value, share) and digits.strip("+-0.")):
        raise syntax_error(text, token.start, "this number is too large or too small for float64")
    return value, share
