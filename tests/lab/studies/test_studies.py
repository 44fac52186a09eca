"""Studies: seeds' intervals against scipy, factors taken apart, training sets compared."""

import os
import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
stats = pytest.importorskip("scipy.stats")

import facebench  # noqa: E402
from facebench import studies, training  # noqa: E402
from facebench.lab.studies import (  # noqa: E402
    cells,
    comparisons,
    figures,
    seeds,
    shorter,
    texts,
    work,
)

TINY = {
    "network.channel_multiplier": 0.125,
    "network.embedding": 16,
    "training.epochs": 2,
    "training.batch": 16,
}


@pytest.fixture(scope="module")
def faces(tmp_path_factory):
    """A test set."""
    folder = tmp_path_factory.mktemp("tests") / "faces"
    few = facebench.datasets.SyntheticOptions(
        people=20, images=4, first_person=100_000, pairs_per_fold=20
    )
    facebench.datasets.write_synthetic_dataset(few, folder, 1)
    return folder


def people(folder, first, size=64):
    few = facebench.datasets.SyntheticOptions(people=20, images=2, first_person=first)
    facebench.datasets.write_synthetic_dataset(few, folder / "faces", 1)
    facebench.pack("lfw", folder / "faces", folder / "pack.h5", crop_size=size, threads=1)
    return folder / "pack.h5"


@pytest.fixture(scope="module")
def pack(tmp_path_factory):
    return people(tmp_path_factory.mktemp("train"), 0)


# --- seeds ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("freedom", [*range(1, 12), 30, 101])
@pytest.mark.parametrize("p", [0.75, 0.95, 0.975, 0.9995])
def test_quantiles_are_scipys(p, freedom):
    assert seeds.student_quantile(p, freedom) == pytest.approx(stats.t.ppf(p, freedom), rel=1e-9)


def test_interval_is_scipys():
    values = [0.91, 0.93, 0.90, 0.955, 0.92]
    expected = stats.t.interval(0.95, 4, np.mean(values), stats.sem(values))
    assert studies.seed_interval(values) == pytest.approx(expected)
    assert studies.seed_interval([0.9]) is None


def test_an_interval_stays_where_the_metric_can_be():
    assert studies.seed_interval([0.99, 0.999, 0.9])[1] > 1
    found = seeds.seed_mean("auc", [0.99, 0.999, 0.9])
    assert found["interval"] == [studies.seed_interval([0.99, 0.999, 0.9])[0], 1.0]
    assert seeds.seed_mean("dprime", [2.0, 3.0])["interval"][1] > 3


def test_paired_differences_are_scipys():
    a, b = [0.90, 0.92, 0.91, 0.94], [0.93, 0.94, 0.95, 0.95]
    found = studies.paired(a, b)
    low, high = stats.ttest_rel(b, a).confidence_interval()
    assert found["interval"] == pytest.approx([low, high])
    assert found["difference"] == pytest.approx(0.025)
    assert found["clear"] is bool(low > 0)
    # The same values in another order of the second: no longer the same seeds.
    assert studies.paired(a, b[::-1])["interval"] != pytest.approx([low, high])


# --- factors --------------------------------------------------------------------------------------


def test_factors_of_two_recipes():
    a = training.load_recipe("small4.softmax")
    b = training.load_recipe(
        "small4.softmax", mean=[100, 110, 120], initializer="msra", seed=9, momentum=0.5
    )
    assert shorter.differing_factors(a, b) == {
        "pre-processing": ["input.mean"],
        "initialisation": ["training.initializer"],
        "optimizer": ["optimizer.momentum"],
    }
    settings = shorter._exchanged([a, b], ["training.initializer"])
    assert settings == {"training.initializer": "msra"}
    other = training.load_recipe("small4.cosface", network="lenet5")
    settings = shorter._exchanged([a, other], ["network.name", "network.height"])
    assert settings["network"] == "lenet5"
    work.load_recipe({"recipe": "small4.softmax", "settings": settings, "seed": 0})


def factor_table(values):
    """Made-up cells: {row: [value of each seed]}."""
    rows = [{"name": n, "cells": [{"values": v}]} for n, v in values.items()]
    return {"rows": rows, "columns": [{}], "baseline": "before", "layout": "factors"}


