"""Recipes trained by other frameworks: the same steps where the first weights are given.

FACEBENCH_ENGINE_PYTHON names an interpreter that has the frameworks this environment lacks.
"""

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("facebench._full")

import facebench
from facebench import datasets, embedding, studies, training
from facebench.lab.engines import ENGINES, absent
from facebench.lab.engines.heads import LOSSES

pytestmark = pytest.mark.usefixtures("kept_workers")

FITTING = [name for name, entry in ENGINES.items() if entry.fits]
SMALL = {"batch": 16, "epochs": 2, "embedding": 16, "channel_multiplier": 0.25, "lr": 0.05}


@pytest.fixture(scope="module")
def pack(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faces")
    faces = datasets.SyntheticOptions(protocol="lfw", people=20, images=4, pairs_per_fold=2)
    datasets.write_synthetic_dataset(faces, folder / "faces")
    facebench.pack("lfw", folder / "faces", folder / "p.h5", crop_size=32)
    return folder / "p.h5"


def recipe(loss, **changes):
    return training.load_recipe(f"small4.{loss}", **SMALL | changes)


@pytest.fixture(scope="module")
def ours(pack, tmp_path_factory):
    """This library's losses, step by step, and its model."""
    made = {}

    def get(loss, **changes):
        key = loss, *sorted(changes.items())
        if key not in made:
            folder, losses = tmp_path_factory.mktemp(loss), []
            training.train(recipe(loss, **changes), pack, folder, threads=1,
                           on_step=lambda report: losses.append(report["loss"]))  # fmt: skip
            made[key] = losses, folder / "model.safetensors"
        return made[key]

    return get


def fitted(engine, loss, pack, out, own=(), **changes):
    if lacking := absent(engine):
        pytest.skip(f"{engine} needs {', '.join(lacking)}")
    return studies.fit(recipe(loss, **changes), pack, out, engine=engine, own=own, threads=1)


def embeddings(model, pack):
    options = embedding.ExtractOptions(normalization="unit")
    return embedding.extract(model, datasets.Pack(pack), options, threads=1).values


@pytest.mark.filterwarnings("ignore:sphereface. lambda")  # ten steps of thousands
@pytest.mark.parametrize("engine", FITTING)
@pytest.mark.parametrize("loss", LOSSES)
def test_steps_are_ours_where_the_first_weights_are_given(engine, loss, ours, pack, tmp_path):
    # Of other weights rounding takes a value across the kink of a PReLU in Keras's first step.
    losses, model = ours(loss, training__seed=2)
    found = fitted(engine, loss, pack, tmp_path, training__seed=2)
    assert found["iterations"] == len(losses) == 10 and found["classes"] == 20
    np.testing.assert_allclose(found["losses"][:4], losses[:4], rtol=1e-3)
    np.testing.assert_allclose(found["losses"], losses, rtol=0.05)
    # The weights came back by name, statistics of batch norm with them.
    cosines = (embeddings(found["model"], pack) * embeddings(model, pack)).sum(1)
    assert cosines.min() > 0.98


@pytest.mark.filterwarnings("ignore:sphereface. lambda", "ignore:training.batch_norm_decay")
@pytest.mark.parametrize("engine", FITTING)
@pytest.mark.parametrize(
    ("loss", "changes"),
    [
        ("center", {"loss__update": "caffe", "loss__alpha": 0.5}),
        ("sphereface", {"loss__gradient": "caffe", "lr": 0.01, "loss__lambda_base": 10.0}),
        ("softmax", {"batch_norm_decay": 0.7}),
    ],
)
def test_rules_of_caffe_and_tensorflow_are_ours(engine, loss, changes, ours, pack, tmp_path):
    changes = changes | {"training__seed": 2}
    losses, model = ours(loss, **changes)
    found = fitted(engine, loss, pack, tmp_path, **changes)
    np.testing.assert_allclose(found["losses"][:4], losses[:4], rtol=1e-3)
    np.testing.assert_allclose(found["losses"], losses, rtol=0.05)
    # A decay of batch norm's statistics shows in the embeddings alone.
    cosines = (embeddings(found["model"], pack) * embeddings(model, pack)).sum(1)
    assert cosines.min() > 0.98


@pytest.mark.parametrize("engine", FITTING)
def test_decays_rates_and_momentum_are_the_recipes(engine, ours, pack, tmp_path):
    changes = {
        "momentum_rule": "caffe",
        "decay_norms": False,
        "weight_decay": 0.1,
        "bias_lr_mult": 2.0,
        "policy": "step",
        "gamma": 0.1,
    }
    losses, _ = ours("softmax", **changes)
    found = fitted(engine, "softmax", pack, tmp_path, **changes)
    np.testing.assert_allclose(found["losses"], losses, rtol=0.02)


@pytest.mark.parametrize("engine", FITTING)
def test_adam_is_the_recipes(engine, ours, pack, tmp_path):
    changes = {"optimizer": "adam", "lr": 0.003, "beta1": 0.8, "beta2": 0.99, "eps": 1e-3}
    changes |= {"weight_decay": 0.1, "bias_lr_mult": 2.0}
    losses, _ = ours("softmax", **changes)
    found = fitted(engine, "softmax", pack, tmp_path, **changes)
    np.testing.assert_allclose(found["losses"], losses, rtol=0.02)
    # The framework's own rule has one decay and one rate for all, or takes the decay apart.
    by_itself = fitted(engine, "softmax", pack, tmp_path, ["optimizer"], **changes)
    assert by_itself["losses"][0] == pytest.approx(losses[0], rel=1e-4)
    assert by_itself["losses"][-1] != pytest.approx(losses[-1], rel=1e-4)


@pytest.mark.parametrize("engine", FITTING)
def test_each_of_the_frameworks_own_changes_its_part(engine, pack, tmp_path):
    given = fitted(engine, "softmax", pack, tmp_path / "given", weight_decay=0.1)["losses"]
    first = {}
    for own in ("initializer", "optimizer", "schedule"):
        found = fitted(engine, "softmax", pack, tmp_path / own, [own], weight_decay=0.1)["losses"]
        same = np.isclose(found, given, rtol=1e-5, atol=0)
        first[own] = int(np.argmin(same)) if not same.all() else None
    # Other weights show at once. Decay outside of the gradient is the same step until there is
    # momentum; PyTorch's schedules move at the ends of epochs, Keras's as ours does, at each step.
    keras = engine.startswith("keras")
    assert first["initializer"] == 0
    assert first["optimizer"] in ((2, 3) if keras else (None,))
    assert first["schedule"] == (None if keras else 2)


def test_what_engines_do_not_do_is_refused(pack, tmp_path):
    def refused(name="small4.softmax", engine="pytorch", own=(), **changes):
        return studies.fit(
            training.load_recipe(name, **changes), pack, tmp_path / "x", engine=engine, own=own
        )

    with pytest.raises(ValueError, match="engine 'onnxruntime' trains no recipe"):
        refused(engine="onnxruntime")
    with pytest.raises(ValueError, match="own: no 'layers'"):
        refused(own=["layers"])
    with pytest.raises(ValueError, match=r"optimizer\.name: engines train with sgd and adam"):
        refused(optimizer="adamw")
    with pytest.raises(ValueError, match=r"loss\.update: engines train with paper and caffe"):
        refused("small4.center", loss__update="facenet")
    with pytest.raises(ValueError, match=r"auxiliary classifiers of googlenet_bvlc \(aux1, aux2"):
        refused("googlenet.caffe", batch_norm_average="moving")
    with pytest.raises(ValueError, match="not adaface"):
        refused(loss="adaface")
    assert not (tmp_path / "x").exists()


def test_rows_of_a_study_name_their_engine(pack, tmp_path):
    rows = [
        {"name": name, "recipe": "small4.softmax", "training_set": "faces", "engine": name}
        for name in ("facebench", "pytorch", "caffe")
    ]
    settings = {f"{t}.{k}": SMALL[k] for t, k in (
        ("training", "batch"), ("training", "epochs"), ("network", "embedding"),
        ("network", "channel_multiplier"), ("optimizer", "lr"))}  # fmt: skip
    table = {"id": "t", "all": {"settings": settings}, "rows": rows}
    table["columns"] = [{"result": "loss"}, {"protocol": "lfw", "metric": "accuracy"}]
    asked = studies.read_study({"tables": [table]}, "mine")
    root = pack.parent / "faces"
    found = facebench.study(asked, train={"faces": pack}, test={"lfw": root}, out=tmp_path)
    (ours, accuracy), (theirs, other), (caffe, _) = (r["cells"] for r in found["t"]["rows"])
    assert abs(theirs["value"] / ours["value"] - 1) < 0.02
    assert abs(accuracy["value"] - other["value"]) < 0.06 and accuracy["run"] != other["run"]
    assert (
        caffe["why"]
        == "needs Caffe 1.0, which cannot be installed any more; its recipes imitate it"
    )
