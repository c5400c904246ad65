"""Sources of rows: tables, files, Dask, Spark and Ray.

Each folds its rows by a job (`base.py`) and does not know what a metric is; `dispatch.py` picks one by the type of a
source. `files.py` reads one file: CSV (`csv/`), Parquet or Arrow, whose columns become arrays in `columns.py`;
`datasets.py` reads many. `dask.py`, `spark.py` and `ray.py` merge the results of partitions on a cluster, after
`schema_cast.py` has given all partitions the same types. `problems.py` lists everything wrong with a file.
"""
