"""Losses and training against plain PyTorch definitions and loops."""

import json
import math
import os
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("facebench._full")

import facebench  # noqa: E402
from facebench import losses, nn, training  # noqa: E402
from loss_definitions import DEFINITIONS  # noqa: E402

F = torch.nn.functional


def features_and_labels(n=12, d=6, c=9, seed=4):
    g = torch.Generator().manual_seed(seed)
    x = 3 * torch.randn(n, d, generator=g, dtype=torch.float64)
    return x.requires_grad_(True), torch.randint(0, c, (n,), generator=g)


def test_every_loss_has_a_definition_here():
    assert sorted(DEFINITIONS) == sorted(e["name"] for e in losses.list_losses())
    for entry in losses.list_losses():
        assert entry["doc"] and entry["source"]


# Settings that let every branch of a rule be seen in a small batch.
SETTINGS = {
    "sphereface": {"lambda_base": 3.0, "lambda_min": 0.5},
    "combined": {"m1": 1.35, "s": 20.0},
    "adaface": {"t_alpha": 0.3, "s": 20.0},
    "magface": {"l_a": 6.0, "u_a": 9.0, "s": 20.0},
    "curricularface": {"alpha": 0.3, "s": 20.0},
    "subcenter_arcface": {"s": 20.0},
    "elasticface": {"std": 0.0, "s": 20.0},
    "uniface": {"l": 0.7, "s": 20.0},
    "triplet": {"margin": 2.0, "pick": "nearest"},
}


# Deng et al., table 2 (SphereFace's 1.35, ArcFace, CosFace, "CM1", "CM2"); and further below 1.
COMBINED = [
    *((1.35, 0.0, 0.0), (1.0, 0.5, 0.0), (1.0, 0.0, 0.35), (1.0, 0.3, 0.2), (0.9, 0.4, 0.15)),
    *((0.5, 0.2, 0.1), (0.001, 0.3, 0.0), (1.0, 0.0, 0.0)),
]


@pytest.mark.parametrize(
    ("name", "more"),
    [
        *((name, {}) for name in sorted(DEFINITIONS)),
        ("triplet", {"negatives": "all"}),
        # The ArcFace paper's "CM2", and insightface's published settings of m1, m2, m3.
        *(("combined", dict(zip(("m1", "m2", "m3"), m, strict=True))) for m in COMBINED),
    ],
)
def test_loss_equals_definition(name, more):
    """Value, gradients and what is kept between steps, over 50 steps of gradient descent."""
    settings = SETTINGS.get(name, {}) | more
    head = losses.make_head(name, features=6, classes=9, float64=True, **settings)
    theirs = {n: p.detach().clone().requires_grad_(True) for n, p in head.named_parameters()}
    kept = {n: b.clone() for n, b in head.named_buffers()}
    for step in range(50):
        x, y = features_and_labels(seed=step)
        loss, logits = head(x, y)
        loss.backward()
        x2 = x.detach().clone().requires_grad_(True)
        reference = DEFINITIONS[name](x2, y, theirs, head.options, kept)
        reference.backward()
        assert loss.item() == pytest.approx(reference.item(), rel=1e-12)
        pairs = [(x.grad, x2.grad)]
        with torch.no_grad():
            for n, p in head.named_parameters():
                pairs.append((p.grad.clone(), theirs[n].grad.clone()))
                for tensor in (p, theirs[n]):
                    tensor -= 0.05 * tensor.grad
                    tensor.grad = None
                p.copy_(theirs[n])  # so that roundings do not grow from step to step
        for a, b in pairs:
            assert torch.allclose(a, b, atol=1e-10, rtol=1e-9)
        for n, b in head.named_buffers():
            assert torch.allclose(b.double(), kept[n].double(), atol=1e-12), n
    assert logits.shape == (12, 9) and not logits.requires_grad


