"""Seeds of the target `lists`: small releases of data sets, as their readers accept them, and wrong
ones, each with one thing that a reader has to refuse."""

import io
import re
import struct
import sys
from pathlib import Path

import numpy as np
import scipy.io

sys.path.insert(0, str(Path(__file__).parents[1]))
from small_protocol import small_protocol

BETWEEN = b"\n==>\n"  # files.h


def mat(**variables):
    """A MAT-5 file; lists of texts as columns of cells."""
    file = io.BytesIO()
    scipy.io.savemat(file, {name: cells(v) for name, v in variables.items()}, do_compression=True)
    return without_time(file)


def without_time(file):
    """The bytes with a head that says nothing of day and machine."""
    return b"MATLAB 5.0 MAT-file".ljust(116) + bytes(8) + file.getvalue()[124:]


def element(kind, data):
    """A part of a MAT-5 file, filled up to 8 bytes."""
    return struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8)


def array(kind, columns, data):
    """The variable `n`, of one row."""
    flags, name = element(6, struct.pack("<II", kind, 0)), element(1, b"n")
    return element(14, flags + element(5, struct.pack("<II", 1, columns)) + name + data)


def mats():
    """MAT-5 files with texts of every length in UTF-8, structures, and damage."""
    whole = mat(
        texts=["a", "é", "€", "\U0001f600"], one={"a": 1.0, "b": {"c": "d"}}, none=np.zeros((0, 0))
    )
    plain = io.BytesIO()
    scipy.io.savemat(plain, {"names": cells(["Ann", "é"]), "n": np.arange(6.0).reshape(2, 3)})
    data = without_time(plain)
    seeds = {"texts.mat": whole, "open.mat": data, "new.mat": data[:124] + b"\0\2IM" + data[128:]}
    seeds["twice.mat"] = data + data[128:]
    for name, (kind, letters) in {
        "utf16": (17, "Aé€\U0001f600".encode("utf-16-le")),
        "uint16": (4, "Aé".encode("utf-16-le")),
        "latin": (2, b"A\xe9"),
        "half": (17, b"\x3d\xd8A\0"),
        "end_half": (17, b"\x3d\xd8"),
        "odd": (17, b"A\0B"),
        "double": (9, bytes(8)),
        "not_utf8": (16, b"\xff"),
    }.items():
        seeds[f"text.{name}.mat"] = data[:128] + array(
            4, len(letters) // 2 or 1, element(kind, letters)
        )
    cells_of = element(14, b"") + array(4, 1, element(16, b"a"))
    seeds["empty_cell.mat"] = data[:128] + array(1, 2, cells_of)
    seeds["numbers.mat"] = data[:128] + array(6, 1, element(17, bytes(8)))
    seeds["huge.mat"] = data[:128] + array(6, 0x7FFFFFFF, element(9, bytes(8)))
    for k in range(24):
        at = 128 + (len(data) - 128) * k // 24 // 4 * 4
        seeds[f"cut{k}.mat"] = data[:at]
        seeds[f"changed{k}.mat"] = data[:at] + bytes([data[at] ^ 7]) + data[at + 1 :]
    return seeds


def cells(value):
    if not isinstance(value, list):
        return value
    rows = [v if isinstance(v, tuple) else (v,) for v in value]
    array = np.empty((len(rows), len(rows[0])), object)
    for row, fields in enumerate(rows):
        array[row] = [cells(f) for f in fields]
    return array


def column(*numbers):
    return np.array(numbers, float)[:, None]


def seed(protocol, *files, **named):
    """One seed: the protocol, its files, then further ones by name."""
    parts = [protocol, *files, *(f"@{n.replace('__', '/')}\n" for n in named.get("empty", ()))]
    parts += [b"@" + name.encode() + b"\n" + data for name, data in named.get("more", {}).items()]
    return BETWEEN.join(p if isinstance(p, bytes) else p.encode() for p in parts)


