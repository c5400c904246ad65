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
OUTLIERS = Question("outliers", "Are there extreme or faulty rows that should not decide the value?")
UNIT_FREE = Question("unit_free", "Must values compare between targets of different scale or unit?")
ZEROS = Question("zeros", "Is the truth sometimes 0, or close to it?")
QUANTILES = Question("quantiles", "Are the predictions quantiles or intervals, rather than one number?")
CLASSES = Question("classes", "How many classes are there?", ("two", "many"))
IMBALANCED = Question("imbalanced", "Is one class much rarer than another?")
THRESHOLD = Question("threshold", "Must one threshold be chosen from which on rows are called positive?")
ORDERED = Question("ordered", "Do the classes have an order, so that a near miss is better than a far one?")

_TWO, _MANY = {"classes": "two"}, {"classes": "many"}
_ONE_LABEL, _LABELS = {"several_labels": NO}, {"several_labels": YES}
_RARE, _EVEN = {"imbalanced": YES}, {"imbalanced": NO}
_ALARMS, _MISSES, _ALIKE = {"costs": "false_alarms"}, {"costs": "misses"}, {"costs": "alike"}

REGRESSION = TaskAdvice(
    "Numbers: prices, times, temperatures.",
    (
        LARGE_ERRORS,
        OUTLIERS,
        UNIT_FREE,
        Question("relative", "Does an error count by its share of the truth, rather than by its size?"),
        ZEROS,
        Question("counts", "Is the truth a count or a rate of events?"),
        QUANTILES,
    ),
    (
        Advice(
            "rmse", "Squares make large errors count more; in the unit of y.", {"large_errors": YES, "outliers": NO}
        ),
        Advice(
            "huber",
            "Large errors count more, but beyond delta by size only: a few wild rows do not decide.",
            {"large_errors": YES, "outliers": YES},
        ),
        Advice("mae", "Every unit of error counts the same; in the unit of y.", {"large_errors": NO}),
        Advice("max_error", "The worst case, which no mean shows.", {"large_errors": YES, "outliers": NO}),
        Advice("median_absolute_error", "The worse half of the rows cannot move it.", {"outliers": YES}),
        Advice(
            "r2", "The share of squared deviations removed: no unit, 0 is the mean.", {"unit_free": YES, "outliers": NO}
        ),
        Advice(
            "d2_absolute",
            "As r2, of absolute deviations: no unit, and outliers count less.",
            {"unit_free": YES, "outliers": YES},
        ),
        Advice("mape", "Errors in percent of the truth.", {"relative": YES, "zeros": NO}),
        Advice("wape", "Total error in percent of the total: zeros do no harm.", {"relative": YES, "zeros": YES}),
        Advice("poisson_deviance", "Made for counts: a miss of 10 means more at 5 than at 500.", {"counts": YES}),
        Advice("mean_bias", "Whether predictions are too high or too low, which the size of errors does not say."),
    ),
    (
        Advice("rmse", "Errors are squared: one wild row can decide it.", {"outliers": YES}),
        Advice("r2", "Errors are squared: one wild row can decide it.", {"unit_free": YES, "outliers": YES}),
        Advice("mape", "One truth near 0 swamps it.", {"relative": YES, "zeros": YES}),
        Advice("explained_variance", "A constant bias costs nothing in it.", {"unit_free": YES}),
        Advice("pearson", "It sees neither bias nor scale.", {"unit_free": YES}),
    ),
    (TaskRedirect("quantiles", YES, "quantiles"),),
)

