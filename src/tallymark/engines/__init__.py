"""Engines: each folds rows from one kind of source into the states of a plan, and does not know what a metric is."""
