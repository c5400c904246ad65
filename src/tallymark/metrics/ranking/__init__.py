"""Rankings by query."""
