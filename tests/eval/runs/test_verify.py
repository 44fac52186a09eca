"""What `verify` finds: every single alteration of run.json, its circumstance apart."""

import copy
import json
import re
import shutil

import facebench
import h5py
import numpy as np
import pytest
from facebench import _eval, io, protocols, reports
from facebench.reports.results import write_run_pages
from json_alterations import another, changed, places

pytestmark = pytest.mark.usefixtures("forged")


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


def alterations(document):
    """(place, the document with one thing changed) for all but the circumstance."""
    for at, value in places(document):
        if not at or at[0] == "circumstance":
            continue
        yield at, changed(document, at, another(value))
        yield at, changed(document, at, None if value is not None else 0)
        yield at, changed(document, at, KeyError)
    yield ("more",), changed(document, ("more",), 1)


def said_by(verify, folder):
    """What a verification says that is not "the same"; an error says it, too. That embeddings were
    an array, and are not there, is so of the folder as it was written."""
    try:
        checks = [c for c in verify(folder) if c["name"] != "scores from embeddings"]
        return " ".join(f"{c['name']}: {c['detail']}" for c in checks if not c["same"])
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
        path.write_text(json.dumps(signed(changed(document, ("content", *at), "other"))))
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


# --- what a forger might do -----------------------------------------------------------------------


def forge(run, change, seal, copies=True):
    """Changes the content of run.json and, where `copies`, its copy in scores.h5; writes all hashes
    anew."""
    document = json.loads((run / "run.json").read_text())
    change(document["content"])
    (run / "run.json").write_text(json.dumps(document))
    if copies:
        content = {k: v for k, v in document["content"].items() if k != "outputs"}
        with h5py.File(run / "scores.h5", "r+") as file:
            del file["content"]
            file["content"] = np.frombuffer(json.dumps(content).encode(), np.uint8)
    seal(run)


def named(run, root=""):
    """{name: detail} of what differs, and what was not checked."""
    checks = facebench.verify(run, root).checks
    return {c["name"]: c["detail"] for c in checks if c["same"] is False}, [
        c["name"] for c in checks if c["same"] is None
    ]


def test_a_content_without_its_hash_is_refused(run, saved):
    document = json.loads((run / "run.json").read_text())
    document["content"]["protocol"]["title"] = "Another"
    del document["content_sha256"]
    (run / "run.json").write_text(json.dumps(document))
    rule = '[[rules]]\nname = "title"\nvalue = "content/protocol/title"\npresent = true\n'
    (run.parent / "rules.toml").write_text('id = "a"\nversion = 1\n' + rule)
    for read in (
        lambda: facebench.report([run]),
        lambda: facebench.plan(run),
        lambda: facebench.inspect(run),
        lambda: facebench.explain(saved, run),
        lambda: facebench.check(run, run.parent / "rules.toml"),
    ):
        with pytest.raises(facebench.Error, match="lacks the hash of its content"):
            read()


@pytest.mark.parametrize("page", ["report.md", "report.html"])
def test_a_page_that_is_not_the_runs_is_named(run, page):
    assert named(run)[0] == {}
    text = (run / page).read_text()
    (run / page).write_text(re.sub(r"\d\d\.\d\d", "99.75", text, count=1))
    assert (run / page).read_text() != text
    assert "is not the page of this run" in named(run)[0][page]
    (run / page).unlink()
    assert page in named(run)[1]


def test_pages_are_those_of_a_folder_that_was_renamed(run):
    run.rename(run.parent / "elsewhere")
    assert named(run.parent / "elsewhere")[0] == {}


def test_what_is_no_file_of_the_run_is_not_checked(run):
    (run / "roc.svg").write_text("<svg/>")
    assert "roc.svg" in named(run)[1]


