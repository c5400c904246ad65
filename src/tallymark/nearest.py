"""What a misspelt word may have meant."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str], most: int = 1, cutoff: float = 0.6) -> list[str]:
    """The known words that are most like a word, the nearest first; none where nothing is.

    >>> nearest("regresion", ["ranking", "regression"])
    ['regression']
    """
    import difflib  # only mistakes need it

    return difflib.get_close_matches(word, list(known), n=most, cutoff=cutoff)


def did_you_mean(word: object, known: Iterable[str]) -> str | None:
    """A hint for an error; None where nothing is near."""
    near = nearest(word, known) if isinstance(word, str) else []
    return f"Did you mean {near[0]}?" if near else None
