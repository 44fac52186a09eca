"""only=, --only: the people and images of a list alone stay, wherever exclude= is taken."""

import json
import re
import shutil

import facebench
import numpy as np
import pytest
from click.testing import CliRunner
from facebench import datasets, images, io, protocols
from facebench.cli.app import app

PEOPLE = {"Ann": 3, "Bob B": 3, "Cat": 2, "Dan": 1}


def names_of(people=PEOPLE):
    return [f"{person}/{k}.png" for person, count in people.items() for k in range(count)]


@pytest.fixture
def root(tmp_path):
    rng = np.random.default_rng(0)
    for name in names_of():
        (tmp_path / "set" / name).parent.mkdir(exist_ok=True, parents=True)
        images.write(tmp_path / "set" / name, rng.integers(0, 256, (32, 32, 3), np.uint8))
    return tmp_path / "set"


@pytest.fixture
def listed(tmp_path):
    def write(text, name="list.txt"):
        (tmp_path / name).write_text(text, newline="")
        return tmp_path / name

    return write


def people_of(dataset):
    return sorted({sample.id.split("/")[0] for sample in dataset.samples})


def ran(*words):
    done = CliRunner().invoke(app, [str(word) for word in words])
    return done.exit_code, done.output


@pytest.mark.parametrize(
    "text",
    [
        "Ann\nBob B\n",
        "2\nAnn\t3\nBob B\t1\n",  # LFW's peopleDevTrain.txt
        "Bob B\t1\nAnn\t3\n",
        "# comment\r\nAnn\r\n\r\nBob B\r\n",
        "person\tAnn\nperson\tBob B\n",
        "Ann\nAnn\nBob B\n",  # one name an image, say
        "  Ann \nBob B",
        "person\tAnn\nsample\tBob B/0.png\nsample\tBob B/1.png\nsample\tBob B/2.png\n",
    ],
)
def test_forms_of_lists(root, listed, text):
    left = datasets.exclude(datasets.read_dataset("folder", root), only=listed(text))
    assert people_of(left) == ["Ann", "Bob B"] and len(left.samples) == 6


def test_a_pack_of_those_people(root, listed, tmp_path):
    file = listed("Ann\nBob B\nNobody\nNowhere\n")
    code, said = ran(
        *("pack", "folder", "--root", root, "--detector", "none", "--only", file),
        *("--out", tmp_path / "p.h5"),
    )
    assert code == 0, said
    told = "2 of the 4 entries of list.txt are not in the data: person Nobody, person Nowhere."
    assert told in said
    pack = datasets.Pack(tmp_path / "p.h5")
    assert sorted(pack.names) == names_of({"Ann": 3, "Bob B": 3})
    only = pack.manifest["excluded"]["only"]
    assert only["people"] == 4 and only["not_there"] == ["person Nobody", "person Nowhere"]
    assert pack.manifest["excluded"]["images"] == 3
    assert only["list_sha256"] == io.sha256_file(file)
    # Who alone stays, and of them without some: both lists hold.
    facebench.pack(
        "folder", root, tmp_path / "q.h5", detector="none", only=file,
        exclude=listed("sample\tAnn/0.png\nperson\tCat\n", "out.txt"),
    )  # fmt: skip
    pack = datasets.Pack(tmp_path / "q.h5")
    assert sorted(pack.names) == [n for n in names_of({"Ann": 3, "Bob B": 3}) if n != "Ann/0.png"]
    assert pack.manifest["excluded"]["images"] == 4


