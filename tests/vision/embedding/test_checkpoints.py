"""Checkpoints of trainings as public code bases save them: names and nesting are those of the file
that is named beside each."""

import argparse
import sys
import types
from collections import OrderedDict, defaultdict, deque
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from facebench import Error, embedding, nn  # noqa: E402
from facebench.embedding import _checkpoints  # noqa: E402


def under(wrapper, state):
    return {wrapper + name: tensor for name, tensor in state.items()}


def head(name, *shape):
    return {name: torch.zeros(shape)}


def a_step_of(parameters):
    parameters = list(parameters)
    optimizer = torch.optim.SGD(parameters, lr=0.1, momentum=0.9)
    sum(p.sum() for p in parameters).backward()
    optimizer.step()
    return optimizer.state_dict()


def facex_zoo(state, _):
    """The module has the backbone and the head."""
    wrapped = under("backbone.", state) | head("head.weight", 8, 5)
    return {"state_dict": OrderedDict(wrapped), "epoch": 17, "batch_id": 0}


def magface(wrapper, classifier):
    def saved(state, optimizer):
        wrapped = under(wrapper, state) | head(classifier, 8, 5)
        return {"epoch": 2, "arch": "iresnet18", "state_dict": wrapped, "optimizer": optimizer}

    return saved


def adaface(callback):
    """As pytorch-lightning 1.4.4 (core/saving of a LightningModule), which the released files were
    made with, has it: a class is the key of its callback's state; since 1.5 a text is."""

    def saved(state, optimizer):
        best = {"monitor": "val_acc", "best_model_score": torch.tensor(0.97), "dirpath": "out"}
        return {
            "epoch": 26,
            "global_step": 9,
            "pytorch-lightning_version": "1.4.4",
            "state_dict": under("model.", state) | head("head.kernel", 8, 5) | head("head.t", 1),
            "callbacks": {callback(): best},
            "optimizer_states": [optimizer],
            "lr_schedulers": [{"milestones": {12: 1}, "last_epoch": 26}],
            "hparams_name": "kwargs",
            "hyper_parameters": {"lr": 0.1, "arch": "ir_50"},
        }

    return saved


def lightning_class():
    return sys.modules["pytorch_lightning.callbacks.model_checkpoint"].ModelCheckpoint


def timm(state, optimizer):
    args = argparse.Namespace(model="iresnet18", lr=0.1)
    plain = {"epoch": 1, "arch": "iresnet18", "optimizer": optimizer, "version": 2, "args": args}
    return plain | {"state_dict": state, "metric": np.float64(97.5)}


def imagenet(state, optimizer):
    plain = {"epoch": 1, "arch": "resnet50", "best_acc1": torch.tensor(75.0)}
    return plain | {"state_dict": under("module.", state), "optimizer": optimizer}


# What each saves of the network's state dict and the optimizer's; the entry that is taken, and what
# is left out.
CHECKPOINTS = {
    # recognition/arcface_torch/train_v2.py (model.pt). So do HuangYG123/CurricularFace, train.py,
    # ZhaoJ9014/face.evoLVe, train.py, TreB1eN/InsightFace_Pytorch, Learner.py, and Tencent/TFace,
    # recognition/torchkit/util/checkpoint.py
    "deepinsight/insightface": (lambda state, _: state, None, []),
    # models/utils/tensorflow2pytorch.py
    "timesler/facenet-pytorch": (lambda s, _: s | head("logits.weight", 5, 8), None, ["logits"]),
    # train.py: DataParallel, as it is
    "ronghuaiyang/arcface-pytorch": (lambda state, _: under("module.", state), None, []),
    # train.py
    "wujiyang/Face_Pytorch": (
        lambda state, _: {"iters": 9, "net_state_dict": state},
        "net_state_dict",
        [],
    ),
    # train.py
    "Xiaoccer/MobileFaceNet_Pytorch": (
        lambda state, _: {"epoch": 68, "net_state_dict": state},
        "net_state_dict",
        [],
    ),
    # run/trainer_dist.py, models/magface_dist.py
    "IrvingMeng/MagFace, distributed": (
        magface("features.module.", "parallel_fc.weight"),
        "state_dict",
        ["parallel_fc"],
    ),
    # run/trainer.py, models/magface.py: DataParallel around features and fc
    "IrvingMeng/MagFace": (
        magface("module.features.", "module.fc.weight"),
        "state_dict",
        ["module.fc"],
    ),
    # train_val.py, requirements.txt
    "mk-minchul/AdaFace": (adaface(lightning_class), "state_dict", ["head."]),
    "mk-minchul/AdaFace, now": (adaface(lambda: "ModelCheckpoint{}"), "state_dict", ["head."]),
    # training_mode/conventional_training/train.py
    "JDAI-CV/FaceX-Zoo": (facex_zoo, "state_dict", ["head."]),
    # timm/utils/checkpoint_saver.py
    "huggingface/pytorch-image-models": (timm, "state_dict", []),
    # imagenet/main.py
    "pytorch/examples": (imagenet, "state_dict", []),
}


