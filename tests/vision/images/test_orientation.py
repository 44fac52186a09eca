"""Exif's orientation tag: read from every format that has one, counted, and followed when asked.

Pillow's exif_transpose is the reference for what a tag means."""

import io
import json
import struct
import warnings

import numpy as np
import pytest

Image = pytest.importorskip("PIL.Image")
pytest.importorskip("torch")
import facebench  # noqa: E402
from click.testing import CliRunner  # noqa: E402
from facebench import detection, images  # noqa: E402
from facebench.cli.app import app  # noqa: E402
from PIL import ImageOps  # noqa: E402


def gradient(height=16, width=24):
    y, x = np.mgrid[:height, :width]
    return np.stack([x * 255 // width, y * 255 // height, (x + y) % 256], -1).astype(np.uint8)


def saved(array, kind, orientation=None, **options):
    out = io.BytesIO()
    if orientation is not None:
        exif = Image.Exif()
        exif[0x0112] = orientation
        options["exif"] = exif
    Image.fromarray(array).save(out, kind, **options)
    return out.getvalue()


def block(kind=3, count=1, value=6, big=False, tag=0x0112):
    """Exif data of one entry."""
    end = ">" if big else "<"
    number = struct.pack(end + {1: "B", 3: "H", 4: "I"}.get(kind, "I"), value)
    entry = struct.pack(f"{end}HHI", tag, kind, count) + number + bytes(4 - len(number))
    return (b"MM\0*\0\0\0\x08" if big else b"II*\0\x08\0\0\0") + struct.pack(end + "H", 1) + entry


def with_exif(body, head=b"Exif\0\0"):
    plain = saved(gradient(), "JPEG", quality=95)
    exif = head + body
    return plain[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + plain[2:]


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_the_tag_of_every_format(kind, orientation):
    options = {"JPEG": {"quality": 95}, "WEBP": {"lossless": True}}.get(kind, {})
    data = saved(gradient(), kind, orientation, **options)
    plain = np.asarray(Image.open(io.BytesIO(data)))
    turned = np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(data))))
    assert images.exif_orientation(data) == orientation
    np.testing.assert_array_equal(images.decode(data), plain)
    np.testing.assert_array_equal(images.decode(data, exif_orientation=True), turned)


def test_the_tag_of_a_tiff_file_is_its_own():
    data = saved(gradient(), "TIFF", tiffinfo={274: 6})
    assert images.exif_orientation(data) == 6
    np.testing.assert_array_equal(images.decode(data), gradient())
    np.testing.assert_array_equal(
        images.decode(data, exif_orientation=True), np.rot90(gradient(), -1)
    )


