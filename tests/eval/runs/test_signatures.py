"""Signatures in the format of minisign: of keys and signatures that another program made."""

import getpass
import json
import shutil

import facebench
import numpy as np
import pytest
from facebench import io, protocols
from facebench.analysis import _signatures
from facebench.reports.results import write_run_pages

# Made by py-minisign 0.21.1, the second under the password "secret"; of nobody.
SECRET = (
    "RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAj9fBNMui"
    "kweJTSRbO/FXwLFCBK8fJ2CJYTvGAmEtzvauNxa1jVJkntzJUGo7JId2b23lb07ctzJr2Ok9tVf0S7aX"
    "0SWwuR5moHhlT2pB+MIqGi/AWSdRDeQ/mzFAYbUjhovhHkEXytg="
)
ENCRYPTED = (
    "RWRTY0IywSAgVHXhHTcjCduFnwj9zMicoREuwV+4OaguP0/6e3wAABAAAAAAAAAAAAIAAAAAs9rl3/M2"
    "dYw660jvbRykxAwIGiue0p1f9vyZ1Dd+7cES4SJVZsWCgeDsjOVh8FrRx3zZZvlZb8dnkCc7ZEDxvGZM"
    "D+XD4BsN7fP4xL21sB5TCNYiIeyGZsth0hLBnLAOrhBsrvyaKgY="
)
PUBLIC = "RWSP18E0y6KTB9zJUGo7JId2b23lb07ctzJr2Ok9tVf0S7aX0SWwuR5m"
# Its signatures of "hello\n": of the hash, and of the text itself, as early versions had it.
SIGNED = [
    "RUSP18E0y6KTB9zgo1kkjfyK0GTfBMqBWGUov05w+jGktk2OFA9DahLfiYpc1hzqdr/Wo1YDEQ895T+x"
    "1wMNfsVvNBF08OKGRwI=",
    "trusted comment: timestamp:1795583432",
    "NEnI9O1of/Z4i1zjwhu7Ev8JNT1lCl6qnMKydVha9owsbMc5LSzt31sBdQ0DeOBh76VfkTzO8Koasts4E/yVBA==",
]
SIGNED_UNHASHED = (
    "RWSP18E0y6KTBycZ4/0v3ohoFAYM/ZsoXvz6jG6Kyf+s10KeKqeaP7Ocli7xNejagcIxMlZ3MeyJxl0U"
    "zjSyH+MkrlOTtR/HVQ4="
)


