"""ONNX files that cost without end: refused before onnxruntime is asked, or ended in a process of
their own."""

import json
import os
import signal
import subprocess
import sys
import time
import warnings

import facebench
import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("facebench._full")
pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
from facebench import detection, embedding
from facebench._onnx import bounds, trial
from onnx import TensorProto, helper, numpy_helper

SHAPE = [1, 3, 16, 16]
node = helper.make_node


def whole(name, *values):
    return numpy_helper.from_array(np.array(values, np.int64), name)


def value(name, kind=TensorProto.FLOAT, shape=None):
    return helper.make_tensor_value_info(name, kind, shape)


def save(path, nodes, tensors=(), functions=(), last="z"):
    nodes = [*nodes, node("Flatten", [last], ["y"])]
    graph = helper.make_graph(
        nodes, "g", [value("x", shape=SHAPE)], [value("y", shape=[1, None])], list(tensors)
    )
    sets = [helper.make_opsetid("", 17), helper.make_opsetid("f", 1)]
    model = helper.make_model(graph, opset_imports=sets, functions=list(functions), ir_version=8)
    path.write_bytes(model.SerializeToString())
    return path


def function(name, *nodes):
    sets = [helper.make_opsetid("", 17), helper.make_opsetid("f", 1)]
    return helper.make_function("f", name, ["a"], ["b"], list(nodes), sets)


def call(name, source, result):
    return node(name, [source], [result], domain="f")


def doubled(depth):
    """Functions that each call the one before twice."""
    calls = [(call(f"F{k}", "a", "c"), call(f"F{k}", "c", "b")) for k in range(depth)]
    made = [function(f"F{k + 1}", *two) for k, two in enumerate(calls)]
    return [function("F0", node("Relu", ["a"], ["b"])), *made]


def loop(source, result):
    inner = helper.make_graph(
        [node("Identity", ["go"], ["on"]), node("Relu", ["v"], ["w"])],
        "body",
        [
            value("i", TensorProto.INT64, []),
            value("go", TensorProto.BOOL, []),
            value("v", shape=SHAPE),
        ],
        [value("on", TensorProto.BOOL, []), value("w", shape=SHAPE)],
    )
    return node("Loop", ["turns", "", source], [result], name="endless", body=inner)


def within_if():
    branches = {
        name: helper.make_graph([made], name, [], [value("r")])
        for name, made in (
            ("then_branch", loop("x", "r")),
            ("else_branch", node("Relu", ["x"], ["r"])),
        )
    }
    return node("If", ["yes"], ["z"], **branches)


def by_pixels():
    """The sum of the pixels is the length of a tensor."""
    return [
        node("ReduceSum", ["x"], ["s"], keepdims=0),
        node("Cast", ["s"], ["n"], to=TensorProto.INT64),
        node("Reshape", ["n", "one"], ["length"]),
        node("ConstantOfShape", ["length"], ["many"], name="many"),
        node("ReduceSum", ["many"], ["r"], keepdims=0),
        node("Add", ["x", "r"], ["z"]),
    ]


YES = numpy_helper.from_array(np.array(True), "yes")
REFUSED = {
    "functions 24 deep": (([call("F23", "x", "z")], [], doubled(23)), "24 deep|17 deep|nodes"),
    "a function that calls itself": (
        ([call("R", "x", "z")], [], [function("R", call("R", "a", "b"))]),
        "calls itself",
    ),
    "two functions that call each other": (
        (
            [call("R", "x", "z")],
            [],
            [function("R", call("Q", "a", "b")), function("Q", call("R", "a", "b"))],
        ),
        "calls itself",
    ),
    "a loop of a billion turns": (
        ([loop("x", "z")], [whole("turns", 10**9)], []),
        "'endless' is a Loop, which nothing ends",
    ),
    "a loop within a branch": (
        ([within_if()], [whole("turns", 10**9), YES], []),
        "is a Loop",
    ),
    "a size by the pixels": (
        (by_pixels(), [whole("one", 1)], []),
        "'many' .* depends on the pixels",
    ),
}


def opened(way, path, **limits):
    """A file as an embedder, and as a detector in each way that opens one."""
    if way == "embedder":
        return embedding.OnnxEmbedder(path, **limits)
    if way == "by its file":
        return detection.make_detector(str(path), **limits)
    options = {"engine": "opencv"} if way == "opencv" else limits
    return detection.make_detector("yunet", model=str(path), **options)


@pytest.mark.parametrize("way", ["embedder", "by its file", "by a family", "opencv"])
@pytest.mark.parametrize("name", REFUSED)
def test_a_graph_without_bounds_is_refused(tmp_path, monkeypatch, name, way):
    """Before onnxruntime is asked, in this process or another."""
    monkeypatch.setattr(trial, "try_file", lambda *_: pytest.fail("it was tried"))
    parts, says = REFUSED[name]
    path = save(tmp_path / "m.onnx", *parts)
    assert path.stat().st_size < 6000
    with pytest.raises(facebench.Error, match=says):
        opened(way, path)


