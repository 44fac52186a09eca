"""IJB-B and IJB-C: miniature releases of both packagings against transcriptions of the scripts."""

import itertools
import shutil

import facebench
import ijb_release as ijb
import numpy as np
import pytest
from facebench import protocols


@pytest.fixture(scope="module")
def release():
    return ijb.Release()


@pytest.fixture(scope="module")
def packed(release, tmp_path_factory):
    return release.write_packed(tmp_path_factory.mktemp("packed"))


def tars(result):
    by_far = {m.details["far_target"]: m.value for m in result.metrics.values()}
    return [next(v for f, v in by_far.items() if np.isclose(f, far)) for far in ijb.FARS]


def test_the_lists_say_the_same_in_both_packagings(release, packed, tmp_path):
    official = protocols.read_trials("ijbc_1_1", release.write_official(tmp_path))
    trials = protocols.read_trials("ijbc_1_1", packed)
    ours, theirs = (t.tracks[0].trials for t in (trials, official))
    names, official_names = trials.templates.names, official.templates.names
    pairs = [(names[a], names[b]) for a, b in ours.comparisons]
    assert pairs == [(str(a), str(b)) for a, b in release.pairs]
    assert pairs == [(official_names[a], official_names[b]) for a, b in theirs.comparisons]
    assert (np.array(ours.genuine) == release.label).all()
    assert (np.array(theirs.genuine) == release.label).all()
    assert len(trials.identity_names) == len(official.identity_names) == 30
    for t in (trials, official):  # media are numbered within a template
        for i, name in enumerate(t.templates.names):
            begin, end = t.templates.begin[i : i + 2]
            media = t.templates.medium[begin:end]
            assert sorted(media) == sorted(release.medium[release.template == int(name)])
    assert len(official.templates.score) == 0
    order = [release.name.index(trials.names[s]) for s in trials.templates.sample]
    assert (trials.templates.score == release.score[order].astype(np.float32)).all()


@pytest.mark.parametrize("switches", list(itertools.product([0, 1], repeat=3)))
def test_the_eight_lines_of_the_golden_table(release, packed, switches):
    n, d, f = switches
    feats, unique = ijb.image2template_feature(
        ijb.process_embeddings(release, n, d, f), release.template, release.medium
    )
    score = ijb.verification_11(feats, unique, release.pairs)
    wanted = ijb.tar_at_fars(release.label, score)

    meant = protocols.ijb_label(f"N{n}D{d}F{f}", "ijb_evals")
    assert meant == protocols.ijb_label(f"N{1 - n}D{d}F{f}", "eval_ijbc")
    values = {"none": release.plain, "sum": release.plain + release.flipped}[meant["flip"]]
    result = protocols.evaluate(
        "ijbc_1_1",
        values,
        release.name,
        root=packed,
        fusion=meant["fusion"],
        convention="ijb",
        interval="none",
    )
    track = result["verification"]
    assert np.allclose(track.scores, score, atol=2e-6)
    assert tars(track) == pytest.approx(wanted, abs=1e-12)


def test_scripts_are_fusions_by_name(release, packed):
    def scores(fusion, values):
        result = protocols.evaluate(
            "ijbc_1_1", values, release.name, root=packed, fusion=fusion, interval="none"
        )
        return result["verification"].scores

    both = release.plain + release.flipped
    n0d1f1 = scores("media_mean_sum_raw_scored", both)
    for script in ("ijb_11", "eval_ijbc", "ijb_evals", "cvlface"):
        assert (scores(script, both) == n0d1f1).all()

    # AdaFace: unit embeddings and norms apart, added as pre_norm_vector_add says, twice.
    def unit(v):
        norm = np.linalg.norm(v, axis=-1, keepdims=True)
        return v / norm, norm

    (a, na), (b, nb) = unit(release.plain), unit(release.flipped)
    fused, norm = unit(np.sum(np.stack([a, b]) * np.stack([na, nb]), axis=0))
    feats, unique = ijb.image2template_feature(fused * norm, release.template, release.medium)
    wanted = ijb.verification_11(feats, unique, release.pairs)
    assert np.allclose(scores("adaface", both), wanted, atol=2e-6)
    printed = {f["name"]: f["doc"] for f in protocols.template_fusions()}
    assert printed["eval_ijbc"].startswith("norms kept; times the detector score; mean within")
    assert "flip sum" in printed["ijb_evals"] and "opposite" in printed["ijb_evals"]
    assert printed["tface"].startswith("each sample of unit length; no detector score")


