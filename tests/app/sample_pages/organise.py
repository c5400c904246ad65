"""Views of those who organise challenges."""

from __future__ import annotations

from markupsafe import Markup

from tallymark.app.domain.metric_search import ParameterField
from tallymark.app.pages.lifecycle import StepPage
from tallymark.app.pages.materials import AnnouncementCard, AnnouncementsPage, DataFileRow, DataFilesPage
from tallymark.app.pages.metric_picker import ChosenMetric, FoundMetric, MetricPicker
from tallymark.app.pages.organise import AnswersVersion, EditPage, OrganisedChallenge, OrganisePage
from tallymark.app.pages.shell import Form, Link, SelectOption
from tests.app.sample_pages.shell import HIGHER, SHORT, SOON, TASKS, Say, shell


def organise(say: Say) -> OrganisePage:
    rows = [
        OrganisedChallenge("deer", say("Deer or fox"), "open", SOON, "12", "1,204", "3", "version 2"),
        OrganisedChallenge("prices", say("Prices of flats"), "soon", None, "0", "0", "0", "version 1"),
    ]
    return OrganisePage(shell(say, "Your challenges", "/organise"), rows)


def edit(say: Say) -> EditPage:
    values = {
        "title": say("Deer or fox"),
        "slug": "deer",
        "summary": say("Say which animal is in each picture."),
        "rules": say("Only the *pictures*.\n\nNo other data."),
        "task": "labels",
        "id_column": say("row_id"),
        "label_column": say("label"),
        "classes": say("deer, fox"),
        "metrics": "fscore, accuracy",
        "missing": "reject",
        "split": "seeded",
        "split_share": "30",
        "split_seed": "7",
        "deadline": "2026-11-19T12:00",
        "late": "mark",
        "quota": "0",
        "finals": "2",
        "show_intervals": "1",
    }
    form = Form(values, {"quota": "`quota` must be at least 1; got 0."})
    versions = [
        AnswersVersion("Version 2", "1,203", SHORT, "9f86d081884c", True, say("three labels mended")),
        AnswersVersion("Version 1", "1,203", SHORT, "60303ae22b99", False),
    ]
    return EditPage(
        shell(say, "Deer or fox", "/organise/deer", form=form),
        "deer",
        say("Deer or fox"),
        TASKS,
        [SelectOption("count", "Counts against the score"), SelectOption("reject", "The file is rejected")],
        [
            SelectOption("none", "One part", "All rows are public."),
            SelectOption("column", "By a column of the answers"),
            SelectOption("seeded", "By chance", "With a share and a seed."),
        ],
        [
            SelectOption("refuse", "Submissions are refused"),
            SelectOption("mark", "They are scored and marked as late", "They are not ranked."),
        ],
        "10 MB",
        "open",
        versions,
        data_for=[SelectOption("everyone", "For all"), SelectOption("members", "For those who have joined")],
        reveal=[SelectOption("organiser", "When you reveal it"), SelectOption("closing", "When it is over")],
        steps=[Link("Close challenge", "/organise/deer/steps/close")],
        picker=MetricPicker(
            [
                ChosenMetric(
                    "fscore(beta=2)",
                    "F2",
                    *HIGHER,
                    [ParameterField("beta", "2", ()), ParameterField("average", "auto", ("auto", "macro"))],
                ),
                ChosenMetric("accuracy", "accuracy", *HIGHER, ()),
            ],
            say("roc"),
            True,
            [FoundMetric("auc", "ROC AUC", *HIGHER, "The area under the ROC curve.", "roc_auc_score, AUROC")],
            "1 metric found.",
        ),
        summary=[Link("Submissions per day: `quota` must be at least 1; got 0.", "#quota")],
    )


def step(say: Say) -> StepPage:
    return StepPage(
        shell(say, "Deer or fox", "/organise/deer/steps/reveal"),
        "deer",
        say("Deer or fox"),
        "Reveal private part?",
        "Reveal private part",
        ["12 teams will see their private scores.", "The final ranking, on 842 private rows, becomes public."],
    )


def announcements(say: Say) -> AnnouncementsPage:
    cards = [AnnouncementCard("7", Markup("<p>The deadline is a week later.</p>"), SHORT)]
    return AnnouncementsPage(
        shell(say, "Announcements", "/organise/deer/announcements"), "deer", say("Deer"), cards, 5000
    )


def data_files(say: Say) -> DataFilesPage:
    rows = [
        DataFileRow("2", say("train"), "version 2", say("train.csv"), "1.2 MB", "9f86d081" * 8, SHORT, True),
        DataFileRow("1", say("train"), "version 1", say("train.csv"), "1.1 MB", "60303ae2" * 8, SHORT, False),
    ]
    return DataFilesPage(shell(say, "Data", "/organise/deer/data"), "deer", say("Deer"), rows, [say("train")], "1 GB")
