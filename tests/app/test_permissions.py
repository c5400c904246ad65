"""Who may do what: every route asked by everybody, and every route is asked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fastapi.routing import APIRoute
from sqlalchemy import select

from tallymark.app import routes
from tallymark.app.domain.invitations import create_shared_link
from tallymark.app.domain.organisers import add_organiser
from tallymark.app.domain.permissions import PERMISSIONS
from tallymark.app.http import request_context
from tallymark.app.routes import ROUTERS
from tallymark.app.store.models import Invitation
from tests.app.stage import FORM, guess, table, token_of, truth

pytestmark = pytest.mark.slow

# The rival organises another challenge; to this one, rival and operator are outsiders.
WHO = ("nobody", "outsider", "member", "other", "owner", "co-organiser", "rival", "operator")
FILE = {"submission": ("mine.csv", table(guess(5)))}
ANSWERS = {"answers": ("answers.csv", table(truth()))}
BOTH_FILES = {**ANSWERS, **FILE}

# What each gets, in the order of WHO. To the page for signing in, strangers are sent by 303 (GET) or told by 401.
PAGES = {
    "/": (200, 200, 200, 200, 200, 200, 200, 200),
    "/analyse": (200, 200, 200, 200, 200, 200, 200, 200),
    "/challenges": (200, 200, 200, 200, 200, 200, 200, 200),
    "/challenges/{slug}": (200, 200, 200, 200, 200, 200, 200, 200),
    "/challenges/{slug}/sample": (200, 200, 200, 200, 200, 200, 200, 200),
    "/challenges/{slug}/leaderboard": (200, 200, 200, 200, 200, 200, 200, 200),
    "/challenges/{slug}/team": (303, 404, 200, 200, 404, 404, 404, 404),
    "/challenges/{slug}/join/{code}": (303, 200, 200, 200, 200, 200, 200, 200),
    "/challenges/{slug}/submit": (303, 403, 200, 200, 403, 403, 403, 403),
    "/challenges/{slug}/mine": (303, 403, 200, 200, 403, 403, 403, 403),
    "/submissions/{key}": (303, 404, 200, 404, 200, 200, 404, 404),
    "/submissions/{key}/report": (303, 404, 200, 404, 200, 200, 404, 404),
    "/sign-in": (200, 200, 200, 200, 200, 200, 200, 200),
    "/sign-up": (200, 200, 200, 200, 200, 200, 200, 200),
    "/account": (303, 200, 200, 200, 200, 200, 200, 200),
    # These tests have no OpenID provider.
    "/sign-in/oidc": (404, 404, 404, 404, 404, 404, 404, 404),
    "/sign-in/oidc/callback": (409, 409, 409, 409, 409, 409, 409, 409),
    "/account/provider": (303, 404, 404, 404, 404, 404, 404, 404),
    "/account/email": (303, 200, 200, 200, 200, 200, 200, 200),
    "/account/email/confirm": (200, 200, 200, 200, 200, 200, 200, 200),
    "/forgot-password": (200, 200, 200, 200, 200, 200, 200, 200),
    "/reset": (200, 200, 200, 200, 200, 200, 200, 200),
    "/invitations": (303, 404, 404, 404, 200, 404, 200, 200),
    "/organise": (303, 404, 404, 404, 200, 200, 200, 404),
    "/organise/new": (303, 404, 404, 404, 200, 404, 200, 404),
    "/organise/{slug}": (303, 404, 404, 404, 200, 200, 404, 404),
    "/organise/{slug}/answers/{part}": (303, 404, 404, 404, 200, 200, 404, 404),
    "/health": (200, 200, 200, 200, 200, 200, 200, 200),
    "/metrics": (200, 200, 200, 200, 200, 200, 200, 200),
    "/ready": (503, 503, 503, 503, 503, 503, 503, 503),  # no threads in these tests
    "/static/{name}": (200, 200, 200, 200, 200, 200, 200, 200),
}
FORMS = {
    ("/analyse", ""): ({}, BOTH_FILES, (200, 200, 200, 200, 200, 200, 200, 200)),
    ("/challenges/{slug}/join", ""): ({"team": "Newts"}, {}, (401, 303, 422, 422, 303, 303, 303, 303)),
    ("/challenges/{slug}/join/{code}", ""): ({}, {}, (401, 303, 422, 422, 422, 422, 303, 303)),
    ("/challenges/{slug}/team", ""): ({"action": "renew"}, {}, (401, 404, 303, 303, 404, 404, 404, 404)),
    ("/challenges/{slug}/submit", "check"): ({}, FILE, (401, 403, 200, 200, 403, 403, 403, 403)),
    ("/challenges/{slug}/submit", "confirm"): ({"token": "{token}"}, {}, (401, 403, 303, 404, 403, 403, 403, 403)),
    ("/challenges/{slug}/mine", "own"): ({"final": "{key}"}, {}, (401, 403, 303, 422, 403, 403, 403, 403)),
    ("/sign-in", ""): ({"name": "x", "password": "y"}, {}, (422, 422, 422, 422, 422, 422, 422, 422)),
    ("/sign-up", ""): ({"name": "x"}, {}, (422, 422, 422, 422, 422, 422, 422, 422)),
    ("/sign-out", ""): ({}, {}, (303, 303, 303, 303, 303, 303, 303, 303)),
    ("/account", "everywhere"): ({"action": "everywhere"}, {}, (401, 303, 303, 303, 303, 303, 303, 303)),
    ("/account", "invite"): ({"action": "invite"}, {}, (401, 404, 404, 404, 200, 404, 200, 200)),
    ("/account", "invite organisers"): (
        {"action": "invite", "role": "organiser"},
        {},
        (401, 404, 404, 404, 404, 404, 404, 200),
    ),
    ("/account/provider", ""): ({}, {}, (401, 409, 409, 409, 409, 409, 409, 409)),
    ("/account/email", ""): ({"action": "results"}, {}, (401, 303, 303, 303, 303, 303, 303, 303)),
    ("/account/email/confirm", ""): ({"secret": "x"}, {}, (422, 422, 422, 422, 422, 422, 422, 422)),
    ("/forgot-password", ""): ({"account": "x"}, {}, (422, 422, 422, 422, 422, 422, 422, 422)),
    ("/reset", ""): ({"secret": "x"}, {}, (422, 422, 422, 422, 422, 422, 422, 422)),
    ("/sign-up/email", ""): ({"email": "x"}, {}, (422, 422, 422, 422, 422, 422, 422, 422)),
    ("/invitations", "link"): (
        {"action": "link", "uses": "3", "link_days": "3"},
        {},
        (401, 404, 404, 404, 200, 404, 200, 200),
    ),
    ("/invitations", "people"): (
        {"action": "people", "people": "Ada", "days": "3"},
        {},
        (401, 404, 404, 404, 200, 404, 200, 200),
    ),
    ("/invitations", "to a challenge"): (
        {"action": "people", "people": "Ada", "days": "3", "challenge": "{slug}"},
        {},
        (401, 404, 404, 404, 200, 404, 422, 422),
    ),
    ("/invitations", "revoke"): (
        {"action": "revoke", "invitation": "{invitation}"},
        {},
        (401, 404, 404, 404, 303, 404, 404, 404),
    ),
    ("/organise/new", ""): ({**FORM, "slug": "another"}, ANSWERS, (401, 404, 404, 404, 303, 404, 303, 404)),
    ("/organise/{slug}", "save"): ({**FORM, "action": "save"}, {}, (401, 404, 404, 404, 303, 303, 404, 404)),
    ("/organise/{slug}", "answers"): ({"action": "answers"}, ANSWERS, (401, 404, 404, 404, 303, 303, 404, 404)),
    ("/organise/{slug}", "close"): ({"action": "close"}, {}, (401, 404, 404, 404, 303, 303, 404, 404)),
    ("/organise/{slug}", "add organiser"): (
        {"action": "add organiser", "organiser": "Eve"},
        {},
        (401, 404, 404, 404, 303, 404, 404, 404),
    ),
    ("/organise/{slug}", "remove organiser"): (
        {"action": "remove organiser", "organiser": "Cora"},
        {},
        (401, 404, 404, 404, 303, 404, 404, 404),
    ),
    ("/organise/{slug}", "transfer"): (
        {"action": "transfer", "organiser": "Cora"},
        {},
        (401, 404, 404, 404, 303, 404, 404, 404),
    ),
}


@pytest.fixture
def world(stage, host, challenge, player):
    """A client for each kind of person, and how the addresses are filled in."""
    other = stage.team(challenge, "Otters")
    key = player.send(guess(7))
    co_organiser, rival = stage.person("Cora"), stage.person("Rita", organiser=True)
    add_organiser(stage.service, host, challenge, "Cora")
    stage.challenge(rival, slug="theirs")
    operator = stage.person("Opal", operator=True)
    people = (None, stage.person("Eve"), player.user, other.user, host, co_organiser, rival, operator)
    clients = {name: stage.client(user) for name, user in zip(WHO, people, strict=True)}
    token = token_of(player.upload(guess(7)).text)
    create_shared_link(stage.service, host, 3, 3, challenge)
    invitation = str(stage.all(select(Invitation.id))[0])
    filled = {"slug": challenge.slug, "key": key, "name": "app.css", "part": "public", "token": token}
    return clients, {**filled, "invitation": invitation, "code": player.team.code}


def test_every_route_is_in_the_matrix():
    """A new route fails here until it says who may use it."""
    found = {(method, each.path) for router in ROUTERS for each in router.routes for method in each.methods}
    assert all(isinstance(each, APIRoute) for router in ROUTERS for each in router.routes)
    assert found == {("GET", path) for path in PAGES} | {("POST", path) for path, _ in FORMS}


@pytest.mark.parametrize("path", PAGES)
def test_each_page_answers_each_role_as_listed(world, path):
    """Each page for each kind of reader."""
    clients, filled = world
    found = tuple(clients[name].get(path.format(**filled)).status_code for name in WHO)
    assert found == PAGES[path]


@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("form", FORMS, ids=lambda each: " ".join(each))
def test_each_form_answers_each_role_as_listed(world, form, who):
    """Each form for each kind of sender."""
    clients, filled = world
    values, files, expected = FORMS[form]
    data = {name: value.format(**filled) for name, value in values.items()}
    answer = clients[who].post(form[0].format(**filled), data=data, files=files)
    assert answer.status_code == expected[WHO.index(who)]


def test_what_is_not_for_one_looks_like_nothing(world):
    """The page of another team's submission says the same as that of none."""
    clients, filled = world

    def words(path):
        page = clients["other"].get(path).text
        return re.sub(r"support: <code>[0-9a-f]{12}</code>", "", page)

    assert words(f"/submissions/{filled['key']}") == words("/submissions/none")
    assert words("/organise/none") == words(f"/organise/{filled['slug']}")


def test_every_action_is_asked_for():
    """The table of actions has no line that nothing uses."""
    source = "".join(
        each.read_text() for each in [*Path(routes.__file__).parent.glob("*.py"), Path(request_context.__file__)]
    )
    assert [action for action in PERMISSIONS if f'"{action}"' not in source] == []
