"""The routes of the app, a module for each area. They check permissions, call the domain, and render pages; those of
`routes.api` answer programs."""

from fastapi import APIRouter
from fastapi.routing import APIRoute

from tallymark.app.routes import (
    accounts,
    addresses,
    analyse,
    announcements,
    api,
    audit_log,
    challenges,
    data_files,
    exports,
    health,
    invitations,
    leaderboard,
    lifecycle,
    oidc,
    operate,
    organise,
    organiser_submissions,
    password_reset,
    rescoring,
    submissions,
    teams,
    tokens,
)

_PAGES = (
    analyse,
    challenges,
    submissions,
    leaderboard,
    teams,
    accounts,
    addresses,
    oidc,
    password_reset,
    invitations,
    organise,
    lifecycle,
    announcements,
    data_files,
    organiser_submissions,
    rescoring,
    exports,
    audit_log,
    operate,
    tokens,
    health,
)
ROUTERS: tuple[APIRouter, ...] = (*(module.router for module in _PAGES), *api.ROUTERS)


def allowed_methods(path: str) -> list[str]:
    """The methods that a path accepts."""
    routes = [route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute)]
    return sorted({method for route in routes if route.path_regex.match(path) for method in route.methods or ()})
