"""Names whose endings differ in case, or that hold backslashes: told with their count, and how they
are matched. Never guessed."""

import facebench
import numpy as np
import pytest
from facebench import images, protocols

NAMES = [f"P{p}/{k}.jpg" for p in range(4) for k in range(3)]
ROWS = [
    (a, b, int(a[:2] == b[:2])) for k, a in enumerate(NAMES) for b in NAMES[k + 1 :]
]  # 12 genuine, 54 impostor
VALUES = np.random.default_rng(3).normal(size=(12, 8))
VALUES += np.repeat(np.random.default_rng(4).normal(size=(4, 8)), 3, axis=0)


@pytest.fixture
def root(tmp_path):
    lines = [f"{a},{b},{label}\n" for a, b, label in ROWS]
    (tmp_path / "pairs.csv").write_text("first,second,label\n" + "".join(lines))
    return tmp_path


def auc():
    unit = VALUES / np.linalg.norm(VALUES, axis=1, keepdims=True)
    scores = (unit @ unit.T)[np.triu_indices(12, 1)]
    same = np.array([label == 1 for *_, label in ROWS])
    return (scores[same][:, None] > scores[~same]).mean()


def upper(name):
    return name.replace(".jpg", ".JPG")


def windows(name):
    return name.replace("/", "\\")


@pytest.mark.parametrize(
    ("spelled", "told", "match"),
    [
        (upper, r"By match=path_stem 12 of them are found", "path_stem"),
        (lambda n: upper(windows(n)), r"By match=path_stem 12 of them are found", "path_stem"),
        (lambda n: n.replace(".jpg", ".jpeg"), r"By match=path_stem 12 of them", "path_stem"),
        (lambda n: f"C:\\faces\\{windows(n)}", r"By match=suffix 12 of them are found", "suffix"),
        (str.lower, r"12 of them are there in other capitals, such as p\d/\d.jpg for P", None),
        (lambda n: f"/x/{upper(n)}", r"in other capitals.*rename them and say match=suffix", None),
    ],
)
def test_embeddings(root, spelled, told, match):
    names = [spelled(n) for n in NAMES]
    how = {"root": root, "interval": "none"}
    with pytest.raises(facebench.Error, match=told):
        facebench.evaluate("pairs", VALUES, names=names, **how)
    some = [n if k % 2 else spelled(n) for k, n in enumerate(NAMES)]
    if match != "suffix":  # half of them: the count is of those that are missing
        with pytest.raises(facebench.Error, match=r"6 of the 12 names .* missing.* 6 of them are"):
            facebench.evaluate("pairs", VALUES, names=some, **how)
    if match:
        result = facebench.evaluate("pairs", VALUES, names=names, match=match, **how)
        assert result.auc.value == pytest.approx(auc(), abs=1e-6)


def test_backslashes_of_embeddings_are_told(root):
    names = [windows(n) if k < 5 else n for k, n in enumerate(NAMES)]
    result = facebench.evaluate("pairs", VALUES, names=names, root=root, interval="none")
    assert result.auc.value == pytest.approx(auc(), abs=1e-6)
    assert "5 names of the embeddings hold '\\', which is read as '/'." in result.notes


def scored(root, spelled):
    lines = [f'"{spelled(a)}","{spelled(b)}",{k}\n' for k, (a, b, _) in enumerate(ROWS)]
    (root / "s.csv").write_text("first,second,score\n" + "".join(lines[::-1]))
    return root / "s.csv"


def test_scores_by_names(root):
    how = {"root": root, "interval": "none"}
    same = np.array([label == 1 for *_, label in ROWS])
    values = np.arange(len(ROWS))
    expected = (values[same][:, None] > values[~same]).mean()
    plain = facebench.evaluate("pairs", scores=scored(root, str), **how)
    assert plain.auc.value == expected and not [n for n in plain.notes if "scores hold" in n]
    turned = facebench.evaluate("pairs", scores=scored(root, windows), **how)
    assert turned.auc.value == expected
    assert "12 names of the scores hold '\\', which is read as '/'." in turned.notes
    for spelled, match in ((upper, "path_stem"), (lambda n: f"D:\\{windows(n)}", "suffix")):
        file = scored(root, spelled)
        with pytest.raises(facebench.Error, match=rf"s\.csv: .*By match={match} 12 of them"):
            facebench.evaluate("pairs", scores=file, **how)
        assert facebench.evaluate("pairs", scores=file, match=match, **how).auc.value == expected


def test_some_scores_by_names(root):
    file = scored(root, lambda n: upper(n) if n == "P0/0.jpg" else n)
    with pytest.raises(facebench.Error) as refused:
        facebench.evaluate("pairs", scores=file, root=root)
    assert "no score for 11 pairs" in str(refused.value)
    assert "1 names are not there. By match=path_stem 1 of them are found." in str(refused.value)


# --- photographs on disk ----------------------------------------------------------------------


def photographs(root, spelled):
    for name in NAMES:
        path = root / spelled(name)
        path.parent.mkdir(exist_ok=True, parents=True)
        images.write(path.with_suffix(".png"), np.full((16, 16, 3), ord(name[1]), np.uint8))
        path.with_suffix(".png").rename(path)


@pytest.mark.parametrize(
    ("spelled", "told"),
    [
        (
            upper,
            r"12 of the 12 images .* with another ending, such as P0/0.JPG for P0/0.jpg: rename",
        ),
        (lambda n: n.replace(".jpg", ".png"), r"12 of the 12 .* with another ending.*path_stem"),
        (str.lower, r"12 of the 12 images .* in other capitals, such as p0/0.jpg for P0/0.jpg"),
        (
            lambda n: upper(n).replace("P", "p", 1),
            r"12 of the 12 .* in other capitals, such as p0/0.JPG",
        ),
    ],
)
def test_images_that_the_lists_name_otherwise(root, spelled, told):
    photographs(root, spelled)
    how = {"model": lambda x: x[:, 0, 0], "detector": "none", "root": root, "interval": "none"}
    with pytest.raises(facebench.Error, match=told):
        facebench.run("pairs", **how)
    assert not protocols.check_data("pairs", root).complete


def test_some_images_that_the_lists_name_otherwise(root):
    photographs(root, lambda n: upper(n) if n.startswith("P3") else n)
    result = facebench.run(
        "pairs", model=lambda x: x[:, 0, 0], detector="none", root=root, interval="none"
    )
    told = "3 of the 3 images that are missing are there with another ending, such as P3/0.JPG"
    assert len(result.tracks["pairs"].failed) == 3
    assert any(text.startswith(told) for text in result.warnings)
    check = protocols.check_data("pairs", root)
    assert check.missing == 3 and any(note.startswith(told) for note in check.notes)


def test_images_that_are_nowhere_are_not_made_up(root):
    photographs(root, lambda n: n.replace("P", "Q"))
    with pytest.raises(facebench.Error, match="Give the data set's root, or the folder"):
        facebench.run("pairs", model=lambda x: x[:, 0, 0], detector="none", root=root)
