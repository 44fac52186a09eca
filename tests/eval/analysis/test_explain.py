"""Why two runs differ: each cause by itself, and which comes first."""

import json

import facebench
import numpy as np
import pytest
from facebench import protocols, reports
from facebench.analysis.headlines import headline
from facebench.io import write_embeddings
from facebench.protocols import EmbeddingSet
from facebench.reports.results import run_report, runs_section


def pairs_text(folds=6, people=20):
    lines = [f"{folds}\t{people // 2}"]
    for fold in range(folds):
        names = [f"P{fold}{k:02}" for k in range(people)]
        half = people // 2
        lines += [f"{n}\t1\t2" for n in names[:half]]
        lines += [f"{names[k]}\t1\t{names[k + half]}\t1" for k in range(half)]
    return "\n".join(lines) + "\n"


class Runs:
    """Makes run folders of LFW-like lists below a folder, from people as random directions."""

    def __init__(self, folder):
        self.folder = folder
        self.write(pairs_text())

    def write(self, text):
        (self.folder / "pairs.txt").write_bytes(text.encode())

    def make(self, name, noise=0.5, seed=0, manifest=None, failed=(), **options):
        trials = protocols.read_trials("lfw", self.folder)
        people = {n: np.random.default_rng([7, i]).normal(size=12) for i, n in self._people(trials)}
        random = np.random.default_rng([8, seed])
        values = np.array(
            [
                people[trials.identity_names[k]] + noise * random.normal(size=12)
                for k in trials.identity
            ],
            np.float32,
        )
        status = np.zeros(len(values), np.uint8)
        for i in failed:
            status[i], values[i] = 1, 0
        data = EmbeddingSet(values, trials.names, status, manifest or {})
        result = protocols.evaluate("lfw", embeddings=data, trials=trials, replicates=50, **options)
        result.save(self.folder / name)
        return self.folder / name

    @staticmethod
    def _people(trials):
        return enumerate(sorted(set(trials.identity_names)))


@pytest.fixture
def runs(tmp_path):
    return Runs(tmp_path)


def explain(a, b):
    return facebench.explain(a, b, replicates=200)


def mattering(explanation):
    return {d["kind"] for d in explanation.differences if d["matters"]}


def test_a_run_against_itself_is_the_same(runs):
    a = runs.make("a")
    e = explain(a, a)
    assert e.cause == "same"
    assert e.differences == []
    assert {n["cause"] for n in e.numbers} == {"same"}
    assert all(n["paired"] is None for n in e.numbers)
    assert e.comparisons == {"common": 120, "only_a": 0, "only_b": 0}


def test_a_convention_is_taken_apart(runs):
    a, b = runs.make("a", noise=1.5), runs.make("b", noise=1.5, convention="facenet")
    e = explain(a, b)
    assert e.cause == "convention"
    assert mattering(e) == {"convention"}
    assert e.conventions == ["exact", "facenet"]
    for run, convention in ((a, "a"), (b, "b")):
        cells = reports.read_run(run)["metrics"]["tracks"]["view2"]["metrics"]
        for name, cell in cells.items():
            assert e[name][convention] == cell["value"]
    changed = [n for n in e.numbers if n["cause"] == "convention"]
    assert changed
    for n in changed:
        # The same scores: by B's rules A's number is B's.
        assert (n["a_by_b"], n["b_by_a"]) == (n["b"], n["a"])
        assert n["by_scores"] == 0
        assert n["by_convention"] == n["a"] - n["b"]
    assert e["auc"]["cause"] == "same"


def test_another_model_is_found_and_paired(runs):
    a = runs.make("a", noise=0.8, manifest={"model_sha256": "aa"})
    b = runs.make("b", noise=2.5, manifest={"model_sha256": "bb"})
    e = explain(a, b)
    assert e.cause == "model"
    first = next(d for d in e.differences if d["matters"])
    assert (first["what"], first["a"], first["b"]) == ("the weights differ", "aa", "bb")
    auc = e["auc"]
    low, high = auc["paired"]["interval"]
    assert auc["paired"]["value"] == pytest.approx(auc["a"] - auc["b"], abs=1e-12)
    assert 0 < low < auc["paired"]["value"] < high
    assert auc["paired"]["p_value"] < 0.05
    assert auc["cause"] == "model"
    text = repr(e)
    for part in ("**model**", "First: the weights differ: `aa` against `bb`", "view2: AUC"):
        assert part in text


