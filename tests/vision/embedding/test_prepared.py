"""What a model keeps of its weights for the next call: the same numbers as made anew, always."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from facebench import embedding


def faces(count, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (count, 32, 32, 3), np.uint8)


def model_of(seed, **options):
    return embedding.make_model("small4", height=32, width=32, seed=seed, **options)


def values(model, images, **options):
    how = embedding.ExtractOptions(**options) if options else None
    return embedding.extract(model, images, how).values.copy()


@pytest.fixture
def saved(tmp_path):
    """A model file, so that each load begins without anything prepared."""
    path = tmp_path / "m.safetensors"
    model_of(1).save(path)
    return path


def test_calls_after_the_first_give_the_same_bits(saved):
    model, images = embedding.load_model(saved), faces(5)
    first = values(model, images)
    for _ in range(3):
        assert np.array_equal(values(model, images), first)
    assert np.array_equal(values(embedding.load_model(saved), images), first)


@pytest.mark.parametrize("how", ["torch", "numpy", "load", "exchange"])
@pytest.mark.parametrize("executor", ["own", "torch"])
def test_weights_that_changed_are_seen(saved, how, executor):
    model, images = embedding.load_model(saved), faces(3)
    before = values(model, images, executor=executor)
    network = model.weights
    values(model, images, executor=executor)  # once more, with the weights in other hands
    weight = next(t for t in network.parameters() if t.dim() == 4)
    with torch.no_grad():
        if how == "torch":
            weight.mul_(1.5)
        elif how == "numpy":
            weight.detach().numpy()[0] *= 1.5
        elif how == "load":
            changed = {k: v * 1.5 for k, v in network.state_dict().items()}
            network.load_state_dict(changed)
        else:
            weight.data = weight.detach() * 1.5
    after = values(model, images, executor=executor)
    assert not np.allclose(before, after)
    model.save(saved)
    assert np.array_equal(values(embedding.load_model(saved), images, executor=executor), after)


def test_options_that_changed_are_seen(saved):
    model, images = embedding.load_model(saved), faces(3)
    values(model, images)
    model.options.mean = [0.0]
    model.options.color = "bgr"
    model.save(saved)
    assert np.array_equal(values(model, images), values(embedding.load_model(saved), images))


def test_precisions_in_turns(saved):
    model, images = embedding.load_model(saved), faces(3)
    wanted = {p: values(embedding.load_model(saved), images, precision=p) for p in PRECISIONS}
    for precision in PRECISIONS * 2:
        assert np.array_equal(values(model, images, precision=precision), wanted[precision])


PRECISIONS = ["float32", "bfloat16"]


def test_input_ranges_that_changed_are_seen(saved):
    model, images = embedding.load_model(saved), faces(4)
    quantized = embedding.quantize(model, images)
    wanted = values(quantized, images, precision="int8")
    quantized.input_ranges = {k: (2 * a, 2 * b) for k, (a, b) in quantized.input_ranges.items()}
    assert not np.array_equal(values(quantized, images, precision="int8"), wanted)


def test_a_model_is_an_embedder(saved):
    model, images = embedding.load_embedder(saved), faces(3)
    rows = model(images)
    assert rows.shape == (3, model.embedding_size) and rows.dtype == np.float32
    wanted = values(model, images, flip="none", normalization="none")
    assert np.array_equal(rows, wanted)
    with pytest.raises(ValueError, match=r"uint8 \(N, H, W, 3\)"):
        model(images[0])


def test_several_threads_call_one_model(saved):
    model, images = embedding.load_model(saved), faces(16)
    wanted = embedding.load_model(saved)(images)
    together = threading.Barrier(4)

    def call(k):
        together.wait()  # the first call of each at the same time
        return [model(images[i : i + 1]) for i in range(k, 16, 4)]

    with ThreadPoolExecutor(4) as pool:
        for k, rows in enumerate(pool.map(call, range(4))):
            assert np.array_equal(np.concatenate(rows), wanted[k::4])


WAITING = """
import os, sys
{first}
import facebench.embedding
print(os.environ.get("GOMP_SPINCOUNT"), os.environ.get("OMP_WAIT_POLICY"))
"""


def waiting(first="", **environment):
    """What torch's OpenMP is told of waiting when facebench is imported."""
    cleared = {
        k: v for k, v in os.environ.items() if k not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")
    }
    cleared["PYTHONPATH"] = os.pathsep.join(sys.path)
    command = [sys.executable, "-W", "error", "-c", WAITING.format(first=first)]
    answer = subprocess.run(command, env=cleared | environment, capture_output=True, text=True)
    return answer.stdout.strip() or answer.stderr.strip().splitlines()[-1]


def test_torch_waits_briefly_unless_the_user_says_otherwise():
    assert waiting() == "2000 None"
    assert waiting(OMP_WAIT_POLICY="active") == "None active"
    assert waiting(GOMP_SPINCOUNT="7") == "7 None"
    # OpenMP has read it already: said where others use the machine.
    load = "os.getloadavg = lambda: ({}, 0, 0); import torch"
    assert waiting(load.format(0)) == "2000 None"
    assert "import facebench first" in waiting(load.format(99))
    assert waiting(load.format(99), OMP_WAIT_POLICY="passive") == "None passive"


@pytest.mark.parametrize(("threads", "seen"), [(1, 1), (2, 2), (0, None)])
def test_threads_hold_a_module_of_ones_own(threads, seen):
    found = []

    class Net(torch.nn.Module):
        def forward(self, images):
            found.append(torch.get_num_threads())
            return images.mean((2, 3))

    before = torch.get_num_threads()
    model = embedding.load_embedder(Net(), mean=127.5, std=127.5, color="rgb")
    found.clear()  # what looked for its arithmetic on pixels
    embedding.extract(model, faces(3), threads=threads)
    assert set(found) == {before if seen is None else seen}
    assert torch.get_num_threads() == before
