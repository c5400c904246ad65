"""Makes the files of a small challenge in examples/data: the answers, and a good, a mediocre and a broken submission.

Photographs of animals are to be named; the labels are imbalanced, as they are in a forest.
"""

import csv
from pathlib import Path

import numpy as np

ANIMALS = ["deer", "fox", "badger", "owl"]
SHARES = [0.55, 0.25, 0.15, 0.05]
FOLDER = Path(__file__).parent / "data"
FILES = ("answers.csv", "submission-good.csv", "submission-mediocre.csv", "submission-broken.csv")


def make(folder: Path = FOLDER, rows: int = 400, seed: int = 11) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.choice(ANIMALS, rows, p=SHARES)
    ids = [f"photo-{k:03}" for k in range(rows)]
    good = np.where(rng.random(rows) < 0.9, truth, rng.choice(ANIMALS, rows))
    mediocre = np.where((rng.random(rows) < 0.6) | (truth == "deer"), truth, "deer")
    _write(folder / "answers.csv", zip(ids, truth, strict=True))
    order = rng.permutation(rows)
    _write(folder / "submission-good.csv", ((ids[k], good[k]) for k in order))
    kept = order[: rows - 12]
    said = ((ids[k], "Fox" if mediocre[k] == "fox" and k % 9 == 0 else mediocre[k]) for k in kept)
    _write(folder / "submission-mediocre.csv", [*said, ("photo-999", "owl")])
    _write(folder / "submission-broken.csv", zip(ids[:6], good[:6], strict=True))
    with (folder / "submission-broken.csv").open("ab") as file:
        file.write(b'photo-003,fox\nphoto-006\nphoto-007,"owl\nphoto-008",bad"ger\n,deer\nphoto-009,f\xfcchs\n')


def _write(path: Path, rows) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("row_id", "label"), *rows])


if __name__ == "__main__":
    make()