def test_functions_are_counted_as_often_as_they_are_called(tmp_path):
    """2^14 Relus in 14 levels, within the bound on levels: 2^15 - 1 nodes and the calls."""
    path = save(tmp_path / "m.onnx", [call("F14", "x", "z")], (), doubled(14))
    bounds.check_bounds(path)
    path = save(
        tmp_path / "n.onnx",
        [
            call("F14", "x", "p"),
            call("F14", "p", "q"),
            call("F14", "q", "r"),
            call("F14", "r", "z"),
        ],
        (),
        doubled(14),
    )
    with pytest.raises(facebench.Error, match="more than 100000 nodes"):
        bounds.check_bounds(path)


def test_sizes_from_shapes_and_weights_are_bounded(tmp_path):
    nodes = [
        node("Shape", ["x"], ["sides"]),
        node("ConstantOfShape", ["sides"], ["zeros"]),
        node("Pad", ["x", "pads"], ["p"]),
        node("Add", ["p", "zeros"], ["z"]),
    ]
    path = save(tmp_path / "m.onnx", nodes, [whole("pads", *[0] * 8)])
    faces = np.zeros((2, 16, 16, 3), np.uint8)
    assert embedding.OnnxEmbedder(path, mean=0, std=1, color="rgb")(faces).shape == (2, 768)


def large(*nodes, **tensors):
    """(nodes, tensors) of a graph that adds up a tensor 'big'."""
    summed = [node("ReduceSum", ["big"], ["r"], keepdims=0), node("Add", ["x", "r"], ["z"])]
    return [*nodes, *summed], [whole(name, *values) for name, values in tensors.items()]


LARGE = {
    "a constant": large(node("ConstantOfShape", ["s"], ["big"]), s=[200_000, 200_000]),
    "an expansion": large(node("Expand", ["x", "s"], ["big"]), s=[10**6, 3, 16, 16]),
    "a padding": large(node("Pad", ["x", "s"], ["big"]), s=[0] * 6 + [10**5] * 2),
    "tiles": large(node("Tile", ["x", "s"], ["big"]), s=[1000, 1000, 1, 1]),
    "an outer product": large(
        node("ConstantOfShape", ["s"], ["a"]),
        node("ConstantOfShape", ["t"], ["b"]),
        node("MatMul", ["a", "b"], ["big"]),
        s=[90_000, 1],
        t=[1, 90_000],
    ),
}


@pytest.mark.parametrize("name", LARGE)
def test_memory_ends_in_another_process(tmp_path, name):
    nodes, tensors = LARGE[name]
    path = save(tmp_path / "m.onnx", nodes, tensors)
    with pytest.raises(facebench.Error, match=r"more than [0-9]+ MiB of memory.*memory="):
        embedding.OnnxEmbedder(path, memory=1 << 30)


def slow(path, turns=60):
    """Products of constants, which onnxruntime computes when it loads the file."""
    nodes = [node("ConstantOfShape", ["s"], ["m0"])]
    nodes += [node("MatMul", [f"m{k}", f"m{k}"], [f"m{k + 1}"]) for k in range(turns)]
    nodes += [node("ReduceSum", [f"m{turns}"], ["r"], keepdims=0), node("Add", ["x", "r"], ["z"])]
    return save(path, nodes, [whole("s", 3000, 3000)])


@pytest.mark.parametrize("way", ["embedder", "by its file", "by a family"])
def test_time_ends_in_another_process(tmp_path, way):
    path = slow(tmp_path / "m.onnx")
    with pytest.raises(facebench.Error, match=r"more than 1 s of processor time.*seconds="):
        opened(way, path, seconds=1)


def test_memory_of_a_detector_ends_in_another_process(tmp_path):
    nodes, tensors = LARGE["an expansion"]
    path = save(tmp_path / "m.onnx", nodes, tensors)
    with pytest.raises(facebench.Error, match=r"more than [0-9]+ MiB of memory.*memory="):
        opened("by a family", path, memory=1 << 30)


