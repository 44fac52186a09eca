"""JPEG files that are damaged, odd or of rare kinds: read whole, or refused; never in part.

The references are Pillow, where it refuses what is damaged, and pixels before the damage."""

import io
import re

import numpy as np
import pytest

Image = pytest.importorskip("PIL.Image")
pytest.importorskip("torch")
from facebench import Error, images  # noqa: E402


def photograph(height=120, width=160, seed=0):
    """Smooth shades and noise, so that a block takes some bytes."""
    y, x = np.mgrid[:height, :width]
    smooth = np.stack([x * 255 // width, y * 255 // height, (x + y) % 256], -1)
    noise = np.random.default_rng(seed).integers(-20, 20, (height, width, 3))
    return np.clip(smooth + noise, 0, 255).astype(np.uint8)


def jpeg(array=None, mode=None, **options):
    out = io.BytesIO()
    array = photograph() if array is None else array
    Image.fromarray(array, mode).save(out, "JPEG", **({"quality": 85} | options))
    return out.getvalue()


def segments(data):
    """(marker, offset, length with the marker) up to the end of the file; coded data belongs to the
    marker before it."""
    found = [m.start() for m in re.finditer(b"\xff[\x01-\xfe]", data)]
    kept, at = [], 0
    for start in found:
        if start < at:  # within a segment's body
            continue
        marker = data[start + 1]
        alone = marker == 1 or 0xD0 <= marker <= 0xD9
        kept.append((marker, start))
        at = start + 2 if alone else start + 2 + int.from_bytes(data[start + 2 : start + 4], "big")
    ends = [start for _, start in kept[1:]] + [len(data)]
    return [(marker, start, end - start) for (marker, start), end in zip(kept, ends, strict=True)]


def without(data, place):
    _, start, length = place
    return data[:start] + data[start + length :]


def coded_data(data):
    """Where the first scan's coded data begins."""
    start = data.index(b"\xff\xda")
    return start + 2 + int.from_bytes(data[start + 2 : start + 4], "big")


def refused_by_pillow(data):
    try:
        Image.open(io.BytesIO(data)).convert("RGB")
    except (OSError, SyntaxError):
        return True
    return False


def test_an_error_behind_a_warning_is_an_error():
    """libjpeg-turbo 2.1 says "warning" of a fatal error that follows a warning."""
    data = jpeg()
    refused = 0
    for at in range(coded_data(data), len(data) - 70, 401):
        # No marker may be 0x56: a fatal error after the warning that the scan ends early.
        damaged = data[:at] + b"\xff" * 63 + b"\x56" + data[at + 64 :]
        assert refused_by_pillow(damaged)
        with pytest.raises(Error, match="is damaged"):
            images.decode(damaged)
        refused += 1
    assert refused > 10


@pytest.mark.parametrize(
    ("what", "most"),
    [("0xff", 2), ("noise", 20), ("zeros", 45), ("exchanged", 20), ("cut out", 40)],
)
def test_nothing_is_accepted_that_pillow_refuses(what, most):
    """What coded data cannot tell stays: Huffman codes fall into step again, and without a sign of
    it the decoder has no warning to give."""
    rng = np.random.default_rng(5)
    data = jpeg(restart_marker_rows=1)
    start, accepted = coded_data(data), 0
    for _ in range(60):
        at, other = rng.integers(start, len(data) - 70, 2)
        damaged = bytearray(data)
        if what == "0xff":
            damaged[at : at + 64] = b"\xff" * 64
        elif what == "noise":
            damaged[at : at + 64] = rng.integers(0, 256, 64, np.uint8).tobytes()
        elif what == "zeros":
            damaged[at : at + 64] = bytes(64)
        elif what == "exchanged":
            first, second = data[at : at + 64], data[other : other + 64]
            damaged[at : at + 64], damaged[other : other + 64] = second, first
        else:
            del damaged[at : at + 64]
        try:
            images.decode(bytes(damaged))
        except Error:
            continue
        accepted += 1
        assert not refused_by_pillow(bytes(damaged))
    assert accepted <= most


def test_lost_and_exchanged_restart_intervals():
    data = jpeg(restart_marker_blocks=3)
    np.testing.assert_array_equal(images.decode(data), np.asarray(Image.open(io.BytesIO(data))))
    restarts = [place for place in segments(data) if 0xD0 <= place[0] <= 0xD7]
    assert len(restarts) > 20
    for lost in (1, 3, 8, 9):  # eight are numbered alike
        gone = data
        for place in reversed(restarts[4 : 4 + lost]):
            gone = without(gone, place)
        with pytest.raises(Error, match="damaged"):
            images.decode(gone)
    # Two intervals with each other's numbers.
    (_, a, n), (_, b, m) = restarts[4], restarts[6]
    exchanged = data[:a] + data[b : b + m] + data[a + n : b] + data[a : a + n] + data[b + m :]
    with pytest.raises(Error, match="damaged"):
        images.decode(exchanged)


def test_extra_bytes_in_coded_data_are_damage_and_between_first_segments_are_not():
    data = jpeg()
    expected = images.decode(data)
    for extra in (b"\x55" * 16, b"\x55" * 64, bytes(64)):
        with pytest.raises(Error, match="extraneous bytes"):
            images.decode(data[:-2] + extra + data[-2:])
        at = data.index(b"\xff\xdb")  # between the first segments
        np.testing.assert_array_equal(images.decode(data[:at] + extra + data[at:]), expected)
        np.testing.assert_array_equal(images.decode(data + extra), expected)


def test_harmless_oddities_are_read():
    data = jpeg()
    expected = images.decode(data)
    later = bytearray(data)
    assert later[6:11] == b"JFIF\0"
    later[11] = 3  # JFIF 3.01
    sequential = bytearray(data)  # numbers that a baseline decoder does not use
    scan = data.index(b"\xff\xda")
    sequential[scan + 4 + 2 * 3 + 1 : scan + 4 + 2 * 3 + 3] = b"\0\0"
    for odd in (
        bytes(later),
        bytes(sequential),
        data + data[-2:],  # two ends
        data + data,  # another picture behind it, as MPO files have
        data + bytes(1000),
        data[:2] + b"\xff\xfe\0\6note" + data[2:],
        data[:2] + b"\xff\xff\xff" + data[3:],  # filling
    ):
        np.testing.assert_array_equal(images.decode(odd), expected)


def test_every_scan_of_a_progressive_file_is_needed():
    """The decoder shows what the others told it, without a warning."""
    data = jpeg(progressive=True)
    expected = np.asarray(Image.open(io.BytesIO(data)))
    np.testing.assert_array_equal(images.decode(data), expected)
    scans = [place for place in segments(data) if place[0] == 0xDA]
    assert len(scans) > 8
    for place in scans:
        with pytest.raises(Error, match=r"damaged|truncated"):
            images.decode(without(data, place))
    last = scans[-1]  # cut there, and closed: Pillow reads it
    closed = data[: last[1]] + b"\xff\xd9"
    assert not refused_by_pillow(closed)
    with pytest.raises(Error, match="scans of the progressive file are missing"):
        images.decode(closed)


def test_a_colour_whose_scan_is_missing():
    """A sequential file of three scans, as its own specification has it, and of two."""
    data = jpeg(photograph()[:, :, 0])
    header, scan = data.index(b"\xff\xc0"), data.index(b"\xff\xda")
    length = int.from_bytes(data[header + 2 : header + 4], "big")
    body = data[header + 4 : header + 2 + length]  # precision, height, width, one component
    component = body[6:9]
    three = body[:5] + b"\3" + b"".join(bytes([k]) + component[1:] for k in (1, 2, 3))
    frame = b"\xff\xc0" + (len(three) + 2).to_bytes(2, "big") + three
    one = data[scan:-2]
    scans = [one[:5] + bytes([k]) + one[6:] for k in (1, 2, 3)]
    rest = data[:header] + frame + data[header + 2 + length : scan]
    rest = rest.replace(b"JFIF\0", b"XXXX\0")  # Y, Cb and Cr all the same
    whole = rest + b"".join(scans) + b"\xff\xd9"
    np.testing.assert_array_equal(images.decode(whole), np.asarray(Image.open(io.BytesIO(whole))))
    with pytest.raises(Error, match="no scan holds component 3"):
        images.decode(rest + b"".join(scans[:2]) + b"\xff\xd9")


def test_headers_that_lie():
    data = jpeg()
    frame = data.index(b"\xff\xc0")
    height = int.from_bytes(data[frame + 5 : frame + 7], "big")
    for other in (height - 16, height + 16, height * 3):
        lie = data[: frame + 5] + other.to_bytes(2, "big") + data[frame + 7 :]
        with pytest.raises(Error, match="damaged"):
            images.decode(lie)
    own = jpeg(optimize=True)  # without a table the decoder takes the standard's
    tables = [(own, place) for place in segments(own) if place[0] in (0xC4, 0xDB)]
    for data, place in tables:
        with pytest.raises(Error, match="damaged"):
            images.decode(without(data, place))
    interval = b"\xff\xdd\0\4\0\3"  # restart markers that are not there
    with pytest.raises(Error, match="damaged"):
        images.decode(data[:frame] + interval + data[frame:])


def test_kinds_that_are_not_decoded_are_not_called_damaged():
    data = jpeg()
    frame = data.index(b"\xff\xc0")
    twelve = data[: frame + 4] + b"\x0c" + data[frame + 5 :]
    lossless = data[: frame + 1] + b"\xc3" + data[frame + 2 :]
    for other in (twelve, lossless):
        with pytest.raises(Error, match=r"of a kind that is not decoded .*Convert it"):
            images.decode(other)


@pytest.mark.parametrize("subsampling", [0, 1, 2])
@pytest.mark.parametrize("ycck", [False, True])
def test_cmyk_with_subsampled_colours(subsampling, ycck):
    inks = np.dstack([photograph(), photograph(seed=1)[:, :, 0] // 2])
    data = jpeg(inks, "CMYK", subsampling=subsampling, quality=90)
    if ycck:  # the same numbers, of which Adobe's marker says that three are YCbCr
        at = data.index(b"Adobe") + 11
        data = data[:at] + b"\2" + data[at + 1 :]
    c, m, y, k = np.moveaxis(255 - np.asarray(Image.open(io.BytesIO(data))).astype(int), 2, 0)
    expected = np.stack([c * k, m * k, y * k], 2) / 255
    assert np.abs(images.decode(data) - expected).max() <= 0.5