def test_what_the_draw_explains_is_chance(runs):
    a, b = runs.make("a", noise=1.5, seed=1), runs.make("b", noise=1.5, seed=2)
    e = explain(a, b)
    assert e.cause == "chance"
    for n in e.numbers:
        assert n["cause"] in ("chance", "same")
        if n["cause"] == "chance":
            low, high = n["paired"]["interval"]
            assert low <= 0 <= high
            assert n["paired"]["p_value"] >= 0.05 - 1e-9
    # The scores do differ, and that is said.
    assert "model" in mattering(e)


def test_another_list_comes_before_everything_else(runs):
    a = runs.make("a")
    text = pairs_text().replace("P000\t1\t2\n", "P000\t1\t3\n")
    runs.write(text)
    b = runs.make("b", noise=2.5, convention="facenet")
    e = explain(a, b)
    assert e.cause == "data"
    assert mattering(e) == {"data", "model", "convention"}
    # The two lists share all pairs but one, and the pairing is on those.
    assert e.comparisons == {"common": 119, "only_a": 1, "only_b": 1}
    assert e["auc"]["paired"]["interval"][0] > 0


def test_a_list_that_says_the_same_does_not_matter(runs):
    a = runs.make("a")
    runs.write(pairs_text().replace("\n", "\r\n"))
    b = runs.make("b")
    e = explain(a, b)
    assert e.cause == "same"
    (difference,) = e.differences
    assert difference["kind"] == "data"
    assert not difference["matters"]
    assert "the comparisons are the same" in difference["what"]


def test_photographs_come_before_the_model(runs):
    a = runs.make("a", noise=0.5, manifest={"images_sha256": "1", "model_sha256": "aa"})
    b = runs.make("b", noise=2.5, manifest={"images_sha256": "2", "model_sha256": "bb"})
    e = explain(a, b)
    assert e.cause == "images"
    assert next(d for d in e.differences)["what"] == "the photographs differ"


def test_failed_enrolments_are_evidence(runs):
    a, b = runs.make("a"), runs.make("b", failed=range(0, 80, 2))
    e = explain(a, b)
    assert e.cause == "images"
    failures = next(d for d in e.differences if d["kind"] == "images")
    assert failures["a"] == "0 failed"
    assert failures["b"].startswith("40 failed; 40 of them only here, first ")


def test_the_treatment_of_failures_is_a_convention(runs):
    a = runs.make("a", failed=[0, 8])
    b = runs.make("b", failed=[0, 8], failed_enrolments="drop")
    e = explain(a, b)
    assert e.cause == "convention"
    assert e["auc"]["a_by_b"] == e["auc"]["b"]


def test_error_bars_alone_change_no_number(runs):
    a, b = runs.make("a"), runs.make("b", level=0.9)
    e = explain(a, b)
    assert e.cause == "same"
    assert [d["kind"] for d in e.differences] == ["intervals"]


def test_scores_from_nowhere_are_the_model(runs, tmp_path):
    trials = protocols.read_trials("lfw", tmp_path)
    labels = trials.tracks[0].trials.genuine
    for name, scores in (("a", labels * 1.0), ("b", np.linspace(0, 1, len(labels)))):
        result = protocols.evaluate("lfw", scores=scores, trials=trials, replicates=50)
        result.save(tmp_path / name)
    e = explain(tmp_path / "a", tmp_path / "b")
    assert e.cause == "model"
    (difference,) = e.differences
    assert difference["what"] == "the scores differ, and what made them is not recorded"


def test_threads_do_not_matter(runs):
    a, b = runs.make("a", noise=1.0), runs.make("b", noise=2.0)
    one = facebench.explain(a, b, replicates=50, threads=1).to_dict()
    assert one == facebench.explain(a, b, replicates=50, threads=3).to_dict()
    json.dumps(one, allow_nan=False)