def search(protocol, names, folder, **changes):
    """Searches among the images of two MAT files and a folder: SurvFace, TinyFace."""
    files = []
    for what, images, people in (
        (names[0], ["1_a.jpg", "1_b.jpg", "2_a.jpg"], (1, 1, 2)),
        (names[1], ["1_c.jpg", "2_b.jpg"], (1, 2)),
    ):
        values = {f"{what}_set": images, f"{what}_ids": column(*people), **changes.get(what, {})}
        files.append(mat(**{name: v for name, v in values.items() if v is not None}))
    empty = changes.get("empty", (f"{folder}__9.jpg", f"{folder}__10.jpg", f"{folder}__.x"))
    return seed(protocol, *files, empty=empty)


def survface_search(**changes):
    return search("survface_1_n", ("gallery", "mated_probe"), "unmated_probe", **changes)


def blufr(protocol, **changes):
    variables = {
        "imageList": ["Ann_0001.jpg", "Ann_0002.jpg", "Bob_0001.jpg", "Cat_0001.jpg"],
        "labels": column(1, 1, 2, 3),
        "testIndex": [column(1, 2, 3, 4), column(1, 2, 3)],
        "galIndex": [column(1, 3), column(1)],
        "probIndex": [column(2, 4), column(2, 3)],
    } | changes
    return seed(protocol, mat(**{name: v for name, v in variables.items() if v is not None}))


def agedb(*splits, name="splits"):
    """`splits`: (pairs of names, labels) each."""
    array = np.empty((1, len(splits)), object)
    for k, (pairs, labels) in enumerate(splits):
        names = np.empty((2, len(pairs)), object)
        for i, pair in enumerate(pairs):
            names[:, i] = pair
        fields = np.empty((1, 2), object)
        fields[0, 0], fields[0, 1] = names, column(*labels)
        array[0, k] = fields
    return seed("agedb30", mat(**{name: array}))


AGEDB = ([("1_Ann_20", "2_Ann_50"), ("1_Ann_20", "3_Bob_31")], (1, 0))


def releases():
    """Name -> seed that is accepted."""
    genuine = [("1_a.jpg", "1_b.jpg"), ("2_a.jpg", "2_b.jpg")]
    impostor = [("1_a.jpg", "2_b.jpg"), ("2_a.jpg", "1_b.jpg")]
    return {
        "survface_1_1": seed(
            "survface_1_1", mat(positive_pairs_names=genuine), mat(negative_pairs_names=impostor)
        ),
        "survface_1_n": survface_search(),
        "tinyface": search("tinyface", ("gallery", "probe"), "Gallery_Distractor"),
        "blufr_1_1": blufr("lfw_blufr_1_1"),
        "blufr_1_n": blufr("lfw_blufr_1_n"),
        "agedb30": agedb(AGEDB, AGEDB),
        "agedb30.other": seed("agedb30", b"", more={"AgeDB_30.mat": b"not read"}),
        "folders": seed(
            "folders",
            more={
                "Ann/1.jpg": b"a",
                "Ann/2.PNG": b"b",
                "Ann/copy.jpg": b"a",
                "Ann/notes.txt": b"c",
                "Ann/.hidden": b"d",
                "Bob/1.jpg": b"e",
                "Bob/2.jpg": b"f",
                "Bob/of_cat.jpg": b"g",
                "Cat/1.jpg": b"g",
                "Dan/1.ppm": b"h",
                "loose.jpg": b"i",
            },
        ),
        "umdfaces_listed": seed("umdfaces_listed", FACES, UMDFACES_PAIRS),
        "quality_scores": seed(
            small_protocol('name = "ijba_quality"\nscores = "q.csv"\nlow_below = 0.3\n'
            'high_from = 0.6\nidentity = "folder"'),
            QUALITIES,
        ),
        "quality_scores.people": seed(
            small_protocol(
                'name = "ijba_quality"\nscores = "q.csv"\nlow_below = 0.3\nhigh_from = 0.6'
            ),
            "sample,quality,identity\n1.jpg,0.1,a\n2.jpg,0.5,a\n3.jpg,0.9,a\n4.jpg,0.9,b\n",
        ),
        **{f"pairs.{rule}": pairs_named(rule) for rule in ("before_last_underscore", "first_word",
           "second_part", "parent_folder", "genuine")},
        "ijbb_official": ijb("ijbb_1_1"),
        "ijbb_official_n": ijb("ijbb_1_n"),
        "ijbb_official_pooled": ijb("ijbb_1_n_pooled"),
    }  # fmt: skip


