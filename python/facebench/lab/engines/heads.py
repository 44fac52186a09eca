"""Losses of recipes in the operations of a framework: ``ops`` is torch or keras.ops.

The formulas are those of this library's losses (docs/networks.md), their options too.
"""

import math
from typing import Any

LOSSES = ("softmax", "center", "sphereface", "cosface", "arcface")


def loss_of(ops, loss: dict, features, hot, head: dict, step) -> tuple[Any, dict]:
    """The loss of each image, (N), and the new values of ``head`` that no optimizer changes.

    ``loss``: its name and options; ``features`` (N, D); ``hot`` (N, C) one where the class is;
    ``head``: "weight" (C, D), "bias", "centers"; ``step``: how many steps were made.

    >>> import numpy as np, torch
    >>> x, hot = torch.eye(2), torch.eye(2)
    >>> head = {"weight": torch.eye(2), "bias": torch.zeros(2)}
    >>> values, _ = loss_of(torch, {"name": "softmax"}, x, hot, head, 0)
    >>> [round(v, 4) for v in values.tolist()]  # log(1 + exp(-1))
    [0.3133, 0.3133]
    """
    name, state, extra = loss["name"], {}, 0
    if name in ("softmax", "center"):
        logits = ops.einsum("nd,cd->nc", features, head["weight"]) + head["bias"]
    elif loss.get("gradient") == "caffe":
        logits = _logits_of_caffe(ops, loss, features, hot, head["weight"], step)
    else:
        length, weight = _length(ops, features), head["weight"]
        unit = weight / _length(ops, weight)
        cosine = ops.clip(ops.einsum("nd,cd->nc", features / length, unit), -1.0, 1.0)
        true = ops.sum(cosine * hot, 1)
        scale = length if name == "sphereface" else loss["s"]
        logits = scale * (cosine + hot * (_margin(ops, loss, true, step) - true)[:, None])
    if name == "center":
        apart = ops.einsum("nc,cd->nd", hot, head["centers"]) - features
        moved = ops.einsum("nc,nd->cd", hot, apart) / (1 + ops.sum(hot, 0))[:, None]
        if loss["update"] == "caffe":
            # The optimizer moves the centres: by this gradient, in a term whose value is zero.
            centers, gradient = head["centers"], _constant(ops, moved) * loss["alpha"]
            apart = ops.einsum("nc,cd->nd", hot, _constant(ops, centers)) - features
            extra = ops.sum(gradient * (centers - _constant(ops, centers)))
        else:
            state["centers"] = head["centers"] - loss["alpha"] * moved
        extra = extra + loss["weight"] / 2 * ops.sum(ops.square(apart), 1)
    return ops.logsumexp(logits, 1) - ops.sum(logits * hot, 1) + extra, state


def _length(ops, rows):
    return ops.sqrt(ops.clip(ops.sum(ops.square(rows), 1), 1e-12, 1e30))[:, None]


def keeps_unit_rows(loss: dict) -> bool:
    """Whether the rows of the weight are brought to length 1 before each step."""
    return loss.get("gradient") == "caffe"


def unit_rows(ops, weight):
    return weight / _length(ops, weight)


def _constant(ops, value):
    return value.detach() if hasattr(value, "detach") else ops.stop_gradient(value)


def _logits_of_caffe(ops, loss, features, hot, weight, step):
    """The logits of SphereFace's authors, whose layer passes on other gradients than theirs: their
    values, and a term of value zero that has the gradients (docs/training.md)."""
    x, w = _constant(ops, features), _constant(ops, unit_rows(ops, weight))
    norm, share = _length(ops, x), _share(ops, loss, step)
    own = ops.einsum("nc,cd->nd", hot, w)
    cosine = ops.clip(ops.sum(x * own, 1)[:, None] / norm, -1.0, 1.0)
    psi, slope = _psi(ops, loss["m"], cosine)
    straight = ops.einsum("nd,cd->nc", x, w)
    true = norm * (share * cosine + psi) / (1 + share)
    along_x = (psi - cosine * slope) / norm
    length = ops.sqrt(ops.clip(ops.square(slope) + ops.square(along_x), 1e-24, 1e30))
    stands_for = ((slope * own + along_x * x) / length + share * own) / (1 + share)
    carrier = ops.einsum("nd,cd->nc", x, weight) + ops.einsum("nd,cd->nc", features, w)
    carrier = carrier + hot * ops.sum(features * (stands_for - own), 1)[:, None]
    return straight * (1 - hot) + true * hot + (carrier - _constant(ops, carrier))


def _psi(ops, m, cosine):
    """SphereFace's (-1)^k cos(m theta) - 2 k, k the interval of theta, by Chebyshev's polynomial;
    its slope by the cosine, by that of the second kind."""
    first, second = (1.0, cosine), (1.0, 2 * cosine)
    for _ in range(1, m):
        first = first[1], 2 * cosine * first[1] - first[0]
        second = second[1], 2 * cosine * second[1] - second[0]
    sign, part = 1.0, 0.0
    for j in range(1, m):
        past = ops.where(cosine <= math.cos(j * math.pi / m), 1.0, 0.0)
        part, sign = part + past, sign * (1 - 2 * past)
    return sign * first[1] - 2 * part, sign * m * second[0]


def _share(ops, loss, step):
    """SphereFace's lambda, which falls."""
    annealed = (1 + loss["gamma"] * (step + 1)) ** -loss["power"]
    return ops.clip(loss["lambda_base"] * annealed, loss["lambda_min"], 1e30)


def _margin(ops, loss, cosine, step):
    """What stands in place of the true class's cosine."""
    m = loss["m"]
    if loss["name"] == "cosface":
        return cosine - m
    if loss["name"] == "arcface":
        sine = ops.sqrt(ops.clip(1 - ops.square(cosine), 1e-6, 1.0))
        moved = cosine * math.cos(m) - sine * math.sin(m)
        return ops.where(cosine < -math.cos(m), cosine - m * math.sin(m), moved)
    share = _share(ops, loss, step)
    return (share * cosine + _psi(ops, m, cosine)[0]) / (1 + share)
