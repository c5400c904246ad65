"""The rules of the app: accounts, challenges, submissions, scoring, leaderboards, and who may do what.

Modules here read and write the database. They know neither HTTP nor pages: the worker, the command line and the tests
call them as routes do.
"""
