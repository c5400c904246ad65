"""Files are whole or not there."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.waiting import LIMIT

import tallymark as tm
from tallymark.rendering import files
from tallymark.rendering.exports import to_csv
from tallymark.rendering.files import write_atomically


def test_a_file_is_written(tmp_path):
    """Text as UTF-8, bytes as they are; nothing else stays in the folder."""
    write_atomically(tmp_path / "a.txt", "ä\n")
    write_atomically(str(tmp_path / "b"), b"\xff")
    assert (tmp_path / "a.txt").read_bytes() == b"\xc3\xa4\n"
    assert (tmp_path / "b").read_bytes() == b"\xff"
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "b"]


@pytest.mark.parametrize(
    ("error", "wording"), [(KeyboardInterrupt("Ctrl-C"), "Ctrl-C"), (OSError(28, "No space left on device"), "a.txt")]
)
def test_an_interrupt_leaves_the_old_file(tmp_path, monkeypatch, error, wording):
    """And no half of a new one."""
    path = tmp_path / "a.txt"
    path.write_text("old")

    def stop(*_):
        raise error

    monkeypatch.setattr(files.os, "replace", stop)
    with pytest.raises(type(error), match=wording):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_new_file_gets_default_permissions_and_an_old_one_keeps_its_own(tmp_path):
    """As for any new file; a file that is there keeps its permissions, and a link its target."""
    umask = os.umask(0o027)
    try:
        write_atomically(tmp_path / "a", "x")
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640
    (tmp_path / "link").symlink_to(tmp_path / "a")
    os.chmod(tmp_path / "a", 0o600)
    write_atomically(tmp_path / "link", "y")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a").read_text() == "y"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600


def test_a_folder_that_is_not_there(tmp_path):
    """The error names the file that was asked for."""
    with pytest.raises(FileNotFoundError) as caught:
        write_atomically(tmp_path / "no" / "a.html", "x")
    assert caught.value.filename == str(tmp_path / "no" / "a.html")
    with pytest.raises(IsADirectoryError):
        write_atomically(tmp_path, "x")


def test_a_pipe_is_written_to(tmp_path):
    """What cannot be renamed is written as it is."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()))
    reader.start()
    write_atomically(pipe, "through")
    reader.join(LIMIT)
    assert found == ["through"]


def test_floats_in_csv_read_back_as_themselves():
    """Floats read back as themselves; what is undefined is empty; quotes where they must be."""
    text = to_csv({"a": ["x,y", None, 'q"'], "b": [0.1 + 0.2, float("nan"), float("inf")], "c": [1, 2, 3]})
    assert text == 'a,b,c\n"x,y",0.30000000000000004,1\n,,2\n"q""",inf,3\n'


def test_names_that_no_file_can_hold(tmp_path):
    """Half a sign, or one that moves the cursor, in a label: every rendering can be written."""
    y = ["a\ud800", "b\x1b[31m", "c"] * 10
    report = tm.evaluate(y, y[1:] + y[:1], ["accuracy", "confusion_matrix"], by={"part": y})
    for name in ("report.html", "report.md", "report.csv", "report.json"):
        report.save(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 100
    assert report._repr_html_().encode()


def test_the_output_of_a_process_is_written_to_and_never_replaced(tmp_path):
    """Also where it is a file, and one that has no name any more; what is there already stays."""
    code = "import tallymark.rendering.files as f; f.write_atomically('/dev/stdout', 'second')"
    with open(tmp_path / "out.txt", "w+b") as file:
        file.write(b"first ")
        file.flush()
        for unlinked in (False, True):
            if unlinked:
                (tmp_path / "out.txt").unlink()
            subprocess.run([sys.executable, "-c", code], stdout=file, check=True)
            file.seek(0)
            assert file.read() == b"first second" + b"second" * unlinked
        assert list(tmp_path.iterdir()) == []
    assert Path("/dev/stdout").is_symlink()
