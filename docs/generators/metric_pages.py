"""docs/reference/<family>.md, from the definitions of the metrics. Nothing there is written by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tallymark as tm
from tallymark.guidance.explain import docstring_examples, parameter_docs, related_metrics, show_alias
from tallymark.metrics import registry
from tallymark.metrics.listing import show_better, show_range

COMMON = ("undefined", "outputs", "threshold", "absent", "ties", "of")
WAYS = (tm.gap("accuracy"), tm.ratio("accuracy"), tm.worst("accuracy"))  # to compare groups, by any metric
HEADINGS = {
    "gap": "Gap",
    "ratio": "Ratio",
    "worst": "Worst",
    "top_k_accuracy": "Top-k accuracy",
    "hit_rate": "Hit rate@k",
    "precision_at": "Precision@k",
    "recall_at": "Recall@k",
}
"""Headings of the metrics whose display name has a parameter, or the name of another metric."""

OPENINGS = {
    "regression": "Errors of predicted numbers, quantiles and intervals. [Choosing a metric](../concepts/choosing.md)"
    " compares them side by side.",
    "classification": "Metrics of predicted labels, for two classes, many classes or several labels per row.",
    "score": "Metrics of scores that order the rows: areas, curves and thresholds.",
    "probability": "Losses and calibration of predicted probabilities.",
    "clustering": "Metrics of clusters, with and without true clusters.",
    "ranking": "Metrics of rankings by query, as in search and recommendation.",
    "fairness": "Comparisons of groups by any metric.",
}
SHARED = {
    "regression": (
        "e = ŷ − y is the error. `outputs=` says how several outputs become one value: `mean`, `each`, or one weight",
        "per output.",
    ),
    "classification": (
        "TP, FP, FN and TN are the weights of true positives, false positives, false negatives and true negatives of",
        "one class against the rest. `average=` combines the classes: `binary` (only the positive class; the default",
        "for two classes), `macro` (the mean over classes), `micro` (from the summed counts), `weighted` (the mean",
        "weighted by how frequent each class is) or `None` (one value per class). `absent=` is the value that a class",
        "without predictions or without true rows contributes to an average: by default the worst value, 0, or 1 for",
        "rates that are better lower; `skip` leaves the class out. `threshold=` is the lowest probability that counts",
        "as positive. See [labels and classes](../concepts/labels.md).",
    ),
    "score": (
        "s is the score; w₊ and w₋ are the weights of positive and negative rows. TPR and FPR are the shares of",
        "positive and of negative rows that reach a threshold. With three or more classes, which need one column of",
        "scores each, every class is compared with the rest: `average=` is `macro` (the mean over classes) or",
        "`weighted` (weighted by how frequent each class is). See [scores and their order](../concepts/scores.md).",
    ),
    "probability": (
        "p is the probability of the positive class, p_k the probability of class k.",
        "[Probabilities](../concepts/probabilities.md) explains margins, clipping, soft labels and calibration.",
    ),
    "clustering": (
        "n_ij is the number of rows in true cluster i and predicted cluster j; a_i and b_j are the cluster sizes; H",
        "is entropy. The names of the clusters can be of any type and may differ between the two sides.",
    ),
    "ranking": (
        "The truth is the relevance of a row (0: not relevant), ŷ its score, and `query=` the query it belongs to.",
        "The rows of a query are ranked by score, highest first, and the value is the mean over queries; weights are",
        "weights of queries. `ties=` says how equal scores are ranked: `average` (the mean over all their orders),",
        "`worst` (relevant rows last) or `stable` (in row order; such states cannot be merged). `absent=` is the",
        "value of a query without a relevant row; `skip` leaves it out. See [rankings by",
        "query](../concepts/rankings.md).",
    ),
    "fairness": (
        "`by=` names the group of each row. A metric is computed in every group, and the values of the groups are",
        "combined into one. `gap`, `ratio` and `worst` accept any metric and are shown here with `accuracy`: a gap is",
        "at most as wide as the range of its metric, and `worst` has the direction, range and unit of its metric. The",
        "others are gaps and ratios with names of their own. Groups without a value are left out, and so are groups",
        "with fewer than `min_rows=` rows. See [compare groups](../how-to/compare-groups.md).",
    ),
}


def page(family: str) -> str:
    """The reference page of a family."""
    metrics = [metric for metric in (*WAYS, *tm.list_metrics(family)) if metric.family == family and is_public(metric)]
    lines = [
        f"# {family.capitalize()} metrics",
        "",
        f"<!-- search: {family}; {family} metrics -->",
        "",
        OPENINGS[family],
        "",
        "| metric | meaning | better | range |",
        "|---|---|---|---|",
    ]
    for metric in metrics:
        within = "" if metric.better is None else show_range(metric.range)
        name = heading(metric)
        lines.append(f"| [{name}](#{anchor(name)}) | {metric.description} | {show_better(metric.better)} | {within} |")
    lines += [
        "",
        "## Notation",
        "",
        "w is the weight of a row, y its truth and ŷ its prediction.",
        *SHARED.get(family, ()),
        "Every metric has the parameter `undefined=`: the value to return instead of an undefined one.",
    ]
    for metric in metrics:
        lines += ["", *section(metric)]
    return "\n".join(lines) + "\n"


def section(metric: tm.extend.Metric) -> list[str]:
    """One metric: what it is, its formula, how to read it, and what to mind."""
    own = {key: value for key, value in metric.parameters().items() if key not in COMMON}
    arguments = ", ".join([*metric.arguments, *(f"{key}={value!r}" for key, value in own.items())])
    name = title(metric)
    call = f'tm.{name}("accuracy")({arguments})' if metric in WAYS else f"tm.{name}({arguments})"
    lines = [f"## {heading(metric)}", "", f"<!-- search: {'; '.join(search_terms(metric))} -->", ""]
    lines += [metric.description, "", "```text", metric.formula, "```", "", f"- Call: `{call}`"]
    if metric in registry.compositions:
        lines.append(f"- Short for: `{metric.name}({', '.join(map(str, metric.of))})`")
    meanings = parameter_docs(type(metric))
    lines += [f"  - `{key}`: {meanings[key]}" for key in own if key in meanings and key != "average"]
    if metric.better is not None:
        lines.append(f"- Better: {show_better(metric.better)}; range {show_range(metric.range)}")
    if metric.unit:
        lines.append(f"- Unit: {metric.unit}")
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
    lines += [f"- Note: {pitfall}" for pitfall in metric.pitfalls]
    size = "does not grow with the rows" if metric.size in ("fixed", "bounded") else f"grows with the {metric.size}"
    lines.append(f"- State: {size}")
    aliases = [show_alias(f"`{name}`", meant) for name, meant in metric.aliases.items()]
    lines.append(f"- In strings: {', '.join([f'`{name}`', *aliases])}")
    lines.append(f"- See also: {', '.join(linked(other) for other in related_metrics(metric))}")
    examples = docstring_examples(metric)
    if not examples:
        return lines
    source, output = examples[0]
    output = output.replace("<BLANKLINE>", "")
    return [*lines, "", "```python", f">>> {source}{output}", "```"]


def search_terms(metric: tm.extend.Metric) -> list[str]:
    """The names by which people look for a metric: its own and those of other libraries."""
    names = [heading(metric), title(metric), *(name for name, meant in metric.aliases.items() if not meant)]
    return list(dict.fromkeys(name.replace("_", " ").lower() for name in names))


def heading(metric: tm.extend.Metric) -> str:
    """The display name of a metric without its parameters, as a heading is written."""
    name = title(metric)
    return capitalized(HEADINGS.get(name) or (metric if name in registry.makers else type(metric)()).display_name)


def capitalized(name: str) -> str:
    """A name at the beginning of a line; "sMAPE" stays."""
    return name if name[1:2].isupper() else name[0].upper() + name[1:]


def link(metric: tm.extend.Metric, page: str = "") -> str:
    """The display name of a metric, as a link to its section."""
    text = heading(metric) if metric in WAYS or "(" in metric.display_name else capitalized(metric.display_name)
    return f"[{text}]({page}#{anchor(heading(metric))})"


def anchor(text: str) -> str:
    """What a link to a heading ends with."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def needs_of(metric: tm.extend.Metric) -> str:
    """The conditions on the values without which the metric has no meaning."""
    bounds = getattr(metric, "requires", ())
    return ", ".join(f"`{bound.who}` {bound}" for bound in bounds if bound.who != "width")


def linked(name: str) -> str:
    """A metric by its name as a link to its section, on whichever page that is."""
    metric = tm.metric(name)
    return link(metric, f"{metric.family}.md")


def title(metric: tm.extend.Metric) -> str:
    """The name of a metric without what it is made of."""
    return str(metric).partition("(")[0]


def is_public(metric: tm.extend.Metric) -> bool:
    """Whether a metric has a public name, unlike one that a user defined."""
    return title(metric) in registry.makers or getattr(tm, type(metric).__name__, None) is type(metric)


def pages() -> Iterator[tuple[str, str]]:
    """Every page of metrics, by its path below docs/."""
    for family in dict.fromkeys(metric.family for metric in tm.list_metrics() if is_public(metric)):
        yield f"reference/{family}.md", page(family)