def test_the_difference_is_attributed_by_hand():
    values = {
        "before": [0.50, 0.60],
        "one": [0.60, 0.72],  # +0.10, +0.12
        "two": [0.55, 0.65],  # +0.05, +0.05
        "after": [0.67, 0.79],  # +0.17, +0.19: 0.02 more than the sum
    }
    ((_, parts),) = [one.values() for one in comparisons.differences(factor_table(values))]
    found = {name: part["difference"] for name, part in parts.items()}
    assert found == pytest.approx({"one": 0.11, "two": 0.05, "after": 0.18, "interaction": 0.02})
    # Two seeds: 12.7 standard errors, 0.005 each.
    half = stats.t.ppf(0.975, 1) * np.std([0.10, 0.12], ddof=1) / np.sqrt(2)
    assert parts["one"]["interval"] == pytest.approx([0.11 - half, 0.11 + half])
    # A difference of rates that vary ends where such differences do.
    far_apart = factor_table(values | {"one": [0.0, 1.0]})
    far_apart["columns"] = [{"rate": True}]
    ((_, parts),) = [one.values() for one in comparisons.differences(far_apart)]
    assert parts["one"]["interval"] == [-1, 1]
    # What a row lacks is not compared.
    assert comparisons.differences(factor_table(values | {"two": [0.5, None]})) == []


def test_factors_end_to_end(pack, faces, tmp_path):
    described = studies.factors_study(settings=TINY, seeds=2, replicates=20)
    assert [r["name"] for r in described.tables[0].rows] == [
        "before", "pre-processing", "initialisation", "last batch", "after"]  # fmt: skip
    how = {"train": {"faces": pack}, "test": {"lfw": faces}, "threads": 1}
    found = facebench.study(described, out=tmp_path, **how)
    names = [
        c["metric"] if c["kind"] == "metric" else c["name"] for c in found["factors"]["columns"]
    ]
    assert {"loss", "accuracy", "auc"} <= set(names)
    assert found.failures == []
    text = (tmp_path / "study.html").read_text()
    assert "Differences to before" in text and "input.std" in text and "<svg" in text
    # Models and runs stay, and what stays is not made again.
    assert len(list(tmp_path.glob("jobs/train/*/train/model.safetensors"))) == 10
    said = []
    facebench.study(described, out=tmp_path, say=said.append, **how)
    assert said == ["20 of 20 jobs are there and whole; kept"]


def test_recipes_that_do_not_differ_are_refused():
    with pytest.raises(ValueError, match="do not differ"):
        studies.factors_study("small4.softmax", "small4.softmax")
    from click.testing import CliRunner
    from facebench.cli.app import app

    assert "give two recipes" in CliRunner().invoke(app, ["bench", "factors", "demo"]).output


# --- training sets --------------------------------------------------------------------------------


def left_out(pack, faces, folder, **more):
    """The job that looks for people who are in the tests, too."""
    folder.mkdir()
    request = {"pack": str(pack), "tests": ["lfw"], "lfw": str(faces), "test_embeddings": {}} | more
    return work.overlap(request, {}, folder, {"threads": 1})


def test_people_left_out_are_counted(pack, faces, tmp_path):
    crops = facebench.datasets.Pack(pack)
    names = crops.label_names
    whole = left_out(pack, faces, tmp_path / "whole")
    (tmp_path / "list.txt").write_text(
        f"person\t{names[0]}\nperson\t{names[3]}\nsample\t{crops.names[2]}\n"
    )
    less = left_out(pack, faces, tmp_path / "less", exclude=str(tmp_path / "list.txt"))
    assert whole["people"] == 20 and whole["removed"] == {}
    assert less["people"] == 18 and less["people_removed"] == 2
    assert less["images"] + less["images_removed"] == whole["images"]
    assert less["images_removed"] == 5  # two of each person, and one
    assert less["removed"] == dict.fromkeys([names[0], names[3]], "the caller's list")


def test_training_sets_end_to_end(pack, faces, tmp_path):
    # Who is in the tests, too: both sets are drawn from person 100,000.
    other = people(tmp_path / "b", 100_000)
    described = studies.datasets_study(
        ["a", "b"], ["lfw"], recipe="small4.softmax", settings=TINY, seeds=2, replicates=20
    )
    known = facebench.datasets.Pack(pack)
    (tmp_path / "list.txt").write_text(
        f"person\t{known.label_names[2]}\nsample\t{known.names[0]}\n"
    )
    train = {"a": {"root": pack, "exclude": str(tmp_path / "list.txt")}, "b": other}
    found = facebench.study(described, train=train, test={"lfw": faces}, out=tmp_path / "s")
    table = found["sets"]
    names = [c["id"] or c["metric"] for c in table["columns"]]
    cells = {row["name"]: dict(zip(names, row["cells"], strict=True)) for row in table["rows"]}
    assert cells["a"]["people"]["value"] == 19 and cells["a"]["images_removed"]["value"] == 3
    assert cells["b"]["people"]["value"] == 0 and cells["b"]["people_removed"]["value"] == 20
    assert "failed: " in cells["b"]["accuracy"]["why"]  # nobody is left to train on
    assert len(cells["a"]["accuracy"]["values"]) == 2 and cells["a"]["accuracy"]["interval"]
    assert len(found.failures) == sum("failed" in c for c in cells["b"].values())
    assert "Training sets" in (tmp_path / "s/study.md").read_text()