def test_triplet_draws_among_the_semi_hard_negatives():
    """One pair of images of a class: the loss of a step tells which negative was taken."""
    x = F.normalize(features_and_labels(n=10)[0].detach())
    y = torch.tensor([0, *range(9)])
    head = losses.make_head("triplet", features=6, classes=9, float64=True, margin=0.9)
    distance = torch.cdist(x, x).square()
    own = distance[0, 1]
    candidates = [(own - d + 0.9).item() for d in distance[0, 2:] if own < d < own + 0.9]
    assert len(candidates) > 2
    found = [head(x, y)[0].item() for _ in range(300)]
    nearest = [min(range(len(candidates)), key=lambda i: abs(candidates[i] - f)) for f in found]
    assert all(abs(candidates[i] - f) < 1e-12 for i, f in zip(nearest, found, strict=True))
    # 300 draws: each within five deviations.
    share = 300 / len(candidates)
    counts = np.bincount(nearest, minlength=len(candidates))
    assert np.abs(counts - share).max() < 5 * np.sqrt(share)


def test_triplet_without_a_triplet_is_zero():
    head = losses.make_head("triplet", features=6, classes=9)
    x = features_and_labels(n=5)[0].detach().float().requires_grad_(True)
    loss, logits = head(x, torch.arange(5))
    loss.backward()
    assert loss.item() == 0 and not x.grad.any()
    # Accuracy is by the nearest other image: of class j the distance to it, none of class 8.
    assert torch.isinf(logits[:, 8]).all()
    unit = F.normalize(x.detach())
    assert logits[0, 3].item() == pytest.approx(
        -(unit[0] - unit[3]).square().sum().item(), abs=1e-6
    )


@pytest.mark.parametrize("on", ["angle", "cosine"])
def test_elastic_margins_are_drawn_for_each_image_and_step(on):
    """The margins are got back from the losses of single images."""
    head = losses.make_head("elasticface", features=6, classes=9, float64=True, on=on, s=4.0)
    found = []
    for step in range(60):
        x, y = features_and_labels(n=1, seed=step)
        loss = head(x, y)[0].item()
        cos = F.linear(F.normalize(x), F.normalize(head.weight)).detach()[0]
        others = torch.logsumexp(4 * cos[torch.arange(9) != y], 0).item()
        target = (others - math.log(math.expm1(loss))) / 4
        own = cos[y].item()
        found.append(math.acos(target) - math.acos(own) if on == "angle" else own - target)
    assert len(set(found)) == 60
    # 60 draws: the mean lies within .0125 / sqrt(60) * 4, the deviation within 40 %.
    assert np.mean(found) == pytest.approx(0.5, abs=0.0065)
    assert np.std(found) == pytest.approx(0.0125, rel=0.4)


@pytest.mark.parametrize("name", ["adaface", "magface"])
def test_margins_by_norm_are_the_same_in_float32(name):
    """The passes over tiles of classes against float64, whose logits are one matrix."""
    heads = [
        losses.make_head(name, features=6, classes=9, float64=f, **SETTINGS[name])
        for f in (True, False)
    ]
    x, y = features_and_labels()
    gradients = []
    for head, dtype in zip(heads, (torch.float64, torch.float32), strict=True):
        features = x.detach().to(dtype).requires_grad_(True)
        loss, _ = head(features, y)
        loss.backward()
        gradients.append((loss.double(), features.grad.double(), head.weight.grad.double()))
    for a, b in zip(*gradients, strict=True):
        assert torch.allclose(a, b, rtol=1e-4, atol=1e-5)


def test_margin_is_computed_in_float32_for_half_features():
    x, y = features_and_labels()
    head = losses.make_head("arcface", features=6, classes=9)
    half = x.detach().to(torch.bfloat16)
    loss, _ = head(half, y)
    assert loss.dtype == torch.float32
    # The products' factors are rounded to bfloat16 (by 2^-9 at most), nothing after them.
    assert loss.item() == pytest.approx(head(half.float(), y)[0].item(), rel=2e-3)


def test_head_is_a_module():
    x, y = features_and_labels()
    head = losses.make_head("center", features=6, classes=9, weight=0.1)
    other = losses.make_head("center", features=6, classes=9, weight=0.1, seed=5)
    head(x.detach().float(), y)
    other.load_state_dict(head.state_dict())
    head.eval(), other.eval()
    assert torch.equal(head(x.detach().float(), y)[0], other(x.detach().float(), y)[0])
    head.double()
    loss, _ = head(x, y)
    assert loss.dtype == torch.float64
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
    loss.backward()
    before = head.weight.detach().clone()
    optimizer.step()
    assert not torch.equal(before, head.weight)
    assert head(x, y)[0].item() < loss.item()


