"""The decision table: for every task, what to ask, what to recommend and what to avoid. Data only."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

YES, NO = "yes", "no"
YES_OR_NO = (YES, NO)
_ALWAYS: Mapping[str, str] = MappingProxyType({})


class Question(NamedTuple):
    """Something to know about the problem: its keyword in `choose`, the question, and the answers it takes."""

    keyword: str
    text: str
    answers: tuple[str, ...] = YES_OR_NO


class Advice(NamedTuple):
    """A metric, why to use or to avoid it, and under which answers; under all of them if none are named."""

    metric: str
    why: str
    when: Mapping[str, str] = _ALWAYS


class TaskRedirect(NamedTuple):
    """An answer after which another task is the right one."""

    keyword: str
    answer: str
    task: str


class TaskAdvice(NamedTuple):
    """What is predicted, in a sentence, and all that is asked and advised."""

    text: str
    questions: tuple[Question, ...]
    use: tuple[Advice, ...]
    avoid: tuple[Advice, ...] = ()
    redirects: tuple[TaskRedirect, ...] = ()


LARGE_ERRORS = Question("large_errors", "Is one error of 10 worse than ten errors of 1?")
OUTLIERS = Question("outliers", "Are there extreme or faulty rows that should not dominate the value?")
UNIT_FREE = Question("unit_free", "Must values be comparable between targets with different units or scales?")
ZEROS = Question("zeros", "Is the truth sometimes 0 or close to 0?")
QUANTILES = Question("quantiles", "Are the predictions quantiles or intervals instead of single numbers?")
CLASSES = Question("classes", "How many classes are there?", ("two", "many"))
IMBALANCED = Question("imbalanced", "Is one class much rarer than another?")
COSTS = Question("costs", "Which error costs more?", ("alike", "false_alarms", "misses"))
THRESHOLD = Question("threshold", "Do you need one threshold that turns scores into labels?")
ORDERED = Question("ordered", "Are the classes ordered, so that a near miss is better than a far one?")

_TWO, _MANY = {"classes": "two"}, {"classes": "many"}
_ONE_LABEL, _LABELS = {"several_labels": NO}, {"several_labels": YES}
_RARE, _EVEN = {"imbalanced": YES}, {"imbalanced": NO}
_ALARMS, _MISSES, _ALIKE = {"costs": "false_alarms"}, {"costs": "misses"}, {"costs": "alike"}
_CORRECTED = {"truth": YES, "chance_corrected": YES}
_UNCORRECTED = {"truth": YES, "chance_corrected": NO}

REGRESSION = TaskAdvice(
    "Numbers: prices, times, temperatures.",
    (
        LARGE_ERRORS,
        OUTLIERS,
        Question("squared_loss", "Is the model trained on squared error, and should the metric be that loss?"),
        UNIT_FREE,
        Question("relative", "Do errors matter in percent of the truth rather than in its unit?"),
        ZEROS,
        Question("counts", "Is the truth a count or a rate of events?"),
        QUANTILES,
    ),
    (
        Advice(
            "rmse", "Squaring makes large errors count more; in the unit of y.", {"large_errors": YES, "outliers": NO}
        ),
        Advice(
            "huber",
            "Quadratic up to delta, linear beyond: a few extreme rows do not dominate.",
            {"large_errors": YES, "outliers": YES},
        ),
        Advice("mae", "Every unit of error counts the same; in the unit of y.", {"large_errors": NO}),
        Advice("max_error", "The worst case, which a mean hides.", {"large_errors": YES, "outliers": NO}),
        Advice("median_absolute_error", "Unaffected by the worse half of the rows.", {"outliers": YES}),
        Advice("mse", "The training loss itself, as a mean over the rows.", {"squared_loss": YES}),
        Advice("rss", "The sum that least squares minimizes; it grows with the rows.", {"squared_loss": YES}),
        Advice("r2", "Share of the variation explained: no unit; 0 is the mean.", {"unit_free": YES, "outliers": NO}),
        Advice(
            "d2_absolute",
            "Like R², with absolute deviations: no unit, and less sensitive to outliers.",
            {"unit_free": YES, "outliers": YES},
        ),
        Advice("mape", "The mean error in percent of the truth.", {"relative": YES, "zeros": NO}),
        Advice("wape", "The total error in percent of the total: zeros do no harm.", {"relative": YES, "zeros": YES}),
        Advice("poisson_deviance", "Made for counts: an error of 10 matters more at 5 than at 500.", {"counts": YES}),
        Advice("mean_bias", "Whether predictions are too high or too low, which the size of errors does not show."),
    ),
    (
        Advice("rmse", "Errors are squared: one extreme row can dominate it.", {"outliers": YES}),
        Advice("r2", "Errors are squared: one extreme row can dominate it.", {"unit_free": YES, "outliers": YES}),
        Advice("mape", "A single truth near 0 can dominate it.", {"relative": YES, "zeros": YES}),
        Advice("explained_variance", "It ignores a constant bias.", {"unit_free": YES}),
        Advice("pearson", "It ignores bias and scale.", {"unit_free": YES}),
    ),
    (TaskRedirect("quantiles", YES, "quantiles"),),
)

FORECASTING = TaskAdvice(
    "Future values of one or more time series.",
    (
        LARGE_ERRORS,
        Question("naive", "Do you know the error of a naive forecast on the training data?"),
        Question("many_series", "Do you compare or combine series of different scales?"),
        ZEROS,
        QUANTILES,
    ),
    (
        Advice("rmse", "Squaring makes large errors count more; in the unit of y.", {"large_errors": YES}),
        Advice("mae", "Every unit of error counts the same; in the unit of y.", {"large_errors": NO}),
        Advice("mase", "Below 1, it beats the naive forecast, whose error is passed as scale.", {"naive": YES}),
        Advice("wape", "The total error in percent of the volume: zeros do no harm.", {"many_series": YES}),
        Advice("mape", "The mean error in percent of the truth.", {"many_series": YES, "zeros": NO}),
        Advice("mean_bias", "Whether forecasts are too high or too low: bias adds up over time."),
    ),
    (
        Advice("mape", "A single truth near 0 can dominate it.", {"many_series": YES, "zeros": YES}),
        Advice("smape", "Where the truth is 0, any forecast except 0 costs the full 200 %.", {"zeros": YES}),
        Advice("r2", "A series with a trend varies so much that even poor forecasts score near 1."),
    ),
    (TaskRedirect("quantiles", YES, "quantiles"),),
)

QUANTILE = TaskAdvice(
    "Quantiles or prediction intervals of a number.",
    (
        Question("intervals", "Are the predictions a lower and an upper bound?"),
        Question("distribution", "Do the quantiles describe a whole distribution?"),
        UNIT_FREE,
    ),
    (
        Advice("coverage", "Whether the intervals contain the nominal share of the rows.", {"intervals": YES}),
        Advice("interval_score", "Rewards intervals that are narrow and contain the truth.", {"intervals": YES}),
        Advice("pinball", "Lowest at the true quantiles; pass the alphas of the model.", {"intervals": NO}),
        Advice(
            "crps_quantile",
            "All quantiles in one number, in the unit of y.",
            {"intervals": NO, "distribution": YES},
        ),
        Advice("d2_pinball", "Share of the pinball loss removed: no unit.", {"intervals": NO, "unit_free": YES}),
    ),
    (
        Advice("rmse", "Lowest at the mean, so good predictions of other quantiles look bad.", {"intervals": NO}),
        Advice("mae", "Lowest at the median, so good predictions of other quantiles look bad.", {"intervals": NO}),
    ),
)

CLASSIFICATION = TaskAdvice(
    "Labels: which class a row belongs to.",
    (
        CLASSES,
        IMBALANCED,
        COSTS,
        Question("rare_as_much", "Should a rare class count as much as a frequent one?"),
        ORDERED,
        Question("several_labels", "Can a row have several labels at once?"),
        Question("probabilities", "Are there probabilities or scores, not only labels?"),
    ),
    (
        Advice("accuracy", "Share of correct labels: simple, if the classes are of similar size.", _EVEN | _ONE_LABEL),
        Advice("mcc", "Uses the whole confusion matrix: chance is 0, however rare a class is.", _ONE_LABEL),
        Advice("balanced_accuracy", "The mean recall of the classes, however rare they are.", _RARE | _ONE_LABEL),
        Advice("fscore", "Precision and recall of the rare class in one number.", _TWO | _RARE | _ALIKE | _ONE_LABEL),
        Advice("precision", "Share of positive predictions that are correct.", _TWO | _ALARMS | _ONE_LABEL),
        Advice("fdr", "Share of positive predictions that are false alarms.", _TWO | _ALARMS | _ONE_LABEL),
        Advice("fscore(beta=0.5)", "Precision and recall; precision counts more.", _TWO | _ALARMS | _ONE_LABEL),
        Advice("recall", "Share of actual positives that were found.", _TWO | _MISSES | _ONE_LABEL),
        Advice("fnr", "Share of actual positives that were missed.", _TWO | _MISSES | _ONE_LABEL),
        Advice("fscore(beta=2)", "Precision and recall; recall counts more.", _TWO | _MISSES | _ONE_LABEL),
        Advice("fscore(average=macro)", "The mean F1 of the classes.", _MANY | {"rare_as_much": YES}),
        Advice(
            "fscore(average=weighted)",
            "The mean F1, weighted by how frequent each class is.",
            _MANY | {"rare_as_much": NO},
        ),
        Advice("precision(average=macro)", "How far to trust a predicted class, on average.", _MANY | _ALARMS),
        Advice("recall(average=macro)", "How much of each class was found, on average.", _MANY | _MISSES),
        Advice(
            "cohen_kappa(weighting=quadratic)",
            "Far misses count more than near ones.",
            _MANY | {"ordered": YES} | _ONE_LABEL,
        ),
        Advice("confusion_matrix", "Which classes are mistaken for which.", _ONE_LABEL),
        Advice("classification_report", "Precision, recall and F1 of each class, with its rows.", _MANY),
        Advice("hamming_loss", "Share of wrong labels: a half-correct row counts half.", _LABELS),
        Advice("jaccard(average=macro)", "The overlap of true and predicted rows of each label.", _LABELS),
    ),
    (
        Advice("accuracy", "If 99 of 100 rows are of one class, always predicting it scores 0.99.", _RARE | _ONE_LABEL),
        Advice("accuracy", "A row counts only if all its labels are correct.", _LABELS),
        Advice("specificity", "With few positives it is near 1 for almost any model.", _TWO | _RARE | _ONE_LABEL),
        Advice("fscore(average=micro)", "With one label per row it equals accuracy.", _MANY | _ONE_LABEL),
    ),
    (TaskRedirect("probabilities", YES, "probabilities"),),
)

_THRESHOLDS = tuple(
    Advice(metric, why, _TWO | {"threshold": YES} | costs)
    for metric, why, costs in (
        ("best_threshold", "The threshold with the best F1; fp= and fn= take known costs.", _ALIKE),
        (
            "best_threshold(metric='fscore(beta=0.5)')",
            "The best threshold if precision counts more; fp= and fn= take known costs.",
            _ALARMS,
        ),
        (
            "best_threshold(metric='fscore(beta=2)')",
            "The best threshold if recall counts more; fp= and fn= take known costs.",
            _MISSES,
        ),
    )
)

PROBABILITIES = TaskAdvice(
    "Probabilities of classes.",
    (
        CLASSES,
        Question("sure_mistakes", "Is a confident mistake far worse than an unsure prediction?"),
        IMBALANCED,
        Question("calibrated", "Must a predicted 70 % come true in 70 % of the cases?"),
        ORDERED,
        THRESHOLD,
        COSTS,
        Question("few_guesses", "Is it enough that the true class is among the top few?"),
        Question("order_only", "Does only the order of the rows matter, not the probabilities themselves?"),
    ),
    (
        Advice(
            "logloss",
            "Lowest at the true probabilities; confident mistakes cost most.",
            {"sure_mistakes": YES},
        ),
        Advice(
            "brier",
            "Lowest at the true probabilities; the cost of a single row is bounded.",
            {"sure_mistakes": NO},
        ),
        Advice("auc", "How well the classes are separated, over all thresholds."),
        Advice("average_precision", "Mean precision over recall, for rare positives.", _TWO | _RARE),
        Advice(
            "ece", "The gap between predicted and observed frequencies; read it beside the loss.", {"calibrated": YES}
        ),
        Advice("reliability_curve", "Where the model is overconfident or underconfident.", {"calibrated": YES}),
        Advice("rps", "Probability near the true class costs less than far from it.", _MANY | {"ordered": YES}),
        *_THRESHOLDS,
        Advice("top_k_accuracy", "Whether the true class is among the top k.", _MANY | {"few_guesses": YES}),
    ),
    (
        Advice("logloss", "One confident mistake can outweigh all other rows.", {"sure_mistakes": NO}),
        Advice("accuracy", "It ignores the probabilities and rewards predicting the large class.", _RARE),
        Advice("accuracy", "It ignores the probabilities: 0.51 and 0.99 count the same.", _EVEN),
    ),
    (TaskRedirect("order_only", YES, "scores"),),
)

CALIBRATION = TaskAdvice(
    "Whether predicted probabilities match observed frequencies.",
    (
        Question("worst_case", "Does the worst range of probabilities matter rather than the mean?"),
        Question("uneven", "Are most probabilities close together?"),
    ),
    (
        Advice("ece", "The mean gap between predicted and observed frequencies.", {"uneven": NO}),
        Advice("ece(strategy=count)", "The same with equally filled bins: none is almost empty.", {"uneven": YES}),
        Advice("mce", "The gap in the worst bin; check how many rows it has.", {"worst_case": YES}),
        Advice("reliability_curve", "Where the model is overconfident or underconfident.", {"uneven": NO}),
        Advice("reliability_curve(strategy=count)", "The same with equally filled bins.", {"uneven": YES}),
        Advice("brier", "Calibration alone is not enough: it also measures how well classes are separated."),
    ),
    (Advice("auc", "It depends only on the order of the probabilities, not on their values."),),
)

SCORES = TaskAdvice(
    "Scores that order rows of two or more classes, such as risk scores.",
    (
        IMBALANCED,
        THRESHOLD,
        COSTS,
        Question("few_alarms", "Is only a low false positive rate acceptable?"),
        Question("top_only", "Will you act only on the rows with the highest scores?"),
        Question("streams", "Are the rows a stream that must be processed in fixed memory?"),
        Question("queries", "Do the rows belong to queries, each with its own ranking?"),
    ),
    (
        Advice("auc", "The probability that a positive row ranks above a negative one.", {"streams": NO}),
        Advice(
            "auc(bounded=1024)", "ROC AUC from at most 1,024 bins, with bounds on the exact value.", {"streams": YES}
        ),
        Advice("average_precision", "Mean precision over recall, for rare positives.", _RARE | {"streams": NO}),
        Advice(
            "average_precision(bounded=1024)",
            "Mean precision over recall, from at most 1,024 bins.",
            _RARE | {"streams": YES},
        ),
        Advice(
            "auc(max_fpr=0.1)",
            "Only the part of the ROC curve with a false positive rate up to 10 %.",
            {"few_alarms": YES, "streams": NO},
        ),
        Advice("lift_curve", "How many of the positives are in the top rows.", {"top_only": YES}),
        *(advice._replace(when={k: v for k, v in advice.when.items() if k != "classes"}) for advice in _THRESHOLDS),
        Advice("threshold_table", "The confusion matrix at every threshold.", {"threshold": YES}),
        Advice("roc_curve", "True and false positive rates at every threshold.", _EVEN),
        Advice("pr_curve", "Precision and recall at every threshold.", _RARE),
    ),
    (
        Advice("roc_curve", "With few positives it looks good even if most alarms are false.", _RARE),
        Advice("pr_auc", "Linear interpolation makes it too high: use average_precision.", _RARE),
        Advice("accuracy", "It needs a threshold, and depends more on it than on the scores."),
    ),
    (TaskRedirect("queries", YES, "ranking"),),
)

RANKING = TaskAdvice(
    "An order of rows for each query: search results, recommendations.",
    (
        Question("graded", "Does relevance have grades?"),
        Question("one_is_enough", "Is the user done after the first relevant row?"),
        Question("cutoff", "Are only the first few rows shown?"),
        Question("ties", "Do many rows have equal scores?"),
    ),
    (
        Advice("ndcg", "Uses grades of relevance; the top ranks count most.", {"graded": YES, "cutoff": NO}),
        Advice("ndcg(k=10)", "NDCG of the first 10 rows.", {"graded": YES, "cutoff": YES}),
        Advice("map", "Rewards ranking all relevant rows early.", {"graded": NO, "one_is_enough": NO}),
        Advice("mrr", "How early the first relevant row appears.", {"one_is_enough": YES}),
        Advice(
            "hit_rate(k=10)",
            "Share of queries with a relevant row among the first 10.",
            {"one_is_enough": YES, "cutoff": YES},
        ),
        Advice(
            "precision_at(k=10)", "Share of the rows shown that are relevant.", {"one_is_enough": NO, "cutoff": YES}
        ),
        Advice("recall_at(k=10)", "Share of the relevant rows that are shown.", {"one_is_enough": NO, "cutoff": YES}),
        Advice("ndcg(ties=worst)", "The lowest value over all orders of equal scores.", {"graded": YES, "ties": YES}),
        Advice("map(ties=worst)", "The lowest value over all orders of equal scores.", {"graded": NO, "ties": YES}),
    ),
    (
        Advice("auc", "It compares rows of different queries, whose scores may not be comparable."),
        Advice("ndcg(ties=stable)", "It depends on the order of the rows in the file.", {"graded": YES, "ties": YES}),
        Advice("map(ties=stable)", "It depends on the order of the rows in the file.", {"graded": NO, "ties": YES}),
    ),
)

CLUSTERING = TaskAdvice(
    "Clusters of rows.",
    (
        Question("truth", "Are the true clusters known?"),
        Question("chance_corrected", "Must unrelated clusterings score 0 (correction for chance)?"),
        Question("uneven_sizes", "Are some true clusters much smaller than others?"),
        Question("may_split", "May a true cluster be split into several predicted ones?"),
        Question("round", "Are the clusters round and of similar width?"),
        Question("many_rows", "Are there more than about 50,000 rows?"),
    ),
    (
        Advice("adjusted_rand", "Agreement on pairs of rows beyond chance.", _CORRECTED | {"uneven_sizes": NO}),
        Advice(
            "adjusted_mutual_information",
            "Shared information beyond chance: small clusters matter.",
            _CORRECTED | {"uneven_sizes": YES},
        ),
        Advice("rand_index", "Share of pairs of rows on which both clusterings agree.", _UNCORRECTED),
        Advice("normalized_mutual_information", "Shared information on a scale from 0 to 1.", _UNCORRECTED),
        Advice("mutual_information", "Shared information in nats, for further computations.", _UNCORRECTED),
        Advice(
            "homogeneity", "Whether clusters mix true clusters; splits cost nothing.", {"truth": YES, "may_split": YES}
        ),
        Advice(
            "v_measure",
            "Mixed and split clusters both cost; its two parts show which.",
            {"truth": YES, "may_split": NO},
        ),
        Advice(
            "silhouette",
            "Whether points are closer to their own cluster than to the next; needs n² distances.",
            {"truth": NO, "many_rows": NO},
        ),
        Advice(
            "davies_bouldin",
            "Width relative to the distance of neighbours, computed from the centres.",
            {"truth": NO, "round": YES},
        ),
        Advice(
            "calinski_harabasz",
            "Spread between clusters relative to spread within, from the centres.",
            {"truth": NO, "many_rows": YES},
        ),
    ),
    (
        Advice("rand_index", "With many clusters, chance alone scores near 1.", _CORRECTED),
        Advice("normalized_mutual_information", "Many small clusters score well by chance.", _CORRECTED),
        Advice("purity", "One cluster per row scores 1.", {"truth": YES, "may_split": NO}),
        Advice("accuracy", "It compares the names of clusters, which are arbitrary.", {"truth": YES}),
        Advice("davies_bouldin", "It favours round clusters.", {"truth": NO, "round": NO}),
    ),
)

_SELECTION, _MISSED, _BOTH, _TRUST = ({"harm": harm} for harm in ("selection", "misses", "both", "trust"))
_SHARE, _DIFFERENCE = {"relative": YES}, {"relative": NO}

FAIRNESS = TaskAdvice(
    "Labels of rows in groups that should be treated equally; `by` of `evaluate` names the groups.",
    (
        Question(
            "harm",
            "What harms a group: fewer selections, more misses, more errors of both kinds, or less reliable positives?",
            ("selection", "misses", "both", "trust"),
        ),
        Question("relative", "Are groups compared by ratio, as in the four-fifths rule, rather than by difference?"),
        Question("worst_group", "Does the worst value of any group matter?"),
    ),
    (
        Advice(
            "demographic_parity",
            "Whether groups are selected equally often, whatever the truth.",
            _SELECTION | _DIFFERENCE,
        ),
        Advice("demographic_parity_ratio", "The lowest selection rate over the highest.", _SELECTION | _SHARE),
        Advice("equal_opportunity", "Whether recall is the same in every group.", _MISSED | _DIFFERENCE),
        Advice("equal_opportunity_ratio", "The lowest recall over the highest.", _MISSED | _SHARE),
        Advice(
            "equalized_odds",
            "Whether true and false positive rates are the same in every group.",
            _BOTH | _DIFFERENCE,
        ),
        Advice("equalized_odds_ratio", "The smaller ratio of true and of false positive rates.", _BOTH | _SHARE),
        Advice("gap(precision)", "Whether precision is the same in every group.", _TRUST | _DIFFERENCE),
        Advice("ratio(precision)", "The lowest precision over the highest.", _TRUST | _SHARE),
        Advice("worst(balanced_accuracy)", "The balanced accuracy of the worst group.", {"worst_group": YES}),
    ),
    (
        Advice("accuracy", "One number over all rows hides differences between groups."),
        Advice("demographic_parity", "If base rates differ, even perfect predictions fail it.", _MISSED),
        Advice("demographic_parity", "If base rates differ, even perfect predictions fail it.", _BOTH),
    ),
)

TASKS: Mapping[str, TaskAdvice] = MappingProxyType(
    {
        "regression": REGRESSION,
        "forecasting": FORECASTING,
        "quantiles": QUANTILE,
        "classification": CLASSIFICATION,
        "probabilities": PROBABILITIES,
        "calibration": CALIBRATION,
        "scores": SCORES,
        "ranking": RANKING,
        "clustering": CLUSTERING,
        "fairness": FAIRNESS,
    }
)
