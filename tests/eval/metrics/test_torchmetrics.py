"""facebench.torchmetrics: our numbers to the last digit, in batches and over processes."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torchmetrics")
from facebench import metrics  # noqa: E402
from facebench.torchmetrics import EqualErrorRate, RankRate, TarAtFar  # noqa: E402


def comparisons(kind):
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, 5000)
    scores = rng.normal(size=5000) + labels
    scores = {"float32": np.float32(scores), "ties": np.round(scores, 1)}.get(kind, scores)
    return scores, labels


@pytest.mark.parametrize("kind", ["float64", "float32", "ties"])
@pytest.mark.parametrize("batch", [1, 777, 5000])
def test_batches_give_our_numbers(kind, batch):
    scores, labels = (a[: 200 if batch == 1 else 5000] for a in comparisons(kind))
    made = {far: TarAtFar(far) for far in (1e-3, 0.013, 0.1)}
    rate = EqualErrorRate()
    for k in range(0, len(scores), batch):
        part = torch.tensor(scores[k : k + batch]), torch.tensor(labels[k : k + batch])
        for one in (*made.values(), rate):
            one.update(*part)
    for far, one in made.items():
        assert one.compute().item() == metrics.tar_at_far(scores, labels, far).value
    assert rate.compute().item() == metrics.eer(scores, labels)


def test_rank_rate():
    rng = np.random.default_rng(2)
    gallery, probes = np.arange(50), rng.integers(0, 60, 400)
    similarity = np.round(rng.normal(size=(400, 50)) + 2 * (probes[:, None] == gallery), 1)
    for rank in (1, 5):
        metric = RankRate(rank)
        for k in range(0, 400, 90):
            part = similarity[k : k + 90], probes[k : k + 90], gallery
            metric.update(*map(torch.tensor, part))
        asked = metrics.rank_rate(metrics.Searches(similarity, probes, gallery), rank)
        assert metric.compute().item() == asked


def of_rank(rank, port, answers):
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{port}", rank=rank, world_size=2
    )
    scores, labels = comparisons("ties")
    part = slice(0, 1234) if rank == 0 else slice(1234, None)
    for one in (TarAtFar(0.01), EqualErrorRate()):
        one.update(torch.tensor(scores[part]), torch.tensor(labels[part]))
        answers.put(one.compute().item())
    torch.distributed.destroy_process_group()


def test_two_processes_give_the_numbers_of_one(tmp_path):
    context = torch.multiprocessing.get_context("spawn")
    answers = context.Queue()
    torch.multiprocessing.spawn(of_rank, (tmp_path / "meet", answers), nprocs=2)
    got = sorted(answers.get() for _ in range(4))
    scores, labels = comparisons("ties")
    asked = [metrics.tar_at_far(scores, labels, 0.01).value, metrics.eer(scores, labels)]
    assert got == sorted(asked * 2)


def test_what_cannot_be():
    metric = EqualErrorRate()
    with pytest.raises(ValueError, match=r"scores\[1\] is nan"):
        metric.update(torch.tensor([0.1, float("nan")]), torch.tensor([0, 1]))
    with pytest.raises(ValueError, match=r"1 .genuine. and 0"):
        metric.update(torch.tensor([0.1, 0.2]), torch.tensor([0, 2]))
    with pytest.raises(ValueError, match="2 labels of 1 scores"):
        metric.update(torch.tensor([0.1]), torch.tensor([0, 1]))
