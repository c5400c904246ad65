"""Views of the audit log of a challenge."""

from __future__ import annotations

from tallymark.app.pages.audit_log import AuditLogPage, LogRow
from tests.app.sample_pages.shell import PAST, Say, shell


def audit_log(say: Say) -> AuditLogPage:
    rows = [
        LogRow(PAST, say("Ada"), "disqualified a submission", say("b.csv of Foxes"), [say("reason: two accounts")]),
        LogRow(PAST, "The command line", "created the challenge", "", ()),
    ]
    return AuditLogPage(shell(say, "Log of Deer or fox", "/organise/deer/log"), "deer", say("Deer or fox"), rows)
