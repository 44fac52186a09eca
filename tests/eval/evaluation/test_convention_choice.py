"""Every convention with every protocol: the numbers are those of a transcription of the published
rule, or the convention is refused by name, with those that can."""

import functools
import importlib.util
import json
import math
import tomllib
from pathlib import Path

import facebench
import numpy as np
import pytest
from facebench import metrics, protocols, reports
from facebench.reports.results import runs_section

pytest.importorskip("torch")
from facebench import datasets


def transcriptions(name):
    """The published rules in numpy, where the functions of the metrics are tested against them."""
    path = Path(__file__).parents[1] / f"metrics/{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


accuracies = transcriptions("test_metrics")
tars = transcriptions("test_tar_at_far_conventions")
searching = transcriptions("test_identification")

ROOT = Path(__file__).resolve().parents[3]
PROTOCOLS = {
    p.stem: tomllib.loads(p.read_text()) for p in sorted((ROOT / "protocols").glob("*.toml"))
}
# What each project publishes a rule for, read in its scripts (docs/metrics.md names them).
RULES = {
    "exact": {"accuracy", "tar_at_far", "dir_at_fpir"},
    "facenet": {"accuracy", "tar_at_far"},
    "insightface": {"accuracy", "tar_at_far"},
    "facexzoo": {"accuracy", "tar_at_far"},
    "sphereface": {"accuracy"},
    "sphereface_pytorch": {"accuracy"},
    "magface": {"accuracy", "tar_at_far"},
    "ijb": {"tar_at_far"},
    "ijb_1n": {"tar_at_far", "dir_at_fpir"},
    "ijb_evals": {"dir_at_fpir"},
    "pfe": {"tar_at_far"},
    "cvlface": {"accuracy", "tar_at_far"},
    "bob": {"tar_at_far"},
    "openbr": {"tar_at_far"},
    "fare": {"tar_at_far"},
    "insightface_gui": {"tar_at_far"},
}
# Metrics that are one rule: a threshold is that of its TAR.
OF = {"threshold_at_far": "tar_at_far", "tpir20_at_fpir": "dir_at_fpir"}
# Which transcription stands for a convention that takes over another project's rule.
ACCURACY = {"cvlface": "insightface"}
TAR = {"facexzoo": "ijb", "magface": "ijb", "insightface": "facenet"}
TARS, SEARCHES = {}, {}  # protocols of one kind have the same scores
# The trials of one synthetic set serve the protocols of the same kind.
KINDS = {
    "lfw": (
        *("lfw", "agedb30", "calfw", "cfp_ff", "cfp_fp", "cplfw", "bin"),
        *("lfw_bin", "agedb30_bin", "calfw_bin", "cfp_ff_bin", "cfp_fp_bin", "cplfw_bin"),
        *("mlfw", "rfw", "sllfw", "talfw", "xqlfw", "bfw", "celeba_pairs"),
        *("hadrian_bin", "eclipse_bin", "nd_twins_bin"),
    ),
    "lfw_view1": (
        "lfw_view1",
        "pairs",
        "umdfaces_listed",
        "ijba_1_1",
        "ijbb_1_1",
        "ijbc_1_1",
        "survface_1_1",
    ),
    "lfw_search": (
        *("lfw_search", "ijba_1_n", "ijbb_1_n", "ijbb_1_n_pooled"),
        *("ijbc_1_n", "ijbc_1_n_pooled", "tinyface", "lfw_blufr_1_n", "survface_1_n"),
    ),
    "folders": ("folders", "lfw_blufr_1_1"),
    "dfw": ("dfw",),
    "ijba_quality": ("ijba_quality",),
    "umdfaces": ("umdfaces",),
    "vggface2_pose": ("vggface2_pose",),
    "vggface2_age": ("vggface2_age",),
}
PEOPLE = {
    "lfw": (60, 3),
    "dfw": (4, 6),
    "ijba_quality": (12, 6),
    "umdfaces": (4, 12),
    "vggface2": (4, 1),
}


