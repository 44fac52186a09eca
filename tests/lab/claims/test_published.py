"""Published tables: what the texts say of their own numbers, and the slips that are known."""

import importlib.util
import itertools
import re

import facebench
import pytest
from facebench import claims, protocols

SETS = ["UMDFaces", "WebFace", "VGGFace2", "MS-Celeb-1M"]


@pytest.fixture(scope="module")
def paper():
    return claims.load_published("wang-guo-2019")


def errata(table, row, column, kind=None):
    return [
        e
        for e in table.errata
        if (not e["rows"] or row in e["rows"])
        and (not e["columns"] or column in e["columns"])
        and (kind is None or e["kind"] == kind)
    ]


def row_of(table, name):
    return next(r for r in table.rows if r["name"] == name)


def test_every_publication_is_there_and_shows_itself():
    names = [p["name"] for p in claims.list_published()]
    assert names == [
        "insightface-ijb",
        "liu-2018",
        "shi-2016",
        "tian-2020",
        "wang-guo-2019",
        "wu-2018",
    ]
    for name in names:
        publication = claims.load_published(name)
        assert publication.citation and re.fullmatch("[0-9a-f]{64}", publication.sha256)
        for table in publication.tables:
            assert table._repr_html_().count("<tr>") == len(table) + 1


def test_tables_have_the_sizes_of_the_paper(paper):
    sizes = {t.id: (len(t), len(t.columns)) for t in paper.tables}
    assert sizes == {
        "table-1": (5, 7),
        "table-2": (14, 9),
        "table-3": (6, 20),
        "table-4": (7, 20),
        "table-5": (6, 20),
        "table-10": (3, 20),
        "table-11": (5, 2),
        "table-12": (12, 2),
        "table-13": (3, 3),
        "table-14": (4, 20),
        "table-15": (4, 11),
        "table-16": (4, 3),
        "throughput": (12, 5),
        "gains": (16, 1),
        "memory": (20, 2),
    }


def test_addresses_are_numbers_of_our_protocols(paper):
    known = {}
    for column in {c["id"]: c for t in paper.tables for c in t.columns}.values():
        address = column["measures"]
        if address is None:
            continue
        spec = known.setdefault(address["protocol"], protocols.load_protocol(address["protocol"]))
        metrics = set()
        for m in spec.metrics:
            name = {"tar_at_far": "tar@far={}"}.get(m["name"], m["name"])
            metrics |= {name.format(f"{t:g}") for t in m["targets"]} or {name}
        assert address["metric"] in metrics, address
        for word in (address["track"], address["row"], address["column"]):
            assert word in spec.text + "view2 low2high middle2high", address
    assert set(known) == {
        "lfw", "vggface2_pose", "vggface2_age", "ijba_quality", "dfw", "umdfaces_listed"
    }  # fmt: skip


def test_what_the_text_says_of_single_numbers(paper):
    lfw = {
        t: {r["name"]: paper[t][r["name"], "lfw"] for r in paper[t].rows}
        for t in ("table-3", "table-4", "table-5", "table-14")
    }
    # "AlexNet-v2 performs the worst", "GoogLeNet can reach 97.8%", "Inception-v3 gets 98.5%".
    assert min(lfw["table-3"], key=lfw["table-3"].get) == "AlexNet-v2"
    assert lfw["table-4"]["GoogLeNet"] == max(lfw["table-4"].values()) == 97.8
    assert lfw["table-5"]["Inception-v3"] == max(lfw["table-5"].values()) == 98.5
    # Section 4.4: MS-Celeb-1M 0.1 % better than VGGFace2; UMDFaces last by a margin.
    assert lfw["table-14"]["MS-Celeb-1M"] - lfw["table-14"]["VGGFace2"] == pytest.approx(0.1)
    assert min(lfw["table-14"], key=lfw["table-14"].get) == "UMDFaces"
    # "LightCNN-29 beats the others by a pronounced margin" on VGGFace2-test and IJB-A.
    light = paper["table-4"]
    for column in ("pose_frontal_frontal", "age_young_mature", "low2high_0_1"):
        best = max(light.rows, key=lambda r, c=column: light[r["name"], c])
        assert best["name"] == "LightCNN-29"
    # WebFace is best on DFW, VGGFace2 on all UMDFaces tracks and low to high.
    for table, column, best in (
        ("table-15", "dfw_1", "WebFace"),
        ("table-15", "umd_difficult_0_01", "VGGFace2"),
        ("table-14", "low2high_1", "VGGFace2"),
        ("table-14", "middle2high_1", "MS-Celeb-1M"),
    ):
        assert max(SETS, key=lambda s, t=table, c=column: paper[t][s, c]) == best


