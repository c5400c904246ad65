"""Results, printed or written to files: for people as tables, for programs as JSON, CSV or Markdown."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from tallymark.cli.run import FINE, NOT_ACCEPTED, CommandWording
from tallymark.errors import ParameterError, Rejection, TallymarkError, write_text
from tallymark.evaluation.report import Report
from tallymark.rendering.table import Table
from tallymark.rendering.text import to_text

STANDARD_OUTPUT = "-"  # standard output, where a file is named
_INPUT_OPTIONS = ("file", "answers", "submission", "template")  # what commands call the files that they read
_OUTPUT_OPTIONS = ("html", "output", "save_tally")
TALLY = ".tally"
_BY_SUFFIX = {".json": "json", ".csv": "csv", ".md": "markdown", ".html": "html", ".txt": None, "": None}


def print_or_write(result: Any, options: Mapping[str, Any], command: str) -> None:
    """Print a report or a comparison, or write it where the options say."""
    page, output = options["html"], options["output"]
    if page:
        _save(page, result.to_html(command=command))
    if output is not None:
        output_format = options["format"] or _BY_SUFFIX[_suffix(output)]
        _save(output, _render(result, output_format, command))
    elif page != STANDARD_OUTPUT:
        _print_result(result, options["format"], command)


def print_rejection(error: Rejection, format: str | None) -> None:
    """Print the problems of a submission as JSON; people read them on standard error, with the options that help."""
    if any(each.code == "missing_column" for each in error.problems):
        error.add_hint("The columns are named by --id, --label and --prediction")
    if format == "json":
        from tallymark.rendering.exports import to_json
        from tallymark.sources.problems import group_problems

        rejected = {
            "rejected": True,
            "file": error.file,
            "total": error.total,
            "stopped": error.stopped,
            "problems": [each.to_dict() for each in error.problems],
            "groups": [each.to_dict() for each in group_problems(error.problems)],
        }
        write(f"{to_json(rejected)}\n")


def check_output_paths(options: Mapping[str, Any]) -> None:
    """Raise for an output over an input or in an unknown format, before anything is read."""
    check_inputs_kept(options)
    output = options.get("output")
    if options.get("save_tally") == STANDARD_OUTPUT:
        raise ParameterError("`--save-tally` must be a file; got standard output")
    if output is not None and options["format"] is None and _suffix(output) not in _BY_SUFFIX:
        raise ParameterError(f"`--output` must end in {', '.join(filter(None, _BY_SUFFIX))}; got {output!r}")


def check_inputs_kept(options: Mapping[str, Any]) -> None:
    """Raise for an output that would overwrite an input."""
    written = [(name, place) for name in _OUTPUT_OPTIONS if (place := options.get(name)) and os.path.isfile(place)]
    read = _files_read(options) if written else []
    for option, place in written:
        if any(os.path.samefile(place, file) for file in read):
            named = option.replace("_", "-")
            raise ParameterError(f"`--{named}` must be another file than the one that is read; got {place!r}")


def _files_read(options: Mapping[str, Any]) -> list[str]:
    """All existing files that a command will read."""
    from tallymark.sources.paths import find_files

    named = [path for name in _INPUT_OPTIONS if (path := options.get(name))]
    for path in options.get("files", ()):
        try:
            named += find_files(path)
        except TallymarkError:  # the command will say so
            continue
    return [path for path in named if os.path.isfile(path)]


def _suffix(place: str) -> str:
    return Path(place).suffix.lower()


def _save(path: str, text: str) -> None:
    if path == STANDARD_OUTPUT:
        write(text)
        return
    from tallymark.rendering.files import write_atomically

    write_atomically(path, text)


def _print_result(result: Any, format: str | None, command: str) -> None:
    if format is None and _is_rich_terminal():
        write(result.to_terminal(colour=True, width=_width()))
    else:
        write(_render(result, format, command))


def _render(result: Any, format: str | None, command: str) -> str:
    if format == "json":
        return f"{result.to_json()}\n"
    if format == "csv":
        return str(result.to_csv())
    if format == "markdown":
        return str(result.to_markdown(command=command))
    if format == "html":
        return str(result.to_html(command=command))
    return f"{result}\n"


def print_tables(tables: Sequence[Table]) -> None:
    """Tables for people: in colours and folded on a terminal, in full in a pipe."""
    if _is_rich_terminal():
        from tallymark.rendering.terminal import to_terminal

        write(to_terminal(tables, width=_width()))
    else:
        write("\n\n".join(map(to_text, tables)) + "\n")


def _is_rich_terminal() -> bool:
    """Whether standard output is a terminal for which the package rich can be used."""
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
    wording = report.wording = CommandWording(click.get_current_context().command)
    slices = [] if report.slices is None else [report.slices, *report.slices_by_column()]
    for each in (report, *(group for groups in slices for group in groups.values())):
        for cell in map(each.cell, each):
            cell.error = None if cell.error is None else type(cell.error)(cell.error.write(wording))
            cell.interval_notes = tuple(write_text(note, wording) for note in cell.interval_notes)
            cell.no_interval = None if cell.no_interval is None else write_text(cell.no_interval, wording)
    return report


def finish_report(report: Report, options: Mapping[str, Any]) -> int:
    """Print or write a report; the exit code says whether it is accepted."""
    if options["accept"]:
        report = report.with_acceptance(options["accept"])
    print_or_write(report, options, command_line())
    if report.acceptance is None or report.acceptance.passed:
        return FINE
    click.echo(f"tallymark: {report.acceptance.sentence}", err=True)
    return NOT_ACCEPTED


def command_line(hidden: Mapping[str, str] | None = None) -> str:
    """The command as it was typed, to run it again; words in `hidden` are replaced."""
    words = [(hidden or {}).get(word, word) for word in sys.argv[1:]]
    typed = shlex.join(["tallymark", *words])
    return typed.encode("utf-8", "replace").decode()  # a name may hold bytes that are no text
