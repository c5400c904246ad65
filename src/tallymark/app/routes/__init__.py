"""The routes of the app, one file for each part of it."""

from fastapi import APIRouter

from tallymark.app.routes import accounts, analyse, challenges, health, leaderboard, organise, submissions

ROUTERS: tuple[APIRouter, ...] = tuple(
    each.router for each in (analyse, challenges, submissions, leaderboard, accounts, organise, health)
)
