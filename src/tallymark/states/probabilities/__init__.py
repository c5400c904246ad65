"""States of probabilities: totals of their costs, and bins of equal width or equal weight. `reading.py` checks them."""
