"""Prometheus metrics count requests by route, files, and the queue."""

from __future__ import annotations

import pytest

from tests.app.stage import guess, token_of

pytestmark = pytest.mark.slow


def test_requests_files_and_the_queue_are_counted(stage, challenge, player):
    """What Prometheus reads counts requests by pattern, files and the queue; a method of one's own is no new label."""
    client = player.client()
    player.confirm(token_of(player.upload(guess(3)).text))
    client.request("INVENTED", "/")
    text = client.get("/metrics").text
    assert 'route="/challenges/{slug}/submit",status="303"} 1.0' in text
    assert 'tallymark_submissions_total{state="scored"} 1.0' in text
    assert 'tallymark_queue{work="score"} 0.0' in text
    assert "INVENTED" not in text