def test_odd_tags():
    for big in (False, True):
        for kind in (1, 3, 4):  # BYTE and LONG: programs write them all the same
            assert images.exif_orientation(with_exif(block(kind, big=big))) == 6
        for kind, count in ((2, 1), (5, 1), (3, 0), (3, 2), (3, 1 << 31), (7, 1), (0, 1), (99, 1)):
            assert images.exif_orientation(with_exif(block(kind, count, big=big))) == 1
        for value in (0, 9, 255, 65535):
            assert images.exif_orientation(with_exif(block(value=value, big=big))) == 1
        whole = block(big=big)
        for length in range(len(whole)):
            assert images.exif_orientation(with_exif(whole[:length])) == 1
        assert images.exif_orientation(with_exif(block(big=big, tag=0x0111))) == 1
    assert images.exif_orientation(with_exif(block(), b"Exif\1\0")) == 1
    far = b"II*\0" + struct.pack("<I", 1 << 31) + block()[8:]
    assert images.exif_orientation(with_exif(far)) == 1
    # The first of two counts, as in Pillow; behind the coded data there is none.
    two = with_exif(block(value=3))
    exif = b"Exif\0\0" + block(value=6)
    two = two[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + two[2:]
    assert images.exif_orientation(two) == 6
    plain = saved(gradient(), "JPEG")
    assert images.exif_orientation(plain + with_exif(block())) == 1
    png = saved(gradient(), "PNG", 6)
    for length in range(8, len(png), 7):
        assert images.exif_orientation(png[:length]) in (1, 6)
    for other in (b"", b"no image", b"P5 1 1 255\n\0", saved(gradient(), "BMP")):
        assert images.exif_orientation(other) == 1


@pytest.fixture(scope="module")
def photographs(tmp_path_factory):
    """Six files of which three ask to be turned; stored as they should look, and as cameras do."""
    root = tmp_path_factory.mktemp("photographs")
    for k in range(6):
        upright = np.roll(gradient(40, 60), 9 * (k // 2), 1)
        images.write(root / "straight" / f"p{k // 2}" / f"{k % 2}.png", upright)
        stored, tag = (np.rot90(upright), 6) if k % 2 else (upright, None)
        path = root / "turned" / f"p{k // 2}" / f"{k % 2}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(saved(np.ascontiguousarray(stored), "PNG", tag))
    return root


def shrunk(batch):
    return batch[:, ::8, ::8].reshape(len(batch), -1).astype(np.float32)


def test_compare_turns_photographs_and_says_so(photographs):
    straight, turned = (photographs / k / "p0" / "1.png" for k in ("straight", "turned"))
    how = {"model": shrunk, "detector": "none", "mean": 0, "std": 1, "color": "rgb"}
    found = facebench.compare(straight, turned, **how)
    assert found.score == pytest.approx(1, abs=1e-6) and found.turned == 1
    assert "1 of 2 photographs turned as their Exif tags ask" in repr(found)
    assert facebench.compare(straight, Image.open(turned), **how).turned == 1
    with pytest.warns(UserWarning, match=r"1 of 2 photographs ask by their Exif tag"):
        lying = facebench.compare(straight, turned, exif_orientation=False, **how)
    assert lying.score < 0.999 and lying.turned == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain = facebench.compare(straight, straight, **how)
    assert plain.turned == 0 and "turned" not in repr(plain)


def test_detect_counts_and_turns(photographs, tmp_path):
    folder = photographs / "turned"
    sentence = r"3 of 6 photographs ask by their Exif tag .* \(--exif-orientation\) turns them"
    with pytest.warns(UserWarning, match=sentence):
        rows = detection.detect_files(folder, "hog")
    assert [row.orientation for row in rows] == [1, 6] * 3
    with pytest.warns(UserWarning, match=sentence):
        summary = detection.detect_to_file(folder, tmp_path / "a.csv", "hog")
    assert summary.tagged == 3
    path = folder / "p0" / "1.png"
    for one in (path, Image.open(path), [path, path], [path, gradient()]):
        with pytest.warns(UserWarning, match="photographs ask by their Exif tag"):
            detection.detect(one, "hog")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn = tmp_path / "drawn"
        detection.detect_files(folder, "hog", exif_orientation=True, draw=drawn)
        detection.detect(Image.open(path), "hog", exif_orientation=True)
    straight = images.read(photographs / "straight" / "p0" / "1.png")
    np.testing.assert_array_equal(images.read(drawn / "p0" / "1.png"), straight)


def test_embeddings_of_a_folder(photographs):
    model = facebench.embedding.make_model("small4", seed=1)
    with pytest.warns(UserWarning, match="3 of 6 photographs ask by their Exif tag"):
        facebench.embed(model, photographs / "turned")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        facebench.embed(model, photographs / "turned", exif_orientation=True)
    with pytest.raises(ValueError, match="of a folder of photographs"):
        facebench.embed(model, photographs / "x.h5", exif_orientation=True)


def test_packs_and_runs_count_the_tags(photographs, tmp_path):
    whole = {"detector": "none", "crop_size": 48}
    packs = {}
    for name, turn in (("turned", False), ("turned", True), ("straight", False)):
        out = tmp_path / f"{name}{turn}.h5"
        summary = facebench.pack("folder", photographs / name, out, exif_orientation=turn, **whole)
        packs[name, turn] = facebench.datasets.Pack(out)
        manifest = packs[name, turn].manifest
        if name == "straight":
            assert "exif_tagged" not in manifest and summary.tagged.images == 0
        else:
            assert manifest["exif_tagged"] == {"images": 3, "decoded": 6}
        assert ("--exif-orientation" in summary.tagged.warning) == (name == "turned" and not turn)
    np.testing.assert_array_equal(packs["turned", True].images, packs["straight", False].images)
    parts = []
    for k in (1, 2):
        parts.append(tmp_path / f"{k}.h5")
        facebench.pack("folder", photographs / "turned", parts[-1], shard=f"{k}/2", **whole)
    joined = tmp_path / "joined.h5"
    assert facebench.pipeline.merge_packs(parts, joined).tagged.images == 3
    assert joined.read_bytes() == (tmp_path / "turnedFalse.h5").read_bytes()

    how = {"model": shrunk, "mean": 0, "std": 1, "color": "rgb", **whole, "interval": "none"}
    root = photographs / "turned"
    result = facebench.run("folders", root=root, out=tmp_path / "a", **how)
    assert any("3 of 6 images ask by their Exif tag" in text for text in result.warnings)
    content = json.loads((tmp_path / "a" / "run.json").read_text())["content"]
    assert content["preparation"]["exif_tagged"] == {"images": 3, "decoded": 6}
    found = str(facebench.diagnose(tmp_path / "a"))
    assert "3 of 6 have an Exif tag" in found
    result = facebench.run("folders", root=root, out=tmp_path / "b", exif_orientation=True, **how)
    assert not any("Exif" in text for text in result.warnings)


def test_the_commands_have_the_option(photographs, tmp_path):
    def said(*words):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            answer = CliRunner().invoke(app, [str(word) for word in words])
        assert answer.exit_code == 0, answer.output
        return answer.output + " ".join(str(w.message) for w in caught)

    folder, model = photographs / "turned", tmp_path / "m.safetensors"
    facebench.embedding.make_model("small4", seed=1).save(model)
    for verb in (
        ("detect", folder, "--detector", "hog", "--out", tmp_path / "f.csv"),
        ("embed", model, folder, "--out", tmp_path / "e.h5"),
        ("pack", "folder", "--root", folder, "--detector", "none", "--out", tmp_path / "p.h5"),
    ):
        assert "3 of 6" in (answer := said(*verb)) and "--exif-orientation" in answer, verb
        assert "Exif tag" not in said(*verb, "--exif-orientation"), verb
    assert "3 of 6 images ask by their Exif tag" in said("data", "scan", "folder", "--root", folder)
    two = (folder / "p0" / "1.png", folder / "p0" / "1.png", "--model", model, "--detector", "none")
    assert "2 of 2 photographs turned as their Exif tags ask" in said("compare", *two)
    assert "2 of 2 photographs ask" in said("compare", *two, "--no-exif-orientation")