# What the process that tries a file may not do. It may not write either: its exit code says which
# of these it could, as bits (without the file nothing is renamed).
TRIED = """
import os, socket, sys, threading
from facebench import _eval
path = sys.argv[1]
actions = (
    lambda: open(path, "ab"), lambda: open(path + "2", "wb"), lambda: os.unlink(path),
    lambda: os.rename(path, path + "2"), lambda: socket.socket(), lambda: os.fork(),
    lambda: threading.Thread(target=print).start(),
)
_eval._confine_to_reading(1 << 30, 10)
could = 128 * (open(path, "rb").read() != b"here")
for bit, action in enumerate(actions):
    try:
        action()
        could |= 1 << bit
    except (OSError, RuntimeError):
        pass
os._exit(could)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone confines a process")
def test_the_process_that_tries_files_may_only_read(tmp_path):
    (tmp_path / "f").write_bytes(b"here")
    for calls, could in ((TRIED, 0), (TRIED.replace("_eval._confine", "# "), 119)):
        command = [sys.executable, "-c", calls, tmp_path / "f"]
        assert subprocess.run(command, env=os.environ).returncode == could


def test_a_file_is_tried_in_confinement(tmp_path):
    """Where the kernel does not do it, a warning says so, which is an error here."""
    path = save(tmp_path / "m.onnx", [node("Relu", ["x"], ["z"])])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trial.check_file(path, seconds=50)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it_meanwhile(tmp_path, number):
    path = slow(tmp_path / "m.onnx")
    command = ["embed", str(path), str(tmp_path), "--out", str(tmp_path / "e.h5")]
    process = subprocess.Popen(
        [sys.executable, "-m", "facebench", *command],
        env=os.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    children = f"/proc/{process.pid}/task/{process.pid}/children"
    began = time.monotonic()
    while time.monotonic() - began < 60 and process.poll() is None:
        with open(children) as file:
            if file.read():
                break
        time.sleep(0.05)
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130 and "stopped" in said, said


def test_a_file_is_tried_once(tmp_path, monkeypatch):
    path = save(tmp_path / "m.onnx", [node("Relu", ["x"], ["z"])])
    embedding.OnnxEmbedder(path, mean=0, std=1, color="rgb")
    monkeypatch.setattr(trial.subprocess, "Popen", lambda *_, **__: pytest.fail("again"))
    embedding.OnnxEmbedder(path, mean=0, std=1, color="rgb")


@pytest.mark.parametrize("limits", [{"seconds": 0}, {"memory": 100}, {"seconds": float("nan")}])
def test_limits_that_are_none(tmp_path, limits):
    path = save(tmp_path / "m.onnx", [node("Relu", ["x"], ["z"])])
    with pytest.raises(ValueError, match="seconds: 1 to 86400"):
        embedding.OnnxEmbedder(path, **limits)
    with pytest.raises(ValueError, match="bounds what an ONNX file may take"):
        embedding.load_embedder(lambda x: x, **limits)


def with_weights_beside(path, factor):
    """The input times a number that lies in w.bin."""
    import onnx

    tensor = numpy_helper.from_array(np.full(256, factor, np.float32).reshape(1, 1, 16, 16), "w")
    save(path, [node("Mul", ["x", "w"], ["z"])], [tensor])
    model = onnx.load(path)
    onnx.save(
        model, path, save_as_external_data=True, all_tensors_to_one_file=True,
        location="w.bin", size_threshold=0,
    )  # fmt: skip


@pytest.mark.parametrize("when", ["looked at", "tried"])
def test_what_was_tried_is_what_is_opened(tmp_path, monkeypatch, when):
    """File and weights are exchanged once they were looked at, or tried: each was opened once."""
    from facebench.core import _files

    path, weights = tmp_path / "m.onnx", tmp_path / "w.bin"
    with_weights_beside(path, 3.0)
    digests = [facebench.io.sha256_file(file) for file in (path, weights)]
    opened, opening = [], _files.open_file
    name = {"looked at": "check_bounds", "tried": "try_file"}[when]
    before = getattr(trial, name)

    def exchanged(*arguments):
        before(*arguments)
        save(path, [loop("x", "z")], [whole("turns", 10**9)])
        weights.write_bytes(np.full(256, 7, np.float32).tobytes())

    def counted(file, most=None):
        opened.append(os.fspath(file))
        return opening(file, most)

    monkeypatch.setattr(trial, name, exchanged)
    monkeypatch.setattr(_files, "open_file", counted)
    embedder = embedding.OnnxEmbedder(path, mean=0, std=1, color="rgb")
    faces = np.ones((1, 16, 16, 3), np.uint8)
    assert (embedder(faces) == 3).all()
    said = embedder.description
    assert [said["sha256"], said["external_data"]["w.bin"]] == digests
    assert sorted(o for o in opened if o.startswith(str(tmp_path))) == [str(path), str(weights)]


def test_a_detector_is_of_the_file_that_was_tried(tmp_path, monkeypatch):
    import onnx_detectors

    path = tmp_path / "d.onnx"
    made = onnx_detectors.weights(0, (8, 16, 32), 2, {"scores": 1, "boxes": 4})
    outputs = [(f"{h}{s}", s, h) for h in ("scores", "boxes") for s in (8, 16, 32)]
    onnx_detectors.write(path, made, outputs, sides=(64, 64))
    digest = facebench.io.sha256_file(path)
    before = trial.check_file

    def exchanged(*arguments):
        found = before(*arguments)
        path.write_bytes(b"another")
        return found

    monkeypatch.setattr(trial, "check_file", exchanged)
    detector = detection.make_detector("scrfd", model=str(path))
    assert json.loads(detector.description())["model_sha256"] == digest


def test_messages_name_the_file_and_not_its_copy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = save(tmp_path / "m.onnx", [node("NoSuchThing", ["x"], ["z"])])
    for name in (path, "m.onnx"):
        with pytest.raises(facebench.Error, match=r"m\.onnx: onnxruntime refuses") as raised:
            embedding.OnnxEmbedder(name)
        assert "facebench-onnx-" not in str(raised.value), raised.value
    with_weights_beside(path, 1.0)
    (tmp_path / "w.bin").unlink()
    with pytest.raises(facebench.Error, match=r"w\.bin: cannot be read") as raised:
        embedding.OnnxEmbedder(path)
    assert "facebench-onnx-" not in str(raised.value), raised.value
