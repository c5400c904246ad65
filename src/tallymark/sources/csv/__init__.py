"""sources.csv."""
