"""Install the wheels of dist/ in empty environments, where there is no compiler and no source, and run the fast tests.

The tests run from a copy. A Python that is also that of .venv borrows its packages for tests; others install them, but
for the large ones. Prints the sizes and times that it measures.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import tomllib
from pathlib import Path

from build_wheels import ROOT, find_python

DIST = ROOT / "dist"
LIMIT = 3_000_000  # bytes
COMPILERS = re.compile(r"(.*-)?(c?cc|[cg]\+\+|gcc|cpp|c89|c99|clang.*|ld|ld\..*|as|make|cmake|ninja)(-[\d.]+)?")
COPIED = ("tests", "docs", "examples", "bench", "core", "pyproject.toml", "README.md", "ARCHITECTURE.md",
          "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "Makefile")  # fmt: skip
# Packages for tests that only the Python of .venv has: large, tools, or without wheels for all versions.
LARGE = {"torch", "torchmetrics", "keras", "jax", "lightning", "ray", "pyspark", "catboost", "lightgbm", "xgboost-cpu"}
TOOLS = {"mypy", "ruff", "clang-format", "import-linter", "playwright", "axe-playwright-python", "sphinx",
         "sphinx-copybutton", "furo", "myst-parser"}  # fmt: skip
# Tests and pages that load one of them; others skip what they cannot load.
NEED_THEM = ["--ignore=tests/browser", "-k", "not stub_of_the_core and not differences.md and not same-number.md"]
IMPORT = "import time, numpy; t = time.perf_counter(); import tallymark; print(time.perf_counter() - t)"
EVALUATE = ["evaluate", "examples/data/deliveries.csv", "--truth", "minutes", "--prediction", "predicted",
            "--missing", "drop", "--html", "report.html"]  # fmt: skip
BITS = "tests/core/print_bits.py"


class Place:
    """A folder with an empty environment, the tests, and programs that are not compilers."""

    def __init__(self, folder: Path, python: str) -> None:
        self.folder, self.bin = folder, folder / "venv" / "bin"
        subprocess.run([python, "-m", "venv", folder / "venv"], check=True)
        programs = folder / "programs"
        programs.mkdir()
        for program in [*Path("/usr/bin").iterdir(), *Path("/bin").iterdir()]:
            link = programs / program.name
            if not COMPILERS.fullmatch(program.name) and not link.is_symlink():
                link.symlink_to(program)
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        self.environment |= {"PATH": f"{self.bin}{os.pathsep}{programs}", "PIP_FIND_LINKS": str(DIST)}
        for compiler in ("gcc", "g++", "cc", "c++", "clang"):
            assert shutil.which(compiler, path=self.environment["PATH"]) is None, compiler
        for name in COPIED:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile
            copy(ROOT / name, folder / name)
        settings = (folder / "pyproject.toml").read_text()
        (folder / "pyproject.toml").write_text(
            settings.replace('testpaths = ["tests", "src"]', 'testpaths = ["tests"]')
        )

    def run(self, *command: object, **environment: str) -> str:
        done = subprocess.run([self.bin / str(command[0]), *map(str, command[1:])], cwd=self.folder, text=True,
                              env=self.environment | environment, stdout=subprocess.PIPE)  # fmt: skip
        if done.returncode != 0:
            sys.exit(f"{done.stdout}\nfailed: {' '.join(map(str, command))}")
        return done.stdout

    def install(self, *what: object) -> float:
        start = time.perf_counter()
        self.run("python", "-m", "pip", "--disable-pip-version-check", "install", "-q", *what)
        return time.perf_counter() - start


def packages_for_tests() -> list[str]:
    """What the extra `dev` names, without what is large."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = settings["project"]["optional-dependencies"]["dev"]
    return [each for each in wanted if re.split(r"[\[<>=~]", each)[0] not in LARGE | TOOLS]


def same_bits_on_old_processors(place: Place) -> list[str]:
    """Compare this processor with emulated ones with AVX2 and without."""
    emulator = shutil.which("qemu-x86_64")
    if emulator is None:
        return []
    here = place.run("python", BITS)
    for processor in ("Haswell", "SandyBridge"):
        command = [emulator, "-cpu", processor, place.bin / "python", BITS]
        there = subprocess.run(command, cwd=place.folder, env=place.environment, capture_output=True, text=True)
        assert there.stdout == here, f"{processor}: {there.stdout}{there.stderr}"
    return ["Haswell", "SandyBridge"]


def check(wheel: Path, version: str, python: str) -> None:
    """Install a wheel for a version of Python, measure, and run the tests."""
    assert wheel.stat().st_size < LIMIT, f"{wheel.name} has {wheel.stat().st_size} bytes"
    with tempfile.TemporaryDirectory() as name:
        place = Place(Path(name), python)
        place.install("numpy")
        seconds = place.install(wheel)
        installed = {line.split("==")[0] for line in place.run("python", "-m", "pip", "freeze").split()}
        assert {"numpy", "tallymark"} >= {each for each in installed if "@" not in each and "/" not in each}, installed
        assert "site-packages" in place.run("python", "-c", "import tallymark; print(tallymark._core.__file__)")
        imports = min(float(place.run("python", "-c", IMPORT)) for _ in range(5))
        print(f"{wheel.name}, Python {version}: {wheel.stat().st_size / 1e6:.2f} MB", flush=True)
        print(f"  installed in {seconds:.1f} s beside NumPy, imported in {1000 * imports:.0f} ms after it", flush=True)
        if emulated := same_bits_on_old_processors(place):
            print(f"  same bits on emulated {' and '.join(emulated)}", flush=True)

        place.install("tallymark[cli,plots]")
        start = time.perf_counter()
        place.run("tallymark", *EVALUATE)
        print(f"  tallymark evaluate --html: {time.perf_counter() - start:.1f} s", flush=True)
        tests = ["tests"]
        if version == f"{sys.version_info.major}.{sys.version_info.minor}":
            # A line in a .pth adds a folder; what is editable in that folder stays out.
            [packages] = place.folder.glob("venv/lib/*/site-packages")
            (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib"))
        else:
            place.install("tallymark[all]", *packages_for_tests())
            tests += NEED_THEM
        print("  " + place.run("python", "-m", "pytest", "-m", "not slow", "-n", 2, *tests, TALLYMARK_TESTS="fast")
              .strip().splitlines()[-1], flush=True)  # fmt: skip


def main() -> None:
    """Check every wheel with every Python that it is for and that is here."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("versions", nargs="*", help="of Python; all where nothing is named")
    asked = options.parse_args().versions
    wheels = sorted(DIST.glob(f"tallymark-*_{platform.machine()}.whl"))
    if not wheels:
        sys.exit("dist/ has no wheel: run `make wheel` first")
    for wheel in wheels:
        versions = ["3.12", "3.13", "3.14"] if "-abi3-" in wheel.name else ["3.11"]
        for version in versions:
            if asked and version not in asked:
                continue
            if python := find_python(version):
                check(wheel, version, python)
            else:
                print(f"{wheel.name}: Python {version} not found, not tested")


if __name__ == "__main__":
    main()
