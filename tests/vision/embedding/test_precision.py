"""Embedding in lower precision: what it changes, what the manifest says, what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.kernels

torch = pytest.importorskip("torch")

import facebench  # noqa: E402
from click.testing import CliRunner  # noqa: E402
from facebench import Error, embedding, io, nn  # noqa: E402
from facebench.cli.app import app  # noqa: E402

SIZE = 48
LOWER = ("bfloat16", "int8")


def faces(n, seed=0):
    """Smooth images, as photographs are: noise alone would be all that int8 sees."""
    coarse = np.random.default_rng(seed).integers(0, 256, (n, 6, 6, 3)).astype(np.float32)
    x = torch.from_numpy(coarse).permute(0, 3, 1, 2)
    x = torch.nn.functional.interpolate(x, (SIZE, SIZE), mode="bilinear")
    return x.permute(0, 2, 3, 1).numpy().astype(np.uint8)


@pytest.fixture(scope="module")
def model():
    made = embedding.make_model("small4", height=SIZE, width=SIZE, embedding=64, flip="sum")
    return embedding.quantize(made, faces(20, seed=1), count=8, threads=1)


def embed(model, images, precision, threads=1, **options):
    how = embedding.ExtractOptions(precision=precision, **options)
    return embedding.extract(model, images, how, threads=threads)


@pytest.mark.parametrize(("precision", "least"), [("bfloat16", 0.9998), ("int8", 0.995)])
def test_it_is_near_float32_and_the_same_bytes_always(model, precision, least):
    images = faces(11)
    exact = embed(model, images, "float32")
    got = embed(model, images, precision)
    cosine = (exact.values * got.values).sum(1)
    assert least < cosine.min() < 1 - 1e-7
    assert got.manifest["extract"]["precision"] == precision
    assert exact.manifest["extract"]["precision"] == "float32"
    for threads, micro_batch in ((2, 4), (3, 1), (2, 64)):
        again = embed(model, images, precision, threads, micro_batch=micro_batch)
        assert again.values.tobytes() == got.values.tobytes()


def test_ranges_are_those_of_the_layers_inputs():
    images = faces(6)

    def ranges(images, **options):
        plain = embedding.make_model("small4", height=SIZE, width=SIZE)
        return embedding.quantize(plain, images, threads=1, **options).input_ranges

    seen = ranges(images)
    pixels = (images.reshape(6, -1) - 127.5) / 128
    expected = pixels.min(1).mean(), pixels.max(1).mean()
    np.testing.assert_allclose(seen[min(seen)], expected, rtol=1e-3)
    assert ranges(images, count=3) == ranges(images[::2])  # evenly
    with pytest.raises(ValueError, match="count 0"):
        ranges(images, count=0)


def test_a_file_keeps_the_ranges(model, tmp_path):
    path = tmp_path / "m.safetensors"
    model.save(path)
    loaded = embedding.load_model(path)
    assert loaded.input_ranges == model.input_ranges
    images = faces(3)
    assert embed(loaded, images, "int8").values.tobytes() == (
        embed(model, images, "int8").values.tobytes()
    )
    arrays, metadata = io.read_safetensors(path)
    for bad in ("[]", '{"conv": [1]}', '{"conv": [2, 1]}', '{"conv": ["0", 1]}', "{"):
        io.write_safetensors(path, arrays, {**metadata, "input_ranges": bad})
        with pytest.raises(Error, match="input_ranges"):
            embedding.load_model(path)


def test_what_has_no_lower_precision_says_so(model):
    images = faces(2)
    plain = embedding.make_model("small4", height=SIZE, width=SIZE)
    with pytest.raises(ValueError, match="facebench quantize"):
        embed(plain, images, "int8")
    lrn = embedding.make_model("alexnet_v1", height=67, width=67)
    for precision in LOWER:
        with pytest.raises(ValueError, match=f"local response normalisation.*{precision}"):
            embed(lrn, images, precision)
        with pytest.raises(ValueError, match=f"precision {precision}: the model"):
            embed(lambda batch: batch.mean((1, 2)), images, precision)
    with pytest.raises(ValueError, match="did you mean 'bfloat16'"):
        embed(model, images, "bfloat")


def test_what_it_costs_is_said_where_it_gains_little():
    assert nn.precision_cost("float32") == ""
    own = str(facebench.core.active_isa()) == "avx512bf16"
    slow = own and "GenuineIntel" in Path("/proc/cpuinfo").read_text()
    assert [bool(nn.precision_cost(precision)) for precision in LOWER] == [not own or slow, not own]
    assert ("Intel" in nn.precision_cost("bfloat16")) == slow


def test_runs_say_it_and_do_not_take_each_others_embeddings(model, tmp_path):
    root, path, cache = tmp_path / "faces", tmp_path / "m.safetensors", tmp_path / "cache"
    few = facebench.datasets.SyntheticOptions(people=20, images=2, size=96, pairs_per_fold=1)
    facebench.datasets.write_synthetic_dataset(few, root)
    made = embedding.make_model("small4", height=64, width=64)
    made.save(path)
    how = {"model": path, "root": root, "detector": "none", "interval": "none", "cache": cache}
    reused = {}
    for precision in ("float32", "bfloat16", "bfloat16"):
        out = tmp_path / f"{precision}-{len(reused)}"
        result = facebench.run("lfw", out=out, precision=precision, **how)
        reused[out] = result.reused
        content = json.loads((out / "run.json").read_text())["content"]
        assert content["embeddings"]["manifest"]["extract"]["precision"] == precision
    assert [sorted(r) for r in reused.values()] == [[], ["pack"], ["embeddings", "pack"]]


def test_the_command_line(tmp_path):
    plain, ready, pack = (tmp_path / n for n in ("m.safetensors", "q.safetensors", "p.h5"))
    embedding.make_model("small4", height=64, width=64).save(plain)
    few = facebench.datasets.SyntheticOptions(people=20, images=2, size=64, pairs_per_fold=1)
    facebench.datasets.write_synthetic_dataset(few, tmp_path / "faces")
    facebench.pack("lfw", tmp_path / "faces", pack, detector="none", crop_size=64)
    result = CliRunner().invoke(app, ["quantize", str(plain), str(pack), "--out", str(ready)])
    assert result.exit_code == 0 and "5 layers" in result.output, result.output
    assert ("int8 gains little" in result.output) == bool(nn.precision_cost("int8"))
    assert len(embedding.load_model(ready).input_ranges) == 5
    out = tmp_path / "e.h5"
    options = ["embed", str(ready), str(pack), "--precision", "int8", "--out", str(out)]
    assert CliRunner().invoke(app, options).exit_code == 0
    assert io.read_embeddings(out).manifest["extract"]["precision"] == "int8"
