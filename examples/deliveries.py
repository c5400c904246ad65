"""How good were the delivery times that a model promised? A week of parcels, evaluated."""

import csv
from pathlib import Path

import numpy as np

import tallymark as tm

METRICS = ["rmse", "mae", "median_absolute_error", "mape", "mean_bias", "r2"]


def read() -> dict[str, np.ndarray]:
    """The columns of the example; a prediction that the model did not make is NaN."""
    with (Path(__file__).parent / "data" / "deliveries.csv").open() as file:
        rows = list(csv.DictReader(file))
    columns = {name: np.array([float(row[name] or "nan") for row in rows]) for name in rows[0] if name != "day"}
    return {**columns, "day": np.array([row["day"] for row in rows])}


def main() -> None:
    data = read()
    minutes, predicted, parcels = data["minutes"], data["predicted"], data["parcels"]

    print("Predicted delivery times, in minutes; a delivery counts as many times as it has parcels\n")
    week = tm.evaluate(minutes, predicted, METRICS, weights=parcels, missing="drop")
    print(week)

    print("\nThe intervals that were promised to hold for 80 % of them\n")
    bounds = np.column_stack([data["lower"], data["upper"]])
    promised = ["coverage(level=0.8)", "interval_score(level=0.8)"]
    print(tm.evaluate(minutes, bounds, promised, weights=parcels, missing="drop"))

    print("\nA tally per day, and how far predictions were too low (left) or too high (right), in minutes\n")
    total = tm.Tally(METRICS, missing="drop")
    for day in dict.fromkeys(data["day"]):
        rows = data["day"] == day
        tally = tm.Tally(METRICS, missing="drop").update(minutes[rows], predicted[rows], weights=parcels[rows])
        report = tally.report()
        bias = report["mean_bias"]
        low, high = "█" * round(-5 * bias), "█" * round(5 * bias)
        print(f"{day}   mae {report['mae']:5.2f}   bias {bias:+5.2f}   {low:>18}│{high}")
        total = total + tally
    same = all(total.report()[name] == week[name] for name in METRICS)
    print("\nPromised too little on weekdays and too much at the weekend; the intervals hold more often than promised.")
    print(f"The seven days add up to the week, equal to the last bit: {'yes' if same else 'no'}")


if __name__ == "__main__":
    main()
