"""Makes examples/data/deliveries.csv: a week of parcel deliveries, and what a model said before each."""

import csv
from pathlib import Path

import numpy as np

DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
FILE = Path(__file__).parent / "data" / "deliveries.csv"


def make(path: Path = FILE, rows: int = 1400, seed: int = 7) -> None:
    rng = np.random.default_rng(seed)
    day = np.sort(rng.integers(0, 7, rows))
    distance = rng.gamma(3.0, 4.0, rows)
    rush = np.where(day < 5, 1.0, 0.8) * (1 + 0.3 * (rng.random(rows) < 0.3))
    expected = (8 + 2.1 * distance) * rush
    minutes = expected * rng.lognormal(0, 0.14, rows) + 12 * (rng.random(rows) < 0.02)
    predicted = 8.5 + 2.05 * distance * np.where(day < 5, 1.08, 0.9)
    half_width = 1.28 * (2 + 0.16 * predicted)
    parcels = rng.integers(1, 9, rows)
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["day", "minutes", "predicted", "lower", "upper", "parcels"])
        for k in range(rows):
            told = [predicted[k], max(predicted[k] - half_width[k], 0.0), predicted[k] + half_width[k]]
            shown = ["", "", ""] if rng.random() < 0.004 else [f"{value:.2f}" for value in told]
            out.writerow([DAYS[day[k]], f"{minutes[k]:.2f}", *shown, parcels[k]])


if __name__ == "__main__":
    make()
