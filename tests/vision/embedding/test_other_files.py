"""Files that are given as models and are something else are called what they are."""

import pickle
import zipfile

import numpy as np
import pytest
import torch
from command_line import invoke
from facebench import embedding
from facebench.core import Error
from facebench.core._other_files import other_kind

KERAS = {"config.json": "{}", "metadata.json": "{}", "model.weights.h5": "\x89HDF"}


def zipped(**files):
    def make(path):
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in files.items():
                archive.writestr(name, text)

    return make


def dump(path):
    path.write_bytes(pickle.dumps({"weight": np.zeros(3)}))


def script(path):
    torch.jit.save(torch.jit.trace(torch.nn.ReLU(), torch.zeros(1)), path)


def program(path):
    torch.export.save(torch.export.export(torch.nn.ReLU(), (torch.zeros(1, 2),)), path)


def bytes_of(data):
    return lambda path: path.write_bytes(data)


FILES = {
    "m.onnx": (bytes_of(b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n"), "Git LFS"),
    "lfs.pt": (bytes_of(b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n"), "git lfs"),
    "page.onnx": (bytes_of(b"\r\n<!DOCTYPE HTML>\n<html>"), "an HTML page"),
    "page.safetensors": (bytes_of(b"<html><body>Virus scan warning"), "an HTML page"),
    "bom.pth": (bytes_of(b"\xef\xbb\xbf<!doctype html>"), "an HTML page"),
    "model-0000.params": (bytes_of(b"\x12\x01" + bytes(22)), "mxnet's parameters.*writes"),
    "m.h5": (bytes_of(b"\x89HDF\r\n\x1a\n" + bytes(99)), "an HDF5 file.*as ONNX"),
    "m.keras": (zipped(**KERAS), "a model of Keras"),
    "m.tflite": (bytes_of(b"\x1c\0\0\0TFL3" + bytes(20)), "a TFLite model"),
    "m.engine": (bytes_of(b"ptrt" + bytes(20)), "an engine of TensorRT"),
    "m.param": (bytes_of(b"7767517\n75 83\nInput data 0 1"), "a network of ncnn"),
    "m.xml": (bytes_of(b'<?xml version="1.0"?><net name="m">'), "OpenVINO"),
    "m.pkl": (dump, "a pickle.*programs"),
    "script.pt": (script, r"a TorchScript file.*torch\.jit\.load"),
    "program.pt2": (program, r"torch\.export.*\.module\(\)"),
    "m.zip": (zipped(**{"models/m.onnx": "x"}), r"unpack it, it holds models/m\.onnx"),
    "cut.pt": (bytes_of(b"PK\3\4" + bytes(50)), "a damaged zip file"),
    "m.onnx.gz": (bytes_of(b"\x1f\x8b\x08" + bytes(20)), "a gzip file"),
    "empty.onnx": (bytes_of(b""), "an empty file"),
    "empty.safetensors": (bytes_of(b""), "an empty file"),
    "photo.onnx": (bytes_of(b"\xff\xd8\xff\xe0" + bytes(20)), "a picture"),
    "error.onnx": (bytes_of(b'{"error": "not found"}'), "a JSON text"),
}


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
@pytest.mark.parametrize("name", FILES)
def test_what_a_file_is_stands_in_the_message(name, tmp_path):
    make, text = FILES[name]
    make(tmp_path / name)
    with pytest.raises(Error, match=rf"{name}: is .*{text}"):
        embedding.load_embedder(tmp_path / name)
    done = invoke("embed", tmp_path / name, tmp_path, "--out", tmp_path / "e.h5", code=1)
    assert "\x1b" not in done.output + done.stderr
    assert f"{name}: is" in done.output + done.stderr


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
@pytest.mark.parametrize("name", [n for n in FILES if not n.endswith(".onnx")])
def test_convert_says_it_too(name, tmp_path):
    make, text = FILES[name]
    make(tmp_path / name)
    with pytest.raises(Error, match=text):
        embedding.convert(tmp_path / name, network="small4")


def test_files_of_ours_and_of_torch_are_none_of_these(tmp_path):
    embedding.make_model("small4").save(tmp_path / "m.safetensors")
    assert other_kind(tmp_path / "m.safetensors")[0] == "a safetensors file"
    state = {"weight": torch.zeros(2)}
    torch.save(state, tmp_path / "new.pt")
    torch.save(state, tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    for name in ("new.pt", "old.pt"):
        assert other_kind(tmp_path / name)[0] == "a checkpoint of PyTorch"
        with pytest.raises(ValueError, match="holds weights, and no model says"):
            embedding.load_embedder(tmp_path / name)
    (tmp_path / "unknown").write_bytes(b"\x08\x07\x12\x04")
    assert other_kind(tmp_path / "unknown") == ("", "")
