"""What the app stores: the database with its tables, and files by the hash of their content."""
