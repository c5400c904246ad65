"""Views of a version that waits to be applied."""

from __future__ import annotations

from tallymark.app.pages.rescoring import EntryChangeRow, PreviewPart, RescoringPage
from tallymark.app.pages.shell import Form
from tests.app.sample_pages.shell import Say, shell

PATH = "/organise/deer/rescoring"


def rescoring(say: Say) -> RescoringPage:
    rows = [
        EntryChangeRow(say("Night owls"), "3", "1", "up 2", "81.0 %", "84.2 %"),
        EntryChangeRow(say("Always deer"), "4", "", "drops out", "40.0 %", "", True),
        EntryChangeRow(say("Foxes"), "", "2", "new", "", "70.0 %"),
    ]
    form = Form({}, {"": "Not all submissions are scored yet; pending: 3. Try again in a moment."})
    return RescoringPage(
        shell(say, "Re-scoring", PATH, form=form),
        "deer",
        say("Deer or fox"),
        "3",
        [("Note", say("three labels mended")), ("Metrics", "accuracy; before: MCC")],
        "412 of 412 submissions scored.",
        412,
        412,
        None,
        ["Another score for 40 of 412 scored submissions."],
        [
            PreviewPart(
                "Public part", "3 entries would change, 3 of them in place, of 41 in all.", rows, "And 2 more."
            ),
            PreviewPart("Private part", "Nothing would change in 41 entries.", ()),
        ],
    )


def scoring(say: Say) -> RescoringPage:
    page = rescoring(say)
    return page._replace(
        shell=shell(say, "Re-scoring", PATH),
        done=7,
        progress="7 of 412 submissions scored.",
        refresh=3,
        summary=(),
        parts=(),
    )
