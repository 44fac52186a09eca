"""Intervals of thresholds and mean similarities end where cosines do."""

import json

import numpy as np
import pytest
from facebench import metrics, protocols
from facebench.protocols import EmbeddingSet

PEOPLE, IMAGES, FAR = 12, 2, 0.01


@pytest.fixture(scope="module")
def likenesses(tmp_path_factory):
    """All pairs of people of whom the first two look alike: the threshold hangs on these two."""
    root = tmp_path_factory.mktemp("pairs")
    rng = np.random.default_rng(2)
    person = np.repeat(np.arange(PEOPLE), IMAGES)
    names = [f"p{p}/{k}.jpg" for p in range(PEOPLE) for k in range(IMAGES)]
    x = rng.normal(size=(len(names), 4))
    x[: 2 * IMAGES] = x[0] + rng.normal(size=(2 * IMAGES, 4)) * 0.02
    x = np.float32(x / np.linalg.norm(x, axis=1, keepdims=True))
    a, b = np.triu_indices(len(names), 1)
    rows = [
        f"{names[i]},{names[j]},{int(person[i] == person[j])}" for i, j in zip(a, b, strict=True)
    ]
    (root / "pairs.csv").write_text("\n".join(["first,second,label", *rows]) + "\n")
    text = protocols.load_protocol("pairs").text
    more = f'\n[[metrics]]\nname = "threshold_at_far"\ntargets = [{FAR}]\n'
    (root / "pairs.toml").write_text(text + more)
    return root, EmbeddingSet(x, names, np.zeros(len(names), np.uint8), {}), person, a, b


def threshold_of(result, folder):
    result.save(folder)
    (track,) = json.loads((folder / "metrics.json").read_text())["tracks"].values()
    return track["metrics"][f"threshold@far={FAR:g}"]


def test_a_thresholds_interval_ends_at_the_cosines_ends(likenesses, tmp_path):
    root, embeddings, person, a, b = likenesses
    found = threshold_of(
        protocols.evaluate(root / "pairs.toml", embeddings, root=root), tmp_path / "cosines"
    )
    scores = np.einsum("nd,nd->n", embeddings.values[a], embeddings.values[b])
    labels = (person[a] == person[b]).astype(int)

    def threshold(weights):
        """In the middle between the last score that a FAR of 1 % accepts and the next."""
        order = np.argsort(-scores, kind="stable")
        order = order[weights[order] > 0]
        impostor = weights[order] * (labels[order] == 0)
        accepted = np.count_nonzero(np.cumsum(impostor) <= FAR * impostor.sum())
        if not 0 < accepted < len(order):
            return np.nan
        return float(scores[order[accepted - 1]] + scores[order[accepted]]) / 2

    free = metrics.dyadic_bootstrap(threshold, person[a], person[b])
    assert free.high > 1.1  # what the draws say by themselves
    low, high = found["interval"]
    assert high == 1 and -1 <= low < found["value"]

    # Scores of others are no cosines: nothing is known of where they end.
    theirs = threshold_of(
        protocols.evaluate(root / "pairs.toml", scores=scores, root=root), tmp_path / "theirs"
    )
    assert theirs["interval"][1] > 1.1
    assert theirs["interval"][1] == pytest.approx(free.high, abs=0.2)
    assert theirs["interval"][0] == pytest.approx(low, abs=1e-6)
