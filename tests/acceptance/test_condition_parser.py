"""Conditions that cannot be read: each is an error that points at the place, and none costs much."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import tallymark as tm

NUMBERS = {"r2": 0.5, "rmse": 2.0}


def place_of(text):
    """The character that the caret points at, and the sentence."""
    with pytest.raises(tm.ParameterError) as caught:
        tm.accept(NUMBERS, text)
    sentence, line, caret = str(caught.value).split("\n")
    at = len(caret) - 1
    return (line + "¶")[at], sentence


@pytest.mark.parametrize(
    ("text", "found", "advice"),
    [
        ("r2", "¶", "expected a comparison"),
        ("r2 >", "¶", "expected a metric or a number; found the end"),
        ("r2 > > 1", ">", "expected a metric or a number; found '>'"),
        ("r2 rmse > 1", "r", "expected a comparison"),
        ("(r2 > 1", "¶", "a closing parenthesis; found the end"),
        ("(r2) > 1", ")", "expected a comparison"),
        ("r2 > 1)", ")", "expected and, or, or the end"),
        ("and r2 > 1", "a", "expected a metric or a number"),
        ("r2 > 1 rmse < 2", "r", "expected and, or, or the end"),
        ("r2 and rmse > 1", "a", "expected a comparison"),
        ("r2 ≥ 1", "≥", "write >="),
        ("r2 ≤ 1", "≤", "write <="),
        ("r2 ≠ 1", "≠", "write !="),
        ("r2 > −1", "−", "write -"),
        ("r2 => 1", "=", "write >="),
        ("r2 =< 1", "=", "write <="),
        ("r2 <> 1", "<", "write !="),
        ("r2 = 1", "=", "write =="),
        ("r2 === 1", "=", "write =="),
        ("r2 > 1 && rmse < 1", "&", "write and"),
        ("r2 > 1 | rmse < 1", "|", "write or"),
        ("!(r2 > 1)", "!", "write not"),
        ("r2 > 1, rmse < 1", ",", "write and"),
        ("r2 > 1 AND rmse < 1", "A", "write and"),
        ("r2 ＞ 1", "＞", "there is no '＞'"),
        ("r2 > ١", "١", "there is no '١'"),
        ("r2 > 1\u0660", "\u0660", "expected a blank after the number 1"),
        ("r2 > nan", "n", "must be finite; got nan"),
        ("r2 < Infinity", "I", "must be finite; got Infinity"),
        ("r2 > -inf", "-", "arithmetic is not supported"),
        ("r2 > 1e999", "1", "too large or too small"),
        ("r2 > -1e-999", "-", "too large or too small"),
        ("r2 > 1e-323%", "1", "too large or too small"),
        ("r2 > 1e" + "9" * 5000, "1", "at most 100 characters"),
        ("r2 > " + "9" * 5000, "9", "at most 100 characters"),
        ("r2 > 0x10", "x", "expected a blank after the number 0"),
        ("r2 > 1_000", "_", "expected a blank after the number 1"),
        ("r2 > 1,000", ",", "expected a blank after the number 1"),
        ("r2 > 1.2.3", ".", "expected a blank after the number 1.2"),
        ("r2 > 5%%", "%", "expected a blank after the number 5%"),
        ("r2 + 1 > 2", "+", "arithmetic is not supported"),
        ("r2 > 1 / 2", "/", "arithmetic is not supported"),
        ("1 < 2", "1", "compares two numbers and no metric"),
        ("rmse > 1 and 1 < 2 < r2", "1", "compares two numbers and no metric"),
        ("r2 >= r2", "r", "r2 is compared with itself"),
        ("r2.__class__ > 1", "_", "expected one of lo, hi, n"),
        ("r2.lo() > 1", "l", "expected one of lo, hi, n"),
        ("r2. > 1", ">", "expected one of lo, hi, n"),
        ("r2.lo.hi > 1", ".", "expected a comparison"),
        ("r2.5 > 1", ".", "expected a comparison"),
        ("fscore(beta=2 > 1", "(", "this parenthesis is never closed"),
        ("fscore(beta=')' > 1", "(", "this parenthesis is never closed"),
        ('"r2 > 1', '"', "this quote is empty or never closed"),
        ("'' > 1", "'", "this quote is empty or never closed"),
        ("r2[ ] > 1", "[", "expected a class"),
        ("r2[a > 1", "[", "expected a class"),
        ("r2[a][b] > 1", "[", "expected a comparison"),
        ("r2 > 1 \x1b[31m", "�", "character 0x001b"),
        ("r2 > 1 \ud800", "�", "character 0xd800"),
        ("'\u202e' > 1", "�", "character 0x202e"),
        ("r2\x00 > 1", "�", "character 0x0000"),
        ("lambda: r2", ":", "there is no ':'"),
        ("r2 > 1 # fine", "#", "there is no '#'"),
        ("r2 > {}", "{", "there is no '{'"),
        ("r2 > 1 and\n  rmse <\n 5 5", "5", "expected and, or, or the end"),
    ],
)
def test_a_mistake_is_pointed_at(text, found, advice):
    """The caret stands below the character at fault; the sentence says what was expected."""
    character, sentence = place_of(text)
    assert character == found
    assert advice in sentence
    assert sentence.startswith("`condition` cannot be read at character ")


def test_the_line_at_fault_is_shown_and_no_more():
    """Of many lines one, of a long line a piece; wide characters move the caret by two."""
    with pytest.raises(tm.ParameterError) as caught:
        tm.accept(NUMBERS, "r2 > 1 and\nrmse ! 1\nor r2 < 1")
    assert str(caught.value).split("\n")[1:] == ["    rmse ! 1", "         ^"]
    with pytest.raises(tm.ParameterError) as caught:
        tm.accept(NUMBERS, "r2 > 1 and " * 500 + "!" + " or r2 > 1" * 200)
    assert max(map(len, str(caught.value).split("\n"))) <= 130
    with pytest.raises(tm.ParameterError) as caught:
        tm.accept(NUMBERS, "'日本' > 1 ?")
    assert str(caught.value).endswith("\n     \u3000\u3000      ^")


@pytest.mark.parametrize(
    "text",
    [
        "(" * 100_000,
        "(" * 9_000,
        "(" * 51 + "r2 > 0" + ")" * 51,
        "not " * 51 + "r2 > 0",
        "not(" * 2_000,
        "r2" + "[" * 9_000,
        "r2[" + " " * 9_000,
        "r2(" * 3_000,
        "r2(" + "(" * 4_000 + ")" * 4_000 + ") > 0",
        "r2(x=" + "-" * 9_000 + "1) > 0",
        "r2(x=" + "[" * 4_000 + "]" * 4_000 + ") > 0",
        "'" * 9_999,
        '"' + "'" * 9_000,
        "r2" + ".lo" * 3_000 + " > 0",
        "r2 > " + "-" * 9_000 + "1",
        "r2 > " * 1_900,
        "." * 9_000,
        " " * 9_000 + "r2",
        "a" * 9_990 + " > 0",
    ],
)
def test_long_and_deep_texts_are_refused(text):
    """With a short message; no recursion, no search that goes on and on."""
    with pytest.raises(tm.ParameterError) as caught:
        tm.accept(NUMBERS, text)
    assert len(str(caught.value)) < 600


def test_deep_and_long_within_bounds():
    """Fifty levels, and as many comparisons as fit."""
    assert tm.accept(NUMBERS, "(" * 50 + "r2 > 0" + ")" * 50)
    assert tm.accept(NUMBERS, "not " * 50 + "r2 > 0")
    found = tm.accept(NUMBERS, " and ".join(["r2 > 0"] * 900))
    assert found.passed
    assert len(found.conditions) == 900
    assert len(tm.accept(NUMBERS, "0 < r2 < " + "1 > r2 < " * 900 + "1").conditions) == 1_802


def test_code_is_looked_up_and_never_run():
    """Names of Python mean nothing here; parameters are literals."""
    for text in (
        "__import__ > 1",
        "__import__('os') > 1",
        "exec(x=1) > 1",
        "r2(undefined=__import__('os').getpid()) > 1",
        "r2(**x) > 1",
        "True > 0",
        "None == 0",
        "'r2.__class__' > 0",
        "ｒ２ > 0",
    ):
        with pytest.raises(tm.ParameterError, match="is not in the mapping; it has r2, rmse"):
            tm.accept(NUMBERS, text)


def test_random_texts_are_read_or_refused():
    """Pieces in any order: an acceptance or our error, never another."""
    pieces = ["r2", "rmse", ">", "<=", "!=", " ", "and", "or", "not", "(", ")", "[a]", ".lo", ".", "1", "-2e3", "5%"]
    pieces += ["'r2'", '"', "f1(", "=", "é", "\n", "nan", "𝟏"]
    rng = np.random.default_rng(3)
    read = 0
    for _ in range(3_000):
        text = " ".join(rng.choice(pieces, size=rng.integers(1, 8)))
        with contextlib.suppress(tm.ParameterError):
            read += isinstance(tm.accept(NUMBERS, text), tm.acceptance.Acceptance)
    assert read > 0
