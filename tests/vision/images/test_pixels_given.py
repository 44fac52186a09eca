"""Images that the caller gives: PIL images in every mode, arrays of other types, masked arrays."""

import io

import numpy as np
import pytest

Image = pytest.importorskip("PIL.Image")
pytest.importorskip("torch")
import facebench  # noqa: E402
from facebench import detection, embedding, images  # noqa: E402
from facebench import io as facebench_io  # noqa: E402


def noise(channels=3, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (12, 17, channels), np.uint8)


def file_of(image, kind="PNG", **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def as_rgb(pixels):
    return np.dstack([pixels] * 3) if pixels.ndim == 2 else pixels


@pytest.mark.parametrize("mode", ["1", "L", "LA", "RGB", "RGBA", "P", "I;16"])
def test_a_pil_image_gives_what_its_file_gives(mode):
    rgba = Image.fromarray(noise(4))
    image = {
        "P": lambda: rgba.convert("RGB").quantize(32),
        "I;16": lambda: Image.fromarray(
            np.random.default_rng(1).integers(0, 65536, (12, 17), np.uint16)
        ),
    }.get(mode, lambda: rgba.convert(mode))()
    assert image.mode == mode
    data = file_of(image)
    for given in (image, Image.open(io.BytesIO(data))):
        np.testing.assert_array_equal(as_rgb(images.pixels(given)), images.decode(data))


def test_transparency_outside_of_alpha():
    palette = Image.fromarray(noise()).quantize(32)
    for image, options in (
        (palette, {"transparency": bytes(range(0, 256, 8))}),
        (palette, {"transparency": 3}),
        (Image.fromarray(noise(1)[:, :, 0]), {"transparency": 77}),
        (Image.fromarray(noise() // 64 * 64), {"transparency": (64, 64, 64)}),
    ):
        data = file_of(image, **options)
        given = Image.open(io.BytesIO(data))
        np.testing.assert_array_equal(as_rgb(images.pixels(given)), images.decode(data))
    clear = Image.fromarray(noise(4)).quantize(32)  # PIL writes its palette with alpha
    np.testing.assert_array_equal(
        images.pixels(clear.convert("PA") if clear.mode != "PA" else clear).shape, (12, 17, 3)
    )


@pytest.mark.parametrize("form", ["I;16", "I;16B", "I"])
def test_sixteen_bits_are_scaled_and_never_clipped(form):
    deep = np.random.default_rng(2).integers(0, 65536, (12, 17), np.uint16)
    if form == "I":
        image = Image.fromarray(deep.astype(np.int32))
    else:
        raw = deep.astype(">u2" if form == "I;16B" else "<u2").tobytes()
        image = Image.frombytes(form, (17, 12), raw)
    assert image.mode == form
    np.testing.assert_array_equal(images.pixels(image), np.round(deep / 257).astype(np.uint8))


def test_a_scale_that_nobody_knows_is_asked_for():
    dark = Image.fromarray(np.full((4, 4), 200, np.int32))
    with pytest.raises(ValueError, match=r"no value above 200: of 8 bits, pass image.convert"):
        images.pixels(dark)
    for value in (-1, 65536):
        with pytest.raises(ValueError, match="not 16 bits"):
            images.pixels(Image.fromarray(np.full((4, 4), value, np.int32)))
    with pytest.raises(TypeError, match=r"of mode F has no known scale. State it: of 0 to 1: "):
        images.pixels(Image.fromarray(np.ones((4, 4), np.float32)))
    for kind, advice in (
        (np.float32, r"of 0 to 1: \(x \* 255\)"),
        (np.float16, "of 0 to 255"),
        (np.uint16, "of 16 bits"),
        (np.int64, "of 0 to 255"),
        (bool, r"x.astype\('uint8'\) \* 255"),
    ):
        with pytest.raises(TypeError, match=advice):
            images.pixels(np.ones((4, 4, 3), kind))
    with pytest.raises(TypeError, match="not list"):
        images.pixels([[1]])


def test_the_shapes_that_are_an_image():
    image = noise()
    height, width, _ = image.shape
    grey, torch = image[..., 0], pytest.importorskip("torch")
    first = torch.from_numpy(image.transpose(2, 0, 1).copy())
    given = ((image, image), (grey, grey), (grey[..., None], grey))
    tensors = (
        (first, image),
        (first[:1], grey),
        (first[0], grey),
        (torch.from_numpy(image), image),
    )
    for taken, expected in (*given, *tensors):
        np.testing.assert_array_equal(images.pixels(taken), expected)
    for shape, advice in (
        ((3, height, width), r"channels last: x\.transpose\(1, 2, 0\)"),
        ((1, height, width), r"channels last: x\.transpose"),
        ((1, height, width, 3), r"not \(1, 12, 17, 3\)\. It is several.*x\[0\]"),
        ((2, height, width, 3), r"x\[0\], x\[1\]"),
        ((height, width, 2), r"transparency out: x\[\.\.\., 0\]"),
        ((height, width, 4), r"transparency out: x\[\.\.\., :3\]"),
        ((height, width, 5), r"or \(height, width\), not \(12, 17, 5\)$"),
        ((height,), r"not \(12,\)$"),
        ((), r"not \(\)$"),
        ((0, width, 3), r"must have pixels; it is \(0, 17, 3\)"),
        ((height, 0), "must have pixels"),
    ):
        for make in (np.zeros, lambda shape, dtype: torch.from_numpy(np.zeros(shape, dtype))):
            if make is not np.zeros and shape in ((3, height, width), (1, height, width)):
                continue
            with pytest.raises(ValueError, match=advice):
                images.pixels(make(shape, np.uint8))
    with pytest.raises(ValueError, match="channels last"):
        images.resize(image.transpose(2, 0, 1), 4, 4)


def test_other_colours_of_pil():
    rgb = Image.fromarray(noise())
    for mode in ("HSV", "YCbCr"):
        given = rgb.convert(mode)
        np.testing.assert_array_equal(images.pixels(given), np.asarray(given.convert("RGB")))
    inks = Image.fromarray(noise(4), "CMYK")
    light = 255 - noise(4).astype(int)
    expected = (light[..., :3] * light[..., 3:] + 127) // 255
    np.testing.assert_array_equal(images.pixels(inks), expected)


def test_masked_arrays_are_refused_wherever_images_enter(tmp_path):
    """As plain arrays they would be what lies under the mask."""
    faces = np.random.default_rng(0).integers(0, 256, (3, 16, 16, 3), np.uint8)
    masked = np.ma.array(faces, mask=np.zeros(faces.shape, bool))
    unmasked = masked.copy()
    masked[1] = np.ma.masked

    def model(batch):
        return batch.mean((1, 2))

    def crop(image):
        face = detection.Face([2, 2, 9, 9])
        return facebench.crops.crop_face(image, face, "paper", width=8, height=8)

    for call in (
        lambda x: embedding.extract(model, x),
        lambda x: detection.detect(list(x), "hog"),
        lambda x: detection.detect(x[1], "hog"),
        lambda x: images.pixels(x[1]),
        lambda x: images.encode_png(x[1]),
        lambda x: images.encode_jpeg(x[1]),
        lambda x: images.resize(x[1], 4, 4),
        lambda x: detection.draw_faces(x[1], []),
        lambda x: facebench.compare(x[0], x[1], model=model, detector="none", mean=0, std=1,
                                    color="rgb"),
        lambda x: crop(x[1]),
        lambda x: facebench_io.write_safetensors(tmp_path / "a.safetensors", {"x": x}),
        lambda x: facebench.training.training_inputs(
            facebench.training.load_recipe("small4.softmax", height=16, width=16), x
        ),
        lambda x: images.warp_affine(faces[0], x[1, :2, :3, 0].astype(float), 4, 4),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="masked"):
            call(masked)
    np.testing.assert_array_equal(
        embedding.extract(model, unmasked).values, embedding.extract(model, faces).values
    )
