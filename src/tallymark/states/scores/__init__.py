"""States of scores: all of them as sorted runs, or binned in a fixed size.

`runs.py` has the sums over the order of two classes, `ranges.py` the same range by range.
"""
