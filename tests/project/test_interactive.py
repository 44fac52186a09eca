"""What Python's own tools see: names of modules, texts of objects, pickle, copy, joblib."""

import copy
import importlib
import pickle

import facebench
import ijb_release as ijb
import pytest
from facebench import protocols

MODULES = list(facebench._MODULES)


@pytest.fixture
def result(tmp_path):
    text = "2\t1\nAnn\t1\t2\nAnn\t1\tBob\t1\nCat\t1\t2\nCat\t1\tDan\t1\n"
    (tmp_path / "pairs.txt").write_text(text)
    return facebench.evaluate("lfw", scores=[0.9, 0.1, 0.8, 0.85], root=tmp_path, replicates=20)


@pytest.fixture(scope="module")
def search(tmp_path_factory):
    """Templates searched in two galleries."""
    release = ijb.Release()
    root = release.write_packed(tmp_path_factory.mktemp("packed"))
    return protocols.evaluate("ijbc_1_n", release.plain, release.name, root=root, replicates=20)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_offers_what_its_list_names(name):
    if name not in ("core", "io", "metrics", "protocols", "reports", "claims", "plots"):
        pytest.importorskip("facebench._full")
    offered = {}
    exec(f"from facebench.{name} import *", offered)  # fails for a name that is not there
    offered.pop("__builtins__")
    assert set(offered) == set(importlib.import_module(f"facebench.{name}").__all__)


@pytest.mark.parametrize("name", MODULES)
def test_an_object_says_what_it_is(name):
    """Not `<facebench._full.Pack object at 0x7f...>`."""
    if name not in ("core", "io", "metrics", "protocols", "reports", "claims", "plots"):
        pytest.importorskip("facebench._full")
    module = importlib.import_module(f"facebench.{name}")
    shown = {n: getattr(module, n) for n in module.__all__ if n != "Embedder"}  # a Protocol
    kinds = {n: kind for n, kind in shown.items() if isinstance(kind, type)}
    assert [n for n, kind in kinds.items() if kind.__repr__ is object.__repr__] == []


def test_texts_of_objects(tmp_path):
    pytest.importorskip("facebench._full")
    options = facebench.datasets.SyntheticOptions(people=20, images=2, size=64)
    made = facebench.datasets.write_synthetic_dataset(options, tmp_path / "faces")
    assert repr(made) == f"SyntheticSummary({tmp_path / 'faces'}: 40 images, 20 people)"
    faces = facebench.datasets.read_dataset("lfw", tmp_path / "faces")
    packed = facebench.datasets.pack_dataset(faces, tmp_path / "faces.h5")
    assert repr(packed) == f"PackSummary({tmp_path / 'faces.h5'}: 40 ok)"
    pack = facebench.datasets.Pack(tmp_path / "faces.h5")
    assert repr(pack) == f"Pack({tmp_path / 'faces.h5'}: 40 images of 112x112)"
    network = facebench.nn.build_network("small4")
    text = f"{network.graph.count_parameters():,} parameters, input 3x64x64"
    assert (repr(network.graph), repr(network)) == (f"Graph({text})", f"Network({text}, on cpu)")
    model = facebench.embedding.make_model("small4")
    assert repr(model) == "Model(small4, crop arcface112, 128 numbers a face)"


def test_the_names_that_type_checkers_see_are_those_that_are_there():
    import ast
    import pathlib

    tree = ast.parse(pathlib.Path(facebench.__file__).read_text())
    (block,) = [n for n in tree.body if isinstance(n, ast.If)]
    seen = {alias.asname: node.module for node in block.body for alias in node.names}
    assert seen == {
        **dict.fromkeys(facebench._MODULES, "facebench"),
        **{name: f"facebench.{module}" for name, module in facebench._VERBS.items()},
    }


def test_a_result_shows_its_metrics(result):
    assert {"accuracy", "eer"} <= set(dir(result)) and "accuracy" in dir(result["view2"])


def save(result, folder):
    result.save(folder)
    return (folder / "scores.h5").read_bytes(), (folder / "metrics.json").read_bytes()


@pytest.mark.parametrize("kind", ["result", "search"])
@pytest.mark.parametrize(
    "passed", [lambda r: pickle.loads(pickle.dumps(r)), copy.copy, copy.deepcopy]
)
def test_a_result_is_the_same_after_pickle_and_copy(kind, passed, request, tmp_path):
    before = request.getfixturevalue(kind)
    after = passed(before)
    assert repr(after) == repr(before) and after.to_rows() == before.to_rows()
    assert save(after, tmp_path / "after") == save(before, tmp_path / "before")
    for name, track in before.tracks.items():
        assert repr(pickle.loads(pickle.dumps(track))) == repr(track)
        assert after[name].failed == track.failed
        for metric in track.metrics.values():
            again = pickle.loads(pickle.dumps(metric))
            assert type(again) is type(metric) and repr(again) == repr(metric)


def test_what_lists_have_wrong_is_not_lost(tmp_path):
    text = "2\t1\nAnn\t1\t2\nAnn\t1\tBob\t1\nAnn\t1\t2\nAnn\t1\tBob\t1\n"
    (tmp_path / "pairs.txt").write_text(text)
    result = facebench.evaluate("lfw", scores=[0.9, 0.1, 0.9, 0.1], root=tmp_path, interval="none")
    again = pickle.loads(pickle.dumps(result))
    assert again.notes == result.notes and again.warnings == result.warnings
    assert again._raw.trials.blemishes == result._raw.trials.blemishes != []
    assert again._raw.trials.lists == result._raw.trials.lists


def test_results_come_back_from_processes_of_joblib(result):
    joblib = pytest.importorskip("joblib")
    (back,) = joblib.Parallel(n_jobs=2)(joblib.delayed(copy.copy)(r) for r in [result])
    assert repr(back) == repr(result)


def test_a_cmc_is_drawn_of_each_search(search, result):
    pytest.importorskip("matplotlib").use("agg")
    ax = search.plot_cmc()
    drawn = {line.get_label(): list(line.get_ydata()) for line in ax.get_lines()}
    assert set(drawn) == {"G1", "G2"}
    for name, rates in drawn.items():
        for rank in (1, 5, 10):
            assert rates[rank - 1] == search[name][f"rank@{rank}"].value
    with pytest.raises(ValueError, match="no track is an identification"):
        result.plot_cmc()


def test_a_frame_has_a_row_for_each_number_of_each_run(result, search, tmp_path):
    pandas = pytest.importorskip("pandas")
    for name, one in (("a", result), ("b", search)):
        one.save(tmp_path / name)
    frame = facebench.report([tmp_path / "a", tmp_path / "b"], format="frame")
    assert list(frame[frame.run == "a"].value) == [r["value"] for r in result.to_rows()]
    assert set(frame[frame.run == "b"].track) == set(search.tracks)
    assert isinstance(frame, pandas.DataFrame)
