"""Pages: what each of them shows, as records of texts and numbers, and the templates that turn them into HTML.

Modules here build their records from rows of the database and never read it themselves.

Every page is a record whose first field is its `shell`. Values of forms are in `shell.form` under the names of
the fields; a checkbox is "1" or absent. Templates compute nothing.
"""
