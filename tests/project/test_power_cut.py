"""A power cut at any moment leaves the old or the whole new: the order of writes, syncs and
renames (tests/faults/order.py)."""

import pathlib
import shutil
import sys

import pytest

pytest.importorskip("torch")
pytest.importorskip("facebench._full")
sys.path.append(str(pathlib.Path(__file__).parents[1] / "faults"))
import facebench
import order
from facebench import datasets

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="no compiler for the preload")

FACES = "--detector none --crop paper --crop-size 32 --threads 1"
VERBS = {
    "pack": (f"pack folder --root ROOT/faces/images {FACES} --out ROOT/p.h5", ()),
    "embed": ("embed ROOT/model.safetensors ROOT/pack.h5 --out ROOT/e.h5", ()),
    "eval": ("eval lfw --root ROOT/faces --embeddings ROOT/e0.h5 --out ROOT/run", ()),
    "eval over another": (
        "eval lfw --root ROOT/faces --embeddings ROOT/e0.h5 --out ROOT/run0 --overwrite", ()
    ),
    "train": (
        "train small4.softmax --pack ROOT/pack.h5 --out ROOT/t --set epochs=2 --set batch=8 "
        "--set channel_multiplier=0.25 --set embedding=8 --threads 1 --data-threads 0",
        ("log.jsonl",),
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("power")
    few = datasets.SyntheticOptions(people=40, images=2, size=48, pairs_per_fold=4)
    datasets.write_synthetic_dataset(few, folder / "faces")
    prepared = {"detector": "none", "crop": "paper", "crop_size": 32}
    facebench.pack("folder", folder / "faces/images", folder / "pack.h5", **prepared)
    model = facebench.embedding.make_model("small4", height=32, width=32, embedding=8)
    model.save(folder / "model.safetensors")
    facebench.embed(model, folder / "pack.h5", folder / "e0.h5")
    facebench.evaluate(
        "lfw", embeddings=folder / "e0.h5", root=folder / "faces", interval="none",
        out=folder / "run0",
    )  # fmt: skip
    return folder, order.build(folder)


@pytest.mark.parametrize("name", VERBS)
def test_a_power_cut_leaves_the_old_or_the_whole_new(made, name):
    folder, shim = made
    line, logs = VERBS[name]
    done, calls = order.recorded(line.replace("ROOT", str(folder)).split(), folder, shim)
    assert done.returncode == 0, done.stderr
    ignored = {str(shim.parent / "order.log")}
    disk = order.Disk(logs).replay([call for call in calls if call[2] not in ignored])
    assert disk.renamed > 0
    assert disk.wrong == []


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        ([("make", 1, "/r/.t", ""), ("write", 1, "/r/.t", ""), ("rename", 1, "/r/.t", "/r/x")],
         "/r/x gets its name before /r/.t is synced"),
        ([("make", 1, "/r/x", ""), ("fsync", 1, "/r/x", "")], "is made where it is looked for"),
        ([("make", 1, "/r/.t", ""), ("fsync", 1, "/r/.t", ""), ("rename", 1, "/r/.t", "/r/x"),
          ("write", 1, "/r/x", ""), ("fsync", 1, "/r/x", "")], "is written to where"),
        ([("make", 1, "/r/.d", ""), ("make", 2, "/r/.d/a", ""), ("fsync", 2, "/r/.d/a", ""),
          ("rename", 1, "/r/.d", "/r/d")], "/r/d gets its name before /r/.d is synced"),
    ],
)  # fmt: skip
def test_the_replay_sees_what_is_wrong(calls, said):
    assert any(said in wrong for wrong in order.Disk().replay(calls).wrong)