def test_matrices_are_columns_entry_by_entry(tmp_path):
    described = studies.datasets_study(
        ["small"], ["vggface2_age"], recipe="small4.softmax", settings=TINY, seeds=1, replicates=20
    )
    described.data["vggface2_age"] = {"people": 10}
    described.data["small"] = {"people": 20, "images": 2}
    found = facebench.study(described, rehearse=True, out=tmp_path)
    names = [c.get("metric") for c in found["sets"]["columns"]]
    assert "mean_similarity[young,mature]" in names and "mean_similarity[mature,young]" in names


def identifier_pack(tmp_path):
    """A pack whose people are called by numbers: Person_00000 is 0000045."""
    folder = tmp_path / "ids"
    options = facebench.datasets.SyntheticOptions(people=20, images=2, size=64, pairs_per_fold=2)
    facebench.datasets.write_synthetic_dataset(options, tmp_path / "faces")
    table = ["identifier,name"]
    for number, person in enumerate(sorted((tmp_path / "faces" / "images").iterdir())):
        if not person.is_dir():
            continue
        name = f"{number + 45:07d}"
        table.append(f"{name},{person.name}")
        (folder / name).mkdir(parents=True)
        for image in person.iterdir():
            (folder / name / image.name).write_bytes(image.read_bytes())
    facebench.pack("folder", folder, tmp_path / "ids.h5", detector="none")
    (tmp_path / "names.csv").write_text("\n".join(table) + "\n")
    return tmp_path / "ids.h5", tmp_path / "names.csv"


def test_identifiers_are_said_and_a_table_names_them(tmp_path):
    numbered, table = identifier_pack(tmp_path)
    faces = tmp_path / "faces"
    blind = left_out(numbered, faces, tmp_path / "blind")
    assert (blind["removed"], blind["identifiers"]) == ({}, 20)
    seen = left_out(numbered, faces, tmp_path / "seen", names=str(table))
    assert len(seen["removed"]) == 20 and seen["identifiers"] == 0
    assert len((tmp_path / "seen" / "lfw.csv").read_text().splitlines()) == 21
    assert (tmp_path / "seen" / "exclusion.txt").read_text().count("person\t") == 20
    # Embeddings find them without any name.
    facebench.pack("lfw", faces, tmp_path / "test.h5", detector="none")
    for path in (numbered, tmp_path / "test.h5"):
        facebench.embed(lambda b: b[:, ::4, ::4].reshape(len(b), -1), path, f"{path}.e.h5")
    found = left_out(numbered, tmp_path / "test.h5", tmp_path / "found",
                     embeddings=f"{numbered}.e.h5",
                     test_embeddings={"lfw": str(tmp_path / "test.h5.e.h5")})  # fmt: skip
    assert len(found["removed"]) == 20 and found["identifiers"] == 0


def test_a_table_of_names_is_read_as_released(tmp_path):
    read = facebench.datasets.read_person_names
    meta = 'Class_ID, Name, Sample_Num, Flag, Gender\nn000001, "14th_Dalai_Lama", 424, 0,  m\n'
    (tmp_path / "vgg.csv").write_text(meta)
    assert read(tmp_path / "vgg.csv")["n000001"] == "14th_Dalai_Lama"
    (tmp_path / "ms.tsv").write_text('m.0107_f\t"Jane Doe"@en\nm.0107_f\t"Jeanne"@fr\n')
    assert read(tmp_path / "ms.tsv") == {"m.0107_f": "Jane Doe"}
    (tmp_path / "bad.csv").write_text("a,b\nc\n")
    with pytest.raises(facebench.Error, match=r"bad.csv:2: an identifier and a name"):
        read(tmp_path / "bad.csv")
    (tmp_path / "wide.csv").write_text("a,b\nc," + "x" * 200_000)
    with pytest.raises(facebench.Error, match=r"wide.csv:2: field larger than"):
        read(tmp_path / "wide.csv")
    (tmp_path / "latin.csv").write_bytes(b"a,b\nc,\xe9\n")
    with pytest.raises(facebench.Error, match=r"latin.csv:2: is not UTF-8"):
        read(tmp_path / "latin.csv")
    for wrong in (1, True):  # open() would take them for standard output, and close it
        with pytest.raises(TypeError, match=r"os\.PathLike"):
            read(wrong)


