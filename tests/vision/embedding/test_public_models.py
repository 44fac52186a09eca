"""Public models by name: found where people have them, prepared as the table says."""

import json
import warnings
from dataclasses import replace

import facebench
import numpy as np
import pytest
from command_line import invoke
from facebench import embedding, io
from facebench.embedding import _public_models
from lfw_like import lfw_like

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
RNG = np.random.default_rng(5)
FACES = RNG.integers(0, 256, (3, 112, 112, 3), np.uint8)
MATRIX = RNG.normal(size=(3, 8)).astype(np.float32)
PLAIN = embedding.ExtractOptions(flip="none", normalization="none")
ROWS = [row.name for row in _public_models.PUBLIC_MODELS]


def write_model(path, sides=(112, 112)):
    """Channel means times a matrix, as an ONNX file; its SHA-256."""
    h = onnx.helper
    nodes = [
        h.make_node("GlobalAveragePool", ["x"], ["pool"]),
        h.make_node("Flatten", ["pool"], ["flat"]),
        h.make_node("MatMul", ["flat", "m"], ["y"]),
    ]
    kind = onnx.TensorProto.FLOAT
    graph = h.make_graph(
        nodes,
        "g",
        [h.make_tensor_value_info("x", kind, ["N", 3, *sides])],
        [h.make_tensor_value_info("y", kind, ["N", 8])],
        [onnx.numpy_helper.from_array(MATRIX, "m")],
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 13)], ir_version=8), path)
    return io.sha256_file(path)


