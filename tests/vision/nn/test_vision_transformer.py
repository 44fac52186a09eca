"""ViT-S against its definition in plain PyTorch: outputs, gradients, names, stochastic depth."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("facebench._full")

from facebench import embedding, nn  # noqa: E402
from safetensors.torch import save_file  # noqa: E402

F = torch.nn.functional
SIZE = {"height": 29, "width": 20}  # 3 x 2 patches; the last pixels are in none
BLOCKS, WIDTH, HEADS = 12, 512, 8


def transformer(x, t):
    """Dosovitskiy et al. 2021, equations 1 to 4, without a class token; the layers and names of
    insightface's arcface_torch, backbones/vit.py. Evaluation mode."""

    def norm(name, v):
        return F.layer_norm(v, (WIDTH,), t[f"{name}.weight"], t[f"{name}.bias"])

    def batch_norm(name, v):
        statistics = [t[f"{name}.{k}"] for k in ("running_mean", "running_var", "weight", "bias")]
        return F.batch_norm(v, *statistics, eps=2e-5)

    def attention(name, v):
        out = torch.zeros_like(v)
        size = WIDTH // HEADS
        qkv = v @ t[f"{name}.qkv.weight"].T
        for head in range(HEADS):
            q, k, w = (
                qkv[..., part * WIDTH + head * size : part * WIDTH + (head + 1) * size]
                for part in range(3)
            )
            scores = torch.softmax(q @ k.transpose(1, 2) / size**0.5, dim=2)
            out[..., head * size : (head + 1) * size] = scores @ w
        return out @ t[f"{name}.proj.weight"].T + t[f"{name}.proj.bias"]

    def mlp(name, v):
        hidden = v @ t[f"{name}.fc1.weight"].T + t[f"{name}.fc1.bias"]
        return hidden.clamp(0, 6) @ t[f"{name}.fc2.weight"].T + t[f"{name}.fc2.bias"]

    rows, columns = x.shape[2] // 9, x.shape[3] // 9
    kernel = t["patch_embed.proj.weight"].reshape(WIDTH, -1)
    patches = [
        x[:, :, 9 * r : 9 * r + 9, 9 * c : 9 * c + 9].flatten(1) @ kernel.T
        for r in range(rows)
        for c in range(columns)
    ]
    x = torch.stack(patches, 1) + t["patch_embed.proj.bias"] + t["pos_embed.weight"]
    for b in range(BLOCKS):
        x = x + attention(f"blocks.{b}.attn", norm(f"blocks.{b}.norm1", x))
        x = x + mlp(f"blocks.{b}.mlp", norm(f"blocks.{b}.norm2", x))
    x = norm("norm", x).flatten(1) @ t["feature.0.weight"].T
    return batch_norm("feature.3", batch_norm("feature.1", x) @ t["feature.2.weight"].T)


@pytest.fixture(scope="module")
def network():
    made = nn.build_network("vit_s", **SIZE, initializer="transformer")
    generator = torch.Generator().manual_seed(0)
    for key, tensor in made.state_dict().items():  # values that show
        if key.endswith(("running_mean", "norm1.bias", "norm2.bias", "norm.bias")):
            tensor.data.normal_(0, 0.1, generator=generator)
        if key.endswith(("running_var", "norm1.weight", "norm2.weight", "norm.weight")):
            tensor.data.uniform_(0.5, 1.5, generator=generator)
    return made.eval()


def images(dtype):
    return torch.randn(2, 3, *SIZE.values(), generator=torch.Generator().manual_seed(1)).to(dtype)


def test_outputs_and_gradients_equal_the_definition(network):
    ours = network.clone().to(dtype=torch.float64)
    plain = {k: v.detach().clone() for k, v in ours.state_dict().items()}
    for name, _ in ours.named_parameters():
        plain[name].requires_grad_()
    x = images(torch.float64)
    expected, got = transformer(x, plain), ours(x)
    torch.testing.assert_close(got, expected, rtol=1e-10, atol=1e-10)
    weights = torch.linspace(-1, 1, got.numel(), dtype=torch.float64).reshape(got.shape)
    (expected * weights).sum().backward()
    (got * weights).sum().backward()
    for name, parameter in ours.named_parameters():
        scale = plain[name].grad.abs().max().item()
        assert scale > 0, name
        difference = (parameter.grad - plain[name].grad).abs().max().item()
        assert difference <= 1e-9 * scale, name


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_training_drops_branches_of_the_same_images_again(network, dtype):
    ours = network.clone().to(dtype=dtype).train()
    x = images(dtype).repeat(8, 1, 1, 1)
    ours.use_dropout(False)
    whole = ours(x)
    ours.use_dropout(True)
    assert torch.isfinite(whole).all() and not torch.equal(ours(x), whole)
    rates = [n["options"]["p"] for n in ours.graph.nodes if n["op"] == "drop_path"]
    assert rates == pytest.approx([0.05 * (i // 2) / 11 for i in range(24)])


def test_insightface_weights_convert(network, tmp_path):
    """Its positions have no ".weight", and masked patches have a token of their own."""
    state = {k: v.detach().clone() for k, v in network.state_dict().items()}
    state["pos_embed"] = state.pop("pos_embed.weight")
    assert state["pos_embed"].shape == (1, 6, WIDTH)
    save_file(state | {"mask_token": torch.zeros(1, 1, WIDTH)}, tmp_path / "w.safetensors")
    embedding.convert(
        tmp_path / "w.safetensors",
        network="vit_s",
        drop=["mask_token"],
        color="rgb",
        mean=[127.5],
        std=[127.5],
        out=tmp_path / "m.safetensors",
        **SIZE,
    )
    again = embedding.load_model(tmp_path / "m.safetensors")
    x = images(torch.float32)
    assert torch.equal(again.weights.infer(x), network.infer(x))
