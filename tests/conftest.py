"""What several test files share."""

import importlib.util
import json
from pathlib import Path

import facebench
import facebench.io as fio
import numpy as np
import pytest
from facebench.core._files import write_text
from run_schemas import check_run


@pytest.fixture(scope="session", autouse=True)
def nothing_kept():
    """What tests run in this process is kept nowhere but where they say."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("facebench.core._files.KEPT", None)
        yield


@pytest.fixture(scope="session", autouse=True)
def runs_are_as_their_schemas_say():
    """Of every run that tests save in this process, before its pages are written."""
    if importlib.util.find_spec("jsonschema") is None:
        yield
        return

    def checked(path, page):
        if path.name == "report.md":
            check_run(path.parent)
        write_text(path, page)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("facebench.reports.results.write_text", checked)
        yield


@pytest.fixture
def forged(monkeypatch):
    """Of tests that write pages of runs which they have altered."""
    monkeypatch.setattr("facebench.reports.results.write_text", write_text)


# The longest files, longest first: of the last one alone, the other processors would wait for it.
# (scripts/test_times.py says what takes how long.)
LONGEST = [
    "networks",
    "engines",
    "small_images",
    "timing",
    "notebooks",
    "strangers_files",
    "scale",
    "detection",
    "cli_steps",
    "study_kills",
    "cli",
    "pipeline",
    "shards_on_workers",
    "gpu_check",
    "images",
    "files",
    "two_hosts",
    "studies",
    "suite",
    "docstring_examples",
    "fitting",
    "embedding",
    "examples",
    "fork",
    "view1",
    "strangers_folder",
    "track_kinds",
    "scale_over_hosts",
    "training_options",
    "authors_recipes",
    "training_parallel",
    "shards",
    "stubs",
    "training_kills",
    "timm",
]


def pytest_collection_modifyitems(items):
    order = {f"test_{name}": place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(Path(item.path).stem, len(order)))


@pytest.fixture(scope="session")
def confinable(tmp_path_factory):
    """Skips where the kernel does not confine processes."""
    path = tmp_path_factory.mktemp("confined") / "e.h5"
    fio.write_embeddings(path, fio.EmbeddingSet(np.ones((1, 4)), ["a.jpg"]))
    before = fio.confine_readers()
    try:
        fio.read_embeddings(path)
    except facebench.Error as error:
        pytest.skip(str(error))
    finally:
        fio.confine_readers(before)


@pytest.fixture
def confined(confinable):
    """HDF5 files are read by confined children."""
    before = fio.confine_readers()
    yield
    fio.confine_readers(before)


@pytest.fixture(params=["here", "confined"])
def reading(request):
    """Files are read by the library in this process, and then by a confined child."""
    if request.param == "confined":
        request.getfixturevalue("confined")
    return request.param


@pytest.fixture
def cluster(request, tmp_path_factory):
    """A Dask scheduler and two workers on this machine; see Cluster. Its parameter: `missed`."""
    pytest.importorskip("distributed")
    from dask_cluster import Cluster

    missed = getattr(request, "param", "5 minutes")
    with Cluster(tmp_path_factory.mktemp("cluster"), missed=missed) as started:
        yield started


@pytest.fixture
def seal():
    """Writes the hashes of a run folder that a test changed by hand into its run.json again."""

    def write(folder):
        path = folder / "run.json"
        manifest = json.loads(path.read_text())
        outputs = manifest["content"]["outputs"]
        outputs |= {file: fio.sha256_file(folder / file) for file in outputs}
        content = fio.canonical_json(manifest["content"])
        manifest["content_sha256"] = fio.sha256_hex(content.encode())
        path.write_text(json.dumps(manifest))

    return write


@pytest.fixture(scope="module")
def kept_workers():
    """Measurements of the file use processes of engines again (tests/support/kept_workers.py)."""
    from kept_workers import kept

    with kept():
        yield


@pytest.fixture
def own_workers(kept_workers):
    """A process for each measurement, as for users."""
    from facebench.lab.timing.workers import Worker
    from kept_workers import patched

    with patched(Worker):
        yield
