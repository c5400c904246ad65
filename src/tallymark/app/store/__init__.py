"""What the app keeps: a database, and files by the hash of their content."""

from tallymark.app.store.database import Database as Database
from tallymark.app.store.database import insert_of as insert_of
from tallymark.app.store.files import Files as Files
from tallymark.app.store.files import Kept as Kept

__all__ = ["Database", "Files", "Kept", "insert_of"]