def test_matrices_are_no_symmetric_copies_and_similarities_are_cosines(paper):
    values = [v for t in ("table-3", "table-4", "table-5", "table-14") for v in
              claims.find_published(table=t) if v["unit"] == "similarity"]  # fmt: skip
    assert len(values) == 23 * 13
    assert all(0.2 < v["value"] < 0.9 and v["half_unit"] == 0.0005 for v in values)
    for table in (paper[t] for t in ("table-3", "table-4", "table-5", "table-14")):
        for r in table.rows:
            one = table[r["name"], "pose_frontal_profile"]
            other = table[r["name"], "pose_profile_frontal"]
            assert one != other and abs(one - other) < 0.02


def test_rates_fall_with_the_rate_of_false_accepts(paper):
    for table, prefixes in (
        ("table-3", ("low2high", "middle2high")),
        ("table-4", ("low2high", "middle2high")),
        ("table-5", ("low2high", "middle2high")),
        ("table-14", ("low2high", "middle2high")),
        ("table-15", ("umd_easy", "umd_moderate", "umd_difficult")),
    ):
        for r, prefix in itertools.product(paper[table].rows, prefixes):
            rates = [paper[table][r["name"], f"{prefix}_{far}"] for far in ("1", "0_1", "0_01")]
            assert rates == sorted(rates, reverse=True) and len(set(rates)) == 3


def test_table_10_repeats_tables_3_to_5_but_for_the_known_digits(paper):
    ten = paper["table-10"]
    for table, row in (("table-3", "PyTorch-based"), ("table-4", "Caffe-based"),
                       ("table-5", "TensorFlow-based")):  # fmt: skip
        differing = [
            c["id"]
            for c in ten.columns
            if ten[row, c["id"]] != paper[table]["DenseNet-121", c["id"]]
        ]
        assert differing == [c["id"] for c in ten.columns if errata(ten, row, c["id"], "disagrees")]
    assert ten["TensorFlow-based", "low2high_0_01"] == 9.7
    assert paper["table-5"]["DenseNet-121", "low2high_0_01"] == 9.8
    assert ten["TensorFlow-based", "pose_profile_profile"] == 0.767
    assert paper["table-5"]["DenseNet-121", "pose_profile_profile"] == 0.766


def test_rows_that_are_copies_are_marked(paper):
    for table in paper.tables:
        numbers = [c["id"] for c in table.columns if c["id"].startswith(("low2", "middle2"))]
        if not numbers:
            continue
        for a, b in itertools.combinations([r["name"] for r in table.rows], 2):
            near = all(abs(table[a, c] - table[b, c]) <= 0.21 for c in numbers)
            marked = all(errata(table, n, numbers[0], "duplicate") for n in (a, b))
            assert near == marked, (table.id, a, b)
    assert row_of(paper["table-4"], "Inception-v3")["printed"][-6:] == [
        "29.65", "12.34", "4.52", "61.2", "38.53", "24.24"
    ]  # fmt: skip


