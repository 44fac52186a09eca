"""Shared people: names against Unicode's tables, similarity against numpy, lists that go round."""

import csv
import io
import json
import unicodedata

import facebench
import numpy as np
import pytest
from facebench._full import match_names, normalized_name
from facebench.io import EmbeddingSet, write_embeddings
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

pytest.importorskip("facebench._full")
from facebench import datasets


def test_letters_fold_as_unicode_says():
    """Every letter of the scripts that are promised, against decomposition and case folding."""
    usual = {"æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "ł": "l", "ħ": "h", "ı": "i",
             "ŧ": "t", "þ": "th", "ŋ": "n", "ĸ": "k"}  # fmt: skip

    def plain(text):
        parts = unicodedata.normalize("NFKD", text)
        return "".join(c for c in parts if not unicodedata.combining(c))

    wrong = []
    for code in [*range(0x41, 0x590), *range(0x1E00, 0x2000)]:
        letter = chr(code)
        if not unicodedata.category(letter).startswith("L"):
            continue
        folded = "".join(usual.get(c, c) for c in plain(plain(letter).casefold()))
        if not folded.isalpha():
            continue  # a letter that decomposes to a sign
        if normalized_name(f"xx{letter}yy") != f"xx{plain(folded)}yy":
            wrong.append((letter, normalized_name(f"xx{letter}yy"), folded))
    # The apostrophes that count as letters in Unicode, and three letters whose transcription
    # holds a sign, are dropped or kept as they are.
    assert [w for w in wrong if w[0] not in "ʹʺʻʼʽˈˊˋʾʿˮŀĿŉẚ"] == []


def test_names_of_two_sets():
    assert match_names(["Doe_Jane", "n000082"], ["jane doe", "n000082"]) == [
        ("Doe_Jane", "jane doe", "reordered")
    ]


@pytest.fixture(scope="module")
def packs(tmp_path_factory):
    """Two packs of synthetic people, numbers 0 to 19 and 15 to 34."""
    folder = tmp_path_factory.mktemp("overlap")
    for name, first in (("train", 0), ("test", 15)):
        options = datasets.SyntheticOptions(
            people=20, images=2, size=64, pairs_per_fold=2, first_person=first
        )
        datasets.write_synthetic_dataset(options, folder / name)
        facebench.pack("lfw", folder / name, folder / f"{name}.h5", detector="none")
    return folder


def test_people_are_found_by_name(packs):
    found = datasets.find_overlap(packs / "train.h5", packs / "test.h5")
    assert [e["person"] for e in found.entries] == [f"Person_{n:05d}" for n in range(16, 21)]
    assert {e["name_rule"] for e in found.entries} == {"same"}
    assert found.dropped == {"people": 5, "images": 10}
    assert "in both: 5 people with 10 training images" in repr(found)
    # A folder is as good as a pack.
    folder = datasets.find_overlap(packs / "train/images", packs / "test.h5")
    assert folder.dropped == found.dropped


def test_similar_images_against_numpy(tmp_path):
    random = np.random.default_rng(3)
    centres = random.normal(size=(60, 24))

    def write(path, people, images, prefix):
        values = np.repeat(centres[people], images, axis=0)
        values = (values + 0.5 * random.normal(size=values.shape)).astype(np.float32)
        names = [f"{prefix}{p}/{k}.jpg" for p in people for k in range(images)]
        write_embeddings(path, EmbeddingSet(values, names))
        return values / np.linalg.norm(values, axis=1, keepdims=True), np.repeat(people, images)

    a, a_people = write(tmp_path / "a.h5", np.arange(40), 3, "a")
    b, b_people = write(tmp_path / "b.h5", np.arange(30, 60), 2, "b")
    scores = a.astype(float) @ b.astype(float).T
    strangers = (b @ b.T)[np.triu(b_people[:, None] != b_people[None, :], 1)]
    found = datasets.find_overlap(tmp_path / "a.h5", tmp_path / "b.h5")
    assert found.threshold == pytest.approx(strangers.max(), abs=1e-6)
    for threshold in (found.threshold, 0.5):
        found = datasets.find_overlap(tmp_path / "a.h5", tmp_path / "b.h5", threshold=threshold)
        wanted = {}
        for i, j in np.argwhere(scores >= threshold):
            key = (f"a{a_people[i]}", f"b{b_people[j]}")
            wanted[key] = (
                wanted.get(key, (0, 0))[0] + 1,
                max(wanted.get(key, (0, -1))[1], scores[i, j]),
            )
        got = {(e["person"], e["match"]): (e["similar_pairs"], e["score"]) for e in found.entries}
        assert got.keys() == wanted.keys()
        assert all(got[k][0] == wanted[k][0] for k in got)
        assert all(got[k][1] == pytest.approx(wanted[k][1], abs=1e-6) for k in got)
    assert {f"a{p}" for p in range(30, 40)} <= {k[0] for k in got}


