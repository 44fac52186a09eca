"""Engines: the builders against the executor, for every network, where a framework is installed.

FACEBENCH_ENGINE_PYTHON names an interpreter that has the frameworks this environment lacks.
"""

import os
import subprocess
import sys
from unittest import mock

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from facebench import nn, timing  # noqa: E402
from facebench.lab.engines import ENGINES, absent  # noqa: E402
from facebench.lab.engines.engine import noise  # noqa: E402
from facebench.lab.timing import step as step_module  # noqa: E402
from facebench.lab.timing.workers import Worker  # noqa: E402
from safetensors.numpy import load_file  # noqa: E402

pytestmark = pytest.mark.usefixtures("kept_workers")

OTHER = os.environ.get("FACEBENCH_ENGINE_PYTHON")
# The others build the graph as one of these does.
OTHERS = ["pytorch", "keras-tensorflow", "keras-jax", "onnxruntime"]
# Large ones made of the same blocks as alexnet_v1 with resnet18, iresnet50 and sphereface36.
LARGE = (
    "vgg16",
    "vgg16_bn",
    "resnet101",
    "alexnet_s",
    "ir50",
    "iresnet100",
    "sphereface64",
    "vit_b",
)
# What ONNX Runtime computes of a network is held by nn/test_networks.py, but for those that are
# large there; here, that the engine hands it over.
ONNX = (
    "small4",
    "vit_s",
    "iresnet34",
    "iresnet50",
    "inception_v3_slim",
    "resnet50_v1",
    "sphereface36",
)


def cases():
    for network in (n["name"] for n in nn.list_networks()):
        for engine in OTHERS:
            slow = network in LARGE or (engine == "onnxruntime" and network not in ONNX)
            yield pytest.param(network, engine, marks=pytest.mark.slow if slow else ())


def has(python, modules):
    found = f"from importlib.util import find_spec as f; exit(not all(map(f, {modules!r})))"
    return subprocess.run([python, "-c", found], check=False).returncode == 0


def interpreter(name):
    """None: this one; a path: the other one. Skips where neither has the engine."""
    if not absent(name):
        return None
    if OTHER and has(OTHER, ENGINES[name].needs):
        return OTHER
    pytest.skip(f"{name} needs {', '.join(absent(name))}")


def small(name):
    """The smallest input that keeps a network's paths alive."""
    graph = nn.build_graph(name)
    if graph.vocabulary:
        return {"words": 5, "vocabulary": 11}
    shape = graph.input_shape
    for side in (32, 64, 96, 128, 160):
        if side >= min(shape[1:]):
            break
        try:
            nn.build_graph(name, height=side, width=side)
        except ValueError:
            continue
        return {"height": side, "width": side}
    return {}


def job(network, mode, **changes):
    lr = 1e-5 if network == "resnet101" else 1e-3  # a rounding must not grow over the steps
    options = timing.StepOptions(network=network, mode=mode, batch=8, classes=7, threads=1, lr=lr)
    return {
        **options.to_dict(),
        "network_options": small(network),
        "loss_options": {},
        **changes,
    }


@pytest.fixture(scope="module")
def workers():
    """One process an engine for all networks."""
    running = {}

    def get(name):
        if name not in running:
            running[name] = Worker(name, 1, interpreter(name))
            running[name].ask("load", threads=1)
        return running[name]

    yield get
    for worker in running.values():
        worker.close()


@pytest.fixture(scope="module")
def references(tmp_path_factory, workers):
    """Our weights, outputs and losses for each network, made once."""
    made = {}

    def get(network, mode):
        if (network, mode) not in made:
            folder = tmp_path_factory.mktemp(f"{network}-{mode}")
            made[network, mode] = step_module._Reference(
                job(network, mode), folder, workers("facebench")
            )
        return made[network, mode]

    return get


@pytest.mark.parametrize(("network", "engine"), list(cases()))
def test_every_network_is_built_as_the_executor_runs_it(network, engine, workers, references):
    mode = ENGINES[engine].modes[0]
    interpreter(engine)
    reference = references(network, mode)
    worker = workers(engine)
    spec = {**job(network, mode), "graph": reference.graph, "onnx": reference.onnx}
    worker.ask("prepare", spec=spec, weights=reference.weights)
    found = reference.check(worker)
    assert step_module.agrees(found, "float32"), found


def test_the_check_sees_other_weights(workers, references, tmp_path):
    from safetensors.torch import load_file, save_file

    reference = references("small4", "training")
    weights = load_file(reference.weights)
    name = next(n for n in weights if n.endswith("weight") and n.startswith("network."))
    weights[name] = weights[name] * 1.01
    save_file(weights, tmp_path / "other.safetensors")
    worker = workers("pytorch")
    spec = {**job("small4", "training"), "graph": reference.graph, "onnx": ""}
    worker.ask("prepare", spec=spec, weights=str(tmp_path / "other.safetensors"))
    assert reference.check(worker)["outputs"] > step_module.TOLERANCE["float32"]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["training", "inference"])
def test_compiled_agrees(references, mode):
    interpreter("pytorch-compiled")
    reference = references("small4", mode)
    with Worker("pytorch-compiled", 1) as worker:
        worker.ask("load", threads=1)
        spec = {**job("small4", mode), "graph": reference.graph, "onnx": ""}
        worker.ask("prepare", spec=spec, weights=reference.weights)
        assert step_module.agrees(reference.check(worker), "float32")
        assert len(worker.ask("run", iterations=2)["iteration"]) == 2


