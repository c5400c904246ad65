"""What callers pass becomes checked rows.

`arrays.py` and `labels.py` read a column as numbers or as labels, `batch.py` checks the rows of a call, `target.py`
says what the predictions are, and `arguments.py` checks plain arguments. Nothing here knows what a state or a metric
is.
"""
