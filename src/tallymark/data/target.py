"""Target: what the predictions are and which classes there are, checked once per call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tallymark.data.arguments import check_choice, describe
from tallymark.data.labels import MOST_BITS, Label, label_or_none
from tallymark.errors import Argument, ParameterError, Text, brief

KINDS = ("value", "label", "probability", "margin", "score")


class Target:
    """What the predictions are: checked once per call, shared by every metric.

    Args:
        kind: "value", "label", "probability", "margin" or "score"; None infers it from the types and the metric.
        unanswered: The label of a missing prediction. Such a row counts as wrong for its true class and
            for no other class.
    """

    __slots__ = ("_key", "classes", "kind", "normalize", "positive", "unanswered")

    def __init__(
        self,
        kind: str | None = None,
        *,
        classes: object = None,
        positive: object = None,
        normalize: bool = False,
        unanswered: str | None = None,
    ) -> None:
        if kind is not None:
            check_choice("kind", kind, KINDS)
        if not isinstance(normalize, (bool, np.bool_)):
            raise ParameterError(argument="normalize", expected="be True or False", got=brief(normalize))
        if unanswered is not None and not isinstance(unanswered, str):
            raise ParameterError(argument="unanswered", expected="be a label, a string", got=describe(unanswered))
        self.kind = kind
        self.classes = None if classes is None else _read_classes(classes)
        self.positive = None if positive is None else _read_label(positive, "positive")
        self.normalize = bool(normalize)
        self.unanswered = unanswered
        if self.classes is not None and self.positive is not None and self.positive not in self.classes:
            raise ParameterError(
                argument="positive",
                expected=Text("be one of {classes}"),
                got=f"{self.positive!r}, and they were {show_labels(self.classes)}",
            )
        self._key = (self.kind, self.classes, self.positive, type(self.positive), self.normalize, self.unanswered)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Target) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        given = {key: value for key, value in self.keywords().items() if value not in (None, False)}
        return f"Target({', '.join(f'{key}={value!r}' for key, value in given.items())})"

    def with_classes(self, labels: Sequence[Label]) -> Target:
        """The same target, whose classes are these unless it has some, or they are too few to be classes."""
        if self.classes is not None or len(labels) < 2:
            return self
        return Target(**{**self.keywords(), "classes": labels})

    def of_margins(self) -> Target:
        """The same target, whose predictions are margins."""
        return self if self.kind == "margin" else Target(**{**self.keywords(), "kind": "margin"})

    def keywords(self) -> dict[str, Any]:
        """The keywords that make this target."""
        return {
            "kind": self.kind,
            "classes": None if self.classes is None else list(self.classes),
            "positive": self.positive,
            "normalize": self.normalize,
            **({} if self.unanswered is None else {"unanswered": self.unanswered}),
        }


def _read_label(value: object, name: str) -> Label:
    try:
        found = label_or_none(value)
    except Exception:  # of the value's own code
        found = None
    if found is None or isinstance(found, float):
        raise ParameterError(argument=name, expected="be a label: an integer or a string", got=describe(value))
    if isinstance(found, int) and found.bit_length() > MOST_BITS:
        raise ParameterError(argument=name, expected="be a label", got="a whole number of more than 4,200 digits")
    return found


def _read_classes(classes: object) -> tuple[Label, ...]:
    try:
        items = None if isinstance(classes, (str, bytes, dict, set, frozenset)) else list(classes)  # type: ignore[call-overload]
    except Exception:  # what cannot be walked through, such as an array of no dimensions
        items = None
    if items is None:
        raise ParameterError(argument="classes", expected="be a list of labels in order", got=describe(classes))
    found = tuple(_read_label(item, "classes") for item in items)
    if len({isinstance(label, str) for label in found}) > 1:
        raise ParameterError(argument="classes", expected="be all numbers or all strings", got=f"{show_labels(found)}")
    if len(set(found)) != len(found):
        seen: set[Label] = set()
        twice = next(label for label in found if label in seen or seen.add(label))  # type: ignore[func-returns-value]
        raise ParameterError(Text("{classes} must be distinct; got {} twice", repr(twice)), argument="classes")
    if len(found) < 2:
        raise ParameterError(argument="classes", expected="contain at least two labels", got=f"{len(found)}")
    return found


def show_labels(labels: Any, most: int = 6) -> str:
    """Labels as a reader sees them in a message; only the first of many."""
    shown = ", ".join(map(repr, list(labels)[:most]))
    return shown if len(labels) <= most else f"{shown}, … ({len(labels):,} in all)"


ANY_TARGET = Target()


def target_of(
    target: Target | None, kind: str | None, classes: object, positive: object, normalize: bool = False
) -> Target:
    """What a call says of its predictions: a `target`, or the keywords that make one, but not both."""
    if target is None:
        if kind is None and classes is None and positive is None and normalize is False:
            return ANY_TARGET
        return Target(kind, classes=classes, positive=positive, normalize=normalize)
    if not isinstance(target, Target):
        raise ParameterError(
            argument="target", expected='be a Target, such as tm.Target("probability")', got=describe(target)
        )
    also = {
        "kind": kind,
        "classes": classes,
        "positive": positive,
        "normalize": None if normalize is False else normalize,
    }
    for name in (name for name, given in also.items() if given is not None):
        raise ParameterError(
            Text("{target} and {} must not both be given: pass tm.Target({}=...)", Argument(name), name),
            argument="target",
        )
    return target
