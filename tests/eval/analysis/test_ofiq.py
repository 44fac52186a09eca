"""OFIQ's file as a source of qualities."""

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
