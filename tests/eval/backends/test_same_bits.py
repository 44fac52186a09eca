"""A fit has the same bits wherever arrays lie, on any number of threads and instruction set."""

import os
import subprocess
import sys

import numpy as np
import pytest
from facebench import backends

SPECS = (
    "whiten",
    "pca=30,lda=20,plda",
    "plda=9:iterations=20",
    "joint_bayesian:iterations=5",
    "wccn",
    "mahalanobis",
    "lda=9",
    "unit,whiten=pca:shrinkage=0.1,plda",
)


def drawn(dim=50, people=120, images=4):
    rng = np.random.default_rng(7)
    labels = np.repeat(np.arange(people), images)
    x = rng.normal(size=(people, dim))[labels] + 0.7 * rng.normal(size=(len(labels), dim))
    return x, labels


def moved(x, places):
    """The same numbers, so many doubles behind the start of a page."""
    memory = np.empty(x.size + 1024)
    start = (-memory.ctypes.data // 8) % 512 + places
    out = memory[start : start + x.size].reshape(x.shape)
    out[:] = x
    return out


def digest(x, labels, threads):
    from hashlib import sha256

    out = sha256()
    for spec in SPECS:
        backend = backends.fit(spec, x, labels, threads=threads)
        out.update(backend.sha256.encode())
        out.update(backend.score(x[:99], x[1:100]).tobytes())
        out.update(backend.score_all(x[:7], x).tobytes())
        how = {"normalise": "s-norm:top=20", "cohort": x[:50]}
        out.update(backend.score(x[:99], x[1:100], **how).tobytes())
    few = backends.fit("pca", x[:20], threads=threads)  # fewer images than dimensions
    return sha256((out.hexdigest() + few.sha256).encode()).hexdigest()


def test_places_and_threads():
    x, labels = drawn()
    wanted = digest(x, labels, 1)
    junk = []
    for places in range(12):
        junk.append(np.empty(1000 + 37 * places))  # moves what is allocated inside, too
        assert digest(moved(x, places), labels, 1 + places % 4) == wanted


@pytest.mark.parametrize("isa", ["plain", "avx2", "avx512"])
def test_instruction_sets(isa):
    here = os.path.dirname(__file__)
    code = f"import sys; sys.path.insert(0, {here!r}); import test_same_bits as t; "
    code += "print(t.digest(*t.drawn(), 2))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"FACEBENCH_ISA": isa},
        capture_output=True,
        text=True,
        check=False,
    )
    if "not have" in done.stderr or "processor" in done.stderr:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == digest(*drawn(), 1)


def test_products_are_sums_in_their_order():
    """Of what an entry of a product is: 128 terms at a time, each rounded, none fused."""
    x, _ = drawn(dim=9, people=75)
    backend = backends.fit("center,cosine", x)
    side = backend.fitted.steps[-1]
    assert side["basis"] is None
    rows = x[:3] - backend.fitted.steps[0]["mean"]

    def unit(row):
        total = 0.0
        for value in row:
            total += value * value
        return row / np.sqrt(total)

    rows = np.array([unit(r) for r in rows])
    total = 0.0
    for a, b in zip(rows[0], rows[1], strict=True):
        total += a * b
    assert backend.score_all(x[:1], x[1:2])[0, 0] == total
