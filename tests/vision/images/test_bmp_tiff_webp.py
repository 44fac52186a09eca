"""BMP, TIFF and WebP files: the pixels of Pillow, or those that were written; hostile ones."""

import contextlib
import io
import struct
import time
import zlib

import numpy as np
import pytest

Image = pytest.importorskip("PIL.Image")
pytest.importorskip("torch")
from facebench import Error, images  # noqa: E402


def noise(height=23, width=37, channels=3, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (height, width, channels), np.uint8)


def saved(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def over_black(pixels):
    """Colours and alpha, as documented for PNG."""
    wide = pixels.astype(int)
    return ((wide[..., :-1] * wide[..., -1:] + 127) // 255).astype(np.uint8)


# --- BMP -----------------------------------------------------------------------------------------


def bmp(rows, bits, width, height, *, size=40, packing=0, palette=b"", masks=b"", core=False):
    """Header and rows as they stand in the file."""
    if core:
        header = struct.pack("<IHHHH", 12, width, height, 1, bits)
    else:
        header = struct.pack("<IiiHHIIiiII", size, width, height, 1, bits, packing, 0, 0, 0, 0, 0)
        header = (header + masks + bytes(124))[: max(size, 40 + len(masks))]
    at = 14 + len(header) + len(palette)
    return b"BM" + struct.pack("<IHHI", at + len(rows), 0, 0, at) + header + palette + rows


def filled(rows):
    """Rows from bottom to top, each to four bytes."""
    return b"".join(bytes(row) + bytes(-len(row) % 4) for row in rows[::-1])


def test_bmp_as_pillow_writes_it():
    rgb = noise()
    grey, indexed = Image.fromarray(rgb).convert("L"), Image.fromarray(rgb).quantize(16)
    for image in (Image.fromarray(rgb), grey, grey.convert("1"), indexed):
        data = saved(image, "BMP")
        np.testing.assert_array_equal(images.decode(data), np.asarray(image.convert("RGB")))
    rgba = noise(channels=4)
    data = saved(Image.fromarray(rgba), "BMP")
    expected = np.asarray(Image.open(io.BytesIO(data)))
    expected = over_black(expected) if expected.shape[2] == 4 else expected
    np.testing.assert_array_equal(images.decode(data), expected)


@pytest.mark.parametrize("core", [False, True])
@pytest.mark.parametrize("bits", [1, 4, 8])
def test_bmp_palettes(bits, core):
    width, height = 13, 5
    rng = np.random.default_rng(bits)
    index = rng.integers(0, 1 << bits, (height, width), np.uint8)
    colours = rng.integers(0, 256, (1 << bits, 3), np.uint8)
    order = colours[:, ::-1] if core else np.pad(colours[:, ::-1], ((0, 0), (0, 1)))
    spread = (index[:, :, None] >> np.arange(bits)[::-1]) & 1
    rows = [np.packbits(row.ravel()) for row in spread]
    data = bmp(filled(rows), bits, width, height, palette=order.tobytes(), core=core)
    np.testing.assert_array_equal(images.decode(data), colours[index])
    np.testing.assert_array_equal(
        images.decode(data), np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
    )


def test_bmp_of_16_and_32_bits_by_masks_and_from_the_top():
    values = np.random.default_rng(1).integers(0, 1 << 16, (3, 5))
    rows = filled([row.astype("<u2").tobytes() for row in values])
    fives = np.stack([values >> 10 & 31, values >> 5 & 31, values & 31], 2)
    np.testing.assert_array_equal(images.decode(bmp(rows, 16, 5, 3)), fives * 255 // 31)
    masks = struct.pack("<III", 0xF800, 0x07E0, 0x001F)
    found = images.decode(bmp(rows, 16, 5, 3, packing=3, masks=masks))
    expected = [
        (values >> 11) * 255 // 31,
        (values >> 5 & 63) * 255 // 63,
        (values & 31) * 255 // 31,
    ]
    np.testing.assert_array_equal(found, np.stack(expected, 2))
    rgba = noise(3, 5, 4)
    rows = filled([row[:, [2, 1, 0, 3]].tobytes() for row in rgba])
    np.testing.assert_array_equal(images.decode(bmp(rows, 32, 5, 3)), rgba[..., :3])
    np.testing.assert_array_equal(images.decode(bmp(rows, 32, 5, -3)), rgba[::-1, :, :3])
    masks = struct.pack("<IIII", 0xFF0000, 0xFF00, 0xFF, 0xFF000000)
    long = bmp(rows, 32, 5, 3, size=108, packing=3, masks=masks)
    np.testing.assert_array_equal(images.decode(long), over_black(rgba))
    # Programs that know no alpha leave 0 there.
    rgba[..., 3] = 0
    rows = filled([row[:, [2, 1, 0, 3]].tobytes() for row in rgba])
    long = bmp(rows, 32, 5, 3, size=108, packing=3, masks=masks)
    np.testing.assert_array_equal(images.decode(long), rgba[..., :3])


def test_bmp_packed_by_runs():
    palette = bytes(b for k in range(256) for b in (k, k, k, 0))
    packed = bytes([5, 7, 0, 0, 0, 4, 1, 2, 3, 4, 1, 9, 0, 0, 0, 2, 3, 0, 2, 6, 0, 1])
    expected = [[0, 0, 0, 6, 6], [1, 2, 3, 4, 9], [7, 7, 7, 7, 7]]
    data = bmp(packed, 8, 5, 3, packing=1, palette=palette)
    assert images.decode(data)[..., 0].tolist() == expected
    np.testing.assert_array_equal(
        images.decode(data), np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
    )
    fours = bmp(bytes([4, 0x12, 0, 0, 0, 3, 0x34, 0x50, 1, 0x60, 0, 1]), 4, 4, 2, packing=2,
                palette=palette[:64])  # fmt: skip
    assert images.decode(fours)[..., 0].tolist() == [[3, 4, 5, 6], [1, 2, 1, 2]]
    for wrong in (b"\6\7\0\1", b"\5\7\0\0" * 4, b"\0\2\0\4\1\7\0\1"):  # beyond the picture
        with pytest.raises(Error, match="leaves the picture"):
            images.decode(bmp(wrong, 8, 5, 3, packing=1, palette=palette))
    with pytest.raises(Error, match="truncated"):
        images.decode(data[:-3])


def test_bmp_that_is_cut_lies_or_is_odd():
    data = saved(Image.fromarray(noise()), "BMP")
    for length in (*range(16, 54, 5), 54, len(data) // 2, len(data) - 1):
        with pytest.raises(Error, match=r"truncated|damaged|not an image"):
            images.decode(data[:length])
    claims = data[:18] + struct.pack("<ii", 1 << 30, 1 << 30) + data[26:]
    with pytest.raises(Error, match="max_pixels"):
        images.decode(claims)
    for field, value, message in (
        ((18, "<i"), -5, "max_pixels"),
        ((22, "<i"), 0, "37 x 0"),
        ((28, "<H"), 7, "7 bits a pixel"),
        ((30, "<I"), 4, "packing 4"),
        ((10, "<I"), 20, "within its header"),
        ((10, "<I"), 1 << 31, "truncated"),
    ):
        at, form = field
        wrong = bytearray(data)
        wrong[at : at + struct.calcsize(form)] = struct.pack(form, value)
        with pytest.raises(Error, match=message):
            images.decode(bytes(wrong))
    palette = bmp(bytes([9, 0, 0, 0]), 8, 1, 1, palette=bytes(16))
    with pytest.raises(Error, match="palette has not"):
        images.decode(palette)


# --- TIFF ----------------------------------------------------------------------------------------

SIZES = {1: "B", 3: "H", 4: "I"}


def tiff(tags, pieces, big=False, offsets=273, lengths=279):
    """A TIFF file of one directory; tags as {number: (type, values)}."""
    end = ">" if big else "<"
    body, places = b"", []
    for piece in pieces:
        places.append(8 + len(body))
        body += piece + bytes(len(piece) % 2)
    tags = tags | {offsets: (4, places), lengths: (4, [len(p) for p in pieces])}
    start, entries = 8 + len(body), b""
    after = start + 2 + 12 * len(tags) + 4
    extra = b""
    for number, (kind, values) in sorted(tags.items()):
        packed = struct.pack(f"{end}{len(values)}{SIZES[kind]}", *values)
        if len(packed) > 4:
            place = struct.pack(f"{end}I", after + len(extra))
            extra += packed + bytes(len(packed) % 2)
        else:
            place = packed + bytes(4 - len(packed))
        entries += struct.pack(f"{end}HHI", number, kind, len(values)) + place
    head = (b"MM\0*" if big else b"II*\0") + struct.pack(f"{end}I", start)
    return head + body + struct.pack(f"{end}H", len(tags)) + entries + bytes(4) + extra


def layout(width, height, bits, samples, kind, **more):
    tags = {256: (4, [width]), 257: (4, [height]), 258: (3, [bits] * samples), 262: (3, [kind])}
    return tags | {277: (3, [samples])} | {int(k[1:]): v for k, v in more.items()}


@pytest.mark.parametrize("compression", ["raw", "tiff_lzw", "packbits", "tiff_adobe_deflate"])
def test_tiff_as_pillow_writes_it(compression):
    y, x = np.mgrid[:70, :90]
    smooth = np.stack([x, y, (x * y) // 40], 2).astype(np.uint8)
    smooth[20:30] = noise(10, 90)
    rgb = Image.fromarray(smooth)
    for image in (rgb, rgb.convert("L"), rgb.convert("1"), rgb.quantize(200)):
        data = saved(image, "TIFF", compression=compression)
        np.testing.assert_array_equal(images.decode(data), np.asarray(image.convert("RGB")))
    predicted = saved(rgb, "TIFF", compression=compression, tiffinfo={317: 2})
    np.testing.assert_array_equal(images.decode(predicted), smooth)
    inks = Image.fromarray(noise(channels=4), "CMYK")
    data = saved(inks, "TIFF", compression=compression)
    light = 255 - np.asarray(inks).astype(int)
    expected = (light[..., :3] * light[..., 3:] + 127) // 255
    np.testing.assert_array_equal(images.decode(data), expected)
    alpha = noise(channels=4)
    data = saved(Image.fromarray(alpha), "TIFF", compression=compression)
    np.testing.assert_array_equal(images.decode(data), over_black(alpha))
    deep = np.random.default_rng(2).integers(0, 65536, (20, 30), np.uint16)
    data = saved(Image.fromarray(deep), "TIFF", compression=compression)
    expected = np.round(deep / 257).astype(np.uint8)
    np.testing.assert_array_equal(images.decode(data, color="gray"), expected)


@pytest.mark.parametrize("big", [False, True])
def test_tiff_of_16_bits_in_tiles_and_planes(big):
    form = ">u2" if big else "<u2"
    rgb = np.random.default_rng(3).integers(0, 65536, (30, 45, 3), np.uint16)
    expected = np.round(rgb / 257).astype(np.uint8)
    rows = [rgb[k : k + 8].astype(form).tobytes() for k in range(0, 30, 8)]
    data = tiff(layout(45, 30, 16, 3, 2, t278=(3, [8])), rows, big)
    np.testing.assert_array_equal(images.decode(data), expected)
    planes = [rgb[..., c].astype(form).tobytes() for c in range(3)]
    data = tiff(layout(45, 30, 16, 3, 2, t284=(3, [2])), planes, big)
    np.testing.assert_array_equal(images.decode(data), expected)
    wide = np.pad(rgb, ((0, 2), (0, 3), (0, 0)))
    tiles = []
    for y in range(0, 32, 16):
        for x in range(0, 48, 16):
            tile = wide[y : y + 16, x : x + 16]
            step = np.diff(tile, axis=1, prepend=np.zeros_like(tile[:, :1]))  # wraps, as it should
            tiles.append(zlib.compress(step.astype(form).tobytes()))
    how = {"t259": (3, [8]), "t317": (3, [2]), "t322": (3, [16]), "t323": (3, [16])}
    data = tiff(layout(45, 30, 16, 3, 2, **how), tiles, big, 324, 325)
    np.testing.assert_array_equal(images.decode(data), expected)


@pytest.mark.parametrize("bits", [1, 2, 4, 8])
@pytest.mark.parametrize("kind", [0, 1, 3])
def test_tiff_of_few_bits(bits, kind):
    rng = np.random.default_rng(bits)
    index = rng.integers(0, 1 << bits, (7, 11), np.uint8)
    rows = b"".join(
        np.packbits(((row[:, None] >> np.arange(bits)[::-1]) & 1).ravel()).tobytes()
        for row in index
    )
    colours = rng.integers(0, 256, (3, 1 << bits))
    more = {"t320": (3, (colours * 257).ravel().tolist())} if kind == 3 else {}
    found = images.decode(tiff(layout(11, 7, bits, 1, kind, **more), [rows]))
    grey = np.floor(index.astype(int) * 255 / ((1 << bits) - 1) + 0.5).astype(int)
    shades = {0: 255 - grey, 1: grey}.get(kind)
    expected = colours[:, index].transpose(1, 2, 0) if kind == 3 else np.dstack([shades] * 3)
    np.testing.assert_array_equal(found, expected)


def test_tiff_of_several_pages_gives_the_first():
    first, second = Image.fromarray(noise()), Image.fromarray(noise(seed=1))
    data = saved(first, "TIFF", save_all=True, append_images=[second])
    np.testing.assert_array_equal(images.decode(data), np.asarray(first))


def test_tiff_kinds_that_are_refused_by_name():
    rgb = Image.fromarray(noise(24, 32))
    with pytest.raises(Error, match=r"packing 7, JPEG.*Convert it to PNG"):
        images.decode(saved(rgb, "TIFF", compression="jpeg"))
    with pytest.raises(Error, match="packing 4"):
        images.decode(saved(rgb.convert("1"), "TIFF", compression="group4"))
    with pytest.raises(Error, match=r"not unsigned whole numbers|32 bits"):
        images.decode(saved(rgb.convert("F"), "TIFF"))
    with pytest.raises(Error, match="colours of kind 8"):
        images.decode(tiff(layout(4, 4, 8, 3, 8), [bytes(48)]))
    with pytest.raises(Error, match="a BigTIFF file"):
        images.decode(b"II+\0" + bytes(20))


def test_tiff_that_is_cut_or_lies():
    data = saved(Image.fromarray(noise()), "TIFF", compression="tiff_lzw")
    for length in [*range(4, len(data) - 2, 97)]:
        with pytest.raises(Error):
            images.decode(data[:length])
    plain = layout(5, 4, 8, 1, 1)
    assert images.decode(tiff(plain, [bytes(20)])).shape == (4, 5, 3)
    for tags, piece, message in (
        (layout(5, 4, 8, 1, 1), bytes(19), "cannot be unpacked"),
        (layout(1 << 30, 1 << 30, 8, 1, 1), bytes(20), "max_pixels"),
        (layout(14000, 14000, 16, 4, 2), bytes(20), "more pixels than"),
        (layout(5, 4, 8, 1, 1, t278=(3, [1])), bytes(20), "pieces are missing"),
        (layout(5, 4, 8, 1, 3), bytes(20), "no palette"),
        (layout(5, 4, 8, 1, 2), bytes(20), "samples a pixel"),
        (layout(5, 4, 8, 1, 1, t259=(3, [8])), zlib.compress(bytes(21)), "unpacked"),
        (layout(5, 4, 8, 1, 1, t259=(3, [8])), zlib.compress(bytes(20))[:-1] + b"x", "unpacked"),
        (layout(5, 4, 8, 1, 1, t259=(3, [5])), b"\xff" * 20, "unpacked"),
        (layout(5, 4, 8, 1, 1, t259=(3, [32773])), b"\xf0\1", "unpacked"),
    ):
        with pytest.raises(Error, match=message):
            images.decode(tiff(tags, [piece]))
    tiles = {"t322": (4, [100_000]), "t323": (4, [1000])}
    with pytest.raises(Error, match="far larger"):
        images.decode(tiff(layout(5, 4, 8, 1, 1, **tiles), [bytes(99_999)], False, 324, 325))
    start = time.process_time()  # a gigabyte of zeros in a strip of 20 pixels
    bomb = tiff(layout(5, 4, 8, 1, 1, t259=(3, [8])), [zlib.compress(bytes(1 << 26), 9) * 9])
    with pytest.raises(Error, match="unpacked"):
        images.decode(bomb)
    assert time.process_time() - start < 1


# --- WebP ----------------------------------------------------------------------------------------


def test_webp_has_the_pixels_of_pillow():
    rgb, rgba = noise(60, 80), noise(60, 80, 4)
    np.testing.assert_array_equal(
        images.decode(saved(Image.fromarray(rgb), "WEBP", lossless=True)), rgb
    )
    data = saved(Image.fromarray(rgba), "WEBP", lossless=True, exact=True)
    np.testing.assert_array_equal(images.decode(data), over_black(rgba))
    data = saved(Image.fromarray(rgb), "WEBP", quality=70)
    expected = np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)
    assert np.abs(images.decode(data) - expected).max() <= 1


def test_webp_that_is_cut_damaged_or_moves():
    for options in ({"lossless": True}, {"quality": 70}):
        data = saved(Image.fromarray(noise(60, 80)), "WEBP", **options)
        for length in (16, 30, 60, len(data) // 2, len(data) - 10):
            with pytest.raises(Error, match=r"truncated|damaged"):
                images.decode(data[:length])
        with pytest.raises(Error, match="max_pixels"):
            images.decode(data, max_pixels=100)
    frames = [Image.fromarray(noise(seed=k)) for k in range(3)]
    moving = saved(frames[0], "WEBP", save_all=True, append_images=frames[1:])
    with pytest.raises(Error, match="animation"):
        images.decode(moving)


# --- all -----------------------------------------------------------------------------------------


def test_changed_files_never_crash():
    rng = np.random.default_rng(7)
    image = Image.fromarray(noise(30, 40))
    sources = [saved(image, "BMP"), saved(image.quantize(9), "BMP"), saved(image, "WEBP")]
    sources += [saved(image, "TIFF", compression=c) for c in ("raw", "tiff_lzw", "packbits")]
    sources.append(bmp(bytes([5, 7, 0, 0, 0, 3, 1, 2, 3, 0, 0, 1]), 8, 5, 3, packing=1,
                       palette=bytes(1024)))  # fmt: skip
    for source in sources:
        for _ in range(200):
            data = bytearray(source)
            for at in rng.integers(0, min(len(data), 400), 4):
                data[at] = rng.integers(0, 256)
            with contextlib.suppress(Error):
                assert images.decode(bytes(data), max_pixels=1_000_000).dtype == np.uint8
