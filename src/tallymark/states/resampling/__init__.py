"""What the bootstrap reads and keeps: keys of rows, draws, replicates of states, and units that are resampled.

`one_pass.py` reads many replicates at once; `paired_rows.py` is for tests of two models on the same rows.
"""
