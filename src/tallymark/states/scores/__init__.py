"""states.scores."""
