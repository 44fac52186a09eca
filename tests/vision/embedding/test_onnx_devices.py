"""ONNX files on a card, and as networks of ours. A stand-in for onnxruntime-gpu has two cards."""

import sys
from types import SimpleNamespace

import facebench
import numpy as np
import pytest
import torch
from facebench import embedding, io, nn
from facebench._onnx import sessions
from facebench.embedding import _onnx_embedder

PIXELS = {"mean": 90.0, "std": 50.0, "color": "bgr"}


def by(embedder, images, **options):
    return embedding.extract(embedder, images, embedding.ExtractOptions(device="auto", **options))


def load(file, stated=PIXELS, **options):
    return embedding.load_embedder(file, embedding.ExtractOptions(**options), **stated)


@pytest.fixture
def images():
    return np.random.default_rng(0).integers(0, 256, (11, 32, 32, 3), np.uint8)


@pytest.fixture
def file(tmp_path):
    pytest.importorskip("onnx")
    nn.export_onnx(nn.build_network("small4", height=32, width=32), tmp_path / "m.onnx")
    return tmp_path / "m.onnx"


@pytest.fixture
def cards(monkeypatch, tmp_path):
    """onnxruntime-gpu, whose sessions the processor computes: `asked` of it; whether its provider
    `starts`; `room` for so many images at once."""
    real = pytest.importorskip("onnxruntime")

    class Session(real.InferenceSession):
        def __init__(self, path, options, *, providers, enable_fallback):
            cards.asked.append((providers, options.use_deterministic_compute, enable_fallback))
            super().__init__(path, options, providers=["CPUExecutionProvider"])

        def get_providers(self):
            return ["CUDAExecutionProvider"] * cards.starts + ["CPUExecutionProvider"]

        def run(self, names, feed):
            if max(map(len, feed.values())) > cards.room:
                size = "Failed to allocate memory for requested buffer of size 20971520"
                raise RuntimeError(f"[ONNXRuntimeError] : 6 : RUNTIME_EXCEPTION : {size}")
            return super().run(names, feed)

    changed = {
        "__file__": str(tmp_path / "onnxruntime" / "__init__.py"),
        "InferenceSession": Session,
        "get_available_providers": lambda: ["CUDAExecutionProvider", "CPUExecutionProvider"],
        "preload_dlls": lambda: print("Failed to load libcublas.so.12"),
    }
    cards = SimpleNamespace(**vars(real) | changed, asked=[], starts=True, room=256)
    monkeypatch.setitem(sys.modules, "onnxruntime", cards)
    models = [{"model": "Card A"}, {"model": "Card B"}]
    for module in (_onnx_embedder, sessions):
        monkeypatch.setattr(module, "cuda_devices", lambda: {"devices": models})
    monkeypatch.setattr(sessions, "parse_device", {"cpu": None, "cuda": 0, "cuda:1": 1}.__getitem__)
    return cards


@pytest.mark.parametrize(
    ("device", "number", "name"),
    [("cuda", 0, "Card A"), ("auto", 0, "Card A"), ("cuda:1", 1, "Card B")],
)
@pytest.mark.parametrize("precision", ["float32", "tf32"])
def test_a_card_computes_what_is_asked_for(
    cards, file, images, capsys, device, number, name, precision
):
    embedder = load(file, device=device, precision=precision)
    exact = {"use_tf32": int(precision == "tf32"), "cudnn_conv_algo_search": "HEURISTIC"}
    provider = ("CUDAExecutionProvider", {"device_id": number, **exact})
    assert cards.asked == [([provider], True, False)]
    found = by(embedder, images, precision=precision)
    said = found.manifest["extract"]
    assert (said["device"], said["precision"]) == (f"cuda:{number}", precision)
    assert said["micro_batch"] == 256
    assert found.manifest["device"] == {"name": name, "provider": "CUDAExecutionProvider"}
    assert found.manifest["model"]["onnxruntime"] == cards.__version__
    assert embedder(images).shape == found.values.shape
    assert capsys.readouterr().out == ""
    processor = load(file)
    assert cards.asked[1] == (["CPUExecutionProvider"], False, False)
    np.testing.assert_allclose(found.values, by(processor, images).values, atol=1e-6)


def test_a_provider_that_does_not_start_is_no_card(cards, file):
    cards.starts = False
    library = r"libonnxruntime_providers_cuda\.so: cannot open shared object file"
    with pytest.raises(
        facebench.Error, match=rf"m\.onnx: .* does not start: .*{library}.*pip inst"
    ):
        load(file, device="cuda")


def test_a_batch_without_memory_for_it_is_halved_once(cards, file, images):
    embedder = load(file, device="cuda:1")
    cards.room = 4
    with pytest.warns(UserWarning, match="cuda:1 has no memory left for 8 images at once"):
        halved = by(embedder, images, micro_batch=8)
    assert halved.manifest["extract"]["micro_batch"] == 4
    cards.room = 3
    sentence = r"cuda:1 has no memory left for 4 images at once \(Tried to allocate 20.00 MiB\)"
    with pytest.raises(facebench.Error, match=sentence):
        by(embedder, images, micro_batch=8)


def test_what_onnxruntime_does_not_compute_is_a_network_of_ours(cards, file, images):
    expected = by(load(file), images)
    for options in (
        {"executor": "torch"},
        {"precision": "bfloat16", "device": "cuda"},
        {"precision": "bfloat16"},
    ):
        model = load(file, **options)
        assert isinstance(model, embedding.Model)
        how = {name: value for name, value in options.items() if name != "device"}
        found = by(model, images, **how)
        far = 1e-5 if options.get("precision") is None else 1e-2
        np.testing.assert_allclose(found.values, expected.values, atol=far)
        assert found.manifest["model_sha256"] == io.sha256_file(file)
        # As of a file that onnxruntime runs, nobody has said how faces are detected and cropped.
        assert model.options.detector == model.options.crop == ""
    with pytest.raises(
        ValueError, match="does not say what its pixels are; state color, mean, std"
    ):
        load(file, stated={}, executor="torch")


def test_an_onnxruntime_without_cuda_leaves_the_card_to_us(cards, file):
    cards.get_available_providers = lambda: ["CPUExecutionProvider"]
    assert isinstance(load(file, device="cuda"), embedding.Model)
    with pytest.raises(
        ValueError, match=r"device cuda, precision float32: .* need onnxruntime-gpu"
    ):
        embedding.OnnxEmbedder(file, device="cuda")
    # What is converted is compared with onnxruntime on the processor.
    assert {tuple(providers) for providers, *_ in cards.asked} <= {("CPUExecutionProvider",)}


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a card here")
def test_a_card_that_is_not_there_is_refused_with_the_reason(file):
    pytest.importorskip("onnxruntime")
    with pytest.raises(ValueError, match=r"no device 'cuda:7' on this machine: .+"):
        load(file, device="cuda:7")