def test_what_the_embeddings_lost_is_said(release, packed):
    def notes(**extract):
        embeddings = protocols.EmbeddingSet(release.plain, release.name, None, {"extract": extract})
        result = protocols.evaluate("ijbc_1_1", embeddings, root=packed, interval="none")
        return "\n".join(result.notes)

    assert "has flip=sum; these embeddings were extracted with flip=none" in notes(flip="none")
    assert "these embeddings have unit length" in notes(normalization="unit", flip="sum")
    assert "flip" not in notes(flip="sum", normalization="none")


def test_few_false_accepts_are_said(release, packed):
    result = protocols.evaluate("ijbc_1_1", release.plain, release.name, root=packed, replicates=50)
    cell = result["verification"].metrics["tar@far=1e-06"]
    assert not cell.details["reliable"] and cell.details["expected_false_accepts"] < 0.01
    assert cell.details["false_accepts"] == 0 and cell.low < cell.high


def similarity(release, galleries):
    feats, unique = ijb.image2template_feature(
        ijb.process_embeddings(release, 0, 1, 1), release.template, release.medium
    )
    rows = [i for i, t in enumerate(unique) if release.gallery[t] is None]
    columns = [i for i, t in enumerate(unique) if release.gallery[t] in galleries]
    ids = np.array([release.subject[t] for t in unique])
    return feats[rows] @ feats[columns].T, ids[rows], ids[columns]


@pytest.mark.parametrize("official", [False, True])
def test_1_n_by_the_definition_of_ijb_evals(release, packed, tmp_path, official):
    names = release.name
    values = release.plain + release.flipped
    root, fusion = packed, "ijb_evals"
    if official:
        root, fusion = release.write_official(tmp_path), "media_mean_sum_raw"
        names = [f"img/{n}" for n in names]
        values = values * release.score[:, None].astype(np.float32)  # what the fusion lacks
    result = protocols.evaluate(
        "ijbc_1_n", values, names, root=root, convention="ijb_evals", fusion=fusion, interval="none"
    )
    means = []
    for gallery in ("G1", "G2"):
        ranks, recalls = ijb.ijb_evals_1n(*similarity(release, {gallery}))
        metrics = result[gallery].metrics
        assert [metrics[f"rank@{k}"].value for k in (1, 5, 10)] == pytest.approx(ranks)
        assert [metrics[f"dir@fpir={f}"].value for f in (0.01, 0.1)] == pytest.approx(recalls)
        means.append(recalls)
    mean = result["mean"].metrics
    assert [mean[f"dir@fpir={f}"].value for f in (0.01, 0.1)] == pytest.approx(np.mean(means, 0))


def test_1_n_by_the_definition_of_ijb_1n(release, packed):
    values = release.plain + release.flipped
    result = protocols.evaluate(
        "ijbc_1_n_pooled", values, release.name, root=packed, interval="none"
    )
    ranks, recalls = ijb.ijb_1n(*similarity(release, {"G1", "G2"}))
    metrics = result["G1+G2"].metrics
    assert [metrics[f"rank@{k}"].value for k in (1, 5, 10)] == pytest.approx(ranks)
    assert [metrics[f"dir@fpir={f}"].value for f in (0.01, 0.1)] == pytest.approx(recalls)


def test_1_n_by_the_iso_definition(release, packed):
    values = release.plain + release.flipped
    result = protocols.evaluate("ijbc_1_n", values, release.name, root=packed, interval="none")
    scores, probes, gallery = similarity(release, {"G1"})
    mated = np.isin(probes, gallery)
    highest = np.sort(scores[~mated].max(1))
    for fpir in (0.01, 0.1):
        allowed = int(fpir * (~mated).sum())
        own = np.array(
            [s[gallery == p][0] for s, p in zip(scores[mated], probes[mated], strict=True)]
        )
        first = own >= scores[mated].max(1)
        wanted = np.mean(first & (own > highest[-allowed - 1]))
        assert result["G1"].metrics[f"dir@fpir={fpir}"].value == pytest.approx(wanted)


