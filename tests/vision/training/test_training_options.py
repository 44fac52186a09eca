"""What a recipe can ask of a training step, against plain PyTorch loops over the same networks."""

import json
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("facebench._full")

import facebench  # noqa: E402
from facebench import losses, nn, training  # noqa: E402

load_file = pytest.importorskip("safetensors.torch").load_file


def pictures(n, persons=4, size=16, seed=0):
    rng = np.random.default_rng(seed)
    base = rng.integers(0, 256, (persons, size, size, 3))
    labels = np.arange(n) % persons
    noise = rng.integers(-40, 40, (n, size, size, 3))
    return np.clip(base[labels] + noise, 0, 255).astype(np.uint8), labels.tolist()


def whole_batch(recipe, data, out, steps, **options):
    """Trains on all images at once for some steps; a checkpoint and a line of the log for each."""
    for key, value in {
        "iterations": steps,
        "batch": len(data[0]),
        "augmentation.flip": 0,
        "augmentation.shift": 0,
        "policy": "constant",
    }.items():
        recipe.set(key, str(value))
    options = {"threads": 1, "log_every": 1, "checkpoint_every": 1, "keep": 100} | options
    training.train(recipe, data, out, **options)
    log = [json.loads(line) for line in (Path(out) / "log.jsonl").read_text().splitlines()]
    return log, [load_file(f) for f in sorted((Path(out) / "checkpoints").iterdir())]


def as_batch(data, dtype=torch.float32):
    images, labels = data
    x = torch.from_numpy((images.astype(np.float32) - 127.5) / 128).permute(0, 3, 1, 2)
    return x.to(dtype), torch.tensor(labels)


def same(a, b, tolerance):
    return all(torch.allclose(a[k], b[k], rtol=tolerance, atol=tolerance) for k in b)


@pytest.mark.filterwarnings("ignore:each of the . people has one image")
@pytest.mark.parametrize(
    ("name", "size", "heads", "weight", "asked"),
    [("googlenet", 32, 2, 0.3, None), ("googlenet_bvlc", 80, 2, 0.7, 0.7)],
)
def test_auxiliary_heads_equal_a_plain_step(tmp_path, name, size, heads, weight, asked):
    """fp64. Dropout's masks go by the place in the batch: one order of the images must fit."""
    data = pictures(3, persons=3, size=size)
    recipe = training.load_recipe(
        "small4.softmax", network=name, auxiliary=1, aux_weight=asked, dtype="float64", lr=0.01
    )
    _, (state,) = whole_batch(recipe, data, tmp_path / "run", 1)
    names = {"classifier_input": "head"} | {f"aux{i + 1}": f"aux{i + 1}" for i in range(heads)}
    assert {k.split(".")[0] for k in state} == {"network", "momentum", *names.values()}

    def after_step(order):
        net = nn.build_network(name, height=size, width=size, auxiliary=1).to(dtype=torch.float64)
        net.set_dropout(0, 0)
        x, y = as_batch(data, torch.float64)
        values = net.forward_taps(x[order], list(names))
        tensors = {f"network.{k}": v for k, v in net.named_parameters()}
        total = 0
        for i, (value, head_name) in enumerate(zip(values, names.values(), strict=True)):
            seed = 0 if i == 0 else (i + 1) << 32
            head = losses.make_head(
                "softmax", features=value.shape[1], classes=3, seed=seed, float64=True
            )
            loss = head(value, y[order])[0]
            total = total + (1 if i == 0 else weight) * loss
            tensors |= {f"{head_name}.{k}": v for k, v in head.named_parameters()}
        total.backward()
        decay = recipe.to_dict()["optimizer"]["weight_decay"]
        return {k: (v - 0.01 * (v.grad + decay * v)).detach() for k, v in tensors.items()}

    fits = [o for o in permutations(range(3)) if same(state, after_step(list(o)), 1e-9)]
    assert len(fits) == 1
    saved = facebench.embedding.load_model(tmp_path / "run" / "model.safetensors")
    assert saved.network_options.auxiliary == 0
    assert not [k for k in saved.weights.state_dict() if k.startswith(("aux", "loss"))]


