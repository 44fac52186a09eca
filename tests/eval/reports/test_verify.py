"""What `verify` finds: every single alteration of run.json, its circumstance apart."""

import copy
import json
import shutil

import facebench
import numpy as np
import pytest
from facebench import protocols, reports


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    lists = ["2\t2"]
    for fold in "AB":
        lists += [f"{fold}{k}\t1\t2" for k in range(2)]
        lists += [f"{fold}{k}\t1\t{fold}{k + 2}\t1" for k in range(2)]
    (folder / "pairs.txt").write_text("\n".join(lists) + "\n")
    trials = protocols.read_trials("lfw", folder)
    random = np.random.default_rng(2)
    values = random.normal(size=(len(trials.names), 8))
    status = np.zeros(len(values), np.uint8)
    status[3], values[3] = 2, 0
    result = protocols.evaluate(
        "lfw",
        embeddings=values,
        names=trials.names,
        status=status,
        trials=trials,
        root=folder,
        interval="none",
    )
    result.save(folder / "run")
    return folder / "run"


@pytest.fixture
def run(saved, tmp_path):
    shutil.copytree(saved, tmp_path / "run")
    return tmp_path / "run"


def altered(value):
    """Another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, str):
        return value[:-1] + ("0" if value[-1:] != "0" else "1")
    return 0


def places(value, at=()):
    yield at, value
    if isinstance(value, dict):
        for key, member in value.items():
            yield from places(member, (*at, key))
    elif isinstance(value, list):
        for k, member in enumerate(value):
            yield from places(member, (*at, k))


def put(document, at, value):
    changed = copy.deepcopy(document)
    holder = changed
    for key in at[:-1]:
        holder = holder[key]
    if value is KeyError:
        del holder[at[-1]]
    else:
        holder[at[-1]] = value
    return changed


def alterations(document):
    """(place, the document with one thing changed) for all but the circumstance."""
    for at, value in places(document):
        if not at or at[0] == "circumstance":
            continue
        if isinstance(value, dict):
            yield at, put(document, (*at, "more"), 1)
        elif isinstance(value, list):
            yield at, put(document, at, [*value, 1])
        else:
            yield at, put(document, at, altered(value))
        yield at, put(document, at, None if value is not None else 0)
        yield at, put(document, at, KeyError)
    yield ("more",), put(document, ("more",), 1)


def said_by(verify, folder):
    """What a verification says that is not "the same"; an error says it, too."""
    try:
        return " ".join(f"{c['name']}: {c['detail']}" for c in verify(folder) if not c["same"])
    except facebench.Error as e:
        return str(e)


def unseen(verify, folder):
    path = folder / "run.json"
    text = path.read_text()
    assert said_by(verify, folder) == ""
    missed = []
    for at, document in alterations(json.loads(text)):
        path.write_text(json.dumps(document))
        said = said_by(verify, folder)
        # The name of the value, or of the list that it is in, or of the whole part.
        names = [key for key in at if isinstance(key, str) and key != "content"]
        if not said or (names and not any(name in said for name in names[-2:])):
            missed.append((at, said))
    path.write_text(text)
    return missed


def test_every_alteration_of_an_evaluation_is_named(run):
    assert unseen(reports.verify_scores, run) == []


def test_an_alteration_with_a_new_hash_is_named(run):
    def signed(document):
        content = facebench.io.canonical_json(document["content"])
        document["content_sha256"] = facebench.io.sha256_hex(content.encode())
        return document

    path = run / "run.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps(signed(copy.deepcopy(document))))
    assert said_by(reports.verify_scores, run) == ""
    for at in (
        ("protocol", "title"),
        ("options", "convention"),
        ("compiler",),
        ("inputs", 0, "role"),
    ):
        path.write_text(json.dumps(signed(put(document, ("content", *at), "other"))))
        assert "/" + "/".join(map(str, at)) in said_by(reports.verify_scores, run)


@pytest.mark.parametrize("file", ["metrics.json", "curves.json", "scores.h5", "run.json"])
def test_altered_files_are_neither_reported_nor_explained(run, saved, file):
    path = run / file
    if file in ("scores.h5", "curves.json"):
        data = bytearray(path.read_bytes())
        data[-9] ^= 1
        path.write_bytes(data)
    elif file == "metrics.json":
        metrics = json.loads(path.read_text())
        metrics["tracks"]["view2"]["metrics"]["accuracy"]["value"] = 57
        path.write_text(json.dumps(metrics))
    else:
        document = json.loads(path.read_text())
        document["content"]["protocol"]["title"] = "Another"
        path.write_text(json.dumps(document))
    with pytest.raises(facebench.Error, match=file):
        reports.explain(saved, run)
    with pytest.raises(facebench.Error, match=file):
        facebench.report([run], format="html", out=run.parent / "page.html")
    assert not (run.parent / "page.html").exists()
    with pytest.raises(facebench.Error, match=file):
        facebench.report([run])
