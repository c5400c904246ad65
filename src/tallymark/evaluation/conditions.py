"""The language of conditions such as ``r2 > 0.8 and rmse < 5``: text in, comparisons out. Nothing is evaluated.

::

    either      both ("or" both)*
    both        negation ("and" negation)*
    negation    "not" negation | "(" either ")" | comparison
    comparison  operand (("<" | "<=" | ">" | ">=" | "==" | "!=") operand)+
    operand     number | number "%" | value
    value       (name | name "(" parameters ")" | quoted key) ("[" part "]")? ("." suffix)?

`not` is carried down to the comparisons, which it turns round. What comes out knows only "every" and "some", so that a
comparison that cannot be decided, and therefore fails, can never make the whole true.
"""

from __future__ import annotations

from typing import NamedTuple

from tallymark.errors import ParameterError
from tallymark.evaluation.tokens import Token, refuse, tokens_of

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


class Comparison(NamedTuple):
    """Two operands and the sign between them."""

    left: Number | Value
    sign: str
    right: Number | Value


class Group(NamedTuple):
    """Conditions of which every one must hold, or some one."""

    every: bool
    parts: tuple[Condition, ...]


Condition = Comparison | Group


def read_condition(text: str) -> Condition:
    """The condition that a text stands for; a mistake in it is an error that points at the place."""
    reader = _Reader(text)
    condition = reader.either(False)
    if reader.next.kind != "end":
        raise reader.expected("and, or, or the end")
    return condition


class _Reader:
    """Walks the tokens from left to right, one function for each line of the grammar."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokens_of(text)
        self._at = 0
        self._depth = 0

    @property
    def next(self) -> Token:
        return self._tokens[self._at]

    def expected(self, what: str) -> ParameterError:
        found = "the end" if self.next.kind == "end" else repr(self.next.text)
        return refuse(self._text, self.next.start, f"expected {what}; found {found}")

    def _takes(self, *texts: str) -> bool:
        """Step over the next token if it is one of these."""
        if self.next.kind not in ("keyword", "sign", "mark") or self.next.text not in texts:
            return False
        self._at += 1
        return True

    def either(self, negated: bool) -> Condition:
        parts = [self._both(negated)]
        while self._takes("or"):
            parts.append(self._both(negated))
        return _group(negated, parts)

    def _both(self, negated: bool) -> Condition:
        parts = [self._negation(negated)]
        while self._takes("and"):
            parts.append(self._negation(negated))
        return _group(not negated, parts)

    def _negation(self, negated: bool) -> Condition:
        opened = self.next
        if not self._takes("not", "("):
            return self._comparison(negated)
        self._depth += 1
        if self._depth > _DEEPEST:
            raise refuse(self._text, opened.start, f"more than {_DEEPEST} parentheses and `not` within each other")
        if opened.text == "not":
            condition = self._negation(not negated)
        else:
            condition = self.either(negated)
            if not self._takes(")"):
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
                raise refuse(self._text, start, f"{left.text} {sign} {right.text} compares two numbers and no metric")
            if left[1:] == right[1:]:
                raise refuse(self._text, start, f"{left.text} is compared with itself")
            parts.append(Comparison(left, _OPPOSITE[sign] if negated else sign, right))
            left = right
        if not parts:
            raise self.expected(f"{_SIGNS} after {left.text}")
        return _group(not negated, parts)

    def _operand(self) -> Number | Value:
        token = self.next
        if token.kind == "number":
            self._at += 1
            return Number(token.text, *_number(self._text, token))
        if token.kind != "name":
            raise self.expected("a metric or a number")
        self._at += 1
        part, quoted = None, False
        if self.next.kind == "part":
            part, quoted = self.next.value, self.next.text[1:].lstrip()[0] in "\"'"
            self._at += 1
        suffix = self._suffix(token.value) if self._takes(".") else None
        last = self._tokens[self._at - 1]
        written = self._text[token.start : last.start + len(last.text)]
        if len(written) > _LONGEST_VALUE:
            raise refuse(
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
            raise refuse(self._text, self.next.start, f"write {made}.{ends.pop()}, and evaluate {made} too")


def _group(every: bool, parts: list[Condition]) -> Condition:
    return parts[0] if len(parts) == 1 else Group(every, tuple(parts))


def _number(text: str, token: Token) -> tuple[float, float | None]:
    """The number, and as a share if it is a percentage: rounded once, so that 12.3% is 0.123."""
    digits, _, exponent = token.value.lower().partition("e")
    value = float(token.value)
    share = float(f"{digits}e{int(exponent or 0) - 2}") if token.text.endswith("%") else None
    if abs(value) == float("inf") or (0.0 in (value, share) and digits.strip("+-0.")):
        raise refuse(text, token.start, "this number is too large or too small for float64")
    return value, share
