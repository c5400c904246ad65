"""The routes of the app, a module for each area. They check permissions, call the domain, and render pages."""

from fastapi import APIRouter

from tallymark.app.routes import (
    accounts,
    analyse,
    announcements,
    challenges,
    data_files,
    health,
    leaderboard,
    lifecycle,
    organise,
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
        lifecycle,
        announcements,
        data_files,
        health,
    )
)
