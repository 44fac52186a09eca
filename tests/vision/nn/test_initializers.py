"""Initial weights against the distributions of Wang & Guo 2019, table 12, layer by layer."""

import math

import numpy as np
import pytest

stats = pytest.importorskip("scipy.stats")
torch = pytest.importorskip("torch")

from facebench import nn  # noqa: E402


def uniform(bound):
    return stats.uniform(-bound, 2 * bound)


def normal(deviation):
    return stats.norm(0, deviation)


def truncated(deviation):
    return stats.truncnorm(-2, 2, scale=deviation)


# fan_in and fan_out of a layer -> the distribution of its weights: the first convolution, one that
# keeps the width, one that widens, and a linear layer. Table 12's formulas, and those of the
# fillers that it does not have.
LINEAR_OF_TORCH = lambda i, o: uniform(math.sqrt(1 / i))  # noqa: E731
RULES = {
    "torch": [LINEAR_OF_TORCH] * 4,  # kaiming_uniform with a = sqrt(5) is the same
    "kaiming_normal_fan_out": [lambda i, o: normal(math.sqrt(2 / o))] * 3 + [LINEAR_OF_TORCH],
    "kaiming_normal_fan_in": [lambda i, o: normal(math.sqrt(2 / i))] * 3 + [LINEAR_OF_TORCH],
    "truncated_normal_0.1": [lambda i, o: truncated(0.1)] * 3 + [LINEAR_OF_TORCH],
    "msra": [lambda i, o: normal(math.sqrt(2 / i))] * 4,
    "msra_fan_out": [lambda i, o: normal(math.sqrt(2 / o))] * 4,
    "xavier_uniform": [lambda i, o: uniform(math.sqrt(6 / (i + o)))] * 4,
    "xavier_normal": [lambda i, o: normal(math.sqrt(2 / (i + o)))] * 4,
    "xavier_caffe": [lambda i, o: uniform(math.sqrt(3 / i))] * 4,
    "gaussian_0.01": [lambda i, o: normal(0.01)] * 4,
    "resnet_caffe": [
        lambda i, o: normal(math.sqrt(2 / o)),
        lambda i, o: normal(math.sqrt(2 / i)),
        lambda i, o: normal(math.sqrt(2 / i)),
        lambda i, o: normal(0.01),
    ],
    "residual_caffe": [
        lambda i, o: uniform(math.sqrt(3 / i)),
        lambda i, o: normal(0.01),
        lambda i, o: uniform(math.sqrt(3 / i)),
        lambda i, o: uniform(math.sqrt(3 / i)),
    ],
}
RULES["transformer"] = [*RULES["torch"][:3], lambda i, o: normal(0.02)]
RULES["cifar10_tensorflow"] = [lambda i, o: truncated(0.05)] * 3 + [lambda i, o: truncated(0.04)]
RULES["cifar10_caffe"] = [lambda i, o, d=d: normal(d) for d in (1e-4, 0.01, 0.01, 0.1)]
NORMAL_TENTH = lambda i, o: normal(0.1)  # noqa: E731
RULES["arcface_torch"] = [lambda i, o: normal(0.1)] * 3 + RULES["torch"][3:]
RULES["gaussian_0.1"] = [NORMAL_TENTH] * 4
RULES["alexnet_slim"] = [*RULES["xavier_uniform"][:3], lambda i, o: truncated(0.005)]
# By layer, where they do not start at 0.
BIAS = {"alexnet_slim": [0.1] * 4, "cifar10_tensorflow": [0, 0.1, 0.1, 0.1]}
LAYERS = ["conv1_1", "conv2_2", "conv2_1", "fc5"]  # of SphereFace-10, which has all four kinds


def test_every_initializer_has_a_rule_here():
    assert {entry["name"] for entry in nn.list_initializers()} == set(RULES)


@pytest.mark.parametrize("name", sorted(RULES))
def test_distribution_of_every_kind_of_layer(name):
    def tensors(seed):
        network = nn.build_network("sphereface10", height=32, width=32, initializer=name, seed=seed)
        return {key: value.detach().numpy().copy() for key, value in network.state_dict().items()}

    first, again, other = tensors(3), tensors(3), tensors(4)
    starts = BIAS.get(name, [0] * 4)
    for layer, rule, start in zip(LAYERS, RULES[name], starts, strict=True):
        weight = first[layer + ".weight"]
        area = math.prod(weight.shape[2:])
        distribution = rule(weight.shape[1] * area, weight.shape[0] * area)
        # Of 1,728 numbers and more; a fixed seed, so this never fails by chance.
        assert stats.kstest(weight.ravel()[:50_000], distribution.cdf).pvalue > 1e-3, layer
        low, high = distribution.support()
        assert low - 1e-6 <= weight.min() and weight.max() <= high + 1e-6
        assert weight.tobytes() == again[layer + ".weight"].tobytes()
        assert weight.tobytes() != other[layer + ".weight"].tobytes()
        bias = first[layer + ".bias"]
        # Two rules draw biases as weights; some leave linear layers to torch's.
        if rule in (LINEAR_OF_TORCH, NORMAL_TENTH):
            assert stats.kstest(bias, distribution.cdf).pvalue > 1e-3
        else:
            assert (bias == np.float32(start)).all()
