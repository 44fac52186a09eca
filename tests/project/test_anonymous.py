"""`run --anonymous`: no name and no path in the folder, and verify still checks what it can."""

import re
import shutil

import facebench
import pytest

pytest.importorskip("torch")
pytest.importorskip("facebench._full")
pytest.importorskip("h5py")
import forgeries
from facebench import io, protocols


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = forgeries.make(tmp_path_factory.mktemp("anonymous"))
    facebench.run(
        "lfw",
        model=folder / "model/model.safetensors",
        root=folder / "faces",
        out=folder / "hidden",
        replicates=20,
        anonymous=True,
        command="facebench run lfw --root /secret/place",
        **{"detector": "none", "crop": "paper", "crop_size": 32},
    )
    return folder


def test_no_name_and_no_path_is_in_the_folder(made):
    trials = protocols.read_trials("lfw", made / "faces")
    secret = {*trials.names, *trials.identity_names, str(made), "/secret/place"}
    for file in sorted((made / "hidden").rglob("*")):
        if file.is_file():
            data = file.read_bytes()
            found = [name for name in secret if name.encode() in data]
            assert not found, (file.name, found[:3])
    assert not (made / "hidden/pack.h5").exists()


def test_the_numbers_are_the_same(made):
    """Their file is the same to the byte."""
    open_run, hidden = (made / name / "metrics.json" for name in ("run", "hidden"))
    assert open_run.read_bytes() == hidden.read_bytes()
    names = io.read_embeddings(made / "hidden/embeddings.h5").names
    assert all(re.fullmatch("[0-9a-f]{32}", name) for name in names) and len(set(names)) > 1


def test_who_holds_the_lists_checks_them(made):
    checks = {c["name"]: c for c in facebench.verify(made / "hidden", made / "faces").checks}
    assert {name for name, c in checks.items() if c["same"] is False} == set()
    for name in ("comparisons from the lists", "images", "scores from embeddings.h5"):
        assert checks[name]["same"], checks[name]


def test_who_does_not_cannot(made):
    checks = {c["name"]: c for c in facebench.verify(made / "hidden").checks}
    assert {name for name, c in checks.items() if c["same"] is False} == set()
    for name in ("comparisons from the lists", "images"):
        assert checks[name]["same"] is None, checks[name]


def test_lists_of_other_people_differ(made, tmp_path):
    """One name of the lists written anew changes the key, and so all hashes."""
    shutil.copytree(made / "faces", tmp_path / "faces")
    trials = protocols.read_trials("lfw", made / "faces")
    person = trials.identity_names[0]
    for list_file in (tmp_path / "faces").rglob("*.txt"):
        list_file.write_text(list_file.read_text().replace(person, person + "x"))
    checks = facebench.verify(made / "hidden", tmp_path / "faces").checks
    assert any(c["name"] == "comparisons from the lists" and c["same"] is False for c in checks)
