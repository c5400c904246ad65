"""Options that several commands have."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from tallymark.data.arguments import split_list
from tallymark.data.target import KINDS
from tallymark.errors import Argument, ParameterError, Text
from tallymark.intervals.settings import METHODS, Intervals

if TYPE_CHECKING:
    from tallymark.submissions.settings import Limits


TASKS = ("labels", "numbers", "probabilities", "ranking")  # those of submissions, which are loaded when one is read

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def _complete_columns(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The columns of the file, once it is named."""
    from tallymark.errors import TallymarkError
    from tallymark.sources.files import File
    from tallymark.sources.paths import find_files

    named = [ctx.params.get("file"), *(ctx.params.get("files") or ()), ctx.params.get("submission"), *ctx.args]
    try:
        with File(
            next(iter(find_files([path for path in named if path] or [""]))), separator=ctx.params.get("separator")
        ) as file:
            return _complete_last(dict.fromkeys(file.names), incomplete)
    except TallymarkError:
        return []


def complete_metrics(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The names of the metrics, with what they are."""
    from tallymark.metrics.listing import list_metrics

    return _complete_last({str(each): each.description for each in list_metrics()}, incomplete)


def _complete_last(names: Mapping[str, str | None], incomplete: str) -> list[CompletionItem]:
    """The names, with what they are, that continue a list after its last comma."""
    before, comma, last = incomplete.rpartition(",")
    return [
        CompletionItem(f"{before}{comma}{name}", help=about) for name, about in names.items() if name.startswith(last)
    ]


def column(name: str, text: str) -> Decorator:
    """An option that names a column of the file."""
    return click.option(name, metavar="COLUMN", help=text, shell_complete=_complete_columns)


def columns(name: str, text: str, *, required: bool = False) -> Decorator:
    """An option that names one or more columns of the file."""
    return click.option(
        name,
        metavar="COLUMN,...",
        help=text,
        required=required,
        multiple=True,
        callback=_split_columns,
        shell_complete=_complete_columns,
    )


def _split_columns(_: click.Context, option: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    """Names between commas, as in the header of a CSV file: one that contains a comma is in double quotes."""
    try:
        return tuple(name for text in given for name in (next(csv.reader([text])) if "," in text else [text]))
    except csv.Error as error:  # a line break outside of quotes
        raise click.BadParameter(f"it is not a line of CSV: {error}", param=option) from error


def _split(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> list[str]:
    return split_list(given)


ONE_FILE = click.argument("file", metavar="FILE", type=click.Path())
FILES = click.argument("files", metavar="FILE...", type=click.Path(), nargs=-1, required=True)
METRICS = click.option(
    "--metrics",
    metavar="METRIC,...",
    multiple=True,
    callback=_split,
    shell_complete=complete_metrics,
    help="Metrics, separated by commas; the default depends on the types of the columns.",
)
_CLASSES = click.option(
    "--classes",
    metavar="LABEL,...",
    multiple=True,
    callback=_split,
    help="All classes, separated by commas, in the order of the probability columns.",
)
_SEPARATOR = click.option(
    "--separator", metavar="CHARACTER", help="Field separator (delimiter), for example ';' or 'tab'."
)
_COUNT = click.IntRange(min=1)
_LIMIT_OPTIONS: list[Decorator] = [
    click.option(f"--max-{name}", metavar="NUMBER", type=kind, help=text)
    for name, kind, text in (
        ("bytes", _COUNT, "Reject a larger submission."),
        ("rows", _COUNT, "Reject a submission with more rows."),
        ("columns", _COUNT, "Reject a submission with more columns; by default 10,000."),
        ("field-length", _COUNT, "Reject a submission with longer fields; by default 100,000 characters."),
        ("labels", _COUNT, "Reject a submission with more distinct labels."),
        ("unpacked-bytes", _COUNT, "Reject a compressed file that unpacks to more bytes; by default 17 GB."),
        (
            "ratio",
            click.FloatRange(min=0, min_open=True),
            "Reject a compressed file that unpacks to a larger multiple of its size; by default 100.",
        ),
    )
]
_ROW_OPTIONS: list[Decorator] = [
    column("--weights", "The column of row weights."),
    column("--query", "The column of queries, for ranking metrics."),
    click.option(
        "--kind",
        type=click.Choice(KINDS),
        help="What the predictions are, if it cannot be inferred from the type.",
    ),
    click.option(
        "--positive", metavar="LABEL", help="The positive class; by default true, or 1 if the other class is 0 or -1."
    ),
    _CLASSES,
    click.option("--normalize", is_flag=True, help="Divide the probabilities of each row by their sum."),
    click.option(
        "--labels",
        is_flag=True,
        help="Compare labels as text: 1 and 1.0 differ.",
    ),
    click.option(
        "--missing",
        type=click.Choice(["error", "drop"]),
        default="error",
        show_default=True,
        help="Reject missing values, or drop and count the rows that have any.",
    ),
    _SEPARATOR,
]
_INTERVAL_OPTIONS: list[Decorator] = [
    click.option(
        "--resamples",
        type=int,
        help="Number of bootstrap replicates; by default 1,000, or more if the level needs them.",
    ),
    click.option("--seed", type=int, default=0, show_default=True, help="The seed of the bootstrap."),
    column("--cluster", "The column of cluster ids, such as patients; clusters are resampled whole."),
]
MIN_ROWS = click.option(
    "--min-rows", type=int, default=1, show_default=True, help="Group metrics leave out groups with fewer rows."
)
ACCEPT = click.option(
    "--accept",
    multiple=True,
    metavar="CONDITION",
    help='A condition that the report must meet, such as "r2 > 0.8 and rmse < 5".',
)
SAVE_TALLY = click.option(
    "--save-tally", metavar="FILE", type=click.Path(), help="Save the tally to a file; merge adds tallies."
)
CI_METHOD = click.option(
    "--ci-method",
    type=click.Choice(METHODS),
    default="auto",
    show_default=True,
    help="How confidence intervals are computed.",
)
_FORMAT_OPTIONS: list[Decorator] = [
    click.option("--json", "format", flag_value="json", help="Print JSON."),
    click.option("--csv", "format", flag_value="csv", help="Print CSV."),
    click.option("--markdown", "format", flag_value="markdown", help="Print Markdown."),
]
_OUTPUT_FILE_OPTIONS: list[Decorator] = [
    click.option("--html", metavar="FILE", type=click.Path(), help="Also write an HTML page with plots."),
    click.option(
        "--output",
        "-o",
        metavar="FILE",
        type=click.Path(),
        help="Write to a file instead of printing; the ending .html, .md, .json or .csv sets the format.",
    ),
]


def _applied(decorators: list[Decorator]) -> Decorator:
    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for each in reversed(decorators):
            function = each(function)
        return function

    return decorate


def row_options(file: Decorator, prediction: str) -> Decorator:
    """A file or several, their columns, and the kind of their rows."""
    return _applied(
        [
            file,
            columns("--truth", "The true values or labels.", required=True),
            columns("--prediction", prediction, required=True),
            METRICS,
            *_ROW_OPTIONS,
        ]
    )


def submission_options() -> Decorator:
    """The columns of a submission, and what they hold."""
    return _applied(
        [
            click.option("--id", default="row_id", show_default=True, metavar="COLUMN", help="The column of row ids."),
            click.option(
                "--label",
                default="label",
                show_default=True,
                metavar="COLUMN",
                help="The column of labels or numbers in the answers, and by default in the submission.",
            ),
            column(
                "--prediction",
                "The column of predictions in the submission; by default that of --label, else the only one of "
                "prediction, pred, y_pred, score and probability.",
            ),
            click.option(
                "--task",
                type=click.Choice(TASKS),
                help="What is predicted; by default the task of the metrics, or labels.",
            ),
            _CLASSES,
            click.option(
                "--missing",
                type=click.Choice(["count", "reject"]),
                default="count",
                show_default=True,
                help="In a challenge, count a missing label as wrong, or reject the file.",
            ),
            _SEPARATOR,
            *_LIMIT_OPTIONS,
        ]
    )


def submission_limits(given: Mapping[str, Any]) -> Limits:
    """The limits that were set."""
    from tallymark.submissions.settings import Limits

    set_ones = {name: given[f"max_{name}"] for name in Limits._fields if given[f"max_{name}"] is not None}
    return Limits(**set_ones)


def interval_options(*more: Decorator, clusters: bool = True) -> Decorator:
    """How sure the numbers are."""
    return _applied([*more, *(_INTERVAL_OPTIONS if clusters else _INTERVAL_OPTIONS[:-1])])


def intervals_of(given: Mapping[str, Any]) -> Intervals | None:
    """The intervals that the options ask for."""
    method, resamples, seed = given.get("ci_method", "auto"), given["resamples"], given["seed"]
    if given["ci"] is not None:
        return Intervals(given["ci"], method, resamples, seed)
    changed = {"ci_method": method != "auto", "resamples": resamples is not None, "seed": seed != 0}
    for name in (name for name, differs in changed.items() if differs):
        raise ParameterError(Text("{} says how intervals are made: pass {ci} too, such as {ci=0.95}", Argument(name)))
    return None


def output_options(*, files: bool = False) -> Decorator:
    """How to print, and what to write."""
    return _applied([*_FORMAT_OPTIONS, *(_OUTPUT_FILE_OPTIONS if files else [])])
