"""Random files of CSV: rows in pieces, of columns whose types show late, have the numbers of all rows at once."""

from __future__ import annotations

import random

import pytest

import tallymark as tm
from tallymark.cli.run import run
from tests.cli.conftest import without_baselines

FIELDS = {
    "whole": ("0", "1", "2"),
    "real": ("0.5", "0.25", "1e-1", "0.75", "1.0"),
    "text": ("a", "b", "x"),
    "boolean": ("true", "False"),
    "code": ("007", "01"),
    "wide": ("99999999999999999999", "1"),
    "empty": ("",),
}
NAMES = ("accuracy", "mae", "auc", "logloss", "adjusted_rand", "rmse", "recall(average=macro)")
KINDS = ("label", "value", "probability", "score")


def write(rng):
    """Files of rows, and one of all of them: columns are of one kind, but for some files and some fields."""
    base = rng.choices(["whole", "whole", "real", "text", "boolean", "code"], k=3)
    files = []
    for _ in range(rng.randint(1, 4)):
        kinds = [rng.choice(list(FIELDS)) if rng.random() < 0.15 else kind for kind in base]
        files.append([",".join(field(rng, kind) for kind in kinds) for _ in range(rng.randint(0, 6))])
    return files


def field(rng, kind):
    return rng.choice(FIELDS[kind] if rng.random() > 0.03 else FIELDS[rng.choice(list(FIELDS))])


def options(rng):
    """What is asked of them."""
    found = rng.choice([[], [], ["--kind", rng.choice(KINDS)], ["--labels"]])
    found += rng.choice([[], ["--metrics", rng.choice(NAMES)]])
    found += rng.choice([[], ["--missing", "drop"]])
    found += rng.choice([[], ["--by", "g"]])
    return found + rng.choice([[], ["--positive", rng.choice(["1", "a", "true"])]])


@pytest.mark.slow
@pytest.mark.parametrize("block", range(6))
def test_pieces_of_any_files_have_the_numbers_of_the_whole(block, tmp_path, monkeypatch, capfdbinary):
    """The same JSON, or an error either way; in pieces, a row that one metric cannot read is an error of the whole."""
    monkeypatch.chdir(tmp_path)
    before, fine = tm.get_threads(), 0
    for seed in range(40 * block, 40 * block + 40):
        rng = random.Random(seed)
        files, asked = write(rng), ["--truth", "y", "--prediction", "p", *options(rng), "--json"]
        texts = ["".join(f"{row}\n" for row in rows) for rows in files]
        (tmp_path / "all.csv").write_text("y,p,g\n" + "".join(texts))
        for k, text in enumerate(texts):
            (tmp_path / f"{k}.csv").write_text(f"y,p,g\n{text}")
        tm.set_threads(rng.choice([1, 2]))
        whole = run(["evaluate", "all.csv", *asked]), capfdbinary.readouterr()
        pieces = (
            run(["evaluate", *[f"{k}.csv" for k in range(len(files))], *asked, "--stream"]),
            capfdbinary.readouterr(),
        )
        tm.set_threads(before)
        assert b"should not have happened" not in pieces[1].err
        if pieces[0] == 0 or b'"error"' not in whole[1].out:
            assert pieces[0] == whole[0], (seed, files, asked, pieces[1].err)
            assert without_baselines(pieces[1].out.decode()) == without_baselines(whole[1].out.decode()), (
                seed,
                files,
                asked,
            )
        fine += pieces[0] == 0
    assert fine > 5
