"""Confidence intervals of metrics, by published methods.

`methods.py` is the one table of them, which code and documentation read. `analytic.py` has Interval and NoInterval, and
the formulas that need only exact totals of a state; `posterior.py` is for any other function of a table of labels;
`replicates.py` and `bca.py` are the bootstrap. `maker.py` picks the method, and reads states and resamples from rows in
memory or from what a tally kept. Reports are filled in `evaluation`.
"""
