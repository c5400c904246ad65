"""A client of the web app's API, with the standard library only.

What the server answers is returned as it is, as plain data; `/api/v1/openapi.json` describes it.
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import os
import secrets
import stat
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit

from tallymark.errors import ParameterError, TallymarkError

__all__ = ["Client", "RefusedError", "config_path", "save_login"]

_ATTEMPTS = 6  # of a request that may be repeated: about 15 seconds
_UNAVAILABLE = (502, 503, 504)  # what a web server in front of the app answers while it restarts
_LOST = (URLError, ConnectionError, TimeoutError, http.client.HTTPException)


class RefusedError(TallymarkError):
    """The server refused a request: the HTTP status, invalid values by name, and the problems of a rejected file."""

    def __init__(self, message: str, status: int = 0, details: Mapping[str, Any] | None = None) -> None:
        self.status = status
        self.details = dict(details or {})
        lines = [message]
        lines += [f"  {name}: {text}" for name, text in (self.details.get("errors") or {}).items()]
        lines += [f"  {_problem_line(each)}" for each in self.problems[1:]]  # the message has the first
        hidden = self.details.get("total", 0) - len(self.problems)
        if hidden > 0:
            lines.append(f"  and {'at least ' * bool(self.details.get('stopped'))}{hidden:,} more")
        super().__init__("\n".join(lines))

    @property
    def problems(self) -> list[dict[str, Any]]:
        """The problems of a rejected file, with their codes and places."""
        return list(self.details.get("problems") or [])


def _problem_line(problem: Mapping[str, Any]) -> str:
    line, column, row = (problem.get(name) for name in ("line", "column", "row"))
    place = "" if row is None else f"row {row}: "
    if line is not None:
        place = f"line {line}: " if column is None else f"line {line}, column {column}: "
    return f"{place}{problem['text']}. {problem.get('mend', '')}".rstrip(" .") + "."


class _Login(NamedTuple):
    server: str
    token: str


class Client:
    """A client of a tallymark app.

    Without arguments, the server and the token are those of the variables TALLYMARK_SERVER and TALLYMARK_TOKEN, else
    those of `tallymark login`. A request whose answer is lost is repeated where that is safe.

    Args:
        server: Its address, such as https://scores.example.org. Plain http is for this machine and private addresses.
        token: A token, which the app creates under "Your account"; empty for none.
        timeout: Seconds to wait for an answer.
    """

    def __init__(self, server: str | None = None, token: str | None = None, *, timeout: float = 60.0) -> None:
        saved = _read_login() if server is None or token is None else None
        server = server or os.environ.get("TALLYMARK_SERVER") or (None if saved is None else saved.server)
        if not server:
            hint = "Pass `server`, set TALLYMARK_SERVER or run tallymark login"
            raise ParameterError(argument="server", expected="be the address of an app", got="none", hint=hint)
        self.server = _check_server(server)
        if token is None:
            token = os.environ.get("TALLYMARK_TOKEN")
        if token is None and saved is not None and saved.server == self.server:  # never to another server
            token = saved.token
        if token and not (token.isascii() and token.isprintable() and " " not in token):
            raise ParameterError(argument="token", expected="be one word of ASCII characters")
        self._token = token or ""
        self._timeout = timeout
        proxies = [] if self.server.startswith("https:") else [urllib.request.ProxyHandler({})]  # which would see all
        self._opener = urllib.request.build_opener(_NoRedirects, *proxies)

    def me(self) -> dict[str, Any]:
        """The user of the token, and what the token may do."""
        return self._get("me")

    def challenges(self) -> Iterator[dict[str, Any]]:
        """The challenges, the newest first."""
        return self._items("challenges")

    def challenge(self, challenge: str) -> dict[str, Any]:
        """A challenge by its address (slug), with the team and the quota of the user."""
        return self._get("challenges", challenge)

    def sample(self, challenge: str) -> bytes:
        """The sample file of a challenge."""
        return self._request("GET", _path("challenges", challenge, "sample"), repeat=True)

    def join(self, challenge: str, team: str = "", code: str = "") -> dict[str, Any]:
        """Join a challenge in a new team of this name, or in the team with this code."""
        return self._send_json("POST", _path("challenges", challenge, "team"), {"team": team, "code": code})

    def check(self, challenge: str, file: str | os.PathLike[str] | bytes) -> dict[str, Any]:
        """Check a file, by its path or content, as submitting it would; raises `RefusedError` with its problems."""
        content, query = _read_file(file)
        return _parse(self._upload(_path("challenges", challenge, "check", **query), content, repeat=True))

    def submit(
        self, challenge: str, file: str | os.PathLike[str] | bytes, *, note: str = "", key: str | None = None
    ) -> dict[str, Any]:
        """Submit a file, by its path or content; raises `RefusedError` with its problems, which costs nothing.

        With the same `key`, a repeated upload of the same file is one submission; by default the key is random.
        """
        content, query = _read_file(file)
        path = _path("challenges", challenge, "submissions", **query, note=note)
        headers = {"Idempotency-Key": key or secrets.token_urlsafe(16)}
        return _parse(self._upload(path, content, headers, repeat=True))

    def submission(self, key: str) -> dict[str, Any]:
        """A submission with its scores, or its problems."""
        return self._get("submissions", key)

    def wait(self, key: str, *, timeout: float = 3600.0) -> dict[str, Any]:
        """A submission once it is scored, with its intervals; raises `TallymarkError` after `timeout` seconds."""
        end, pause = time.monotonic() + timeout, 0.2
        while True:
            submission = self.submission(key)
            if not submission["pending"]:
                return submission
            if time.monotonic() >= end:
                raise TallymarkError(f"submission {key} is still {submission['state']} after {timeout:g} seconds")
            time.sleep(pause)
            pause = min(2 * pause, 5.0)

    def submissions(self, challenge: str) -> Iterator[dict[str, Any]]:
        """The submissions of one's own team, the newest first."""
        return self._items("challenges", challenge, "submissions")

    def leaderboard(self, challenge: str, part: str = "public") -> Iterator[dict[str, Any]]:
        """The entries of a leaderboard, the best first."""
        return self._items("challenges", challenge, "leaderboard", part=part)

    def select_finals(self, challenge: str, keys: Sequence[str]) -> dict[str, Any]:
        """Select the submissions that count in the private part, instead of those selected before."""
        return self._send_json(
            "PUT", _path("challenges", challenge, "finals"), {"submissions": list(keys)}, repeat=True
        )

    def create_challenge(self, fields: Mapping[str, str], answers: str | os.PathLike[str] | bytes) -> dict[str, Any]:
        """Create a challenge from the fields of its form and the answers, by their path or content."""
        content, query = _read_file(answers)
        boundary = secrets.token_hex(16)
        body = _multipart(boundary, fields, query.get("file_name", "answers.csv"), content)
        headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        return _parse(self._request("POST", _path("organise", "challenges"), body, headers))

    def settings(self, challenge: str) -> dict[str, Any]:
        """The settings of a challenge that one organises: its `fields`, its state and its versions."""
        return self._get("organise", "challenges", challenge)

    def edit_challenge(self, challenge: str, fields: Mapping[str, str]) -> dict[str, Any]:
        """Change some fields of a challenge; the settings afterwards."""
        return self._send_json("PATCH", _path("organise", "challenges", challenge), {"fields": dict(fields)})

    def replace_answers(self, challenge: str, answers: str | os.PathLike[str] | bytes) -> dict[str, Any]:
        """Replace the answers of a challenge, by their path or content; all submissions are scored again."""
        content, _ = _read_file(answers)
        return _parse(self._upload(_path("organise", "challenges", challenge, "answers"), content))

    def close(self, challenge: str) -> dict[str, Any]:
        """Close a challenge, which shows everybody the scores of the private part."""
        return _parse(self._request("POST", _path("organise", "challenges", challenge, "close")))

    def reopen(self, challenge: str) -> dict[str, Any]:
        """Open a closed challenge again."""
        return _parse(self._request("POST", _path("organise", "challenges", challenge, "reopen")))

    def answers(self, challenge: str, part: str = "public") -> bytes:
        """The answers of a part, public or private."""
        return self._request("GET", _path("organise", "challenges", challenge, "answers", part), repeat=True)

    def all_submissions(self, challenge: str) -> Iterator[dict[str, Any]]:
        """The submissions of all teams of a challenge that one organises, the newest first."""
        return self._items("organise", "challenges", challenge, "submissions")

    def _get(self, *parts: str, **query: str) -> dict[str, Any]:
        return _parse(self._request("GET", _path(*parts, **query), repeat=True))

    def _items(self, *parts: str, **query: str) -> Iterator[dict[str, Any]]:
        cursor: str | None = ""
        while cursor is not None:
            page = self._get(*parts, **query, limit="100", cursor=cursor)
            yield from page["items"]
            cursor = page["next"]

    def _send_json(self, method: str, path: str, content: Any, *, repeat: bool = False) -> dict[str, Any]:
        headers = {"Content-Type": "application/json"}
        return _parse(self._request(method, path, json.dumps(content).encode(), headers, repeat=repeat))

    def _upload(
        self, path: str, content: bytes, headers: Mapping[str, str] | None = None, *, repeat: bool = False
    ) -> bytes:
        headers = {"Content-Type": "application/octet-stream", **(headers or {})}
        return self._request("POST", path, content, headers, repeat=repeat)

    def _request(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        repeat: bool = False,
    ) -> bytes:
        """The body of the answer. A request that may be repeated is, until an answer comes."""
        request = urllib.request.Request(f"{self.server}/api/v1/{path}", body, dict(headers or {}), method=method)
        if self._token:
            request.add_unredirected_header("Authorization", f"Bearer {self._token}")
        for attempt in range(_ATTEMPTS):
            is_last = not repeat or attempt == _ATTEMPTS - 1
            try:
                with self._opener.open(request, timeout=self._timeout) as answer:
                    return bytes(answer.read())
            except HTTPError as error:
                with error:
                    if is_last or error.code not in _UNAVAILABLE:
                        raise self._refusal(error) from None
            except _LOST as error:
                if is_last:
                    reason = getattr(error, "reason", error)
                    raise TallymarkError(f"no answer from {self.server}: {reason}") from error
            time.sleep(0.5 * 2**attempt)
        raise AssertionError("the last attempt returns or raises")

    def _refusal(self, error: HTTPError) -> TallymarkError:
        if error.headers.get_content_type() != "application/problem+json":
            hint = "Check the address of the server"
            return TallymarkError(f"{self.server} answered {error.code} {error.reason}", hint=hint)
        problem = _parse(error.read())
        return RefusedError(str(problem.get("detail", error.reason)), error.code, problem)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirect, which could take the token to another server."""

    def redirect_request(self, *_: Any) -> None:
        """Nothing: the redirect becomes an error."""


def _check_server(server: str) -> str:
    """The address without a slash at its end; https, or http to this machine or a private address."""
    parts = urlsplit(server)
    host = parts.hostname or ""
    if parts.scheme not in ("http", "https") or not host or parts.username or parts.query or parts.fragment:
        hint = "Write it as https://scores.example.org"
        raise ParameterError(argument="server", expected="be the address of an app", got=repr(server), hint=hint)
    if parts.scheme == "http" and not _is_private(host):
        hint = "Anybody on the way could read the token"
        raise ParameterError(argument="server", expected="begin with https://", got=repr(server), hint=hint)
    return server.rstrip("/")


def _is_private(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return host == "localhost"


def _path(*parts: str, **query: str) -> str:
    """A path below /api/v1, with a query of what is not empty."""
    given = urlencode({name: value for name, value in query.items() if value})
    return "/".join(quote(part, safe="") for part in parts) + (f"?{given}" if given else "")


def _read_file(file: str | os.PathLike[str] | bytes) -> tuple[bytes, dict[str, str]]:
    """The content of a file, and its name for the query."""
    if isinstance(file, bytes):
        return file, {}
    return Path(file).read_bytes(), {"file_name": Path(file).name}


def _multipart(boundary: str, fields: Mapping[str, str], file_name: str, content: bytes) -> bytes:
    """A form with text fields and a file of answers."""
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{_quoted(name)}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    parts.append(
        f'--{boundary}\r\nContent-Disposition: form-data; name="answers"; filename="{_quoted(file_name)}"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n"
    )
    return "".join(parts).encode() + content + f"\r\n--{boundary}--\r\n".encode()


def _quoted(name: str) -> str:
    return name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")


def _parse(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise TallymarkError("the server answered with something that is not JSON", hint="Check its address")
    return found


def config_path() -> Path:
    """Where `tallymark login` keeps the server and the token."""
    if sys.platform == "win32":
        folder = Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    else:
        folder = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return folder / "tallymark" / "login.json"


def save_login(server: str, token: str) -> Path:
    """Keep the server and the token for later clients of this user, in a file that only they can read."""
    path = config_path()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            json.dump({"server": _check_server(server), "token": token}, file)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
    return path


def _read_login() -> _Login | None:
    """What `save_login` kept; raises for a file that others can read or write."""
    path = config_path()
    try:
        with path.open(encoding="utf-8") as file:
            facts = os.fstat(file.fileno())
            if sys.platform != "win32" and (facts.st_uid != os.getuid() or stat.S_IMODE(facts.st_mode) & 0o077):
                hint = f"Run: chmod 600 {path}. If others use this machine, revoke the token and create another"
                raise TallymarkError(f"`{path}` must be readable by you alone", hint=hint)
            found = json.load(file)
    except FileNotFoundError:
        return None
    except ValueError as error:
        if isinstance(error, TallymarkError):
            raise
        raise TallymarkError(f"`{path}` is damaged", hint="Run tallymark login again") from error
    if not isinstance(found, dict) or not all(isinstance(found.get(name), str) for name in _Login._fields):
        raise TallymarkError(f"`{path}` is damaged", hint="Run tallymark login again")
    return _Login(_check_server(found["server"]), found["token"])
