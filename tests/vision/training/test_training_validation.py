"""A protocol judges the model while it is trained."""

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("facebench._full")

import facebench  # noqa: E402
from facebench import embedding, training  # noqa: E402

PROTOCOLS = Path(__file__).parents[3] / "protocols"


def faces(n, persons=5, size=16, seed=0):
    rng = np.random.default_rng(seed)
    base = np.random.default_rng(7).integers(0, 256, (persons, size, size, 3))
    labels = np.arange(n) % persons
    noise = rng.integers(-90, 90, (n, size, size, 3))
    return np.clip(base[labels] + noise, 0, 255).astype(np.uint8), labels.tolist()


@pytest.fixture
def pairs(tmp_path):
    """Images, their names and a folder with a list of pairs."""
    images, labels = faces(20, seed=1)
    names = [f"p{label}_{i}" for i, label in enumerate(labels)]
    lines = [
        f"{names[i]},{names[j]},{int(labels[i] == labels[j])}"
        for i in range(20)
        for j in range(i)
        if (i + j) % 3 == 0 or labels[i] == labels[j]
    ]
    (tmp_path / "pairs.csv").write_text("\n".join(["first,second,label", *lines]) + "\n")
    return (images, names), tmp_path


def recipe(**more):
    return training.load_recipe(
        "small4.cosface", epochs=4, batch=10, embedding=16, channel_multiplier=0.25, **more
    )


def lines_of(run):
    lines = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    return [line for line in lines if "metric" in line]


def test_judges_before_during_and_after(tmp_path, pairs):
    images, folder = pairs
    judge = training.validation("pairs", images, lists=folder)
    seen = []
    result = training.train(
        recipe(),
        faces(40),
        tmp_path / "run",
        threads=1,
        validation=judge,
        on_epoch=lambda report, model: seen.append(report["validation"]),
    )
    log = lines_of(tmp_path / "run")
    assert [line["epoch"] for line in log] == [0, 1, 2, 3, 4]
    assert {line["metric"] for line in log} == {"auc"}  # the protocol's first
    assert [line["value"] for line in log[1:]] == [v["value"] for v in seen]
    assert result["best_score"] == max(v["score"] for v in seen)
    best = embedding.load_model(tmp_path / "run" / "best.safetensors")
    assert judge(best)["score"] == result["best_score"]
    # The same number as evaluating the embeddings gives.
    rows = embedding.extract(best, images[0], threads=1)
    scores = rows.values @ rows.values.T
    place = {name: i for i, name in enumerate(images[1])}
    pairs_ = [line.split(",") for line in (folder / "pairs.csv").read_text().split()[1:]]
    s = np.array([scores[place[a], place[b]] for a, b, _ in pairs_])
    genuine = np.array([label == "1" for _, _, label in pairs_])
    auc = (s[genuine][:, None] > s[~genuine][None]).mean()
    assert judge(best)["value"] == pytest.approx(auc, abs=1e-6)


@pytest.mark.parametrize("match", ["exact", "suffix"])
def test_images_that_no_list_names_are_not_embedded(tmp_path, pairs, match):
    (images, names), folder = pairs
    protocol = tmp_path / "own.toml"
    text = (PROTOCOLS / "pairs.toml").read_text()
    assert 'match = "exact"' in text
    protocol.write_text(text.replace('match = "exact"', f'match = "{match}"'))
    seen = []

    class Pixels(torch.nn.Module):
        def forward(self, x):
            seen.append(len(x))
            return x.flatten(1)[:, ::7]

    model = embedding.TorchEmbedder(Pixels())
    judge_alone = training.validation(protocol, (images, names), lists=folder)
    alone = judge_alone(model)  # the first call also asks whether rows depend on their batch
    seen.clear()
    assert judge_alone(model) == alone
    count, others = sum(seen), faces(60, seed=3)[0]
    assert count > 0
    # Behind, before and between those of the lists.
    mixed = np.concatenate([others[:20], images[:7], others[20:40], images[7:], others[40:]])
    known = [f"x/{n}" if match == "suffix" else n for n in names]
    other = [f"nobody{i}" for i in range(60)]
    mixed_names = [*other[:20], *known[:7], *other[20:40], *known[7:], *other[40:]]
    seen.clear()
    judge = training.validation(protocol, (mixed, mixed_names), lists=folder)
    assert judge(model) == alone
    assert sum(seen) == count


def test_names_that_fit_nothing_are_refused_at_once(pairs):
    (images, names), folder = pairs
    with pytest.raises(facebench.Error, match="none of the 20 names"):
        training.validation("pairs", (images, [f"x{n}" for n in names]), lists=folder)
    with pytest.raises(facebench.Error, match="is ambiguous"):
        training.validation("pairs", (images, [names[0], *names[:-1]]), lists=folder)


def test_error_rates_are_better_when_lower(tmp_path, pairs):
    images, folder = pairs
    judge = training.validation("pairs", images, lists=folder, metric="eer", every=3)
    result = training.train(recipe(), faces(40), tmp_path / "run", threads=1, validation=judge)
    log = lines_of(tmp_path / "run")
    assert [line["epoch"] for line in log] == [0, 3, 4]  # the last one always
    assert result["best_score"] == -min(line["value"] for line in log[1:])


def test_resumes_with_the_same_judgements(tmp_path, pairs):
    images, folder = pairs
    judge = training.validation("pairs", images, lists=folder)
    data = faces(40)
    whole = training.train(recipe(), data, tmp_path / "whole", threads=1, validation=judge)

    def stop(report, model):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        training.train(
            recipe(), data, tmp_path / "parts", threads=1, validation=judge, on_epoch=stop
        )
    parts = training.train(recipe(), data, tmp_path / "parts", resume=True, validation=judge)
    assert lines_of(tmp_path / "parts") == lines_of(tmp_path / "whole")
    for name in ("model.safetensors", "best.safetensors"):
        a, b = (tmp_path / run / name for run in ("whole", "parts"))
        assert a.read_bytes() == b.read_bytes()
    assert parts["best_score"] == whole["best_score"]
    other = training.validation("pairs", images, lists=folder, metric="eer")
    with pytest.raises(facebench.Error, match="validation/metric"):
        training.train(recipe(), data, tmp_path / "parts", resume=True, validation=other)


@pytest.mark.parametrize(
    ("change", "message"),
    [({"metric": "tar@far=0.5"}, "tar@far"), ({"track": "paris"}, "pairs")],
)
def test_what_does_not_fit_is_found_before_the_first_step(tmp_path, pairs, change, message):
    images, folder = pairs
    judge = training.validation("pairs", images, lists=folder, **change)
    steps = []
    with pytest.raises(ValueError, match=message):
        training.train(
            recipe(), faces(40), tmp_path / "run", validation=judge, on_step=steps.append
        )
    assert not steps


def test_images_of_another_size_are_refused(tmp_path, pairs):
    (_, names), folder = pairs
    large, _ = faces(20, size=20)
    judge = training.validation("pairs", (large, names), lists=folder)
    with pytest.raises(ValueError, match="20 x 20"):
        training.train(recipe(), faces(40), tmp_path / "run", validation=judge)
    with pytest.raises(facebench.Error):
        training.validation("pairs", (large, names), lists=tmp_path / "nowhere")