def test_speed_ups_by_equation_6(paper):
    table = paper["throughput"]
    for r in table.rows:
        name = r["name"]
        for n in (2, 4):
            half, full = table[name, f"rate_{n // 2}"], table[name, f"rate_{n}"]
            speedup = 100 * (full - half) / half
            printed = table[name, f"speedup_{n}"]
            if printed is None:  # the text says "over 50%" of two of them
                assert name in ("VGG-16, PyTorch", "VGG-16, TensorFlow") and speedup > 50
                continue
            found = errata(table, name, f"speedup_{n}", "miscomputed")
            assert (abs(speedup - printed) > 1) == bool(found), (name, n)
            if found:
                assert float(found[0]["suggests"]) == pytest.approx(speedup, abs=0.05)
    assert table["Inception-v3, TensorFlow", "speedup_4"] == 68


def test_bandwidths_of_table_1_follow_from_width_and_speed(paper):
    table = paper["table-1"]
    for r in table.rows:
        computed = table[r["name"], "memory_width"] * table[r["name"], "memory_speed"] / 8
        assert computed == pytest.approx(table[r["name"], "bandwidth"], abs=0.6), r["name"]


def test_means_of_table_16(paper):
    table = paper["table-16"]
    for r in table.rows:
        mean = table[r["name"], "images"] / table[r["name"], "subjects"]
        assert round(mean) == table[r["name"], "images_per_subject"]
    # The images of VGGFace2 stayed when 221 of its 8,631 subjects went.
    assert 8631 - table["VGGFace2", "subjects"] == 221
    assert errata(table, "VGGFace2", "images", "disagrees")


def test_counts_of_parameters(paper):
    table = paper["table-2"]
    alexnet = {f: table["AlexNet-v2", f"parameters_{f}"] for f in ("pytorch", "tensorflow")}
    difference = alexnet["pytorch"] - alexnet["tensorflow"]
    wrong = errata(table, "AlexNet-v2", "parameters_pytorch", "disagrees")[0]
    assert float(wrong["suggests"]) == pytest.approx(difference, abs=0.05)
    if importlib.util.find_spec("facebench._full") is None:
        pytest.skip("the network graphs need the full library")

    def count(network, rule="parameters", **options):
        graph = facebench.nn.build_graph(network, classes=10575, **options)
        return graph.count_parameters(rule) / 1e6

    blob = "caffe_first_blob"
    cells = {
        ("AlexNet-v1", "caffe"): count("alexnet_v1", blob),
        ("VGG-16", "caffe"): count("vgg16", blob),
        ("GoogLeNet", "caffe"): count("googlenet_bvlc", blob),
        ("DenseNet-121", "caffe"): count("densenet121", blob),
        ("Center-loss", "caffe"): count("centerloss", blob),
        ("GoogLeNet", "tensorflow"): count("googlenet_slim"),
        ("Inception-v3", "tensorflow"): count("inception_v3_slim"),
        ("AlexNet-v2", "tensorflow"): count("alexnet_v2_slim"),
        ("ResNet-50", "tensorflow"): count("resnet50_slim"),
        ("AlexNet-v2", "pytorch"): count("alexnet_v2"),
        ("DenseNet-121", "pytorch"): count("densenet121"),
        ("ResNet-50", "pytorch"): count("resnet50"),
        ("VGG-16", "pytorch"): count("vgg16"),
        ("VGG-16-BN", "pytorch"): count("vgg16_bn"),
    }
    for (row, framework), counted in cells.items():
        assert table[row, f"parameters_{framework}"] == pytest.approx(counted, abs=0.0101), row
    slips = {
        "LightCNN-29": (count("lightcnn9", blob), count("lightcnn29", blob)),
        "SphereFace": (
            count("sphereface20", blob, height=224, width=224),
            count("sphereface20", blob, height=112, width=96),
        ),
    }
    for row, (as_printed, as_labelled) in slips.items():
        assert table[row, "parameters_caffe"] == pytest.approx(as_printed, abs=0.0101), row
        wrong = errata(table, row, "parameters_caffe", "mislabelled")[0]
        assert float(wrong["suggests"]) == pytest.approx(as_labelled, abs=0.0101), row