def test_wrong_use_is_refused():
    with pytest.raises(ValueError, match="cosface"):
        losses.make_head("cosfase", features=4, classes=4)
    with pytest.raises(facebench.Error, match="margin"):
        losses.make_head("cosface", features=4, classes=4, margin=1)
    with pytest.raises(ValueError):
        losses.make_head("softmax", features=4, classes=4)(torch.zeros(2, 3), torch.tensor([0, 1]))
    with pytest.raises(IndexError):
        losses.make_head("softmax", features=4, classes=4)(torch.zeros(2, 4), torch.tensor([0, 4]))


def pictures(n=32, persons=4, size=16, seed=0):
    rng = np.random.default_rng(seed)
    base = rng.integers(0, 256, (persons, size, size, 3))
    labels = np.arange(n) % persons
    noise = rng.integers(-40, 40, (n, size, size, 3))
    return np.clip(base[labels] + noise, 0, 255).astype(np.uint8), labels.tolist()


def plain_forward(nodes, s, x):
    """small4 in plain PyTorch, s its tensors by name."""
    values = []
    for node in nodes:
        inputs = [values[i] for i in node["inputs"]]
        n = node["name"]
        match node["op"]:
            case "input":
                v = x
            case "conv":
                v = F.conv2d(inputs[0], s[n + ".weight"], s.get(n + ".bias"), 2, 1)
            case "batch_norm":
                mean, var = s[n + ".running_mean"], s[n + ".running_var"]
                v = F.batch_norm(
                    inputs[0], mean, var, s.get(n + ".weight"), s.get(n + ".bias"), True
                )
            case "prelu":
                v = F.prelu(inputs[0], s[n + ".weight"])
            case "flatten":
                v = inputs[0].flatten(1)
            case "linear":
                v = F.linear(inputs[0], s[n + ".weight"], s.get(n + ".bias"))
            case other:
                raise AssertionError(f"small4 has a new kind of layer: {other}")
        values.append(v)
    return values[-1]


def test_five_steps_equal_a_plain_loop(tmp_path):
    """fp64, momentum, selective weight decay, cosine schedule, batch norm's statistics."""
    load_file = pytest.importorskip("safetensors.torch").load_file
    images, labels = pictures(n=8)
    size = {"embedding": 8, "channel_multiplier": 0.125}
    recipe = training.load_recipe(
        "small4.softmax",
        iterations=5,
        batch=8,
        dtype="float64",
        augmentation__flip=0,
        lr=0.05,
        decay_biases=False,
        decay_norms=False,
        decay_slopes=False,
        **size,
    )
    net = nn.build_network("small4", height=16, width=16, **size)
    state = {k: v.double().clone() for k, v in net.state_dict().items()}
    head = losses.make_head("softmax", features=8, classes=4, float64=True)
    state |= {k: v.detach().clone() for k, v in head.named_parameters()}
    trained = [v.requires_grad_(True) for k, v in state.items() if "running" not in k]
    optimizer = torch.optim.SGD(
        [
            {"params": [p for p in trained if p.dim() > 1], "weight_decay": 5e-4},
            {"params": [p for p in trained if p.dim() <= 1], "weight_decay": 0},
        ],
        lr=0.05,
        momentum=0.9,
    )
    x = torch.from_numpy((images.astype(np.float32) - 127.5) / 128).permute(0, 3, 1, 2).double()
    y = torch.tensor(labels)
    for step in range(5):
        for group in optimizer.param_groups:
            group["lr"] = 0.05 * (1 + math.cos(math.pi * step / 5)) / 2
        optimizer.zero_grad()
        features = plain_forward(net.graph.nodes, state, x)
        loss = F.cross_entropy(F.linear(features, state["weight"], state["bias"]), y)
        loss.backward()
        optimizer.step()

    training.train(recipe, (images, labels), tmp_path / "run", log_every=1, threads=1)
    ours = load_file(sorted((tmp_path / "run" / "checkpoints").iterdir())[-1])
    for name, value in state.items():
        key = ("head." if name in ("weight", "bias") else "network.") + name
        assert torch.allclose(ours[key].double(), value, atol=1e-8, rtol=0), name
    log = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    assert [line["iteration"] for line in log] == [1, 2, 3, 4, 5]
    assert log[-1]["loss"] == pytest.approx(loss.item(), abs=1e-8)


