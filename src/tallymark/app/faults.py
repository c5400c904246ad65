"""What the app refuses, in the words that people read."""

from __future__ import annotations

from collections.abc import Mapping


class Refused(Exception):  # noqa: N818 - no fault of ours
    """A request that is not granted: a page says why, what to do, and where, as the text and the address of a link."""

    def __init__(self, status: int, sentence: str, mend: str = "", where: tuple[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
        self.mend = mend
        self.where = where


class Wrong(Exception):  # noqa: N818 - no fault of ours
    """A form that was not filled in rightly: a sentence for each field, "" for the whole."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__("; ".join(errors.values()))
        self.errors = dict(errors)


def not_found() -> Refused:
    """What is said where there is nothing, or nothing for this reader: the two look the same."""
    return Refused(404, "There is nothing here.", "Look at the address again, or start from the list of challenges.")
