"""Signatures in the format of minisign: of keys and signatures that another program made."""

import getpass
import shutil

import facebench
import numpy as np
import pytest
from facebench.analysis import _signatures

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
    folder = tmp_path_factory.mktemp("signed")
    (folder / "pairs.txt").write_text("2\t1\nA\t1\t2\nA\t1\tB\t1\nC\t1\t2\nC\t1\tD\t1\n")
    facebench.evaluate(
        "lfw", scores=np.linspace(1, 0, 4), root=folder, interval="none", out=folder / "run"
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
