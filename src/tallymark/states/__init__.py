"""States: what is kept of the rows. Each has a zero, adds in any order, and can be written as bytes.

`base.py` is the algebra, with the plan that joins what several metrics need; `serialization.py` is the byte format.
States are named by what they hold: sums, labels, scores, probabilities, rankings, rows. `resampling/` is what the
bootstrap keeps, `groups.py` the states of slices.
Nothing here knows what a metric is.
"""
