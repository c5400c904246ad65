"""What two processes do that train one model with DistributedDataParallel."""

from __future__ import annotations

import json

import numpy as np
import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

import tallymark as tm
from tallymark.training.frameworks.torch import TallyMetric

PATIENCE = 3
EPOCHS = 60


def made():
    """Rows to train on, and rows to stop by, with weights."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(700, 12)).astype(np.float32)
    y = (x[:, 0] - x[:, 1] + rng.logistic(size=700) * 2 > 0).astype(np.int64)
    return x, y, rng.uniform(0.5, 2, size=700).astype(np.float32)


def run(rank: int, folder: str) -> None:
    """Train on the half of this process, and write down what was seen."""
    distributed.init_process_group("gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=2)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    seen, facts = train(rank)  # the model must be gone before the group: torch may wait for ever in the other order
    np.save(f"{folder}/seen{rank}.npy", seen)
    with open(f"{folder}/facts{rank}.json", "w") as file:
        json.dump(facts, file)
    distributed.destroy_process_group()


def train(rank: int) -> tuple[np.ndarray, dict[str, object]]:
    """Stop by the metric of both processes; the margins by epoch, and what this process knows."""
    x, y, weights = map(torch.from_numpy, made())
    mine = slice(rank, 100, 2)
    held = slice(100, 500) if rank == 0 else slice(500, 700)  # shares of different sizes
    layers = torch.nn.Linear(12, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1)
    model = DistributedDataParallel(torch.nn.Sequential(*layers))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    metric = TallyMetric(["logloss", "auc"], kind="margin")
    stopping = tm.training.EarlyStopping(PATIENCE, better="lower")
    seen, values = [], []
    for _ in range(EPOCHS):
        optimizer.zero_grad()
        loss = torch.nn.functional.binary_cross_entropy_with_logits(model(x[mine])[:, 0], y[mine].float())
        loss.backward()
        optimizer.step()
        metric.reset()
        margins = model(x[held])[:, 0]
        for rows in torch.arange(len(margins)).split(64):
            metric.update(margins[rows], y[held][rows], weights=weights[held][rows])
        seen.append(margins.detach().numpy())
        values.append({key: value.item() for key, value in metric.compute().items()})
        if stopping.should_stop(values[-1]["logloss"]):
            break
    alone = TallyMetric(["accuracy"])
    if rank == 0:  # the other one has no batch, and does not know how many classes there are
        alone.update(torch.eye(3), torch.tensor([0, 1, 1]))
    facts = {
        "values": values,
        "best": stopping.best_round,
        "alone": alone.report()["accuracy"],
        "never": TallyMetric(["auc"]).report().cell("auc").reason,
        "own": metric.tally.n,
        "all": metric.gather().n,
    }
    return np.stack(seen), facts
