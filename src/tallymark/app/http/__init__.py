"""HTTP: middleware, uploads, and the context of a request. Nothing here knows the rules of challenges."""