@pytest.fixture(scope="module")
def trials(tmp_path_factory):
    """{protocol: trials of its kind}"""
    folder = tmp_path_factory.mktemp("faces")
    for layout, (people, images) in PEOPLE.items():
        faces = datasets.SyntheticOptions(
            people=people,
            images=images,
            size=32,
            supersampling=1,
            protocol=layout,
            pairs_per_fold=15,
        )
        datasets.write_synthetic_dataset(faces, folder / layout)
    write_people(folder / "search")
    write_folders(folder / "folders")
    result = {}
    for kind, names in KINDS.items():
        layout = {"lfw_view1": "lfw", "lfw_search": "search"}.get(kind, kind)
        root = folder / layout.removesuffix("_pose").removesuffix("_age")
        result |= dict.fromkeys(names, protocols.read_trials(kind, root))
    return result


def write_people(root):
    """LFW's list of people: 110 with two or three photographs, 50 with one."""
    lines = ["10"]
    for fold in range(10):
        lines.append("16")
        lines += [f"P{fold}{k:02}\t{1 if k < 5 else 2 + k % 2}" for k in range(16)]
    root.mkdir()
    (root / "people.txt").write_text("\n".join(lines) + "\n")


def write_folders(root):
    for person in range(12):
        for image in range(1 + person % 4):
            path = root / f"p{person}" / f"{image}.jpg"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(str(path))


def embeddings_of(trials):
    random = np.random.default_rng(7)
    centre = random.normal(size=24)  # what all share, and the mean of the training folds takes away
    people = random.normal(size=(len(trials.identity_names), 24))
    noise = random.normal(size=(len(trials.names), 24))
    return (centre + people[trials.identity] + 1.3 * noise).astype(np.float32)


def evaluate(protocol, trials, **options):
    options = {"interval": "none"} | options
    return protocols.evaluate(
        protocol, embeddings_of(trials), trials.names, trials=trials, **options
    )


def test_the_table_is_the_library_s():
    own = {
        c["name"]: {
            metric
            for metric, key in (
                ("accuracy", "accuracy"),
                ("tar_at_far", "tar_at_far"),
                ("dir_at_fpir", "identification"),
            )
            if c[key]
        }
        for c in protocols.list_conventions()
    }
    assert own == RULES
    assert {name for names in KINDS.values() for name in names} == set(PROTOCOLS)


def refusals(protocol, convention):
    """Parts of the messages of which one must come; none: the numbers must."""
    asked = [m["name"] for m in PROTOCOLS[protocol]["metrics"]]
    needed = {OF.get(m, m) for m in asked} & set.union(*RULES.values())
    if not needed and convention != "exact":
        return ["decides none of its metrics"]
    if needed and not needed & RULES[convention]:
        return [f"has no rule for {m}; these have one: exact" for m in asked]
    folds = "accuracy" in asked
    if "tar_at_far" in needed and convention in ("facenet", "insightface") and not folds:
        return ["give at least two folds"]
    if "threshold_at_far" in asked and convention in ("openbr", "fare"):
        return ["interpolates and has no threshold; these have one: exact"]
    return []


@functools.cache
def accuracy_by_hand(rule, trials):
    """Of the first track, a list with folds. Trials are the same for protocols of one kind."""
    choose, accept, reject, _ = accuracies.RULES[rule]
    track = trials.tracks[0].trials
    labels, folds = np.array(track.genuine), np.array(track.fold)
    values = embeddings_of(trials).astype(float)
    first, second = (values[c] for c in track.comparisons.T)
    if rule in ("sphereface", "magface"):
        return np.mean(accuracies.centred(first, second, labels, folds, rule))
    scores = (
        np.sum(first * second, 1) / np.linalg.norm(first, axis=1) / np.linalg.norm(second, axis=1)
    )
    return np.mean(accuracies.published_accuracy(scores, labels, folds, choose, accept, reject)[0])


def tar_by_hand(rule, scores, labels, folds, far):
    """None where it is undefined."""
    key = rule, far, scores.tobytes()
    if key not in TARS:
        TARS[key] = tar_by_rule(rule, scores, labels, folds, far)
    return TARS[key]


def tar_by_rule(rule, scores, labels, folds, far):
    if rule == "exact":
        falling = np.sort(scores[labels == 0])[::-1]
        distinct = [t for t in np.unique(scores) if np.mean(falling >= t) <= far]
        return np.mean(scores[labels == 1] >= distinct[0]) if distinct else 0.0
    if rule == "facenet":
        return accuracies.facenet_val(scores, labels, folds, far)[0]
    found = getattr(tars, rule)(scores, labels, far)
    return found if found is None else found[0]


