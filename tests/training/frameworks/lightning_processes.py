"""One training with Lightning in two processes; each writes down what it saw."""

import json
import sys
import warnings
from pathlib import Path

import torch

import tallymark as tm
from tallymark.training.frameworks.lightning import EvaluatorCallback
from tallymark.training.frameworks.torch import TallyMetric, unpadded_rows
from tests.training.frameworks import lightning_models as models


class Written(models.Validated):
    """Writes what each process knows at the end."""

    def __init__(self, folder, evaluator):
        super().__init__()
        self.folder, self.evaluator = folder, evaluator
        self.odd, self.padded = TallyMetric("mae"), 0

    def validation_step(self, batch, place, dataloader_idx):
        rows = unpadded_rows(self.trainer.val_dataloaders[dataloader_idx], place)
        if dataloader_idx:
            self.padded += len(batch[2])
            self.odd.update(torch.zeros_like(batch[2])[rows], batch[2][rows])
        else:
            self.metric.update(self(batch[0])[rows], batch[1][rows], weights=batch[2][rows])

    def on_validation_epoch_start(self):
        self.odd.reset()
        self.padded = 0

    def on_train_end(self):
        logged = {name: value.item() for name, value in self.trainer.callback_metrics.items()}
        seen = [found.tolist() for found in self.seen]
        odd = {"rows": self.odd.gather().n, "padded": self.padded, "mae": self.odd.report()["mae"]}
        facts = {"odd": odd, "logged": logged, "history": self.evaluator.history.to_dict(), "seen": seen}
        (Path(self.folder) / f"facts{self.global_rank}.json").write_text(json.dumps(facts))


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # Lightning's advice
    x, y, w = models.tensors(models.PARTS[1])
    held = tm.training.EvalSet("valid", y.numpy(), weights=w.numpy(), kind="margin")
    evaluator = tm.training.Evaluator(["logloss", "auc"], held, early_stopping=tm.training.EarlyStopping(4))
    callback = EvaluatorCallback(evaluator, x, batch_size=models.BATCH)
    trainer = models.trainer([callback], strategy="ddp_spawn", devices=2)
    valid = [models.loader(models.PARTS[1]), models.loader(models.ODD)]
    trainer.fit(Written(sys.argv[1], evaluator), models.loader(models.PARTS[0]), valid)
