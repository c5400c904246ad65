"""docs/api/*.md: what the public names are, from their signatures and docstrings."""

from __future__ import annotations

import doctest
import importlib
import inspect
import os
import pkgutil
import re
import textwrap
from collections.abc import Iterator
from typing import Any, NamedTuple

import tallymark as tm
from tallymark import errors
from tallymark.training import frameworks as framework_modules


class Page(NamedTuple):
    """A page: its name, its title, a sentence, and the names on it."""

    name: str
    title: str
    about: str
    names: tuple[str, ...]


_HOMES = (
    "extend",
    "client",
    "training",
    "model_selection",
    "submissions",
    "sklearn",
    "comparison",
    "acceptance",
    "guidance",
    "evaluation",
    "metrics",
)
HOME_OF = {name: home for home in reversed(_HOMES) for name in importlib.import_module(f"tallymark.{home}").__all__}
HOME_OF |= dict.fromkeys((*tm.__all__, "map"), "")
"""Every public name, and the package of `tm` that it is in; empty for `tm` itself."""


def is_ours(value: object) -> bool:
    """Whether a value is the package's own, rather than a module or something borrowed."""
    return not inspect.ismodule(value) and getattr(value, "__module__", "").startswith("tallymark")


def is_public(name: str) -> bool:
    """Whether a name is one of the package's own."""
    return name in HOME_OF


def typed(name: str) -> str:
    """A public name as one types it."""
    return f"tm.{HOME_OF[name]}.{name}" if HOME_OF.get(name) else f"tm.{name}"


GENERATED = "<!-- Written by make docs from the docstrings. -->"
MADE_BY_CALLERS = {
    *("Tally", "Batch", "Target", "Intervals", "Term", "Bound", "Bounded", "Undefined", "Interval", "NoInterval"),
    "Limits",
    "Client",
    *("EvalSet", "Evaluator", "EarlyStopping", "GainStopping", "StoppingRules", "History"),
    *("Console", "Progress", "JsonLines", "Checkpoint"),
    *("KFold", "StratifiedKFold", "GroupKFold", "Holdout", "StratifiedHoldout", "GroupHoldout"),
    *("Bootstrap", "StratifiedBootstrap", "Repeated", "TimeSeries", "LeaveOneOut"),
}
_BASES = tuple(
    name
    for name in tm.extend.__all__
    if isinstance(getattr(tm.extend, name), type) and issubclass(getattr(tm.extend, name), tm.extend.Metric)
)
PAGES = (
    Page(
        "evaluation",
        "Evaluation",
        "From rows to a report, at once or in pieces.",
        (
            "evaluate",
            "evaluate_model",
            "evaluate_table",
            "Report",
            "Cell",
            "Slices",
            "WorstRows",
            "Tally",
            "tally_table",
            "Target",
            "Intervals",
            "set_threads",
            "get_threads",
        ),
    ),
    Page(
        "comparison",
        "Comparison",
        "Which model is better. [Compare models](../how-to/compare.md) shows how.",
        ("compare", "Comparison", "Difference"),
    ),
    Page(
        "acceptance",
        "Acceptance",
        "Whether a model is good enough. [Accept or refuse a model](../how-to/accept.md) shows how.",
        ("accept", "Acceptance", "ConditionResult"),
    ),
    Page(
        "plots",
        "Plots",
        "What `report.plot` and `comparison.plot` draw; [plot a report](../how-to/plot.md) has pictures of all. "
        'They need matplotlib: `pip install "tallymark[plots]"`.',
        ("ReportPlots", "ComparisonPlots", "Plot"),
    ),
    Page(
        "training",
        "Training",
        "Evaluation while a model trains. [Early stopping](../how-to/early-stopping.md) shows how.",
        (
            *("EvalSet", "Evaluator", "Round", "EvalResult", "History"),
            *("EarlyStopping", "GainStopping", "StoppingRules", "StoppingRule"),
            *("Console", "Progress", "JsonLines", "Checkpoint", "default_metric"),
        ),
    ),
    Page(
        "model-selection",
        "Model selection",
        "Training and test rows, cross-validation and the best of several candidates. "
        "[Cross-validation and model selection](../how-to/cross-validate.md) shows how.",
        (
            *("cross_validate", "CrossValidation", "Fold", "Score", "select", "Selection", "aic", "bic"),
            *("KFold", "StratifiedKFold", "GroupKFold", "Holdout", "StratifiedHoldout", "GroupHoldout"),
            *("Bootstrap", "StratifiedBootstrap", "Repeated", "TimeSeries", "LeaveOneOut", "Splitter"),
            *("classification_metrics", "regression_metrics", "Bundle"),
        ),
    ),
    Page(
        "submissions",
        "Submissions",
        "Files of predictions, checked and scored against the answers. "
        "[Score a submission](../how-to/submissions.md) shows how.",
        ("score_submission", "SubmissionResult", "check_submission", "SubmissionCheck", "Problem", "Limits"),
    ),
    Page(
        "client",
        "Client of the app",
        "Challenges of the web app from Python, with the standard library only. "
        "[Use the API](../how-to/api.md) shows how.",
        ("Client", "RefusedError", "config_path", "save_login"),
    ),
    Page(
        "sklearn",
        "scikit-learn",
        "Scorers for scikit-learn, and its own functions of metrics answered by tallymark. "
        "[Use with scikit-learn](../how-to/scikit-learn.md) shows how.",
        ("scorer", "patch", "unpatch", "status"),
    ),
    Page(
        "guidance",
        "Guidance",
        "Which metric to take, and what it means. [Choosing a metric](../concepts/choosing.md) shows how.",
        ("choose", "Choice", "explain", "Explanation"),
    ),
    Page(
        "groups",
        "Metrics of groups",
        "Any metric as one that compares groups of rows. "
        "[Fairness metrics](../reference/fairness.md) has their formulas and ranges.",
        (
            *("gap", "ratio", "worst", "demographic_parity", "demographic_parity_ratio", "equal_opportunity"),
            *("equal_opportunity_ratio", "equalized_odds", "equalized_odds_ratio"),
        ),
    ),
    Page(
        "metrics",
        "Metrics by name, and what they return",
        "How metrics are found by name, and the values that are more than a number. The metrics themselves are in the "
        "[reference](../index.md).",
        ("metric", "list_metrics", "Listing", "Confusion", "ClassReport", "Curve", "Thresholds", "Bounded"),
    ),
    Page(
        "extend",
        "Metrics of your own",
        "What a metric is made of. [Add a custom metric](../how-to/add-a-metric.md) shows how it fits together.",
        (
            *(
                "custom",
                "Metric",
                "Answer",
                "Undefined",
                "Interval",
                "NoInterval",
                "Reads",
                *(name for name in _BASES if name != "Metric"),
            ),
            *("Bound", "Batch", "State", "Term", "Output", "Pairs", "Counts", "Cells", "divide"),
        ),
    ),
    Page("errors", "Errors", "Every error that is raised on purpose is a `ValueError`.", tuple(errors.__all__)),
)


