"""All images with all in shards: the run, to the byte, that one process writes."""

import json
import pickle
import re
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor

import facebench
import h5py
import numpy as np
import pytest
from command_line import invoke
from facebench import _eval, metrics, protocols
from facebench.io import EmbeddingSet, write_embeddings
from people_embeddings import drawn_people

# Of 1,275 comparisons all are kept by default.
FEW = {"stored_scores": 100, "replicates": 20}


@pytest.fixture(scope="module")
def faces(tmp_path_factory):
    """A folder of people, and embeddings of them, two of which failed."""
    folder = tmp_path_factory.mktemp("faces")
    names = [f"p{k // 3:02}/{k % 3}.jpg" for k in range(51)]
    for k, name in enumerate(names):
        (folder / "people" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "people" / name).write_bytes(b"%d" % k)
    values = drawn_people(17, 16, 17)[0].repeat(3, 0) + drawn_people(51, 16, 51)[0] / 2
    values[[4, 30]] = 0
    status = [1 if k in (4, 30) else 0 for k in range(51)]
    write_embeddings(folder / "e.h5", EmbeddingSet(values, names, status))
    write_embeddings(folder / "other.h5", EmbeddingSet(-values / 2 + values[::-1], names))
    protocols.evaluate(
        "folders", folder / "e.h5", root=folder / "people", out=folder / "run", **FEW
    )
    return folder


def bytes_of(run):
    """Of a run folder, but for when and where it was made."""
    files = {p.name: p.read_bytes() for p in run.iterdir()}
    manifest = json.loads(files.pop("run.json"))
    for page in ("report.md", "report.html"):
        files[page] = re.sub(rb"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][^ <]*", b"", files[page])
    return manifest["content"], files


def make_shards(faces, folder, count):
    files = [folder / f"{k}.h5" for k in range(1, count + 1)]
    for k, file in enumerate(files, 1):
        where = {"shard": f"{k}/{count}", "root": faces / "people"}
        protocols.evaluate_shard("folders", faces / "e.h5", file, **where, **FEW)
    return files


@pytest.mark.parametrize("count", [1, 3])
def test_the_run_of_all_shards_is_that_of_one_process(faces, tmp_path, count):
    files = make_shards(faces, tmp_path, count)
    where = {"root": faces / "people", "out": tmp_path / "run"}
    protocols.evaluate("folders", faces / "e.h5", shard_files=files[::-1], **where, **FEW)
    assert bytes_of(tmp_path / "run") == bytes_of(faces / "run")


def test_on_the_command_line(faces, tmp_path):
    words = ["eval", "folders", "--embeddings", faces / "e.h5", "--root", faces / "people"]
    words += ["--stored-scores", "100", "--replicates", "20"]
    for k in (1, 2):
        invoke(*words, "--shard", f"{k}/2", "--out", tmp_path / f"{k}.h5")
    files = ["--shard-files", tmp_path / "1.h5", tmp_path / "2.h5"]
    invoke(*words, *files, "--out", tmp_path / "run")
    assert bytes_of(tmp_path / "run") == bytes_of(faces / "run")
    wrong = invoke(*words, *files, "--shard", "1/2", code=2)
    assert "--shard-files does not go with --shard" in wrong.output


def test_what_does_not_belong_together_is_refused(faces, tmp_path):
    files = make_shards(faces, tmp_path, 2)
    root = {"root": faces / "people"}
    np.save(tmp_path / "e.npy", np.zeros((2, 4)))

    def refused(kind, match, embeddings="e.h5", **how):
        with pytest.raises(kind, match=match):
            protocols.evaluate("folders", faces / embeddings, **root, **{**FEW, **how})

    refused(ValueError, "missing: 2 of 2", shard_files=files[:1])
    refused(ValueError, "shard 1 of 2 is there twice", shard_files=[files[0], files[0]])
    refused(facebench.Error, r"1.h5: .*other embeddings", "other.h5", shard_files=files)
    refused(facebench.Error, r"1.h5: .*or lists", shard_files=files, limit=40)
    refused(facebench.Error, "not made by eval --shard", shard_files=[faces / "e.h5"])
    with h5py.File(files[0], "r+") as file:
        file["tracks/0/genuine_row"][0] = 10**6
    refused(ValueError, "names row 1000000 of 49", shard_files=files)
    with pytest.raises(ValueError, match="NUMBER/COUNT"):
        protocols.evaluate_shard("folders", faces / "e.h5", "x", shard="3", **root)
    with pytest.raises(ValueError, match="nothing to share out"):
        protocols.evaluate_shard("folders", faces / "e.h5", "x", shard="1/2", **root)
    with pytest.raises(ValueError, match="write_embeddings"):
        protocols.evaluate_shard("folders", tmp_path / "e.npy", "x", shard="1/2", **root)


class Unsteady(ThreadPoolExecutor):
    """Runs what is submitted, but for the submissions of these numbers, for which `trouble` is
    called with their future."""

    def __init__(self, numbers, trouble):
        super().__init__(2)
        self.numbers, self.trouble, self.count = numbers, trouble, 0

    def submit(self, function, /, *arguments):
        self.count += 1
        if self.count not in self.numbers:
            return super().submit(function, *arguments)
        future = Future()
        self.trouble(future)
        return future


def fail(future):
    future.set_exception(MemoryError("no memory left"))


def lose(future):
    future.set_exception(CancelledError())


def on_workers(faces, out, workers, shards=5):
    where = {"root": faces / "people", "out": out, "shards": shards}
    return protocols.evaluate("folders", faces / "e.h5", workers=workers, **where, **FEW)


@pytest.mark.parametrize(
    ("numbers", "trouble", "sentence"),
    [({2}, fail, "shard 2/5: no memory left"), ({5}, lose, "5/5: the scheduler")],
)
def test_what_is_made_is_kept(faces, tmp_path, numbers, trouble, sentence):
    with Unsteady(numbers, trouble) as workers, pytest.raises(facebench.Error) as error:
        on_workers(faces, tmp_path / "run", workers)
    assert sentence in str(error.value)
    (folder,) = (p for p in (tmp_path / "run.shards").iterdir() if p.is_dir())
    assert "run it again to go on" in str(error.value)
    kept = len(list(folder.iterdir()))
    workers = Unsteady(set(), None)
    on_workers(faces, tmp_path / "run", workers)
    assert workers.count == 5 - kept
    assert [p.name for p in tmp_path.iterdir()] == ["run"]
    assert bytes_of(tmp_path / "run") == bytes_of(faces / "run")


@pytest.mark.slow
def test_the_tail_of_fifty_thousand_in_eight_shards():
    rows, who = drawn_people(50_000, 64, 8_000)
    how = {"options": metrics.AllPairsOptions(far=1e-5, bins=512)}
    shards = [_eval.all_pairs_shard(rows, who, shard=f"{k}/8", **how) for k in range(1, 9)]
    assert _eval.merge_all_pairs(pickle.loads(pickle.dumps(shards))) == metrics.all_pairs(
        rows, who, **how
    )
