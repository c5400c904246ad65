"""Small models of Lightning, which other processes can load."""

from __future__ import annotations

import lightning
import numpy as np
import torch

from tallymark.training.frameworks.torch import TallyMetric
from tests.training.frameworks.boosted_rows import two_classes

PARTS = slice(0, 60), slice(60, None)
ODD = slice(60, 187)  # which two processes cannot halve
BATCH = 60  # the last bits of what a network says depend on the rows that it sees at once


def tensors(part):
    """Inputs, labels and weights of a part of the rows."""
    x, y, w = two_classes()
    return torch.tensor(x[part], dtype=torch.float32), torch.tensor(y[part]), torch.tensor(w[part])


def loader(part, **given):
    return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*tensors(part)), batch_size=BATCH, **given)


class Network(lightning.LightningModule):
    """Overfits soon, and keeps what it says of the validation rows after every epoch."""

    def __init__(self, dropout=0.2):
        super().__init__()
        torch.manual_seed(3)
        layers = torch.nn.Linear(4, 64), torch.nn.Tanh(), torch.nn.Dropout(dropout), torch.nn.Linear(64, 1)
        self.body = torch.nn.Sequential(*layers)
        self.seen: list[np.ndarray] = []

    def forward(self, x):
        return self.body(x)

    def training_step(self, batch, place):
        return torch.nn.functional.binary_cross_entropy_with_logits(self(batch[0])[:, 0], batch[1].to(batch[0].dtype))

    def on_train_epoch_end(self):
        assert self.training  # whatever callbacks did before
        self.seen.append(self.told())

    def told(self):
        """Margins of the validation rows."""
        self.eval()
        with torch.no_grad():
            found = [self(batch)[:, 0] for batch in tensors(PARTS[1])[0].to(self.dtype).split(BATCH)]
        self.train()
        return torch.cat(found).numpy()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 0.05)


class Validated(Network):
    """Logs a tally of the validation rows."""

    def __init__(self):
        super().__init__()
        self.metric = TallyMetric(["auc", "logloss"], kind="margin")

    def validation_step(self, batch, place):
        self.metric.update(self(batch[0]), batch[1], weights=batch[2])

    def on_validation_epoch_end(self):
        self.log_dict(self.metric.compute())
        self.metric.reset()


def trainer(callbacks, epochs=60, **given):
    """A trainer that is quiet and writes nothing."""
    quiet = dict.fromkeys(("logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary"), False)
    given = {**quiet, "accelerator": "cpu", "log_every_n_steps": 1, **given}
    return lightning.Trainer(max_epochs=epochs, callbacks=callbacks, **given)
