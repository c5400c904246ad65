"""Pages: what each of them shows, as records of texts and numbers, and how templates turn them into HTML.

Every page is a record whose first field is its `shell`. Values of forms are in `shell.form` under the names of
the fields; a checkbox is "1" or absent. Templates compute nothing.
"""
