"""Scores: how well they rank, and what every threshold does."""