# Table 12, typed in once more: fan_in and fan_out as i and o, "-" where a cell is empty.
INITIAL = {
    "VGG-16": {
        "PyTorch": ("N(0, r(2/o))", "[-r(1/i), r(1/i)]"),
        "Caffe": ("[-r(3/i), r(3/i)]", "[-r(3/i), r(3/i)]"),
        "TensorFlow": ("[-r(6/(i+o)), r(6/(i+o))]", "-"),
    },
    "Inception-v3": {
        "PyTorch": ("N(0, stddev), -2 <= W <= 2", "[-r(1/i), r(1/i)]"),
        "Caffe": ("input: N(0, r(2/(i+o)))", "input: N(0, r(2/(i+o)))"),
        "TensorFlow": ("[-r(6/(i+o)), r(6/(i+o))]", "-"),
    },
    "ResNet-50": {
        "PyTorch": ("N(0, r(2/o))", "[-r(1/i), r(1/i)]"),
        "Caffe": ("input: N(0, r(2/o)); others: N(0, r(2/i))", "N(0, 0.01)"),
        "TensorFlow": ("[-r(6/(i+o)), r(6/(i+o))]", "-"),
    },
    "DenseNet-121": {
        "PyTorch": ("N(0, r(2/i))", "[-r(1/i), r(1/i)]"),
        "Caffe": ("[-r(3/i), r(3/i)]", "-"),
        "TensorFlow": ("[-r(6/(i+o)), r(6/(i+o))]", "[-r(6/(i+o)), r(6/(i+o))]"),
    },
}


def test_text_cells_of_table_12(paper):
    table = paper["table-12"]
    for network, frameworks in INITIAL.items():
        for framework, cells in frameworks.items():
            for column, wanted in zip(("convolution_init", "linear_init"), cells, strict=True):
                text = table[f"{network} ({framework})", column] or "-"
                for long, short in (("fan_in", "i"), ("fan_out", "o"), ("sqrt", "r"), (" / ", "/")):
                    text = text.replace(long, short)
                text = re.sub(r"U\((-.*)\)$", r"[\1]", text).replace(" + ", "+")
                assert text == wanted, (network, framework, column)