@pytest.mark.parametrize("mode", ["training", "inference"])
def test_what_is_checked_is_what_is_compiled_and_timed(references, monkeypatch, mode):
    from facebench.lab.engines import pytorch_engine

    calls = []

    def compiler(function, **options):
        def compiled(*arguments):
            calls.append(function)
            return function(*arguments)

        return compiled

    monkeypatch.setattr(pytorch_engine, "_compiled", True, raising=False)
    monkeypatch.setattr(pytorch_engine.torch, "compile", compiler)
    reference = references("small4", mode)
    spec = {**job("small4", mode), "graph": reference.graph}
    engine = pytorch_engine.Engine(spec, load_file(reference.weights))
    if mode == "training":
        engine.losses(np.load(reference.images), np.load(reference.labels), 3)
    else:
        engine.infer(np.load(reference.images))
    checked = len(calls)
    assert checked == (3 if mode == "training" else 1)
    engine.run(2)
    assert len(calls) == checked + 2
    assert len(set(calls)) == 1


def test_onnxruntimes_batch_is_bound(references):
    pytest.importorskip("onnxruntime")
    from facebench.lab.engines.onnxruntime_engine import Engine

    reference = references("small4", "inference")
    spec = {**job("small4", "inference"), "graph": reference.graph, "onnx": reference.onnx}
    engine = Engine(spec, {})
    assert len(engine.run(2)["iteration"]) == 2
    (bound,) = engine._bound.copy_outputs_to_cpu()
    np.testing.assert_array_equal(bound, engine.infer(noise(spec)[0]))


def test_onnxruntimes_batch_lies_on_the_card(monkeypatch):
    pytest.importorskip("onnxruntime")
    from facebench.lab.engines import onnxruntime_engine

    library = mock.MagicMock(__file__="onnxruntime/__init__.py")
    session = library.InferenceSession.return_value
    library.get_available_providers.return_value = ["CUDAExecutionProvider"]
    session.get_providers.return_value = ["CUDAExecutionProvider", "CPUExecutionProvider"]
    monkeypatch.setattr(onnxruntime_engine, "onnxruntime", library)
    monkeypatch.setitem(sys.modules, "onnxruntime", library)
    graph = {"input": [3, 8, 8], "vocabulary": 0}
    spec = {**job("small4", "inference"), "graph": graph, "onnx": "m.onnx", "device": "cuda:1"}
    engine = onnxruntime_engine.Engine(spec, {})
    exact = {"device_id": 1, "use_tf32": 0, "cudnn_conv_algo_search": "HEURISTIC"}
    asked = library.InferenceSession.call_args.kwargs
    assert asked["providers"] == [("CUDAExecutionProvider", exact)]
    assert library.OrtValue.ortvalue_from_numpy.call_args.args[1:] == ("cuda", 1)
    bound = session.io_binding.return_value
    bound.bind_output.assert_called_once_with("embedding", "cuda", 1)
    engine.run(2)
    assert session.run_with_iobinding.call_args_list == [mock.call(bound)] * 2
    session.get_providers.return_value = ["CPUExecutionProvider"]
    with pytest.raises(RuntimeError, match="does not start"):
        onnxruntime_engine.Engine(spec, {})


def test_several_engines_in_one_table():
    result = timing.bench_step(
        "small4",
        engines=["facebench", "pytorch", "onnxruntime"],
        batches=[2],
        iterations=2,
        rounds=2,
        skip=1,
        network_options={"height": 32, "width": 32},
        classes=10,
        threads=1,
    )
    rows = {r["engine"]: r for r in result["rows"]}
    assert rows["facebench"]["status"] == rows["pytorch"]["status"] == "ok"
    assert rows["pytorch"]["difference"]["outputs"] < 1e-4
    assert rows["onnxruntime"]["status"] == "absent"
    assert "training" in rows["onnxruntime"]["message"]
    assert set(rows["pytorch"]["phases"]) == {"forward", "backward", "update"}


def test_an_engine_that_computes_something_else_is_not_timed(monkeypatch):
    monkeypatch.setitem(step_module.TOLERANCE, "float32", -1.0)
    result = timing.bench_step(
        "small4",
        engines=["facebench", "pytorch"],
        batches=[2],
        iterations=1,
        rounds=1,
        skip=0,
        network_options={"height": 32, "width": 32},
        classes=10,
        threads=1,
    )
    ours, theirs = result["rows"]
    assert (ours["status"], theirs["status"]) == ("ok", "differs")
    assert "seconds" not in theirs
    off = theirs["difference"]
    losses = ", ".join(f"{loss:.2g}" for loss in off["losses"])
    assert len(off["losses"]) == 3 and theirs["message"] == (
        f"by {off['outputs']:.2g} from this library's outputs, "
        f"by {losses} from the losses of its first steps"
    )


def test_an_interpreter_without_the_engine_is_a_row(tmp_path):
    path = str(tmp_path / "python")
    result = timing.bench_step(
        "small4", engines=["keras-jax"], batches=[2], pythons={"keras-jax": path}
    )
    assert result["rows"][0]["status"] == "failed"
    assert path in result["rows"][0]["message"]
