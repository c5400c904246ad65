"""docs/concepts/choosing.md: the decision trees of `tm.choose` and the table of regression metrics."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import tallymark as tm
from generators.metric_pages import heading, is_public, link
from tallymark.guidance.decision_table import TASKS, Advice, TaskAdvice
from tallymark.metrics.listing import show_range

PAGE = "concepts/choosing.md"
YES, KINK, RANKS = "yes", "except at zero error", "no"
MEAN, MEDIAN, BETWEEN = "the mean", "the median", "a compromise between mean and median"


class Minimised(NamedTuple):
    """Whether a metric has a gradient to train on, and what the predictions that make it best estimate."""

    differentiable: str
    estimates: str


MINIMISED = {
    "mse": Minimised(YES, MEAN),
    "rmse": Minimised("yes, unless all errors are 0", MEAN),
    "rss": Minimised(YES, MEAN),
    "r2": Minimised(YES, MEAN),
    "explained_variance": Minimised(YES, "the mean, up to a constant shift"),
    "mae": Minimised(KINK, MEDIAN),
    "wape": Minimised(KINK, MEDIAN),
    "mase": Minimised(KINK, MEDIAN),
    "d2_absolute": Minimised(KINK, MEDIAN),
    "median_absolute_error": Minimised("only through the row in the middle", "the centre of the shortest half"),
    "max_error": Minimised("only through the worst row", "the centre of the range"),
    "huber": Minimised(YES, BETWEEN),
    "log_cosh": Minimised(YES, BETWEEN),
    "mape": Minimised(KINK, "the median weighted by 1 / y: below the median"),
    "smape": Minimised(KINK, "the median weighted by y / (y + ŷ)²"),
    "msle": Minimised(YES, "the mean of log(1 + y), transformed back: below the mean"),
    "rmsle": Minimised("yes, unless all errors are 0", "the mean of log(1 + y), transformed back: below the mean"),
    "poisson_deviance": Minimised(YES, MEAN),
    "gamma_deviance": Minimised(YES, MEAN),
    "tweedie_deviance": Minimised(YES, MEAN),
    "d2_tweedie": Minimised(YES, MEAN),
    "pinball": Minimised(KINK, "the quantiles alphas"),
    "d2_pinball": Minimised(KINK, "the quantile alpha"),
    "crps_quantile": Minimised(KINK, "the quantiles alphas"),
    "interval_score": Minimised(KINK, "the quantiles (1 ± level) / 2"),
    "coverage": Minimised(RANKS, "any interval that contains the level"),
    "mean_bias": Minimised(YES, "nothing: it is 0 at the mean"),
    "pearson": Minimised(YES, "nothing: bias and scale are ignored"),
    "spearman": Minimised(RANKS, "nothing: only ranks count"),
}
"""Of every regression metric, in the order of the table: squared, absolute, relative, deviances, quantiles, others."""


def pages() -> Iterator[tuple[str, str]]:
    """The one page, by its path below docs/."""
    text = (Path(__file__).parents[1] / PAGE).read_text()
    for name, lines in (("regression metrics", regression_table()), ("decision trees", trees())):
        before, _, rest = text.partition(f"<!-- {name} -->\n")
        _, _, after = rest.partition(f"<!-- end of {name} -->")
        text = "\n".join([f"{before}<!-- {name} -->", "", *lines, f"<!-- end of {name} -->{after}"])
    yield PAGE, text


def regression_table() -> Iterator[str]:
    """The regression metrics side by side."""
    yield "| metric | unit | range | sensitive to outliers | differentiable | minimising it estimates |"
    yield "|---|---|---|---|---|---|"
    for name, minimised in MINIMISED.items():
        metric = tm.metric(name)
        facts = (metric.unit or "none", show_range(metric.range), metric.outliers.partition(":")[0])
        cells = (link(metric, "../reference/regression.md"), *facts, *minimised)
        yield f"| {' | '.join(cells)} |"
    yield ""


def trees() -> Iterator[str]:
    """The tree of every task, under a heading each."""
    for name, task in TASKS.items():
        yield from (f"### {name.capitalize()}", "", task.text, "", *tree(task).lines(task, ""), "")


class Branch:
    """What to use and to avoid after some answers, and the questions that decide about the rest."""

    def __init__(self) -> None:
        self.advice: list[str] = []
        self.questions: dict[str, dict[str, Branch]] = {}

    def after(self, keyword: str, answer: str) -> Branch:
        """The branch below one more answer."""
        return self.questions.setdefault(keyword, {}).setdefault(answer, Branch())

    def lines(self, task: TaskAdvice, indent: str) -> Iterator[str]:
        """The branch as nested bullets: its own advice, then its questions with their answers."""
        yield from (f"{indent}- {text}" for text in self.advice)
        for question in task.questions:
            answers = self.questions.get(question.keyword, {})
            if answers:
                yield f"{indent}- **{question.text}** (`{question.keyword}`)"
            for answer in filter(answers.__contains__, question.answers):
                branch, word = answers[answer], answer.replace("_", " ")
                if len(branch.advice) == 1 and not branch.questions:
                    yield f"{indent}  - {word}: {branch.advice[0]}"
                else:
                    yield from (f"{indent}  - {word}:", *branch.lines(task, f"{indent}    "))


def tree(task: TaskAdvice) -> Branch:
    """The advice of a task, sorted by the answers that it depends on."""
    root, order = Branch(), [question.keyword for question in task.questions]
    for verb, items in (("", task.use), ("avoid ", task.avoid)):
        for advice in items:
            branch = root
            for keyword in sorted(advice.when, key=order.index):
                branch = branch.after(keyword, advice.when[keyword])
            branch.advice.append(f"{verb}{shown(advice)}")
    for detour in task.redirects:
        root.after(detour.keyword, detour.answer).advice.append(f"see [{detour.task}](#{detour.task})")
    return root


def shown(advice: Advice) -> str:
    """A metric with its reason, linked to its section in the reference if it has one."""
    metric = tm.metric(advice.metric)
    name = link(metric, f"../reference/{metric.family}.md") if is_public(metric) else heading(metric)
    return f"{name} `{advice.metric}`: {advice.why}"