def test_an_unknown_protocol_or_data_set_is_wrong_use(tmp_path):
    def described(protocol):
        return studies.datasets_study(["a"], [protocol], recipe="small4.softmax")

    with pytest.raises(ValueError, match="did you mean 'lfw'"):
        facebench.study(described("lwf"), out=tmp_path)
    with pytest.raises(ValueError, match="no data set 'lwf'; did you mean 'lfw'"):
        facebench.study(described("lfw"), test={"lwf": "x"}, out=tmp_path)
    bfw = described("bfw")
    bfw.data["a"] = {"people": 20, "images": 2}
    found = facebench.study(bfw, rehearse=True, out=tmp_path)
    (cell,) = found["sets"]["rows"][0]["cells"][5:]
    assert "no faces are drawn for protocol 'bfw'" in cell["why"]


@pytest.mark.parametrize("value", [{"a": 1}, [{}], "", "8", -1])
@pytest.mark.parametrize("place", ["batch", "settings", "at_most", "cap", "shrink"])
def test_a_rehearsal_of_what_is_not_a_number_is_refused(place, value):
    row = {"network": "small4", "batch": 8, "settings": {"training.batch": 8}}
    change = {"at_most": {"training.batch": 4}, "shrink": 2}
    if place == "batch" and value != -1:
        row["batch"] = value
    elif place == "at_most":
        change["at_most"] = value if not isinstance(value, dict) else [value]
    elif place == "shrink":
        change["shrink"] = value
    else:
        part = row["settings"] if place == "settings" else change["at_most"]
        part["training.batch"] = value
    source = {
        "tables": [{"id": "t", "rows": [row], "columns": [{"fact": "batch"}]}],
        "rehearsal": {"network": change},
    }
    with pytest.raises(facebench.Error, match=r"batch|at_most|shrink"):
        studies.read_study(source, "mine").rehearsed()


FEW_FILES = """
import resource, sys
from facebench.lab.studies import engine
if __name__ == "__main__":
    pool = engine._Pool(2)
    resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]),) * 2)
    try:
        pool.submit(abs, -1).result()
    except engine.Error as error:
        print(error)
    pool.shutdown()
"""


@pytest.mark.parametrize("files", [8, 12])
def test_jobs_at_once_with_few_open_files_say_what_to_do(tmp_path, files):
    (tmp_path / "few.py").write_text(FEW_FILES)
    command = [sys.executable, tmp_path / "few.py", str(files)]
    said = subprocess.run(command, capture_output=True, text=True, env=os.environ, timeout=60)
    assert "2 jobs at once do not start: Too many open files" in said.stdout, said
    assert "ulimit -n" in said.stdout and "--jobs 1" in said.stdout


