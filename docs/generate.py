"""Writes the pages that come from the code, and the lines that say how tallymark is installed."""

from __future__ import annotations

import sys
from pathlib import Path

from generators import (
    api_pages,
    command_help,
    decision_page,
    installation,
    metric_pages,
    names_table,
    settings_table,
    state_sizes,
)

FOLDER = Path(__file__).parent
SOURCES = (metric_pages, api_pages, decision_page, command_help, settings_table, names_table, state_sizes, installation)


def main(folder: Path = FOLDER) -> None:
    for source in SOURCES:
        for path, text in source.pages():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