def test_what_is_excluded_is_not_packed_and_recorded(packs, tmp_path):
    found = datasets.find_overlap(packs / "train.h5", packs / "test.h5")
    (tmp_path / "list.txt").write_text(found.exclusion)
    facebench.pack(
        "lfw",
        packs / "train",
        tmp_path / "clean.h5",
        detector="none",
        exclude=tmp_path / "list.txt",
    )
    clean = datasets.Pack(tmp_path / "clean.h5")
    assert len(clean) == 30 and clean.manifest["excluded"]["images"] == 10
    assert "excluded" not in datasets.Pack(packs / "train.h5").manifest
    assert datasets.find_overlap(tmp_path / "clean.h5", packs / "test.h5").entries == []
    (tmp_path / "other.txt").write_text("person\tNobody\n")
    with pytest.raises(facebench.Error, match="belongs to other data"):
        facebench.pack("lfw", packs / "train", tmp_path / "x.h5", exclude=tmp_path / "other.txt")


@pytest.mark.filterwarnings("ignore:1 of the 3 entries of list.txt are not in the data")
def test_what_is_excluded_is_not_trained_on_and_recorded(packs, tmp_path):
    from facebench import training

    everything = datasets.Pack(packs / "train.h5")
    person, sample = everything.label_names[0], everything.names[5]
    (tmp_path / "list.txt").write_text(f"person\t{person}\nsample\t{sample}\nperson\tNobody\n")
    out = [p == 0 or n == sample for p, n in zip(everything.labels, everything.names, strict=True)]
    assert sum(out) == 3
    recipe = training.load_recipe("small4.softmax", epochs=1, batch=8, embedding=8)

    def train(data, name, **options):
        return training.train(recipe, data, tmp_path / name, threads=1, **options)

    result = train(packs / "train.h5", "run", exclude=tmp_path / "list.txt")
    assert (result["images"], result["excluded"], result["classes"]) == (37, 3, 19)
    labels = [-1 if o else p for o, p in zip(out, everything.labels, strict=True)]
    same = train((everything.images, labels), "same")
    assert (same["images"], same["excluded"]) == (37, 0)
    weights = [facebench.io.read_safetensors(r["model"])[0] for r in (result, same)]
    assert weights[0].keys() == weights[1].keys()
    assert all(np.array_equal(weights[0][k], weights[1][k]) for k in weights[0])

    said = json.loads((tmp_path / "run" / "run.json").read_text())["content"]["excluded"]
    assert (said["people"], said["samples"], said["images"]) == (2, 1, 3)
    assert said["not_there"] == ["person Nobody"]
    first = json.loads((tmp_path / "run" / "log.jsonl").read_text().splitlines()[0])
    assert first == {"iteration": 0, "excluded": said}
    with pytest.raises(facebench.Error, match="excluded"):
        train(packs / "train.h5", "run", resume=True)
    # Killed before its first checkpoint: the log begins anew as the training does.
    (tmp_path / "anew").mkdir()
    (tmp_path / "anew" / "log.jsonl").write_text(json.dumps(first) + "\n")
    train(packs / "train.h5", "anew", exclude=tmp_path / "list.txt", resume=True)
    assert (tmp_path / "anew" / "log.jsonl").read_text().count("excluded") == 1
    (tmp_path / "other.txt").write_text("person\tNobody\n")
    with pytest.raises(facebench.Error, match="belongs to other data"):
        train(packs / "train.h5", "other", exclude=tmp_path / "other.txt")
    with pytest.raises(ValueError, match="goes with a pack"):
        train((everything.images, labels), "pair", exclude=tmp_path / "list.txt")


def test_the_verb_writes_both_lists(packs, tmp_path):
    from click.testing import CliRunner
    from facebench.cli.app import app

    def call(*arguments):
        return CliRunner().invoke(app, ["data", "overlap", *map(str, arguments)])

    sets = (packs / "train.h5", packs / "test.h5")
    done = call(*sets, "--audit", tmp_path / "audit.csv", "--out", tmp_path / "list.txt")
    assert done.exit_code == 0 and "in both: 5 people" in done.output
    rows = list(csv.DictReader(io.StringIO((tmp_path / "audit.csv").read_text())))
    assert [r["person"] for r in rows] == [f"Person_{n:05d}" for n in range(16, 21)]
    assert rows[0]["why"] == "name: same" and rows[0]["images"] == "2"
    lines = (tmp_path / "list.txt").read_text().splitlines()
    assert lines[0].startswith("# People of train.h5 who are in test.h5 too: 5 of 20, 10 images.")
    assert lines[1:] == [f"person\tPerson_{n:05d}" for n in range(16, 21)]
    assert call(*sets, "--audit", tmp_path / "audit.json").exit_code == 0
    assert json.loads((tmp_path / "audit.json").read_text())["dropped"]["people"] == 5
    assert call(*sets, "--audit", tmp_path / "audit.txt").exit_code != 0


