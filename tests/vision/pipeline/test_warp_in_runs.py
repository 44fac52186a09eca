"""The warp's rule, and OpenCV's version where it decides pixels, in packs, manifests and verify."""

import json

import facebench
import numpy as np
import pytest
from command_line import invoke
from facebench import crops, datasets, detection, io
from lfw_like import lfw_like


def colours(batch):
    return batch[:, ::16, ::16].reshape(len(batch), -1).astype(np.float32)


@pytest.fixture(scope="module")
def faces(tmp_path_factory):
    """Photographs, and a table of faces with landmarks, which move from one to the next."""
    folder = tmp_path_factory.mktemp("warp")
    root = lfw_like(folder / "faces", images=2, size=96)
    names = [sample.id for sample in datasets.read_dataset("lfw", root).samples]
    points = np.array([[36, 40], [60, 38], [49, 55], [39, 68], [58, 66]])
    parts = ("left_eye", "right_eye", "nose", "left_mouth", "right_mouth")
    rows = ["name,x0,y0,x1,y1," + ",".join(f"{part}_{a}" for part in parts for a in "xy")]
    for i, name in enumerate(names):
        moved = (points + np.array([i % 7 / 3, i % 5 / 4])).ravel()
        rows.append(f"{name},25,22,72,80," + ",".join(f"{v:.3f}" for v in moved))
    return root, folder, "\n".join(rows) + "\n"


def content(folder):
    return json.loads((folder / "run.json").read_text())


def again(folder):
    (check,) = (
        c
        for c in facebench.verify(folder, again=5, model=colours).checks
        if c["name"] == "crops and embeddings from the images"
    )
    return check


def test_a_run_takes_the_rule_records_it_and_is_made_again_with_it(faces, tmp_path):
    root, _, _ = faces
    how = {"root": root, "interval": "none", "cache": tmp_path / "cache"}
    for rule, options in {"opencv4": {}, "exact": {"warp": "exact"}}.items():
        out = tmp_path / rule
        facebench.run("lfw", model=colours, out=out, **how, **options)
        said = content(out)
        assert said["content"]["preparation"]["crop"]["warp"] == rule
        decided = said["content"]["preparation"]["decided_by"].get("warp")
        assert decided == ("caller" if options else None)
        assert said["circumstance"]["opencv"].count(".") == 2
        assert said["circumstance"]["cache"]["pack"] is False  # nor that of the other rule
        assert datasets.Pack(out / "pack.h5").manifest["crop"]["warp"] == rule
        assert again(out)["same"] is True, again(out)
    one, other = (datasets.Pack(tmp_path / rule / "pack.h5") for rule in ("opencv4", "exact"))
    found = [i for i, status in enumerate(one.statuses) if status == 0]
    assert found
    assert any((one.images[i] != other.images[i]).any() for i in found)


def test_a_run_that_does_not_say_its_warp_is_compared_by_its_crops(faces, tmp_path):
    root, _, _ = faces
    facebench.run("lfw", model=colours, out=tmp_path / "run", root=root, interval="none")
    from facebench.verbs import _recorded

    said = content(tmp_path / "run")["content"]
    manifest = datasets.Pack(tmp_path / "run" / "pack.h5").manifest
    embedded = io.read_embeddings(tmp_path / "run" / "embeddings.h5").manifest
    other = _recorded.other_statements
    assert other(said, embedded, manifest, None) == []
    del said["preparation"]["crop"]["warp"]  # as runs of before have it
    assert other(said, embedded, manifest, None) == []
    assert _recorded.preparation(said)["warp"] is None
    said["preparation"]["crop"]["warp"] = "exact"
    assert other(said, embedded, manifest, None) == ["preparation/crop/warp"]
    said["preparation"]["crop"]["warp"] = "opencv4"
    said["preparation"]["opencv"] = "5.0.0"
    assert other(said, embedded, manifest, None) == ["preparation/opencv"]


def test_opencvs_version_stands_where_it_decides_pixels(faces, tmp_path):
    root, _, _ = faces
    data = datasets.read_dataset("lfw", root)

    def manifest(detector, **crop):
        found = None if detector is None else detection.make_detector("mtcnn", mode=detector)
        datasets.pack_dataset(
            data, tmp_path / "p.h5", detector=found, crop=crops.CropOptions(**crop)
        )
        return datasets.Pack(tmp_path / "p.h5").manifest

    assert "opencv" in manifest(None, name="paper", interpolation="bicubic")
    assert "opencv" not in manifest(None, name="paper")
    matlab = manifest("matlab", name="arcface112")
    assert matlab["detector"]["opencv"].count(".") == 2 and "opencv" not in matlab
    assert "opencv" not in manifest("facenet", name="arcface112")["detector"]


def test_the_commands_take_it(faces, tmp_path):
    root, folder, table = faces
    (folder / "faces.csv").write_text(table)
    for rule in ("opencv4", "exact"):
        invoke(
            *("pack", "lfw", "--root", root, "--detector", "given", "--detector-option"),
            *(f"file={folder / 'faces.csv'}", "--warp", rule, "--out", tmp_path / f"{rule}.h5"),
        )
    one, other = (datasets.Pack(tmp_path / f"{rule}.h5") for rule in ("opencv4", "exact"))
    assert one.manifest["crop"]["warp"] == "opencv4" and other.manifest["crop"]["warp"] == "exact"
    assert 0 < np.abs(one.images[:].astype(int) - other.images[:]).max() < 30
    failed = invoke(
        *("pack", "lfw", "--root", root, "--crop", "paper", "--warp", "exact"),
        *("--out", tmp_path / "no.h5"),
        code=2,
    )
    assert "crop paper is not warped: it takes no warp" in failed.output
