"""Files that are not what their names say, told by their first bytes and by what they hold."""

import re
import zipfile
from collections.abc import Callable

from facebench._eval import Error
from facebench.core._arguments import brief
from facebench.core._files import open_file

_HEAD = 512  # bytes that are looked at

_CONVERT = "export the network as ONNX, or give a function around it (--model module:function)"


def _begins(*starts: bytes) -> Callable[[bytes], bool]:
    return lambda head: head.startswith(starts)


def _is_page(head: bytes) -> bool:
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return text.startswith((b"<!doctype html", b"<html", b"<head", b"<body"))


def _is_safetensors(head: bytes) -> bool:
    return len(head) > 9 and head[8:9] == b"{" and b"\0\0" in head[4:8]


def _is_before_zip(head: bytes) -> bool:
    """torch's format before 1.6 begins with a pickle of this number, 0x1950a86a20f9469cfc6c."""
    return bytes.fromhex("6cfc9c46f9206aa85019") in head[:24]


# What a file is, how that is seen, what to do. The first that fits.
_KINDS: list[tuple[str, Callable[[bytes], bool], str]] = [
    ("an empty file", lambda head: not head, "fetch it again"),
    (
        "a Git LFS pointer, a few lines that name the file",
        _begins(b"version https://git-lfs.github.com/spec/"),
        "git lfs pull fetches the file itself",
    ),
    (
        "an HTML page",
        _is_page,
        "a download ended on a page (a login, a confirmation, an error): fetch the file itself",
    ),
    ("a JSON text", _begins(b'{"', b"{\n", b'[{"'), "give the file of the weights"),
    ("an XML text", _begins(b"<?xml", b"<net "), f"of OpenVINO's IR, {_CONVERT}"),
    ("a PDF", _begins(b"%PDF"), "give the file of the weights"),
    ("a gzip file", _begins(b"\x1f\x8b"), "gunzip it, or tar -xzf where it is an archive"),
    ("an xz file", _begins(b"\xfd7zXZ"), "unxz it"),
    ("a 7z archive", _begins(b"7z\xbc\xaf\x27\x1c"), "unpack it"),
    ("a RAR archive", _begins(b"Rar!"), "unpack it"),
    ("an HDF5 file", _begins(b"\x89HDF"), f"weights of Keras are in such files: {_CONVERT}"),
    ("a TFLite model", lambda head: head[4:8] == b"TFL3", _CONVERT),
    (
        "a file of mxnet's parameters",
        _begins(b"\x12\x01\0\0\0\0\0\0"),
        "mxnet.contrib.onnx.export_model (or mx.onnx) writes the network as ONNX",
    ),
    ("a network of ncnn", _begins(b"7767517"), _CONVERT),
    ("an engine of TensorRT", _begins(b"ptrt", b"ftrt"), "give the ONNX file that it was built of"),
    ("a numpy file", _begins(b"\x93NUMPY"), "give the file of the weights"),
    (
        "a checkpoint of PyTorch",
        _is_before_zip,
        "facebench convert FILE --network NAME makes a model of it",
    ),
    ("a pickle", _begins(*(bytes([0x80, version]) for version in (2, 3, 4, 5))),
     "pickles are programs and are not read: write it with torch.save, or as safetensors"),
    ("a safetensors file", _is_safetensors, "name it FILE.safetensors"),
    ("a picture", _begins(b"\xff\xd8\xff", b"\x89PNG", b"GIF8"), "give the file of the weights"),
]  # fmt: skip


def _of_zip(path) -> tuple[str, str]:
    """What a zip file holds: TorchScript, a program of torch.export, a checkpoint, Keras."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile, ValueError):
        return "a damaged zip file", "fetch it again"

    def has(pattern: str) -> bool:
        return any(re.search(pattern, name) for name in names)

    if has(r"^[^/]+/constants\.pkl$") and has(r"^[^/]+/code/"):
        return "a TorchScript file", (
            "give what it loads to: facebench.run(..., model=torch.jit.load(FILE)); or a function "
            "around it (--model module:function)"
        )
    if has(r"(^|/)serialized_exported_program\.json$|(^|/)models/[^/]+\.json$"):
        return "a program of torch.export", (
            "give its module: facebench.run(..., model=torch.export.load(FILE).module()); or a "
            "function around it (--model module:function)"
        )
    if has(r"^[^/]+/data\.pkl$"):
        return (
            "a checkpoint of PyTorch",
            "facebench convert FILE --network NAME makes a model of it",
        )
    if has(r"^config\.json$") and has(r"\.weights\.h5$"):
        return "a model of Keras", _CONVERT
    if has(r"\.npy$"):
        return "an npz file of numpy", "give the file of the weights"
    onnx = [name for name in names if name.endswith(".onnx")]
    return "a zip file", f"unpack it{', it holds ' + brief(onnx[0]) if onnx else ''}"


def other_kind(path) -> tuple[str, str]:
    """What a file is, and what to do with it, where its content is of a known kind; ("", "") where
    it is not, as an ONNX file's is not. facebench.Error where it cannot be read."""
    with open_file(path) as file:
        head = file.read(_HEAD)
    if head.startswith(b"PK\3\4"):
        return _of_zip(path)
    for kind, fits, advice in _KINDS:
        if fits(head):
            return kind, advice
    return "", ""


def refuse_other(path, expected: str, but: tuple[str, ...] = ()) -> None:
    """facebench.Error, which says what it is, where a file is of another kind than ``expected``;
    ``but``: the kinds that are."""
    kind, advice = other_kind(path)
    if kind and kind not in but:
        raise Error(f"{brief(path)}: is {kind}, not {expected}: {advice}")
