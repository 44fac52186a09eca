"""Libraries of NIST's FRTE 1:1 as models: one that is made here (tests/support/frte_library.cc)
against its arithmetic in numpy, and what bad ones may not do."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import facebench
import numpy as np
import pytest
from facebench.pipeline import FrteLibrary
from PIL import Image

SOURCE = Path(__file__).parents[2] / "support" / "frte_library.cc"
SIDE = 12

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("c++") is None, reason="needs Linux and a compiler"
)


def build(folder, version, *defines):
    path = folder / f"libfrte_11_corr_00{version}.so"
    command = ["c++", "-std=c++17", "-O1", "-shared", "-fPIC", f"-DVERSION={version}", *defines]
    subprocess.run([*command, SOURCE, "-o", path], check=True)
    return path


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return build(tmp_path_factory.mktemp("lib"), 6)


@pytest.fixture(scope="module")
def faces(tmp_path_factory):
    """Six people, three photographs each: a pattern of the person's, and noise."""
    random, root = np.random.default_rng(7), tmp_path_factory.mktemp("faces")
    for person in range(6):
        pattern = random.integers(0, 256, (6, 6, 3)).repeat(8, 0).repeat(7, 1)
        (root / f"p{person}").mkdir()
        for k in range(3):
            picture = np.clip(pattern + random.normal(0, 300, pattern.shape), 0, 255)
            picture[0, 0] = (k == 1) + 2 * (person % 2)  # red is odd of the second photograph
            Image.fromarray(picture.astype(np.uint8)).save(root / f"p{person}" / f"{k}.png")
    return root


@pytest.fixture
def faulty(tmp_path, library):
    """The library with a fault, as its configuration says."""

    def make(fault, **limits):
        (tmp_path / "config").mkdir(exist_ok=True)
        (tmp_path / "config" / "fault").write_text(fault)
        return FrteLibrary(library, config=tmp_path / "config", **limits)

    return make


def run(root, model, **options):
    with pytest.warns(UserWarning, match="its code is run"):
        return facebench.run(
            "folders", model=model, root=root, interval="none", threads=2, **options
        )


def correlation(a, b):
    """What the library computes, of two files."""

    def cells(path):
        pixels = np.asarray(Image.open(path).convert("RGB"), float).sum(2)
        rows = np.arange(pixels.shape[0]) * SIDE // pixels.shape[0]
        columns = np.arange(pixels.shape[1]) * SIDE // pixels.shape[1]
        return [
            pixels[np.ix_(rows == y, columns == x)].mean() for y in range(SIDE) for x in range(SIDE)
        ]

    return 1 + np.corrcoef(cells(a), cells(b))[0, 1]


def pairs_of(root):
    names = sorted(f"{p.parent.name}/{p.name}" for p in root.rglob("*.png"))
    return [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]


def test_scores_are_those_of_the_library(library, faces, tmp_path):
    result = run(faces, library, out=tmp_path / "run")
    scores, labels = result._raw.labelled_scores(0)
    expected = [correlation(faces / a, faces / b) for a, b in pairs_of(faces)]
    np.testing.assert_allclose(np.sort(scores), np.sort(expected), atol=1e-6)
    genuine = np.array([a[:2] == b[:2] for a, b in pairs_of(faces)])
    assert labels.sum() == genuine.sum() == 18
    above = np.array(expected)[genuine][:, None] > np.array(expected)[~genuine]
    assert result["auc"].value == pytest.approx(above.mean(), abs=1e-9)
    assert 0.7 < above.mean() < 1
    said = json.loads((tmp_path / "run" / "run.json").read_text())["content"]
    assert said["score"] == "given" and said["matcher"]["name"] == "corr_006"
    assert said["matcher"]["sha256"] == facebench.io.sha256_file(library)
    assert said["matcher"]["interface"] == "6.0" and said["matcher"]["structures"] == "3.1"
    assert "corr_006" in (tmp_path / "run" / "report.md").read_text()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run"]


@pytest.mark.parametrize("version", [4, 5])
def test_older_interfaces_give_the_same(version, library, faces, tmp_path):
    older = run(faces, build(tmp_path, version))
    np.testing.assert_array_equal(
        older._raw.labelled_scores(0)[0], run(faces, library)._raw.labelled_scores(0)[0]
    )


def test_names_of_files(tmp_path, library):
    for name, said in [
        ("libfrte_11_acme_003.so", "acme_003"),
        ("libfrvt_11_acme_x_012.so", "acme_x_012"),
        ("libfrvt11_null_001_cpu.so", "null_001_cpu"),
        ("mine.so", "mine"),
    ]:
        shutil.copy(library, tmp_path / name)
        assert FrteLibrary(tmp_path / name).name == said


