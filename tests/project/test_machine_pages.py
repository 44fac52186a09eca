"""The commands of "On a cluster" and "On a GPU", run as they stand in the pages, on small data."""

import re
import shutil
from pathlib import Path

import facebench
import pytest
from command_line import invoke
from facebench import embedding
from shown_commands import shown

torch = pytest.importorskip("torch")

DOCS = Path(__file__).resolve().parents[2] / "docs"
PARTS = 3
LISTS = shutil.ignore_patterns("*.txt")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with what the pages name: photographs, a data set, a model."""
    monkeypatch.chdir(tmp_path)
    options = facebench.datasets.SyntheticOptions(people=20, images=2, size=112)
    facebench.datasets.write_synthetic_dataset(options, "lfw")
    shutil.copytree(next(Path("lfw").rglob("*.jpg")).parents[1], "ijbc", ignore=LISTS)
    for name, reader in (("ijbc", "folder"), ("lfw", "lfw")):
        facebench.pack(reader, name, f"{name}.h5", detector="none")
    embedding.make_model("small4", height=112, width=112).save("m.safetensors")
    return tmp_path


# What makes a command's data smaller, or its model one of such data.
SMALLER = {
    "pack": ["--detector", "none"],
    "eval": ["--stored-scores", "100", "--replicates", "20"],
    "run": ["--replicates", "20"],
    "train": ["--set", "epochs=1", "--set", "batch=8"],
}


def run_page(name, **instead):
    """Every command of the page but those of torchrun and study, which other tests run."""
    count = 0
    for words in shown((DOCS / name).read_text(), starters=""):
        words = [re.sub("|".join(instead) or "$^", lambda m: instead[m[0]], w) for w in words]
        count += 1
        if words[0] == "study":  # test_study_kills.py
            continue
        words += SMALLER.get(words[0], [])
        for k in range(1, PARTS + 1) if "--shard" in words else [3]:
            part = [w.replace("3/16", f"{k}/{PARTS}").replace("-03.", f"-0{k}.") for w in words]
            files = [sorted(map(str, Path().glob(w))) if "*" in w else [w] for w in part]
            invoke(*(w for some in files for w in some))
    return count


def test_on_a_cluster(here, cluster):
    whole = (here / "ijbc.h5").read_bytes()
    assert run_page("cluster.md", **{"tcp://HOST:8786": cluster.address}) == 11
    assert (here / "ijbc.h5").read_bytes() == whole


def test_on_a_gpu(here):
    device = {} if torch.cuda.is_available() else {"cuda": "cpu"}
    assert run_page("gpu.md", **device) == 4
