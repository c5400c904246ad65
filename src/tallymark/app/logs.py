"""Logs as lines of JSON, without labels, names or secrets."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import TextIO


class JsonFormatter(logging.Formatter):
    """A record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        entry = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        if record.exc_info and record.exc_info[0] is not None:  # without its message, which may contain answers
            entry["error"] = record.exc_info[0].__name__
            entry["at"] = _traceback(record)
        return json.dumps(entry)


def _traceback(record: logging.LogRecord) -> list[str]:
    assert record.exc_info is not None
    frames, trace = [], record.exc_info[2]
    while trace is not None:
        code = trace.tb_frame.f_code
        frames.append(f"{code.co_filename}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return frames[-10:]


def start_logs(stream: TextIO | None = None, level: int = logging.INFO) -> None:
    """Write the logs of the app and of its server to a stream."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter())
    for name, least in (("tallymark.app", level), ("uvicorn", logging.WARNING), ("asyncio", logging.WARNING)):
        log = logging.getLogger(name)
        log.handlers[:] = [handler]
        log.propagate = False
        log.setLevel(least)
