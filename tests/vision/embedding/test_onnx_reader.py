"""The reader of ONNX files against changed ones: it accepts them or says what is wrong, in one
sentence, and a small file takes no more memory than its numbers."""

import itertools
import random
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

FUZZ = Path(__file__).parents[2] / "fuzz"
sys.path.insert(0, str(FUZZ))
import onnx_reader  # noqa: E402
import onnx_seeds  # noqa: E402
from facebench import Error  # noqa: E402
from facebench.embedding import _onnx_import  # noqa: E402
from onnx_seeds import INT32, INT64, field, floats, model, node, numbers, tensor  # noqa: E402


def test_the_seeds_are_those_in_the_folder():
    for name, data in onnx_seeds.seeds().items():
        assert (onnx_reader.SEEDS / name).read_bytes() == data, name


def test_the_seeds_reach_the_reader(tmp_path):
    coverage = onnx_reader.Coverage()
    accepted = set()
    for seed in sorted(onnx_reader.SEEDS.iterdir()):
        with coverage:
            if onnx_reader.read(seed.read_bytes(), tmp_path / "m.onnx"):
                accepted.add(seed.name)
    wanted = {n for n in onnx_seeds.seeds() if not n.startswith("wrong.")}
    with coverage, pytest.raises(ValueError, match="has no output 'none'; it has "):
        _onnx_import.read(onnx_reader.SEEDS / min(wanted), output="none")
    # The first of two outputs is not an embedding: it cannot be computed.
    two = model([node("Softmax", "x", "y"), node("Relu", "x", "z")], output="y z")
    (tmp_path / "two.onnx").write_bytes(two)
    with coverage, pytest.raises(Error, match="needed for the first of the outputs y, z"):
        _onnx_import.read(tmp_path / "two.onnx")
    assert accepted >= wanted
    for name, (reached, lines, missed) in coverage.shares().items():
        assert reached >= 0.85 * lines, (name, sorted(missed))


def test_changed_files_are_refused_in_a_sentence(tmp_path):
    seeds = [p.read_bytes() for p in sorted(onnx_reader.SEEDS.iterdir())]
    rng = random.Random(3)
    accepted = 0
    for k in range(600):
        data = onnx_reader.changed(seeds[k % len(seeds)], rng)
        accepted += onnx_reader.read(data, tmp_path / "m.onnx")
    assert accepted > 20


def doubled(value, times):
    names = [value, *(f"v{k}" for k in range(times))]
    joined = [
        node("Concat", f"{a} {a}", b, axis=1 if value == "x" else 0)
        for a, b in itertools.pairwise(names)
    ]
    return [*joined, node("Add", f"x {names[-1]}", "y")]


HOSTILE = {
    "a layer of 2^60 channels": (model(doubled("x", 60)), "more than"),
    "a constant of 2^60 numbers": (model(doubled("c", 60), [numbers("c", 4)]), "more than"),
    "a gathered constant": (
        model(
            [node("Gather", "a i", "b"), node("Add", "x b", "y")],
            [tensor("a", [1, 1000], bytes(4000)), tensor("i", [100000], bytes(800000), INT64)],
        ),
        "more than",
    ),
    "an input of 2^31 channels": (
        model([node("Mul", "x two", "y")], [tensor("two", [1], floats(2.0))], (1, 1 << 31, 8, 8)),
        "more than",
    ),
    "a name of 600 KB": (model([field(3, "n\x1b[31m" * 100000) + node("Relu", "x", "y")]), "name"),
    "a hundred sides": (
        model([node("Add", "x w", "y")], [tensor("w", [1] * 100, floats(1.0))]),
        "impossible shape",
    ),
    "no numbers of 2^62 sides": (
        model([node("Add", "x w", "y")], [tensor("w", [0, 1 << 62, 4])]),
        "impossible shape",
    ),
    "a number beyond its type": (
        model([node("Add", "x w", "y")], [tensor("w", [1], more=field(5, 1 << 62), kind=INT32)]),
        "does not hold",
    ),
    "too many nodes": (
        model([node("Relu", f"v{k}" if k else "x", f"v{k + 1}") for k in range(20001)]),
        "more than 20000 nodes",
    ),
    "a list of 2^22 whole numbers": (
        model(
            [node("Add", "x w", "y")],
            [tensor("w", [1], more=field(7, bytes((1 << 22) + 1)), kind=INT64)],
        ),
        "more than 4194304 whole numbers",
    ),
    "an epsilon that is NaN": (
        model(
            [node("BatchNormalization", "x a b c d", "y", epsilon=float("nan"))],
            [numbers(n, 2) for n in "abcd"],
        ),
        "not a finite number",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_small_files_that_stand_for_much(name, tmp_path):
    data, says = HOSTILE[name]
    (tmp_path / "m.onnx").write_bytes(data)
    with pytest.raises(Error, match=says) as refused:
        _onnx_import.read(tmp_path / "m.onnx", 8, 8)
    assert len(str(refused.value)) <= 500