FORECASTING = TaskAdvice(
    "Future values of one or many series.",
    (
        LARGE_ERRORS,
        Question("naive", "Is the error of a naive forecast on the training data known?"),
        Question("many_series", "Do values compare or combine series of different scale?"),
        ZEROS,
        QUANTILES,
    ),
    (
        Advice("rmse", "Squares make large errors count more; in the unit of y.", {"large_errors": YES}),
        Advice("mae", "Every unit of error counts the same; in the unit of y.", {"large_errors": NO}),
        Advice("mase", "Below 1 it beats the naive forecast, whose error is given as scale.", {"naive": YES}),
        Advice("wape", "Total error in percent of the volume: zeros do no harm.", {"many_series": YES}),
        Advice("mape", "Errors in percent of the truth.", {"many_series": YES, "zeros": NO}),
        Advice("mean_bias", "Whether forecasts are too high or too low: it adds up over time."),
    ),
    (
        Advice("mape", "One truth near 0 swamps it.", {"many_series": YES, "zeros": YES}),
        Advice("smape", "Any forecast but 0 for a truth of 0 costs the full 200 %.", {"zeros": YES}),
        Advice("r2", "A series with a trend varies so much that poor forecasts score near 1."),
    ),
    (TaskRedirect("quantiles", YES, "quantiles"),),
)

QUANTILE = TaskAdvice(
    "Quantiles or intervals of a number: what may happen, not only what is likeliest.",
    (
        Question("intervals", "Are the predictions a lower and an upper bound?"),
        Question("distribution", "Do the quantiles stand for a whole distribution?"),
        UNIT_FREE,
    ),
    (
        Advice("coverage", "Whether as many rows lie inside as were promised.", {"intervals": YES}),
        Advice("interval_score", "Narrow and right at once, which coverage alone is not.", {"intervals": YES}),
        Advice("pinball", "Lowest at the true quantiles; name the alphas of the model.", {"intervals": NO}),
        Advice(
            "crps_quantile",
            "All quantiles in one number, in the unit of y.",
            {"intervals": NO, "distribution": YES},
        ),
        Advice("d2_pinball", "The share of pinball loss removed: no unit.", {"intervals": NO, "unit_free": YES}),
    ),
    (
        Advice("rmse", "It is lowest at the mean, so good quantiles other than that look bad.", {"intervals": NO}),
        Advice("mae", "It is lowest at the median, so good quantiles other than that look bad.", {"intervals": NO}),
    ),
)

CLASSIFICATION = TaskAdvice(
    "Labels: which class a row belongs to.",
    (
        CLASSES,
        IMBALANCED,
        Question("costs", "Which error is worse?", ("alike", "false_alarms", "misses")),
        Question("rare_as_much", "Should a rare class count as much as a frequent one?"),
        ORDERED,
        Question("several_labels", "Can a row have several labels at once?"),
        Question("probabilities", "Are there probabilities or scores, rather than labels only?"),
    ),
    (
        Advice("accuracy", "The share of right rows: plain, where classes are of similar size.", _EVEN | _ONE_LABEL),
        Advice("mcc", "All cells of the confusion matrix count: chance is 0 however rare a class is.", _ONE_LABEL),
        Advice("balanced_accuracy", "The mean recall of the classes, however rare.", _RARE | _ONE_LABEL),
        Advice("fscore", "Precision and recall of the rare class in one.", _TWO | _RARE | _ALIKE | _ONE_LABEL),
        Advice("precision", "How many alarms are true.", _TWO | _ALARMS | _ONE_LABEL),
        Advice("fscore(beta=0.5)", "Precision and recall, where precision counts more.", _TWO | _ALARMS | _ONE_LABEL),
        Advice("recall", "Share of actual positives that were found.", _TWO | _MISSES | _ONE_LABEL),
        Advice("fscore(beta=2)", "Precision and recall, where recall counts more.", _TWO | _MISSES | _ONE_LABEL),
        Advice("fscore(average=macro)", "The mean F of the classes.", _MANY | {"rare_as_much": YES}),
        Advice("fscore(average=weighted)", "The mean F by how often a class is true.", _MANY | {"rare_as_much": NO}),
        Advice("precision(average=macro)", "How far each answer can be trusted.", _MANY | _ALARMS),
        Advice("recall(average=macro)", "How much of each class was found.", _MANY | _MISSES),
        Advice(
            "cohen_kappa(weighting=quadratic)",
            "Far misses count more than near ones.",
            _MANY | {"ordered": YES} | _ONE_LABEL,
        ),
        Advice("confusion_matrix", "Which classes are taken for which.", _ONE_LABEL),
        Advice("classification_report", "Every class by itself, with its rows.", _MANY),
        Advice("hamming_loss", "A row that is half right counts half.", _LABELS),
        Advice("jaccard(average=macro)", "The overlap of true and predicted rows of each label.", _LABELS),
    ),
    (
        Advice(
            "accuracy", "With 99 rows of one class in 100, always saying that class scores 0.99.", _RARE | _ONE_LABEL
        ),
        Advice("accuracy", "A row counts only if all its labels are right.", _LABELS),
        Advice("specificity", "With few positives it is near 1 for almost any model.", _TWO | _RARE | _ONE_LABEL),
        Advice("fscore(average=micro)", "With one label per row it is accuracy by another name.", _MANY | _ONE_LABEL),
    ),
    (TaskRedirect("probabilities", YES, "probabilities"),),
)

