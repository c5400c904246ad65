"""Plain data as JSON: NaN and infinity, which JSON does not have, become null."""

from __future__ import annotations

import math
from typing import Any

from tallymark.errors import ParameterError, brief


def to_json(data: Any, indent: int | None = 2) -> str:
    """The data as JSON that every reader accepts."""
    import json  # slow to load, and few ask

    if indent is not None and (type(indent) is not int or not 0 <= indent <= 100):
        raise ParameterError(
            argument="indent", expected="be a number of spaces from 0 to 100, or None", got=brief(indent)
        )
    text = json.dumps(_without_infinities(data), indent=indent, allow_nan=False, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace").decode()  # half a sign is written as JSON does


def _without_infinities(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _without_infinities(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_infinities(item) for item in value]
    return value
