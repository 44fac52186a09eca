"""Every shipped set of rules: met by a run as it should be, refused where one rule is broken."""

import csv
import itertools
import json
import shutil
import tomllib
from importlib.resources import files

import facebench
import numpy as np
import pytest
from facebench import claims, datasets, embedding, images

HASHES = "the files are those that were written"
SHIPPED = {
    name: tomllib.loads(files("facebench").joinpath(f"rules/{name}.toml").read_text())["rules"]
    for name in claims.rule_sets()
}


def network(folder, side):
    path = folder / "net.safetensors"
    size = {"channel_multiplier": 0.125, "embedding": 8, "height": side, "width": side}
    embedding.make_model("small4", seed=1, **size).save(path)
    return path


def run_of_frte(folder):
    """480 photographs of 60 people against each other: ten false matches at FMR .0001."""
    random = np.random.default_rng(0)
    for person in range(60):
        place = folder / f"faces/p{person:02}"
        place.mkdir(parents=True)
        face = random.integers(0, 256, (16, 16, 3))
        for k in range(8):
            pixels = np.clip(face + random.normal(0, 20, face.shape), 0, 255)
            images.write(place / f"{k}.png", pixels.astype(np.uint8))
    return facebench.run("folders", model=network(folder, 16), root=folder / "faces",
                         detector="none", out=folder / "run", replicates=1000)  # fmt: skip


def run_of_wang_and_guo(folder):
    """UMDFaces' layout with as many listed pairs a track as the paper's: 5,000 of each kind."""
    faces = folder / "faces"
    few = datasets.SyntheticOptions(protocol="umdfaces", people=8, images=36, size=64)
    datasets.write_synthetic_dataset(few, faces)
    (lists,) = faces.rglob("umdfaces_batch3_ultraface.csv")
    rows = list(csv.DictReader(lists.read_text().splitlines()))
    pairs = list(itertools.combinations([(r["FILE"], r["SUBJECT_ID"]) for r in rows], 2))
    lines = ["first,second,label,track"]
    for track in ("easy", "moderate", "difficult"):
        for same in (True, False):
            of_kind = [(a, b) for (a, x), (b, y) in pairs if (x == y) is same]
            lines += [f"{a},{b},{int(same)},{track}" for a, b in of_kind[:5000]]
    (lists.parent / "umdfaces_pairs.csv").write_text("\n".join(lines) + "\n")
    facebench.run("umdfaces_listed", model=network(folder, 32), root=faces, detector="mtcnn",
                  detector_options={"second_look": False}, crop="paper", crop_size=32, flip="none",
                  out=folder / "run", replicates=20)  # fmt: skip
    (folder / "run/overlap-audit.csv").write_text("person,match\n")


MADE = {"frte-1-1": run_of_frte, "wang-guo-2019": run_of_wang_and_guo}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The run folder of each set of rules."""
    runs = {}

    def get(name):
        if name not in runs:
            folder = tmp_path_factory.mktemp(name)
            MADE[name](folder)
            runs[name] = folder / "run"
        return runs[name]

    return get


@pytest.mark.parametrize("name", SHIPPED)
def test_a_run_as_it_should_be_meets_the_rules(made, name):
    found = facebench.check(made(name), name)
    assert found.passed, found


def test_a_run_of_which_there_is_nothing_to_note_is_on_the_official_lists(made, seal, tmp_path):
    """An empty list is recorded; one that is not there is not."""
    run = tmp_path / "run"
    shutil.copytree(made("wang-guo-2019"), run)

    def lists(change):
        manifest = json.loads((run / "run.json").read_text())
        change(manifest["content"])
        (run / "run.json").write_text(json.dumps(manifest))
        seal(run)
        found = facebench.check(run, "wang-guo-2019").rules
        return next(r for r in found if r["name"] == "the official lists")

    assert lists(lambda content: content.update(notes=[]))["passed"]
    gone = lists(lambda content: content.pop("notes"))
    assert not gone["passed"] and "content/notes/* is not recorded" in gone["reason"]


def wrong_value(rule, value):
    """Another value, which the test of a rule does not pass."""
    if "is" in rule or "one_of" in rule:
        return not value if isinstance(value, bool) else "another"
    if "at_least" in rule:
        return rule["at_least"] - 1
    if "at_most" in rule:
        return rule["at_most"] + 1
    if "lacks" in rule:
        return f"not the {rule['lacks']} one"
    return {"present": None, "empty": ["something"] if rule.get("empty") else ""}[
        "present" if "present" in rule else "empty"
    ]


def put(data, place, rule):
    """Breaks the first value at a place; a list without entries gets one, a key that is not there
    is made."""
    key, _, rest = place.partition("/")
    if key.endswith("*") and isinstance(data, list) and not data:
        data.append(wrong_value(rule, None))
        return True
    keys = range(len(data)) if isinstance(data, list) else list(data)
    if not key.endswith("*"):
        keys = [key] if rest == "" or key in data else []
    for one in keys:
        if isinstance(one, str) and not one.startswith(key.rstrip("*")):
            continue
        if not rest:
            there = data.get(one) if isinstance(data, dict) else data[one]
            data[one] = wrong_value(rule, there)
            return True
        if put(data[one], rest, rule):
            return True
    return False


@pytest.mark.parametrize(
    ("name", "rule"),
    [pytest.param(n, r, id=f"{n}: {r['name']}") for n, rules in SHIPPED.items() for r in rules],
)
def test_a_run_that_breaks_one_rule_is_refused_by_it(made, name, rule, seal, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(made(name), run)
    if rule.get("verified"):  # a number that does not come out again
        metrics = json.loads((run / "metrics.json").read_text())
        (*_, track) = metrics["tracks"].values()
        track["metrics"]["auc"]["value"] /= 2
        (run / "metrics.json").write_text(json.dumps(metrics))
        seal(run)
    elif "file" in rule:
        for path in run.glob(rule["file"]):
            path.unlink()
    else:
        top, _, place = rule["value"].partition("/")
        path = run / ("metrics.json" if top == "metrics" else "run.json")
        data = json.loads(path.read_text())
        assert put(data if top == "metrics" else data[top], place, rule)
        path.write_text(json.dumps(data))
        seal(run)
    failed = {r["name"] for r in facebench.check(run, name).rules if not r["passed"]}
    assert rule["name"] in failed
    assert failed <= {rule["name"], HASHES}  # and by no other
