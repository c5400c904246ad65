"""Commands in the documentation run, and print what stands below them."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib

import pytest

from tallymark.cli.group import commands
from tests.docs.pages import DOCS, PAGES, ROOT, blocks, named, prose

pytestmark = pytest.mark.slow

WITH_COMMANDS = [page for page in PAGES if any("tallymark " in code for code in blocks(page, "sh", "console"))]


@pytest.fixture
def shell(tmp_path):
    """Runs lines of a shell that knows `tallymark`, beside the examples of the repository: exit code and output."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "iris.csv").write_text("species,p_setosa,p_other\nsetosa,0.9,0.1\nother,0.2,0.8\n")
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "tallymark"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tallymark "$@"\n')
    script.chmod(0o755)
    path = f"{script.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "HOME": str(tmp_path), "NO_COLOR": "1"}

    def run(lines):
        return subprocess.run(["bash", "-c", lines], cwd=tmp_path, env=environment, capture_output=True, text=True)

    return run


@pytest.mark.parametrize("path", WITH_COMMANDS, ids=named)
def test_every_documented_command_exits_with_0(path, shell):
    """What is to be typed ends well; installing, building and serving are left to those who read."""
    for code in blocks(path, "sh"):
        lines = [
            line
            for line in code.splitlines()
            if not re.match(r"(pip|make|git|tallymark (serve|admin|backup|restore|doctor))\b", line)
        ]
        done = shell("set -e\n" + "\n".join(lines))
        assert done.returncode == 0, f"{code}\n{done.stderr}"


@pytest.mark.parametrize("path", WITH_COMMANDS, ids=named)
def test_commands_print_what_stands_below_them(path, shell):
    """Of a block that shows both: a line that begins with a dollar, and its output."""
    for code in blocks(path, "console"):
        for command, shown in re.findall(r"^\$ (.+?(?:\\\n.+?)*)\n((?:(?!\$ ).*\n)*)", code, re.MULTILINE):
            done = shell(command)
            assert (done.stdout + done.stderr).strip() == shown.strip(), command


@pytest.mark.parametrize("path", WITH_COMMANDS, ids=named)
def test_a_server_is_started_and_managed_by_options_that_there_are(path):
    """Nothing is started here: it would not end, and there is nothing to manage."""
    lines = "\n".join(blocks(path, "sh"))
    for line in re.findall(r"^tallymark ((?:serve|admin|backup|restore|doctor)\b.*)", lines, re.MULTILINE):
        word, *rest = shlex.split(line)
        command = commands.get_command(commands.make_context("tallymark", ["--"], resilient_parsing=True), word)
        if word == "admin":
            word, *rest = rest
            command = command.commands[word]
        command.make_context(word, rest)


EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


def test_every_extra_is_on_the_page_of_installation():
    """In its table."""
    page = (DOCS / "how-to" / "install.md").read_text()
    assert set(re.findall(r"`([a-z]+)`", "".join(re.findall(r"^\| (`.+?) \|", page, re.MULTILINE)))) == set(EXTRAS)


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_what_is_installed_and_made_exists(path):
    """Extras that are named are extras, and verbs of make are verbs."""
    text = prose(path) + "\n".join(blocks(path, "sh", "console"))
    for named_extras in re.findall(r"(?:tallymark|\.)\[([a-z,]+)\]", text):
        assert set(named_extras.split(",")) <= set(EXTRAS)
    verbs = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for verb in re.findall(r"(?:^|`)make ([a-z]+)\b", text, re.MULTILINE):
        assert verb in verbs, verb
