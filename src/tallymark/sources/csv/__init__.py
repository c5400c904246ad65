"""CSV: the fast reader, the tokenizer that locates errors, fields as numbers, and types inferred across files."""
