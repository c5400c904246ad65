"""Sources of rows: tables, files, Dask, Spark and Ray.

Each folds its rows into the states of a plan and does not know what a metric is. `dispatch.py` picks one by the
type of a source, `base.py` is what all of them are given.
"""
