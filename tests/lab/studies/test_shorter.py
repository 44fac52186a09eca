"""Suites as studies, and the names of their models."""

import pytest
from facebench.lab.studies.shorter import suite_study


@pytest.mark.parametrize(
    ("models", "names"),
    [
        (["a/face.onnx", "b/face.onnx"], ["a, face", "b, face"]),
        (["a/face.onnx", "b/other.onnx"], ["face", "other"]),
        (["r/x/model.safetensors", "s/x/model.safetensors"], ["r, x", "s, x"]),
        (["r/x/model.safetensors", "r/x/best.safetensors"], ["x, model", "x, best"]),
        (["r/a/1/m.onnx", "r/b/1/m.onnx", "c.onnx"], ["a, m", "b, m", "c"]),
        (["m:f", "m:g"], ["m:f", "m:g"]),
    ],
)
def test_models_of_one_name_are_called_by_what_differs(models, names):
    rows = suite_study(models=models, sets={"lfw": "LFW"}).tables[0].rows
    assert [row["name"] for row in rows] == names


def test_models_of_a_file_are_called_by_the_settings_that_differ(tmp_path):
    text = "".join(f'[[models]]\nmodel = "m.onnx"\ncrop = "{crop}"\nflip = "sum"\n'
                   for crop in ("paper", "arcface112"))  # fmt: skip
    (tmp_path / "s.toml").write_text(text + '[[sets]]\nprotocol = "lfw"\nroot = "LFW"\n')
    rows = suite_study(tmp_path / "s.toml").tables[0].rows
    assert [row["name"] for row in rows] == ["m, paper", "m, arcface112"]
    with pytest.raises(ValueError, match="two models have one name"):
        suite_study(models=["a/m.onnx", "a/m.onnx"], sets={"lfw": "LFW"})
