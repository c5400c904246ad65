"""A view of every page and of its states, as the routes would make it; `say` changes every text that people give."""

from __future__ import annotations

from typing import Any

from tallymark.app.pages.accounts import SignInPage
from tallymark.app.pages.challenges import AnalysePage, ChallengesPage, FrontPage
from tallymark.app.pages.rescoring import RescoringPage
from tallymark.app.pages.shell import ErrorPage
from tests.app.sample_pages.accounts import account, sign_up
from tests.app.sample_pages.audit_log import audit_log
from tests.app.sample_pages.challenges import analysed, cards, challenge
from tests.app.sample_pages.leaderboard import leaderboard
from tests.app.sample_pages.operate import account_detail, accounts, delete_account, log, operate
from tests.app.sample_pages.organise import announcements, data_files, edit, organise, step
from tests.app.sample_pages.organiser_submissions import organiser_submission, organiser_submissions
from tests.app.sample_pages.people import (
    confirm_email,
    email,
    forgot,
    invitations,
    join_team,
    notice,
    provider,
    reset,
    team,
)
from tests.app.sample_pages.rescoring import rescoring, scoring
from tests.app.sample_pages.shell import TASKS, Say, problems, shell, wrong
from tests.app.sample_pages.submissions import (
    checked,
    mine,
    mine_at_the_end,
    rejected,
    result,
    submit,
    waiting,
)
from tests.app.sample_pages.tokens import tokens


def plain(text: str) -> str:
    return text


