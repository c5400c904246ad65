"""docs/api/*.md: what the public names are, from their signatures and docstrings."""

from __future__ import annotations

import doctest
import importlib
import inspect
import os
import pkgutil
import re
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


MADE_BY_CALLERS = {
    *("Tally", "Batch", "Target", "Intervals", "Term", "Bound", "Bounded", "Undefined", "Interval", "NoInterval"),
    "Limits",
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
            "evaluate_table",
            "Report",
            "Cell",
            "Slices",
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
        ("accept", "Acceptance", "Clause"),
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
        "Evaluation while a model trains. [Stop training in time](../how-to/early-stopping.md) shows how.",
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
        "[Cross-validate and select](../how-to/cross-validate.md) shows how.",
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
        "sklearn",
        "scikit-learn",
        "What scikit-learn takes. [Use with scikit-learn](../how-to/scikit-learn.md) shows how.",
        ("scorer",),
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
        "What a metric is made of. [Add a metric](../how-to/add-a-metric.md) shows how it fits together.",
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
        lines = [f"# {page.title}", "", f"Written by `make docs` from the docstrings. {page.about}"]
        if page.name == "errors":
            tree = inspect.cleandoc(errors.__doc__ or "").split("::")[1]
            lines += ["", "```text", inspect.cleandoc(tree), "```"]
        for name in page.names:
            lines += ["", *section(name)]
        yield f"api/{page.name}.md", "\n".join(lines) + "\n"
    yield "api/frameworks.md", "\n".join(frameworks()) + "\n"


def frameworks() -> Iterator[str]:
    """What each module for a framework has; nothing else loads the framework."""
    yield from (
        "# Frameworks",
        "",
        "Written by `make docs` from the docstrings. Each needs its framework, and an import.",
    )
    os.environ.setdefault("KERAS_BACKEND", "torch")  # Keras takes TensorFlow unless told
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
    value = getattr(importlib.import_module(module or f"tallymark.{HOME_OF[name]}".rstrip(".")), name)
    lines = [heading or f"## {name}", ""]
    if isinstance(value, tm.extend.Metric):
        return [*lines, f"`{value!s}`. {value.description}"]
    if not heading and HOME_OF[name]:
        lines += [f"In `tm.{HOME_OF[name]}`.", ""]
    made_for_you = isinstance(value, type) and name not in MADE_BY_CALLERS and not heading
    if not made_for_you and (call := signature(name, value)):
        lines += ["```text", call.removeprefix("tm." if heading else ""), "```", ""]
    lines += described(value)
    return [*lines, *members(name, value)] if isinstance(value, type) else lines


def signature(name: str, value: Any) -> str:
    """A call as one types it, a parameter to a line where they are many; empty for what is not called."""
    if isinstance(value, type) and "__init__" not in vars(value) and "__new__" not in vars(value):
        return ""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    plain = [
        part.replace(annotation=inspect.Parameter.empty)
        for part in found.parameters.values()
        if part.name not in ("self", "unknown")
    ]
    text = str(found.replace(parameters=plain, return_annotation=inspect.Signature.empty))
    call = typed(name)
    if len(call) + len(text) <= 103:
        return f"{call}{text}"
    inside = ",\n".join(f"    {part}" for part in re.split(r", (?![^(\[]*[)\]])", text[1:-1]))
    return f"{call}(\n{inside},\n)"


def described(value: object) -> list[str]:
    """A docstring as Markdown: its text as it is, its examples as code."""
    lines: list[str] = []
    for piece in doctest.DocTestParser().parse(inspect.getdoc(value) or ""):
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
        if not value.__doc__:  # a step of its base class, told there
            continue
        call = key if isinstance(held, property) else signature(f"{name}.{key}", value).removeprefix("tm.")
        call = re.sub(r"\n\s*", " ", call.replace(",\n)", ")")).replace("( ", "(")
        text = " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split()).replace("``", "`")
        lines.append(f"- `{call.removeprefix(f'{name}.')}`: {text}")
    return ["", *lines] if lines else []