@pytest.fixture
def lightning(monkeypatch):
    """A package that is there while a checkpoint is saved, and not where it is read."""
    name = "pytorch_lightning.callbacks.model_checkpoint"
    with monkeypatch.context() as there:
        for end in (17, 27, None):
            there.setitem(sys.modules, name[:end], types.ModuleType(name[:end]))
        kind = type("ModelCheckpoint", (), {"__module__": name})
        there.setattr(sys.modules[name], "ModelCheckpoint", kind, raising=False)
        yield there


@pytest.fixture(scope="module")
def network():
    return nn.build_network("small4", seed=2)


def save(network, name, path, **how):
    torch.save(
        CHECKPOINTS[name][0](network.state_dict(), a_step_of(network.parameters())), path, **how
    )


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_checkpoints_as_they_are_saved(name, network, lightning, tmp_path):
    _, entry, drop = CHECKPOINTS[name]
    save(network, name, tmp_path / "w.pt")
    lightning.undo()
    model = embedding.convert(tmp_path / "w.pt", network="small4", mean=[0.0], drop=drop)
    assert model.options.origin.startswith("w.pt" + (f"[{entry}]" if entry else "") + " sha256:")
    for key, tensor in network.state_dict().items():
        assert torch.equal(model.weights.state_dict()[key], tensor)


def test_a_file_of_an_old_torch(network, tmp_path):
    """MuggleWang/CosFace_pytorch, net.py; clcarwin/sphereface_pytorch, train.py, of 2017."""
    plain = "deepinsight/insightface"
    save(network, plain, tmp_path / "w.pth", _use_new_zipfile_serialization=False)
    model = embedding.convert(tmp_path / "w.pth", network="small4", mean=[0.0])
    for key, tensor in network.state_dict().items():
        assert torch.equal(model.weights.state_dict()[key], tensor)


def test_what_is_no_state_dict_is_named(tmp_path):
    """foamliu/InsightFace-v2, utils.py, saves the modules themselves."""
    modules = {"model": torch.nn.DataParallel(torch.nn.Linear(2, 2)), "metric_fc": torch.nn.PReLU()}
    torch.save({"epoch": 3} | modules, tmp_path / "w.tar")
    with pytest.raises(
        Error, match=r"state dict \('epoch' is a int, 'model' is a DataParallel, 'me"
    ):
        embedding.convert(tmp_path / "w.tar", network="small4", mean=[0.0])


class Sly:
    def __reduce__(self):
        return eval, ("open('sly-was-here', 'w')",)


def test_nothing_beside_the_tensors_does_anything(network, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torch.save({"state_dict": network.state_dict(), "callback": Sly()}, "w.pt")
    embedding.convert("w.pt", network="small4", mean=[0.0])
    name = next(iter(network.state_dict()))
    torch.save(network.state_dict() | {name: Sly()}, "w.pt")
    with pytest.raises(Error, match=f"'{name}' is a eval, expected a tensor"):
        embedding.convert("w.pt", network="small4", mean=[0.0])
    assert [p.name for p in Path().iterdir()] == ["w.pt"]


@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "before 1.6"])
@pytest.mark.parametrize(
    "beside",
    [
        {"args": argparse.Namespace(lr=0.1, net="r50")},
        {"best": np.float64(0.97), "seen": np.int64(3), "curve": np.arange(3.0)},
        {"log": defaultdict(list, loss=[1.0, 0.5])},
        {"last": deque([1.0, 0.5], maxlen=4)},
        {"callback": Sly(), "where": Path("runs/1")},
    ],
    ids=lambda beside: ",".join(beside),
)
def test_what_stands_beside_the_tensors_in_either_format(
    network, tmp_path, monkeypatch, beside, zipped
):
    monkeypatch.chdir(tmp_path)
    saved = {"state_dict": network.state_dict()} | beside
    torch.save(saved, "w.pt", _use_new_zipfile_serialization=zipped)
    model = embedding.convert("w.pt", network="small4", mean=[0.0])
    for key, tensor in network.state_dict().items():
        assert torch.equal(model.weights.state_dict()[key], tensor)
    assert [p.name for p in Path().iterdir()] == ["w.pt"]


