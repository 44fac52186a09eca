"""A stranger's run folder, beside what its user has: for the tests that nothing of it is code."""

import contextlib
import hashlib
import json
import shutil
import sys

import facebench
import pytest
from facebench import io

h5py = pytest.importorskip("h5py")
pytest.importorskip("torch")
pytest.importorskip("facebench._full")
from facebench import datasets, embedding  # noqa: E402

PIXELS = {"detector": "none", "crop": "paper", "crop_size": 32}


def make(folder):
    """A data set, a model, and a run of it."""
    few = datasets.SyntheticOptions(people=40, images=2, size=48, pairs_per_fold=4)
    datasets.write_synthetic_dataset(few, folder / "faces")
    embedding.make_model("small4", height=32, width=32, embedding=8).save(folder / "m.safetensors")
    how = {"root": folder / "faces", "interval": "none", **PIXELS}
    facebench.run("lfw", model=folder / "m.safetensors", out=folder / "run", **how)
    return folder


class Place:
    """A copy: the stranger's ``run``, the user's ``root`` and ``home``, and what tells that code
    ran."""

    def __init__(self, made, folder):
        self.folder, self.ran = folder, folder / "ran"
        self.root, self.run, self.home = folder / "faces", folder / "run", folder / "home"
        for name in ("faces", "run"):
            shutil.copytree(made / name, folder / name)
        self.model = self.root / "m.safetensors"
        shutil.copy(made / "m.safetensors", self.model)
        self.home.mkdir()
        (self.home / "mine.h5").write_bytes(b"three years of work")
        (self.home / "secret.jpg").write_bytes(next(self.root.rglob("*.jpg")).read_bytes())
        self.change(lambda r: None)

    def change(self, edit):
        """Edits run.json, with its hashes written anew, as if the folder had been made here."""
        record = json.loads((self.run / "run.json").read_text())
        moved = record["circumstance"]
        moved["root"], moved["images"] = str(self.root), str(self.root / "images")
        for entry in moved["inputs"]:
            if entry["below_root"] is None:
                entry["path"] = str(self.model)
        edit(record)
        plain = {k: record[k] for k in ("content", "circumstance")}
        for part in list(plain):
            text = io.canonical_json(plain[part]).encode()
            plain[f"{part}_sha256"] = hashlib.sha256(text).hexdigest()
        (self.run / "run.json").write_text(json.dumps(plain))

    def extract(self, **fields):
        self.change(lambda r: r["content"]["embeddings"]["manifest"]["extract"].update(fields))

    def prepared(self, part=None, **fields):
        def edit(record):
            table = record["content"]["preparation"]
            (table if part is None else table[part]).update(fields)

        self.change(edit)

    def detector(self, name, **options):
        self.prepared(detector={"detector": name, "options": options})

    def named_model(self, path, sha256=None):
        def edit(record):
            for entry, place in zip(
                record["content"]["inputs"], record["circumstance"]["inputs"], strict=True
            ):
                if entry["role"] == "model":
                    place["path"], entry["sha256"] = path, sha256 or entry["sha256"]

        self.change(edit)

    def names(self, name):
        """All images of the pack and of the embeddings get this name (with a number before it)."""
        for file in ("pack.h5", "embeddings.h5"):
            with h5py.File(self.run / file, "r+") as h5:
                there = [n.decode() if isinstance(n, bytes) else n for n in h5["/name"][:]]
                del h5["/name"]
                values = [name if i == 0 else n for i, n in enumerate(there)]
                h5.create_dataset("/name", data=values, dtype=h5py.string_dtype())

    def outside(self):
        """Everything but the stranger's folders: names and bytes."""
        return {
            path: path.read_bytes()
            for top in (self.root, self.home)
            for path in sorted(top.rglob("*"))
            if path.is_file() and not path.is_symlink()
        } | {"folders": sorted(p.name for p in self.home.rglob("*"))}


@contextlib.contextmanager
def watched(made, folder, monkeypatch):
    """The place in `folder`. Nothing is imported, and what lies outside stays as it was."""
    there = Place(made, folder)
    for name in ("evil", "hf", "onnxruntime_evil"):
        code = f"open({str(there.ran)!r}, 'w').close()\ndef main(x): return x.reshape(len(x), -1)\n"
        (folder / f"{name}.py").write_text(code)
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    before = there.outside()
    yield there
    for name in ("evil", "hf", "onnxruntime_evil"):
        sys.modules.pop(name, None)
    assert not there.ran.exists()
    assert there.outside() == before