def test_what_is_no_run_is_refused(runs, tmp_path):
    a = runs.make("a")
    with pytest.raises(facebench.Error, match="run folder"):
        facebench.explain(a, tmp_path)
    (a / "scores.h5").write_bytes(b"")
    with pytest.raises(facebench.Error):
        facebench.explain(a, a)


def test_embeddings_from_files_are_compared_by_content(runs, tmp_path):
    trials = protocols.read_trials("lfw", tmp_path)
    values = np.random.default_rng(1).normal(size=(len(trials.names), 4)).astype(np.float32)
    write_embeddings(tmp_path / "e.h5", EmbeddingSet(values, trials.names))
    for name, source in (("a", tmp_path / "e.h5"), ("b", EmbeddingSet(values, trials.names))):
        protocols.evaluate("lfw", source, trials=trials, replicates=50).save(tmp_path / name)
    e = explain(tmp_path / "a", tmp_path / "b")
    assert e.cause == "same"
    assert not mattering(e)


# --- matrices -------------------------------------------------------------------------------------


def pose_run(folder, name, noise, **options):
    """VGGFace2's pose templates in the official form, of 15 people: embeddings are a person's
    direction, that of the pose, and noise."""
    poses = 3
    lines = [f"n{p:06}/{i:04}_01.jpg" for p in range(15) for i in range(poses * 2 * 5)]
    (folder / "test_posetemp_imglist.txt").write_text("\n".join(lines) + "\n")
    trials = protocols.read_trials("vggface2_pose", folder)
    random = np.random.default_rng(4)
    people, pose = random.normal(size=(15, 32)), random.normal(size=(poses, 32))
    values = []
    for line in lines:
        person, image = int(line[1:7]), int(line[8:12])
        own = people[person] + pose[image // 10] + noise * random.normal(size=32)
        values.append(own * random.uniform(0.2, 5))
    result = protocols.evaluate(
        "vggface2_pose",
        np.array(values, np.float32),
        lines,
        trials=trials,
        replicates=50,
        **options,
    )
    result.save(folder / name)
    return folder / name


def test_matrices_are_compared_entry_by_entry(tmp_path):
    a, b = pose_run(tmp_path, "a", 0.5), pose_run(tmp_path, "b", 3.0)
    e = explain(a, b)
    assert e.cause == "model"
    same = [n for n in e.numbers if n["metric"] == "mean_similarity"]
    assert len(same) == 9
    assert {(n["row"], n["column"]) for n in same} == {
        (r, c)
        for r in ("frontal", "three_quarter", "profile")
        for c in ("frontal", "three_quarter", "profile")
    }
    matrix = reports.read_run(a)["metrics"]["tracks"]["pose"]["metrics"]["mean_similarity"]
    for n in same:
        at = matrix["rows"].index(n["row"]), matrix["columns"].index(n["column"])
        assert n["a"] == matrix["value"][at[0]][at[1]]
        assert n["paired"]["value"] == pytest.approx(n["a"] - n["b"], abs=1e-12)
        assert n["paired"]["interval"][0] > 0


def test_the_fusion_of_templates_is_a_convention(tmp_path):
    a, b = pose_run(tmp_path, "a", 1.0), pose_run(tmp_path, "b", 1.0, fusion="mean_unit")
    e = explain(a, b)
    assert e.cause == "convention"
    (difference,) = [d for d in e.differences if d["matters"]]
    assert difference["what"] == "how templates are fused differs"
    assert (difference["a"], difference["b"]) == ("mean_raw", "mean_unit")


def test_matrices_stand_in_every_report(tmp_path):
    run = pose_run(tmp_path, "a", 1.0)
    assert all(c["same"] is not False for c in reports.verify_scores(run))
    assert "mean similarity, frontal - profile" in reports.table(run)
    assert "| frontal | 0." in run_report(run)
    page = reports.report_html("A", [runs_section("B", [run])])
    # Three matrices and the scores.
    assert page.count("<svg") == 4
    assert page.count("<rect") == 27


def folder_run(root, name, noise, failed=(), **options):
    """Everybody's images compared with each other and searched for."""
    random = np.random.default_rng([9, int(10 * noise)])
    names, rows = [], []
    for person in range(12):
        middle = np.random.default_rng([7, person]).normal(size=16)
        (root / f"p{person}").mkdir(exist_ok=True)
        for image in range(4):
            names.append(f"p{person}/{image}.jpg")
            (root / names[-1]).write_text(names[-1])
            rows.append(middle + noise * random.normal(size=16))
    status = np.isin(np.arange(len(names)), failed).astype(np.uint8)
    rows = np.where(status[:, None] == 0, rows, 0).astype(np.float32)
    data = EmbeddingSet(rows, names, status)
    result = protocols.evaluate("folders", embeddings=data, root=root, replicates=50, **options)
    result.save(root.parent / name)
    return root.parent / name


def test_dense_comparisons_and_searches_are_paired(tmp_path):
    (tmp_path / "people").mkdir()
    for options in ({}, {"failed_enrolments": "drop", "failed": [3, 17]}):
        tag = "".join(options)
        a = folder_run(tmp_path / "people", "a" + tag, 0.8, **options)
        b = folder_run(tmp_path / "people", "b" + tag, 2.5, **options)
        e = explain(a, b)
        assert e.cause == "model"
        found = {(n["track"], n["metric"]): n for n in e.numbers}
        for key in (("verification", "auc"), ("verification", "tar@far=0.01")):
            n = found[key]
            assert n["paired"]["value"] == pytest.approx(n["a"] - n["b"], abs=1e-12)
            assert n["paired"]["interval"][0] > 0
        rank = found["identification", "rank@1"]
        assert rank["paired"]["value"] == pytest.approx(rank["a"] - rank["b"], abs=1e-12)
        low, high = rank["paired"]["interval"]
        assert low < rank["paired"]["value"] < high


def test_a_dense_track_under_another_convention(tmp_path):
    """A rule that needs the whole list of scores: it has an interval, too."""
    (tmp_path / "people").mkdir()
    a = folder_run(tmp_path / "people", "a", 1.5)
    b = folder_run(tmp_path / "people", "b", 1.5, convention="ijb")
    e = explain(a, b)
    assert e.cause == "convention"
    raw = reports.read_run(b)["metrics"]["tracks"]["verification"]["metrics"]["tar@far=0.01"]
    assert raw["convention"] == "ijb" and raw["interval"][0] < raw["value"] < raw["interval"][1]


def test_what_one_run_did_not_record_is_no_difference(runs):
    a = runs.make("a", manifest={"model_sha256": "aa", "torch": "2.11"})
    b = runs.make("b", manifest={"model_sha256": "aa"})
    e = explain(a, b)
    assert not any(d["what"].startswith("torch") for d in e.differences)
    c = runs.make("c", manifest={"model_sha256": "aa", "torch": "2.10"})
    assert any(d["what"].startswith("torch") for d in explain(a, c).differences)


def test_the_text_says_what_chance_means_and_names_the_correction(runs):
    a, b = runs.make("a", noise=1.5, seed=1), runs.make("b", noise=1.5, seed=2)
    e = explain(a, b)
    text = repr(e)
    assert "**chance**: the difference cannot be told from chance." in text
    tests = sum(n["paired"] is not None for n in e.numbers)
    assert f"p (Holm) is adjusted for the comparisons made, {tests}" in text


@pytest.mark.parametrize("noise", [0.8, 1.25, 1.3, 1.35, 1.4, 1.5])
def test_the_heading_says_what_the_rows_say(runs, noise):
    a = runs.make("a", noise=1.2, seed=1, manifest={"model_sha256": "aa"})
    b = runs.make("b", noise=noise, seed=2, manifest={"model_sha256": "bb"})
    e = explain(a, b)
    tested = [n for n in e.numbers if n["paired"] and n["a"] != n["b"]]
    # Holm by hand, over all that was tested.
    every = [n for n in e.numbers if n["paired"]]
    order = sorted(every, key=lambda n: n["paired"]["p_value"])
    least = 0.0
    for k, n in enumerate(order):
        least = max(least, min(1, n["paired"]["p_value"] * (len(order) - k)))
        assert n["adjusted_p"] == pytest.approx(least)
    for n in tested:
        if n["adjusted_p"] < 0.05:
            assert n["cause"] == "model"
        else:
            assert n["cause"] == ("undecided" if n["paired"]["p_value"] < 0.05 else "chance")
    kinds = ["model", "undecided", "chance", "same"]
    assert e.cause == min((n["cause"] for n in e.numbers), key=kinds.index)
    assert repr(e).partition("**")[2].startswith(f"{e.cause}**")


def test_hashes_are_short_and_what_follows_is_not_news(runs):
    hashes = ["a1" * 32, "b2" * 32]
    a, b = (runs.make(n, noise=s, manifest={"model_sha256": h, "embeddings_sha256": h})
            for n, s, h in (("a", 0.8, hashes[0]), ("b", 2.5, hashes[1])))  # fmt: skip
    e = explain(a, b)
    text = repr(e)
    assert "`a1a1a1a1a1a1…` against `b2b2b2b2b2b2…`" in text and hashes[0] not in text
    assert "the embeddings" not in text
    assert hashes[0] in str(e.to_dict())


def test_an_entry_of_a_matrix_ranks_runs(tmp_path):
    folders = [pose_run(tmp_path, name, noise) for name, noise in (("a", 0.5), ("b", 3.0))]
    wanted = "dprime[frontal,profile]"
    ranking = reports.rank_runs(folders, "pose", wanted, replicates=50)
    for folder, place in zip(folders, ranking["places"], strict=True):
        metrics = reports.read_run(folder)["metrics"]
        assert place["value"] == metrics["tracks"]["pose"]["metrics"]["dprime"]["value"][0][2]
        track, name, cell = headline(metrics)
        assert (track, name, cell["value"]) == ("pose", wanted, place["value"])
        assert len(cell["interval"]) == 2
        asked = {"track": "pose", "metric": "mean_similarity[profile,frontal]"}
        entry = metrics["tracks"]["pose"]["metrics"]["mean_similarity"]
        assert headline(metrics, asked)[2]["value"] == entry["value"][2][0]
    (explained,) = (
        n["paired"]
        for n in facebench.explain(*folders, replicates=50).numbers
        if (n["metric"], n["row"], n["column"]) == ("dprime", "frontal", "profile")
    )
    assert ranking["pairs"][0]["p_value"] == explained["p_value"]
    for name in ("dprime", "dprime[frontal,behind]", "accuracy[frontal,profile]", "dprime[frontal"):
        with pytest.raises(ValueError, match="number"):
            reports.rank_runs(folders, "pose", name)


def _pairs_run(folder, rows):
    listed = folder.with_suffix(".csv")
    listed.write_text(
        "img1,img2,label,score\n" + "".join(f"{a},{b},{y},{s}\n" for a, b, y, s in rows)
    )
    facebench.evaluate("pairs", scores=listed, out=folder)
    return folder


def test_what_cannot_be_compared_on_the_same_draws_says_why(tmp_path):
    genuine = [(f"p{i}/1.jpg", f"p{i}/2.jpg", 1, 0.9 - 0.01 * i) for i in range(12)]
    near = [(f"p{i}/1.jpg", f"p{i + 1}/2.jpg", 0, 0.1) for i in range(11)]
    far = [(f"p{i}/1.jpg", f"p{(i + 3) % 12}/2.jpg", 0, 0.95) for i in range(12)]
    others = [(a.replace("p", "q"), b.replace("p", "q"), y, s) for a, b, y, s in genuine + near]
    a = _pairs_run(tmp_path / "a", genuine + near)
    # Of what a and b share, nothing is an impostor comparison; a and c share nothing.
    for other, why in (
        (
            _pairs_run(tmp_path / "b", genuine + far),
            "12 genuine and 0 impostor comparisons are left",
        ),
        (_pairs_run(tmp_path / "c", others), "the runs do not hold the same comparisons"),
    ):
        found = facebench.explain(a, other, replicates=50)
        assert all(n["paired"] is None and why in n["not_paired"] for n in found.numbers)
        assert "No interval of a difference: " in str(found) and why in str(found)
        page = facebench.report([a, other], format="html", out=tmp_path / "r.html")
        assert why in page.read_text()