def test_a_protocol_with_lists_is_verified(library, tmp_path):
    few = facebench.datasets.SyntheticOptions(people=40, images=2, size=64, pairs_per_fold=4)
    root, out = tmp_path / "data", tmp_path / "run"
    facebench.datasets.write_synthetic_dataset(few, root)
    with pytest.warns(UserWarning, match="its code is run"):
        facebench.run("lfw", model=library, root=root, out=out, replicates=50, threads=1)
    checks = {c["name"]: c for c in facebench.verify(out, root).checks}
    assert not [c for c in checks.values() if c["same"] is False]
    assert "--again" in checks["scores from embeddings"]["detail"]
    again = facebench.verify(out, root, again=5).checks[-1]
    assert again["same"] is None and "only where you name it" in again["detail"]
    again = facebench.verify(out, root, again=5, model=library).checks[-1]
    assert again["same"] is True and again["detail"].startswith("5 scores")


def test_another_library_is_not_the_runs(library, faces, tmp_path):
    run(faces, library, out=tmp_path / "run")
    other = tmp_path / "libfrte_11_corr_007.so"
    other.write_bytes(library.read_bytes() + b"\0")
    again = facebench.verify(tmp_path / "run", faces, again=3, model=str(other)).checks[-1]
    assert again["same"] is False and "another sha256" in again["detail"]
    again = facebench.verify(tmp_path / "run", faces, again=3, model=str(library)).checks[-1]
    assert again["same"] is True, again


def test_templates_are_kept_by_content(library, faulty, faces, tmp_path):
    cache = tmp_path / "cache"
    first, second = (run(faces, library, cache=cache) for _ in range(2))
    assert (first.reused, second.reused) == ([], ["templates"])
    assert first.to_dict() == second.to_dict()
    assert run(faces, faulty("none"), cache=cache).reused == []  # another configuration
    files = sorted((cache / "templates").iterdir())
    assert len(files) == 2
    for file in files:
        file.write_bytes(file.read_bytes()[:-1] + b"x")
    assert run(faces, library, cache=cache).reused == []
    assert run(faces, library, cache=cache).to_dict() == first.to_dict()


def test_failures_are_values(faulty, faces, tmp_path):
    result = run(faces, faulty("no_face"))
    track = result.tracks["verification"]
    assert track.failure_to_enrol_rate == pytest.approx(12 / 18)
    assert {str(status).rpartition(".")[2] for _, status in track.failed} == {"no_face"}
    assert "FaceDetectionError" in " ".join(result.notes)
    result = run(faces, faulty("refuse"))
    assert result.all_failed and "RefuseInput" in " ".join(result.notes)
    shutil.copytree(faces, tmp_path / "some")
    (tmp_path / "some/p1/1.png").write_bytes(b"\x89PNG\r\n\x1a\nno picture")
    track = run(tmp_path / "some", faulty("none")).tracks["verification"]
    assert [name for name, _ in track.failed] == ["p1/1.png"]


def test_failed_comparisons_have_the_interfaces_score(faulty, faces):
    result = run(faces, faulty("match"))
    assert set(result._raw.labelled_scores(0)[0]) == {-1.0}
    assert any(
        "225 of 225 comparisons failed" in n and "UnknownError 225" in n for n in result.notes
    )


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("crash", r"ended with SIGSEGV while it made the template of p\d/\d.png"),
        ("abort", "ended with SIGABRT while it made the template of"),
        ("exit", "ended with exit code 0 while it made the template of"),
        ("hang", "did not answer within 1 s while it made the template of .*--set seconds="),
        ("hang_at_once", "did not answer within .* while it was loaded and initialised"),
        ("throw", r"throws an exception: no such \\x1b\[31mlayer \(while it made the template"),
        ("memory", "takes more memory than 512 MiB; give it more: --set memory"),
        ("initialize", r'its initialize\("/.*"\) returned ConfigError \(2\): no model file'),
        ("nan", r"gives the similarity nan of p\d/\d.png with p\d/\d.png"),
        ("match_crash", r"ended with SIGSEGV while it compared p\d/\d.png with p\d/\d.png"),
        ("match_throw", r"throws an exception of its own \(while it compared p\d/\d.png with"),
    ],
)
def test_bad_libraries_end_in_one_sentence(fault, says, faulty, faces, tmp_path, monkeypatch):
    monkeypatch.setattr("facebench._frte.process._START", 2.0)
    limits = {"seconds": 1.0 if fault.startswith("hang") else 30.0, "memory": 512 << 20}
    with pytest.raises(facebench.Error, match=says) as caught:
        run(faces, faulty(fault, **limits), out=tmp_path / "run", cache=tmp_path / "cache")
    assert "\n" not in str(caught.value) and "\x1b" not in str(caught.value)
    assert not (tmp_path / "run").exists()
    left = [p for p in (tmp_path / "cache").rglob("*") if p.is_file()]
    assert all("-" in p.name and not p.name.startswith(".") for p in left)


