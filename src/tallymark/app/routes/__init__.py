"""The routes of the app, a module for each area. They check permissions, call the domain, and render pages."""

from fastapi import APIRouter

from tallymark.app.routes import (
    accounts,
    analyse,
    audit_log,
    challenges,
    exports,
    health,
    leaderboard,
    organise,
    organiser_submissions,
    rescoring,
    submissions,
)

ROUTERS: tuple[APIRouter, ...] = tuple(
    module.router
    for module in (
        analyse,
        challenges,
        submissions,
        leaderboard,
        accounts,
        organise,
        organiser_submissions,
        rescoring,
        exports,
        audit_log,
        health,
    )
)
