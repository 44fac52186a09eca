"""What `describe` says of training sets whose making is known, and of similarities by numpy."""

import facebench
import numpy as np
import pytest

pytest.importorskip("facebench._full")

from click.testing import CliRunner
from facebench import Error, claims, datasets, embedding, images
from facebench.cli.app import app
from facebench.io import EmbeddingSet, write_embeddings

COUNTS = [1, 1, 2, 3, 5, 8, 2, 4, 6, 28]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Ten people; every fourth picture is grey, those of the last person are larger."""
    root = tmp_path_factory.mktemp("describe") / "web"
    random = np.random.default_rng(1)
    number = 0
    for person, count in enumerate(COUNTS):
        for k in range(count):
            size = (40, 48) if person == 9 else (24, 20)
            picture = random.integers(0, 256, (*size, 3), np.uint8)
            if number % 4 == 0:
                picture[:] = picture[..., :1]
            path = root / f"Person_{person}" / f"{k}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            images.write(path, picture)
            number += 1
    return root


def test_breadth_depth_sizes_and_grey(folder):
    found = datasets.describe(folder, printed=claims.training_sets())
    assert (found.name, found.people, found.images) == ("web", 10, 60)
    assert found.depth == {
        "mean": 6.0,
        "quantiles": {"0": 1, "0.25": 2, "0.5": 3, "0.75": 6, "1": 28},
        "single": 2,
        "top_tenth": 28 / 60,
    }
    assert found.sizes == {"width": [20, 20, 48], "height": [24, 24, 40]}
    assert (found.looked, found.grey, found.left_out) == (60, 0.25, {})
    assert found.labels is None and found.measures == []
    text = str(found)
    for part in ("| web", "MS-Celeb-1M (printed)", "3,838,654", "46.7 % of the images"):
        assert part in text
    few = datasets.describe(folder, limit=4)  # images 0, 15, 30 and 45
    assert few.looked == 4 and few.grey == 0.25


def test_a_broken_picture_is_counted(folder, tmp_path):
    for k in range(3):
        (tmp_path / f"P{k}").mkdir()
        picture = (folder / "Person_2" / "0.png").read_bytes()
        (tmp_path / f"P{k}" / "0.png").write_bytes(picture[: len(picture) // (1 + (k == 1))])
    found = datasets.describe(tmp_path)
    assert (found.looked, found.unreadable) == (2, 1)


def embed(folder, path, wrong=()):
    """A direction for each person and noise; the images `wrong` have that of the next person."""
    random = np.random.default_rng(2)
    centres = random.normal(size=(10, 16))
    names, rows = [], []
    for person, count in enumerate(COUNTS):
        for k in range(count):
            name = f"Person_{person}/{k}.png"
            centre = centres[(person + 1) % 10 if name in wrong else person]
            names.append(name)
            rows.append(centre + 0.2 * random.normal(size=16))
    rows = np.array(rows, np.float32)
    write_embeddings(path, EmbeddingSet(rows, names))
    return names, rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_labels_are_those_of_a_plain_loop(folder, tmp_path):
    wrong = ("Person_5/3.png", "Person_9/11.png")
    names, rows = embed(folder, tmp_path / "e.h5", wrong)
    found = datasets.describe(folder, embeddings=tmp_path / "e.h5").labels
    people = np.array([int(n.partition("/")[0][7:]) for n in names])
    within, between = [], []
    for i, row in enumerate(rows):
        others = rows[(people == people[i]) & (np.arange(60) != i)]
        if not len(others):
            continue
        means = [rows[people == p].sum(0) for p in range(10) if p != people[i]]
        cosines = [m @ row / np.linalg.norm(m) for m in [others.sum(0), *means]]
        within.append(cosines[0])
        between.append(max(cosines[1:]))
    assert found["images"] == len(within) == 58
    for key, values in (("within", within), ("between", between)):
        wanted = {str(s): np.quantile(values, s) for s in (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)}
        assert found[key] == pytest.approx(wanted, abs=1e-6)
    assert found["nearer_to_another"] == np.mean(np.array(between) > within)
    doubtful = {d["image"]: d["person"] for d in found["doubtful_images"]}
    assert doubtful.items() >= {(wrong[0], "Person_6"), (wrong[1], "Person_0")}
    assert all(len(set(a["people"])) == 2 for a in found["alike_people"])
    assert len({tuple(a["people"]) for a in found["alike_people"]}) == len(found["alike_people"])


def test_embeddings_of_some_images_are_enough_and_of_none_are_not(folder, tmp_path):
    names, rows = embed(folder, tmp_path / "all.h5")
    write_embeddings(tmp_path / "some.h5", EmbeddingSet(rows[-28:], names[-28:]))
    assert datasets.describe(folder, embeddings=tmp_path / "some.h5").labels is None
    write_embeddings(tmp_path / "some.h5", EmbeddingSet(rows[20:], names[20:]))
    assert datasets.describe(folder, embeddings=tmp_path / "some.h5").labels["images"] == 40
    write_embeddings(tmp_path / "none.h5", EmbeddingSet(rows, [f"x/{n}" for n in names]))
    with pytest.raises(Error, match=r"no embedding of an image of .*'Person_0/0.png'"):
        datasets.describe(folder, embeddings=tmp_path / "none.h5")


def test_a_pack_a_table_and_a_model(folder, tmp_path):
    facebench.pack("folder", folder, tmp_path / "web.h5", detector="none", crop_size=(20, 20))
    lines = ["name,age,yaw"]
    lines += [f"Person_9/{k}.png,{20 + k},{k if k else ''}" for k in range(28)]
    (tmp_path / "facts.csv").write_text("\n".join(lines) + "\n")
    colour = lambda batch: batch.mean((1, 2)).astype(np.float32)  # noqa: E731
    embeddings = embedding.extract(colour, datasets.Pack(tmp_path / "web.h5"))
    options = {"csv": tmp_path / "facts.csv", "column": ["age"], "embeddings": embeddings}
    found = datasets.describe(tmp_path / "web.h5", **options)
    assert (found.people, found.images, found.grey) == (10, 60, 0.25)
    measures = {m["name"]: m for m in found.measures}
    assert "sharpness" in measures and "yaw" not in measures
    assert measures["age"]["images"] == 28 and measures["age"]["quantiles"]["0.5"] == 33.5
    assert found.labels["images"] == 58
    (tmp_path / "other.csv").write_text("name,age\nx.png,3\n")
    with pytest.raises(Error, match=r"names no image of .*'x.png'"):
        datasets.describe(folder, csv=tmp_path / "other.csv")


def test_on_the_command_line(folder, tmp_path):
    words = ["data", "describe", str(folder), "--out", str(tmp_path / "page.html")]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0 and "What web is like" in result.output
    assert "Wang" in (tmp_path / "page.html").read_text()
    words = ["data", "describe", "web.h5", "--model", "m.onnx", "--embeddings", "e.h5"]
    assert "one of them" in CliRunner().invoke(app, words).stderr