def by_hand(row):
    """What that network gives for pixels prepared as the table says."""
    pixels = FACES.astype(np.float64)[..., ::-1] if row.color == "bgr" else FACES.astype(np.float64)
    return ((pixels.mean((1, 2)) - row.mean) / row.std) @ MATRIX.astype(np.float64)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    for name in ("FACEBENCH_MODELS", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def known(monkeypatch):
    """Makes the table's hash of a name that of the test's own file."""

    def make(name, sha256):
        rows = [
            replace(r, sha256=sha256) if r.name == name else r for r in _public_models.PUBLIC_MODELS
        ]
        monkeypatch.setattr(_public_models, "PUBLIC_MODELS", rows)
        return _public_models.public_model(name)

    return make


def place_own(row, home, tmp_path, monkeypatch):
    monkeypatch.setenv("FACEBENCH_MODELS", str(tmp_path / "own"))
    return tmp_path / "own" / row.file


def place_by_name(row, home, tmp_path, monkeypatch):
    monkeypatch.setenv("FACEBENCH_MODELS", str(tmp_path / "own"))
    return tmp_path / "own" / f"{row.name}.onnx"


def place_pack(row, home, tmp_path, monkeypatch):
    return home / ".insightface" / "models" / row.packs[0] / row.file


def place_nested_pack(row, home, tmp_path, monkeypatch):
    return home / ".insightface" / "models" / row.packs[0] / row.packs[0] / row.file


def snapshot(root, row, revision="0123abcd"):
    repository, path = row.hub[0]
    return root / f"models--{repository.replace('/', '--')}" / "snapshots" / revision / path


def place_hub(row, home, tmp_path, monkeypatch):
    return snapshot(home / ".cache" / "huggingface" / "hub", row)


def place_hub_home(row, home, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    return snapshot(tmp_path / "hf" / "hub", row)


def place_hub_cache(row, home, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    return snapshot(tmp_path / "cache", row)


PLACES = [
    *(place_own, place_by_name, place_pack, place_nested_pack),
    *(place_hub, place_hub_home, place_hub_cache),
]


@pytest.mark.parametrize("place", PLACES)
def test_a_model_is_found_where_people_have_it(place, home, tmp_path, monkeypatch, known):
    path = place(_public_models.public_model("buffalo_l"), home, tmp_path, monkeypatch)
    row = known("buffalo_l", write_model(path))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        embedder = embedding.load_embedder("buffalo_l")
        rows = embedding.extract(embedder, FACES, PLAIN).values
    np.testing.assert_allclose(rows, by_hand(row), atol=1e-4)
    here = {r["name"]: r["here"] for r in embedding.list_models() if "here" in r}
    assert here["buffalo_l"] == str(path)
    assert embedder.assumed() == ""


@pytest.mark.parametrize("name", ROWS)
def test_each_name_is_prepared_as_its_row_says(name, home, tmp_path, monkeypatch, known):
    path = place_own(_public_models.public_model(name), home, tmp_path, monkeypatch)
    row = known(name, write_model(path))
    embedder = embedding.load_embedder(name)
    rows = embedding.extract(embedder, FACES, PLAIN).values
    np.testing.assert_allclose(rows, by_hand(row), atol=1e-3 if row.std == 1 else 1e-4)
    assert (embedder.flip, embedder._options.crop) == (row.flip, row.crop)
    assert embedder.description["public_model"] == {"name": name, "is_the_tables_file": True}


def test_another_file_is_taken_with_a_warning(home, tmp_path, monkeypatch):
    row = _public_models.public_model("buffalo_l")
    write_model(place_own(row, home, tmp_path, monkeypatch))
    with pytest.warns(UserWarning, match="is not the file that the table means by 'buffalo_l'"):
        embedder = embedding.load_embedder("buffalo_l")
    assert embedder.description["public_model"]["is_the_tables_file"] is False


def test_of_several_places_the_tables_file_is_taken(home, tmp_path, monkeypatch, known):
    row = _public_models.public_model("buffalo_l")
    place_own(row, home, tmp_path, monkeypatch).parent.mkdir()
    place_own(row, home, tmp_path, monkeypatch).write_bytes(b"\x08another")
    right = place_pack(row, home, tmp_path, monkeypatch)
    known("buffalo_l", write_model(right))
    assert embedding.load_embedder("buffalo_l")._file == str(right)


def test_main_is_the_snapshot_that_counts(home, tmp_path, monkeypatch):
    row = _public_models.public_model("auraface")
    root = home / ".cache" / "huggingface" / "hub"
    for revision in ("aaaa", "bbbb"):
        write_model(snapshot(root, row, revision))
    repository = root / "models--fal--AuraFace-v1"
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("bbbb")
    assert row.here() == snapshot(root, row, "bbbb")
    (repository / "refs" / "main").write_bytes(b"\xff\x00")
    assert row.here() == snapshot(root, row, "aaaa")


def test_what_is_stated_counts_before_the_table(home, tmp_path, monkeypatch, known):
    row = _public_models.public_model("buffalo_l")
    row = known("buffalo_l", write_model(place_own(row, home, tmp_path, monkeypatch)))
    embedder = embedding.load_embedder("buffalo_l", color="bgr", mean=100)
    rows = embedding.extract(embedder, FACES, PLAIN).values
    np.testing.assert_allclose(rows, by_hand(replace(row, color="bgr", mean=100)), atol=1e-4)


@pytest.mark.parametrize("name", ROWS)
def test_one_that_is_not_there_says_what_to_do(name):
    with pytest.raises(facebench.Error, match=r"is not on this machine\. .*FACEBENCH_MODELS") as e:
        embedding.load_embedder(name)
    assert "Nothing is downloaded" in str(e.value)
    row = _public_models.public_model(name)
    assert ("hf download" in str(e.value)) == bool(row.hub)


WRONG = {
    "Git LFS pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:4c06\nsize 17\n",
    "an HTML page": b"\n<!DOCTYPE html><html><title>Sign in</title>",
    "an empty file": b"",
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_file_that_is_no_model_is_named(kind, home, tmp_path, monkeypatch):
    path = place_pack(_public_models.public_model("buffalo_s"), home, tmp_path, monkeypatch)
    path.parent.mkdir(parents=True)
    path.write_bytes(WRONG[kind])
    with pytest.raises(facebench.Error, match=kind):
        embedding.load_embedder("buffalo_s")


def test_a_network_of_another_size_is_refused(home, tmp_path, monkeypatch):
    path = place_own(_public_models.public_model("sface"), home, tmp_path, monkeypatch)
    write_model(path, (160, 160))
    with (
        pytest.warns(UserWarning, match="not the file"),
        pytest.raises(ValueError, match="takes 160 x 160 pixels, and 'sface' 112 x 112"),
    ):
        embedding.load_embedder("sface")


def test_a_network_with_several_outputs_is_refused(home, tmp_path, monkeypatch):
    path = place_own(_public_models.public_model("buffalo_s"), home, tmp_path, monkeypatch)
    write_model(path)
    model = onnx.load(path)
    model.graph.output.append(onnx.helper.make_tensor_value_info("flat", 1, ["N", 3]))
    onnx.save(model, path)
    with (
        pytest.warns(UserWarning, match="not the file"),
        pytest.raises(ValueError, match="has several outputs, and 'buffalo_s' has one"),
    ):
        embedding.load_embedder("buffalo_s")
    with pytest.warns(UserWarning, match="not the file"):
        embedder = embedding.load_embedder("buffalo_s", output="flat")
    assert embedding.extract(embedder, FACES, PLAIN).values.shape == (3, 3)


def test_a_folder_that_is_none_is_said(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FACEBENCH_MODELS", str(tmp_path / "file"))
    with pytest.raises(facebench.Error, match=r"FACEBENCH_MODELS names .*file, which is not a"):
        embedding.load_embedder("buffalo_s")


def test_a_folder_below_home(home, monkeypatch, known):
    monkeypatch.setenv("FACEBENCH_MODELS", "~/models")
    known("buffalo_s", write_model(home / "models" / "buffalo_s" / "w600k_mbf.onnx"))
    assert embedding.load_embedder("buffalo_s")


def test_a_file_whose_name_says_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_model(tmp_path / "model")
    with pytest.raises(ValueError, match=r"'model' is a file whose name .*call it FILE\.onnx"):
        embedding.load_embedder("model")


def test_files_of_ones_own_folder_have_names(tmp_path, monkeypatch):
    monkeypatch.setenv("FACEBENCH_MODELS", str(tmp_path))
    embedding.make_model("small4", flip="sum").save(tmp_path / "mine.safetensors")
    (tmp_path / "notes.txt").write_text("")
    assert embedding.load_embedder("mine").options.flip == "sum"
    listed = [row["name"] for row in embedding.list_models()]
    assert "mine" in listed and "notes" not in listed
    monkeypatch.setenv("FACEBENCH_MODELS", str(tmp_path / "nowhere"))
    with pytest.raises(facebench.Error, match=r"FACEBENCH_MODELS names .*cannot be read"):
        embedding.list_models()


def test_a_name_that_is_nearly_one(monkeypatch):
    with pytest.raises(ValueError, match="did you mean 'buffalo_l'"):
        embedding.load_embedder("bufalo_l")


def test_rows_say_where_they_come_from():
    for row in _public_models.PUBLIC_MODELS:
        assert len(row.sha256) == 64 and set(row.sha256) <= set("0123456789abcdef")
        assert row.licence and row.origin and row.packs + row.hub + (row.file,)
        assert bool(row.published) == bool(row.source)
    assert len({row.name for row in _public_models.PUBLIC_MODELS}) == len(ROWS)


def test_convert_takes_a_name(home, tmp_path, monkeypatch, known):
    row = _public_models.public_model("adaface_ir18")
    row = known(row.name, write_model(place_own(row, home, tmp_path, monkeypatch)))
    model = embedding.convert(row.name, out=tmp_path / "m.safetensors")
    assert (model.options.color, model.options.crop) == ("bgr", "arcface112")
    np.testing.assert_allclose(
        embedding.extract(model, FACES, PLAIN).values, by_hand(row), atol=1e-4
    )


def test_the_command_line_takes_and_lists_names(home, tmp_path, monkeypatch, known):
    row = _public_models.public_model("buffalo_l")
    known("buffalo_l", write_model(place_own(row, home, tmp_path, monkeypatch)))
    rows = json.loads(invoke("list", "models", "--json").stdout)
    row = next(r for r in rows if r["name"] == "buffalo_l")
    assert row["preparation"] == {
        **{"mean": 127.5, "std": 127.5, "color": "rgb"},
        **{"flip": "none", "crop": "arcface112"},
    }
    lfw_like(tmp_path / "lfw")
    place = ("--root", tmp_path / "lfw", "--out", tmp_path / "run", "--detector", "none")
    done = invoke(
        *("run", "lfw", "--model", "buffalo_l", *place),
        *("--discard", "--quiet", "--interval", "none", "--no-cache"),
    )
    assert "does not say what its pixels are" not in done.output + done.stderr
    said = json.loads((tmp_path / "run" / "run.json").read_text())
    assert '"buffalo_l"' in json.dumps(said)
    missing = invoke(*("run", "lfw", "--model", "auraface", *place), code=1)
    assert "hf download fal/AuraFace-v1 glintr100.onnx" in missing.output + missing.stderr