def searched(track, trials):
    probes, gallery = (
        (track.trials.probes, track.trials.gallery)
        if hasattr(track.trials, "probes")
        else (track.trials.rows, track.trials.columns)
    )
    identity = np.asarray(trials.identity)
    return np.asarray(track.scores, float), identity[probes], identity[gallery]


def by_hand(case):
    """searches_by_hand(), once for each case."""
    key = case[0].tobytes()
    if key not in SEARCHES:
        SEARCHES[key] = list(searching.searches_by_hand(*case))
    return SEARCHES[key]


def dir_by_hand(rule, case, fpir):
    similarity, probes, gallery = case
    if rule == "ijb_1n":
        mated = np.isin(probes, gallery)
        return searching.ijb_1n(similarity[mated], probes[mated], gallery, fpir)[0]
    if rule == "ijb_evals":
        return searching.ijb_evals(*case, fpir)[0]
    hand = by_hand(case)
    alone = np.array([score for mated, score, _, _ in hand if not mated])
    mates = np.array([score for mated, score, _, _ in hand if mated])
    first = np.array([ahead + tied == 0 for mated, _, ahead, tied in hand if mated])
    allowed = [t for t in [*{h[1] for h in hand}, np.inf] if np.mean(alone >= t) <= fpir]
    return max(np.mean((mates >= t) & first) for t in allowed)


def rank_by_hand(case, rank, ties="pessimistic"):
    places = [(a, t) for mated, _, a, t in by_hand(case) if mated]
    if ties == "optimistic":
        return np.mean([a + 1 <= rank for a, _ in places])
    return np.mean([a + t + 1 <= rank for a, t in places])


def check(result, protocol, convention, trials):
    """What the convention has no rule for is compared with the exact rule."""
    compared = 0
    by = {
        metric: convention if metric in RULES[convention] else "exact" for metric in RULES["exact"]
    }
    for track in result.tracks.values():
        if track.kind == "summary":
            continue
        folds = (
            np.array(track.trials.fold) if getattr(track.trials, "fold", None) is not None else None
        )
        pairs = track.labelled_scores() if track.kind in ("listed", "dense") else None
        for name, cell in track.metrics.items():
            metric, _, target = name.replace("@", "=").partition("=")
            far = float(target.rpartition("=")[2] or 0)
            if metric == "accuracy":
                rule = ACCURACY.get(by["accuracy"], by["accuracy"])
                expected = accuracy_by_hand(rule, trials)
                assert cell.convention == rule
            elif metric in ("tar", "threshold"):
                rule = TAR.get(by["tar_at_far"], by["tar_at_far"])
                expected = tar_by_hand(rule, *pairs, folds, far)
                assert expected is not None
                value = cell.tar if metric == "threshold" else cell.value
                assert value == pytest.approx(expected, abs=1e-7), (track.name, name)
                compared += 1
                continue
            elif metric == "dir":
                rule = by["dir_at_fpir"]
                expected = dir_by_hand(rule, searched(track, trials), far)
                assert cell.convention == rule
            elif metric == "rank":
                expected = rank_by_hand(searched(track, trials), far)
            else:
                continue  # one definition, whatever the convention: tested elsewhere
            assert cell.value == pytest.approx(expected, abs=1e-12), (track.name, name)
            compared += 1
    return compared


@pytest.mark.parametrize("protocol", sorted(PROTOCOLS))
def test_every_convention(protocol, trials):
    asked = {m["name"] for m in PROTOCOLS[protocol]["metrics"]}
    for convention in RULES:
        expected = refusals(protocol, convention)
        try:
            result = evaluate(protocol, trials[protocol], convention=convention)
        except (ValueError, facebench.Error) as error:
            message = str(error)
            undefined = convention == "insightface_gui" and "undefined under" in message
            assert undefined or any(e in message for e in expected), (convention, message)
            assert convention in message or "folds" in message
            continue
        assert not expected, convention
        assert result.options.convention == convention
        compared = check(result, protocol, convention, trials[protocol])
        assert compared > 0 or not asked & {"accuracy", "tar_at_far", "rank", "dir_at_fpir"}
        if convention == "exact":
            definitions = {t: dict(r.metrics) for t, r in result.tracks.items()}
        for track, cells in definitions.items():  # AUC and the like follow no convention
            for name in {"auc", "eer", "mean_similarity", "dprime"} & set(cells):
                np.testing.assert_array_equal(
                    result.tracks[track].metrics[name].value, cells[name].value
                )


