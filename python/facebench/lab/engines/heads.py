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
    else:
        length, weight = _length(ops, features), head["weight"]
        unit = weight / _length(ops, weight)
        cosine = ops.clip(ops.einsum("nd,cd->nc", features / length, unit), -1.0, 1.0)
        true = ops.sum(cosine * hot, 1)
        scale = length if name == "sphereface" else loss["s"]
        logits = scale * (cosine + hot * (_margin(ops, loss, true, step) - true)[:, None])
    if name == "center":
        apart = ops.einsum("nc,cd->nd", hot, head["centers"]) - features
        extra = loss["weight"] / 2 * ops.sum(ops.square(apart), 1)
        moved = ops.einsum("nc,nd->cd", hot, apart) / (1 + ops.sum(hot, 0))[:, None]
        state["centers"] = head["centers"] - loss["alpha"] * moved
    return ops.logsumexp(logits, 1) - ops.sum(logits * hot, 1) + extra, state


def _length(ops, rows):
    return ops.sqrt(ops.clip(ops.sum(ops.square(rows), 1), 1e-12, 1e30))[:, None]


def _margin(ops, loss, cosine, step):
    """What stands in place of the true class's cosine."""
    m = loss["m"]
    if loss["name"] == "cosface":
        return cosine - m
    if loss["name"] == "arcface":
        sine = ops.sqrt(ops.clip(1 - ops.square(cosine), 1e-6, 1.0))
        moved = cosine * math.cos(m) - sine * math.sin(m)
        return ops.where(cosine < -math.cos(m), cosine - m * math.sin(m), moved)
    # cos(m theta) by its polynomial; `part` is the interval of theta.
    before, power, part = 1.0, cosine, 0.0
    for _ in range(1, m):
        before, power = power, 2 * cosine * power - before
    sign = 1.0
    for j in range(1, m):
        past = ops.where(cosine <= math.cos(j * math.pi / m), 1.0, 0.0)
        part, sign = part + past, sign * (1 - 2 * past)
    annealed = (1 + loss["gamma"] * (step + 1)) ** -loss["power"]
    share = ops.clip(loss["lambda_base"] * annealed, loss["lambda_min"], 1e30)
    return (share * cosine + sign * power - 2 * part) / (1 + share)