PROBABILITIES = TaskAdvice(
    "Probabilities of classes, which are to be believed.",
    (
        CLASSES,
        Question("sure_mistakes", "Is being sure and wrong far worse than being unsure?"),
        IMBALANCED,
        Question("calibrated", "Must what is called 70 % likely happen in 70 % of the cases?"),
        ORDERED,
        THRESHOLD,
        Question("few_guesses", "Is it enough that the true class is among the first few?"),
        Question("order_only", "Does only the order of the rows matter, not the probabilities themselves?"),
    ),
    (
        Advice(
            "logloss",
            "It is lowest at the true probabilities, and being sure and wrong costs most.",
            {"sure_mistakes": YES},
        ),
        Advice(
            "brier",
            "It is lowest at the true probabilities, and no row costs more than a bound.",
            {"sure_mistakes": NO},
        ),
        Advice("auc", "How well the classes are told apart, at no threshold in particular."),
        Advice("average_precision", "How true the first alarms are, where positives are few.", _TWO | _RARE),
        Advice("ece", "How far promised and observed shares lie apart; read it beside the loss.", {"calibrated": YES}),
        Advice("reliability_curve", "Where the model promises too much or too little.", {"calibrated": YES}),
        Advice("rps", "Probability near the true class costs less than far from it.", _MANY | {"ordered": YES}),
        Advice("best_threshold", "Where a metric is best, or errors cost least.", _TWO | {"threshold": YES}),
        Advice("top_k_accuracy", "Whether the true class is among the first k.", _MANY | {"few_guesses": YES}),
    ),
    (
        Advice("logloss", "One row that was sure and wrong can outweigh all others.", {"sure_mistakes": NO}),
        Advice("accuracy", "It throws the probabilities away, and flatters whoever says the large class.", _RARE),
        Advice("accuracy", "It throws the probabilities away: 0.51 and 0.99 are the same to it.", _EVEN),
    ),
    (TaskRedirect("order_only", YES, "scores"),),
)

CALIBRATION = TaskAdvice(
    "Whether probabilities can be taken at their word.",
    (
        Question("worst_case", "Does the worst range of probabilities matter, rather than the mean?"),
        Question("uneven", "Do most probabilities lie close together?"),
    ),
    (
        Advice("ece", "The mean distance of promised and observed shares.", {"uneven": NO}),
        Advice("ece(strategy=count)", "The same in bins of equal weight: none is almost empty.", {"uneven": YES}),
        Advice("mce", "The distance in the worst bin; mind how many rows it has.", {"worst_case": YES}),
        Advice("reliability_curve", "Where the model promises too much or too little.", {"uneven": NO}),
        Advice("reliability_curve(strategy=count)", "The same in bins of equal weight.", {"uneven": YES}),
        Advice("brier", "Calibration alone is not enough: it also asks that classes are told apart."),
    ),
    (Advice("auc", "It sees the order of the probabilities, never whether they are right."),),
)

