"""How the library is used, for the type checker: this file must pass mypy --strict as it stands."""

import tallymark as tm

value: float = tm.rmse([1.0], [2.0])
custom: tm.extend.Metric = tm.custom(lambda y, p, w: 0.0, name="zero")
parsed: tm.extend.Metric = tm.metric("huber(delta=2)")
configured: tm.Huber = tm.Huber(delta=2.0, outputs="each")
report: tm.Report = tm.evaluate([1.0], [2.0], ["rmse", tm.mae, configured], weights=[1.0])
keys: list[str] = list(report)
modelled: tm.Report = tm.evaluate_model(lambda rows: [2.0], [[0.0]], [1.0], "rmse", weights=[1.0])
accepted: bool = tm.accept(report, "rmse < 5").require().passed
margins: list[float] = [each.margin for each in tm.accept({"r2": 0.5}, ["r2 > 0.8"]).conditions]
compared: tm.comparison.Comparison = tm.compare(
    [1.0, 2.0], {"a": [1.0, 2.0], "b": [2.0, 2.5]}, ["rmse", tm.mae], baseline="a"
)
pair: tm.comparison.Difference = compared[("a", "b"), "rmse"]
better: str | None = pair.winner
shown: float = pair.value + compared.detectable(tm.mae)["a", "b"]
tally: tm.Tally = (tm.Tally(["rmse"]) + tm.Tally(["rmse"])).update([1.0], [2.0])
streamed: tm.Report = tm.Tally(["r2"], ci=tm.Intervals(seed=1)).update([1.0], [2.0], keys=["a"]).report()
names: list[str] = tm.list_metrics(family="regression").names


class Half(tm.extend.SumMetric):
    """Half of the mean absolute error."""

    terms = (tm.extend.Term("absolute_error"),)
    better = "lower"

    def output(self, s: tm.extend.Output) -> float:
        return s.mean(tm.extend.Term("absolute_error")) / 2


class PositiveShare(tm.extend.AveragedMetric):
    """The share of rows that truly are positive."""

    def fraction(self, c: tm.extend.Cells) -> tuple[int, int]:
        return c.tp + c.fn, sum(c)


matrix: tm.metrics.Confusion = tm.confusion_matrix(["a", "b"], ["a", "a"])
cell: float = matrix["a", "b"]
scores: float = tm.classification_report(["a", "b"], ["a", "a"])["a"].recall
by_class: tm.Report = tm.evaluate(["a"], ["b"], [tm.FScore(beta=2.0, average=None)], classes=["a", "b"], positive="b")
told: tm.guidance.Explanation = tm.explain("fscore", beta=2)
stands: str = told.place(0.5)
choice: tm.guidance.Choice = tm.choose("regression", outliers=True)
wanted: list[str] = choice.metrics
intervals: tm.Report = tm.evaluate(
    [1.0, 2.0], [2.0, 2.5], ["mae"], ci=tm.Intervals(resamples=99, seed=1), cluster=["a", "b"]
)
valid: tm.training.EvalSet = tm.training.EvalSet("valid", [1.0, 2.0], weights=[1.0, 2.0])
evaluator = tm.training.Evaluator(
    ["mae", tm.rmse], [valid], early_stopping=[tm.training.EarlyStopping(3), tm.training.GainStopping(0.01)]
)
stepped: tm.training.Round = evaluator.step(0, {"valid": [1.0, 2.0]})
action: str = stepped.action
first_result: float = stepped.results[0].value
best_round: int | None = evaluator.best_round
folds: tm.model_selection.CrossValidation = tm.model_selection.cross_validate(
    lambda x, y: lambda rows: rows, [1.0, 2.0], [1.0, 2.0], splitter=tm.model_selection.KFold(2)
)
mean: float = folds["mae"].mean
selected: str = tm.model_selection.select({"a": folds}, "mae").name
table: tm.Report = tm.evaluate_table({"y": [1.0], "p": [2.0]}, truth="y", prediction=["p"], metrics=["mae"], by=None)


def of_june() -> tm.Tally:
    """Of files, which are not there when this is checked."""
    kept = tm.evaluation.tally_table("june/*.parquet", truth="y", prediction="p", progress=lambda done, total: None)
    return tm.Tally.load("june.tally") + kept
