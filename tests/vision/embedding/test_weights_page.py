"""The conversions of docs/weights.md, on random weights of the same names and shapes."""

import re
import shlex
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("facebench._full")

import torch
from click.testing import CliRunner
from facebench import embedding, nn
from facebench.cli.app import app
from facebench.cli.common import parse_assignments

PAGE = Path(__file__).resolve().parents[3] / "docs/weights.md"
COMMANDS = re.findall(r"^    facebench convert (.*)$", PAGE.read_text(), re.MULTILINE)


def parsed(command):
    words = shlex.split(command)
    settings = [words[i + 1] for i, word in enumerate(words) if word == "--set"]
    return words[words.index("--network") + 1], parse_assignments(settings)


def test_the_page_has_its_commands():
    networks = [parsed(command)[0] for command in COMMANDS]
    assert networks == ["mobilefacenet", "iresnet50", "ir_se50", "inception_resnet_v1"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_conversion_of_the_page_keeps_the_network_and_says_its_pixels(command, tmp_path):
    network, settings = parsed(command)
    torch.manual_seed(3)
    made = nn.build_network(network).eval()
    torch.save(made.state_dict(), tmp_path / "weights.pt")
    words = shlex.split(command)
    words[0] = str(tmp_path / "weights.pt")
    words[words.index("--out") + 1] = str(tmp_path / "m.safetensors")
    result = CliRunner().invoke(app, ["convert", *words])
    assert result.exit_code == 0, result.output
    model = embedding.load_model(tmp_path / "m.safetensors")
    said = model.description()["options"]
    for name, value in settings.items():
        assert said[name] in (value, [value]), name
    written = model.weights.state_dict()
    assert all(torch.equal(written[name], value) for name, value in made.state_dict().items())
