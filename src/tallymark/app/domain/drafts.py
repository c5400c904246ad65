"""Drafts: a challenge as an organiser asks for it, read from the form, with all that is wrong with it."""

from __future__ import annotations

import math
import re
import secrets
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from tallymark.app.domain.versions import Scoring, check_scoring
from tallymark.app.http.errors import FieldError
from tallymark.data.arguments import split_list
from tallymark.submissions.settings import TASKS

SPLITS = ("none", "column", "seeded")
LATE = ("refuse", "mark")
_TEXTS = {"title": (3, 100), "summary": (0, 300), "rules": (0, 50_000)}
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_TAKEN = ("new",)


class Draft(NamedTuple):
    """A challenge as an organiser wants it."""

    slug: str
    texts: dict[str, str]
    rules: dict[str, Any]
    scoring: Scoring


def read_draft(form: Mapping[str, str]) -> Draft:
    """The fields of the form, or everything that is wrong with them."""
    errors: dict[str, str] = {}

    def field(name: str, read: Any) -> Any:
        try:
            return read(form.get(name, "").strip())
        except ValueError as error:
            errors[name] = str(error)
            return None

    texts = {name: field(name, _text(*bounds)) for name, bounds in _TEXTS.items()}
    slug = field("slug", lambda text: _slug(text or form.get("title", "")))
    rules = {
        "opens": field("opens", _moment),
        "deadline": field("deadline", _moment),
        "late": field("late", _one_of(LATE)),
        "quota": field("quota", _whole(1, 1000)),
        "finals": field("finals", _whole(1, 100)),
        **{f"shows_{name}": form.get(f"show_{name}") == "1" for name in ("intervals", "classes", "counts")},
    }
    if rules["opens"] and rules["deadline"] and rules["opens"] >= rules["deadline"]:
        errors["deadline"] = "It must come after the challenge opens."
    kind = field("split", _one_of(SPLITS))
    split: dict[str, Any] = {"kind": kind}
    if kind == "column":
        split["column"] = field("split_column", _text(1, 200))
    if kind == "seeded":
        share = field("split_share", _share)
        seed = field("split_seed", lambda text: _whole(0, (1 << 63) - 1)(text or str(secrets.randbits(62))))
        split |= {"share": share, "seed": seed}
    scoring = Scoring(
        field("task", _one_of(TASKS)),
        field("id_column", lambda text: _text(1, 200)(text or "row_id")),
        field("label_column", lambda text: _text(1, 200)(text or "label")),
        field("query_column", lambda text: _text(1, 200)(text or "query")),
        split_list([form.get("classes", "").replace("\n", ",")]) or None,
        form.get("positive", "").strip() or None,
        field("missing", _one_of(("count", "reject"))),
        split_list([form.get("metrics", "").replace("\n", ",")]),
        split,
    )
    if not errors:
        errors = check_scoring(scoring)
    if errors:
        raise FieldError(errors)
    return Draft(slug, texts, rules, scoring)


def _text(least: int, most: int) -> Any:
    def read(text: str) -> str:
        if not least <= len(text) <= most:
            raise ValueError(f"It must have {least:,} to {most:,} characters; it has {len(text):,}.")
        return text

    return read


def _one_of(choices: Sequence[str]) -> Any:
    def read(text: str) -> str:
        if text not in choices:
            raise ValueError(f"It must be one of {', '.join(choices)}.")
        return text

    return read


def _whole(least: int, most: int) -> Any:
    def read(text: str) -> int:
        if not text.isascii() or not text.isdigit() or len(text) > 19 or not least <= int(text) <= most:
            raise ValueError(f"It must be a whole number from {least:,} to {most:,}.")
        return int(text)

    return read


def _share(text: str) -> float:
    try:
        share = float(text) / 100
    except ValueError:
        share = math.nan
    if not 0 < share < 1:
        raise ValueError("It must be a number between 0 and 100, such as 30.")
    return share


def _moment(text: str) -> datetime | None:
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("It must be a day and a time in UTC, such as 2027-01-31T12:00.") from None


def _slug(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    found = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:60].strip("-")
    if not _SLUG.fullmatch(found) or found in _TAKEN:
        raise ValueError("It must have letters and digits, with hyphens between them, such as animals-on-photographs.")
    return found
