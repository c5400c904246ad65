"""states.labels."""
