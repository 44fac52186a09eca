"""Models whose rows depend on the other images of their batch: given one image at a time, with a
word, or refused."""

import json
import warnings

import facebench
import numpy as np
import pytest
import torch
from command_line import invoke
from facebench import Error, datasets, embedding
from lfw_like import lfw_like
from torch.nn import functional

FACES = np.random.default_rng(0).integers(0, 256, (20, 16, 16, 3), np.uint8)
WEIGHT = np.random.default_rng(1).normal(size=(768, 8))
PIXELS = {"mean": 127.5, "std": 127.5, "color": "rgb"}
PLAIN = embedding.ExtractOptions(flip="none", normalization="none")
SINGLY = "An image's embedding depends on the other images of its batch: the model was given one"
COUNT = "An image's embedding depends on how many images are in its batch: the model was given one"
BAKED = "The model does not take 8 images at once: it was given one image at a time."


def flat(crops):
    return crops.reshape(len(crops), -1).astype(np.float64)


def linear(crops):
    return flat(crops) @ WEIGHT


class Module(torch.nn.Module):
    def __init__(self, after):
        super().__init__()
        torch.manual_seed(0)
        self.fc, self.after = torch.nn.Linear(768, 8), after

    def forward(self, x):
        return self.after(self.fc(x.flatten(1)))


def channels_of_the_batch(crops):
    x = torch.from_numpy(crops).float().permute(0, 3, 1, 2)
    return functional.batch_norm(x, None, None, training=True).flatten(1).numpy()


def by_columns(crops):
    rows = linear(crops)
    return rows / np.linalg.norm(rows, axis=0)  # axis 1 is meant


def quantised(crops):
    """In bytes of the batch's range, as dynamic quantisation has it."""
    step = np.abs(linear(crops)).max() / 15
    return np.round(linear(crops) / step) * step


def least_and_most(crops):
    rows = linear(crops)
    return np.concatenate([rows - rows.min(), rows.max() - rows], 1)


def between_extremes(crops):
    """The batch's darkest pixel becomes 0 and its lightest 1."""
    low, high = flat(crops).min(), flat(crops).max()
    return (flat(crops) - low) / (high - low)


def ranks(crops):
    """Each number's place among those of the batch."""
    return 1 + linear(crops).argsort(0).argsort(0)


def of_the_first(crops):
    """From the batch's first image on; of one alone, from black."""
    first = flat(crops)[0] if len(crops) > 1 else 0
    return flat(crops) - first


def by_spread(crops):
    return flat(crops) - flat(crops).std()


def by_the_middle(crops):
    return flat(crops) - np.median(flat(crops))


def by_count(crops):
    return linear(crops) + 1000 * len(crops)


def only_one(crops):
    if len(crops) != 1:
        raise RuntimeError("input must be {1, 768}")
    return linear(crops)


def baked(crops):
    return linear(crops).reshape(1, -1)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (by_columns, SINGLY),
        (channels_of_the_batch, SINGLY),
        (least_and_most, SINGLY),
        (quantised, SINGLY),
        (between_extremes, SINGLY),
        (by_spread, SINGLY),
        (by_the_middle, SINGLY),
        (of_the_first, SINGLY),
        (by_count, COUNT),
        (only_one, BAKED),
        (baked, BAKED),
    ],
)
def test_one_image_goes_through_at_a_time(model, said):
    """The rows are those of the model for one image, by itself."""
    expected = np.concatenate([model(face[None]) for face in FACES]).astype(np.float32)
    for faces, rows in ((FACES, expected), (FACES[::-1], expected[::-1]), (FACES[:1], expected)):
        with pytest.warns(UserWarning, match=said):
            found = embedding.extract(model, faces, PLAIN)
        assert np.array_equal(found.values, rows[: len(faces)])
        assert found.manifest["batch_dependence"].startswith(said)
        assert found.manifest["extract"]["micro_batch"] == 1


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (Module(lambda x: functional.dropout(x, 0.5)), "one image gives two embeddings"),
        (Module(lambda x: x + 0.1 * torch.randn(len(x), 8)), "one image gives two embeddings"),
        (Module(lambda x: functional.dropout1d(x.T, 0.5).T), "one image gives two embeddings"),
        (
            Module(lambda x: functional.batch_norm(x, None, None, training=True)),
            r"alone it has none \(ValueError: Expected more than 1 value per channel.*\]\)\)\. B",
        ),
        (Module(lambda x: x - x.mean(0)), "an image alone has none that tells it from others"),
        (Module(lambda x: torch.softmax(x, 0)), "an image alone has none that tells it from"),
        (Module(lambda x: x / x.std(0, correction=0)), "an image alone has none that tells it"),
    ],
)
def test_what_is_not_defined_for_one_image_is_refused(model, why):
    embedder = embedding.TorchEmbedder(model, **PIXELS)
    for faces in (FACES, FACES[:1], np.repeat(FACES[:1], 9, 0)):
        with pytest.raises(Error, match=f"{why}.*its eval\\(\\) first"):
            embedding.extract(embedder, faces)


