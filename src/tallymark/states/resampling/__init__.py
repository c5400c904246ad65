"""states.resampling."""
