"""Numbers: errors, variance explained, deviances, quantiles and intervals."""