def test_tensors_in_a_dict_with_defaults(network, tmp_path):
    torch.save(defaultdict(int, network.state_dict()), tmp_path / "w.pt")
    model = embedding.convert(tmp_path / "w.pt", network="small4", mean=[0.0])
    name, tensor = next(iter(network.state_dict().items()))
    assert torch.equal(model.weights.state_dict()[name], tensor)


@pytest.mark.parametrize("content", [b"", b"weights", b"\x80\x02}q\x00.", b"\x80\x02c\n\n."])
def test_a_file_of_anything_else_gives_one_sentence_without_escapes(tmp_path, content):
    (tmp_path / "w.pt").write_bytes(content)
    named = "not weights that can be read without running|is an empty file|is a pickle"
    with pytest.raises(Error, match=named) as caught:
        embedding.convert(tmp_path / "w.pt", network="small4", mean=[0.0])
    assert str(caught.value).isprintable()
    assert "do those steps" not in str(caught.value)


def test_of_several_state_dicts_one_is_named(tmp_path):
    plain, mean = (nn.build_network("small4", seed=seed).state_dict() for seed in (2, 3))
    path = tmp_path / "w.pt"
    # insightface, recognition/arcface_torch/train_v2.py (checkpoint_gpu_0.pt)
    states = {"state_dict_backbone": plain, "state_dict_softmax_fc": head("weight", 5, 8)}
    others = {"state_optimizer": {"state": {}, "param_groups": []}, "state_lr_scheduler": {"T": 1}}
    torch.save({"epoch": 1, "global_step": 9} | states | others, path)
    with pytest.raises(Error, match="dicts: state_dict_backbone, state_dict_softmax_fc"):
        embedding.convert(path, network="small4", mean=[0.0])
    embedding.convert(path, network="small4", key="state_dict_backbone", mean=[0.0])
    # timm with a moving average
    torch.save({"epoch": 1, "state_dict": plain, "state_dict_ema": mean}, path)
    with pytest.raises(
        Error, match=r"several state dicts: state_dict, state_dict_ema\. Name one: key="
    ):
        embedding.convert(path, network="small4", mean=[0.0])
    with pytest.raises(
        Error, match="no state dict 'ema'; those it holds: state_dict, state_dict_ema"
    ):
        embedding.convert(path, network="small4", key="ema", mean=[0.0])
    model = embedding.convert(path, network="small4", key="state_dict_ema", mean=[0.0])
    name = next(iter(mean))
    assert torch.equal(model.weights.state_dict()[name], mean[name])


def test_a_network_that_is_there_twice(network, tmp_path):
    mean = nn.build_network("small4", seed=3).state_dict()
    torch.save(under("student.", network.state_dict()) | under("teacher.", mean), tmp_path / "w.pt")
    with pytest.raises(Error, match=r"the network under 'student\.' and 'teacher\.'.*--drop"):
        embedding.convert(tmp_path / "w.pt", network="small4", mean=[0.0])
    how = {"network": "small4", "mean": [0.0], "drop": ["student."]}
    name = next(iter(mean))
    model = embedding.convert(tmp_path / "w.pt", **how)
    assert torch.equal(model.weights.state_dict()[name], mean[name])


def test_an_entry_within_entries_is_named_by_dots(network, tmp_path):
    state = network.state_dict()
    optimizer = a_step_of(network.parameters())
    path = tmp_path / "nested.pt"
    torch.save({"model": {"backbone": state, "head": head("w", 3)}, "optimizer": optimizer}, path)
    with pytest.raises(
        Error, match=r"several state dicts: model\.backbone, model\.head\. Name one"
    ):
        _checkpoints.read(path, None)
    for key in ("model.backbone", "model.head"):
        assert _checkpoints.read(path, key)[1] == key
    assert _checkpoints.read(path, "model.backbone")[0].keys() == state.keys()
    with pytest.raises(
        Error, match=r"no state dict 'model\.neck'; those it holds: model\.backbone"
    ):
        _checkpoints.read(path, "model.neck")
    # One alone is taken; a name with a dot of its own comes first.
    torch.save({"run": {"model": {"net": state}}, "optimizer": optimizer}, path)
    assert _checkpoints.read(path, None)[1] == "run.model.net"
    torch.save({"a.b": state, "a": {"b": head("w", 3)}}, path)
    assert _checkpoints.read(path, "a.b")[0].keys() == state.keys()
    torch.save({"a": {"b": state}, "c": state}, path)
    assert _checkpoints.read(path, None)[1] == "c"
