"""Kinds of track from Python: dense comparisons, searches, templates; against numpy."""

import os
from pathlib import Path

import facebench
import numpy as np
import pytest
from facebench import protocols


def embeddings_of(trials, noise=1.5, dim=16):
    random = np.random.default_rng(3)
    people = random.normal(size=(len(trials.identity_names), dim))
    values = people[trials.identity] + noise * random.normal(size=(len(trials.names), dim))
    return values.astype(np.float32)


def unit(values):
    values = values.astype(np.float64)
    return values / np.linalg.norm(values, axis=1, keepdims=True)


def tar_at(genuine, impostor, far):
    """The definition: the lowest threshold of which no more than far * n impostors are accepted."""
    falling = np.sort(impostor)[::-1]
    allowed = int(far * len(impostor) + 1e-9)
    if allowed >= len(falling):
        return 1.0
    return float(np.mean(genuine > falling[allowed]))


@pytest.fixture
def people(tmp_path):
    random = np.random.default_rng(8)
    for person in range(8):
        for image in range(1 + person % 4):
            path = tmp_path / f"p{person}" / f"{image}.jpg"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(random.bytes(20))
    return tmp_path


def test_folders_equal_numpy(people):
    trials = protocols.read_trials("folders", people)
    values = embeddings_of(trials)
    result = protocols.evaluate("folders", values, trials.names, root=people, replicates=50)
    track = result["verification"]
    assert track.kind == "dense"
    assert track.trials.triangle
    cosines = unit(values) @ unit(values).T
    upper = np.triu_indices(len(cosines), 1)
    np.testing.assert_allclose(track.scores[upper], cosines[upper], atol=1e-7)
    same = trials.identity[:, None] == trials.identity[None, :]
    scores, labels = track.labelled_scores()
    np.testing.assert_array_equal(labels, same[upper])
    assert track["tar@far=0.01"].value == tar_at(scores[labels == 1], scores[labels == 0], 0.01)
    assert track["threshold@far=0.01"].people == 8
    search = result["identification"]
    assert search.counts == {"gallery": 6, "probes": 14, "mated": 12, "non_mated": 2}
    assert search.scores.shape == (14, 6)
    gallery = trials.identity[search.trials.gallery]
    probes = trials.identity[search.trials.probes]
    mated = np.isin(probes, gallery)
    best = gallery[search.scores.argmax(axis=1)]
    assert search["rank@1"].value == np.mean(best[mated] == probes[mated])


def test_the_run_folder_gives_the_numbers_back(people, tmp_path):
    trials = protocols.read_trials("folders", people)
    result = protocols.evaluate(
        "folders", embeddings_of(trials), trials.names, root=people, replicates=50
    )
    result.save(tmp_path / "run")
    checks = facebench.reports.verify_scores(tmp_path / "run")
    assert all(c["same"] is not False for c in checks), checks


def write_ijba(root):
    folder = root / "IJB-A_11_sets" / "split2"
    folder.mkdir(parents=True)
    rows = ["TEMPLATE_ID,SUBJECT_ID,FILE,MEDIA_ID"]
    rows += [f"{t},{t // 2},img/{t}_{k}.jpg,{k // 2}" for t in range(12) for k in range(3)]
    (folder / "verify_metadata_2.csv").write_text("\n".join(rows) + "\n")
    pairs = [f"{a},{b}" for a in range(12) for b in range(a)]
    (folder / "verify_comparisons_2.csv").write_text("\n".join(pairs) + "\n")


def test_fusion_is_the_caller_s_choice(tmp_path):
    write_ijba(tmp_path)
    trials = protocols.read_trials("ijba_1_1", tmp_path)
    assert len(trials.templates) == 12
    values = embeddings_of(trials)
    values[0] = 0
    status = [1] + [0] * (len(trials.names) - 1)
    scores = {}
    for fusion in ("mean_unit", "media_mean_sum_raw"):
        result = protocols.evaluate(
            "ijba_1_1",
            values,
            trials.names,
            status=status,
            root=tmp_path,
            fusion=fusion,
            interval="none",
        )
        track = result["split2"]
        assert track.left_out == [("img/0_0.jpg", "no_face")]
        assert track.failed == []
        scores[fusion] = track.scores
    fused = np.add.reduceat(
        np.where(values.any(1)[:, None], unit(values + (values == 0)), 0),
        trials.templates.begin[:-1],
    )
    first, second = track.trials.comparisons.T
    # A fused embedding has unit length and is rounded to float32 as any embedding is.
    fused = unit(unit(fused).astype(np.float32).astype(np.float64))
    expected = (fused[first] * fused[second]).sum(axis=1)
    np.testing.assert_allclose(scores["mean_unit"], expected, atol=1e-12)
    assert not np.allclose(*scores.values())
    assert list(result.tracks) == ["split2"]  # one split has no mean
    with pytest.raises(ValueError, match="did you mean 'mean_unit'"):
        protocols.evaluate("ijba_1_1", values, trials.names, root=tmp_path, fusion="mean_unt")


