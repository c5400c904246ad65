"""states.probabilities."""
