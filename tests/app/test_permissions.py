"""Who may do what: every route asked by everybody, and every route is asked."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
from fastapi.routing import APIRoute
from sqlalchemy import select, update

from tallymark.app import routes
from tallymark.app.domain import tokens
from tallymark.app.domain.baselines import add_baseline
from tallymark.app.domain.data_files import add_data_file
from tallymark.app.domain.invitations import create_shared_link
from tallymark.app.domain.organisers import add_organiser
from tallymark.app.domain.permissions import PERMISSIONS
from tallymark.app.http import request_context
from tallymark.app.routes import ROUTERS
from tallymark.app.store.models import Challenge, Invitation, Token
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
    "/challenges/{slug}/data/{data}": (200, 200, 200, 200, 200, 200, 200, 200),
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
    "/account/tokens": (303, 200, 200, 200, 200, 200, 200, 200),
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
    "/organise/{slug}/announcements": (303, 404, 404, 404, 200, 200, 404, 404),
    "/organise/{slug}/data": (303, 404, 404, 404, 200, 200, 404, 404),
    "/organise/{slug}/preview": (303, 404, 404, 404, 200, 200, 404, 404),
    "/organise/{slug}/steps/{step}": (303, 404, 404, 404, 200, 200, 404, 404),
    "/organise/{slug}/answers/{part}": (303, 404, 404, 404, 200, 200, 404, 404),
    "/operate": (303, 404, 404, 404, 404, 404, 404, 200),
    "/operate/accounts": (303, 404, 404, 404, 404, 404, 404, 200),
    "/operate/accounts/{account_id}": (303, 404, 404, 404, 404, 404, 404, 200),
    "/operate/accounts/{account_id}/delete": (303, 404, 404, 404, 404, 404, 404, 200),
    "/operate/log": (303, 404, 404, 404, 404, 404, 404, 200),
    "/organise/{slug}/export/{file}": (303, 404, 404, 404, 200, 200, 404, 404),
    "/organise/{slug}/log": (303, 404, 404, 404, 200, 200, 404, 404),
    "/organise/{slug}/rescoring": (303, 404, 404, 404, 200, 200, 404, 404),
    "/organise/{slug}/submissions": (303, 404, 404, 404, 200, 200, 404, 404),
    "/organise/{slug}/submissions/{key}": (303, 404, 404, 404, 200, 200, 404, 404),
    "/organise/{slug}/submissions/{key}/file": (303, 404, 404, 404, 200, 200, 404, 404),
    "/health": (200, 200, 200, 200, 200, 200, 200, 200),
    "/metrics": (200, 200, 200, 200, 200, 200, 200, 200),
    "/ready": (503, 503, 503, 503, 503, 503, 503, 503),  # no threads in these tests
    "/static/{name}": (200, 200, 200, 200, 200, 200, 200, 200),
}
FORMS = {
    ("/analyse", ""): ({}, BOTH_FILES, (200, 200, 200, 200, 200, 200, 200, 200)),
    ("/challenges/{slug}/join", ""): ({"team": "Newts"}, {}, (401, 303, 422, 422, 303, 303, 303, 303)),
    ("/challenges/{slug}/join/{code}", ""): ({"accept": "1"}, {}, (401, 303, 422, 422, 422, 422, 303, 303)),
    ("/challenges/{slug}/team", ""): ({"action": "renew"}, {}, (401, 404, 303, 303, 404, 404, 404, 404)),
    ("/challenges/{slug}/submit", "check"): ({}, FILE, (401, 403, 200, 200, 403, 403, 403, 403)),
    ("/challenges/{slug}/submit", "confirm"): ({"token": "{token}"}, {}, (401, 403, 303, 404, 403, 403, 403, 403)),
    ("/challenges/{slug}/mine", "own"): ({"final": "{key}"}, {}, (401, 403, 303, 422, 403, 403, 403, 403)),
    ("/sign-in", ""): ({"name": "x", "password": "y"}, {}, (422, 422, 422, 422, 422, 422, 422, 422)),
    ("/sign-up", ""): ({"name": "x"}, {}, (422, 422, 422, 422, 422, 422, 422, 422)),
    ("/reset", ""): ({"secret": "x"}, {}, (422, 422, 422, 422, 422, 422, 422, 422)),
    **{
        ("/operate/accounts/{account_id}", action): ({"action": action}, {}, (401, 404, 404, 404, 404, 404, 404, code))
        for action, code in {
            "make operator": 303,
            "unmake operator": 303,
            "make organiser": 303,
            "unmake organiser": 303,
            "disable": 303,
            "enable": 303,
            "reset": 200,
            "transfer": 404,
        }.items()
    },
    ("/operate/accounts/{account_id}/delete", ""): ({"action": "delete"}, {}, (401, 404, 404, 404, 404, 404, 404, 303)),
    ("/sign-out", ""): ({}, {}, (303, 303, 303, 303, 303, 303, 303, 303)),
    ("/account", "everywhere"): ({"action": "everywhere"}, {}, (401, 303, 303, 303, 303, 303, 303, 303)),
    ("/account", "invite"): ({"action": "invite"}, {}, (401, 404, 404, 404, 200, 404, 200, 200)),
    ("/account", "invite organisers"): (
        {"action": "invite", "role": "organiser"},
        {},
        (401, 404, 404, 404, 404, 404, 404, 200),
    ),
    ("/account/tokens", "create"): (
        {"action": "create", "name": "laptop", "scope": "read", "days": "90"},
        {},
        (401, 200, 200, 200, 200, 200, 200, 200),
    ),
    ("/account/tokens", "create to organise"): (
        {"action": "create", "name": "laptop", "scope": "organise", "days": "90"},
        {},
        (401, 422, 422, 422, 200, 200, 200, 422),
    ),
    ("/account/tokens", "create to operate"): (
        {"action": "create", "name": "laptop", "scope": "operate", "days": "90"},
        {},
        (401, 422, 422, 422, 422, 422, 422, 200),
    ),
    ("/account/tokens", "revoke"): (
        {"action": "revoke", "token": "{token_id}"},
        {},
        (401, 404, 303, 404, 404, 404, 404, 404),
    ),
    ("/account/provider", ""): ({}, {}, (401, 409, 409, 409, 409, 409, 409, 409)),
    ("/account/email", ""): ({"action": "results"}, {}, (401, 303, 303, 303, 303, 303, 303, 303)),
    ("/account/email/confirm", ""): ({"secret": "x"}, {}, (422, 422, 422, 422, 422, 422, 422, 422)),
    ("/forgot-password", ""): ({"account": "x"}, {}, (422, 422, 422, 422, 422, 422, 422, 422)),
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
    ("/organise/{slug}/steps/{step}", "close"): ({}, {}, (401, 404, 404, 404, 303, 303, 404, 404)),
    ("/organise/{slug}/submissions", "baseline"): (
        {"action": "baseline", "baseline": "Always otter"},
        FILE,
        (401, 404, 404, 404, 303, 303, 404, 404),
    ),
    ("/organise/{slug}/submissions", "withdraw"): (
        {"action": "withdraw", "team": "{baseline}"},
        {},
        (401, 404, 404, 404, 303, 303, 404, 404),
    ),
    ("/organise/{slug}/rescoring", "apply"): (
        {"action": "apply", "version": "2"},
        {},
        (401, 404, 404, 404, 422, 422, 404, 404),
    ),
    ("/organise/{slug}/rescoring", "discard"): (
        {"action": "discard", "version": "2"},
        {},
        (401, 404, 404, 404, 422, 422, 404, 404),
    ),
    ("/organise/{slug}/submissions/{key}", "retry"): (
        {"action": "retry"},
        {},
        (401, 404, 404, 404, 422, 422, 404, 404),
    ),
    ("/organise/{slug}/submissions/{key}", "disqualify"): (
        {"action": "disqualify", "reason": "two accounts"},
        {},
        (401, 404, 404, 404, 303, 303, 404, 404),
    ),
    ("/organise/{slug}/submissions/{key}", "requalify"): (
        {"action": "requalify"},
        {},
        (401, 404, 404, 404, 422, 422, 404, 404),
    ),
    ("/organise/{slug}/submissions/{key}", "refund"): (
        {"action": "refund"},
        {},
        (401, 404, 404, 404, 303, 303, 404, 404),
    ),
    ("/organise/{slug}/announcements", "post"): ({"text": "New"}, {}, (401, 404, 404, 404, 303, 303, 404, 404)),
    ("/organise/{slug}/data", "upload"): (
        {"title": "train"},
        {"data": ("train.csv", b"a,b\n1,2\n")},
        (401, 404, 404, 404, 303, 303, 404, 404),
    ),
    ("/organise/{slug}/data", "delete"): ({"delete": "{data}"}, {}, (401, 404, 404, 404, 303, 303, 404, 404)),
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

RAW = {"content": table(guess(5)), "headers": {"Content-Type": "text/csv"}}
RAW_ANSWERS = {"content": table(truth()), "headers": {"Content-Type": "text/csv"}}
ORGANISED = "/api/v1/organise/challenges/{slug}"
# The API, to programs whose tokens have all scopes.
API = {
    ("GET", "/api/v1/openapi.json"): ({}, (200, 200, 200, 200, 200, 200, 200, 200)),
    ("GET", "/api/v1/me"): ({}, (401, 200, 200, 200, 200, 200, 200, 200)),
    ("GET", "/api/v1/challenges"): ({}, (200, 200, 200, 200, 200, 200, 200, 200)),
    ("GET", "/api/v1/challenges/{slug}"): ({}, (200, 200, 200, 200, 200, 200, 200, 200)),
    ("GET", "/api/v1/challenges/{slug}/sample"): ({}, (200, 200, 200, 200, 200, 200, 200, 200)),
    ("GET", "/api/v1/challenges/{slug}/leaderboard"): ({}, (200, 200, 200, 200, 200, 200, 200, 200)),
    ("POST", "/api/v1/challenges/{slug}/team"): (
        {"json": {"team": "Newts"}},
        (401, 201, 422, 422, 201, 201, 201, 201),
    ),
    ("POST", "/api/v1/challenges/{slug}/check"): (RAW, (401, 403, 200, 200, 403, 403, 403, 403)),
    ("GET", "/api/v1/challenges/{slug}/submissions"): ({}, (401, 403, 200, 200, 403, 403, 403, 403)),
    ("POST", "/api/v1/challenges/{slug}/submissions"): (RAW, (401, 403, 201, 201, 403, 403, 403, 403)),
    ("PUT", "/api/v1/challenges/{slug}/finals"): (
        {"json": {"submissions": ["{key}"]}},
        (401, 403, 200, 422, 403, 403, 403, 403),
    ),
    ("GET", "/api/v1/submissions/{key}"): ({}, (401, 404, 200, 404, 200, 200, 404, 404)),
    ("POST", "/api/v1/organise/challenges"): (
        {"data": {**FORM, "slug": "another"}, "files": ANSWERS},
        (401, 404, 404, 404, 201, 404, 201, 404),
    ),
    ("GET", ORGANISED): ({}, (401, 404, 404, 404, 200, 200, 404, 404)),
    ("PATCH", ORGANISED): ({"json": {"fields": {"title": "Beasts"}}}, (401, 404, 404, 404, 200, 200, 404, 404)),
    ("POST", ORGANISED + "/close"): ({}, (401, 404, 404, 404, 200, 200, 404, 404)),
    ("POST", ORGANISED + "/reopen"): ({}, (401, 404, 404, 404, 409, 409, 404, 404)),  # it is open
    ("POST", ORGANISED + "/answers"): (RAW_ANSWERS, (401, 404, 404, 404, 200, 200, 404, 404)),
    ("GET", ORGANISED + "/answers/{part}"): ({}, (401, 404, 404, 404, 200, 200, 404, 404)),
    ("GET", ORGANISED + "/submissions"): ({}, (401, 404, 404, 404, 200, 200, 404, 404)),
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
    outsider = stage.person("Eve")
    people = (None, outsider, player.user, other.user, host, co_organiser, rival, operator)
    clients = {name: stage.client(user) for name, user in zip(WHO, people, strict=True)}
    clients |= {f"program of {name}": stage.program(user) for name, user in zip(WHO, people, strict=True)}
    token = token_of(player.upload(guess(7)).text)
    [token_id] = stage.all(select(Token.id).where(Token.user_id == player.user.id))
    upload = io.BytesIO(table(guess(3)))
    baseline = stage.submission(add_baseline(stage.service, host, challenge, "Always lynx", upload, "a.csv"))
    filled = {"slug": challenge.slug, "key": key, "name": "app.css", "part": "public", "token": token, "step": "close"}
    data = add_data_file(stage.service, host, challenge, "train", io.BytesIO(b"a,b\n1,2\n"), "train.csv")
    filled |= {"file": "submissions.csv", "baseline": str(baseline.team_id), "data": str(data.id)}
    create_shared_link(stage.service, host, 3, 3, challenge)
    [invitation] = stage.all(select(Invitation.id))
    filled |= {"invitation": str(invitation), "code": player.team.code}
    return clients, {**filled, "account_id": outsider.id, "token_id": token_id}


def test_every_route_is_in_the_matrix():
    """A new route fails here until it says who may use it."""
    found = {(method, each.path) for router in ROUTERS for each in router.routes for method in each.methods}
    assert all(isinstance(each, APIRoute) for router in ROUTERS for each in router.routes)
    assert found == {("GET", path) for path in PAGES} | {("POST", path) for path, _ in FORMS} | set(API)


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


def test_a_draft_exists_only_for_its_organisers(stage, world):
    """Every page and form of a draft, and of what was submitted to it, is not found for everybody else."""
    clients, filled = world
    with stage.service.database.writing() as session:
        session.execute(update(Challenge).where(Challenge.slug == filled["slug"]).values(published=None))
    filled = {**filled, "step": "publish"}
    organisers = ("owner", "co-organiser")
    for path in PAGES:
        if "{slug}" in path or "{key}" in path:
            for who in set(WHO) - set(organisers):
                status = clients[who].get(path.format(**filled)).status_code
                assert status == (303 if who == "nobody" else 404), (path, who)
    for (path, _), (values, files, _) in FORMS.items():
        if "{slug}" in path:
            for who in set(WHO) - set(organisers):
                data = {name: value.format(**filled) for name, value in values.items()}
                status = clients[who].post(path.format(**filled), data=data, files=files).status_code
                assert status == (401 if who == "nobody" else 404), (path, who)
    for path in ("/", "/challenges", "/account"):
        for who in WHO:
            assert filled["slug"] not in clients[who].get(path).text, (path, who)
    for path in ("/challenges/{slug}", "/organise/{slug}/preview", "/challenges/{slug}/leaderboard"):
        for who in organisers:
            assert clients[who].get(path.format(**filled)).status_code == 200


def _call(client, route, filled):
    given, _ = API[route]
    if "json" in given:
        given = {"json": json.loads(json.dumps(given["json"]).replace("{key}", filled["key"]))}
    return client.request(route[0], route[1].format(**filled), **given)


@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("route", API, ids=" ".join)
def test_each_route_of_the_api_answers_each_role_as_listed(world, route, who):
    """As the pages do, and errors are problem details."""
    clients, filled = world
    answer = _call(clients[f"program of {who}"], route, filled)
    assert answer.status_code == API[route][1][WHO.index(who)]
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["status"] == answer.status_code


@pytest.mark.parametrize("who", ["owner", "member"])
@pytest.mark.parametrize("route", API, ids=" ".join)
def test_cookies_have_no_meaning_in_the_api(world, route, who):
    """A browser that is signed in is a visitor there, so no page of another site can act for its user."""
    clients, filled = world
    assert _call(clients[who], route, filled).status_code == API[route][1][0]


@pytest.mark.parametrize("route", [route for route in API if route[1] != "/api/v1/openapi.json"], ids=" ".join)
def test_each_route_of_the_api_needs_one_scope(stage, world, host, player, route):
    """A token that has all other scopes is refused."""
    _, filled = world
    user = host if route[1].startswith("/api/v1/organise") else player.user
    scope = "organise" if user is host else "read" if route[0] == "GET" else "submit"
    answer = _call(stage.program(user, set(tokens.SCOPES) - {scope}), route, filled)
    assert answer.status_code == 403
    assert f"lacks the scope “{scope}”" in answer.json()["detail"]
    assert _call(stage.program(user, {scope}), route, filled).status_code in (200, 201, 409, 422)


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
        each.read_text() for each in [*Path(routes.__file__).parent.rglob("*.py"), Path(request_context.__file__)]
    )
    assert [action for action in PERMISSIONS if f'"{action}"' not in source] == []
