"""OFIQ's file as a source of qualities."""

import json
import shutil
import sys

import facebench
import numpy as np
import pytest
from facebench import Error

HEADER = (
    "Filename;UnifiedQualityScore;Sharpness;UnifiedQualityScore.scalar;Sharpness.scalar;"
    "assessment_time_in_ms"
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    rng = np.random.default_rng(0)
    people = np.repeat(np.arange(20), 4)
    names = [f"p{p:02d}/{k}.jpg" for k, p in enumerate(people)]
    noise = rng.random(80)
    rows = np.eye(20)[people] + rng.normal(size=(80, 20)) * noise[:, None]
    run = tmp_path_factory.mktemp("ofiq") / "run"
    facebench.evaluate("folders", rows, names, interval="none", out=run)
    return run, names, np.round(100 * (1 - noise)).astype(int)


@pytest.mark.parametrize("before", ["", "/data/set/", "D:\\set\\", "./", "../x y/"])
def test_its_columns_are_known_and_its_paths_end_with_names(made, tmp_path, before):
    run, names, scores = made
    lines = [
        f"{before}{name if ':' not in before else name.replace('/', chr(92))};1.5;2;{s};{50};12"
        for name, s in zip(names, scores, strict=True)
    ]
    (tmp_path / "ofiq.csv").write_text("\n".join([HEADER, *lines]) + "\n")
    (tmp_path / "plain.csv").write_text(
        "name,q\n" + "".join(f"{n},{s}\n" for n, s in zip(names, scores, strict=True))
    )
    how = {"far": 0.1, "replicates": 20}
    found = facebench.quality(run, csv=tmp_path / "ofiq.csv", **how)
    plain = facebench.quality(run, csv=tmp_path / "plain.csv", **how)
    assert found["UnifiedQualityScore"]["areas"] == plain["q"]["areas"]
    assert facebench.quality(run, csv=tmp_path / "ofiq.csv", column=["Sharpness"], **how)[
        "Sharpness"
    ]


def test_what_cannot_be(made, tmp_path):
    run, names, _ = made
    path = tmp_path / "ofiq.csv"
    path.write_text(f"{HEADER}\n{names[0]};1;1;50;-1;3\n")
    with pytest.raises(ValueError, match="Sharpness"):
        facebench.quality(run, csv=path, column=["Sharpnes"], far=0.1)
    path.write_text(f"{HEADER}\n{names[0]};1;1\n")
    with pytest.raises(Error, match="line 2: 3 of 6 columns"):
        facebench.quality(run, csv=path, far=0.1)
    path.write_text(f"{HEADER}\nelsewhere.jpg;1;1;50;40;3\n")
    with pytest.raises(Error, match="no Filename ends with a name of the run"):
        facebench.quality(run, csv=path, far=0.1)
    path.write_text(f"{HEADER}\n{names[0]};1;1;much;40;3\n")
    with pytest.raises(Error, match=r"line 2: UnifiedQualityScore\.scalar is much"):
        facebench.quality(run, csv=path, far=0.1)


# --- python-ofiq --------------------------------------------------------------------------------


class Package:
    """python-ofiq as its page has it (pypi.org/project/python-ofiq): OFIQ().vector_quality(rgb)."""

    class OFIQError(Exception):
        pass

    class OFIQ:
        def vector_quality(self, rgb):
            assert rgb.dtype == np.uint8 and rgb.ndim == 3
            if rgb[0, 0, 0] == 0:
                raise Package.OFIQError("no face")
            return {"UnifiedQualityScore": float(rgb[0, 0, 0]), "Sharpness": -1.0 + rgb[0, 0, 1]}


@pytest.fixture
def photographed(made, tmp_path, seal):
    """The run, with photographs whose first pixel is what the package says of them."""
    images = pytest.importorskip("facebench.images")
    run, names, scores = made
    shutil.copytree(run, tmp_path / "run")
    for name, score in zip(names, scores, strict=True):
        path = tmp_path / "faces" / name
        path.parent.mkdir(exist_ok=True, parents=True)
        images.write(path.with_suffix(".png"), np.full((8, 8, 3), max(score, 1), np.uint8))
        path.with_suffix(".png").rename(path)
    manifest = json.loads((tmp_path / "run" / "run.json").read_text())
    manifest["circumstance"]["images"] = str(tmp_path / "faces")
    (tmp_path / "run" / "run.json").write_text(json.dumps(manifest))
    return tmp_path / "run", names, np.maximum(scores, 1)


def test_the_package_measures_the_photographs(photographed, monkeypatch):
    run, names, scores = photographed
    monkeypatch.setitem(sys.modules, "ofiq", Package)
    how = {"far": 0.1, "replicates": 20}
    found = facebench.quality(run, measure=["ofiq"], **how)
    plain = facebench.quality(run, qualities={"UnifiedQualityScore": (names, scores)}, **how)
    assert found["UnifiedQualityScore"]["areas"] == plain["UnifiedQualityScore"]["areas"]
    both = facebench.quality(
        run, measure=["ofiq"], column=["Sharpness", "UnifiedQualityScore"], **how
    )
    assert both["UnifiedQualityScore"]["areas"] == found["UnifiedQualityScore"]["areas"]
    with pytest.raises(ValueError, match=r"OFIQ gives no Sharpnes: .*did you mean 'Sharpness'"):
        facebench.quality(run, measure=["ofiq"], column=["Sharpnes"], **how)


def test_what_the_package_cannot_do_is_said(photographed, made, monkeypatch):
    monkeypatch.setitem(sys.modules, "ofiq", None)
    with pytest.raises(ImportError, match="pip install python-ofiq, then python-ofiq setup"):
        facebench.quality(photographed[0], measure=["ofiq"])
    monkeypatch.setitem(sys.modules, "ofiq", Package)
    with pytest.raises(Error, match=r"its photographs are not there .*OFIQ looks at photographs"):
        facebench.quality(made[0], measure=["ofiq"])