def test_the_sheet_shows_both_pictures_of_each_hit(packs, tmp_path):
    """Read back by the standard library: one row a hit, its pictures those of the packs."""
    import base64
    import html.parser

    from PIL import Image

    rows = []

    class Rows(html.parser.HTMLParser):
        def handle_starttag(self, tag, attributes):
            fields = dict(attributes)
            if tag == "input":
                rows.append((fields["data-person"], "checked" in fields, []))
            if tag == "img":
                data = base64.b64decode(fields["src"].removeprefix("data:image/png;base64,"))
                rows[-1][2].append(np.array(Image.open(io.BytesIO(data))))
            for value in fields.values():
                assert not (value or "").startswith(("http", "//")), "something is loaded"

    sets = (packs / "train.h5", packs / "test.h5")
    ours, theirs = (datasets.Pack(p) for p in sets)
    values = np.eye(40, 8, dtype=np.float32) + 0.01
    for k, pack in enumerate((ours, theirs)):
        write_embeddings(tmp_path / f"{k}.h5", EmbeddingSet(values, list(pack.names)))
    found = datasets.find_overlap(
        *sets,
        train_embeddings=tmp_path / "0.h5",
        test_embeddings=tmp_path / "1.h5",
        threshold=0.99,
    )
    Rows().feed(datasets.audit_sheet(found, *sets))
    entries = [e for group in found.clusters() for e in group]
    assert len(rows) == len(entries) == len(found.entries)
    for (person, ticked, pictures), entry in zip(rows, entries, strict=True):
        assert person == entry["person"] and ticked == (entry["similar_pairs"] > 0)
        for picture, pack, key in zip(
            pictures, (ours, theirs), ("sample", "match_sample"), strict=True
        ):
            assert np.array_equal(picture, pack.images[list(pack.names).index(entry[key])])


def test_hits_that_share_a_person_stand_together(packs):
    pairs = [("a", 1), ("b", 1), ("c", 2), ("d", 3), ("c", 4), ("e", 4), ("f", 9)]
    from facebench.datasets._overlap import _clusters

    groups = _clusters([{"person": p, "match": m} for p, m in pairs])
    assert [{e["person"] for e in g} for g in groups] == [{"c", "e"}, {"a", "b"}, {"d"}, {"f"}]


def wilson(hits, of):
    """Wilson's 95 % interval."""
    z, p = 1.959964, hits / of
    middle = (p + z * z / (2 * of)) / (1 + z * z / of)
    half = z / (1 + z * z / of) * (p * (1 - p) / of + z * z / (4 * of * of)) ** 0.5
    return middle - half, middle + half


def test_planted_overlap_is_found(tmp_path):
    """5 % of 400 numbered people are in both sets: recall and precision, by their intervals."""
    random = np.random.default_rng(7)
    centres = random.normal(size=(500, 64))
    shared = random.choice(400, 20, replace=False)
    others = np.arange(400, 480)

    def write(path, people, first):
        values = np.repeat(centres[people], 4, axis=0)
        values = values + 0.55 * random.normal(size=values.shape)
        names = [f"{first + k:07}/{i}.jpg" for k in range(len(people)) for i in range(4)]
        write_embeddings(path, EmbeddingSet(values.astype(np.float32), names))

    write(tmp_path / "train.h5", np.arange(400), 0)
    write(tmp_path / "test.h5", np.concatenate([shared, others]), 5000)
    found = datasets.find_overlap(tmp_path / "train.h5", tmp_path / "test.h5")
    assert found.train["identifiers"] == 400  # numbers are not names
    truth = {(f"{p:07}", f"{5000 + k:07}") for k, p in enumerate(shared)}
    hits = {(e["person"], e["match"]) for e in found.entries}
    right = len(hits & truth)
    assert wilson(right, len(truth))[0] > 0.8 and wilson(right, len(hits))[0] > 0.65
    # Clusters are the connected parts of the graph of hits.
    names = sorted({name for hit in hits for name in hit})
    at = np.array([[names.index(name) for name in hit] for hit in sorted(hits)])
    graph = coo_array((np.ones(len(at)), (at[:, 0], at[:, 1])), shape=(len(names),) * 2)
    assert len(found.clusters()) == connected_components(graph, directed=False)[0]


def test_a_published_list_of_identifiers(packs, tmp_path):
    people = datasets.Pack(packs / "train.h5").label_names
    (tmp_path / "list.txt").write_text(f"# shared\n\n{people[3]}\n{people[7]}\n")
    found = datasets.read_image_folder(packs / "train" / "images")
    left = datasets.exclude(found, tmp_path / "list.txt")
    assert len(left) == len(found) - 4
    (tmp_path / "list.txt").write_text(f"{people[3]}\n{people[3]}\n")
    with pytest.raises(facebench.Error, match=r"list\.txt:2: .*there twice"):
        datasets.read_exclusion(tmp_path / "list.txt")
