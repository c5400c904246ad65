"""What the app refuses, in the words that people read."""

from __future__ import annotations

from collections.abc import Mapping

from tallymark.errors import TallymarkError, Wording

_LABELS = {
    "classes": "Classes",
    "id": "Column of ids",
    "label": "Column of answers",
    "metrics": "Metrics",
    "positive": "Positive class",
    "query": "Column of queries",
    "share": "Public share",
    "task": "What is predicted",
}


class Labels(Wording):
    """Arguments of a call under the labels of the fields in a form."""

    def argument(self, name: str) -> str:
        """The label in quotes."""
        return f"“{_LABELS[name]}”" if name in _LABELS else super().argument(name)


def in_field(error: TallymarkError, fields: Mapping[str, str], otherwise: str) -> dict[str, str]:
    """The message of an error at the field of the argument that it names, in the words of a form."""
    named = (field for argument, field in fields.items() if error.names(argument))
    return {next(named, otherwise): error.write(Labels())}


class RequestError(Exception):
    """A request that is not granted: a page says why, what to do, and where, as the text and the address of a link."""

    def __init__(self, status: int, sentence: str, mend: str = "", where: tuple[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
        self.mend = mend
        self.where = where


class FieldError(Exception):
    """A form that was not filled in rightly: a sentence for each field, "" for the whole."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__("; ".join(errors.values()))
        self.errors = dict(errors)


def not_found() -> RequestError:
    """What is said where there is nothing, or nothing for this reader: the two look the same."""
    return RequestError(
        404, "There is nothing here.", "Look at the address again, or start from the list of challenges."
    )