@pytest.mark.slow
def test_inception_v3_trains_with_its_auxiliary_head(tmp_path):
    """No dropout before its embedding: the plain step is one."""
    data = pictures(2, persons=2, size=299)
    recipe = training.load_recipe("small4.softmax", network="inception_v3", auxiliary=1, lr=0.01)
    _, (state,) = whole_batch(recipe, data, tmp_path / "run", 1)
    net = nn.build_network("inception_v3", height=299, width=299, auxiliary=1).channels_last()
    x, y = as_batch(data)
    main, aux = net.forward_taps(x, ["embedding", "aux1"])
    heads = [
        losses.make_head("softmax", features=v.shape[1], classes=2, seed=seed)
        for v, seed in ((main, 0), (aux, 2 << 32))
    ]
    (heads[0](main, y)[0] + 0.4 * heads[1](aux, y)[0]).backward()
    deep = "AuxLogits.conv0.conv.weight"
    weights = {"aux1.weight": heads[1].weight}
    weights[f"network.{deep}"] = dict(net.named_parameters())[deep]
    for name, weight in weights.items():
        expected = weight.grad + 5e-4 * weight.detach()
        # float32, and batch norm of two images.
        assert (state[f"momentum.{name}"] - expected).norm() < 0.02 * expected.norm(), name


@pytest.mark.filterwarnings("ignore:each of the . people has one image")
def test_without_weight_there_are_no_auxiliary_heads(tmp_path):
    recipe = training.load_recipe("small4.softmax", network="googlenet", auxiliary=1, aux_weight=0)
    _, (state,) = whole_batch(recipe, pictures(4, size=32), tmp_path / "run", 1)
    assert not [k for k in state if "aux" in k]


def test_bfloat16_is_torchs_autocast(tmp_path):
    data = pictures(8)
    settings = {"embedding": 16, "lr": 0.02}
    recipe = training.load_recipe("small4.softmax", dtype="bfloat16", **settings)
    log, states = whole_batch(recipe, data, tmp_path / "half", 3)
    full = training.load_recipe("small4.softmax", **settings)
    full_log, _ = whole_batch(full, data, tmp_path / "full", 3)

    net = nn.build_network("small4", height=16, width=16, embedding=16).channels_last()
    head = losses.make_head("softmax", features=16, classes=4)
    optimizer = torch.optim.SGD(
        [*net.parameters(), *head.parameters()], lr=0.02, momentum=0.9, weight_decay=5e-4
    )
    x, y = as_batch(data)
    for step in range(3):
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            features = net(x)
        assert features.dtype == torch.bfloat16
        loss = head(features.float(), y)[0]
        loss.backward()
        optimizer.step()
        # The order of the images in the batch moves the last bits of sums.
        assert log[step]["loss"] == pytest.approx(loss.item(), rel=2e-3 if step == 0 else 2e-2)
    assert all(v.dtype == torch.float32 for k, v in states[-1].items() if "weight" in k)
    assert log[0]["loss"] != full_log[0]["loss"]
    assert log[0]["loss"] == pytest.approx(full_log[0]["loss"], rel=0.05)


# Centres and moving averages move from micro-batch to micro-batch; triplets are those of one.
OF_MICRO_BATCHES = ("center", "adaface", "curricularface", "triplet")


@pytest.mark.filterwarnings("ignore:sphereface. lambda is")
@pytest.mark.parametrize(
    "loss", [e["name"] for e in losses.list_losses() if e["name"] not in OF_MICRO_BATCHES]
)
def test_accumulation_equals_the_large_batch(tmp_path, loss):
    """fp64, a network without batch norm; SphereFace's lambda counts steps, not micro-batches."""
    data = pictures(12)

    def run(parts):
        recipe = training.load_recipe(
            "small4.softmax",
            network="sphereface4",
            loss=loss,
            embedding=16,
            dtype="float64",
            accumulate=parts,
            lr=0.01,
        )
        return whole_batch(recipe, data, tmp_path / f"{parts}", 4)

    (whole_log, whole), (parts_log, parts) = run(1), run(3)
    assert same(parts[-1], whole[-1], 1e-10)
    for a, b in zip(whole_log, parts_log, strict=True):
        assert a["loss"] == pytest.approx(b["loss"], rel=1e-10)
        assert a["accuracy"] == b["accuracy"]