@pytest.mark.parametrize(
    ("fault", "tried"),
    [
        ("write", "write a file"),
        ("append", "write a file"),
        ("remove", "remove a file"),
        ("folder", "make a folder"),
        ("socket", "open a socket"),
        ("signal", "send a signal"),
    ],
)
def test_what_a_library_may_not_do(fault, tried, faulty, faces, tmp_path):
    there = tmp_path / "there"
    there.write_text("kept")
    place = there if fault in ("append", "remove") else tmp_path / "new"
    with pytest.warns(UserWarning, match=rf"was refused: .*{tried} \(\d+\)"):
        result = run(faces, faulty(f"{fault} {place}"))
    assert not result.all_failed
    assert there.read_text() == "kept" and not (tmp_path / "new").exists()


@pytest.mark.parametrize("fault", ["prints", "thread", "environment", "program", "fork"])
def test_a_library_goes_on(fault, faulty, faces, capfd):
    assert not run(faces, faulty(fault)).all_failed
    assert "x" * 100 not in capfd.readouterr().out


def test_what_is_not_a_library(tmp_path, faces, library):
    def refused(says):
        with (
            pytest.raises(facebench.Error, match=says),
            pytest.warns(UserWarning, match="its code is run"),
        ):
            facebench.run("folders", model=path, root=faces, threads=1)

    path = build(tmp_path, 6, "-DWITHOUT_SYMBOL")
    refused("cannot be loaded: .*getImplementation|has no FRVT_11::Interface::getImplementation")
    path = build(tmp_path, 7)
    refused(r"is of interface 9.0 with structures 3.1; known are interfaces 4, 5 and 6")
    subprocess.run(["c++", "-shared", "-x", "c", os.devnull, "-o", path], check=True)
    refused("has no FRVT_11::Interface::getImplementation")
    path.write_bytes(library.read_bytes()[:3000])
    refused("cannot be loaded|SIGBUS while it was loaded and initialised. .* damaged")
    build(tmp_path, 6, "-D_GLIBCXX_USE_CXX11_ABI=0")
    with pytest.raises(facebench.Error, match="std::string from before GCC 5"):
        FrteLibrary(tmp_path / "libfrte_11_corr_006.so")
    path.write_text("<html>404</html>")
    with pytest.raises(facebench.Error, match="is an HTML page"):
        FrteLibrary(path)
    with pytest.raises(facebench.Error, match="No such file"):
        FrteLibrary(tmp_path / "absent.so")
    with pytest.raises(facebench.Error, match="is not a folder"):
        FrteLibrary(library, config=tmp_path / "absent")


def test_a_library_beside_it_is_found(tmp_path, faces):
    """As submissions lie: lib/ with what they need, config/ beside it."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "config").mkdir()
    needed = tmp_path / "lib" / "libneeded_by_frte.so.1"
    source = tmp_path / "n.cc"
    source.write_text("int needed() { return 1; }")
    subprocess.run(["c++", "-shared", "-fPIC", source, "-o", needed], check=True)
    path = build(tmp_path / "lib", 6, "-Wl,--no-as-needed", str(needed))
    assert FrteLibrary(path).config == tmp_path / "config"
    assert not run(faces, path).all_failed


def test_options_that_a_library_decides_itself(library, faces, tmp_path):
    for options in ({"flip": "sum"}, {"crop": "arcface112"}, {"device": "cuda"}, {"mean": 127.5}):
        with pytest.raises(ValueError, match=f"{next(iter(options))}: a library of FRTE"):
            facebench.run("folders", model=library, root=faces, **options)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine.txt").write_text("kept")
    for more in ({}, {"overwrite": True}):
        with pytest.raises(facebench.Error, match="exists"):
            facebench.run("folders", model=library, root=faces, out=tmp_path / "run", **more)
    for limits in ({"seconds": "abc"}, {"seconds": 0}, {"memory": 3}, {"seconds": float("nan")}):
        with pytest.raises(ValueError, match="seconds: above 0"):
            FrteLibrary(library, **limits)
    with pytest.raises(facebench.Error, match="3: is not a folder"):
        FrteLibrary(library, config=3)
    for call in (
        facebench.embedding.load_embedder,
        facebench.convert,
        lambda m: facebench.embed(m, faces),
    ):
        with pytest.raises(ValueError, match="its templates are opaque"):
            call(str(library))


def test_two_photographs(library, faces):
    a, b = faces / "p0/0.png", faces / "p0/1.png"
    with pytest.warns(UserWarning, match="its code is run"):
        found = facebench.compare(a, b, model=library)
    assert found.score == pytest.approx(correlation(a, b), abs=1e-6)
    with pytest.raises(ValueError, match="flip: a library of FRTE"):
        facebench.compare(a, b, model=library, flip="sum")


def test_a_suite_has_a_library_among_its_models(library, faces, tmp_path):
    with pytest.warns(UserWarning, match="its code is run"):
        found = facebench.suite(
            models={"corr": str(library)}, sets={"folders": faces}, cost=False, out=tmp_path / "s"
        )
    assert "corr" in str(found)
    assert not (tmp_path / "s" / "failed").exists()
