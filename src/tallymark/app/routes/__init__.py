"""The routes of the app, a module for each area. They check permissions, call the domain, and render pages."""

from fastapi import APIRouter

from tallymark.app.routes import (
    accounts,
    analyse,
    challenges,
    health,
    leaderboard,
    lifecycle,
    operate,
    organise,
    organiser_submissions,
    rescoring,
    submissions,
)

_MODULES = (
    analyse,
    challenges,
    submissions,
    leaderboard,
    accounts,
    organise,
    lifecycle,
    organiser_submissions,
    rescoring,
    operate,
    health,
)
ROUTERS: tuple[APIRouter, ...] = tuple(module.router for module in _MODULES)
