"""Drafts: the form of a challenge, read into typed values with an error for every invalid field."""

from __future__ import annotations

import math
import re
import secrets
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from tallymark.app.domain.data_files import DATA_FOR
from tallymark.app.domain.errors import FormError
from tallymark.app.domain.versions import ScoringConfig, validate_scoring
from tallymark.data.arguments import split_list
from tallymark.submissions.settings import MISSING, TASKS

SPLITS = ("none", "column", "seeded")
LATE = ("refuse", "mark")
REVEAL = ("organiser", "closing")  # when the private part is shown: when an organiser reveals it, or once it is over
_TEXT_LENGTHS = {"title": (3, 100), "summary": (0, 300), "rules": (0, 50_000)}
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_RESERVED_SLUGS = ("new",)


class ChallengeDraft(NamedTuple):
    """The settings of a challenge: its address, texts, rules and scoring."""

    slug: str
    texts: dict[str, str]
    rules: dict[str, Any]
    scoring: ScoringConfig
    publish: bool = False


def parse_draft(form: Mapping[str, str]) -> ChallengeDraft:
    """Parse a form; raises `FormError` with all invalid fields."""
    errors: dict[str, str] = {}

    def field(name: str, parse: Any) -> Any:
        try:
            return parse(form.get(name, "").strip())
        except ValueError as error:
            errors[name] = str(error)
            return None

    texts = {name: field(name, _text(*bounds)) for name, bounds in _TEXT_LENGTHS.items()}
    slug = field("slug", lambda text: _slug(text or form.get("title", "")))
    rules = {
        "opens": field("opens", _utc_time),
        "deadline": field("deadline", _utc_time),
        "late": field("late", _one_of(LATE)),
        "quota": field("quota", _integer(1, 1000)),
        "total_quota": field("total_quota", lambda text: _integer(1, 100_000)(text) if text else None),
        "finals": field("finals", _integer(1, 100)),
        "must_accept": form.get("must_accept") == "1",
        "data_for": field("data_for", lambda text: _one_of(DATA_FOR)(text or DATA_FOR[0])),
        "reveal": field("reveal", lambda text: _one_of(REVEAL)(text or REVEAL[0])),
        "team_size": field("team_size", lambda text: _integer(1, 1000)(text) if text else None),
        **{f"shows_{name}": form.get(f"show_{name}") == "1" for name in ("intervals", "classes", "counts")},
    }
    if rules["must_accept"] and not texts["rules"]:
        errors.setdefault("rules", "Enter the rules that participants must accept.")
    if rules["opens"] and rules["deadline"] and rules["opens"] >= rules["deadline"]:
        errors["deadline"] = "The deadline must be after the opening time."
    split_kind = field("split", _one_of(SPLITS))
    split: dict[str, Any] = {"kind": split_kind}
    if split_kind == "column":
        split["column"] = field("split_column", _text(1, 200))
    if split_kind == "seeded":
        share = field("split_share", _share)
        seed = field("split_seed", lambda text: _integer(0, (1 << 63) - 1)(text or str(secrets.randbits(62))))
        split |= {"share": share, "seed": seed}
    task = field("task", _one_of(TASKS))
    missing, query = form.get("missing", "").strip(), form.get("query_column", "").strip()
    scoring = ScoringConfig(
        task,
        field("id_column", lambda text: _text(1, 200)(text or "row_id")),
        field("label_column", lambda text: _text(1, 200)(text or "label")),
        # Fields that the form hides for this task are not checked, but kept where they are valid.
        field("query_column", lambda text: _text(1, 200)(text or "query"))
        if task == "ranking" or len(query) <= 200
        else "query",
        (split_list([form.get("classes", "").replace("\n", ",")]) or None) if task == "probabilities" else None,
        form.get("positive", "").strip() or None,
        field("missing", _one_of(MISSING)) if task == "labels" or missing in MISSING else MISSING[0],
        split_list([form.get("metrics", "").replace("\n", ",")]),
        split,
    )
    if not errors:
        errors = validate_scoring(scoring)
    if errors:
        raise FormError(errors)
    return ChallengeDraft(slug, texts, rules, scoring, form.get("publish") == "1")


def _text(min_length: int, max_length: int) -> Any:
    def parse(text: str) -> str:
        if not min_length <= len(text) <= max_length:
            raise ValueError(f"Use {min_length:,} to {max_length:,} characters; this has {len(text):,}.")
        return text

    return parse


def _one_of(choices: Sequence[str]) -> Any:
    def parse(text: str) -> str:
        if text not in choices:
            raise ValueError(f"Choose one of {', '.join(choices)}.")
        return text

    return parse


def _integer(minimum: int, maximum: int) -> Any:
    def parse(text: str) -> int:
        if not text.isascii() or not text.isdigit() or len(text) > 19 or not minimum <= int(text) <= maximum:
            raise ValueError(f"Enter a whole number from {minimum:,} to {maximum:,}.")
        return int(text)

    return parse


def _share(text: str) -> float:
    try:
        share = float(text) / 100
    except ValueError:
        share = math.nan
    if not 0 < share < 1:
        raise ValueError("Enter a number between 0 and 100, such as 30.")
    return share


def _utc_time(text: str) -> datetime | None:
    if not text:
        return None
    try:
        time = datetime.fromisoformat(text)
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("Enter a date and time in UTC, such as 2027-01-31T12:00.") from None


def _slug(text: str) -> str:
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", ascii_text).strip("-")[:60].strip("-")
    if not _SLUG.fullmatch(slug) or slug in _RESERVED_SLUGS:
        raise ValueError("Use letters and digits, separated by hyphens, such as animals-on-photographs.")
    return slug
