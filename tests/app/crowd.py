"""A leaderboard with many entries, written straight into the tables as the app would have."""

from __future__ import annotations

from datetime import timedelta

import numpy as np

from tallymark.app.domain import leaderboards
from tallymark.app.domain.versions import current_version
from tallymark.app.store.models import Challenge, StoredFile, StoredOutcome, StoredScore, Submission, Team
from tallymark.submissions.outcomes import Outcomes
from tests.app.stage import Stage

_METRICS = ("accuracy", "macro precision", "macro recall", "F1 of macro precision and recall", "macro F1")


def crowd(stage: Stage, challenge: Challenge, teams: int) -> list[float]:
    """A scored submission for each of many teams; their scores in the order of the teams, T00000, T00001 …"""
    rng, start = np.random.default_rng(2), stage.clock()
    with stage.service.database.writing() as session:
        version = current_version(session, challenge)
        assert version is not None
        right = rng.random((teams, version.rows)) < np.linspace(0.05, 0.95, teams)[rng.permutation(teams), None]
        values = right.mean(axis=1).tolist()
        session.add(StoredFile(hash="c" * 64, size=1, created=start))
        session.flush()
        numbers = range(1, teams + 1)
        of_it = {"challenge_id": challenge.id, "created": start}
        named = [{"id": n, "name": f"T{n - 1:05}", "key": f"t{n - 1:05}", "code": f"c{n}", **of_it} for n in numbers]
        session.execute(Team.__table__.insert(), [{**each, "baseline": False} for each in named])
        sent = {"version_id": version.id, "user_id": challenge.created_by, "file": "c" * 64, "file_name": "x.csv"}
        same = {**of_it, **sent, "note": "", "state": "scored", "late": False, "final": False, "attempts": 0}
        rows = [{**same, "id": n, "key": f"k{n}", "team_id": n} for n in numbers]
        for n, row in enumerate(rows):
            row["created"] = start + timedelta(seconds=n)
        session.execute(Submission.__table__.insert(), rows)
        of_version = {"version_id": version.id, "part": "public"}
        scores = [
            {**of_version, "submission_id": n, "place": place, "name": name, "value": value, "lo": value, "hi": value}
            for n, value in zip(numbers, values, strict=True)
            for place, name in enumerate(_METRICS)
        ]
        session.execute(StoredScore.__table__.insert(), scores)
        packed = [
            {**of_version, "submission_id": n, "packed": Outcomes.from_bits(bits, value).to_bytes()}
            for n, bits, value in zip(numbers, right, values, strict=True)
        ]
        session.execute(StoredOutcome.__table__.insert(), packed)
        session.get_one(Challenge, challenge.id).changes += 1
    leaderboards.rebuild_leaderboards(stage.service, challenge.id)
    return values
