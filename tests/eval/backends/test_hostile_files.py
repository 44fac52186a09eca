"""`.backend` files that are damaged, cut, or lie about themselves: refused by a sentence."""

import json

import h5py
import numpy as np
import pytest
from facebench import Error, backends

MANIFEST = {
    "no manifest": lambda m: None,
    "another format": lambda m: m | {"format": 9},
    "format as text": lambda m: m | {"format": "1"},
    "no spec": lambda m: {k: v for k, v in m.items() if k != "spec"},
    "spec of another chain": lambda m: m | {"spec": "pca=4,lda=3,cosine"},
    "steps in another order": lambda m: m | {"spec": "lda=3,pca=4,plda"},
    "unknown step": lambda m: m | {"spec": "pca=4,magic,plda"},
    "spec a number": lambda m: m | {"spec": 3},
    "spec a list": lambda m: m | {"spec": ["pca"]},
    "empty spec": lambda m: m | {"spec": ""},
    "huge spec": lambda m: m | {"spec": "center," * 100000 + "plda"},
    "fewer steps": lambda m: m | {"steps": m["steps"][:1]},
    "steps a number": lambda m: m | {"steps": 7},
    "no shrinkage": lambda m: m | {"steps": [{}] * 3},
    "constant as text": lambda m: m | {"constant": "1"},
    "constant null": lambda m: m | {"constant": None},
    "another constant": lambda m: m | {"constant": 1.25},
    "no training": lambda m: {k: v for k, v in m.items() if k != "training"},
    "training a list": lambda m: m | {"training": []},
    "other people": lambda m: m | {"training": m["training"] | {"people": 3}},
    "people as text": lambda m: m | {"training": m["training"] | {"people": "x"}},
    "other names": lambda m: m | {"training": m["training"] | {"names": ["x"]}},
    "names of numbers": lambda m: m | {"training": m["training"] | {"names": [1, 2]}},
    "notes a text": lambda m: m | {"notes": "x"},
    "another hash": lambda m: m | {"sha256": "0" * 64},
    "no hash": lambda m: {k: v for k, v in m.items() if k != "sha256"},
    "hash a number": lambda m: m | {"sha256": 5},
}


def replace(file, name, value):
    del file[name]
    if value is not None:
        file[name] = value


def change(name, how):
    return lambda file: replace(file, name, how(file[name][:]))


def with_nan(v):
    out = v.copy()
    out.flat[0] = np.nan
    return out


DATA = {
    "no mean": lambda f: replace(f, "step/0/mean", None),
    "no basis": lambda f: replace(f, "step/1/basis", None),
    "no cross": lambda f: replace(f, "cross", None),
    "no square": lambda f: replace(f, "square", None),
    "no step": lambda f: replace(f, "step/2", None),
    "NaN in mean": change("step/0/mean", with_nan),
    "NaN in basis": change("step/1/basis", with_nan),
    "infinity in cross": change("cross", lambda v: v * np.inf),
    "NaN in square": change("square", with_nan),
    "short mean": change("step/0/mean", lambda v: v[:-1]),
    "empty mean": change("step/0/mean", lambda v: v[:0]),
    "basis turned": change("step/0/basis", lambda v: v.T),
    "basis of one row": change("step/0/basis", lambda v: v[0]),
    "basis of three axes": change("step/0/basis", lambda v: v[None]),
    "basis without rows": change("step/0/basis", lambda v: v[:0]),
    "steps exchanged": lambda f: (
        f.move("step/0", "x"),
        f.move("step/1", "step/0"),
        f.move("x", "step/1"),
    ),
    "long cross": change("cross", lambda v: np.append(v, 1.0)),
    "cross as text": lambda f: replace(f, "cross", "abc"),
    "mean of other numbers": change("step/0/mean", lambda v: v + 1e-12),
    "float32 in place of float64": change("step/0/basis", lambda v: v.astype("f4")),
    "mean a group": lambda f: (replace(f, "step/0/mean", None), f.create_group("step/0/mean")),
    "cross a link elsewhere": lambda f: replace(f, "cross", h5py.ExternalLink("/etc/passwd", "x")),
}


def declared(file, name, shape):
    """A dataset that says it is huge and holds nothing."""
    del file[name]
    file.create_dataset(name, shape, "f8", chunks=(1 << 10,) * len(shape), fillvalue=0)


HUGE = {
    "mean of 2^40": lambda f: declared(f, "step/0/mean", (1 << 40,)),
    "basis of 2^20 x 2^20": lambda f: declared(f, "step/0/basis", (1 << 20, 1 << 20)),
    "cross of 2^36": lambda f: declared(f, "cross", (1 << 36,)),
}


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(20), 3)
    x = rng.normal(size=(20, 6))[labels] + rng.normal(size=(60, 6))
    path = tmp_path / "x.backend"
    backends.fit("pca=5,lda=4,plda", x, [f"p{k}" for k in labels]).save(path)
    return path


def refused(path):
    with pytest.raises(Error) as caught:
        backends.load(path)
    text = str(caught.value)
    assert text.startswith(str(path)) and len(text) < 2000
    return text


@pytest.mark.parametrize("what", MANIFEST)
def test_another_manifest(file, what):
    with h5py.File(file, "r+") as f:
        value = f["manifest"][()]
        text = value.decode() if isinstance(value, bytes) else bytes(np.asarray(value)).decode()
        changed = MANIFEST[what](json.loads(text))
        del f["manifest"]
        if changed is not None:
            f["manifest"] = json.dumps(changed)
    refused(file)


@pytest.mark.parametrize("what", DATA | HUGE)
def test_other_data(file, what):
    with h5py.File(file, "r+") as f:
        (DATA | HUGE)[what](f)
    refused(file)


@pytest.mark.parametrize("share", [0, 0.01, 0.3, 0.7, 0.99])
def test_a_cut_file(file, share):
    data = file.read_bytes()
    file.write_bytes(data[: int(share * len(data))])
    refused(file)


def test_bytes_turned_over(file):
    data = file.read_bytes()
    rng, said = np.random.default_rng(1), []
    for at in rng.integers(0, len(data), 60):
        changed = bytearray(data)
        changed[at] ^= 0xFF
        file.write_bytes(changed)
        try:
            backends.load(file)
        except Error as error:
            said.append(str(error))
    assert all(str(file) in text for text in said) and len(said) > 20