FACES = (
    "SUBJECT_ID,FILE,FACE_X,FACE_Y,FACE_WIDTH,FACE_HEIGHT,YAW,PITCH,ROLL\n"
    "1,1/a.jpg,1,1,9,9,1.5,0,0\n1,1/b.jpg,1,1,9,9,30,0,0\n2,2/a.jpg,1,1,9,9,-60,0,0\n"
)
UMDFACES_PAIRS = (
    "first,second,label,track\n1/a.jpg,1/b.jpg,1,easy\n1/a.jpg,2/a.jpg,0,easy\n"
    "1/b.jpg,1/a.jpg,1,difficult\n1/b.jpg,2/a.jpg,0,difficult\n"
)
QUALITIES = "sample,quality\na/1.jpg,0.1\na/2.jpg,0.5\na/3.jpg,0.9\nb/1.jpg,0.2\nb/2.jpg,0.8\n"


def pairs_named(rule):
    """A list of pairs of which `rule` says who is on an image."""
    return seed(
        small_protocol(f'name = "pairs"\nfile = "p.csv"\nidentity = "{rule}"'),
        "first,second,label\nx/1_Ann_2.jpg,x/3_Ann_4.jpg,1\nx/1_Ann_2.jpg,x/5_Bob_6.jpg,0\n"
        "x/5_Bob_6.jpg,x/7_Bob_8.jpg,1\nx/12.jpg,x/Cat.jpg,0\n",
    )


HEADER = "TEMPLATE_ID,SUBJECT_ID,FILENAME,SIGHTING_ID,FACE_X,FACE_Y,FACE_WIDTH,FACE_HEIGHT\n"


def ijb(protocol):
    """NIST's lists of IJB-B, two people in each gallery and both among the probes."""
    rows = "{0},{1},img/{0}.jpg,{0},1,2,30,40\n"
    sides = {
        "ijbb_1N_gallery_S1.csv": ((1, 1), (2, 2)),
        "ijbb_1N_gallery_S2.csv": ((3, 3), (4, 4)),
        "ijbb_1N_probe_mixed.csv": ((5, 1), (6, 3), (7, 2), (8, 4)),
    }
    more = {
        name: (HEADER + "".join(rows.format(*row) for row in side)).encode()
        for name, side in sides.items()
    }
    more["ijbb_11_S1_S2_matches.csv"] = b"1,5\n1,6\n3,6\n2,7\n4,7\n"
    return seed(protocol, more=more)


def blemished(seed):
    """Name -> the same lists with what may be mended, or with an error."""
    protocol, *files = seed.split(BETWEEN)
    if not files or any(b"\0" in f or not f or f.startswith(b"@") for f in files):
        return {}
    last = files[-1].rstrip(b"\n").split(b"\n")
    fields = re.split(rb"([\t, ])", last[-1])

    def with_last(*lines):
        return BETWEEN.join([protocol, *files[:-1], b"\n".join([*last[:-1], *lines, b""])])

    changed = b"".join([*fields[:-1], b"x\x01y"])
    return {
        "marked": BETWEEN.join(
            [protocol, *(b"\xef\xbb\xbf" + f.replace(b"\n", b" \r\n\r\n") for f in files)]
        ),
        "blanks": BETWEEN.join([protocol, *(f.replace(b",", b" , ") + b"\n" for f in files)]),
        "latin": BETWEEN.join([protocol, *(f.replace(b"A", b"\xc4") for f in files)]),
        "twice": with_last(last[-1], last[-1]),
        "cut": with_last(),
        "word": with_last(changed),
        "number": with_last(b"".join([b"9999999", *fields[1:]])),
        "fields": with_last(last[-1] + b"\t7,8 9"),
        "first": BETWEEN.join([protocol, *(b"7\t8\t9\t7\t1\n" + f for f in files)]),
        "empty": BETWEEN.join([protocol, *files[:-1], b""]),
    }


