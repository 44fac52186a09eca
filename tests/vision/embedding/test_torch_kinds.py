"""PyTorch modules of any kind: TorchScript, programs of torch.export, several outputs."""

import io
import warnings
from collections import namedtuple

import numpy as np
import pytest
import torch
from facebench import embedding

RNG = np.random.default_rng(4)
FACES = RNG.integers(0, 256, (5, 9, 8, 3), np.uint8)
PLAIN = embedding.ExtractOptions(flip="none", normalization="none")
PIXELS = {"mean": 127.5, "std": 128.0, "color": "rgb"}
Named = namedtuple("Named", "norm emb")


def network():
    torch.manual_seed(0)
    layers = (torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU())
    return torch.nn.Sequential(*layers, torch.nn.AdaptiveAvgPool2d(2), torch.nn.Flatten()).eval()


def right():
    x = torch.from_numpy((FACES.astype(np.float32) - 127.5) / 128).permute(0, 3, 1, 2)
    with torch.no_grad():
        return network()(x).numpy()


def again(script):
    """Saved and loaded."""
    file = io.BytesIO()
    torch.jit.save(script, file)
    file.seek(0)
    return torch.jit.load(file)


def program():
    sides = ({0: torch.export.Dim("n", min=1, max=64)},)
    return torch.export.export(network(), (torch.zeros(2, 3, 9, 8),), dynamic_shapes=sides)


KINDS = {
    "script": lambda: torch.jit.script(network()),
    "trace": lambda: torch.jit.trace(network(), torch.zeros(1, 3, 9, 8)),
    "frozen": lambda: torch.jit.freeze(torch.jit.script(network())),
    "frozen, loaded": lambda: again(torch.jit.freeze(torch.jit.script(network()))),
    "exported": lambda: program().module(),
    "program": program,
}


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_any_kind_of_module_is_embedded_by(kind):
    embedder = embedding.load_embedder(KINDS[kind](), **PIXELS)
    np.testing.assert_allclose(embedding.extract(embedder, FACES, PLAIN).values, right(), atol=1e-5)


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
def test_the_mode_of_a_module_is_put_back():
    for module in (network().train(), torch.jit.script(network().train())):
        embedding.extract(embedding.load_embedder(module, **PIXELS), FACES, PLAIN)
        assert module.training


class Wrapped(torch.nn.Module):
    def __init__(self, out):
        super().__init__()
        self.inner, self.out = network(), out

    def forward(self, x):
        return self.out(self.inner(x))


def norm(y):
    return y.norm(dim=1, keepdim=True)


TAKEN = {
    "a dict of one": (lambda y: {"embedding": y}, None, False),
    "a dict with a norm": (lambda y: {"norm": norm(y), "emb": y}, None, True),
    "a dict with a text": (lambda y: {"emb": y, "name": "x"}, None, True),
    "a name of a dict": (lambda y: {"a": y * 2, "emb": y}, "emb", False),
    "a tuple": (lambda y: (y, norm(y)), None, False),
    "a number of a tuple": (lambda y: (norm(y), y), 1, False),
    "a number as text": (lambda y: (norm(y), y), "1", False),
    "a named tuple": (lambda y: Named(norm(y), y), "emb", False),
    "a list": (lambda y: [y], None, False),
}


@pytest.mark.parametrize("case", TAKEN)
def test_which_of_several_outputs_is_taken(case):
    out, name, said = TAKEN[case]
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        embedder = embedding.load_embedder(Wrapped(out), output=name, **PIXELS)
        values = embedding.extract(embedder, FACES, PLAIN).values
    np.testing.assert_allclose(values, right(), atol=1e-5)
    assert [str(w.message).count("emb is taken") for w in heard] == [1] * said
    assert embedder.description.get("output") == (None if name is None else str(name))


REFUSED = {
    "two of a dict": (lambda y: {"a": y, "b": y}, None, r"a dict of a \(16\), b \(16\); name"),
    "dicts in dicts": (lambda y: {"out": {"emb": y}}, None, "a dict of out; name"),
    "an empty dict": (lambda y: {}, None, "a dict of nothing"),
    "another name": (lambda y: {"emb": y}, "embd", "did you mean 'emb'"),
    "a number too many": (lambda y: (y,), 1, r"has no output '1'; it has 0 \(16\)"),
    "a name of one output": (lambda y: y, "emb", "has one output"),
    "a norm first": (lambda y: (norm(y), y), None, r"output 0 has one number.*others: 1 \(16\)"),
    "a norm first, named": (lambda y: Named(norm(y), y), None, r"output norm has one number"),
    "nothing": (lambda y: None, None, "its output is None"),
    "an empty tuple": (lambda y: (), None, "its output is None"),
    "text": (lambda y: "embedding", None, "its output is str"),
    "an array": (lambda y: y.numpy(), None, "its output is an array"),
    "columns": (lambda y: y.T, None, "for .* images, expected"),
    "complex": (lambda y: torch.complex(y, y), None, "complex"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_outputs_of_which_none_is_the_embedding(case):
    out, name, text = REFUSED[case]
    embedder = embedding.load_embedder(Wrapped(out), output=name, **PIXELS)
    with pytest.raises(ValueError, match=text):
        embedding.extract(embedder, FACES, PLAIN)


def test_output_is_not_of_other_models():
    for model in (len, "math:sqrt", "dlib"):
        with pytest.raises(ValueError, match="output"):
            embedding.load_embedder(model, output="emb")
    with pytest.raises(TypeError, match="output: expected str or int"):
        embedding.TorchEmbedder(network(), output=1.5)
