"""What participants can fetch never holds the answers, nor which rows are right or public."""

from __future__ import annotations

import io
import re
from html import unescape

import pytest
from sqlalchemy import select

import tallymark as tm
from tallymark.app.domain import challenges
from tallymark.app.domain.lifecycle import take_step
from tallymark.app.store.models import LeaderboardEntry, StoredScore
from tallymark.submissions.disclosure import disclosed
from tests.app.stage import table

pytestmark = pytest.mark.slow

ROWS = 60
CLASSES = ("quokka", "numbat", "bilby")
SECRET = [CLASSES[n % 3] for n in range(ROWS)]
PARTS = ["public" if n % 7 in (1, 2, 4) else "private" for n in range(ROWS)]


def _answers() -> bytes:
    rows = [f"r{n:03},{label},{part}\n" for n, (label, part) in enumerate(zip(SECRET, PARTS, strict=True))]
    return "".join(["row_id,label,part\n", *rows]).encode()


def _crawl(client, *starts):
    """Every page that is reached from some, with its text; files too."""
    found, waiting = {}, list(starts)
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        answer = client.get(path)
        found[path] = unescape(answer.text)
        if "html" in answer.headers.get("content-type", "") and "attachment" not in str(answer.headers):
            links = re.findall(r'(?:href|action|src)="(/[^"#]*)', answer.text)
            waiting += [unescape(link) for link in links if not link.startswith(("/static/", "/sign-out"))]
    return found


@pytest.fixture
def secretive(stage, host):
    form = {"split": "column", "split_column": "part", "deadline": "2027-03-09T00:00", "show_counts": "0"}
    return stage.challenge(host, _answers(), show_intervals="0", quota="50", **form)


