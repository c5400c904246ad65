"""docs/reference/<family>.md, from the definitions of the metrics. Nothing there is written by hand."""

from __future__ import annotations

from collections.abc import Iterator

import tallymark as tm
from tallymark.guidance.explain import docstring_examples, parameter_docs, related_metrics, show_alias
from tallymark.metrics import registry
from tallymark.metrics.listing import show_better, show_range

COMMON = ("undefined", "outputs", "threshold", "absent", "ties", "of")
WAYS = (tm.gap("accuracy"), tm.ratio("accuracy"), tm.worst("accuracy"))  # to compare groups, by any metric
SHARED = {
    "regression": (
        "e = ŷ − y. `outputs=` says how several outputs become one value: `mean`, `each`, or one weight per output.",
    ),
    "classification": (
        "TP, FP, FN and TN are the weights of true and false positives and negatives of one class against the rest.",
        "`average=` says how classes become one value: `binary` (the positive class; the default for two classes),",
        "`macro` (their mean), `micro` (of the counts added up), `weighted` (by how often a class is true), or `None`",
        "for one value per class. `absent=` is what a class without a value earns in an average: by default the worst",
        "value, 0, or 1 for rates that are better lower; `skip` leaves it out. `threshold=` is the probability from",
        "which on a row is called positive. See",
        "[labels, probabilities, classes](../concepts/labels.md).",
    ),
    "score": (
        "s is the score, w₊ and w₋ are weights of positive and negative rows. TPR and FPR are the shares of positive",
        "and negative rows that reach a threshold. Three or more classes, with a column of scores each, are set",
        "against the rest one by one: `average=` is `macro` for their mean or `weighted` for the mean by how often a",
        "class is true. See [scores and their order](../concepts/scores.md).",
    ),
    "probability": (
        "p is the probability of the positive class, p_k that of class k. Margins, clipping, soft labels, calibration:",
        "[probabilities](../concepts/probabilities.md).",
    ),
    "clustering": (
        "n_ij counts rows of true cluster i and predicted cluster j, a_i and b_j are their sizes, H is entropy.",
        "Labels of any type name the clusters, and need not be the same on both sides.",
    ),
    "ranking": (
        "The truth is how relevant a row is (0: not at all), ŷ is its score; `query=` says which query it belongs to.",
        "Rows of a query are ranked by score, the highest first, and the value is the mean over the queries; weights",
        "are weights of queries. `ties=` says how rows of equal scores are ranked: `average` (the mean over all their",
        "orders), `worst` (relevant ones last) or `stable` (in row order; such states do not add). `absent=` is what a",
        "query without a relevant row earns (`skip` leaves it out). See",
        "[rankings by query](../concepts/rankings.md).",
    ),
    "fairness": (
        "`by=` says which group a row belongs to; a metric is read in every group, and the values of the groups become",
        "one. `gap`, `ratio` and `worst` take any metric, and are shown here with `accuracy`: a gap is at most as wide",
        "as the range of its metric, and `worst` has direction, range and unit of its metric. The others are gaps and",
        "ratios that have names. Groups without a value are left out, and with `min_rows=` those of few rows. See",
        "[compare groups](../how-to/compare-groups.md).",
    ),
}


def page(family: str) -> str:
    """The reference page of a family."""
    metrics = [metric for metric in (*WAYS, *tm.list_metrics(family)) if metric.family == family and is_public(metric)]
    lines = [
        f"# {family.capitalize()} metrics",
        "",
        "Written by `make docs` from the definitions. `w` is the weight, ŷ the prediction.",
        *SHARED.get(family, ()),
        "Every metric has the parameter `undefined=`: what stands for an undefined value.",
        "",
        "| metric | better | range | unit | state |",
        "|---|---|---|---|---|",
    ]
    for metric in metrics:
        size = metric.size if metric.size == "fixed" else f"grows with the {metric.size}"
        link = f"[`{title(metric)}`](#{title(metric)})"
        within = "" if metric.better is None else show_range(metric.range)
        lines.append(f"| {link} | {show_better(metric.better)} | {within} | {metric.unit} | {size} |")
    for metric in metrics:
        lines += ["", *section(metric)]
    return "\n".join(lines) + "\n"


def section(metric: tm.extend.Metric) -> list[str]:
    """One metric: what it is, its formula, how to read it, and what to mind."""
    own = {key: value for key, value in metric.parameters().items() if key not in COMMON}
    arguments = ", ".join([*metric.arguments, *(f"{key}={value!r}" for key, value in own.items())])
    name = title(metric)
    call = f'tm.{name}("accuracy")({arguments})' if metric in WAYS else f"tm.{name}({arguments})"
    lines = [f"## {name}", "", metric.description, "", "```text", metric.formula, "```", "", f"- Call: `{call}`"]
    if metric in registry.compositions:
        lines.append(f"- Short for: `{metric.name}({', '.join(map(str, metric.of))})`")
    told = parameter_docs(type(metric))
    lines += [f"  - `{key}`: {told[key]}" for key in own if key in told and key != "average"]
    if metric.better is not None:
        lines.append(f"- Better: {show_better(metric.better)}; range {show_range(metric.range)}")
    lines.append(f"- Reading: {metric.reading}")
    lines += [f"  - {mark:.6g}: {words}" for mark, words in sorted(metric.landmarks)]
    lines.append(f"- Outliers: {metric.outliers}")
    if metric.when_undefined:
        lines.append(f"- Undefined: {metric.when_undefined}")
    needs = needs_of(metric)
    if needs:
        lines.append(f"- Needs: {needs}")
    for sample in metric.samples:
        other = needs_of(metric.replace(**sample))
        if other != needs:
            changed = ", ".join(f"{key}={value!r}" for key, value in sample.items())
            lines.append(f"  - with `{changed}`: {other or 'any numbers'}")
    lines += [f"- Mind: {pitfall}" for pitfall in metric.pitfalls]
    aliases = [show_alias(f"`{name}`", meant) for name, meant in metric.aliases.items()]
    if aliases:
        lines.append(f"- Also known in strings as: {', '.join(aliases)}")
    lines.append(f"- See also: {', '.join(map(linked, related_metrics(metric)))}")
    examples = docstring_examples(metric)
    if not examples:
        return lines
    source, output = examples[0]
    output = output.replace("<BLANKLINE>", "")
    return [*lines, "", "```python", f">>> {source}{output}", "```"]


def needs_of(metric: tm.extend.Metric) -> str:
    """The conditions on the values without which the metric has no meaning."""
    bounds = getattr(metric, "requires", ())
    return ", ".join(f"`{bound.who}` {bound}" for bound in bounds if bound.who != "width")


def linked(name: str) -> str:
    """A metric as a link to its section, on whichever page that is."""
    return f"[`{name}`]({tm.metric(name).family}.md#{name})"


def title(metric: tm.extend.Metric) -> str:
    """The name of a metric without what it is made of."""
    return str(metric).partition("(")[0]


def is_public(metric: tm.extend.Metric) -> bool:
    """Whether a metric has a public name: one that only lies in the folder, or a user defined, has none."""
    return title(metric) in registry.makers or getattr(tm, type(metric).__name__, None) is type(metric)


def pages() -> Iterator[tuple[str, str]]:
    """Every page of metrics, by its path below docs/."""
    for family in dict.fromkeys(metric.family for metric in tm.list_metrics() if is_public(metric)):
        yield f"reference/{family}.md", page(family)
