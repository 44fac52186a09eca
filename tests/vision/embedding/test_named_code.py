"""A text that names code is ``module:function`` and nothing else; nothing else is imported."""

import sys

import pytest
from command_line import invoke
from facebench import embedding
from facebench.core import _named_code

REFUSED = [
    *("hf://org/model", "hf:/org/model", "hf://model.onnx", "hf://org/model.safetensors"),
    *("hf.co/org/model:main", "hf:org/model", "hf:", ":model", "hf::model", "hf:model:model"),
    *("hf:class", "None:model", "hf.:model", ".hf:model", "hf..hf:model", "./hf:model"),
    *("hf:model()", "hf:1", "hf: model", "hf :model", "hf:model\n", "hf:a-b", "hf:model.model"),
    *("C:\\models\\face", "C:/models/face", "file:///hf", "hf\\x:model", "hf", "hf[a]:model"),
]


@pytest.fixture
def evil(tmp_path, monkeypatch):
    """Modules that write a file where they are imported, and that file."""
    ran = tmp_path / "ran"
    for name in ("hf", "C", "file", "model"):
        code = f"open({str(ran)!r}, 'w').close()\ndef model(images): return images\n"
        (tmp_path / f"{name}.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield ran
    for name in ("hf", "C", "file", "model"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("text", REFUSED)
def test_what_names_no_function_is_not_imported(text, evil):
    with pytest.raises(ValueError, match=r"FILE\.safetensors, FILE\.onnx, module:function"):
        embedding.load_embedder(text)
    assert not evil.exists()


def test_a_function_is_imported(evil):
    assert embedding.load_embedder("hf:model")(4) == 4
    assert evil.exists()
    with pytest.raises(ValueError, match="no attribute 'missing'"):
        embedding.load_embedder("hf:missing")


def test_the_command_line_says_what_to_do(evil):
    done = invoke("embed", "hf://org/model", "pack.h5", "--out", "e.h5", code=2)
    assert "addresses are not read: download the file" in done.output + done.stderr
    assert not evil.exists()


def test_names_against_the_compiler():
    """An identifier is what Python compiles as one."""
    for text in ("a:b", "a.b:c", "_:_", "a:b.c", "a:1", "if:b", "a:", "a b:c", "é:ü", "a:b;c"):
        module, _, name = text.partition(":")
        try:
            compile(f"from {module} import {name} as x", "", "exec")
            compiles = "." not in name
        except SyntaxError:
            compiles = False
        assert _named_code.is_named_function(text) == compiles, text