def test_scores_that_say_they_are_of_an_earlier_format(run, seal):
    with h5py.File(run / "scores.h5", "r+") as file:
        manifest = json.loads(bytes(file["manifest"][()]))
        del file["manifest"], file["content"]
        text = json.dumps(manifest | {"format": 4}).encode()
        file["manifest"] = np.frombuffer(text, np.uint8)
    document = json.loads((run / "run.json").read_text())
    del document["content_sha256"]
    content = document["content"]
    content["protocol"]["title"], content["embedder"] = "LFW, official", "ours"
    content["tracks"]["view2"]["people"] = 9
    (run / "run.json").write_text(json.dumps(document))
    outputs = content["outputs"]
    outputs |= {file: facebench.io.sha256_file(run / file) for file in outputs}
    (run / "run.json").write_text(json.dumps(document))
    different, unchecked = named(run)
    assert "/protocol/title" in different["content of run.json"]
    assert "rest of run.json" in unchecked
    (said,) = [c for c in facebench.verify(run).checks if c["name"] == "rest of run.json"]
    assert "before format 5" in said["detail"] and "embedder" in said["detail"]


def test_the_summary_counts_what_was_checked(run):
    found = facebench.verify(run)
    last = str(found).splitlines()[-1]
    assert found.same and found.unchecked == ["scores from embeddings"]
    n = len(found.checks)
    assert last == f"{n - 1} of {n} are the same; not checked: scores from embeddings"


def test_comparisons_that_are_not_those_of_the_list(run, saved, seal):
    """A list of one's own, evaluated, under the hash of the true one."""
    root = saved.parent
    true = (root / "pairs.txt").read_bytes()
    mine = run.parent / "mine"
    mine.mkdir()
    (mine / "pairs.txt").write_bytes(true.replace(b"A0\t1\tA2\t1", b"A0\t1\tA3\t1", 1))
    scores = np.linspace(1, 0, 8)
    result = protocols.evaluate("lfw", scores=scores, root=mine, interval="none")
    result.save(run.parent / "forged")
    forged = run.parent / "forged"
    digest = facebench.io.sha256_hex(true)
    forge(forged, lambda c: c["inputs"][0].update(sha256=digest), seal)
    write_run_pages(forged)
    different, _ = named(forged, root)
    assert list(different) == ["comparisons from the lists"]
    assert "where the lists have A2/A2_0001.jpg" in different["comparisons from the lists"]


