"""Small files, and what is read from them."""

from __future__ import annotations

import numpy as np
import pytest

from tallymark.sources.files import read_columns


@pytest.fixture
def file(tmp_path):
    """Writes bytes or text to a file and gives its path."""

    def write(content, name="rows.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def column(path, name="y", way="auto", **more):
    return read_columns(path, {name: way}, **more)[name]


def items(found):
    """The values as Python objects."""
    return found.values.tolist() if isinstance(found.values, np.ndarray) else found.values.to_pylist()
