"""The methods of intervals: each is published, has a name in reports, and is used as published."""

from __future__ import annotations

from typing import NamedTuple

from tallymark.intervals.analytic import BONETT_WRIGHT, DELONG, FISHER, HALL, SIGN_TEST, STUDENT, WILSON

JEFFREYS, PERKS = "Jeffreys posterior", "Perks posterior"
BOOTSTRAP, OF_CLUSTERS, OF_QUERIES = "bootstrap", "bootstrap of clusters", "bootstrap of queries"
SIMULTANEOUS = "simultaneous intervals"


class Method(NamedTuple):
    """A method by its name in reports, where it was published, when it is used, and what it does."""

    name: str
    reference: str
    used_for: str
    description: str


METHODS = (
    Method(
        WILSON,
        "Wilson (1927)",
        "shares of rows, such as `accuracy` and `recall`, and whatever rises or falls with one share: micro averages, "
        "F1 of one class",
        "All shares that a score test does not reject.",
    ),
    Method(
        DELONG,
        "DeLong et al. (1988); Brunner and Munzel (2000)",
        "`auc` and `gini` of two classes",
        "The standard error by placements, with Welch's degrees of freedom, on the logit scale.",
    ),
    Method(
        HALL,
        "Hall (1992)",
        "means of one term per row and what rises with them: `mae`, `rmse`, `logloss`, `brier`, deviances, …",
        "Student's interval, with ends moved by the skewness of the terms.",
    ),
    Method(STUDENT, "Student (1908)", "`mean_bias`", "Quantiles of Student's t with n − 1 degrees of freedom."),
    Method(
        FISHER,
        "Fisher (1921)",
        "`pearson`",
        "The correlation ± 1.96/√(n − 3), at a level of 95 %, on the scale of Fisher's z.",
    ),
    Method(
        BONETT_WRIGHT,
        "Bonett and Wright (2000)",
        "`spearman`",
        "As Fisher's z, with a variance of (1 + r²/2)/(n − 3).",
    ),
    Method(
        SIGN_TEST,
        "Hettmansperger and Sheather (1986)",
        "`median_absolute_error`",
        "Two order statistics that the sign test does not reject, interpolated to meet the level.",
    ),
    Method(
        JEFFREYS,
        "Jeffreys (1946)",
        "any other function of the table of two classes: `mcc`, `balanced_accuracy`, F2, macro averages, …",
        "Equal-tailed interval of 2,000 posterior draws of the table's cells: Dirichlet(count + 1/2).",
    ),
    Method(
        PERKS,
        "Perks (1947)",
        "the same with K classes, from 3 to 100",
        "Equal-tailed interval of 2,000 posterior draws of the table's cells: Dirichlet(count + 1/K²).",
    ),
    Method(
        BOOTSTRAP,
        "Efron (1987)",
        'everything else, rows with weights, and `method="bootstrap"`',
        "BCa: percentiles of the values in resamples, corrected for bias and acceleration.",
    ),
    Method(OF_CLUSTERS, "Efron (1987)", "rows with `cluster=`", "BCa, with clusters of rows resampled as a whole."),
    Method(OF_QUERIES, "Efron (1987)", "rankings by query", "BCa, with queries resampled as a whole."),
    Method(
        SIMULTANEOUS,
        "Dunn (1961)",
        "`gap`, `ratio` and `worst` of groups",
        "What follows from intervals of all groups, whose level is raised so that all hold at once (Bonferroni).",
    ),
)
"""All methods, in the order in which they are tried."""
