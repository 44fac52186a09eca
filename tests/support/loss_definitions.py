"""The losses' definitions, written from the papers and the authors' code, in plain PyTorch.

DEFINITIONS has for each loss a function of the features, the labels, its parameters, its options
and what it keeps between steps (its buffers, which it moves). It returns the loss of a training
step.
"""

import math

import numpy as np
import torch

F = torch.nn.functional


def cosines(x, p):
    return F.linear(F.normalize(x), F.normalize(p["weight"]))


def definition_softmax(x, y, p, options, kept):
    return F.cross_entropy(F.linear(x, p["weight"], p["bias"]), y)


def definition_center(x, y, p, options, kept):
    centers = kept["centers"].clone()
    for j in range(len(centers)):
        own = x.detach()[y == j]
        kept["centers"][j] -= options["alpha"] * (centers[j] - own).sum(0) / (1 + len(own))
    distance = 0.5 * (x - centers[y]).pow(2).sum(1).mean()
    return definition_softmax(x, y, p, options, kept) + options["weight"] * distance


def definition_sphereface(x, y, p, options, kept):
    m = options["m"]
    kept["iteration"] += 1
    annealed = (1 + options["gamma"] * kept["iteration"].item()) ** -options["power"]
    lam = max(options["lambda_min"], options["lambda_base"] * annealed)
    cos = cosines(x, p)
    theta = cos.acos()
    k = (m * theta / math.pi).floor().detach()
    psi = (-1.0) ** k * (m * theta).cos() - 2 * k
    hot = F.one_hot(y, cos.shape[1]).double()
    mixed = torch.where(hot == 1, (lam * cos + psi) / (1 + lam), cos)
    return F.cross_entropy(x.norm(dim=1, keepdim=True) * mixed, y)


def definition_cosface(x, y, p, options, kept):
    cos = cosines(x, p)
    hot = F.one_hot(y, cos.shape[1]).double()
    return F.cross_entropy(options["s"] * (cos - options["m"] * hot), y)


def arcface_logits(cos, y, options):
    theta = cos.acos()
    moved = torch.where(
        theta + options["m"] <= math.pi,
        (theta + options["m"]).cos(),
        cos - options["m"] * math.sin(options["m"]),
    )
    hot = F.one_hot(y, cos.shape[1]).double()
    return options["s"] * torch.where(hot == 1, moved, cos)


def definition_arcface(x, y, p, options, kept):
    return F.cross_entropy(arcface_logits(cosines(x, p), y, options), y)


def definition_combined(x, y, p, options, kept):
    """insightface's MXNet code: arccos, times m1, plus m2, cos, minus m3."""
    cos = cosines(x, p)
    row = torch.arange(len(y))
    moved = (options["m1"] * cos[row, y].acos() + options["m2"]).cos() - options["m3"]
    return F.cross_entropy(options["s"] * cos.index_put((row, y), moved), y)


def definition_adaface(x, y, p, options, kept):
    """The AdaFace class of the authors' head.py, line by line."""
    eps, m = 1e-3, options["m"]
    cosine = cosines(x, p).clamp(-1 + eps, 1 - eps)
    norms = x.norm(2, 1, True).clip(0.001, 100).detach()
    for name, value in (("batch_mean", norms.mean()), ("batch_std", norms.std())):
        kept[name] = value * options["t_alpha"] + (1 - options["t_alpha"]) * kept[name]
    scaler = (norms - kept["batch_mean"]) / (kept["batch_std"] + eps)
    scaler = (scaler * options["h"]).clip(-1, 1)
    hot = F.one_hot(y, cosine.shape[1]).double()
    theta = (cosine.acos() + hot * (m * scaler * -1)).clip(eps, math.pi - eps)
    return F.cross_entropy((theta.cos() - hot * (m + m * scaler)) * options["s"], y)


def definition_magface(x, y, p, options, kept):
    """MagLinear (easy margin) and MagLoss of the authors' magface.py, and the sum of main.py."""
    l_a, u_a = options["l_a"], options["u_a"]
    a = x.norm(dim=1, keepdim=True).clamp(l_a, u_a)
    slope = (options["u_margin"] - options["l_margin"]) / (u_a - l_a)
    margin = slope * (a - l_a) + options["l_margin"]
    cos = cosines(x, p).clamp(-1, 1)
    moved = cos * margin.cos() - (1 - cos**2).sqrt() * margin.sin()
    moved = torch.where(cos > 0, moved, cos)
    hot = F.one_hot(y, cos.shape[1]).double()
    logits = options["s"] * (hot * moved + (1 - hot) * cos)
    g = (1 / u_a**2 * a + 1 / a).mean()
    return F.cross_entropy(logits, y) + options["lambda_g"] * g


