"""What the app keeps: a database, and files by the hash of their content."""

from tallymark.app.store.database import Database, insert_of
from tallymark.app.store.files import FileStore, StoredContent

__all__ = ["Database", "FileStore", "StoredContent", "insert_of"]