BETAS = ({"beta1": 0.8, "beta2": 0.99, "eps": 1e-6}, {"betas": (0.8, 0.99), "eps": 1e-6})


@pytest.mark.parametrize(
    ("name", "theirs", "ours_only", "theirs_only"),
    [
        ("adam", torch.optim.Adam, *BETAS),
        ("adamw", torch.optim.AdamW, *BETAS),
        ("sgd", torch.optim.SGD, {"momentum": 0.9}, {"momentum": 0.9}),
        ("sgd", torch.optim.SGD, {"momentum": 0.0}, {"momentum": 0.0}),
    ],
)
def test_optimizers_equal_torchs(name, theirs, ours_only, theirs_only):
    """Twenty steps in fp64."""
    settings = {"lr": 0.02, "weight_decay": 0.1}
    torch.manual_seed(3)
    ours = [torch.randn(5, 3, dtype=torch.float64, requires_grad=True) for _ in range(2)]
    reference = [p.detach().clone().requires_grad_(True) for p in ours]
    named = {str(i): p for i, p in enumerate(ours)}
    optimizers = [
        (training.Optimizer(named, name=name, **ours_only, **settings), ours),
        (theirs(reference, **theirs_only, **settings), reference),
    ]
    for _ in range(20):
        for optimizer, parameters in optimizers:
            optimizer.zero_grad()
            sum((p**4 - p).sum() for p in parameters).backward()
            optimizer.step()
    for a, b in zip(ours, reference, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-13)
    if name != "sgd":
        with pytest.raises(ValueError, match="nesterov"):
            training.Optimizer(named, name=name, nesterov=True)


def tiny(**overrides):
    return training.load_recipe(
        "small4.cosface", epochs=3, batch=8, embedding=8, channel_multiplier=0.125, **overrides
    )


@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
def test_callbacks_stop_and_resume_to_the_bit(optimizer, tmp_path):
    data = pictures()
    recipe = tiny(optimizer=optimizer)
    whole = training.train(recipe, data, tmp_path / "whole", threads=1)

    def stop(report, model):
        if report["epoch"] == 2:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        training.train(recipe, data, tmp_path / "parts", threads=1, on_epoch=stop)
    seen = []
    parts = training.train(
        recipe,
        data,
        tmp_path / "parts",
        resume=True,
        data_threads=3,
        on_epoch=lambda report, model: seen.append(report["epoch"]),
    )
    assert seen == [2, 3]
    assert Path(whole["model"]).read_bytes() == Path(parts["model"]).read_bytes()
    with pytest.raises(facebench.Error, match="already"):
        training.train(recipe, data, tmp_path / "parts", threads=1)
    with pytest.raises(facebench.Error, match="lr"):
        training.train(tiny(optimizer=optimizer, lr=0.01), data, tmp_path / "parts", resume=True)


def test_progress_and_validation_score(tmp_path):
    calls = []

    class Progress:
        def begin(self, stage, total, unit):
            calls.append(("begin", stage, total, unit))

        def update(self, done, note):
            calls.append(("update", done, note))

        def end(self):
            calls.append(("end",))

    result = training.train(
        tiny(),
        pictures(),
        tmp_path / "run",
        progress=Progress(),
        on_epoch=lambda report, model: -abs(report["epoch"] - 2),
        log_every=1,
    )
    assert result["best_score"] == 0
    assert (tmp_path / "run" / "best.safetensors").exists()
    assert calls[0] == ("begin", "training", 12, "steps")
    assert "loss" in calls[-2][2] and calls[-2][1] == 12
    manifest = json.loads((tmp_path / "run" / "run.json").read_text())
    assert manifest["content"]["recipe"]["loss"]["name"] == "cosface"
    assert manifest["content"]["result"]["iterations"] == 12