def test_places_within_a_batch_are_refused():
    """Alone every image has the same."""
    with pytest.raises(Error, match="an image alone has none that tells it from others"):
        embedding.extract(ranks, FACES)


def full_range_but_narrow(position):
    """Faces that hold 0 and 255, and one that does not."""
    faces = FACES.copy()
    faces[:, 0, 0, 0], faces[:, 0, 0, 1] = 0, 255
    faces[position] = 100 + faces[position] // 8
    return faces


@pytest.mark.parametrize("position", [1, 4, 7, 19])
def test_a_scale_of_the_batch_is_found_behind_any_face(position):
    """Where the images that are asked about hold both ends of the range themselves."""
    faces = full_range_but_narrow(position)
    with pytest.warns(UserWarning, match=SINGLY):
        found = embedding.extract(between_extremes, faces, PLAIN)
    expected = np.concatenate([between_extremes(face[None]) for face in faces])
    assert np.array_equal(found.values, expected.astype(np.float32))


@pytest.mark.parametrize("share", [0.05, 0.002])
def test_a_model_with_a_counter_is_refused(share):
    calls = 0

    def counted(crops):
        nonlocal calls
        calls += 1
        return flat(crops) * (1 + share * (np.arange(768) % 2) * calls)

    with pytest.raises(Error, match="one image gives two embeddings"):
        embedding.extract(counted, FACES)


def test_a_model_with_a_memory_is_refused():
    mean = np.zeros(768)

    def moving(crops):
        nonlocal mean
        mean = 0.95 * mean + 0.05 * flat(crops).mean(0)
        return flat(crops) - mean

    for batch in (8, 1):
        with pytest.raises(Error, match="or depends on the images before"):
            embedding.extract(moving, FACES, embedding.ExtractOptions(micro_batch=batch))


@pytest.mark.parametrize(
    "model",
    [
        linear,
        lambda crops: flat(crops) / np.linalg.norm(flat(crops), axis=1, keepdims=True),
        lambda crops: flat(crops)[:, :8] * (1 + 1e-5 * flat(crops).mean()),  # rounding, say
        lambda crops: linear(crops).astype(np.float16),
        lambda crops: linear(crops) if len(crops) == 8 else None,  # an engine built for eight
    ],
)
def test_what_is_sound_goes_as_before(model):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = embedding.extract(model, FACES, PLAIN)
    assert "batch_dependence" not in found.manifest
    assert found.manifest["extract"]["micro_batch"] == 8
    filled = np.concatenate([FACES, np.repeat(FACES[-1:], 4, 0)]).reshape(3, 8, 16, 16, 3)
    expected = np.concatenate([model(batch) for batch in filled])[:20].astype(np.float32)
    assert np.array_equal(found.values, expected)


def test_instance_norm_and_halves_are_sound():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model in (
            torch.nn.Sequential(torch.nn.InstanceNorm2d(3), torch.nn.Flatten()),
            torch.nn.Sequential(torch.nn.Conv2d(3, 8, 16), torch.nn.Flatten()).bfloat16(),
            torch.nn.Sequential(torch.nn.BatchNorm2d(3), torch.nn.Flatten()).train(),  # eval() then
        ):
            embedding.extract(embedding.TorchEmbedder(model, **PIXELS), FACES)


def test_an_embedder_is_asked_once():
    sizes = []

    class Service:
        def embed(self, crops):
            sizes.append(len(crops))
            return linear(crops)

    service = Service()
    for _ in range(3):
        embedding.extract(service.embed, FACES[:1], PLAIN)
    assert sizes == [8, 8, 8, 1] + [8] * 3
    embedding.extract(service.embed, FACES[:1], embedding.ExtractOptions(micro_batch=4))
    assert sizes[7:] == [4, 4, 4, 1, 4]


def some_zeros(crops):
    return linear(crops) * (flat(crops) != flat(FACES[3:4])).any(1, keepdims=True)


