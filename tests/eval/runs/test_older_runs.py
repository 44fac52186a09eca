"""Run folders that earlier versions wrote are still read, and give their numbers to the byte."""

from pathlib import Path

import facebench
import pytest

# Written by 0.1.0: one folder for each kind of track and way of keeping scores.
FOLDERS = sorted((Path(__file__).parents[2] / "data/scores_format_2").iterdir())


def test_every_way_of_keeping_scores_is_there():
    assert {f.name for f in FOLDERS} == {
        "all_pairs_and_outcomes",
        "dense_and_searches",
        "dense_mask",
        "listed",
        "matrix",
    }


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f.name)
def test_the_numbers_come_out_again(folder):
    checks = {c["name"]: c["same"] for c in facebench.reports.verify_scores(folder)}
    followed = ["scores.h5", "metrics.json", "metrics from scores", "content of run.json"]
    assert all(checks.pop(name) for name in [*followed, "warnings"])
    # What nothing says but run.json itself; the protocols' texts and the embeddings are not there.
    # Another version wrote it, whose pages and rules are not made again.
    unchecked = ["rest of run.json", "protocol", "scores from embeddings", "version"]
    assert checks == dict.fromkeys([*unchecked, "circumstance of run.json"])


def test_what_was_a_kind_of_its_own_is_a_dense_track_of_which_a_tail_was_kept():
    (folder,) = (f for f in FOLDERS if f.name == "all_pairs_and_outcomes")
    curves = facebench.reports.curves(folder)
    far, tar = curves["verification"]["roc"]
    assert (far[0], tar[0], far[-1], tar[-1]) == (0, 0, 1, 1)
    assert curves["identification"]["cmc"][0] == 0.4  # rank 1, as metrics.json says
