"""The view of the tokens of an account."""

from __future__ import annotations

from tallymark.app.pages.tokens import ScopeChoice, TokenRow, TokensPage
from tests.app.sample_pages.shell import SHORT, Say, shell


def tokens(say: Say) -> TokensPage:
    scopes = [ScopeChoice("read", "See challenges.", True), ScopeChoice("organise", "Change your challenges.", False)]
    rows = [
        TokenRow("2", say("laptop"), "read, submit", SHORT, SHORT, SHORT),
        TokenRow("1", say("old server"), "read", SHORT, None, SHORT, True),
    ]
    return TokensPage(
        shell(say, "Tokens", "/account/tokens"), scopes, rows, "tallymark_Zm9vYmFy", "https://scores.example.org"
    )
