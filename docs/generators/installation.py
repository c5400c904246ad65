"""How tallymark is installed, put between the marks in README.md and in the pages: before it is on PyPI, and since."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

PUBLISHED = False
"""Whether tallymark is on PyPI. After the first release, set it to True and run `make docs`; that is all."""

MARKED = re.compile(r"(?P<begin><!-- install -->\n).*?(?P<end><!-- end of install -->)", re.DOTALL)
WHEELS_FIRST = 'make wheel && export PIP_FIND_LINKS="$PWD/dist"  # in a copy of the repository, until it is on PyPI\n'
LINE = f"""```sh
{"" if PUBLISHED else WHEELS_FIRST}pip install "tallymark[plots]"
```"""
PLATFORMS = "The wheels are for Linux on x86-64 (glibc 2.17 or newer, any processor) and need no compiler."
ON_PYPI = f"""{PLATFORMS}

```sh
pip install tallymark
```"""
BUILT = f"""{PLATFORMS} Until they are on PyPI,
build them once in a copy of the repository, and tell pip where they are:

```sh
make wheel                         # writes them to dist/
export PIP_FIND_LINKS="$PWD/dist"
```

From then on, all commands of this documentation work as printed:

```sh
pip install tallymark
```

`dist/` can be copied to machines that have no compiler. `make wheel` itself needs GCC, and Python 3.11 and 3.12."""
PAGES = {"../README.md": LINE, "index.md": LINE, "how-to/install.md": ON_PYPI if PUBLISHED else BUILT}


def pages() -> Iterator[tuple[str, str]]:
    """The pages by their path below docs/."""
    for page, words in PAGES.items():
        text = (Path(__file__).parents[1] / page).read_text()
        yield page, MARKED.sub(lambda found, words=words: f"{found['begin']}\n{words}\n\n{found['end']}", text)
