"""Clusterings, compared with each other or by the points themselves."""
