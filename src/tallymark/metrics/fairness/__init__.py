"""Groups: what compares a metric between groups of rows."""
