"""Image files against PIL and OpenCV where they are at hand, and against hand-made cases."""

import contextlib
import io
import os
import struct
import time
import zlib
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from facebench import Error, images  # noqa: E402


def noise(height, width, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)


def gradient(height, width):
    y, x = np.mgrid[:height, :width]
    return np.stack([x * 255 // width, y * 255 // height, (x + y) % 256], -1).astype(np.uint8)


def jpeg(array, mode="RGB", **options):
    image = pytest.importorskip("PIL.Image")
    out = io.BytesIO()
    image.fromarray(array, mode if mode == "CMYK" else None).save(out, "JPEG", **options)
    return out.getvalue()


@pytest.mark.parametrize("subsampling", [0, 1, 2])
@pytest.mark.parametrize("progressive", [False, True])
def test_jpeg_has_the_pixels_of_pil(subsampling, progressive):
    image = pytest.importorskip("PIL.Image")
    data = jpeg(gradient(61, 83), quality=80, subsampling=subsampling, progressive=progressive)
    expected = np.asarray(image.open(io.BytesIO(data)).convert("RGB"))
    np.testing.assert_array_equal(images.decode(data), expected)


def test_photographs_have_the_pixels_of_pil():
    image = pytest.importorskip("PIL.Image")
    folder = os.environ.get("FACEBENCH_DATA")
    if not folder:
        pytest.skip("FACEBENCH_DATA is not set")
    for path in sorted((Path(folder) / "lfw" / "images").glob("A*/*_0001.jpg"))[:20]:
        np.testing.assert_array_equal(
            images.read(path), np.asarray(image.open(path).convert("RGB"))
        )


def test_gray_and_cmyk_jpeg():
    image = pytest.importorskip("PIL.Image")
    gray = jpeg(gradient(20, 30)[:, :, 0])
    expected = np.asarray(image.open(io.BytesIO(gray)))
    np.testing.assert_array_equal(images.decode(gray, color="gray"), expected)
    np.testing.assert_array_equal(images.decode(gray)[:, :, 1], expected)
    cmyk = jpeg(np.dstack([gradient(24, 32), gradient(24, 32)[:, :, 0] // 3]), "CMYK", quality=95)
    expected = np.asarray(image.open(io.BytesIO(cmyk)).convert("RGB")).astype(int)
    assert np.abs(images.decode(cmyk).astype(int) - expected).max() <= 1


def test_ycck_is_cmyk_in_other_axes():
    """The same stored numbers with Adobe's marker saying that three of them are YCbCr."""
    inks = np.dstack([gradient(24, 32), gradient(24, 32)[:, :, 0] // 3])
    data = jpeg(inks, "CMYK", quality=100, subsampling=0)
    at = data.index(b"Adobe") + 11
    assert data[at] == 0
    stored = images.decode(data).astype(float)  # c k / 255, what is stored being inverted
    k = 255.0 - inks[:, :, 3:]
    y, cb, cr = np.moveaxis(255.0 - inks[:, :, :3], 2, 0)
    assert np.abs(stored - np.stack([y, cb, cr], 2) * k / 255).max() < 3
    rgb = [y + 1.402 * (cr - 128), y - 0.344136 * (cb - 128) - 0.714136 * (cr - 128)]
    rgb.append(y + 1.772 * (cb - 128))
    expected = (255 - np.clip(np.stack(rgb, 2), 0, 255)) * k / 255
    ycck = images.decode(data[:at] + b"\2" + data[at + 1 :])
    assert np.abs(ycck - expected).mean() < 1
    assert np.abs(ycck - expected).max() < 8


def test_an_exif_tag_that_is_damaged_changes_nothing():
    plain = jpeg(gradient(16, 24), quality=95)
    for body in (b"", b"II", b"II*\0\xff\xff\xff\xff", b"MM\0*\0\0\0\x08\xff\xff", b"XX" * 20):
        exif = b"Exif\0\0" + body
        data = plain[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + plain[2:]
        np.testing.assert_array_equal(
            images.decode(data, exif_orientation=True), images.decode(plain)
        )


def test_truncated_jpeg_is_an_error_at_every_length():
    for data in (
        images.encode_jpeg(gradient(64, 64), 90),
        images.encode_jpeg(gradient(32, 32)[:, :, 0], 50),
        jpeg(gradient(48, 40), quality=85, progressive=True),
        jpeg(np.dstack([gradient(24, 32), gradient(24, 32)[:, :, 0]]), "CMYK", quality=90),
    ):
        for length in [*range(2, len(data) - 2, 17), len(data) - 2]:
            with pytest.raises(Error):
                images.decode(data[:length])
        with pytest.raises(Error, match="truncated"):
            images.decode(data[: len(data) // 2])
        # Garbage behind the end is common, and harmless.
        images.decode(data + b"\0\0\0")


def test_exif_orientation_is_an_option():
    image = pytest.importorskip("PIL.Image")
    from PIL import ImageOps

    for orientation in range(1, 9):
        exif = image.Exif()
        exif[0x0112] = orientation
        data = jpeg(gradient(16, 24), exif=exif, quality=95)
        plain = np.asarray(image.open(io.BytesIO(data)))
        turned = np.asarray(ImageOps.exif_transpose(image.open(io.BytesIO(data))))
        np.testing.assert_array_equal(images.decode(data), plain)
        np.testing.assert_array_equal(images.decode(data, exif_orientation=True), turned)


def save_png(array, **options):
    image = pytest.importorskip("PIL.Image")
    out = io.BytesIO()
    image.fromarray(array).save(out, "PNG", **options)
    return out.getvalue()


def test_png_kinds():
    image = pytest.importorskip("PIL.Image")
    rgb = noise(9, 14)
    np.testing.assert_array_equal(images.decode(save_png(rgb)), rgb)
    np.testing.assert_array_equal(images.decode(save_png(rgb[:, :, 0]), color="gray"), rgb[:, :, 0])
    deep = np.random.default_rng(1).integers(0, 65536, (5, 7), np.uint16)
    np.testing.assert_array_equal(
        images.decode(save_png(deep), color="gray"), np.round(deep / 257).astype(np.uint8)
    )
    out = io.BytesIO()
    palette = image.fromarray(rgb).quantize(16)
    palette.save(out, "PNG")
    np.testing.assert_array_equal(images.decode(out.getvalue()), np.asarray(palette.convert("RGB")))
    alpha = np.dstack([rgb, np.full((9, 14), 255, np.uint8)])
    np.testing.assert_array_equal(images.decode(save_png(alpha)), rgb)
    alpha[:, :, 3] = 51  # a fifth, over black
    np.testing.assert_array_equal(
        images.decode(save_png(alpha)), np.round(rgb / 5).astype(np.uint8)
    )


# Adam7, PNG specification 8.2: first column and row of each pass, and its steps.
ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2)]
ADAM7.append((0, 1, 1, 2))


def make_png(values, depth, kind, interlaced=False, chunks=(), level=6, surplus=0):
    """A PNG file of (height, width, channels) whole numbers below 2^depth, as its specification
    has it: no filters. `surplus` zeros are packed behind the last row."""

    def chunk(name, body):
        return (
            struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        )

    def rows(part):
        out = b""
        for row in part.reshape(len(part), -1):
            if depth == 16:
                body = row.astype(">u2").tobytes()
            else:
                bits = (row[:, None] >> np.arange(depth)[::-1]) & 1
                body = np.packbits(bits.astype(np.uint8).ravel()).tobytes()
            out += b"\0" + body
        return out

    height, width = values.shape[:2]
    data = b"".join(
        rows(part)
        for x, y, dx, dy in (ADAM7 if interlaced else [(0, 0, 1, 1)])
        if (part := values[y::dy, x::dx]).size
    )
    header = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, interlaced)
    body = chunk(b"IHDR", header) + b"".join(chunk(*c) for c in chunks)
    return (
        b"\x89PNG\r\n\x1a\n"
        + body
        + chunk(b"IDAT", zlib.compress(data + bytes(surplus), level))
        + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("interlaced", [False, True])
@pytest.mark.parametrize(
    ("kind", "depth"),
    [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (2, 8), (2, 16), (4, 8), (4, 16), (6, 8), (6, 16)],
)
def test_png_of_every_depth_and_kind(kind, depth, interlaced):
    channels = {0: 1, 2: 3, 4: 2, 6: 4}[kind]
    random = np.random.default_rng(depth)
    values = random.integers(0, 2**depth, (11, 13, channels))
    full = values / (2**depth - 1)
    colour = np.repeat(full[:, :, :1], 3, 2) if kind in (0, 4) else full[:, :, :3]
    # Eight bits first, then over black, as documented.
    expected = np.floor(colour * 255 + 0.5)
    if kind in (4, 6):
        alpha = np.floor(full[:, :, -1:] * 255 + 0.5)
        expected = np.floor(expected * alpha / 255 + 0.5)
    found = images.decode(make_png(values, depth, kind, interlaced))
    np.testing.assert_array_equal(found, expected.astype(np.uint8))


@pytest.mark.parametrize("depth", [1, 2, 4, 8])
def test_png_palettes_with_transparent_entries(depth):
    random = np.random.default_rng(depth)
    palette = random.integers(0, 256, (2**depth, 3), np.uint8)
    clear = random.integers(0, 256, 2**depth // 2, np.uint8)  # the rest is opaque
    values = random.integers(0, 2**depth, (9, 7, 1))
    chunks = [(b"PLTE", palette.tobytes()), (b"tRNS", clear.tobytes())]
    alpha = np.concatenate([clear, np.full(2**depth - len(clear), 255)])[values[:, :, 0], None]
    expected = np.floor(palette[values[:, :, 0]] * alpha / 255 + 0.5)
    found = images.decode(make_png(values, depth, 3, chunks=chunks))
    np.testing.assert_array_equal(found, expected.astype(np.uint8))


def test_png_with_one_transparent_colour():
    values = np.arange(4).reshape(1, 4, 1) * 80
    found = images.decode(make_png(values, 8, 0, chunks=[(b"tRNS", struct.pack(">H", 160))]))
    assert found[0, :, 0].tolist() == [0, 80, 0, 240]


@pytest.mark.parametrize("level", [0, 9])
@pytest.mark.parametrize("interlaced", [False, True])
@pytest.mark.parametrize("height", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("width", [1, 2, 5, 30_011])
def test_all_packed_rows_of_a_png_are_read(width, height, interlaced, level):
    values = np.random.default_rng(1).integers(0, 256, (height, width, 1))
    found = images.decode(make_png(values, 8, 0, interlaced, level=level))
    assert (found == values).all()


@pytest.mark.parametrize("shape", [(2, 2, 3), (4, 30_000, 1), (90, 90, 3)])
@pytest.mark.parametrize("interlaced", [False, True])
def test_packed_pixels_behind_the_last_row_of_a_png(shape, interlaced):
    kind = 2 if shape[2] == 3 else 0
    data = make_png(np.zeros(shape, int), 8, kind, interlaced, level=9, surplus=300_000_000)
    start = time.process_time()
    with pytest.raises(Error, match="more packed data than the pixels need"):
        images.decode(data)
    assert time.process_time() - start < 1  # unpacking all of it took 2.5 s


@pytest.mark.parametrize("kind", [b"zTXt", b"iTXt", b"iCCP"])
def test_packed_texts_of_a_png_stay_packed(kind):
    between = b"\0\1\0\0\0" if kind == b"iTXt" else b"\0\0"
    text = (kind, b"k" + between + zlib.compress(bytes(8_000_000), 9))
    data = make_png(np.full((2, 2, 1), 7), 8, 0, chunks=[text] * 200)
    start = time.process_time()
    assert (images.decode(data) == 7).all()
    assert time.process_time() - start < 1  # 12 s, and 2 GB of memory, when they were unpacked


def test_damaged_png_is_an_error():
    data = images.encode_png(noise(20, 20))
    for length in range(1, len(data) - 1, 29):
        with pytest.raises(Error):
            images.decode(data[:length])
    with pytest.raises(Error, match="truncated"):
        images.decode(data[:-20])
    broken = bytearray(data)
    broken[len(data) // 2] ^= 0xFF
    with pytest.raises(Error, match="damaged"):
        images.decode(bytes(broken))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"P2\n# note\n2 1 # more\n4\n0 2", [[0, 128]]),
        (b"P5 2 1 255\n\x07\xff", [[7, 255]]),
        (b"P5 1 1 65535\n\x80\x00", [[128]]),
        (b"P5 1 1 1023\n\x03\xff", [[255]]),
    ],
)
def test_gray_pnm(data, expected):
    assert images.decode(data, color="gray").tolist() == expected


def test_colour_pnm():
    assert images.decode(b"P3 1 1 15 15 0 5").tolist() == [[[255, 0, 85]]]
    assert images.decode(b"P6 1 1 255\nabc", color="bgr").tolist() == [[[99, 98, 97]]]
    image = noise(5, 4)
    np.testing.assert_array_equal(images.decode(images.encode_pnm(image)), image)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b"hello, this is text", "not an image"),
        (b"GIF89a....", "GIF"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "WebP"),
        (b"II+\0\x08\0\0\0", "BigTIFF"),
        (b"\0\0\0\x18ftypheic", "HEIF"),
        (b"P6 2 2 255\nabc", "truncated"),
        (b"P2 2 2 255\n1 2 3", "truncated"),
        (b"P5 1 1 255\n", "truncated"),
        (b"P5 99999999999999999999 1 255\n", "too large"),
        (b"P5 100000 100000 255\n", "max_pixels"),
        (b"P5 0 3 255\n", "0 x 3"),
        (b"P2 1 1 255\n256", "above"),
        (b"P2 1 1 0\n0", "largest value"),
        (b"P2 1 x 255\n0", "not a number"),
        (b"\xff\xd8\xff", "JPEG"),
        (b"\x89PNG\r\n\x1a\n", "truncated"),
    ],
)
def test_what_cannot_be_decoded_is_said(data, message):
    with pytest.raises(Error, match=message):
        images.decode(data)


def test_claimed_sizes_are_checked_before_memory_is_taken():
    png = bytearray(images.encode_png(noise(4, 4)))
    png[16:24] = struct.pack(">II", 1 << 30, 1 << 30)
    png[29:33] = struct.pack(">I", zlib.crc32(bytes(png[12:29])))
    with pytest.raises(Error, match="max_pixels"):
        images.decode(bytes(png))
    big = images.encode_jpeg(np.zeros((100, 100), np.uint8))
    with pytest.raises(Error, match="max_pixels"):
        images.decode(big, max_pixels=9999)
    assert images.decode(big, max_pixels=10000).shape == (100, 100, 3)


def test_mutated_files_never_crash():
    random = np.random.default_rng(7)
    sources = [images.encode_jpeg(gradient(40, 40)), images.encode_png(gradient(30, 30))]
    sources.append(b"P3 2 2 255 " + b"12 " * 12)
    for source in sources:
        for _ in range(150):
            data = bytearray(source)
            for at in random.integers(0, len(data), 4):
                data[at] = random.integers(0, 256)
            with contextlib.suppress(Error):
                assert images.decode(bytes(data), max_pixels=1_000_000).dtype == np.uint8


def test_files_are_written_by_extension_and_read_back(tmp_path):
    image = gradient(33, 20)
    for name in ("a.png", "a.PPM", "a.pnm"):
        images.write(tmp_path / name, image)
        np.testing.assert_array_equal(images.read(tmp_path / name), image)
    images.write(tmp_path / "a.jpg", image, jpeg_quality=100)
    assert np.abs(images.read(tmp_path / "a.jpg").astype(int) - image).mean() < 2
    images.write(tmp_path / "b.png", image, color="bgr")
    np.testing.assert_array_equal(images.read(tmp_path / "b.png", color="bgr"), image)
    with pytest.raises(ValueError, match="extension"):
        images.write(tmp_path / "a.gif", image)
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(
        ["a.png", "a.PPM", "a.pnm", "a.jpg", "b.png"]
    )
    with pytest.raises(Error, match="absent"):
        images.read(tmp_path / "absent.jpg")


def test_grey_is_luma():
    rgb = noise(6, 6)
    expected = rgb.astype(float) @ [0.299, 0.587, 0.114]
    assert np.abs(images.convert_color(rgb, "gray") - expected).max() <= 0.51
    gray = images.convert_color(rgb, "gray")
    np.testing.assert_array_equal(images.convert_color(gray, "rgb"), np.dstack([gray] * 3))


@pytest.mark.kernels
@pytest.mark.parametrize("size", [(5, 7), (24, 24), (40, 60), (1, 1)])
def test_area_mean_is_torchs(size):
    image = noise(37, 53)
    x = torch.from_numpy(image).permute(2, 0, 1)[None].float()
    expected = torch.nn.functional.interpolate(x, size=size, mode="area")
    ours = images.area_mean(image, size[1], size[0])
    np.testing.assert_allclose(ours, expected[0].permute(1, 2, 0).numpy(), rtol=2e-7)


@pytest.mark.kernels
@pytest.mark.parametrize("size", [(20, 30), (50, 61), (13, 90)])
def test_bilinear_is_torchs_within_a_level(size):
    image = noise(37, 45)
    x = torch.from_numpy(image).permute(2, 0, 1)[None].float()
    for name, antialias in (("bilinear", False), ("bilinear_antialias", True)):
        expected = torch.nn.functional.interpolate(
            x, size=size, mode="bilinear", align_corners=False, antialias=antialias
        )
        ours = images.resize(image, size[1], size[0], name).astype(float)
        assert np.abs(ours - expected[0].permute(1, 2, 0).numpy()).max() <= 1.01


@pytest.mark.kernels
def test_filters_keep_constant_images_and_know_their_names():
    flat = np.full((17, 23, 3), 201, np.uint8)
    for name, doc in images.list_interpolations().items():
        assert doc
        assert (images.resize(flat, 40, 9, name) == 201).all()
    with pytest.raises(ValueError, match="did you mean 'bilinear'"):
        images.resize(flat, 4, 4, "bilinaer")
    with pytest.raises(ValueError):
        images.resize(flat, 0, 4)


def test_warp_moves_whole_pixels_exactly():
    image = noise(12, 15)
    moved = images.warp_affine(image, [[1, 0, 3], [0, 1, 2]], 15, 12, border=9)
    np.testing.assert_array_equal(moved[2:, 3:], image[:-2, :-3])
    assert (moved[:2] == 9).all()
    assert (moved[:, :3] == 9).all()
    with pytest.raises(ValueError, match="inverse"):
        images.warp_affine(image, [[1, 1, 0], [1, 1, 0]], 5, 5)
    with pytest.raises(ValueError):
        images.warp_affine(image, [[float("nan"), 0, 0], [0, 1, 0]], 5, 5)


@pytest.mark.kernels
def test_resize_and_warp_are_opencvs():
    cv2 = pytest.importorskip("cv2")
    image = gradient(70, 90)
    flags = {"nearest": cv2.INTER_NEAREST, "bilinear": cv2.INTER_LINEAR}
    flags |= {"bicubic": cv2.INTER_CUBIC, "area": cv2.INTER_AREA}
    for name, flag in flags.items():
        expected = cv2.resize(image, (41, 33), interpolation=flag).astype(int)
        assert np.abs(images.resize(image, 41, 33, name) - expected).max() <= 1, name
    matrix = np.array([[0.9, 0.3, -12], [-0.3, 0.9, 20]])
    expected = cv2.warpAffine(image, matrix, (60, 50), flags=cv2.INTER_LINEAR).astype(int)
    difference = np.abs(images.warp_affine(image, matrix, 60, 50) - expected)
    # OpenCV 5 rounds a few values otherwise than OpenCV 4.
    assert difference.max() <= 2
    assert np.mean(difference > 1) < 0.005