def test_equal_to_the_list_of_all_others(root, listed, tmp_path):
    """data keep writes that list; the trainings learn from the same images."""
    file = listed("Ann\nBob B\n")
    others = listed(datasets.keep(file, root)[0], "others.txt")
    recipe = facebench.training.load_recipe("small4.softmax", epochs=1, batch=2, embedding=4)
    how = {"threads": 1, "progress": False}
    by = {
        "only": facebench.train(recipe, root, tmp_path / "a", only=file, **how),
        "exclude": facebench.train(recipe, root, tmp_path / "b", exclude=others, **how),
    }
    apart = ("model", "images_per_second")
    a, b = ({k: v for k, v in one.items() if k not in apart} for one in by.values())
    assert a == b
    assert (by["only"]["images"], by["only"]["excluded"], by["only"]["classes"]) == (6, 3, 2)
    record = json.loads((tmp_path / "a" / "run.json").read_text())["content"]
    assert record["excluded"]["only"]["people"] == 2


def test_train_says_whom_it_does_not_have(root, listed, tmp_path):
    how = ["--set", "epochs=1", "--set", "batch=2", "--set", "embedding=4", "--threads", "1"]
    told = r"1 of the 3 entries of list.txt are not in the data"
    with pytest.warns(UserWarning, match=told):
        code, said = ran(
            *("train", "small4.softmax", "--pack", root, *how, "--quiet"),
            *("--only", listed("Ann\nBob B\nEve\n"), "--out", tmp_path / "run"),
        )
    assert code == 0 and "list.txt: 3 images" in said, said
    with pytest.warns(UserWarning, match=told):
        facebench.train(
            facebench.training.load_recipe("small4.softmax", epochs=1, batch=2, embedding=4),
            root, tmp_path / "again", only=listed("Ann\nBob B\nEve\n"), threads=1, progress=False,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Eve\nAda\n", r"none of its 2 entries is in the data set; the first is person Ada"),
        ("Ann/0.png\n", r"people such as Ann; a single image is a line 'sample', a tab, and Ann/0"),
        ("# nobody\n", "names nobody, so nothing would stay"),
        ("", "names nobody, so nothing would stay"),
        ("person Ann\n", r"list.txt:1: 'person Ann' is neither"),
        ("Ann\tx\nBob B\ty\n", r"list.txt:1: .* is neither"),
    ],
)
def test_nothing_left_is_refused(root, listed, tmp_path, text, why):
    with pytest.raises(facebench.Error, match=why):
        facebench.pack("folder", root, tmp_path / "p.h5", detector="none", only=listed(text))
    with pytest.raises(facebench.Error, match=why):
        facebench.train("small4.softmax", root, tmp_path / "run", only=listed(text))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("ANN\nCat\n", r"1 of the 2 entries of list.txt are not in the data: person ANN. "
         r"1 of them are there spelled otherwise, such as Ann for ANN: write them so."),
        ("set/Ann\nCat/\n", r"2 of them .* such as (Ann for set/Ann|Cat for Cat/)"),
        ("sample\tANN/0.png\nperson\tCat\n", r"1 of them .* such as Ann/0.png for ANN/0.png"),
        ("sample\tx/Ann/0.png\nsample\tx/Cat/0.png\n", r"2 of them .* Ann/0.png for x/Ann/0.png"),
    ],
)  # fmt: skip
def test_names_that_are_spelled_otherwise_are_told_and_not_taken(root, listed, text, told):
    images = datasets.read_dataset("folder", root)
    try:
        notes = datasets.exclude(images, only=listed(text)).notes
        assert people_of(datasets.exclude(images, only=listed(text))) == ["Cat"]
    except facebench.Error as error:
        notes = [str(error)]
    assert any(re.search(told, note) for note in notes), notes


def test_both_lists_may_leave_nobody(root, listed, tmp_path):
    both = {"only": listed("Ann\n"), "exclude": listed("person\tAnn\n", "out.txt")}
    with pytest.raises(facebench.Error, match="every image of the data set is left out"):
        facebench.pack("folder", root, tmp_path / "p.h5", detector="none", **both)


# --- under a protocol -------------------------------------------------------------------------


