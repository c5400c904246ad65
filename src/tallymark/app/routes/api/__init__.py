"""The API under /api/v1: what the pages do, for programs, through the same functions and permissions.

A module for each area. A route names the scope that a token needs by the type of its context (`http.api_context`).
"""

from fastapi import APIRouter

from tallymark.app.routes.api import account, challenges, leaderboard, organise, submissions
from tallymark.app.routes.api.openapi import openapi_router

_ROUTERS = tuple(module.router for module in (account, challenges, submissions, leaderboard, organise))
ROUTERS: tuple[APIRouter, ...] = (*_ROUTERS, openapi_router(_ROUTERS))