@pytest.mark.filterwarnings("ignore:16 images are of two", "ignore:all images of the last batch")
def test_a_model_that_was_kept_after_its_epoch_is_refused(tmp_path):
    """It and its parts belong to the training; they were read from memory that was given back."""
    kept = []

    def keep(report, model):
        kept.extend([model, model.weights, model.weights.graph, model.options])

    images = np.zeros((16, 16, 16, 3), np.uint8)
    recipe = training.load_recipe("small4.cosface", epochs=2, batch=8, embedding=8)
    data = (images, [k % 4 for k in range(16)])
    training.train(recipe, data, tmp_path / "out", threads=1, on_epoch=keep)
    assert len(kept) == 8
    for model, weights, graph, options in (kept[:4], kept[4:]):
        for act in (lambda m=model: m.network, model.description, lambda w=weights: w.graph,
                    lambda g=graph: g.nodes, lambda o=options: o.to_dict()):  # fmt: skip
            with pytest.raises(TypeError, match="not constructed"):
                act()


def test_recipe_overrides():
    assert "demo" in training.recipe_names()
    recipe = training.load_recipe("demo", lr=0.02, loss="arcface", loss__m=0.3)
    settings = recipe.to_dict()
    assert settings["optimizer"]["lr"] == 0.02
    assert settings["loss"]["name"] == "arcface" and settings["loss"]["m"] == 0.3
    with pytest.raises(ValueError, match="batch"):
        training.load_recipe("demo", bach=3)
    for key in recipe.keys():  # noqa: SIM118  (a Recipe is not a dict)
        assert key.count(".") == 1


def test_schedules_equal_torch():
    parameter = torch.nn.Parameter(torch.zeros(1))

    def reference(make, n=20):
        optimizer = torch.optim.SGD([parameter], lr=0.2)
        scheduler = make(optimizer)
        lrs = []
        for _ in range(n):
            lrs.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            scheduler.step()
        return pytest.approx(lrs)

    def ours(n=20, **options):
        schedule = training.ScheduleOptions(unit="iterations", **options)
        return [training.learning_rate(0.2, schedule, i, n) for i in range(n)]

    s = torch.optim.lr_scheduler
    assert ours(policy="step", step=6.0, gamma=0.3) == reference(lambda o: s.StepLR(o, 6, 0.3))
    assert ours(policy="multistep", milestones=[3.0, 11.0], gamma=0.3) == reference(
        lambda o: s.MultiStepLR(o, [3, 11], 0.3)
    )
    assert ours(policy="exponential", gamma=0.9) == reference(lambda o: s.ExponentialLR(o, 0.9))
    assert ours(policy="polynomial", power=2.0) == reference(lambda o: s.PolynomialLR(o, 20, 2))
    assert ours(policy="cosine", final_lr=0.01) == reference(
        lambda o: s.CosineAnnealingLR(o, 20, 0.01)
    )


def read_pgm(path):
    raw = path.read_bytes()
    magic, size, depth, pixels = raw.split(b"\n", 3)
    width, height = map(int, size.split())
    assert magic == b"P5" and depth == b"255"
    return np.frombuffer(pixels, np.uint8, width * height).reshape(height, width)


def test_learns_real_faces(tmp_path):
    """AT&T: after a few epochs 30 people are told apart on their training images."""
    root = os.environ.get("FACEBENCH_DATA")
    if not root or not (Path(root) / "att").is_dir():
        pytest.skip("FACEBENCH_DATA is not set (AT&T faces)")
    images, labels = [], []
    for person in range(1, 31):
        for i in range(1, 11):
            gray = read_pgm(Path(root) / "att" / f"s{person}" / f"{i}.pgm")
            images.append(np.repeat(gray[8:104:2, ::2, None], 3, axis=2))
            labels.append(person)
    recipe = training.load_recipe(
        "small4.softmax", epochs=6, batch=32, lr=0.05, channel_multiplier=0.25, shift=2
    )
    result = training.train(recipe, (np.stack(images), labels), tmp_path / "run", threads=1)
    assert result["classes"] == 30
    assert result["accuracy"] > 0.8