def test_clipping_equals_torchs(tmp_path):
    data = pictures(8)
    seen = []
    recipe = training.load_recipe(
        "small4.softmax",
        network="sphereface4",
        embedding=16,
        dtype="float64",
        lr=0.1,
        clip_norm=0.01,
    )
    _, (state,) = whole_batch(recipe, data, tmp_path / "run", 1, on_step=seen.append)
    net = nn.build_network("sphereface4", height=16, width=16, embedding=16).to(dtype=torch.float64)
    head = losses.make_head("softmax", features=16, classes=4, float64=True)
    x, y = as_batch(data, torch.float64)
    head(net(x), y)[0].backward()
    parameters = {f"network.{k}": v for k, v in net.named_parameters()}
    parameters |= {f"head.{k}": v for k, v in head.named_parameters()}
    norm = torch.nn.utils.clip_grad_norm_(parameters.values(), 0.01).item()
    assert norm > 0.02
    assert seen[0]["gradient_norm"] == pytest.approx(norm, rel=1e-9)
    expected = {k: (v - 0.1 * (v.grad + 5e-4 * v)).detach() for k, v in parameters.items()}
    assert same(state, expected, 1e-5)  # torch divides by the norm plus 1e-6


@pytest.mark.filterwarnings("ignore:training.ema = 0.8")
def test_average_of_weights_equals_torchs(tmp_path):
    recipe = training.load_recipe("small4.softmax", embedding=8, ema=0.8)
    judged = []
    _, states = whole_batch(
        recipe,
        pictures(8),
        tmp_path / "run",
        5,
        on_epoch=lambda report, model: judged.append(
            {k: v.clone() for k, v in model.weights.state_dict().items()}
        ),
    )
    update = torch.optim.swa_utils.get_ema_multi_avg_fn(0.8)
    names = [k for k in states[0] if k.startswith("average.")]
    averages = [states[0][k.replace("average.", "")].clone() for k in names]
    for state in states[1:]:
        update(averages, [state[k.replace("average.", "")] for k in names], None)
    model = load_file(tmp_path / "run" / "model.safetensors")
    for name, average in zip(names, averages, strict=True):
        short = name.replace("average.network.", "")
        assert torch.allclose(states[-1][name], average, atol=1e-7)
        assert torch.equal(model[short], states[-1][name])
        assert torch.equal(judged[-1][short], states[-1][name])
    assert torch.equal(model["bn1.running_mean"], states[-1]["network.bn1.running_mean"])


@pytest.mark.parametrize(
    ("scores", "patience", "min_delta", "epochs", "best"),
    [
        ([1, 2, 3, 4, 5, 6], 2, 0, 6, 6),
        ([1, 3, 2, 2, 9, 9], 2, 0, 4, 2),
        ([1, 1.05, 1.1, 1.15, 9, 9], 3, 0.2, 4, 4),
    ],
)
def test_stops_early(tmp_path, scores, patience, min_delta, epochs, best):
    recipe = training.load_recipe(
        "small4.softmax",
        embedding=8,
        epochs=6,
        batch=8,
        patience=patience,
        min_delta=min_delta,
    )
    options = {"threads": 1, "on_epoch": lambda report, model: scores[report["epoch"] - 1]}
    result = training.train(recipe, pictures(8), tmp_path / "run", **options)
    assert result["epochs"] == epochs
    assert result["stopped_early"] == (epochs < 6)
    assert result["best_epoch"] == best
    again = training.train(recipe, pictures(8), tmp_path / "run", resume=True, **options)
    assert again["iterations"] == result["iterations"]
    summary = json.loads((tmp_path / "run" / "run.json").read_text())["content"]["result"]
    assert [e["score"] for e in summary["epochs"]] == scores[:epochs]


def test_patience_needs_a_score(tmp_path):
    recipe = training.load_recipe("small4.softmax", embedding=8, batch=8, patience=2)
    with pytest.raises(ValueError, match="patience"):
        training.train(recipe, pictures(8), tmp_path / "run", threads=1)