def pages() -> Iterator[tuple[str, str]]:
    """Every page of public names, by its path below docs/."""
    for page in PAGES:
        lines = [f"# {page.title}", "", GENERATED, "", page.about, "", *contents(page.names)]
        if page.name == "errors":
            tree, _, about = inspect.cleandoc(errors.__doc__ or "").split("::\n\n", 1)[1].partition("\n\n")
            lines += ["", "```text", inspect.cleandoc(f"\n{tree}"), "```", "", about.replace("``", "`")]
        for name in page.names:
            lines += ["", *section(name)]
        yield f"api/{page.name}.md", "\n".join(lines) + "\n"
    yield "api/frameworks.md", "\n".join(frameworks()) + "\n"


def contents(names: tuple[str, ...]) -> Iterator[str]:
    """A table of the names on a page with the first sentence of each."""
    yield from ("| name | meaning |", "|---|---|")
    for name in names:
        value = public_value(name)
        text = value.description if isinstance(value, tm.extend.Metric) else inspect.getdoc(value) or ""
        sentence = re.split(r"(?<=\.)\s|\n\n", text)[0].replace("``", "`")
        yield f"| [{name}](#{name.lower()}) | {' '.join(sentence.split())} |"


def public_value(name: str) -> Any:
    """What a public name stands for."""
    return getattr(importlib.import_module(f"tallymark.{HOME_OF[name]}".rstrip(".")), name)


def frameworks() -> Iterator[str]:
    """What each module for a framework has; nothing else loads the framework."""
    yield from ("# Frameworks", "", GENERATED, "", "Each needs its framework, and an import.")
    os.environ.setdefault("KERAS_BACKEND", "torch")  # the default of Keras is TensorFlow
    for found in pkgutil.iter_modules(framework_modules.__path__):
        path = f"{framework_modules.__name__}.{found.name}"
        module = importlib.import_module(path)
        if not hasattr(module, "__all__"):
            continue  # what they share
        about, names = inspect.getdoc(module) or "", ", ".join(module.__all__)
        yield from ("", f"## {found.name}", "", about, "", "```python", f">>> from {path} import {names}", "", "```")
        for name in module.__all__:
            yield from ("", *section(f"{path}.{name}", f"### {found.name}.{name}"))


def section(name: str, heading: str = "") -> list[str]:
    """One public name, or the path of what others hand out: how it is called, what it is, what it has."""
    module, _, name = name.rpartition(".")
    value = getattr(importlib.import_module(module), name) if module else public_value(name)
    lines = [heading or f"## {name}", ""]
    if isinstance(value, tm.extend.Metric):
        return [*lines, f"`{value!s}`. {value.description}"]
    if not heading and HOME_OF[name]:
        lines += [f"In `tm.{HOME_OF[name]}`.", ""]
    made_for_you = isinstance(value, type) and name not in MADE_BY_CALLERS and not heading
    if not made_for_you and (call := signature(name, value)):
        lines += ["```text", call.removeprefix("tm." if heading else ""), "```", ""]
    lines += described((inspect.getdoc(value) or "") if made_for_you else with_parameter_table(name, value))
    return [*lines, *members(name, value)] if isinstance(value, type) else lines


