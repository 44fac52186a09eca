"""Classes of images by a trained network."""

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("facebench._full")
from facebench import training
from facebench.lab.studies import classifying, small_images


def test_classes_are_the_networks_own(tmp_path):
    """The network with its classifier and the same weights says the same; scikit-learn counts."""
    metrics = pytest.importorskip("sklearn.metrics")
    import torch
    from facebench import io, nn

    data = small_images.draw_images(28, 200, 100, gray=True)
    recipe = training.load_recipe("lenet5.caffe", iterations=30, **{"training__batch": 20})
    training.train(recipe, data.train, tmp_path / "run", threads=1)
    predicted = classifying.classify(tmp_path / "run", data.test[0])
    state, _ = io.read_safetensors(max((tmp_path / "run/checkpoints").glob("*.safetensors")))
    network = nn.build_network("lenet5", channels=1, classes=10)
    network.load_state_dict(
        {
            k.removeprefix("network."): torch.from_numpy(v)
            for k, v in state.items()
            if "network." in k and not k.startswith("momentum")
        }
        | {f"ip2.{k}": torch.from_numpy(state[f"head.{k}"]) for k in ("weight", "bias")}
    )
    x = torch.from_numpy(data.test[0][..., 0].astype(np.float32))[:, None] / 256
    assert np.array_equal(network.infer(x, "logits").argmax(1).numpy(), predicted)
    table = classifying.confusion_matrix(data.test[1], predicted, 10)
    wanted = metrics.confusion_matrix(data.test[1], predicted, labels=range(10))
    assert np.array_equal(table, wanted)
    assert np.trace(table) > 50  # of 100; chance is 10
