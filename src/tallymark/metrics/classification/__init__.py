"""Labels: counts of right and wrong, by class and in all."""