def test_balanced_batches_train(tmp_path):
    images, labels = pictures(30, persons=3)
    labels = [0] * 20 + [1] * 6 + [2] * 4
    recipe = training.load_recipe(
        "small4.softmax", embedding=8, sampler="balanced", images_per_person=4, batch=12, epochs=3
    )
    result = training.train(recipe, (images, labels), tmp_path / "run", threads=1)
    assert result["iterations"] == 3 * (30 // 12)
    assert [e["name"] for e in training.list_samplers()] == ["shuffle", "balanced", "people"]


def test_devices_are_checked(tmp_path):
    recipe = training.load_recipe("small4.softmax", embedding=8, batch=8)
    with pytest.raises(ValueError, match="gpu"):
        training.train(recipe, pictures(8), tmp_path / "run", device="gpu")
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="cuda"):
            training.train(recipe, pictures(8), tmp_path / "run", device="cuda")


def test_networks_and_losses_in_a_loop_of_ones_own():
    """What docs/training.md shows: resnet50 and a margin loss with torch's own optimizer."""
    torch.manual_seed(0)
    net = nn.build_network("resnet50", height=32, width=32)
    head = losses.make_head("arcface", features=2048, classes=4, s=16.0)
    optimizer = torch.optim.AdamW([*net.parameters(), *head.parameters()], lr=1e-4)
    x, y = as_batch(pictures(8, size=32))
    seen = []
    for _ in range(6):
        optimizer.zero_grad()
        loss, logits = head(net(x), y)
        loss.backward()
        optimizer.step()
        seen.append(loss.item())
    assert seen[-1] < 0.9 * seen[0]
    assert logits.shape == (8, 4)
    assert set(net.state_dict()) == {t for t, _ in net.named_parameters()} | {
        t for t, _ in net.named_buffers()
    }


@pytest.mark.parametrize(("loss", "options"), [("softmax", {}), ("arcface", {"s": 8})])
def test_update_in_the_backward_pass_is_pytorchs_sgd(loss, options):
    """Float32 in tiles against float64 in torch's operations with torch.optim.SGD."""
    how = {"features": 24, "classes": 300, "seed": 3} | options
    ours = losses.make_head(loss, **how)
    reference = losses.make_head(loss, float64=True, **how)
    rates = {"lr": 0.2, "momentum": 0.9, "weight_decay": 0.01}
    optimizer = training.Optimizer(ours.named_parameters(), **rates)
    sgd = torch.optim.SGD(reference.parameters(), nesterov=False, **rates)
    with torch.no_grad():
        for a, b in zip(reference.parameters(), ours.parameters(), strict=True):
            a.copy_(b)
    random = torch.Generator().manual_seed(1)
    for _ in range(10):
        x = torch.randn(32, 24, generator=random)
        y = torch.randint(0, 300, (32,), generator=random)
        optimizer.zero_grad()
        optimizer.backward(ours(x, y)[0], ours)
        assert ours.weight.grad is None
        optimizer.step()
        sgd.zero_grad()
        reference(x.double(), y)[0].backward()
        sgd.step()
    for a, b in zip(ours.parameters(), reference.parameters(), strict=True):
        assert (a - b).abs().max() < 1e-5 * b.abs().max()


def test_training_has_the_bits_of_one_that_stores_the_gradient(tmp_path):
    """A clip_norm that is never reached needs the gradient; the log's norm is of all gradients."""
    found = []
    for clip in ("0", "1e9"):
        recipe = training.load_recipe("small4.arcface")
        recipe.set("optimizer.clip_norm", clip)
        found.append(whole_batch(recipe, pictures(12), tmp_path / clip, 4))
    (early_log, early), (plain_log, plain) = found
    for a, b in zip(early, plain, strict=True):
        assert a.keys() == b.keys() and all(torch.equal(a[k], b[k]) for k in a)
    norms = [
        [line["gradient_norm"] for line in log if "loss" in line] for log in (early_log, plain_log)
    ]
    assert len(norms[0]) == 4
    np.testing.assert_allclose(*norms, rtol=1e-5)