def test_quality_protocol_end_to_end(tmp_path):
    if "FACEBENCH_DATA" not in os.environ:
        pytest.skip("FACEBENCH_DATA is not set")
    lists = Path(os.environ["FACEBENCH_DATA"]) / "ijba_quality"
    trials = protocols.read_trials("ijba_quality", lists=lists)
    values = embeddings_of(trials, 1.0)
    facebench.io.write_embeddings(
        tmp_path / "e.h5", facebench.io.EmbeddingSet(values, trials.names)
    )
    result = protocols.evaluate("ijba_quality", tmp_path / "e.h5", lists=lists, replicates=20)
    same = protocols.evaluate(
        "ijba_quality", values, trials.names, lists=lists, replicates=20, threads=1
    )
    assert result.to_dict() == same.to_dict()
    track = result["low2high"]
    scores, labels = track.labelled_scores()
    cosines = unit(values[track.trials.rows]) @ unit(values[track.trials.columns]).T
    np.testing.assert_allclose(track.scores, cosines, atol=1e-7)
    for far in (0.01, 0.001, 0.0001):
        cell = track[f"tar@far={far}"]
        assert cell.value == tar_at(scores[labels == 1], scores[labels == 0], far)
        assert cell.low < cell.value < cell.high
        assert cell.false_accepts <= far * 9541450


def test_more_comparisons_than_are_kept_one_by_one(tmp_path):
    """Few stored scores: the tail and the histogram give what all scores give."""
    rng = np.random.default_rng(5)
    names, rows = [], []
    for person in range(40):
        (tmp_path / f"p{person}").mkdir()
        middle = rng.standard_normal(16)
        for image in range(4):
            names.append(f"p{person}/{image}.jpg")
            (tmp_path / names[-1]).write_text(names[-1])
            rows.append(middle + rng.standard_normal(16))
    rows = np.array(rows, np.float32)
    everything = protocols.evaluate(
        "folders", embeddings=rows, names=names, root=tmp_path, replicates=50
    )
    few = protocols.evaluate(
        "folders", embeddings=rows, names=names, root=tmp_path, replicates=50, stored_scores=1000
    )
    whole, tail = everything.tracks["verification"], few.tracks["verification"]
    assert (whole.kind, tail.kind) == ("dense", "dense")
    for metric in ("tar@far=0.01", "threshold@far=0.001"):
        assert tail[metric].value == whole[metric].value
        assert tail[metric].low == whole[metric].low
    for metric in ("auc", "eer"):
        low, high = tail[metric].bounds
        assert low <= whole[metric].value <= high
        assert "between" in repr(tail[metric])
    # Who the highest impostor scores are of.
    kept = tail.scores
    listed = protocols.read_trials("folders", tmp_path).names
    units = unit(rows)[[names.index(listed[u]) for u in tail.trials.rows]]
    np.testing.assert_allclose(
        (units[kept.impostor_row] * units[kept.impostor_column]).sum(1),
        kept.impostor[: len(kept.impostor_row)],
        atol=1e-6,
    )
    with pytest.raises(ValueError, match="not all kept"):
        tail.labelled_scores()
    # The searches of the same protocol, of which the outcomes are kept.
    whole, outcomes = everything.tracks["identification"], few.tracks["identification"]
    assert whole.scores.shape == (120, 40)
    assert len(outcomes.scores) == 120
    first, again = whole["rank@1"], outcomes["rank@1"]
    assert (first.value, first.low, first.high) == (again.value, again.low, again.high)
    with pytest.raises(ValueError, match="not all kept"):
        outcomes.labelled_scores()
    assert "%" not in repr(tail["threshold@far=0.001"]).split("(")[0]
    few.save(tmp_path / "run")
    assert facebench.verify(tmp_path / "run").same
    assert "histogram" in (tmp_path / "run" / "report.md").read_text()