def key_file(path, line):
    path.write_text(f"untrusted comment: a key\n{line}\n")
    return path


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A run of which all can be checked: its embeddings lie where they were read."""
    folder = tmp_path_factory.mktemp("signed")
    (folder / "pairs.txt").write_text("2\t1\nA\t1\t2\nA\t1\tB\t1\nC\t1\t2\nC\t1\tD\t1\n")
    names = protocols.read_trials("lfw", folder).names
    values = np.random.default_rng(0).normal(size=(len(names), 4)).astype("f4")
    io.write_embeddings(folder / "e.h5", io.EmbeddingSet(values, names))
    facebench.evaluate(
        "lfw",
        embeddings=folder / "e.h5",
        root=folder,
        interval="none",
        out=folder / "run",
    )
    return folder / "run"


@pytest.fixture
def run(saved, tmp_path):
    return shutil.copytree(saved, tmp_path / "run")


def test_signatures_of_another_program(tmp_path):
    (tmp_path / "run.json").write_text("hello\n")
    text = ["untrusted comment: x", *SIGNED, ""]
    file = tmp_path / _signatures.SIGNATURE
    file.write_text("\n".join(text))
    same, said = _signatures.check(tmp_path, PUBLIC)
    assert same and said.startswith("by the key 0793A2CB34C1D78F: timestamp")
    assert _signatures.check(tmp_path, key_file(tmp_path / "k.pub", PUBLIC))[0]
    (tmp_path / "run.json").write_text("hello!\n")
    said = f"{file}: is not of this run.json, or not by this key"
    assert _signatures.check(tmp_path, PUBLIC) == (False, said)
    (tmp_path / "run.json").write_text("hello\n")
    file.write_text("\n".join([*text[:2], text[2].replace(":1", ":2"), *text[3:]]))
    assert _signatures.check(tmp_path, PUBLIC) == (False, said)
    file.write_text("\n".join([text[0], SIGNED_UNHASHED, *text[2:]]))
    assert "without a hash" in _signatures.check(tmp_path, PUBLIC)[1]


@pytest.mark.parametrize("line", [SECRET, ENCRYPTED])
def test_a_run_is_signed_and_the_signature_holds(run, tmp_path, monkeypatch, line):
    monkeypatch.setattr(getpass, "getpass", lambda _: "secret")
    found = facebench.verify(run, sign=key_file(tmp_path / "key", line))
    assert found.signature == run / _signatures.SIGNATURE and "signed: " in str(found)
    again = facebench.verify(run, signed_by=PUBLIC)
    assert {c["name"]: c["same"] for c in again.checks}["signature"]
    assert again.same
    # Without the key the signature is named, not believed.
    assert _signatures.SIGNATURE in facebench.verify(run).unchecked
    (run / "run.json").write_bytes((run / "run.json").read_bytes() + b"\n")
    assert not facebench.verify(run, signed_by=PUBLIC).same


def test_what_differs_is_not_signed(run, tmp_path):
    (run / "report.md").write_text("Accuracy 100 %")
    found = facebench.verify(run, sign=key_file(tmp_path / "key", SECRET))
    assert not found.same and found.signature is None
    assert not (run / _signatures.SIGNATURE).exists()


def test_a_run_without_a_signature(run):
    found = facebench.verify(run, signed_by=PUBLIC)
    assert not found.same and "signature" in str(found)


@pytest.mark.parametrize("line", ["", "AAAA", SECRET[:-8], "XX" + SECRET[2:], "é" * 40])
def test_what_is_no_key(run, tmp_path, line):
    path = key_file(tmp_path / "key", line)
    with pytest.raises(facebench.Error, match="key"):
        _signatures.sign(run, path)
    with pytest.raises(facebench.Error, match="key"):
        _signatures.check(run, path)


def test_another_password(run, tmp_path, monkeypatch):
    monkeypatch.setattr(getpass, "getpass", lambda _: "geheim")
    with pytest.raises(facebench.Error, match="the password is another one"):
        _signatures.sign(run, key_file(tmp_path / "key", ENCRYPTED))


# --- what a signature is of -----------------------------------------------------------------------


def signed(run, tmp_path):
    facebench.verify(run, sign=key_file(tmp_path / "key", SECRET))
    found = facebench.verify(run, signed_by=PUBLIC)
    assert found.verdict == "same", str(found)
    return run


def signature_of(run):
    (check,) = [
        c for c in facebench.verify(run, signed_by=PUBLIC).checks if c["name"] == "signature"
    ]
    return check["same"], check["detail"]


def given_scores(saved, tmp_path):
    """Another run of the same list."""
    out = tmp_path / "given"
    facebench.evaluate(
        "lfw", scores=np.linspace(1, 0, 4), root=saved.parent, interval="none", out=out
    )
    return out


def rewritten(run):
    """The circumstance is not of the content: a run.json of the same numbers."""
    document = json.loads((run / "run.json").read_text())
    document["circumstance"]["host"] = "elsewhere"
    text = io.canonical_json(document["circumstance"]).encode()
    document["circumstance_sha256"] = io.sha256_hex(text)
    (run / "run.json").write_text(json.dumps(document))
    write_run_pages(run)


def older_statement(run, key):
    """Signs as facebench did before, and as minisign does: run.json alone."""
    _signatures.sign(run, key, stated={})


ATTACKS = {
    "moved to another run": lambda run, other, key: shutil.copy(
        run / _signatures.SIGNATURE, other / _signatures.SIGNATURE
    ),
    "another page": lambda run, other, key: (run / "report.md").write_text("99.75 %"),
    "the page of another run": lambda run, other, key: shutil.copy(
        other / "report.html", run / "report.html"
    ),
    "a page is gone": lambda run, other, key: (run / "report.html").unlink(),
    "a file more": lambda run, other, key: (run / "certificate.md").write_text("ours"),
    "other scores": lambda run, other, key: shutil.copy(other / "scores.h5", run / "scores.h5"),
    "another circumstance": lambda run, other, key: rewritten(run),
    "signed as run.json alone": lambda run, other, key: older_statement(run, key),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_a_signature_is_of_these_files(run, saved, tmp_path, name):
    signed(run, tmp_path)
    other = given_scores(saved, tmp_path)
    ATTACKS[name](run, other, tmp_path / "key")
    moved = other if name == "moved to another run" else run
    same, said = signature_of(moved)
    assert same is False, said


def test_a_folder_that_was_moved_keeps_its_signature(run, tmp_path):
    signed(run, tmp_path)
    run.rename(tmp_path / "elsewhere")
    assert signature_of(tmp_path / "elsewhere")[0] is True


def test_what_was_not_checked_is_not_signed(saved, tmp_path):
    run = given_scores(saved, tmp_path)
    found = facebench.verify(run, sign=key_file(tmp_path / "key", SECRET))
    assert found.verdict == "unchecked" and found.signature is None
    assert "not signed: only what was checked" in str(found)
    _signatures.sign(run, tmp_path / "key")
    again = facebench.verify(run, signed_by=PUBLIC)
    assert again.verdict == "unchecked" and again.same


def test_a_password_without_a_terminal(run, tmp_path, monkeypatch):
    def nobody(_):
        raise EOFError

    monkeypatch.setattr(getpass, "getpass", nobody)
    with pytest.raises(facebench.Error, match="no terminal to ask"):
        _signatures.sign(run, key_file(tmp_path / "key", ENCRYPTED))
