"""The pages that are written from the code: metrics from their definitions, the rest from docstrings and tables."""