def test_what_a_convention_has_no_rule_for_says_so_in_each_cell(trials, tmp_path):
    lfw = trials["lfw"]
    evaluate("lfw", lfw, convention="sphereface", out=tmp_path / "run")
    text = (tmp_path / "run/report.md").read_text()
    assert "convention `sphereface (TAR at FAR: exact)`" in text
    rows = [line for line in text.splitlines() if line.startswith("| TAR at FAR")]
    assert rows and all("; rule: exact |" in row for row in rows)
    assert "rule: exact" not in "".join(r for r in text.splitlines() if r.startswith("| accuracy"))
    page = (tmp_path / "run/report.html").read_text()
    shown = str(facebench.report([tmp_path / "run"], format="text"))
    assert page.count("rule: exact") == shown.count("(rule: exact)") == len(rows)
    exact = evaluate("lfw", lfw, out=tmp_path / "exact")
    assert facebench.explain(tmp_path / "run", tmp_path / "exact").to_dict()
    for folder in ("run", "exact"):
        assert facebench.verify(tmp_path / folder).same
    assert "rule:" not in (tmp_path / "exact/report.md").read_text()
    assert exact.options.tar_at_far_convention == "exact"


def test_rules_of_single_metrics(trials):
    lfw = trials["lfw"]
    result = evaluate("lfw", lfw, convention="sphereface", tar_at_far_convention="bob")
    track = result["view2"]
    scores, labels = track.labelled_scores()
    assert track["accuracy"].convention == "sphereface"
    assert track["tar@far=0.1"].value == pytest.approx(tars.bob(scores, labels, 0.1)[0], abs=1e-12)
    search = evaluate(
        "lfw_search", trials["lfw_search"], identification_convention="ijb_evals",
        rank_ties="optimistic",
    )  # fmt: skip
    track = next(iter(search.tracks.values()))
    case = searched(track, trials["lfw_search"])
    assert track["dir@fpir=0.1"].value == dir_by_hand("ijb_evals", case, 0.1)
    assert track["rank@1"].value == rank_by_hand(case, 1, "optimistic")
    assert track["rank@1"].ties == "optimistic"
    for options, message in (
        ({"accuracy_convention": "facenot"}, "did you mean 'facenet'"),
        ({"rank_ties": "optimistic"}, "has no metric that rank_ties 'optimistic' is for"),
    ):
        with pytest.raises(ValueError, match=message):
            evaluate("lfw", lfw, **options)


def test_ties_decide_ranks_where_scores_are_equal(trials):
    own = trials["lfw_search"]
    track = own.tracks[0].trials
    scores = np.zeros(len(track.probes) * len(track.gallery))
    rates = {
        ties: protocols.evaluate(
            "lfw_search", scores=scores, trials=own, interval="none", rank_ties=ties
        ).tracks.popitem()[1]["rank@1"].value
        for ties in ("pessimistic", "optimistic")
    }  # fmt: skip
    assert rates == {"pessimistic": 0, "optimistic": 1}


def test_a_protocol_names_its_rules(trials, tmp_path):
    text = (ROOT / "protocols/lfw_search.toml").read_text()
    assert 'convention = "exact"' in text
    rules = 'identification_convention = "ijb_1n"\nrank_ties = "expected"'
    own = tmp_path / "own.toml"
    own.write_text(text.replace('convention = "exact"', f'convention = "exact"\n{rules}'))
    result = evaluate(own, trials["lfw_search"])
    assert result.options.identification_convention == "ijb_1n"
    assert result.options.rank_ties == "expected"
    # Whoever names a convention gets that one.
    assert (
        evaluate(own, trials["lfw_search"], convention="exact").options.rank_ties == "pessimistic"
    )
    own.write_text(own.read_text().replace("expected", "expectet"))
    with pytest.raises(facebench.Error, match=r"own.toml:\d+.*did you mean 'expected'"):
        protocols.load_protocol(own)


