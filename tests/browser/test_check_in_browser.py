"""The check in the browser against that of the server: the same problems, in the same words, at the same places."""

from __future__ import annotations

import base64
import io
import json
import random

import pytest

import tallymark as tm
from tallymark.app.checking import check_settings
from tallymark.submissions.rules import RULES
from tests.browser.pages import serving
from tests.submissions.files import ANSWERS
from tests.submissions.fuzz import changed
from tests.submissions.malformed import GOOD, corpus
from tests.submissions.test_limits import LIMITS
from tests.submissions.test_rejections import CASES, FIELDS

pytestmark = pytest.mark.slow

# What may differ, by the code that the server tells, and why.
DIFFERENT = {
    "unreadable": "a header whose quotes hold more than a field may, in a file with other faults: the server tells the "
    "first of them in the words of its fast reader, the browser tells those that it has found; so it is with half a "
    "byte order mark and nothing else",
}
PLACES = ("line", "column", "row", "field", "id", "mend")
RUN = """async (cases) => {
    const { checkFile } = await import("/static/check.js");
    const bytes = (text) => Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
    const found = [];
    for (const [settings, text] of cases) found.push(await checkFile(new File([bytes(text)], "x.csv"), settings));
    return found;
}"""
HEADER = b"row_id,label\n"
NUMBERS = b'row_id,label\na,0.5\nb,"1"\nc,1e5\nd,-.25\ne,nan\n'
CLASSES = b'row_id;cat;dog\na;0.5;0.5\nb;"0.25";.75\nc;1;0\n'
BY_CLASS = {"task": "probabilities", "classes": ["cat", "dog"]}
TIGHT = tm.Limits(rows=3, columns=3, field_length=6, labels=2)
PACKED = ("gzip", "bz2", "zstd", "Parquet")


def whole():
    """The corpus without what is packed, and the cases of rejections."""
    yield from ((content, {}) for name, content in corpus() if not name.startswith(PACKED))
    yield from ((content, {}) for name, (content, _) in CASES.items() if name != "half a gzip")
    yield from ((ANSWERS.encode(), {"limits": limits}) for limits, _ in LIMITS)
    for mark in ("|", ";", "tab"):
        yield ANSWERS.replace(",", "|").encode(), {"separator": mark}
        yield GOOD.replace(b",", b"\t" if mark == "tab" else mark.encode()), {"separator": mark}
        yield GOOD.replace(b",", b"\t" if mark == "tab" else mark.encode()) + b'a"', {}


def fields():
    """Numbers and texts that are written in odd ways, each as a number, as a probability, as an id and as a name."""
    values = "1000005 1000015 1234.125 999999.5 1.5e+22 1e16 -1e-7 0.00001234565 5e-324 1e400 -inf NaN +Infinity -nan"
    odd = ["\x0b1", "1\xa0", "1\t", "it's", '""q""', "\\ \u200b\xad", "\u2028x", "\x7f\x80\xff", "\U000e0001", "\ue000"]
    for value in [*FIELDS, *values.split(), *odd, "", " ", "x" * 50]:
        yield f'row_id,label\na,1\nb,"{value}"\n'.encode(), {"task": "numbers"}
        yield f'row_id,label\na,1\nb,"{value}"\n'.encode(), {"task": "probabilities"}
        yield f'row_id,x,y\na,"{value}",1\nb,.5,.25\nc,.5,.5\n'.encode(), {**BY_CLASS, "classes": ["x", "y"]}
        yield f'row_id,label\n"{value}",1\n"{value}",z\n'.encode(), {}
        yield f'row_id,"{value}"\na,1\n'.encode(), {}


