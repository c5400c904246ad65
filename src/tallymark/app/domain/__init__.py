"""app.domain."""