def test_what_the_lists_say_and_the_run_does_not(run, saved, seal):
    forge(run, lambda c: c.update(notes=[]), seal)
    assert "lacks a note" in named(run)[0]["comparisons from the lists"]
    shutil.copytree(saved, run, dirs_exist_ok=True)
    forge(run, lambda c: c.update(inputs=[]), seal)
    assert "among its inputs" in named(run)[0]["comparisons from the lists"]


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"interval_rules": 99}, "content of run.json"),
        ({"interval_rules": "2"}, "content of run.json"),
        ({"limit": 8}, "comparisons from the lists"),
        ({"embedder": "ArcFace"}, "run.json against pack.h5 and embeddings.h5"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
def test_what_no_evaluation_says_of_itself(run, saved, seal, change, where):
    """In both copies, with hashes and pages anew."""
    forge(run, lambda content: content.update(change), seal)
    write_run_pages(run)
    assert set(named(run, saved.parent)[0]) == {where}


def test_curves_that_no_part_of_the_run_names(run, seal):
    (run / "curves.json").unlink()
    document = json.loads((run / "run.json").read_text())
    del document["content"]["outputs"]["curves.json"]
    (run / "run.json").write_text(json.dumps(document))
    seal(run)
    write_run_pages(run)
    assert "No such file" in named(run)[0]["curves from scores"]


def test_embeddings_that_run_json_says_are_others(saved, tmp_path, seal):
    names = protocols.read_trials("lfw", saved.parent).names
    values = np.random.default_rng(2).normal(size=(len(names), 8)).astype(np.float32)
    io.write_embeddings(tmp_path / "e.h5", io.EmbeddingSet(values, names))
    run = tmp_path / "run"
    place = {"embeddings": tmp_path / "e.h5", "root": saved.parent}
    facebench.evaluate("lfw", **place, interval="none", out=run)
    assert named(run)[0] == {}
    forge(run, lambda c: c["embeddings"].update(manifest={"model": "ArcFace"}), seal)
    write_run_pages(run)
    assert "of the embeddings: /manifest" in named(run)[0]["scores from e.h5"]


@pytest.mark.parametrize(
    "change",
    [
        ('title = "LFW View 2"', 'title = "LFW View 2\u200b"'),
        ('title = "LFW View 2"', 'title = "LFW V\u0456ew 2"'),  # a letter of another script
        ('title = "LFW View 2"', 'title = "\u202eLFW  view-2"'),
        ('title = "LFW View 2"', 'title = "Mine"'),
    ],
    ids=["nothing-seen", "cyrillic", "spelled", "by-its-id"],
)
def test_a_protocol_that_looks_like_another(saved, tmp_path, change):
    own = "LFW" if "Mine" in change[1] else "mine"
    text = (
        protocols.load_protocol("lfw").text.replace(*change).replace('id = "lfw"', f'id = "{own}"')
    )
    (tmp_path / "own.toml").write_text(text)
    scores = {"scores": np.linspace(1, 0, 8), "root": saved.parent, "interval": "none"}
    facebench.evaluate(tmp_path / "own.toml", **scores, out=tmp_path / "run")
    assert "Not facebench's lfw" in named(tmp_path / "run")[0]["protocol"]


def test_a_protocol_of_ones_own_that_looks_like_none(saved, tmp_path):
    text = protocols.load_protocol("lfw").text.replace('id = "lfw"', 'id = "\u4eba\u8138\u4e00"')
    text = text.replace('title = "LFW View 2"', 'title = "LFW View 2 without twins"')
    (tmp_path / "own.toml").write_text(text)
    scores = {"scores": np.linspace(1, 0, 8), "root": saved.parent, "interval": "none"}
    facebench.evaluate(tmp_path / "own.toml", **scores, out=tmp_path / "run")
    assert named(tmp_path / "run")[0] == {}


@pytest.mark.parametrize("change", [("version = ", "version = 1"), ('id = "lfw"', 'id = "mine"')])
def test_a_protocol_under_the_name_of_another(saved, tmp_path, change):
    text = protocols.load_protocol("lfw").text
    without = text[: text.index("[[expected]]")].replace(*change, 1)
    (tmp_path / "lfw.toml").write_text(without if "id" in change[0] else text + "# mine\n")
    result = facebench.evaluate(
        tmp_path / "lfw.toml", scores=np.linspace(1, 0, 8), root=saved.parent, interval="none"
    )
    result.save(tmp_path / "run")
    assert "Not facebench's lfw" in named(tmp_path / "run")[0]["protocol"]
    for kind in ("text", "markdown", "latex"):
        assert "Not facebench's lfw" in facebench.report([tmp_path / "run"], format=kind)
    for page in ("report.md", "report.html"):
        assert "Not facebench" in (tmp_path / "run" / page).read_text()
    assert "Not facebench" not in facebench.report([saved])


def test_intervals_of_an_earlier_rule(saved, tmp_path, seal):
    result = facebench.evaluate(
        "lfw", scores=np.linspace(1, 0, 8), root=saved.parent, replicates=50
    )
    run = tmp_path / "run"
    result.save(run)
    metrics = json.loads((run / "metrics.json").read_text())
    metrics["tracks"]["view2"]["metrics"]["auc"]["interval"][0] = 0.01
    (run / "metrics.json").write_text(_eval.pretty_json(metrics))
    forge(run, lambda c: c, seal)
    assert "auc/interval/0" in named(run)[0]["metrics from scores"]
    forge(run, lambda c: c.pop("interval_rules"), seal)
    different, unchecked = named(run)
    assert "metrics from scores" not in different
    assert "metrics from scores: intervals" in unchecked
    assert "another rule since facebench" in str(facebench.verify(run))
    metrics["tracks"]["view2"]["metrics"]["auc"]["value"] += 0.01
    (run / "metrics.json").write_text(_eval.pretty_json(metrics))
    seal(run)
    assert "auc/value" in named(run)[0]["metrics from scores"]
