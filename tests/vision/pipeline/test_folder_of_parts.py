"""The folder OUT.shards: one that is somebody else's stays as it is, and parts are kept only where
all that decides them is as it was."""

import json
import os
import shutil
import warnings
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import facebench
import h5py
import numpy as np
import pytest
from command_line import invoke
from facebench import datasets, embedding, images, io, pipeline, protocols
from facebench.core import _parts
from facebench.lab.studies import engine
from noise_photographs import write_noise_photographs

COUNT, SHARDS = 24, 4


class Workers(Executor):
    """Makes the first ``good`` parts in this process, and fails at all others."""

    def __init__(self, good=1000):
        self.good, self.made = good, 0

    def submit(self, function, /, *arguments):
        future = Future()
        if self.made < self.good:
            function(*arguments)
            future.set_result(0.1)
            self.made += 1
        else:
            future.set_exception(OSError("the machine is gone"))
        return future


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Photographs of noise, a pack of them and a model."""
    folder = tmp_path_factory.mktemp("made")
    write_noise_photographs(folder / "faces", COUNT, 24, ".png")
    facebench.pack("folder", folder / "faces", folder / "faces.h5", detector="none", crop_size=16)
    embedding.make_model("small4", height=16, width=16, embedding=8).save(folder / "m.safetensors")
    return folder


@pytest.fixture
def here(made, tmp_path):
    shutil.copytree(made, tmp_path / "x")
    return tmp_path / "x"


def pack(here, out, **options):
    options = {"detector": "none", "crop_size": 16} | options
    return facebench.pack("folder", here / "faces", out, threads=1, **options)


def embed(here, out, **options):
    return facebench.embed(here / "m.safetensors", here / "faces.h5", out, threads=1, **options)


def evaluate(here, out, **options):
    how = {"root": here / "faces", "out": out, "replicates": 20, "stored_scores": 20, **options}
    return protocols.evaluate("folders", here / "e.h5", **how)


def photograph(here, number=0):
    return sorted((here / "faces").rglob("*.png"))[number]


def snapshot(folder):
    """Everything of a folder: names, bytes, links."""
    return {
        p.relative_to(folder): os.readlink(p) if p.is_symlink() else p.is_file() and p.read_bytes()
        for p in sorted(folder.rglob("*"))
    }


def somebodys(place, how):
    """A folder (or what stands in its place) that facebench did not make."""
    if how == "a file":
        place.write_text("mine")
        return place
    if how == "a link":
        place.with_name("elsewhere").mkdir()
        place.symlink_to(place.with_name("elsewhere"))
        place = place.with_name("elsewhere")
    else:
        place.mkdir()
    (place / "thesis.txt").write_text("three years of work")
    (place / "0123456789abcdef").mkdir()
    (place / "0123456789abcdef" / "1-of-4.h5").write_text("mine as well")
    if how == "a marker of another result":
        text = json.dumps({"format": _parts._FORMAT, "result": "other.h5", "attempts": {}})
        (place / _parts.MARKER).write_text(text)
    if how == "a marker that is none":
        (place / _parts.MARKER).write_text("[")
    return place


@pytest.mark.parametrize("verb", [pack, embed, evaluate])
@pytest.mark.parametrize(
    "how",
    ["a folder", "a file", "a link", "a marker of another result", "a marker that is none"],
)
def test_what_facebench_did_not_make_stays(here, verb, how):
    if verb is evaluate:
        embed(here, here / "e.h5")
    place = somebodys(here / "mine.h5.shards", how)
    before = snapshot(here)
    with pytest.raises(facebench.Error, match=r"facebench did not make it.*move it elsewhere"):
        verb(here, here / "mine.h5", workers=Workers(), shards=SHARDS)
    assert snapshot(here) == before and place.exists()


def test_an_empty_folder_of_somebodys_stays(here):
    (here / "mine.h5.shards").mkdir()
    with pytest.raises(facebench.Error, match="did not make it"):
        pack(here, here / "mine.h5", workers=Workers(), shards=SHARDS)
    assert (here / "mine.h5.shards").is_dir()


def attempt(here, verb, good=2):
    """A first attempt that ends after some parts."""
    with pytest.raises(facebench.Error, match="the machine is gone"):
        verb(here, here / "out.h5", workers=Workers(good), shards=SHARDS)
    assert len(list((here / "out.h5.shards").glob("*/*.h5"))) == good


def go_on(here, verb, **options):
    """(parts made, warnings) of the attempt that follows; its bytes are those of one process."""
    workers = Workers()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        verb(here, here / "out.h5", workers=workers, shards=SHARDS, **options)
    verb(here, here / "whole.h5", **options)
    out, whole = here / "out.h5", here / "whole.h5"
    if whole.is_dir():  # a run
        out, whole = out / "scores.h5", whole / "scores.h5"
    assert out.read_bytes() == whole.read_bytes()
    assert not (here / "out.h5.shards").exists()
    return workers.made, [str(w.message) for w in said]


@pytest.mark.parametrize("verb", [pack, embed])
def test_parts_are_kept_where_nothing_has_changed(here, verb):
    attempt(here, verb)
    assert go_on(here, verb) == (SHARDS - 2, [])


def other_pixels_of_the_same_size_and_time(path):
    facts, pixels = path.stat(), images.read(path)
    for seed in range(200):  # until it has as many bytes
        changed = (
            np.random.default_rng(seed).permutation(pixels.reshape(-1, 3)).reshape(pixels.shape)
        )
        images.write(path, np.ascontiguousarray(changed))
        if path.stat().st_size <= facts.st_size:
            break
    data = path.read_bytes()
    path.write_bytes(data + b"\0" * (facts.st_size - len(data)))
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))


def exchange(a, b):
    a.rename(a.with_suffix(".aside"))
    b.rename(a)
    a.with_suffix(".aside").rename(b)


CHANGES = {
    "a photograph is another one": lambda here: shutil.copy(
        photograph(here, 5), photograph(here, 1)
    ),
    "a photograph is deleted": lambda here: photograph(here).unlink(),
    "a photograph is added": lambda here: shutil.copy(
        photograph(here), photograph(here).with_name("zz.png")
    ),
    "a photograph is renamed": lambda here: photograph(here).rename(
        photograph(here).with_name("zz.png")
    ),
    "a photograph of the same size and time": lambda here: other_pixels_of_the_same_size_and_time(
        photograph(here)
    ),
    "two photographs change places": lambda here: exchange(
        photograph(here, 0), photograph(here, 1)
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_parts_of_other_photographs_are_made_again(here, change):
    attempt(here, pack)
    CHANGES[change](here)
    made, (said,) = go_on(here, pack)
    assert made == SHARDS
    assert "2 parts of an earlier attempt are removed and made again" in said
    assert "since then images changed" in said


def test_parts_by_other_options_are_made_again(here):
    attempt(here, pack)
    made, (said,) = go_on(here, pack, crop_size=12)
    assert made == SHARDS and "since then crop_size changed" in said


def test_an_exclusion_that_changed(here):
    person = photograph(here).parent.name
    (here / "without.txt").write_text(f"person\t{person}\n")
    exclude = {"exclude": here / "without.txt"}
    with pytest.raises(facebench.Error, match="the machine is gone"):
        pack(here, here / "out.h5", workers=Workers(2), shards=SHARDS, **exclude)
    (here / "without.txt").write_text(f"person\t{photograph(here, -1).parent.name}\n")
    made, (said,) = go_on(here, pack, **exclude)
    assert made == SHARDS and "since then files changed" in said


@pytest.mark.parametrize("what", ["m.safetensors", "faces.h5"])
def test_embeddings_by_another_model_or_pack(here, what):
    attempt(here, embed)
    if what == "faces.h5":
        photograph(here).unlink()
        pack(here, here / what)
    else:
        options = {"height": 16, "width": 16, "embedding": 8, "seed": 5}
        embedding.make_model("small4", **options).save(here / what)
    made, (said,) = go_on(here, embed)
    assert made == SHARDS and "2 parts" in said
    assert ("pack" if what == "faces.h5" else "model") in said.partition("since then")[2]


def test_comparisons_of_other_lists(here):
    embed(here, here / "e.h5")
    attempt(here, evaluate)
    CHANGES["a photograph is added"](here)
    made, said = go_on(here, evaluate)
    assert made == SHARDS and any("contents changed" in text for text in said)


def test_what_others_put_into_our_folder_stays(here):
    attempt(here, pack)
    place = here / "out.h5.shards"
    (place / "notes.txt").write_text("mine")
    with pytest.warns(UserWarning, match=r"stays.*notes.txt"):
        pack(here, here / "out.h5", workers=Workers(), shards=SHARDS)
    assert sorted(p.name for p in place.iterdir()) == [_parts.MARKER, "notes.txt"]
    (place / "notes.txt").unlink()
    pack(here, here / "out.h5", workers=Workers(), shards=SHARDS)
    assert not place.exists()


def test_a_photograph_under_a_linked_folder_counts(here, tmp_path):
    """A data set that is a link, or has links to folders in it."""
    people = sorted((here / "faces").iterdir())
    people[0].rename(tmp_path / "elsewhere")
    people[0].symlink_to(tmp_path / "elsewhere")
    (people[0] / "loop").symlink_to(here / "faces")
    before = _parts.state_of(here / "faces")
    assert before == _parts.state_of(here / "faces")
    (tmp_path / "elsewhere" / "new.png").write_bytes(b"")
    assert _parts.state_of(here / "faces") != before


@pytest.mark.parametrize(
    ("archive", "files", "other", "counts"),
    [
        ("a.rec", ("a.rec", "a.idx"), "b.idx", "a.idx"),  # the index beside it
        ("s-{000..}.tar", ("s-000.tar", "s-001.tar"), "other.tar", "s-001.tar"),
    ],
)
def test_all_files_of_an_archive_count(tmp_path, archive, files, other, counts):
    for name in files:
        (tmp_path / name).write_bytes(b"1")
    before = _parts.state_of(tmp_path / archive)
    (tmp_path / other).write_bytes(b"1")
    assert _parts.state_of(tmp_path / archive) == before
    (tmp_path / counts).write_bytes(b"12")
    assert _parts.state_of(tmp_path / archive) != before


def test_the_folder_of_parts_may_lie_in_the_data_set(here):
    with pytest.raises(facebench.Error, match="the machine is gone"):
        pack(here, here / "faces" / "out.h5", workers=Workers(2), shards=SHARDS)
    workers = Workers()
    pack(here, here / "faces" / "out.h5", workers=workers, shards=SHARDS)
    assert workers.made == SHARDS - 2
    assert len(datasets.Pack(here / "faces" / "out.h5")) == COUNT


def test_a_remade_pack_and_one_whose_pixels_were_changed(here):
    """The manifest says what a pack is made of, its size and times that nobody wrote into it."""
    attempt(here, embed)
    with h5py.File(here / "faces.h5", "r+") as file:
        file["images"][0] = 255 - file["images"][0]
    made, (said,) = go_on(here, embed)
    assert made == SHARDS and "since then pack changed" in said


def test_a_pack_is_not_read_as_a_whole_before_the_first_part(here, monkeypatch):
    read = []
    real = pipeline.sha256_file
    monkeypatch.setattr(pipeline, "sha256_file", lambda p: read.append(str(p)) or real(p))
    embed(here, here / "out.h5", workers=Workers(), shards=SHARDS)
    assert read == [str(here / "m.safetensors")]


def test_other_workers_go_on_with_the_parts_that_are_there(here):
    """Whose threads are others: the number of parts is that of the attempt."""
    attempt(here, pack)
    workers = Workers()
    pack(here, here / "out.h5", workers=workers)
    assert workers.made == SHARDS - 2


@pytest.mark.parametrize(
    ("limits", "count"), [({"_max_workers": 3}, 12), ({"num_workers": 2}, 8), ({}, 16)]
)
def test_four_parts_for_each_thread(here, limits, count):
    workers = Workers()
    vars(workers).update(limits)
    pack(here, here / "out.h5", workers=workers)
    assert workers.made == count


class AutoExecutor:
    """As submitit's: its futures are not those of concurrent.futures."""

    def submit(self, function, *arguments):
        raise AssertionError("was asked")


