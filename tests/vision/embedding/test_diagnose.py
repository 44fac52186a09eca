"""Models with a planted wrong preparation, which diagnose must find, and what it says of a run."""

import json
from types import SimpleNamespace

import cv2
import facebench
import numpy as np
import pytest
import torch
from click.testing import CliRunner
from facebench import detection
from facebench.cli.app import app
from facebench.lab.diagnosis import settings
from facebench.lab.diagnosis.development import Pairs
from facebench.lab.diagnosis.search import Search

SIDE = 112
RIGHT = settings.Scale((0.0,), (255.0,))


def write_people(folder, noise=0.2, channels=(0, 1), symmetric=False, place=None):
    """Folders of people. A person is 8x8 signs; an image has the product of two channels in each
    cell equal to them but for noise. So no channel alone, and no sum of channels, tells people
    apart."""
    random = np.random.default_rng(5)
    for person in range(40):
        code = random.choice([-1, 1], (8, 8))
        if symmetric:
            code[:, 4:] = code[:, 3::-1]
        for number in range(3):
            first = random.choice([-1, 1], (8, 8))
            wrong = np.where(random.random((8, 8)) < noise, -1, 1)
            cells = 128 + 60 * random.choice([-1, 1], (8, 8, 3))
            cells[..., channels[0]] = 128 + 60 * first
            cells[..., channels[1]] = 128 + 60 * first * code * wrong
            image = cells.astype(np.uint8).repeat(SIDE // 8, 0).repeat(SIDE // 8, 1)
            if place is not None:
                image = place(f"p{person:02}/{number}.png", image, random)
            (folder / f"p{person:02}").mkdir(exist_ok=True, parents=True)
            cv2.imwrite(str(folder / f"p{person:02}/{number}.png"), image[..., ::-1])
    return folder


class Network(torch.nn.Module):
    """Reads the signs from red and green in [0, 1]; `cells`: columns that it looks at."""

    def __init__(self, middle=0.5, cells=8):
        super().__init__()
        self.middle, self.cells = middle, cells

    def forward(self, x):
        if x.shape[2:] != (SIDE, SIDE):
            raise ValueError(f"{SIDE}x{SIDE} is wanted")
        x = torch.sign(torch.nn.functional.avg_pool2d(x, SIDE // 8) - self.middle)
        return (x[:, 0] * x[:, 1])[..., : self.cells].flatten(1)


class Centred(Network):
    """The same for values around zero, of any scale, so that no scale is wrong."""

    def __init__(self, **options):
        super().__init__(0.0, **options)


def diagnose(model, root, **options):
    return facebench.diagnose(
        model, "folders", root=root, limit=150, **({"detector": "none"} | options)
    )


def test_finds_the_order_of_colours(tmp_path):
    found = diagnose(Centred(), write_people(tmp_path, channels=(1, 2)))
    assert found.verdict == "another setting"
    assert found.best["setting"]["color"] == "bgr"
    assert [w["factor"] for w in found.wrong] == ["colour"]
    assert found.wrong[0]["behind_interval"][0] > 0
    assert "--set color=bgr" in found.commands[0]
    assert "160x160" in found.refused
    assert "not a result" in repr(found)


def test_finds_the_scale_of_pixels(tmp_path):
    found = diagnose(Network(), write_people(tmp_path))
    assert found.verdict == "another setting"
    assert (found.best["setting"]["mean"], found.best["setting"]["std"]) == ([0.0], [255.0])
    assert "--set mean=0 --set std=255" in found.commands[0]
    given = found.given
    assert given["setting"]["mean"] == [127.5] and not given["equal"]


def test_finds_the_mirror_image(tmp_path):
    found = diagnose(Centred(cells=4), write_people(tmp_path, 0.3, symmetric=True))
    assert found.best["setting"]["flip"] != "none"
    assert [w["factor"] for w in found.wrong] == ["flip"]
    # Scales that change nothing were tried with the mirror image too.
    same = [t for t in found.tried if t["equal"] and t["setting"]["flip"] != "none"]
    assert {tuple(t["setting"]["std"]) for t in same} >= {(127.5,), (255.0,)}


def test_finds_the_crop(tmp_path):
    lines = [detection.face_csv_header()]

    def place(name, image, random):
        """Somewhere in a photograph, its box as `paper` enlarges it, landmarks elsewhere."""
        x, y = random.integers(0, 60, 2)
        photograph = random.integers(0, 255, (180, 180, 3), np.uint8)
        photograph[y : y + SIDE, x : x + SIDE] = image
        template = [(38, 52), (74, 52), (56, 72), (42, 92), (71, 92)]
        points = [[a + random.integers(0, 60), b + random.integers(0, 60)] for a, b in template]
        face = detection.Face([x + 13, y + 13, x + 99, y + 99], 1.0, points)
        lines.append(detection.face_csv_record(name, face))
        return photograph

    root = write_people(tmp_path / "images", place=place)
    (tmp_path / "faces.csv").write_text("".join(lines))
    options = {"detector": "given", "detector_options": [f"file={tmp_path / 'faces.csv'}"]}
    found = diagnose(Centred(), root, **options)
    assert found.verdict == "another setting"
    assert found.best["setting"]["crop"] == "paper"
    assert found.given["setting"]["crop"] == "arcface112"
    assert {row["setting"]["crop"] for row in found.tried} == set(settings.CROPS)
    assert "--detector given --crop paper" in found.commands[0]


class Planted:
    """A development part whose scores are those of one right pair of values, or of weak ones."""

    cropped_already = True

    def __init__(self, **right):
        random = np.random.default_rng(3)
        genuine, count = np.tile([1, 0], 150), 300
        self.right, self.noise = right, random.normal(size=(2, count))
        people = np.arange(2 * count).reshape(count, 2)
        images = [str(i) for i in range(2 * count)]
        self.pairs = Pairs(images, *people.T, genuine, people)
        self.network = SimpleNamespace(own_arithmetic=False, gray=False)

    def crops(self):
        return (settings.WHOLE,)

    def scores(self, setting, count):
        right = all(getattr(setting, factor) == value for factor, value in self.right.items())
        return ((4 if right else 1) * self.pairs.genuine + self.noise[0])[:count]

    def pixel_scores(self, count):
        yield self.noise[1, :count]


def test_finds_two_at_once():
    right = {"color": "bgr", "scale": RIGHT}  # either alone changes nothing
    given = settings.Setting("whole", (112, 112), "rgb", settings.SCALES[0])
    search = Search(Planted(**right), given, ((112, 112),))
    best = search.run()
    assert (best.setting, best.tried) == (given.but(**right), "scale and color")
    assert [factor for factor, _ in search.costs(best)] == ["color", "scale"]


def test_what_is_right_stays(tmp_path):
    network = torch.nn.Sequential(Centred())
    found = diagnose(network, write_people(tmp_path))
    assert (found.verdict, found.wrong) == ("as given", [])
    assert found.best["setting"] == found.given["setting"]
    assert any("does not say its" in note for note in found.notes)


def test_an_untrained_network(tmp_path):
    torch.manual_seed(1)
    layers = [torch.nn.Conv2d(3, 8, 7, 4), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(4)]
    network = torch.nn.Sequential(*layers, torch.nn.Flatten(), torch.nn.Linear(128, 32))
    found = diagnose(network.eval(), write_people(tmp_path))
    assert (found.verdict, found.commands) == ("near chance", [])
    assert "untrained" in repr(found)
    # No pairs of factors, and no second look at all of them.
    assert not any(" and " in t["tried"] for t in found.tried)


def test_a_function_does_its_own_arithmetic(tmp_path):
    def embed(crops):
        signs = np.sign(crops.reshape(len(crops), 8, SIDE // 8, 8, SIDE // 8, 3).mean((2, 4)) - 128)
        return (signs[..., 0] * signs[..., 1]).reshape(len(crops), -1)

    def only_its_size(crops):
        if crops.shape[1:3] != (SIDE, SIDE):
            raise ValueError("another size is wanted")
        return embed(crops)

    found = diagnose(only_its_size, write_people(tmp_path, channels=(2, 1)))
    assert found.best["setting"]["color"] == "bgr"
    assert "mean" not in found.best["setting"]
    assert any("red first" in note for note in found.notes)


def test_refuses_what_is_reported(tmp_path):
    with pytest.raises(ValueError, match=r"cfp_fp has no part for choosing.*--limit 500"):
        facebench.diagnose(Network(), "cfp_fp", root=tmp_path)
    with pytest.raises(ValueError, match="a run folder in place of a model"):
        facebench.diagnose(Network())
    for value, name in enumerate(("one/1.png", "one/2.png", "two/1.png")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        cv2.imwrite(str(tmp_path / name), np.full((8, 8, 3), value, np.uint8))
    with pytest.raises(facebench.Error, match="10 of each are the least"):
        diagnose(Network(), tmp_path)


def test_a_run_that_is_suspicious(tmp_path):
    root = write_people(tmp_path / "images")

    def broken(crops):
        return np.ones((len(crops), 4), np.float32)

    run = tmp_path / "run"
    facebench.run("folders", model=broken, root=root, out=run, detector="none")
    signs = {one["sign"] for one in facebench.diagnose(run).found}
    assert "Scores all alike" in signs
    answer = CliRunner().invoke(app, ["diagnose", str(run), "--json"])
    assert answer.exit_code == 0
    assert {one["sign"] for one in json.loads(answer.output)["found"]} == signs