def samples(say: Say = plain) -> dict[str, tuple[str, Any]]:
    """Every page in its states: a name, the template, the view."""
    return {
        "front": (
            "front.html",
            FrontPage(shell(say, "Scores that you can check", "/", person=False), cards(say), "10 MB"),
        ),
        "front-empty": ("front.html", FrontPage(shell(say, "Scores that you can check", "/"), (), "10 MB")),
        "challenges": ("challenges.html", ChallengesPage(shell(say, "Challenges", "/challenges"), cards(say))),
        "challenges-empty": ("challenges.html", ChallengesPage(shell(say, "Challenges", "/challenges"), ())),
        "analyse": (
            "analyse.html",
            AnalysePage(shell(say, "Score two files", "/analyse", person=False), TASKS, "10 MB"),
        ),
        "analyse-result": ("analyse.html", analysed(say)),
        "analyse-problems": (
            "analyse.html",
            AnalysePage(shell(say, "Score two files", "/analyse"), TASKS, "10 MB", None, problems(say)),
        ),
        "challenge": ("challenge.html", challenge(say)),
        "challenge-join": ("challenge.html", challenge(say)._replace(team=None, may_join=True, may_submit=False)),
        "challenge-visitor": (
            "challenge.html",
            challenge(say)._replace(
                shell=shell(say, "Deer", "/challenges/deer", person=False), team=None, may_submit=False
            ),
        ),
        "submit": ("submit.html", submit(say)),
        "submit-checked": ("submit.html", checked(say)),
        "submit-problems": (
            "submit.html",
            submit(say)._replace(problems=problems(say), late="It will be marked as late."),
        ),
        "submit-refused": (
            "submit.html",
            submit(say)._replace(refused="All 5 of today are used; the next one is possible at 00:00 UTC."),
        ),
        "result": ("result.html", result(say)),
        "result-disqualified": (
            "result.html",
            result(say)._replace(disqualified=say("two accounts"), manage="/organise/deer/submissions/k3y"),
        ),
        "result-queued": ("result.html", waiting(say)),
        "result-rejected": ("result.html", rejected(say)),
        "leaderboard": ("leaderboard.html", leaderboard(say)),
        "leaderboard-empty": ("leaderboard.html", leaderboard(say)._replace(rows=(), history=None, pages=None)),
        "mine": ("my_submissions.html", mine(say)),
        "mine-at-the-end": ("my_submissions.html", mine_at_the_end(say)),
        "mine-empty": ("my_submissions.html", mine(say)._replace(submissions=())),
        "sign-in": (
            "sign_in.html",
            SignInPage(
                wrong(say, "Sign in", "/sign-in", {"": "The name or the password is wrong."}), "/challenges/deer"
            ),
        ),
        "sign-up": ("sign_up.html", sign_up(say)),
        "sign-up-refused": (
            "sign_up.html",
            sign_up(say)._replace(refused="To sign up you need a link from an organiser."),
        ),
        "account": ("account.html", account(say)),
        "tokens": ("tokens.html", tokens(say)),
        "tokens-new": ("tokens.html", tokens(say)._replace(new_token="tallymark_Zm9vYmFyYmF6cXV4", tokens=())),
        "invitations": ("invitations.html", invitations(say)),
        "team": ("team.html", team(say)),
        "team-asked": ("team.html", team(say)._replace(outgoing=say("Otters"), may_change=False, incoming=())),
        "join-team": ("join_team.html", join_team(say)),
        "provider": ("provider.html", provider(say)),
        "provider-linked-empty": ("provider.html", provider(say)._replace(linked=True)),
        "notice": ("notice.html", notice(say)),
        "forgot": ("forgot.html", forgot(say)),
        "forgot-refused": ("forgot.html", forgot(say)._replace(refused="This server does not send e-mail.")),
        "reset": ("reset.html", reset(say)),
        "reset-refused": ("reset.html", reset(say)._replace(refused="This link is invalid.")),
        "reset-mail-refused": ("reset.html", reset(say)._replace(refused="This link is invalid.", may_ask=True)),
        "email": ("email.html", email(say)),
        "email-empty": ("email.html", email(say)._replace(address="", waiting="")),
        "email-refused": ("email.html", email(say)._replace(refused="This server does not send e-mail.")),
        "confirm-email": ("confirm_email.html", confirm_email(say)),
        "confirm-email-refused": ("confirm_email.html", confirm_email(say)._replace(refused="This link is invalid.")),
        "sign-up-email-refused": ("sign_up.html", sign_up(say)._replace(domains="example.edu or example.org")),
        "organise": ("organise.html", organise(say)),
        "organise-empty": ("organise.html", organise(say)._replace(challenges=())),
        "new": ("edit.html", edit(say)._replace(slug="", title="New challenge", versions=(), steps=())),
        "new-kept": (
            "edit.html",
            edit(say)._replace(
                slug="", title="New", versions=(), steps=(), answers_token="x", answers_name=say("answers.csv")
            ),
        ),
        "edit": ("edit.html", edit(say)),
        "operate": ("operate.html", operate(say)),
        "operate-accounts": ("operate_accounts.html", accounts(say)),
        "operate-account": ("operate_account.html", account_detail(say)),
        "operate-delete": ("operate_delete.html", delete_account(say)),
        "operate-log": ("operate_log.html", log(say)),
        "operate-log-empty": ("operate_log.html", log(say)._replace(entries=(), pages=None)),
        "edit-draft": ("edit.html", edit(say)._replace(state="draft")),
        "preview": (
            "challenge.html",
            challenge(say)._replace(preview=True, team=None, may_join=True, may_submit=False),
        ),
        "challenge-data": (
            "challenge.html",
            challenge(say)._replace(
                data_files=data_files(say).files,
                announcements=announcements(say).announcements,
                team=None,
                may_join=True,
                must_accept=True,
            ),
        ),
        "announcements": ("announcements.html", announcements(say)),
        "data-files": ("data_files.html", data_files(say)),
        "data-files-empty": ("data_files.html", data_files(say)._replace(files=(), titles=())),
        "step": ("step.html", step(say)),
        "step-refused": ("step.html", step(say)._replace(obstacle="The deadline has passed.")),
        "log": ("audit_log.html", audit_log(say)),
        "log-empty": ("audit_log.html", audit_log(say)._replace(rows=())),
        "rescoring": ("rescoring.html", rescoring(say)),
        "rescoring-progress": ("rescoring.html", scoring(say)),
        "rescoring-empty": (
            "rescoring.html",
            RescoringPage(shell(say, "Re-scoring", "/organise/deer/rescoring"), "deer", say("Deer or fox"), ""),
        ),
        "organiser-submissions": ("organiser_submissions.html", organiser_submissions(say)),
        "organiser-submissions-empty": ("organiser_submissions.html", organiser_submissions(say)._replace(rows=())),
        "organiser-submission": ("organiser_submission.html", organiser_submission(say)),
        "organiser-submission-disqualified": (
            "organiser_submission.html",
            organiser_submission(say)._replace(disqualified=say("two accounts"), may_retry=False),
        ),
        "error": (
            "error.html",
            ErrorPage(
                shell(say, "There is no such page", "/nowhere"),
                404,
                say("Nothing is at /nowhere."),
                "Look at the address again, or start from the front page.",
                "7f3a-90c1",
            ),
        ),
    }
