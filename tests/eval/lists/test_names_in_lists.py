"""Names with characters that show nothing, other blanks, ./ and backslashes: matched, or shown."""

import facebench
import numpy as np
import pytest
from facebench import Error, datasets, images, io, protocols

NAMES = [f"{person}/{i}.png" for person in ("ann", "bob", "cy") for i in range(2)]
PAIRS = [(0, 1, 1), (2, 3, 1), (4, 5, 1), (0, 2, 0), (1, 4, 0), (3, 5, 0)]
SAME = {
    "zero width space": lambda n: n.replace("/", "/\u200b"),
    "word joiner": lambda n: n[:2] + "\u2060" + n[2:],
    "byte order mark": lambda n: "\ufeff" + n,
    "soft hyphen": lambda n: n[0] + "\u00ad" + n[1:],
    "mark of direction": lambda n: n + "\u200e",
}
WINDOWS = {
    "dot": lambda n: "./" + n,
    "backslash": lambda n: n.replace("/", "\\"),
    "blank": lambda n: n + " ",
    "no-break blank": lambda n: n + "\u00a0",
}


def write(root, name=str):
    lines = ["first,second,label"]
    lines += [f"{name(NAMES[a])},{name(NAMES[b])},{same}" for a, b, same in PAIRS]
    (root / "pairs.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return root


def embeddings(name=str):
    values = np.random.default_rng(0).normal(size=(len(NAMES), 8)).astype(np.float32)
    return io.EmbeddingSet(names=[name(n) for n in NAMES], values=values)


def auc(root, rows):
    result = facebench.evaluate("pairs", rows, root=root, interval="none")
    return result.tracks["pairs"].metrics["auc"].value


@pytest.mark.parametrize("name", [*SAME, *WINDOWS])
def test_names_of_embeddings(tmp_path, name):
    root = write(tmp_path)
    assert auc(root, embeddings((SAME | WINDOWS)[name])) == auc(root, embeddings())


@pytest.mark.parametrize("name", SAME)
def test_names_of_lists(tmp_path, name):
    plain = auc(write(tmp_path), embeddings())
    assert auc(write(tmp_path, SAME[name]), embeddings()) == plain


def test_what_is_not_matched_is_shown(tmp_path):
    root = write(tmp_path)
    for inside, shown in [
        ("\u00a0x", r"\\u00a0x"),
        ("\u3000x", r"\\u3000x"),
        ("\u200d", r"\\u200d"),
    ]:
        with pytest.raises(Error, match=rf"given were names like ann{shown}/0\.png"):
            auc(root, embeddings(lambda n, inside=inside: n.replace("/", inside + "/")))
    where = "Names are paths below the image folder"
    for name, shown in [
        ("dot", r"'\./ann/0\.png' is not a plain path"),
        ("backslash", "backslash"),
    ]:
        with pytest.raises(Error, match=rf"{shown}.*{where}"):
            protocols.read_trials("pairs", write(tmp_path, WINDOWS[name]))


@pytest.mark.parametrize("name", [*SAME, *WINDOWS])
def test_lists_of_data_sets(tmp_path, name):
    """Those of people and images to leave out, and of faces that were found elsewhere."""
    odd = (SAME | WINDOWS)[name]
    for i, path in enumerate(NAMES):
        (tmp_path / "set" / path).parent.mkdir(parents=True, exist_ok=True)
        images.write(tmp_path / "set" / path, np.full((16, 16, 3), i, np.uint8))
    (tmp_path / "out.txt").write_text(
        f"sample\t{odd(NAMES[0])}\nperson\t{odd('bob')}\n", encoding="utf-8"
    )
    rows = ["name,x0,y0,x1,y1"] + [f"{odd(n)},1,1,12,12" for n in NAMES]
    (tmp_path / "faces.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    summary = facebench.pack(
        "folder",
        tmp_path / "set",
        tmp_path / "x.h5",
        crop="paper",
        detector="given",
        detector_options={"file": str(tmp_path / "faces.csv")},
        exclude=tmp_path / "out.txt",
    )
    assert summary.counts["ok"] == 3
    assert datasets.Pack(tmp_path / "x.h5").names == [NAMES[1], NAMES[4], NAMES[5]]