@pytest.fixture
def pairs(root):
    """A protocol whose people are folders, and its list."""
    names = names_of()
    rows = [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]
    lines = [f"{a},{b},{int(a.split('/')[0] == b.split('/')[0])}\n" for a, b in rows]
    (root / "pairs.csv").write_text("first,second,label\n" + "".join(lines))
    text = protocols.load_protocol("pairs").text
    text = text.replace('identity = "genuine"', 'identity = "folder"')
    (root / "mine.toml").write_text(text.replace('id = "pairs"', 'id = "mine"'))
    return root


VALUES = np.random.default_rng(5).normal(size=(len(names_of()), 6))


def auc_of(people):
    kept = [k for k, name in enumerate(names_of()) if name.split("/")[0] in people]
    unit = VALUES[kept] / np.linalg.norm(VALUES[kept], axis=1, keepdims=True)
    person = np.array([names_of()[k].split("/")[0] for k in kept])
    first, second = np.triu_indices(len(kept), 1)
    scores, same = (unit @ unit.T)[first, second], person[first] == person[second]
    return (scores[same][:, None] > scores[~same]).mean()


def test_an_evaluation_of_those_people(pairs, listed, tmp_path):
    file = listed("2\nAnn\t3\nCat\t2\nEve\t1\n".replace("2\n", "3\n", 1))
    result = facebench.evaluate(
        pairs / "mine.toml", VALUES, names=names_of(), root=pairs, only=file, out=tmp_path / "run",
        interval="none",
    )  # fmt: skip
    assert result.auc.value == pytest.approx(auc_of({"Ann", "Cat"}), abs=1e-6)
    notes = " ".join(result.notes)
    assert "left out by a list that keeps 3 people and 0 samples" in notes
    assert "1 of the 3 entries of list.txt are not in the data: person Eve." in notes
    how = {"root": pairs, "protocol": pairs / "mine.toml"}
    checks = facebench.verify(tmp_path / "run", **how)
    assert checks.verdict != "different"
    assert any("read again" in check["detail"] for check in checks.to_dict()["checks"])
    file.write_text("Ann\nCat\nBob B\n")
    assert facebench.verify(tmp_path / "run", **how).verdict == "different"
    io.write_embeddings(tmp_path / "e.h5", io.EmbeddingSet(VALUES, names_of()))
    code, said = ran(
        *(
            "eval",
            pairs / "mine.toml",
            "--embeddings",
            tmp_path / "e.h5",
            "--root",
            pairs,
            "--only",
        ),
        *(listed("Ann\nCat\n"), "--out", tmp_path / "typed", "--json", "--interval", "none"),
    )
    assert code == 0 and json.loads(said[said.index("{") :])


def test_a_run_needs_no_images_of_the_others(pairs, listed, tmp_path):
    shutil.rmtree(pairs / "Bob B")
    result = facebench.run(
        pairs / "mine.toml", model=lambda x: x[:, ::8, ::8].reshape(len(x), -1), root=pairs,
        detector="none", only=listed("Ann\nCat\n"), interval="none",
    )  # fmt: skip
    assert len(result.tracks["pairs"].failed) == 0 and result.tracks["pairs"].genuine == 3 + 1


def test_a_list_of_others_is_refused_there(pairs, listed):
    with pytest.raises(facebench.Error, match="names nobody of this protocol"):
        facebench.evaluate(
            pairs / "mine.toml", VALUES, names=names_of(), root=pairs, only=listed("Eve\n")
        )
    with pytest.raises(facebench.Error, match="leaves nothing of track"):
        facebench.evaluate(
            pairs / "mine.toml", VALUES, names=names_of(), root=pairs, only=listed("Ann\n"),
            exclude=listed("person\tAnn\n", "out.txt"),
        )  # fmt: skip
    with pytest.raises(ValueError, match="exclude and only: people that are left out go with"):
        facebench.evaluate("pairs", scores=listed("0.1 1\n0.2 0\n", "s.txt"), only=listed("Ann\n"))