def test_shards_are_those_of_one_process(tmp_path):
    whole = embedding.ExtractOptions(flip="sum")
    names = [f"{k:02}" for k in range(20)]
    source = tmp_path / "faces"
    source.mkdir()
    for name, face in zip(names, FACES, strict=True):
        facebench.images.write(source / f"{name}.png", face)
    how = {"detector": "none", "crop": "paper", "crop_size": 16}
    (tmp_path / "p").mkdir()
    source.rename(tmp_path / "p" / "someone")
    facebench.pack("folder", tmp_path / "p", tmp_path / "faces.h5", **how)
    pack = datasets.Pack(tmp_path / "faces.h5")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parts = [embedding.extract(by_columns, pack, whole, shard=f"{k}/3") for k in (1, 2, 3)]
        together = embedding.extract(by_columns, pack, whole)
        black = [embedding.extract(some_zeros, pack, PLAIN, shard=f"{k}/3") for k in (1, 2, 3)]
        black_together = embedding.extract(some_zeros, pack, PLAIN)
    assert together.manifest["batch_dependence"].startswith(SINGLY)
    merged = embedding.merge_shards(parts)
    assert np.array_equal(merged.values, together.values) and merged.manifest == together.manifest
    assert ["odd_rows" in part.manifest for part in black] == [True, False, False]
    assert black_together.manifest["odd_rows"].startswith("1 of 20 embeddings are of length 0")
    assert embedding.merge_shards(black).manifest == black_together.manifest


@pytest.mark.filterwarnings("ignore:.*does not say what its pixels are")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_tensor_with_gradients_is_taken(dtype):
    fc = torch.nn.Linear(768, 8).to(dtype)

    def embed(crops):
        return fc(torch.from_numpy(crops).flatten(1).to(dtype))

    found = embedding.extract(embed, FACES, PLAIN)
    with torch.no_grad():
        batches = [FACES[:8], FACES[8:16], np.concatenate([FACES[16:], FACES[[19] * 4]])]
        expected = np.concatenate([embed(batch).float().numpy() for batch in batches])[:20]
    assert np.array_equal(found.values, expected)
    numbers = embedding.CallableEmbedder(lambda x: fc(torch.from_numpy(x).flatten(1).to(dtype)))
    assert embedding.extract(numbers, FACES, PLAIN).values.shape == (20, 8)


def test_one_number_for_an_image_is_not_an_embedding():
    def brightness(crops):
        return flat(crops).mean(1, keepdims=True)

    with pytest.raises(Error, match=r"it gives one number for each image.*state normalization="):
        embedding.extract(brightness, FACES)
    module = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(768, 1))
    with pytest.raises(Error, match="it gives one number for each image"):
        embedding.extract(embedding.TorchEmbedder(module, **PIXELS), FACES)
    found = embedding.extract(brightness, FACES, PLAIN)
    assert np.array_equal(found.values, brightness(FACES).astype(np.float32))


def test_rows_of_zeros_and_rows_that_are_alike_are_said(tmp_path, root):
    def dark_fails(crops):
        return linear(crops) * (flat(crops).mean(1, keepdims=True) > 60)

    def alike(crops):
        return np.ones((len(crops), 4)) * (1 + 1e-9 * flat(crops)[:, :4])

    faces = FACES.copy()
    faces[[2, 3, 5, 7]] //= 8
    with pytest.warns(UserWarning, match=r"^4 of 20 .* length 0 \(2, 3, 5, \.\.\.\)"):
        found = embedding.extract(dark_fails, faces, PLAIN)
    assert found.manifest["odd_rows"].startswith("4 of 20")
    with pytest.warns(UserWarning, match=r"^1 of 2 embeddings are of length 0 \(b\): they have"):
        embedding.extract(dark_fails, faces[1:4], names=["a", "b", "c"], status=[0, 0, 1])
    with pytest.warns(UserWarning, match="^All 20 embeddings are the same, and their images are"):
        embedding.extract(alike, faces)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # one image, and the same one twice
        embedding.extract(alike, faces[:1])
        embedding.extract(alike, np.repeat(faces[:1], 3, 0))

    how = {"root": root, "detector": "none", "interval": "none"}
    result = facebench.run("lfw", model=alike, out=tmp_path / "a", **how)
    (said,) = [w for w in result.warnings if "embeddings are the same" in w]
    assert said in (tmp_path / "a/report.md").read_text().replace("\\", "")
    assert all(check["same"] is not False for check in facebench.verify(tmp_path / "a").checks)
    with pytest.raises(Error, match="is zero and has no direction"):
        facebench.run("lfw", model=lambda crops: 0 * some_pixels(crops), **how)