SCORES = TaskAdvice(
    "Scores that rank rows of two classes or more, such as risks.",
    (
        IMBALANCED,
        THRESHOLD,
        Question("few_alarms", "Is only a small rate of false alarms acceptable?"),
        Question("top_only", "Is only the top of the list acted on?"),
        Question("streams", "Do the rows come as a stream that must fit into fixed memory?"),
        Question("queries", "Do the rows belong to queries, each with a ranking of its own?"),
    ),
    (
        Advice("auc", "The chance that a positive row stands above a negative one.", {"streams": NO}),
        Advice(
            "auc(bounded=1024)", "The same from at most 1,024 bins, with bounds of the exact value.", {"streams": YES}
        ),
        Advice("average_precision", "How true the first alarms are, where positives are few.", _RARE | {"streams": NO}),
        Advice(
            "average_precision(bounded=1024)",
            "How true the first alarms are, from at most 1,024 bins.",
            _RARE | {"streams": YES},
        ),
        Advice(
            "auc(max_fpr=0.1)",
            "Only the part where at most a tenth raise a false alarm.",
            {"few_alarms": YES, "streams": NO},
        ),
        Advice("lift_curve", "How many of the positives the first rows hold.", {"top_only": YES}),
        Advice("best_threshold", "Where a metric is best, or errors cost least.", {"threshold": YES}),
        Advice("threshold_table", "What every threshold does.", {"threshold": YES}),
        Advice("roc_curve", "Both rates at every threshold.", _EVEN),
        Advice("pr_curve", "Precision and recall at every threshold.", _RARE),
    ),
    (
        Advice("roc_curve", "With few positives it looks good even where most alarms are false.", _RARE),
        Advice("pr_auc", "Straight lines between its points are too high: average_precision has none.", _RARE),
        Advice("accuracy", "It needs a threshold, and judges that more than the scores."),
    ),
    (TaskRedirect("queries", YES, "ranking"),),
)

RANKING = TaskAdvice(
    "An order of rows for each query: search results, recommendations.",
    (
        Question("graded", "Does relevance have degrees?"),
        Question("one_is_enough", "Is the user done with the first relevant row?"),
        Question("cutoff", "Are only the first few rows shown?"),
        Question("ties", "Do many rows have equal scores?"),
    ),
    (
        Advice("ndcg", "Degrees of relevance count, the first ranks most.", {"graded": YES, "cutoff": NO}),
        Advice("ndcg(k=10)", "The same over the first 10 rows.", {"graded": YES, "cutoff": YES}),
        Advice("map", "All relevant rows should come early.", {"graded": NO, "one_is_enough": NO}),
        Advice("mrr", "How far down the first relevant row is.", {"one_is_enough": YES}),
        Advice(
            "hit_rate(k=10)",
            "Whether there is anything relevant among the first 10.",
            {"one_is_enough": YES, "cutoff": YES},
        ),
        Advice("precision_at(k=10)", "How much of what is shown is relevant.", {"one_is_enough": NO, "cutoff": YES}),
        Advice("recall_at(k=10)", "How much of what is relevant is shown.", {"one_is_enough": NO, "cutoff": YES}),
        Advice(
            "ndcg(ties=worst)", "What equal scores are worth at worst, beside their mean.", {"graded": YES, "ties": YES}
        ),
        Advice(
            "map(ties=worst)", "What equal scores are worth at worst, beside their mean.", {"graded": NO, "ties": YES}
        ),
    ),
    (
        Advice("auc", "It mixes rows of different queries, whose scores need not compare."),
        Advice("ndcg(ties=stable)", "The order of the rows in the file decides.", {"graded": YES, "ties": YES}),
        Advice("map(ties=stable)", "The order of the rows in the file decides.", {"graded": NO, "ties": YES}),
    ),
)