def test_text_cells_of_table_11(paper):
    """The numbers of each cell in their order, and its steps by a word of each."""
    table = paper["table-11"]
    imagenet = [0, 1, 0.485, 0.456, 0.406, 0.229, 0.224, 0.225]
    means = [123.68, 116.779, 103.939]
    caffe = [87.1, 102.7, 134.6, 0, 1]
    cells = [
        ("random size aspect resized flip range mean deviation", imagenet,
         "central resized range mean deviation", imagenet),
        ("smaller aspect flip crop subtracted", [224, 224, *means],
         "smaller aspect central subtracted", [224, 224, *means]),
        ("range distorted resized colours range", [0, 1, -1, 1],
         "range central resized range", [0, 1, -1, 1]),
        ("crop flip transposed BGR subtracted scaled", [127.5] * 3 + [-1, 1],
         "central resized transposed BGR subtracted scaled", caffe),
        ("crop flip transposed BGR subtracted scaled", caffe, None, None),
    ]  # fmt: skip
    for row, (*training, evaluation, numbers) in zip(table.rows, cells, strict=True):
        for column, words, wanted in (("training", *training), ("evaluation", evaluation, numbers)):
            text = table[row["name"], column]
            if words is None:
                assert text is None
                continue
            place = -1
            for word in words.split():
                assert (place := text.find(word, place + 1)) >= 0, (row["name"], column, word)
            assert [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?", text)] == wanted, row["name"]


def test_known_slips_are_all_marked(paper):
    marked = [
        ("table-2", "LightCNN-29", "parameters_caffe", "mislabelled"),
        ("table-2", "SphereFace", "parameters_caffe", "mislabelled"),
        ("table-2", "VGG-16", "parameters_caffe", "counted_differently"),
        ("table-2", "ArcFace", "batch", "unstated"),
        ("table-4", "Inception-v3", "low2high_1", "duplicate"),
        ("table-5", "Inception-v3", "low2high_1", "duplicate"),
        ("table-15", "VGGFace2", "umd_easy_0_01", "unresolved"),
        ("table-15", "MS-Celeb-1M", "dfw_1", "disagrees"),
        ("throughput", "Inception-v3, TensorFlow", "speedup_4", "miscomputed"),
        ("table-16", "VGGFace2", "images", "disagrees"),
    ]
    for table, row, column, kind in marked:
        assert errata(paper[table], row, column, kind), (table, row, column)
    assert not errata(paper["table-3"], "ResNet-50", "lfw")


def test_wu_2018_repeats_itself():
    paper = claims.load_published("wu-2018")
    for libraries, baseline in (("table-10", "table-6-mnist"), ("table-11", "table-7-mnist")):
        for framework, library in (("TensorFlow", "Eigen"), ("Caffe", "OpenBLAS"),
                                   ("Torch", "OpenBLAS"), ("Theano", "OpenBLAS")):  # fmt: skip
            short = {"TensorFlow": "TF"}.get(framework, framework)
            for column in ("train", "test", "accuracy"):
                one = paper[libraries][f"{framework}, {library}", column]
                assert one == paper[baseline][f"{short}-CPU", column]
    assert paper["table-9"]["Caffe, GPU-1", "train"] == paper["table-6-mnist"]["Caffe-GPU", "train"]
    mkl = paper["table-9"]["Caffe, MKL (CPU-2)", "train"]
    assert mkl == paper["table-11"]["Caffe, MKL", "train"]
    twelve = paper["table-12"]
    for framework in ("Caffe", "Torch", "Theano"):
        row = f"{framework}, unset"
        same = twelve[row, "train"] == paper["table-7-mnist"][f"{framework}-CPU", "train"]
        assert same != bool(errata(twelve, row, "train", "disagrees"))
    for table in ("table-10", "table-11", "table-12", "table-22"):
        for r in paper[table].rows:
            parts = [paper[table][r["name"], p] for p in ("user", "system", "iowait")]
            assert sum(parts) == pytest.approx(paper[table][r["name"], "total"], abs=0.0201), r
    # "100000 iterations on 1, 2, 4 GPUs": weak scaling.
    eight = paper["table-8"]
    for r in eight.rows:
        per_gpu, total = eight[r["name"], "batch_gpu"], eight[r["name"], "batch_total"]
        assert total == per_gpu * int(r["conditions"]["devices"])


def test_wu_2018_sizes_are_those_of_the_files():
    """Table I in MiB: raw, IDX files of a byte a pixel and label; in memory, four bytes."""
    table = claims.load_published("wu-2018")["table-1"]
    for row, images in (("MNIST, training", 60_000), ("MNIST, testing", 10_000)):
        raw, held = 16 + 784 * images + 8 + images, 4 * 785 * images
        assert table[row, "raw"] == pytest.approx(raw / 2**20, abs=0.0099)
        assert table[row, "in_memory"] == pytest.approx(held / 2**20, abs=0.0051)
    for row, images in (("CIFAR-10, training", 50_000), ("CIFAR-10, testing", 10_000)):
        assert table[row, "in_memory"] == pytest.approx(4 * 1025 * images / 2**20, abs=0.0051)
        (slip,) = errata(table, row, "in_memory", "mislabelled")
        assert f"{4 * 3073 * images / 2**20:.2f}" in slip["note"]


def test_shi_2016_sizes_follow_from_the_layers():
    paper = claims.load_published("shi-2016")
    for table, row, widths, kind in (
        ("table-2", "FCN-S", [26752, 2048, 2048, 2048, 2048, 26752], "miscomputed"),
        ("table-3", "FCN-R", [784, 2048, 4096, 1024, 10], "miscomputed"),
    ):
        count = sum((a + 1) * b for a, b in itertools.pairwise(widths))
        (slip,) = errata(paper[table], row, "parameters", kind)
        assert f"{count / 1e6:.2f} million" in slip["note"]
        assert paper[table][row, "input"] == widths[0]
    first_layer = 26752 * 2048
    assert first_layer / 1e6 == pytest.approx(55, abs=0.5)  # what table 2 prints
    assert errata(paper["table-2"], "ResNet-50", "parameters", "mislabelled")
    assert not errata(paper["table-2"], "AlexNet-S", "parameters")


def test_shi_2016_repeats_itself():
    paper = claims.load_published("shi-2016")
    one, many = paper["table-7"], paper["table-8"]
    assert (len(one), len(many)) == (35, 15)
    for network, tool in itertools.product(
        ("AlexNet-R", "ResNet-56"), ("Caffe", "CNTK", "TF", "MXNet", "Torch")
    ):
        row = f"{network}, {tool}"
        assert many[row, "gpu_1"] == pytest.approx(one[row, "k80"], abs=0.0011), row
    assert one["ResNet-50, MXNet", "gtx1080"] == 0.136
    assert one["ResNet-50, Torch", "server_16"] == 3.683
    assert all(many[r["name"], "gpu_2"] < many[r["name"], "gpu_1"] for r in many.rows)


def test_finding_values():
    (value,) = claims.find_published(
        table="table-14", training_set="vggface2", protocol="ijba_quality", metric="tar@far=0.0001",
        track="low2high",
    )  # fmt: skip
    assert (value["printed"], value["value"], value["half_unit"]) == ("38.1", 38.1, 0.05)
    assert value["conditions"]["network"] == "resnet50"
    with pytest.raises(ValueError, match="did you mean 'network'"):
        claims.find_published(netwrok="resnet50")
    with pytest.raises(ValueError, match="did you mean 'wang-guo-2019'"):
        claims.find_published("wang-guo-2018")


MINE = """
id = "mine"
version = 1
title = "Mine"
citation = "Me, 2020."
[[columns]]
id = "lfw"
title = "LFW"
unit = "%"
protocol = "lfw"
track = "view2"
metric = "accuracy"
[[tables]]
id = "one"
place = "table 1"
title = "One"
columns = ["lfw"]
conditions = { network = "own", loss = "softmax", training_set = "webface" }
[[tables.rows]]
name = "a"
values = ["99.40"]
[[tables.errata]]
kind = "unstated"
rows = ["a"]
note = "Why not."
"""


def test_ones_own_file_is_read_alike(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(MINE)
    assert claims.load_published(path)["one"]["a", "lfw"] == 99.4
    assert claims.find_published(path)[0]["half_unit"] == pytest.approx(0.005)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('unit = "%"', 'unit = "percents"', r"mine.toml:9: unknown unit 'percents'"),
        ('columns = ["lfw"]', 'columns = ["lwf"]', "mine.toml:17: .*did you mean 'lfw'"),
        ('values = ["99.40"]', 'values = ["99.4O"]', "mine.toml:21: .*'99.4O' is not a number"),
        ('values = ["99.40"]', 'values = ["1", "2"]', "mine.toml:21: 2 values for 1 columns"),
        ("training_set =", "trainingset =", "mine.toml:18: .*did you mean 'training_set'"),
        ('kind = "unstated"', 'kind = "unsated"', "mine.toml:23: .*did you mean 'unstated'"),
        ('rows = ["a"]', 'rows = ["b"]', "mine.toml:24: unknown row 'b'"),
        ('note = "Why', 'nota = "x"\nnote = "Why', "mine.toml:25: .*nota"),
        ('metric = "accuracy"\n', "", "metric"),
        ('place = "table 1"', "", "place"),
        ('name = "a"', 'name = "a"\nvalues = ["1"]\n[[tables.rows]]\nname = "a"', "two rows"),
    ],
)
def test_slips_in_a_file_are_refused_with_file_and_line(tmp_path, old, new, message):
    path = tmp_path / "mine.toml"
    assert old in MINE
    path.write_text(MINE.replace(old, new, 1))
    with pytest.raises(facebench.Error, match=message):
        claims.load_published(path)
