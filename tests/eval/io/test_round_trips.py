"""What is written is read again, equal: drawn by a seeded generator, the edges among it."""

import random

import numpy as np
import pytest
from facebench import io
from facebench.io._toml import read_toml

LETTERS = (
    "a",
    "Z",
    "0",
    " ",
    "é",
    "e\u0301",
    "\u200b",
    "李",
    "\U0001f600",
    '"',
    "'",
    "\\",
    "#",
    ",",
)
NUMBERS = (0, 1, -1, 2**31, -(2**63), 2**63 - 1, 0.5, -0.0, 1e-308, 5e-324, 1.7e308, 0.1 + 0.2)


def text(rng, more=()):
    return "".join(rng.choice((*LETTERS, *more)) for _ in range(rng.randrange(12)))


def value(rng, depth=0):
    kind = rng.randrange(6 if depth < 3 else 4)
    if kind == 4:
        return [value(rng, depth + 1) for _ in range(rng.randrange(4))]
    if kind == 5:
        return {text(rng): value(rng, depth + 1) for _ in range(rng.randrange(4))}
    return (rng.choice(NUMBERS), text(rng, ("\n", "\t", "\x7f")), rng.random() < 0.5, rng.random())[
        kind
    ]


def toml(one):
    if isinstance(one, bool):
        return "true" if one else "false"
    if isinstance(one, str):
        return io.canonical_json(one).replace("\x7f", "\\u007f")
    if isinstance(one, list):
        return f"[{', '.join(map(toml, one))}]"
    if isinstance(one, dict):
        return "{" + ", ".join(f"{toml(k)} = {toml(v)}" for k, v in one.items()) + "}"
    return repr(one)


@pytest.mark.parametrize("seed", range(20))
def test_toml(seed, tmp_path):
    rng = random.Random(seed)
    document = {f"k{n}": value(rng) for n in range(10)}
    path = tmp_path / "d.toml"
    path.write_text("".join(f"{k} = {toml(v)}\n" for k, v in document.items()), encoding="utf-8")
    read = read_toml(path)
    assert read == document
    assert io.canonical_json(read) == io.canonical_json(document)  # the kinds of numbers, too


@pytest.mark.parametrize("seed", range(20))
def test_embeddings(seed, tmp_path):
    rng, draw = random.Random(seed), np.random.default_rng(seed)
    names = [f"{n}/{text(rng)}x" for n in range(rng.randrange(1, 30))]
    values = draw.normal(size=(len(names), rng.randrange(1, 9))).astype("f4")
    values *= np.float32(10.0 ** rng.randrange(-30, 30))
    status = np.array([rng.randrange(3) == 0 for _ in names], "u1")
    values[status > 0] = 0
    written = io.EmbeddingSet(values, names, status, {"k": value(rng)})
    io.write_embeddings(tmp_path / "e.h5", written)
    read = io.read_embeddings(tmp_path / "e.h5")
    assert list(read.names) == names and (np.asarray(read.status) == status).all()
    assert read.values.tobytes() == values.tobytes()
    assert io.canonical_json(read.manifest) == io.canonical_json(written.manifest)
    io.write_embeddings(tmp_path / "again.h5", read)
    assert (tmp_path / "e.h5").read_bytes() == (tmp_path / "again.h5").read_bytes()


@pytest.mark.parametrize("seed", range(20))
def test_safetensors(seed, tmp_path):
    rng, draw = random.Random(seed), np.random.default_rng(seed)
    tensors = {
        f"{n}.{text(rng)}": draw.normal(size=[rng.randrange(4) for _ in range(rng.randrange(4))])
        .astype("f4")
        for n in range(rng.randrange(6))
    }  # fmt: skip
    io.write_safetensors(tmp_path / "m.safetensors", tensors)
    read = io.read_safetensors(tmp_path / "m.safetensors")
    read = read[0] if isinstance(read, tuple) else read
    assert {k: v.tobytes() for k, v in read.items()} == {k: v.tobytes() for k, v in tensors.items()}
    assert {k: v.shape for k, v in read.items()} == {k: v.shape for k, v in tensors.items()}