CLUSTERING = TaskAdvice(
    "Groups of rows.",
    (
        Question("truth", "Are the true groups known?"),
        Question("uneven_sizes", "Are some true groups much smaller than others?"),
        Question("may_split", "May one true group be split over several clusters?"),
        Question("round", "Are the clusters round and of similar width?"),
        Question("many_rows", "Are there more than some 50,000 rows?"),
    ),
    (
        Advice("adjusted_rand", "Agreement on pairs of rows beyond chance.", {"truth": YES, "uneven_sizes": NO}),
        Advice(
            "adjusted_mutual_information",
            "Shared information beyond chance: small groups show.",
            {"truth": YES, "uneven_sizes": YES},
        ),
        Advice(
            "homogeneity", "Whether clusters mix true groups; a split costs nothing.", {"truth": YES, "may_split": YES}
        ),
        Advice(
            "v_measure", "Mixed and split groups both cost; its two halves say which.", {"truth": YES, "may_split": NO}
        ),
        Advice(
            "silhouette",
            "Nearer to the own cluster than to the next? It takes n² distances.",
            {"truth": NO, "many_rows": NO},
        ),
        Advice(
            "davies_bouldin",
            "Width against distance of neighbours, from the centres alone.",
            {"truth": NO, "round": YES},
        ),
        Advice(
            "calinski_harabasz",
            "Spread between against spread within, from the centres alone.",
            {"truth": NO, "many_rows": YES},
        ),
    ),
    (
        Advice("rand_index", "With many clusters chance scores near 1.", {"truth": YES}),
        Advice("normalized_mutual_information", "Many small clusters score well by chance.", {"truth": YES}),
        Advice("purity", "One cluster per row scores 1.", {"truth": YES, "may_split": NO}),
        Advice("accuracy", "It compares the names of clusters, which mean nothing.", {"truth": YES}),
        Advice("davies_bouldin", "It favours round clusters.", {"truth": NO, "round": NO}),
    ),
)

_SELECTION, _MISSED, _BOTH, _TRUST = ({"harm": harm} for harm in ("selection", "misses", "both", "trust"))
_SHARE, _DIFFERENCE = {"relative": YES}, {"relative": NO}

FAIRNESS = TaskAdvice(
    "Labels of rows in groups that should fare alike; the groups are `by` of `evaluate`.",
    (
        Question(
            "harm",
            "What harms a group: being selected less, being missed, misses and false alarms, or answers worth less?",
            ("selection", "misses", "both", "trust"),
        ),
        Question("relative", "Do groups compare by ratio, as rules of four fifths do, rather than by difference?"),
        Question("worst_group", "Does it matter how the group fares that fares worst?"),
    ),
    (
        Advice(
            "demographic_parity", "Whether groups are selected alike, whatever the truth.", _SELECTION | _DIFFERENCE
        ),
        Advice("demographic_parity_ratio", "The lowest share selected over the highest.", _SELECTION | _SHARE),
        Advice("equal_opportunity", "Whether those who should be found are, in every group.", _MISSED | _DIFFERENCE),
        Advice("equal_opportunity_ratio", "The lowest recall over the highest.", _MISSED | _SHARE),
        Advice("equalized_odds", "Whether misses and false alarms are alike in every group.", _BOTH | _DIFFERENCE),
        Advice("equalized_odds_ratio", "The smaller ratio of recall and of fallout.", _BOTH | _SHARE),
        Advice("gap(precision)", "Whether a positive answer means the same in every group.", _TRUST | _DIFFERENCE),
        Advice("ratio(precision)", "The lowest precision over the highest.", _TRUST | _SHARE),
        Advice("worst(balanced_accuracy)", "What the group that fares worst gets.", {"worst_group": YES}),
    ),
    (
        Advice("accuracy", "One number over all rows hides the groups."),
        Advice("demographic_parity", "Where groups truly differ, even perfect predictions fail it.", _MISSED),
        Advice("demographic_parity", "Where groups truly differ, even perfect predictions fail it.", _BOTH),
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