def test_an_interrupt_is_not_taken_for_a_refusal():
    def stopped(crops):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        embedding.extract(stopped, FACES)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return lfw_like(tmp_path_factory.mktemp("faces") / "lfw")


def some_pixels(crops):
    return crops[:, ::16, ::16].reshape(len(crops), -1) / 127.5 - 1


def by_the_batch(crops):
    rows = some_pixels(crops)
    return rows / np.linalg.norm(rows, axis=0)


def test_a_run_its_report_and_verify_say_so(tmp_path, root):
    how = {"root": root, "detector": "none", "interval": "none"}
    result = facebench.run("lfw", model=by_the_batch, out=tmp_path / "a", **how)
    assert any(w.startswith(SINGLY) for w in result.warnings)
    run = json.loads((tmp_path / "a/run.json").read_text())["content"]
    assert run["embeddings"]["manifest"]["batch_dependence"].startswith(SINGLY)
    assert SINGLY in (tmp_path / "a/report.md").read_text().replace("\\", "")
    assert all(check["same"] is not False for check in facebench.verify(tmp_path / "a").checks)
    again = facebench.run("lfw", model=by_the_batch, micro_batch=3, **how)
    assert again["auc"].value == result["auc"].value


def test_diagnose_blames_the_batch(root):
    how = {"root": root / "images", "detector": "none", "limit": 40}
    with pytest.warns(UserWarning, match=SINGLY):
        found = facebench.diagnose(by_the_batch, "folders", **how)
    assert found.batch_dependence.startswith(SINGLY) and SINGLY in str(found)
    assert "not those of this network" not in str(found)
    assert facebench.diagnose(some_pixels, "folders", **how).batch_dependence == ""
    drawn = np.random.default_rng(3)
    with pytest.raises(Error, match="one image gives two embeddings"):
        facebench.diagnose(lambda crops: drawn.normal(size=(len(crops), 8)), "folders", **how)


def test_onnx_files(tmp_path, root):
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    helper, floats = onnx.helper, onnx.TensorProto.FLOAT
    weight = np.random.default_rng(2).normal(size=(4, 3 * 64)).astype(np.float32)

    def write(name, *nodes, **constants):
        tensors = [
            onnx.numpy_helper.from_array(v, k) for k, v in {"w": weight, **constants}.items()
        ]
        ends = [
            helper.make_tensor_value_info("x", floats, ["N", 3, 8, 8]),
            helper.make_tensor_value_info("y", floats, ["N", 4]),
        ]
        graph = helper.make_graph(list(nodes), "g", ends[:1], ends[1:], tensors)
        onnx.save(
            helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8),
            tmp_path / name,
        )

    node, product = helper.make_node, helper.make_node("Gemm", ["f", "w"], ["y"], transB=1)
    write("base.onnx", node("Flatten", ["x"], ["f"]), product)
    write("baked.onnx", node("Reshape", ["x", "s"], ["f"]), product, s=np.array([1, 192]))
    write(
        "centre.onnx",
        node("Flatten", ["x"], ["f"]),
        node("Gemm", ["f", "w"], ["g"], transB=1),
        node("ReduceMean", ["g"], ["m"], axes=[0], keepdims=1),
        node("Sub", ["g", "m"], ["y"]),
    )
    how = ["--root", root, "--detector", "none", "--crop", "paper", "--crop-size", "8"]
    how += ["--set", "mean=127.5", "--set", "std=127.5", "--set", "color=rgb", "--flip", "none"]

    def run(name, code=0):
        out = ["--interval", "none", "--no-cache", "--out", tmp_path / f"{name} run"]
        return invoke("run", "lfw", "--model", tmp_path / name, *how, *out, code=code)

    run("base.onnx")
    assert "WARNING: The model does not take 8 images at once" in run("baked.onnx").output
    refused = run("centre.onnx", code=1)
    metrics = [
        json.loads((tmp_path / f"{name} run/metrics.json").read_text())["tracks"]
        for name in ("base.onnx", "baked.onnx")
    ]
    assert metrics[0] == metrics[1]
    assert "does not take 8 images at once" in (tmp_path / "baked.onnx run/report.md").read_text()
    assert "an image alone has none that tells it from others" in refused.output
