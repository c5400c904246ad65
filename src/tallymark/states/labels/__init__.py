"""States of labels: pairs of true and predicted ones, tables of 0 and 1, and ranks of the true class.

`encoding.py` turns labels into codes; `counts.py` has the counts by class that formulas read.
"""
