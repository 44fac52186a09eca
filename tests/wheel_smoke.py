"""What a wheel does in an environment that holds nothing else (scripts/smoke_wheel.sh).

python wheel_smoke.py light|full
"""

import importlib.util
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import facebench
import numpy as np
from facebench import io, metrics, protocols
from toy_lfw import write_toy_lfw

COMMAND = Path(sys.executable).with_name("facebench")


def said(*words, code=0):
    done = subprocess.run([COMMAND, *words], capture_output=True, text=True)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def evaluate(folder):
    """Lists of eight comparisons; the two images of a person have the same embedding."""
    write_toy_lfw(folder)
    names = protocols.read_trials("lfw", folder).names
    people = sorted({name.split("/")[0] for name in names})
    values = np.eye(len(people), dtype=np.float32)[[people.index(n.split("/")[0]) for n in names]]
    io.write_embeddings(
        folder / "e.h5", io.EmbeddingSet(values, names, np.zeros(len(names), np.uint8))
    )
    run = folder / "run"
    told = said("eval", "lfw", "--root", folder, "--embeddings", folder / "e.h5", "--out", run)
    assert "100.00 %" in told, told
    verified = said("verify", run, "--root", folder)
    assert re.search(r"^(\d+) of \1 are the same", verified, re.M), verified
    assert "accuracy" in said("report", run, "--format", "markdown").lower()


def pictures_to_embeddings(folder):
    """The detector with the weights in the wheel, a network of this very torch."""
    from facebench import datasets, embedding

    options = datasets.SyntheticOptions(people=20, images=2, size=128)
    datasets.write_synthetic_dataset(options, folder / "faces")
    pack = folder / "p.h5"
    made = ["--root", folder / "faces", "--detector", "mtcnn", "--crop-size", "32", "--out", pack]
    said("pack", "folder", *made)
    model = folder / "m.safetensors"
    embedding.make_model("small4", height=32, width=32, crop="paper").save(model)
    said("embed", model, pack, "--out", folder / "pictures.h5")
    assert len(io.read_embeddings(folder / "pictures.h5").values) == 40


def the_other_package_is_refused(kind):
    """pip puts the other one over this one without a word; its entry stands for it here."""
    other = {"light": "facebench", "full": "facebench_eval"}[kind]
    entry = Path(facebench.__file__).parents[1] / f"{other}-0.dist-info"
    entry.mkdir()
    try:
        assert "both facebench and facebench-eval are installed" in said("--version", code=1)
    finally:
        entry.rmdir()


def main(kind):
    assert Path(facebench.__file__).is_relative_to(sys.prefix), facebench.__file__
    assert metrics.auc([0.9, 0.8, 0.1], [1, 1, 0]) == 1
    assert facebench.__version__ in said("--version")
    with tempfile.TemporaryDirectory() as folder:
        evaluate(Path(folder))
        if kind == "light":
            assert importlib.util.find_spec("torch") is None
            assert "pip install torch" in said("detect", folder, code=1)
        else:
            pictures_to_embeddings(Path(folder))
    the_other_package_is_refused(kind)
    print(f"{kind}: facebench {facebench.__version__}, Python {sys.version.split()[0]}: works")


if __name__ == "__main__":
    main(sys.argv[1])
