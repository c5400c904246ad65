"""What takes a while: a submission that waits, and intervals that follow, in a real browser at a real server."""

from __future__ import annotations

import pytest

from tests.browser.server import GOOD, MEDIOCRE, Host, started
from tests.waiting import until

pytestmark = pytest.mark.slow


@pytest.fixture
def busy(tmp_path):
    """A server whose worker has enough to do for minutes; only the smallest files are scored at once."""
    with started(tmp_path, "--direct-bytes", "5900", "--resamples", "1000000") as server:
        yield server


def test_what_is_waited_for_is_told(visits, busy):
    """Scores come before their intervals, and what waits says what is before it; both look again by themselves."""
    visitor, host = visits(busy), Host(busy)
    visitor.sign_up(host.invite(), "Patient")
    host.close()
    visitor.join("Patient people")
    visitor.submit(MEDIOCRE)
    assert visitor.text(".outcome .word") == "Scored"
    assert "The intervals are being computed" in visitor.text()
    assert "This page reloads every 3 seconds." in visitor.text("[data-refresh]")
    until(lambda: busy.rows("select 1 from submissions where work = 'intervals' and claimed_by is not null"))
    for sentence in ("It is next in the queue.", "1 submission ahead of it in the queue."):
        visitor.submit(GOOD)
        assert visitor.text(".outcome") == f"Queued {sentence}"
        assert visitor.page.locator(".card").count() == 0
    visitor.follow("My submissions")
    assert visitor.texts("td .state") == ["queued", "queued", "scored"]
    assert visitor.page.get_by_role("checkbox").count() == 1
