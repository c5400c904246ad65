"""tallymark evaluate --engine: files that workers read have the numbers of files that are read here."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tallymark.cli.run import run

ASKED = ("--truth", "late", "--prediction", "p", "--by", "city", "--ci", "0.9", "--keys", "id", "--positive", "yes")


@pytest.fixture
def folder(tmp_path):
    """Three files, of which one has no rows."""
    rng = np.random.default_rng(2)
    p = rng.random(200).round(2)
    held = pd.DataFrame(
        {
            "late": np.where(rng.random(200) < p, "yes", "no"),
            "p": p,
            "city": rng.choice(["Ulm", "Bonn"], 200),
            "id": np.arange(200),
            "unread": "x",
        }
    )
    for name, rows in {"a": held[:120], "b": held[:0], "c": held[120:]}.items():
        rows.to_parquet(tmp_path / f"{name}.parquet", index=False)
    return tmp_path


@pytest.mark.parametrize(("engine", "fixture"), [("dask", "dask_client"), ("spark", "spark"), ("ray", "ray")])
def test_workers_have_the_numbers_of_this_process(engine, fixture, folder, request, tmp_path_factory):
    """The same JSON, with groups and intervals, and the same tally, to the last bit."""
    started, out = request.getfixturevalue(fixture), tmp_path_factory.mktemp("out")
    at = ["--scheduler", started.scheduler.address] if engine == "dask" else []
    found = {}
    for name, more in {"here": [], "there": ["--engine", engine, *at]}.items():
        written = ["--output", str(out / f"{name}.json"), "--save-tally", str(out / f"{name}.tally")]
        assert run(["evaluate", str(folder), *ASKED, *more, *written]) == 0
        found[name] = [(out / f"{name}{ending}").read_bytes() for ending in (".json", ".tally")]
    assert found["here"] == found["there"]