def damaged(packed, tmp_path, file, change):
    root = tmp_path / "damaged"
    shutil.copytree(packed, root)
    path = root / "IJBC/meta" / file
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(change(lines)))
    with pytest.raises(facebench.Error) as error:
        protocols.read_trials("ijbc_1_1", root)
    return str(error.value)


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        ("name_5pts_score", lambda t: [t[1], t[0], *t[2:]], "image is 2.jpg, but 1.jpg"),
        ("name_5pts_score", lambda t: t[:-1], "has no row for"),
        ("name_5pts_score", lambda t: [*t, t[0]], "rows, but"),
        ("name_5pts_score", lambda t: [t[0].replace(" ", " 1 ", 1), *t[1:]], "12 fields, got 13"),
        ("face_tid_mid", lambda t: [*t[:3], "4.jpg 1\n", *t[4:]], "mid.txt:4: image, temp"),
        ("face_tid_mid", lambda t: ["1.jpg x 2\n", *t[1:]], "mid.txt:1: the template must be"),
        ("face_tid_mid", lambda t: ["/1.jpg 1 2\n", *t[1:]], "row"),
        ("template_pair_label", lambda t: [*t[:5], "1 2\n"], "label.txt:6: 3 whole numbers"),
        ("template_pair_label", lambda t: [*t[:5], "1 2 2\n"], "the label is 2"),
        ("template_pair_label", lambda t: [*t[:5], "1 99999 0\n"], "template 99999 is not in"),
        ("template_pair_label", lambda t: [s[:-2] + "10"[int(s[-2])] + "\n" for s in t], "Are 0 "),
        ("template_pair_label", lambda t: [], "the list is empty"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused(packed, tmp_path, file, change, message):
    text = damaged(packed, tmp_path, f"ijbc_{file}.txt", change)
    if message == "row":  # a name that is not a path, refused by either file
        assert "1.jpg" in text
    else:
        assert message in text


def test_what_is_odd_is_counted(packed, tmp_path):
    root = tmp_path / "odd"
    shutil.copytree(packed, root)
    path = root / "IJBC/meta/ijbc_template_pair_label.txt"
    lines = path.read_text().splitlines()
    a, b, label = lines[3].split()
    lines[5] = f"{lines[5]} \r"
    path.write_text("\n".join([*lines[:4], "", *lines[4:], f"{b} {a} {label}", "1 1 1"]) + "\n")
    trials = protocols.read_trials("ijbc_1_1", root)
    found = {b["kind"]: b for b in trials.blemishes}
    assert set(found) == {"repeated_pair", "self_comparison", "crlf", "blanks"}
    n = len(lines)
    assert found["repeated_pair"]["first"][0] == {
        "file": "ijbc_template_pair_label.txt",
        "line": n + 2,
        "what": "as in line 4",
    }
    assert found["blanks"]["count"] == 2 and found["crlf"]["first"][0]["line"] == 7


def test_a_detector_score_on_another_scale_is_counted(release, packed, tmp_path):
    root = tmp_path / "odd"
    shutil.copytree(packed, root)
    path = root / "IJBC/meta/ijbc_name_5pts_score.txt"
    lines = path.read_text().splitlines()
    score = float(lines[6].split()[-1])
    lines[6] = f"{lines[6].rsplit(' ', 1)[0]} {100 * score:.1f}"
    path.write_text("\n".join(lines) + "\n")
    for protocol in ("ijbc_1_1", "ijbc_1_n"):
        assert protocols.read_trials(protocol, packed).blemishes == []
        (found,) = protocols.read_trials(protocol, root).blemishes
        assert found["kind"] == "large_score" and found["count"] == 1
        wanted = {"line": 7, "what": f"7.jpg has {100 * score:.1f}".removesuffix(".0")}
        assert found["first"] == [{"file": path.name, **wanted}]
    # All of them in per cent are the same templates.
    path.write_text(
        "".join(f"{w[0]} {float(w[1]) * 100}\n" for w in (s.rsplit(" ", 1) for s in lines))
    )
    assert protocols.read_trials("ijbc_1_1", root).blemishes == []


def test_a_file_of_two_subjects_is_two_samples(release, tmp_path):
    release.write_official(tmp_path)
    (tmp_path / "images/img").mkdir(parents=True)
    for name in release.name:
        (tmp_path / "images/img" / name).write_bytes(b"not opened")
    for file in ("gallery_G1", "gallery_G2"):
        path = tmp_path / f"protocols/ijbc_1N_{file}.csv"
        head, *rows = path.read_text().splitlines()
        fields = rows[0].split(",")
        fields[2] = "img/1.jpg"
        path.write_text("\n".join([head, ",".join(fields), *rows[1:]]) + "\n")
    trials = protocols.read_trials("ijbc_1_1", tmp_path)
    twice = [n for n in trials.names if n.startswith("img/1.jpg")]
    assert len(twice) >= 2 and all(n.split("#")[1].isdigit() for n in twice)
    assert protocols.check_data("ijbc_1_1", tmp_path).missing == 0


def test_ijb_b_has_other_names(tmp_path):
    release = ijb.Release(people=6, seed=1)
    packed = release.write_packed(tmp_path / "packed", "ijbb")
    official = release.write_official(tmp_path / "official", "ijbb")
    for root in (packed, official):
        trials = protocols.read_trials("ijbb_1_1", root)
        assert len(trials.tracks[0].trials) == len(release.pairs)
        assert [t.name for t in protocols.read_trials("ijbb_1_n", root).tracks] == ["S1", "S2"]
        pooled = protocols.read_trials("ijbb_1_n_pooled", root)
        assert [t.name for t in pooled.tracks] == ["S1+S2"]


def test_nist_has_no_detector_scores(release, tmp_path):
    root = release.write_official(tmp_path)
    with pytest.raises(facebench.Error, match=r"no detector scores, which .* 'eval_ijbc'"):
        protocols.evaluate("ijbc_1_1", release.plain, [f"img/{n}" for n in release.name], root=root)


def test_scores_go_with_the_run(release, packed, tmp_path):
    h5py = pytest.importorskip("h5py")
    protocols.evaluate("ijbc_1_1", release.plain, release.name, root=packed, interval="none").save(
        tmp_path / "run"
    )
    with h5py.File(tmp_path / "run/scores.h5") as file:
        assert file["/template/score"].shape == file["/template/sample"].shape
    assert all(c["same"] is not False for c in facebench.reports.verify_scores(tmp_path / "run"))


def test_lists_like_ijb_c_are_made(tmp_path):
    options = protocols.SyntheticIjbOptions(like="ijbc", scale=0.01, dim=8)
    made = protocols.write_synthetic_ijb(options, tmp_path / "a", threads=2)
    protocols.write_synthetic_ijb(options, tmp_path / "b", threads=1)
    for file in (p for p in (tmp_path / "a").rglob("*") if p.is_file()):
        assert file.read_bytes() == (tmp_path / "b" / file.relative_to(tmp_path / "a")).read_bytes()
    trials = protocols.read_trials("ijbc_1_1", tmp_path / "a")
    assert not trials.blemishes  # no pair twice, nobody an impostor of oneself
    assert (made["templates"], made["faces"]) == (232, 4694)
    assert made["comparisons"] == len(trials.tracks[0].trials) == 1564 + 196
    searches = protocols.read_trials("ijbc_1_n", tmp_path / "a")
    assert [len(t.trials.gallery) for t in searches.tracks] == [18, 18]
    result = protocols.evaluate(
        "ijbc_1_1", tmp_path / "a/embeddings.h5", root=tmp_path / "a", interval="none"
    )
    assert 0.1 < result["verification"].metrics["tar@far=0.1"].value < 1


def test_a_run_beside_the_golden_table_says_which_switches_differ(release, packed, tmp_path):
    protocols.evaluate(
        "ijbc_1_1", release.plain, release.name, root=packed, interval="none", fusion="ijb_evals"
    ).save(tmp_path / "run")
    text = str(facebench.claims.against([tmp_path / "run"], "insightface-ijb"))
    assert "tar_at_far is exact, not ijb" in text
    assert "fusion is ijb_evals, not media_mean_sum_unit_scored" in text
    # The line N0D1F1 of ijb_evals.py has the switches that the fusion of that name has.
    assert "fusion is ijb_evals, not media_mean_sum_raw_scored" not in text


def test_people_whom_galleries_share_are_said(release, packed, tmp_path):
    def told(protocol, file, template, subject):
        root = tmp_path / f"{protocol}-{file}"
        shutil.copytree(packed, root)
        path = root / f"IJBC/meta/ijbc_1N_gallery_{file}.csv"
        lines = path.read_text().splitlines()
        lines = [
            f"{template},{subject},{x.split(',', 2)[2]}" if x.startswith(f"{template},") else x
            for x in lines
        ]
        path.write_text("\n".join(lines) + "\n")
        return " ".join(protocols.check_data(protocol, root).notes)

    (first, second), other = release.of("G1")[:2], release.of("G2")[0]
    person = release.subject[first]
    for protocol in ("ijbc_1_n", "ijbc_1_n_pooled"):
        text = told(protocol, "G2", other, person)
        assert "1 people are in several galleries, which share nobody" in text
        assert f"such as subject {person}" in text
        text = told(protocol, "G1", second, person)
        assert "more than one template of a person 1 times, such as of" in text
        assert f"subject {person} in G1" in text
        assert "share nobody" not in " ".join(protocols.check_data(protocol, packed).notes)


def test_images_left_out_of_templates_are_said(release, packed, tmp_path):
    values = dict(zip(release.name, release.plain, strict=True))
    two = next(t for t in release.subject if (release.template == t).sum() > 1)
    del values[release.name[int(np.flatnonzero(release.template == two)[0])]]
    result = facebench.evaluate(
        "ijbc_1_1",
        embeddings=values,
        root=packed,
        interval="none",
        out=tmp_path / "run",
        allow_missing=True,
    )
    said = f"0 failed enrolments (0.00 %), 1 of {len(release.name)} images left out of templates"
    assert said in repr(result) and said in result._repr_html_()
    for file in ("report.md", "report.html"):
        assert "Images left out of templates (1)" in (tmp_path / "run" / file).read_text()
