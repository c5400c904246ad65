"""The scripts of the app behind a small server: a page with a form, and what it is answered."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import tallymark.app

STATIC = Path(tallymark.app.__file__).parent / "static"
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
PAGE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<link rel="icon" href="data:,"></head><body><main>
<h1>{title}</h1>
<form data-send="Checking …" data-most="{most}" action="/send" method="post" enctype="multipart/form-data">
<div data-drop><label for="file">The file</label> <input type="file" id="file" name="file" required></div>
<button>Check</button> <progress aria-label="Sent" hidden></progress>
<p data-status role="status"></p>
</form>
<script type="module" src="/static/upload.js"></script>
</main></body></html>"""
MOST = 20_000_000  # bytes of a file
# Drops a file on the zone around the field of a form.
DROP = """([name, text]) => {
    const held = new DataTransfer();
    held.items.add(new File([text], name));
    const zone = document.querySelector("[data-drop]");
    for (const kind of ["dragenter", "dragover", "drop"]) {
        zone.dispatchEvent(new DragEvent(kind, { dataTransfer: held, bubbles: true, cancelable: true }));
    }
}"""


class Site(ThreadingHTTPServer):
    """A form at /; what is sent is kept, and answered once `answering` is set.

    A file with the word "refuse" in it is answered with a page, one with the word "plain" with a plain text, any other
    with the way to /result.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.sent: list[bytes] = []
        self.answering = threading.Event()
        self.answering.set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Answer(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        if self.path.startswith("/static/"):
            self._answer(200, "text/javascript", (STATIC / Path(self.path).name).read_text())
        else:
            title = {"/": "Send a file", "/result": "The result"}[self.path]
            self._answer(200, "text/html; charset=utf-8", PAGE.format(title=title, most=MOST))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.sent.append(body)
        self.server.answering.wait(30)
        if b"refuse" in body:
            page = PAGE.format(title="The file was rejected", most=MOST)
            self._answer(422, "text/html; charset=utf-8", page)
        elif b"plain" in body:
            self._answer(413, "text/plain", "too much")
        else:
            self._answer(303, "text/html", "", Location="/result")

    def _answer(self, status: int, kind: str, text: str, **headers: str) -> None:
        content = text.encode()
        self.send_response(status)
        about = {
            "Content-Type": kind,
            "Content-Length": str(len(content)),
            "Content-Security-Policy": CONTENT_SECURITY_POLICY,
        }
        for name, value in {**about, **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


@contextmanager
def serving() -> Iterator[Site]:
    """The site while it answers."""
    site = Site()
    thread = threading.Thread(target=site.serve_forever)
    thread.start()
    try:
        yield site
    finally:
        site.answering.set()
        site.shutdown()
        thread.join()
        site.server_close()