def test_a_folder_takes_one_process_at_a_time(tmp_path):
    import fcntl

    asked = studies.read_study({"tables": [{"id": "t", "rows": [{"recipe": "small4.softmax"}],
                                            "columns": [{"fact": "batch"}]}]}, "mine")  # fmt: skip
    facebench.study(asked, out=tmp_path)
    before = (tmp_path / "study.json").read_bytes()
    with (tmp_path / ".lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(facebench.Error, match="another process makes a study here"):
            facebench.study(asked, out=tmp_path)
    facebench.study(asked, out=tmp_path)
    assert (tmp_path / "study.json").read_bytes() == before


def test_settings_stand_beside_the_printed_ones_and_slips_beside_their_rows(tmp_path):
    facebench.study("wang-guo-2019/table-2", out=tmp_path / "s")
    rate = "0.1 \\* 0.1^floor(iter / [16000, 24000, 28000])"
    text = (tmp_path / "s/study.md").read_text()
    lines = {line.split("|")[1].strip(): line for line in text.splitlines() if "|" in line}
    # What is as printed stands once; what is not, beside the printed value.
    assert f"| {rate} |" in lines["CosFace"] and f"printed {rate}" not in text
    assert "| 28.08 (printed 68.45 -40.37) |" in lines["SphereFace"]
    assert text.count("nothing below it is as the paper prints it") == 1
    assert "\n- LightCNN-29: mislabelled: 8.19 million is the count of LightCNN-9;" in text
    # On the page a long cell is wrapped.
    facebench.study("wang-guo-2019/table-11", out=tmp_path / "long")
    html = (tmp_path / "long/study.html").read_text()
    assert re.search(r'<td class="(\w*)"[^>]*>random crop', html).group(1) == "long"


def test_a_count_beside_the_printed_one_has_no_decimals():
    printed = {"text": "84,936", "value": 84936.0, "half_unit": 0.5, "scale": 1}
    cell = {"value": 90, "difference": -84846.0, "printed": printed}
    assert texts.beside(cell) == "printed 84,936\n-84,846"
    assert texts.beside(cell | {"value": 90.5, "difference": -84845.5}).endswith("-84,845.50")


def test_bars_of_two_axes_are_groups_of_one_axis(tmp_path):
    """In the units of their column: MiB."""
    names = ["16, ours", "16, theirs", "32, ours", "32, theirs"]
    values = [300 * 2**20, 400 * 2**20, None, 500 * 2**20]
    rows = [{"name": n, "cells": [{"value": v, "printed": None}]}
            for n, v in zip(names, values, strict=True)]  # fmt: skip
    column = {"kind": "result", "name": "memory", "id": "", "title": "memory, peak"}
    table = {"plot": {"bars": ["memory"]}, "columns": [column], "rows": rows}
    ((svg, _),) = figures.figures(tmp_path, table)
    texts = re.findall(r">([^<>]+)</text>", str(svg))
    assert {"16", "32", "ours", "theirs"} <= set(texts)
    assert not {"measured", *names} & set(texts)
    assert max(float(t) for t in texts if re.fullmatch(r"[\d.]+", t)) < 1000


def test_memory_of_a_step_is_that_of_its_device():
    column = {"name": "memory"}
    row = {"engine": "pytorch"}
    measured = {"engine": "pytorch", "status": "ok", "seconds": {"mean": 1.0}}
    measured |= {"memory": {"peak": 700}, "device_memory": {"now": 20, "peak": 30}}

    def memory(device, **changed):
        result = {"options": {"device": device}, "rows": [measured | changed]}
        return cells._of_result(result, SimpleNamespace(kind="step"), row, column)

    assert memory("cpu") == (700, "")
    assert memory("cuda:1") == (30, "")
    value, why = memory("cuda", device_memory=None)
    assert value is None
    assert "pytorch" in why


def ranked(first):
    """Three rows in an order: b is the baseline, its pairs stand as (a, b) and (b, c)."""
    values = {"a": 0.9, "b": 0.8, "c": 0.85}
    cell = {"failure_to_enrol_rate": 0.0, "seeds": 1, "interval": None, "printed": None}
    rows = [{"name": n, "cells": [cell | {"value": v, "values": [v]}]} for n, v in values.items()]
    pairs = [{"a": a, "b": b, "difference": d, "interval": [d - 0.02, d + 0.02], "p_value": 0.01,
              "adjusted_p": 0.02, "note": None, "no_interval": None}
             for a, b, d in ((0, 1, 0.1), (1, 2, -0.05), (0, 2, 0.05))]  # fmt: skip
    place = {"value": 0.9, "first": first, "rank_interval": None if first is None else [1, 2]}
    ranking = {"places": [place] * 3, "pairs": pairs, "lower_is_better": False,
               "undefined": None if first else "few people"}  # fmt: skip
    column = {"id": "x", "name": "LFW", "metric_title": "accuracy", "metric": "accuracy",
              "kind": "metric", "rate": True, "title": "LFW: accuracy"}  # fmt: skip
    order = {"column": 0, "ranking": ranking, "rows": [0, 1, 2]}
    table = {"columns": [column], "rows": rows, "baseline": "b", "differences": []}
    return comparisons.order_section(table, order, {"level": 0.95})


def table_of(section):
    block = next(b for b in section.blocks if b["kind"] == "table")
    heads = [c["text"] for c in block["columns"]]
    return heads, [[cell.text for cell in row] for row in block["rows"]]


def test_the_order_has_the_differences_to_the_baseline():
    heads, rows = table_of(ranked(first=0.5))
    assert heads == ["", "accuracy", "less b", "first in", "ranks", "failed to enrol"]
    # a is (a, b) itself; c is (b, c) turned round; the baseline has none.
    assert [row[2] for row in rows] == ["+10.00", "–", "+5.00"]


def test_ranks_that_are_not_defined_have_no_column():
    heads, _ = table_of(ranked(first=None))
    assert heads == ["", "accuracy", "less b", "failed to enrol"]
