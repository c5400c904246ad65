"""Labels that look the same and are not: they differ by case, blanks, Unicode form or look-alike characters."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator

# Letters of other scripts, and digits, that are drawn like Latin letters; after case is folded.
_ALIKE = str.maketrans(
    "аɑαβвсϲԁеɛεɡһіıιјкκӏοоρрԛѕтτυүνѵωԝхχуγ01|",
    "aaabbccdeeeghiiijkklooppqsttuuvvwwxxyyoll",
)
_UNSEEN = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"))
MOST_PAIRS = 10


def alike(predicted: Iterable[str], known: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Predicted labels that are not known but look like one that is: both labels, and what they differ by."""
    known = set(known)
    unknown = [label for label in predicted if label not in known]
    if not unknown:
        return
    by_look: dict[str, str] = {}
    for label in sorted(known):
        by_look.setdefault(_look(label), label)
    for label in sorted(unknown):
        other = by_look.get(_look(label))
        if other is not None:
            yield label, other, _difference(label, other)


def alike_among(labels: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Pairs of labels that look like each other, and what they differ by."""
    by_look: dict[str, str] = {}
    for label in sorted(labels):
        other = by_look.setdefault(_look(label), label)
        if other != label:
            yield label, other, _difference(label, other)


def _look(label: str) -> str:
    if label.isascii() and label.isalpha() and label.islower():
        return label
    folded = unicodedata.normalize("NFKC", label).translate(_UNSEEN).casefold().translate(_ALIKE)
    return "".join(folded.split())


def _difference(one: str, other: str) -> str:
    if _blanks(one) == _blanks(other):
        return "blanks"
    if one.casefold() == other.casefold():
        return "case"
    if unicodedata.normalize("NFKC", one) == unicodedata.normalize("NFKC", other):
        return "Unicode form"
    if _blanks(one.casefold()) == _blanks(other.casefold()):
        return "case and blanks"
    return "characters that look alike"


def _blanks(label: str) -> str:
    return "".join(label.split())