@pytest.mark.parametrize(
    "workers", [AutoExecutor(), "tcp://127.0.0.1:8786", ThreadPoolExecutor, 4, [Workers()]]
)
@pytest.mark.parametrize("verb", [pack, embed, evaluate])
def test_executors_that_are_none(here, verb, workers):
    with pytest.raises(TypeError, match=r"loky, mpi4py.futures and Parsl.*dask-jobqueue"):
        verb(here, here / "out.h5", workers=workers, shards=SHARDS)
    assert not (here / "out.h5.shards").exists()


def test_a_study_refuses_them_too(tmp_path):
    with pytest.raises(TypeError, match=r"executor: .*found AutoExecutor.*loky"):
        engine.run_jobs([], tmp_path, executor=AutoExecutor())


def test_what_is_still_to_be_made(here):
    parts = [here / f"{k}.h5" for k in (2, 5, 6, 9)]
    for part in parts:
        pack(here, part, shard=f"{part.stem}/9")
    assert io.missing_shards(reversed(parts)) == ([1, 3, 4, 7, 8], 9)
    said = invoke("data", "merge", *parts, "--missing").output
    assert said == "5 of 9 shards are still to be made: 1,3-4,7-8\n"
    assert not list(here.glob("facebench*"))
    with pytest.raises(ValueError, match="shard 2 of 9 is there twice"):
        io.missing_shards([parts[0], parts[0]])
    pack(here, here / "other.h5", shard="1/4")
    with pytest.raises(facebench.Error, match=r"other.h5: is one of 4 shards.*2.h5 is one of 9"):
        io.missing_shards([parts[0], here / "other.h5"])
    with pytest.raises(facebench.Error, match=r"faces.h5: is not a shard"):
        io.missing_shards([here / "faces.h5"])
    embed(here, here / "e-1.h5", shard="1/2")
    assert io.missing_shards([here / "e-1.h5"]) == ([2], 2)
    embed(here, here / "e.h5")
    how = {"root": here / "faces", "shard": "3/3", "stored_scores": 20}
    protocols.evaluate_shard("folders", here / "e.h5", here / "tail.h5", **how)
    assert io.missing_shards([here / "tail.h5"]) == ([1, 2], 3)


def test_what_cannot_succeed_says_so_alone(here):
    embed(here, here / "e.h5")
    how = {"shards": SHARDS, "stored_scores": 10**6}
    with (
        ThreadPoolExecutor(1) as workers,
        pytest.raises(facebench.Error, match=r"nothing to share out") as error,
    ):
        evaluate(here, here / "run", workers=workers, **how)
    assert "run it again" not in str(error.value)
