"""Confidence intervals of metrics, by published methods.

`methods.py` is the one table of them. Formulas that need only totals of a metric are in `intervals/analytic.py`; here
are the posterior of a table of labels (`posterior.py`), the bootstrap (`replicates.py`, `bca.py`), where intervals get
their states from (`sources.py`: rows in memory, or states that a tally kept), and the class that picks the method
(`maker.py`). Reports are filled in `evaluation`.
"""
