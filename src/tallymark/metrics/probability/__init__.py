"""Probabilities: whether they are right, beyond their order."""