FILES = {
    "words of its own": table(["wombat" if n % 2 else "dingo" for n in range(ROWS)]),
    "half of it": table(["dingo"] * (ROWS // 2)),
    "rows of its own": table(["dingo"] * (ROWS + 3)),
    "twice the same": b"row_id,label\nr000,dingo\nr000,wombat\n",
    "no label": b"row_id,label\nr000,\nr001,dingo\n",
    "other columns": b"row_id,guess\nr000,dingo\n",
    "nothing": b"",
    "not a table": b"\x00\x01\x02",
    "no text": b"row_id,label\nr000,\xff\xfe\n",
}


@pytest.mark.parametrize("when", ["open", "over", "revealed", "hidden"])
def test_nothing_private_shows_before_the_reveal(stage, host, when):
    """Of a challenge whose organisers reveal the private part, no page and no report has it before they do."""
    form = {"split": "column", "split_column": "part", "reveal": "organiser", "quota": "50"}
    challenge = stage.challenge(host, _answers(), **form)
    player, rival = stage.team(challenge, "Badgers"), stage.team(challenge, "Otters")
    # Right on the private part and wrong on the public one, so that no number can be of either.
    key = player.send([label if part == "private" else "dingo" for label, part in zip(SECRET, PARTS, strict=True)])
    rival.send(["dingo"] * ROWS)
    stage.work()
    steps = ["close", "reveal", "hide"]
    for step in steps[: ["open", "over", "revealed", "hidden"].index(when)]:
        take_step(stage.service, host, challenge, step)
    stage.work()
    starts = ["/", f"/submissions/{key}", f"/submissions/{key}/report", f"/challenges/{challenge.slug}/mine"]
    pages = _crawl(player.client(), *starts, f"/challenges/{challenge.slug}/leaderboard?part=private")
    shown = {
        path for path, text in pages.items() if "100.0 %" in text or "part=private" in text or 'id="private"' in text
    }
    if when != "revealed":
        assert shown == set()
    else:
        board = f"/challenges/{challenge.slug}/leaderboard"
        assert {board, f"{board}?part=private", f"/submissions/{key}", f"/submissions/{key}/report"} <= shown
    notice = "when its organisers reveal it" in pages[f"/challenges/{challenge.slug}/leaderboard"]
    assert notice is (when in ("over", "hidden"))
    assert 'id="private"' in stage.client(host).get(f"/submissions/{key}").text


@pytest.mark.parametrize("over", [False, True], ids=["open", "over"])
def test_no_page_holds_the_answers(stage, secretive, over):
    """Whatever is sent, no page or report has a label that was not in the file, or tells of the parts of rows."""
    player, other = stage.team(secretive, "Badgers"), stage.team(secretive, "Otters")
    keys = [player.send(content, "x.csv") for content in FILES.values()]
    foreign = other.send(FILES["half of it"])
    stage.work()
    if over:
        stage.clock.move(days=30)
    checked = {f"check of {name}": unescape(player.upload(content).text) for name, content in FILES.items()}
    starts = ["/", *(f"/submissions/{key}" for key in keys), f"/submissions/{foreign}", "/metrics", "/ready"]
    pages = _crawl(player.client(), *starts) | checked
    assert f"/challenges/{secretive.slug}/sample" in pages
    assert sum("/report" in path for path in pages) == 3
    assert f"/challenges/{secretive.slug}/leaderboard" in pages
    for path, text in pages.items():
        assert [word for word in CLASSES if word in text] == [], path
        assert "95 % interval:" not in text, path
        assert not re.search(r"correct \(public\)", text), path
        assert foreign not in text, path
        scored = "/report" in path or "Scored on" in text
        assert ('id="private"' in text) is (over and scored and "/submissions/" in path), path
    listed = [line.split(",")[0] for line in pages[f"/challenges/{secretive.slug}/sample"].splitlines()[1:]]
    assert listed == sorted(listed)
    private = player.client().get(f"/challenges/{secretive.slug}/leaderboard?part=private")
    assert private.status_code == (200 if over else 404)


@pytest.mark.parametrize("over", [False, True], ids=["open", "over"])
def test_intervals_counts_and_classes_show_only_if_the_organiser_allows_it(stage, host, over):
    """Intervals, counts and classes are on the pages where the organiser has said so, and only there."""
    signs = {"intervals": "95 % interval", "counts": "correct (public)", "classes": ">Classes<"}
    for shown in signs:
        form = {f"show_{name}": "1" if name == shown else "0" for name in signs}
        form |= {"split": "column", "split_column": "part", "slug": f"shows-{shown}", "deadline": "2027-03-09T00:00"}
        challenge = stage.challenge(host, _answers(), **form)
        player = stage.team(challenge, "Badgers", stage.person(f"Fan of {shown}"))
        key = player.send(SECRET[:40] + ["dingo"] * 20)
        stage.work()
        stage.clock.move(days=30 if over else 0)
        paths = [f"/submissions/{key}", f"/submissions/{key}/report", f"/challenges/{challenge.slug}/leaderboard"]
        text = "".join(player.client().get(path).text for path in paths)
        told = {name for name, sign in signs.items() if sign in text}
        assert told == {shown}
        everything = "".join(stage.client(host).get(path).text for path in paths)
        assert all(sign in everything for sign in signs.values())
        stage.clock.move(days=-30 if over else 0)


def test_private_scores_are_told_when_it_is_over(stage, secretive, host):
    """By the deadline or by its organiser, and not before; a challenge that is opened again hides them again."""
    player = stage.team(secretive, "Badgers")
    key = player.send(FILES["half of it"])
    path, board = f"/submissions/{key}", f"/challenges/{secretive.slug}/leaderboard"

    def told():
        client = player.client()
        status = client.get(f"{board}?part=private").status_code
        assert ("?part=private" in client.get(board).text) is (status == 200)
        assert ('id="private"' in client.get(path).text) is (status == 200)
        return status == 200

    assert not told()
    assert 'id="private"' in stage.client(host).get(path).text
    take_step(stage.service, host, secretive, "close")
    assert told()
    take_step(stage.service, host, secretive, "reopen")
    assert not told()
    stage.clock.move(days=8)
    assert told()


def test_broken_answers_are_not_told(stage, host, secretive):
    """Where the answers themselves are gone or broken, participants learn that it is our fault, and no more."""
    player = stage.team(secretive, "Badgers")
    with stage.service.database.reading() as session:
        version = challenges.current_version(session, secretive)
    path = stage.service.files.path(version.answers)
    held = path.read_bytes()
    for broken in (b"row_id,label,part\nr000,quokka,public\nr000,numbat,private\n", b"quokka", b"", None):
        path.unlink()
        if broken is not None:
            path.write_bytes(broken)
        key = player.send(FILES["half of it"])
        stage.work()
        assert stage.submission(key).state == "failed"
        page = player.client().get(f"/submissions/{key}").text
        assert "Scoring failed because of an internal error" in page
        assert [word for word in CLASSES if word in page] == []
        path.write_bytes(held)
    assert player.quota_status().used == 0


@pytest.mark.parametrize("task", ["probabilities", "numbers"])
def test_rejections_do_not_tell_the_answers(stage, host, task):
    """The problems of a file are of the file: no number and no class of the answers is in them."""
    if task == "numbers":
        secrets, form = [f"{n}.73219" for n in range(ROWS)], {"metrics": "mae"}
        bad = [b"row_id,label\nr000,NaN\n", b"row_id,label\nr000,abc\n", table(["1e999"] * ROWS), table([1] * 5)]
    else:
        secrets, form = SECRET, {"metrics": "logloss, accuracy", "classes": "quokka, numbat, bilby"}
        bad = [b"row_id,quokka,numbat\nr000,1,0\n", b"row_id,quokka,numbat,bilby\nr000,2,0,0\n", b"row_id,p\nr000,1\n"]
    challenge = stage.challenge(host, table(secrets), task=task, quota="50", **form)
    player = stage.team(challenge, "Badgers")
    for content in bad:
        key = player.send(content)
        assert stage.submission(key).state == "rejected"
        page = player.client().get(f"/submissions/{key}").text
        assert "73219" not in page
        assert not re.search(r"r000[^\n]{0,40}(numbat|bilby)", page)


def test_nothing_tells_more_digits_than_a_challenge_shows(stage, host):
    """Neither a page, nor a report, nor the database behind them: scores, intervals, scores of classes, drawn bars."""
    rows = 997
    form = {"show_classes": "1", "show_intervals": "1", "show_counts": "0", "metrics": "accuracy, mcc"}
    answers = [CLASSES[n % 3] for n in range(rows)]
    challenge = stage.challenge(host, table(answers), **form)
    player = stage.team(challenge, "Badgers")
    said = [label if n % 7 else "dingo" for n, label in enumerate(answers)]
    key = player.send(said)
    stage.work()
    exact = tm.submissions.score_submission(
        io.BytesIO(table(answers)), io.BytesIO(table(said)), metrics=["accuracy", "mcc"], ci=0.95
    )
    scores = stage.all(select(StoredScore))
    facts = stage.submission(key).facts
    for score in scores:
        cell = exact.report.cell(score.name)
        assert score.value == disclosed(cell.metric, cell.value) != cell.value
        assert score.lo == disclosed(cell.metric, score.lo)
        assert score.hi == disclosed(cell.metric, score.hi)
    assert all(set(each) == {"class", "precision", "recall", "fscore", "support"} for each in facts["classes"])
    assert all(each["recall"] == round(each["recall"], 3) for each in facts["classes"])
    pages = _crawl(player.client(), f"/submissions/{key}", f"/challenges/{challenge.slug}/leaderboard")
    secrets = [
        f"{100 * exact.scores['accuracy']:.3f}"[:6],
        f"{exact.scores['mcc']:.6f}",
        f">{exact.correct}<",
        "Confusion",
    ]
    assert sum("/report" in path for path in pages) == 1
    for path, text in pages.items():
        assert [word for word in secrets if word in text] == [], path


def test_entries_that_look_equal_are_in_the_order_of_their_time(stage, host):
    """A better score beyond the shown digits gives no better place: the order would tell which of two is better."""
    rows = 4000
    challenge = stage.challenge(host, table([CLASSES[n % 3] for n in range(rows)]), metrics="accuracy")
    right = [CLASSES[n % 3] for n in range(rows)]
    for name, wrong in (("Badgers", 401), ("Otters", 400), ("Foxes", 300)):
        stage.team(challenge, name).send(["dingo"] * wrong + right[wrong:])
        stage.clock.move(minutes=1)
    stage.work()
    assert stage.board(challenge) == ["Foxes", "Badgers", "Otters"]
    ranges = stage.all(select(LeaderboardEntry).order_by(LeaderboardEntry.place))
    assert [(each.best_rank, each.worst_rank) for each in ranges] == [(1, 1), (2, 3), (2, 3)]


def test_a_file_without_matching_rows_shows_no_more_than_the_sample(stage, secretive):
    """The ids of a check are those of the public sample, in its order, and not those of the answers."""
    player = stage.team(secretive, "Badgers")
    page = unescape(player.upload(b"row_id,label\nx1,dingo\n").text)
    assert "the ids of the template are 'r000', 'r001', 'r002', 'r003', 'r004' and 55 more" in page
    key = player.send(b"row_id,label\nx1,dingo\n")
    page = unescape(player.client().get(f"/submissions/{key}").text)
    assert "No matching rows found." in page
    assert "r000" not in page