def wrong():
    """Name -> seed that a reader refuses, or says something of."""
    two = [("1_a.jpg", "1_b.jpg")]
    found = {
        "survface.columns": seed(
            "survface_1_1", mat(positive_pairs_names=["a"]), mat(negative_pairs_names=two)
        ),
        "survface.variable": seed("survface_1_1", mat(other=two), mat(negative_pairs_names=two)),
        "survface.slash": survface_search(gallery={"gallery_set": ["a/b.jpg", "c.jpg", "d.jpg"]}),
        "survface.twice": survface_search(gallery={"gallery_set": ["a.jpg", "a.jpg", "d.jpg"]}),
        "survface.person": survface_search(gallery={"gallery_ids": column(1, 1.5, 2)}),
        "survface.ids": survface_search(gallery={"gallery_ids": column(1)}),
        "survface.folder": survface_search(empty=()),
        "survface.no_images": survface_search(empty=("unmated_probe__.x",)),
        "agedb.variable": agedb(AGEDB, name="other"),
        "agedb.label": agedb((AGEDB[0], (1, 2))),
        "agedb.labels": agedb((AGEDB[0], (1,))),
        "agedb.number": agedb(([(1.0, 2.0)], (1,))),
        "agedb.fields": seed("agedb30", mat(splits=[column(1, 2)])),
        "agedb.cells": seed("agedb30", mat(splits=column(1, 2))),
        "folders.one": seed("folders", more={"Ann/1.jpg": b"a", "Ann/2.jpg": b"b"}),
        "folders.in_the_way": seed("folders", more={"Ann": b"a", "Ann/1.jpg": b"b"}),
        "folders.single": seed("folders", more={"Ann/1.jpg": b"a", "Bob/2.jpg": b"b"}),
        "umdfaces_listed.label": seed(
            "umdfaces_listed", FACES, UMDFACES_PAIRS.replace("1,easy", "2,easy")
        ),
        "umdfaces_listed.name": seed(
            "umdfaces_listed", FACES, UMDFACES_PAIRS.replace("1/b", "9/b")
        ),
        "umdfaces_listed.empty": seed(
            "umdfaces_listed", FACES, UMDFACES_PAIRS.splitlines()[0] + "\n"
        ),
        "umdfaces_listed.yaw": seed("umdfaces_listed", FACES.replace("30,", "3000,"), ""),
        "quality_scores.rule": seed(
            small_protocol(
                'name = "ijba_quality"\nscores = "q.csv"\nlow_below = 0.9\nhigh_from = 0.6'
            ),
            QUALITIES,
        ),
        "quality_scores.nobody": seed(
            small_protocol(
                'name = "ijba_quality"\nscores = "q.csv"\nlow_below = 0.3\n'
                'high_from = 0.6\nidentity = "second_part"'
            ),
            QUALITIES,
        ),
        "quality_scores.none": seed(
            small_protocol(
                'name = "ijba_quality"\nscores = "q.csv"\nlow_below = 0\nhigh_from = 0.6'
            ),
            QUALITIES,
        ),
    }
    changes = {
        "no_list": {"imageList": None},
        "labels": {"labels": column(1)},
        "form": {"imageList": ["Ann.jpg", "Ann_0002.jpg", "Bob_0001.jpg", "Cat_0001.jpg"]},
        "twice": {"imageList": ["Ann_1.jpg", "Ann_1.jpg", "Bob_0001.jpg", "Cat_0001.jpg"]},
        "two_people": {"labels": column(1, 1, 1, 3)},
        "two_labels": {"labels": column(1, 4, 2, 3)},
        "place": {"testIndex": [column(1, 2.5), column(1)]},
        "place_twice": {"testIndex": [column(1, 1), column(1)]},
        "empty": {"testIndex": [column(), column(1)]},
        "no_cells": {"testIndex": column(1, 2)},
        "few": {"galIndex": [column(1, 3)]},
        "not_tested": {"galIndex": [column(1, 3), column(4)]},
    }
    for name, change in changes.items():
        found[f"blufr.{name}"] = blufr("lfw_blufr_1_n", **change)
    return found
