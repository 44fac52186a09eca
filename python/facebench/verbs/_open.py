"""A folder of runs as pages in a browser: an index, and what lies in the folder."""

import hmac
import mimetypes
import os
import secrets
import threading
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from facebench import _eval
from facebench.analysis.headlines import headline
from facebench.analysis.runs import model_name, read_run
from facebench.core import Error
from facebench.core._arguments import of_kind
from facebench.core._files import open_file
from facebench.reports.page import Cell, Section, report_html, table_block, text

_DEPTH = 4  # of folders below the folder that are looked through for runs
_LOOPBACK = "127.0.0.1"
# What a page may do: show itself and pictures beside it, and ask nobody for anything.
_POLICY = (
    "default-src 'none'; img-src 'self' data: blob:; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def serve(folder, port=0):
    """Serve a folder of runs to this machine's browsers, read only: a `RunServer`.

    Its index lists every run with its model, protocol, number and date, and leads to their pages.
    It listens on the loopback alone, at an address with a token that is new each time, and gives
    out nothing that lies outside of the folder. ``port``: 0 takes one that is free. facebench.Error
    where there is no such folder.

    >>> import tempfile, urllib.request
    >>> from facebench import serve
    >>> with serve(tempfile.mkdtemp()) as server:
    ...     page = urllib.request.urlopen(server.address).read().decode()
    >>> "No run is in this folder" in page
    True
    """
    return RunServer(folder, port)


class RunServer:
    """What `serve` gives: ``address``, where the index is. It serves until `close`, or as a context
    until its end; `wait` waits for Ctrl-C."""

    def __init__(self, folder, port=0):
        self.folder = Path(os.fspath(folder))
        if not self.folder.is_dir():
            raise Error(f"{self.folder}: no such folder; give a folder of runs")
        token = secrets.token_urlsafe(16)
        handler: Any = type(
            "Handler", (_Handler,), {"folder": self.folder.resolve(), "token": token}
        )
        try:
            self._server = ThreadingHTTPServer((_LOOPBACK, of_kind(port, int, "port")), handler)
        except OSError as error:
            raise Error(
                f"port {port} cannot be had ({error.strerror}); leave it away for a free one"
            ) from None
        self._server.daemon_threads = True
        handler.port = self._server.server_port
        self.address = f"http://{_LOOPBACK}:{self._server.server_port}/{token}/"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def wait(self):
        """Serve until Ctrl-C."""
        with suppress(KeyboardInterrupt):
            self._thread.join()

    def close(self):
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _file_below(folder, name):
    """The file of that name below a folder, of a run its page; None where there is none."""
    parts = name.rstrip("/").split("/")
    if "\\" in name or "\0" in name or any(p in ("", "..") or p[0] == "." for p in parts):
        return None
    try:
        path = (folder / Path(*parts)).resolve(strict=True)
    except (OSError, ValueError):
        return None
    if not path.is_relative_to(folder):  # a link that leads out
        return None
    if path.is_dir():
        path = path / "report.html"
    # A FIFO or a device would never end.
    inside = path.resolve().is_relative_to(folder)
    return path if inside and path.is_file() else None


class _Handler(BaseHTTPRequestHandler):
    """GET and HEAD of the index and of files below ``folder``."""

    folder: Path
    token: str
    port = 0
    server_version, sys_version = "facebench", ""

    def do_GET(self):
        self._answer(body=True)

    def do_HEAD(self):
        self._answer(body=False)

    def log_message(self, *_):
        """Nothing: addresses hold the token."""

    def _answer(self, body):
        # Another name that leads to the loopback is a page elsewhere that tries its luck.
        port = self.port
        if self.headers.get("Host") not in (f"{_LOOPBACK}:{port}", f"localhost:{port}"):
            return self._send(HTTPStatus.FORBIDDEN, b"not this machine's own address")
        path = urlsplit(self.path).path
        token, _, rest = path.removeprefix("/").partition("/")
        if not hmac.compare_digest(token.encode(), self.token.encode()):
            return self._send(HTTPStatus.FORBIDDEN, b"the address needs its token")
        if rest == "":
            return self._send(HTTPStatus.OK, index_page(self.folder).encode(), "text/html", body)
        file = _file_below(self.folder, unquote(rest))
        if file is None:
            return self._send(HTTPStatus.NOT_FOUND, b"no such file in the folder of runs")
        return self._send_file(file, body)

    def _send_file(self, path, body):
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        if path.suffix in (".md", ".csv", ".toml", ".tex"):
            kind = "text/plain"
        try:
            with open_file(path) as file:
                self._head(HTTPStatus.OK, kind, os.fstat(file.fileno()).st_size)
                while body and (part := file.read(1 << 20)):
                    self.wfile.write(part)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the browser has seen enough
        except (Error, OSError):
            self._send(HTTPStatus.NOT_FOUND, b"this file cannot be read")

    def _send(self, status, content, kind="text/plain", body=True):
        self._head(status, kind, len(content))
        if body:
            self.wfile.write(content)

    def _head(self, status, kind, length):
        self.send_response(status)
        text_kind = kind.startswith("text/") or kind == "application/json"
        headers = {
            "Content-Type": f"{kind}; charset=utf-8" if text_kind else kind,
            "Content-Length": str(length),
            "Content-Security-Policy": _POLICY,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store",
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()


def _found(folder):
    """The run folders below a folder, and the other pages, as paths below it."""
    runs, pages = [], []
    for at, folders, files in os.walk(folder):
        below = Path(at).relative_to(folder)
        folders[:] = sorted(f for f in folders if f[0] != "." and len(below.parts) < _DEPTH)
        if "run.json" in files:
            runs.append(below)
            folders.clear()
            files = [f for f in files if f != "report.html"]
        pages += [below / f for f in sorted(files) if f.endswith((".html", ".htm"))]
    return runs, [page for page in pages if _file_below(folder, str(page)) is not None]


def index_page(folder):
    """The page of a folder: its runs, newest first, and its other pages."""
    runs, pages = _found(folder)
    rows, unread = [], []
    for below in runs:
        try:
            rows.append((_day(run := read_run(folder / below)), _row(folder, below, run)))
        except (Error, ValueError, TypeError, KeyError, AttributeError) as error:
            # Another kind of folder, or a file that was altered: one of many must not end all.
            unread.append(f"{below}: {error}")
    rows.sort(key=lambda row: row[0], reverse=True)
    columns = ["run", "model", "protocol", "what", "%", "date"]
    sections = [Section("Runs", [table_block(columns, [r for _, r in rows], sortable=True)])]
    if not rows:
        sections = [Section("Runs", [text("No run is in this folder.")])]
    if unread:
        one = [[reason.replace(str(folder), ".")] for reason in unread]
        sections.append(Section("Not read", [table_block(["folder and reason"], one)]))
    if pages:
        links = [[Cell(str(page), href=quote(str(page)))] for page in pages]
        sections.append(Section("Other pages", [table_block(["page"], links)]))
    return report_html(folder.name or str(folder), sections, f"{len(rows)} runs")


def _day(run):
    return str(run["circumstance"].get("started", ""))[:16].replace("T", " ")


def _row(folder, below, run):
    _, metric, cell = headline(run["metrics"])
    name = folder.name if below == Path() else str(below)
    page = below / "report.html"
    href = quote(str(page)) if (folder / page).is_file() else ""
    base = metric.partition("[")[0]
    number = Cell("–")
    if cell is not None and cell["value"] is not None:
        ends = [_eval.metric_text(base, e) for e in cell["interval"] or () if e is not None]
        value = _eval.metric_text(base, cell["value"])
        number = Cell(value, " – ".join(ends), sort=cell["value"])
    model = model_name(run["content"]) or "–"
    protocol = run["content"]["protocol"]["title"]
    return [Cell(name, href=href), model, protocol, _eval.metric_title(base), number, _day(run)]