def signature(name: str, value: Any) -> str:
    """A call as one types it; empty for what is not called."""
    found = parameters(value)
    if found is None:
        return ""
    text = str(inspect.Signature([part.replace(annotation=inspect.Parameter.empty) for part in found]))
    return textwrap.fill(f"{typed(name)}{text}", 100, subsequent_indent="    ", break_on_hyphens=False)


ARGS = re.compile(r"^Args:\n(?P<entries>(?: {4}.+\n?)+)", re.MULTILINE)
ENTRY = re.compile(r"^ {4}(?P<name>\w+): (?P<meaning>.+(?:\n {8}.+)*)", re.MULTILINE)
MANY = 4  # parameters, from which on a table is easier to read than a signature
STARS = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
EXPLAINED_IN = {"tally_table": "evaluate_table", "check_submission": "score_submission"}
"""Which docstring explains the shared parameters, if it is not that of `evaluate`."""


def parameters(value: Any) -> list[inspect.Parameter] | None:
    """The parameters of a function or a constructor; None for what is not called."""
    if isinstance(value, type) and "__init__" not in vars(value) and "__new__" not in vars(value):
        return None
    try:
        found = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return None
    return [part for part in found if part.name not in ("self", "unknown")]


def meanings(value: Any) -> dict[str, str]:
    """What a docstring says of each parameter."""
    found = ARGS.search(inspect.getdoc(value) or "")
    entries = ENTRY.finditer(found["entries"]) if found else ()
    return {entry["name"]: " ".join(entry["meaning"].split()) for entry in entries}


def parameter_table(name: str, value: Any) -> list[tuple[str, str, str]]:
    """Name, default and meaning of every parameter; shared ones are explained once."""
    shared = EXPLAINED_IN.get(name, "evaluate")
    explained = meanings(tm.evaluate) | meanings(public_value(shared)) | meanings(value)
    rows = []
    for part in parameters(value) or ():
        default = "" if part.default is inspect.Parameter.empty else f"`{part.default!r}`"
        rows.append((f"`{STARS.get(part.kind, '')}{part.name}`", default, explained.get(part.name, "")))
    return rows


def with_parameter_table(name: str, value: Any) -> str:
    """A docstring with its parameters as a table, before its examples."""
    text = inspect.getdoc(value) or ""
    found = ARGS.search(text)
    if not found and len(parameters(value) or ()) < MANY:
        return text
    rows = [("parameter", "default", "meaning"), ("---", "---", "---"), *parameter_table(name, value)]
    table = "".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |\n" for row in rows)
    start, end = found.span() if found else [text.find(">>> ") if ">>> " in text else len(text)] * 2
    return f"{text[:start].rstrip()}\n\n{table}\n{text[end:].lstrip()}"


def described(text: str) -> list[str]:
    """A docstring as Markdown: its text as it is, its examples as code."""
    lines: list[str] = []
    for piece in doctest.DocTestParser().parse(text):
        if isinstance(piece, str):
            lines += piece.replace("``", "`").strip().splitlines() or []
        else:
            if lines[-1:] != ["```"]:
                lines += ["", "```python"]
            else:
                lines.pop()
            first, *rest = as_typed(piece.source).rstrip("\n").split("\n")
            lines += [
                f">>> {first}",
                *(f"... {line}" for line in rest),
                *piece.want.replace("<BLANKLINE>", "").splitlines(),
                "```",
            ]
    return [
        "\n```" if line == "```" and k and not lines[k - 1].startswith("```") else line for k, line in enumerate(lines)
    ]


def as_typed(source: str) -> str:
    """An example as one types it from outside."""
    return re.sub(
        r"(?<![.\w\"'])(\w+)(?=\()", lambda found: typed(found[1]) if is_public(found[1]) else found[1], source
    )


def members(name: str, cls: type) -> list[str]:
    """The public methods and properties that a class adds, each in a line or two."""
    lines: list[str] = []
    own = [base for base in cls.__mro__ if base is cls or (is_ours(base) and not is_public(base.__name__))]
    for key, held in {key: held for base in reversed(own) for key, held in vars(base).items()}.items():
        if key.startswith("_") or not (
            inspect.isroutine(held) or isinstance(held, property | classmethod | staticmethod)
        ):
            continue
        value = held.fget if isinstance(held, property) else getattr(cls, key)
        if not value.__doc__:  # a step of its base class, explained there
            continue
        call = key if isinstance(held, property) else signature(f"{name}.{key}", value).removeprefix("tm.")
        call = re.sub(r"\n\s*", " ", call)
        text = " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split()).replace("``", "`")
        lines.append(f"- `{call.removeprefix(f'{name}.')}`: {text}")
    return ["", *lines] if lines else []
