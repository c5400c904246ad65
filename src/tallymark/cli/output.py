"""What a command answers, printed or written: for people as tables, for programs as JSON, CSV or Markdown."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from tallymark.cli.run import FINE, NOT_ACCEPTED
from tallymark.cli.wording import Options, command_line
from tallymark.errors import ParameterError, Rejection, TallymarkError, write_text
from tallymark.evaluation.report import Report
from tallymark.rendering.table import Table
from tallymark.rendering.text import to_text

STREAM = "-"  # standard output, where a file is named
_READ = ("file", "answers", "submission", "template")  # what commands call the files that they read
_WRITTEN = ("html", "output", "save_tally")
TALLY = ".tally"
_BY_SUFFIX = {".json": "json", ".csv": "csv", ".md": "markdown", ".html": "html", ".txt": None, "": None}


def deliver(result: Any, options: Mapping[str, Any], command: str) -> None:
    """Print a report or a comparison, or write it where the options say."""
    page, output = options["html"], options["output"]
    if page:
        _save(page, result.to_html(command=command))
    if output is not None:
        form = options["form"] or _BY_SUFFIX[_suffix(output)]
        _save(output, _plain(result, form, command))
    elif page != STREAM:
        _print_result(result, options["form"], command)


def tell_rejection(error: Rejection, form: str | None) -> None:
    """The problems of a submission for programs; people read them on standard error."""
    if form == "json":
        from tallymark.rendering.exports import to_json

        problems = [each.to_dict() for each in error.problems]
        told = {
            "rejected": True,
            "file": error.file,
            "total": error.total,
            "stopped": error.stopped,
            "problems": problems,
        }
        write(f"{to_json(told)}\n")


def check_places(options: Mapping[str, Any]) -> None:
    """Refuse to write over a file that is read, or in no form that there is, before anything is read."""
    check_not_read(options)
    output = options.get("output")
    if options.get("save_tally") == STREAM:
        raise ParameterError("`--save-tally` must be a file; got standard output")
    if output is not None and options["form"] is None and _suffix(output) not in _BY_SUFFIX:
        raise ParameterError(f"`--output` must end in {', '.join(filter(None, _BY_SUFFIX))}; got {output!r}")


def check_not_read(options: Mapping[str, Any]) -> None:
    """Refuse to write over a file that is read."""
    written = [(name, place) for name in _WRITTEN if (place := options.get(name)) and os.path.isfile(place)]
    read = _files_read(options) if written else []
    for option, place in written:
        if any(os.path.samefile(place, file) for file in read):
            named = option.replace("_", "-")
            raise ParameterError(f"`--{named}` must be another file than the one that is read; got {place!r}")


def _files_read(options: Mapping[str, Any]) -> list[str]:
    """All files that a command is going to read, as far as they are there."""
    from tallymark.sources.paths import find_files

    named = [path for name in _READ if (path := options.get(name))]
    for path in options.get("files", ()):
        try:
            named += find_files(path)
        except TallymarkError:  # the command will say so
            continue
    return [path for path in named if os.path.isfile(path)]


def _suffix(place: str) -> str:
    return Path(place).suffix.lower()


def _save(path: str, text: str) -> None:
    if path == STREAM:
        write(text)
        return
    from tallymark.rendering.files import write_whole

    write_whole(path, text)


def _print_result(result: Any, form: str | None, command: str) -> None:
    if form is None and _is_for_people():
        write(result.to_terminal(colour=True, width=_width()))
    else:
        write(_plain(result, form, command))


def _plain(result: Any, form: str | None, command: str) -> str:
    if form == "json":
        return f"{result.to_json()}\n"
    if form == "csv":
        return str(result.to_csv())
    if form == "markdown":
        return str(result.to_markdown(command=command))
    if form == "html":
        return str(result.to_html(command=command))
    return f"{result}\n"


def show_tables(tables: Sequence[Table]) -> None:
    """Tables for people: in colours and folded on a terminal, in full in a pipe."""
    if _is_for_people():
        from tallymark.rendering.terminal import to_terminal

        write(to_terminal(tables, width=_width()))
    else:
        write("\n\n".join(map(to_text, tables)) + "\n")


def _is_for_people() -> bool:
    """Whether a terminal with the package for it shows what is printed."""
    if sys.stdout is None or not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        return False
    from importlib.util import find_spec

    return find_spec("rich") is not None


def _width() -> int:
    return max(shutil.get_terminal_size().columns, 40)


def write(text: str) -> None:
    """Print a text in UTF-8, whatever the locale says."""
    if sys.stdout is None:  # it was closed
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()


def check_report(report: Report) -> Report:
    """A report whose notes are in the words of the command line; one where all failed is an error."""
    if report.failures and len(report.failures) == len(report):  # there is nothing to show
        raise next(iter(report.failures.values()))
    wording = Options(click.get_current_context().command)
    for key, error in report.failures.items():
        report.cell(key).error = type(error)(error.write(wording))
    for each in (report, *(report.slices or {}).values()):
        for cell in map(each.cell, each):
            cell.interval_notes = tuple(write_text(note, wording) for note in cell.interval_notes)
    return report


def answer(report: Report, options: Mapping[str, Any]) -> int:
    """Print or write a report; the exit code says whether it is accepted."""
    if options["accept"]:
        report = report.with_acceptance(options["accept"])
    deliver(report, options, command_line())
    if report.acceptance is None or report.acceptance.passed:
        return FINE
    click.echo(f"tallymark: {report.acceptance.sentence}", err=True)
    return NOT_ACCEPTED