def test_a_centred_accuracy_needs_embeddings_and_says_what_they_are(trials, tmp_path):
    lfw = trials["lfw"]
    options = {"convention": "sphereface", "tar_at_far_convention": "exact", "replicates": 30}
    n = len(lfw.tracks[0].trials.comparisons)
    with pytest.raises(
        facebench.Error, match=r"'sphereface' subtracts the mean.*enough for: exact, "
    ):
        protocols.evaluate("lfw", scores=np.zeros(n), trials=lfw, **options)
    result = evaluate("lfw", lfw, **options, interval="components")
    cell = result.accuracy
    assert cell.low < cell.value < cell.high
    plain = evaluate("lfw", lfw).accuracy.value
    assert cell.value > plain + 0.02  # what all share is taken away
    # The numbers come out of scores.h5 again, and the scores out of the embeddings.
    embeddings = facebench.io.EmbeddingSet(embeddings_of(lfw), lfw.names)
    facebench.io.write_embeddings(tmp_path / "e.h5", embeddings)
    kept = protocols.evaluate("lfw", tmp_path / "e.h5", trials=lfw, **options)
    kept.save(tmp_path / "run")
    checks = reports.verify_scores(tmp_path / "run")
    assert all(c["same"] is not False for c in checks)
    assert "scores from e.h5" in [c["name"] for c in checks]
    header = (tmp_path / "run/report.md").read_text().split("\n")[2]
    assert "convention `sphereface (TAR at FAR: exact)`" in header
    how = {"extract": {"normalization": "unit"}}
    unit = facebench.io.EmbeddingSet(embeddings_of(lfw), lfw.names, None, how)
    noted = protocols.evaluate("lfw", unit, trials=lfw, **options)
    assert any("normalization=none" in note for note in noted.notes)


def test_failed_sides_have_no_part_in_the_mean(trials):
    lfw = trials["lfw"]
    values = embeddings_of(lfw)
    status = np.zeros(len(values), int)
    status[::7] = 1
    options = {"convention": "magface", "interval": "none"}
    values[status == 1] = 0
    counted = protocols.evaluate("lfw", values, lfw.names, status=status, trials=lfw, **options)
    track = counted["view2"]
    folds, labels = np.array(track.trials.fold), np.array(track.trials.genuine)
    first, second = track.trials.comparisons.T
    good = (status[first] == 0) & (status[second] == 0)
    dropped = protocols.evaluate(
        "lfw", values, lfw.names, status=status, trials=lfw, failed_enrolments="drop", **options
    )
    # They are compared with the lowest score, by the means of the others.
    choose, accept, reject, _ = accuracies.RULES["magface"]
    right = []
    for fold in np.unique(folds):
        train = folds != fold
        mean = np.concatenate([values[first][train & good], values[second][train & good]])
        mean = mean.astype(float).mean(0)
        a, b = values[first] - mean, values[second] - mean
        s = np.sum(a * b, 1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
        s[~good] = -1
        t = choose(s[train], labels[train])
        right.append(np.where(labels == 1, accept(s, t), reject(s, t))[~train].mean())
    assert counted.accuracy.value == pytest.approx(np.mean(right), abs=1e-12)
    labels, folds = labels[good], folds[good]
    expected = accuracies.centred(
        values[first][good].astype(float),
        values[second][good].astype(float),
        labels,
        folds,
        "magface",
    )
    assert dropped.accuracy.value == pytest.approx(np.mean(expected), abs=1e-12)


def test_ranks_stand_in_numeric_order_and_footnotes_name_their_rate(trials, tmp_path):
    run = tmp_path / "run"
    evaluate("lfw_search", trials["lfw_search"]).save(run)
    text = (run / "report.md").read_text()
    assert json.loads((run / "metrics.json").read_text())
    places = [text.index(f"| rank {k} |") for k in (1, 5, 10, 100) if f"| rank {k} |" in text]
    assert places == sorted(places) and len(places) >= 3
    assert "false positives at this FPIR" in text and "false accepts" not in text
    page = reports.report_html("x", [runs_section("x", [run])])
    assert page.index("rank 5") < page.index("rank 10")
    assert "false positives at this FPIR" in page
    evaluate("lfw", trials["lfw"]).save(tmp_path / "lfw")
    both = reports.table([run, tmp_path / "lfw"])
    assert "false accepts at this FAR or false positives at this FPIR" in both


def test_a_threshold_needs_a_rule_that_has_one(trials):
    with pytest.raises(facebench.Error, match="'fare' interpolates and has no threshold"):
        evaluate("folders", trials["folders"], tar_at_far_convention="fare")
    cell = evaluate("folders", trials["folders"], convention="bob")["verification"]
    assert math.isfinite(cell["threshold@far=0.01"].value)
    assert metrics.tar_at_far(*cell.labelled_scores(), 0.01, "bob").threshold == pytest.approx(
        cell["threshold@far=0.01"].value
    )
