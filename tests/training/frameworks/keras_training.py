"""One training with Keras, on the backend that the environment names."""

import keras
import numpy as np

import tallymark as tm
from tallymark.training.frameworks.keras import EvaluatorCallback
from tests.training.frameworks.boosted_rows import stopped_at, two_classes


class Seen(keras.callbacks.Callback):
    """Keeps what the model says after every epoch."""

    predictions = []

    def on_epoch_end(self, epoch, logs=None):
        self.predictions.append(self.model.predict(x[60:], verbose=0))


if __name__ == "__main__":
    keras.utils.set_random_seed(7)
    x, y, w = two_classes()
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(64, "tanh"), keras.layers.Dense(1)])
    model.compile(keras.optimizers.Adam(0.05), keras.losses.BinaryCrossentropy(from_logits=True))
    held = tm.training.EvalSet("valid", y[60:], weights=w[60:], kind="margin")
    evaluator = tm.training.Evaluator("logloss", held, early_stopping=tm.training.EarlyStopping(4))
    callbacks = [EvaluatorCallback(evaluator, x[60:], restore_best=True), Seen()]
    history = model.fit(x[:60], y[:60], epochs=60, verbose=0, callbacks=callbacks).history
    values = [tm.logloss(y[60:], found, weights=w[60:], kind="margin") for found in Seen.predictions]
    assert history["valid_logloss"] == values
    assert (len(values) - 1, evaluator.best_round) == stopped_at(values, 4, "lower")
    assert np.array_equal(model.predict(x[60:], verbose=0), Seen.predictions[evaluator.best_round])
    print(keras.backend.backend(), "fine")
