"""Look-alikes: texts that differ, and that people read as the same."""

from __future__ import annotations

import unicodedata

# Letters of other scripts, and digits, that look like Latin letters once case is folded.
_LOOK_ALIKES = str.maketrans(
    "аɑαβвсϲԁеɛεɡһіıιјкκӏοоρрԛѕтτυүνѵωԝхχуγ01|",
    "aaabbccdeeeghiiijkklooppqsttuuvvwwxxyyoll",
)
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"))


def skeleton(text: str) -> str:
    """The same text for texts that look alike.

    >>> skeleton("Ada L0velace") == skeleton("аda lovelace")
    True
    """
    if text.isascii() and text.isalpha() and text.islower():
        return text
    folded = unicodedata.normalize("NFKC", text).translate(_INVISIBLE).casefold().translate(_LOOK_ALIKES)
    return "".join(folded.split())
