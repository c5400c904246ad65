"""The routes of the app, a module for each area. They check permissions, call the domain, and render pages."""

from fastapi import APIRouter

from tallymark.app.routes import (
    accounts,
    addresses,
    analyse,
    challenges,
    health,
    invitations,
    leaderboard,
    oidc,
    organise,
    password_reset,
    submissions,
    teams,
)

ROUTERS: tuple[APIRouter, ...] = tuple(
    module.router
    for module in (
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
        health,
    )
)
