"""Shards of a pack, embedded apart and merged: the bytes of one process."""

import facebench
import numpy as np
import pytest
from command_line import invoke
from facebench import datasets, embedding
from noise_photographs import write_noise_photographs

pytestmark = pytest.mark.kernels

COUNT = 53


@pytest.fixture(scope="module")
def pack(tmp_path_factory):
    """Crops of noise; every fifth image cannot be read."""
    folder = tmp_path_factory.mktemp("shards")
    for path in write_noise_photographs(folder / "faces", COUNT, 32, ".png")[4::5]:
        path.write_bytes(b"no image")
    how = {"detector": "none", "crop_size": 32}
    facebench.pack("folder", folder / "faces", folder / "faces.h5", **how)
    return folder / "faces.h5"


def sum_of_the_batch(batch):
    """A model whose last bits depend on what it is given together."""
    features = batch.reshape(len(batch), -1)[:, :8].astype(np.float32)
    return features * np.float32(1 + 1e-6 * features.mean())


@pytest.mark.parametrize("ours", [True, False])
@pytest.mark.parametrize("count", [1, 2, 6])
def test_merged_shards_are_the_bytes_of_one_process(ours, count, pack, tmp_path):
    model = embedding.make_model("small4", height=32, width=32) if ours else sum_of_the_batch
    facebench.embed(model, pack, tmp_path / "whole.h5", flip="none")
    parts = [tmp_path / f"{k}.h5" for k in range(1, count + 1)]
    rows = 0
    for k, part in enumerate(parts, 1):
        shard = facebench.embed(model, pack, part, shard=f"{k}/{count}", flip="none")
        rows += len(shard)
        assert shard.manifest["shard"]["of"] == COUNT
    assert rows == COUNT
    embedding.merge_shards(reversed(parts) if count > 1 else parts, tmp_path / "merged.h5")
    assert (tmp_path / "merged.h5").read_bytes() == (tmp_path / "whole.h5").read_bytes()


def test_more_shards_than_batches_leave_some_empty(pack):
    model = embedding.make_model("small4", height=32, width=32)
    parts = [embedding.extract(model, datasets.Pack(pack), shard=f"{k}/20") for k in range(1, 21)]
    assert 0 in map(len, parts)
    whole = embedding.extract(model, datasets.Pack(pack))
    assert (embedding.merge_shards(parts).values == whole.values).all()
    empty = 1 + [len(part) for part in parts].index(0)
    with pytest.raises(facebench.Error, match="no image has a face"):  # nor a length of its own
        embedding.extract(sum_of_the_batch, datasets.Pack(pack), shard=f"{empty}/20")


def test_what_does_not_belong_together_is_refused(pack, tmp_path):
    pack = datasets.Pack(pack)
    model = embedding.make_model("small4", height=32, width=32)
    other = embedding.ExtractOptions(flip="sum")
    one, two, three = (embedding.extract(model, pack, shard=f"{k}/3") for k in (1, 2, 3))
    merge = embedding.merge_shards
    with pytest.raises(ValueError, match="missing: 2, 3 of 3"):
        merge([one])
    with pytest.raises(ValueError, match="shard 2 of 3 is there twice"):
        merge([one, two, two, three])
    with pytest.raises(ValueError, match="not a shard"):
        merge([one, two, embedding.extract(model, pack)])
    with pytest.raises(ValueError, match="shard 3 was computed by another model"):
        merge([one, two, embedding.extract(model, pack, other, shard="3/3")])
    with pytest.raises(ValueError, match="different wholes"):
        merge([one, two, embedding.extract(model, pack, shard="3/4")])
    with pytest.raises(ValueError, match="no shards"):
        merge([])
    for wrong in ("4/3", "0/3", "3", "a/b", "1/"):
        with pytest.raises(ValueError, match="NUMBER/COUNT"):
            embedding.extract(model, pack, shard=wrong)
    with pytest.raises(ValueError, match="not of an array"):
        embedding.extract(model, np.zeros((2, 32, 32, 3), np.uint8), shard="1/2")
    with pytest.raises(ValueError, match="pack it first"):
        facebench.embed(model, tmp_path, shard="1/2")


def test_on_the_invoke(pack, tmp_path):
    model = tmp_path / "m.safetensors"
    embedding.make_model("small4", height=32, width=32).save(model)
    for shard in ("1/2", "2/2"):
        invoke("embed", model, pack, "--shard", shard, "--out", tmp_path / shard[0])
    invoke("embed", model, pack, "--out", tmp_path / "whole.h5")
    parts = [tmp_path / "1", tmp_path / "2"]
    out = invoke("data", "merge", *parts, "--out", tmp_path / "all.h5")
    assert f"{COUNT} rows of 128 numbers out of 2 shards" in out.output
    assert (tmp_path / "all.h5").read_bytes() == (tmp_path / "whole.h5").read_bytes()