def large():
    """Files of many blocks, and of more problems than are shown or counted."""
    rows = [f'{row},"{row}\n"' if row % 5 == 0 else f"{row},x" for row in range(20_000)]
    rows[15_000:15_000] = ["", "too short", "", '1,"x"', "", "19999,x"]
    signs = [f"\U0001f600{k % 900},あ{k}\U0001f600{' ' if k % 7 else chr(34)}\n" for k in range(9_000)]
    for content in (
        HEADER + b"a\n" * 120,
        HEADER + b"a\n" * 50_000,
        HEADER + b"a,cat\n" * 80,
        HEADER + b"".join(b"%d,x\n" % (row % 3000) for row in range(9000)),
        HEADER + b"".join(b"%d,caf\xe9 \xe9\n" % row for row in range(9000)),
        HEADER + "".join(signs).encode() + b"\xe3\x81",
        HEADER + "\n".join(rows).encode(),
        b"row_id,label\r\n" + b"".join(b"%d,%s\r\n" % (row, b"x" * (row % 5)) for row in range(20_000)),
        b"row_id,label\r" + b"".join(b"%d,%s\r" % (row, b"x" * (row % 5)) for row in range(20_000)),
        HEADER + b"a," + b"x" * 200_000 + b',"\n',
        HEADER + b'a,"' + b"x\n" * 100_000 + b'"\n',
        HEADER + b'a,"' + b"x\n" * 100_000,
        b"," * 1_200_000 + b"\na\n",
        HEADER + b"a,cat\n" + b"," * 1_200_000,
        b"," * 20_000 + b"\n\xff\n",
        b"," * 20_000 + b"\n" + b"a" * 70_000 + b"\n\xff\n",
    ):
        yield content, {}
        yield content, {"task": "numbers"}


def altered():
    """Files that a seeded generator has changed, for each task and with limits that they reach."""
    chance = random.Random(11)
    for _ in range(150):
        yield changed(GOOD, GOOD[::-1], chance), {}
        yield changed(NUMBERS, NUMBERS[::-1], chance), {"task": "numbers"}
        yield changed(NUMBERS, CLASSES, chance), {"task": "probabilities"}
        yield changed(CLASSES, CLASSES, chance), BY_CLASS
        yield changed(GOOD, GOOD, chance), {"limits": TIGHT}


def by_server(content, given):
    try:
        tm.check_submission(io.BytesIO(content), **given)
    except tm.Rejection as error:
        return [told(each.to_dict()) for each in error.problems], error.total, error.stopped
    return [], 0, False


def told(problem):
    return problem["code"], problem["text"], *(problem.get(each) for each in PLACES)


@pytest.fixture(scope="module")
def check(browser):
    """A function that checks many files in the browser."""
    with serving(check_settings()) as site:
        page = browser.new_page()
        page.goto(site.url)

        def run(cases):
            sent = [
                (json.loads(check_settings(**given)), base64.b64encode(content).decode()) for content, given in cases
            ]
            return page.evaluate(RUN, sent)

        yield run
        page.close()


@pytest.mark.parametrize("made", [whole, fields, large, altered], ids=lambda made: made.__name__)
def test_the_browser_says_what_the_server_says(check, made):
    """Code, sentence, place, id and mending of every problem that is shown, and how many there are."""
    cases, differ = list(made()), 0
    for (content, given), found in zip(cases, check(cases), strict=True):
        by_browser = [told(each) for each in found["problems"]], found["total"], found["stopped"]
        expected = by_server(content, given)
        if found["later"]:
            assert content.startswith((b"PAR1", b"BZh", b"\x1f\x8b")), content[:80]
        elif by_browser != expected:
            assert expected[0][0][0] in DIFFERENT, (content[:300], given)
            assert found["total"], (content[:300], given)
            differ += 1
    assert differ <= len(cases) // 100


def test_every_rule_that_needs_no_answers_is_checked(check):
    """Else the comparison would say less than it seems to."""
    cases = [*whole(), *fields(), *altered()]
    codes = {problem["code"] for found in check(cases) for problem in found["problems"]}
    assert set(RULES) - codes == {"no_matching_rows", "unpacks_too_large", "missing_rows", "not_scored"}


def test_what_is_packed_is_left_to_the_server(check):
    """Only its size is looked at."""
    packed = [content for name, content in corpus() if name.startswith(PACKED)]
    assert all(found["later"] and not found["total"] for found in check([(content, {}) for content in packed]))
    found = check([(packed[-1], {"limits": tm.Limits(bytes=10)})])[0]
    assert [each["code"] for each in found["problems"]] == ["too_large"]