def definition_curricularface(x, y, p, options, kept):
    """The CurricularFace class of the authors' metrics.py."""
    m = options["m"]
    cos = cosines(x, p).clamp(-1, 1)
    row = torch.arange(len(y))
    target = cos[row, y].view(-1, 1)
    moved = target * math.cos(m) - (1 - target**2).sqrt() * math.sin(m)
    hard = cos > moved
    final = torch.where(target > math.cos(math.pi - m), moved, target - math.sin(math.pi - m) * m)
    kept["t"] = target.mean().detach() * options["alpha"] + (1 - options["alpha"]) * kept["t"]
    logits = torch.where(hard, cos * (kept["t"] + cos), cos).scatter(1, y.view(-1, 1), final)
    return F.cross_entropy(options["s"] * logits, y)


def definition_subcenter_arcface(x, y, p, options, kept):
    k = options["k"]
    cos = cosines(x, p).unflatten(1, (-1, k)).max(2).values
    return F.cross_entropy(arcface_logits(cos, y, options), y)


def definition_elasticface(x, y, p, options, kept):
    """The authors' ElasticArcFace with a deviation of 0: cos(acos + m), past pi too."""
    assert options["std"] == 0
    kept["iteration"] += 1
    cos = cosines(x, p)
    hot = F.one_hot(y, cos.shape[1]).double()
    return F.cross_entropy(options["s"] * (cos.acos() + options["m"] * hot).cos(), y)


def definition_uniface(x, y, p, options, kept):
    """Unified_Cross_Entropy_Loss of the authors' head.py."""
    s = options["s"]
    cos = cosines(x, p)
    own = s * (cos - options["m"]) - p["bias"]
    other = s * cos - p["bias"]
    own = torch.log(1 + torch.exp(-own.clamp(-s, s)))
    other = torch.log(1 + torch.exp(other.clamp(-s, s))) * options["l"]
    hot = F.one_hot(y, cos.shape[1]).bool()
    return torch.where(hot, own, other).sum(1).mean()


def select_triplets(embeddings, nrof_images_per_class, alpha, negatives):
    """select_triplets of facenet's train_tripletloss.py, with the nearest negative for a random
    one. `negatives` chooses between its two lines: "all" is the one in use, "semi_hard" the one
    that is commented out."""
    emb_start_idx = 0
    triplets = []
    for nrof_images in nrof_images_per_class:
        for j in range(1, nrof_images):
            a_idx = emb_start_idx + j - 1
            neg_dists_sqr = np.sum(np.square(embeddings[a_idx] - embeddings), 1)
            for pair in range(j, nrof_images):
                p_idx = emb_start_idx + pair
                pos_dist_sqr = np.sum(np.square(embeddings[a_idx] - embeddings[p_idx]))
                neg_dists_sqr[emb_start_idx : emb_start_idx + nrof_images] = np.nan
                admitted = neg_dists_sqr - pos_dist_sqr < alpha
                if negatives == "semi_hard":
                    admitted = np.logical_and(admitted, pos_dist_sqr < neg_dists_sqr)
                all_neg = np.where(admitted)[0]
                if len(all_neg) > 0:
                    n_idx = all_neg[neg_dists_sqr[all_neg].argmin()]
                    triplets.append((a_idx, p_idx, n_idx))
        emb_start_idx += nrof_images
    return triplets


def definition_triplet(x, y, p, options, kept):
    assert options["pick"] == "nearest"
    kept["iteration"] += 1
    by_class = y.argsort(stable=True)
    embeddings = F.normalize(x)[by_class]
    triplets = select_triplets(
        embeddings.detach().numpy(), y.bincount().tolist(), options["margin"], options["negatives"]
    )
    assert triplets
    anchor, positive, negative = (embeddings[list(i)] for i in zip(*triplets, strict=True))
    # triplet_loss of facenet.py
    pos_dist = (anchor - positive).square().sum(1)
    neg_dist = (anchor - negative).square().sum(1)
    return (pos_dist - neg_dist + options["margin"]).clamp_min(0.0).mean(0)


DEFINITIONS = {
    "softmax": definition_softmax,
    "center": definition_center,
    "sphereface": definition_sphereface,
    "cosface": definition_cosface,
    "arcface": definition_arcface,
    "combined": definition_combined,
    "adaface": definition_adaface,
    "magface": definition_magface,
    "curricularface": definition_curricularface,
    "subcenter_arcface": definition_subcenter_arcface,
    "elasticface": definition_elasticface,
    "uniface": definition_uniface,
    "triplet": definition_triplet,
}
