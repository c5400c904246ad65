"""What organisers publish beside the rules: announcements and data files, as participants and organisers see them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from markupsafe import Markup

from tallymark.app.pages.formatting import format_bytes, page_time, render_markdown
from tallymark.app.pages.shell import PageTime, Shell
from tallymark.app.store.models import Announcement, DataFile


class AnnouncementCard(NamedTuple):
    """An announcement."""

    key: str
    text: Markup
    created: PageTime


class DataFileRow(NamedTuple):
    """A version of a data file; `current` for the newest one of its title."""

    key: str
    title: str
    version: str
    """ "version 2"."""
    file_name: str
    size: str
    digest: str
    created: PageTime
    current: bool


class AnnouncementsPage(NamedTuple):
    """`/organise/{slug}/announcements` (announcements.html). Forms send `text`, or `delete` with a key."""

    shell: Shell
    slug: str
    title: str
    announcements: Sequence[AnnouncementCard]
    max_length: int


class DataFilesPage(NamedTuple):
    """`/organise/{slug}/data` (data_files.html). Forms send `title` and the file `data`, or `delete` with a key."""

    shell: Shell
    slug: str
    title: str
    files: Sequence[DataFileRow]
    titles: Sequence[str]
    limit: str
    """ "1 GB"."""


def announcement_card(announcement: Announcement, now: datetime) -> AnnouncementCard:
    """An announcement as pages show it."""
    return AnnouncementCard(
        str(announcement.id), render_markdown(announcement.text), page_time(announcement.created, now)
    )


def data_file_rows(files: Sequence[DataFile], now: datetime) -> list[DataFileRow]:
    """Data files as pages show them: by title, the newest version of each first."""
    newest: dict[str, int] = {}
    for each in files:
        newest[each.title] = max(each.number, newest.get(each.title, 0))
    return [
        DataFileRow(
            str(each.id),
            each.title,
            f"version {each.number}",
            each.file_name,
            format_bytes(each.size),
            each.file,
            page_time(each.created, now),
            each.number == newest[each.title],
        )
        for each in files
    ]
