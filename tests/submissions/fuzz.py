"""Feeds the reader of submissions with files that were changed at random, for a bounded time: make fuzz.

A file that breaks an invariant is printed with the seed that made it, and the run ends with an error.
"""

from __future__ import annotations

import argparse
import random
import time

from tests.submissions.invariants import agree, check
from tests.submissions.malformed import HOSTILE, corpus


def changed(content: bytes, other: bytes, chance: random.Random) -> bytes:
    """The content with a few changes: cut, doubled, joined with another, or with hostile bytes in it."""
    for _ in range(chance.randint(1, 4)):
        at, to = sorted((chance.randint(0, len(content)), chance.randint(0, len(content))))
        way = chance.randrange(6)
        if way == 0:
            content = content[:at] + content[to:]
        elif way == 1:
            content = content[:to] + content[at:to] + content[to:]
        elif way == 2:
            content = content[:at] + other[chance.randint(0, len(other)) :]
        elif way == 3:
            content = content[:at] + chance.choice(HOSTILE) + content[at:]
        elif way == 4 and content:
            place = chance.randrange(len(content))
            content = content[:place] + bytes([chance.randrange(256)]) + content[place + 1 :]
        else:
            content = content[:at] + chance.randbytes(chance.randint(1, 8)) + content[to:]
    return content[: 1 << 20]


def run(seconds: float, seed: int) -> int:
    """Check files until the time is over; how many there were."""
    pool = [content for _, content in corpus() if len(content) < 10_000]
    chance, done = random.Random(seed), 0
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        content = changed(chance.choice(pool), chance.choice(pool), chance)
        try:
            check(content)
            agree(content)
        except BaseException:
            print(f"seed {seed}, file {done}: {content!r}")
            raise
        done += 1
    return done


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=None, help="another run of the same files; random by default")
    given = parser.parse_args()
    seed = random.SystemRandom().randrange(1 << 32) if given.seed is None else given.seed
    print(f"{run(given.seconds, seed):,} files, seed {seed}: no fault found")
