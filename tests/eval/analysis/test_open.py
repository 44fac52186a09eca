"""A folder of runs in the browser: the index, and what is not given out."""

import http.client
import os
import re
import signal
import subprocess
import sys
from urllib.parse import urlsplit

import facebench
import pytest


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    around = tmp_path_factory.mktemp("around")
    folder = around / "runs"
    (around / "secret.txt").write_text("not yours")
    (around / "runs-of-others").mkdir()
    (around / "runs-of-others" / "x.html").write_text("not yours")
    text = "2\t1\nAnn\t1\t2\nAnn\t1\tBob\t1\nCat\t1\t2\nCat\t1\tDan\t1\n"
    (around / "pairs.txt").write_text(text)
    for name, last in (("good", 0.2), ("group/weak & <b>", 0.95)):
        scores = [0.9, 0.1, 0.8, last]
        facebench.evaluate("lfw", scores=scores, root=around, out=folder / name, interval="none")
    (folder / "page.html").write_text("<p>a page")
    (folder / ".hidden").write_text("not yours")
    (folder / "out").symlink_to(around)
    (folder / "secret.html").symlink_to(around / "secret.txt")
    (folder / "broken").mkdir()
    (folder / "broken" / "run.json").write_text("{}")
    os.mkfifo(folder / "fifo.html")
    return folder


@pytest.fixture(scope="module")
def server(folder):
    with facebench.serve(folder) as server:
        yield server


def asked(server, path, method="GET", host=None):
    """The status and the text of an answer; ``path`` as it is, below the address."""
    address = urlsplit(server.address)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=20)
    headers = {"Host": host} if host else {}
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    return answer.status, answer.read().decode(), answer.headers


def below(server, name=""):
    return urlsplit(server.address).path + name


def test_the_index_lists_runs_and_leads_to_their_pages(server):
    status, page, headers = asked(server, below(server))
    assert status == 200 and headers["Content-Type"] == "text/html; charset=utf-8"
    for part in ("good", "group/weak &amp; &lt;b&gt;", "LFW View 2", ">100.00<", "page.html"):
        assert part in page
    assert "broken: " in page and "secret" not in page
    links = re.findall(r'href="([^"]+)"', page)
    assert "good/report.html" in links
    for link in links:
        status, text, _ = asked(server, below(server, link))
        assert status == 200 and text.startswith(("<!doctype html>", "<p>a page"))
    assert asked(server, below(server, "good"))[0] == 200
    assert asked(server, below(server, "good/report.md"))[2]["Content-Type"].startswith("text/pl")


def test_a_run_alone_can_be_opened_and_new_runs_are_seen(folder, tmp_path):
    with facebench.serve(folder / "good") as alone:
        assert 'href="report.html"' in asked(alone, below(alone))[1]
    with facebench.serve(tmp_path) as empty:
        assert "No run is in this folder" in asked(empty, below(empty))[1]
        (tmp_path / "good").symlink_to(folder / "good")
        os.rename(tmp_path / "good", tmp_path / "link")
        os.unlink(tmp_path / "link")
        os.mkdir(tmp_path / "new")
        for name in ("run.json", "metrics.json", "scores.h5", "curves.json"):
            (tmp_path / "new" / name).write_bytes((folder / "good" / name).read_bytes())
        assert "100.00" in asked(empty, below(empty))[1]


@pytest.mark.parametrize(
    "name",
    ["../secret.txt", "..%2fsecret.txt", "%2e%2e/secret.txt", "good/../../secret.txt",
     "good/%2e%2e/%2e%2e/secret.txt", "..%252fsecret.txt", "/etc/passwd", "%2fetc%2fpasswd",
     "out/secret.txt", "secret.html", "../runs-of-others/x.html", ".hidden", "good/./report.html",
     "good//report.html", "..\\secret.txt", "good%00/report.html", "nothing", "fifo.html",
     "%ff%fe", "a" * 5000],
)  # fmt: skip
def test_nothing_outside_of_the_folder_is_given_out(server, name):
    status, text, _ = asked(server, below(server, name))
    assert status in (403, 404) and "not yours" not in text and "root:" not in text


def test_nothing_is_given_to_who_has_no_token_or_another_name_for_us(server):
    address = urlsplit(server.address)
    token = address.path.strip("/")
    assert len(token) >= 20 and address.hostname == "127.0.0.1"
    for path in ("/", "/good/report.html", f"/{token[:-1]}/", f"/{token}x/", f"/x/{token}/"):
        assert asked(server, path)[0] == 403
    assert asked(server, below(server), host="evil.example")[0] == 403
    assert asked(server, below(server), host=f"localhost:{address.port}")[0] == 200
    with facebench.serve(server.folder) as other:
        assert urlsplit(other.address).path != address.path


def test_it_is_read_only_and_pages_may_ask_nobody(server):
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        assert asked(server, below(server, "page.html"), method)[0] == 501
    status, text, headers = asked(server, below(server, "page.html"), "HEAD")
    assert status == 200 and text == ""
    assert headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"


def test_ctrl_c_ends_the_command(folder):
    command = [sys.executable, "-m", "facebench", "open", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        address = process.stdout.readline().decode().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]+/", address)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        assert process.stderr.read() == b""


def test_what_cannot_be_served_is_said(tmp_path):
    with pytest.raises(facebench.Error, match="no such folder; give a folder of runs"):
        facebench.serve(tmp_path / "nowhere")
    with facebench.serve(tmp_path) as first:
        port = urlsplit(first.address).port
        with pytest.raises(facebench.Error, match=f"port {port} cannot be had"):
            facebench.serve(tmp_path, port=port)
