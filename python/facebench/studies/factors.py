"""``bench_factors``: why one framework's recipe comes out better than another's.

Two recipes that differ in several things are taken apart: each factor alone is exchanged, with the
same seeds, data and everything else, and the difference it makes is attributed to it. What the
factors together do beyond their sum is the interaction.
"""

import tempfile
from pathlib import Path

from facebench import training
from facebench._progress import sink
from facebench._toml import value_text
from facebench._torch import full as _full
from facebench.studies.cases import synthetic_tests, synthetic_training, train_and_test
from facebench.studies.seeds import everywhere, paired, seed_mean

# Which keys of a recipe make up a factor, by their beginnings.
FACTORS = {
    "pre-processing": ("input.", "augmentation."),
    "initialisation": ("training.initializer",),
    "last batch": ("training.last_batch",),
    "batch norm": ("training.batch_norm", "network.batch_norm"),
    "network": ("network",),
    "loss": ("loss",),
    "optimizer": ("optimizer.",),
    "schedule": ("schedule.",),
    "other": ("",),
}

# The small case, where no recipes are named: a narrow network trained for seconds as PyTorch's
# users do and as Caffe's do (Wang & Guo 2019, tables 11 and 12; Caffe wraps the last batch, PyTorch
# keeps it).
SMALL_CASE = (
    "small4.softmax",
    {
        "network.channel_multiplier": 0.5,
        "training.epochs": 6,
        "training.batch": 32,
        "optimizer.lr": 0.05,
    },
    {
        "input.mean": [123.675, 116.28, 103.53],
        "input.std": [58.395, 57.12, 57.375],
        "training.initializer": "kaiming_normal_fan_out",
        "training.last_batch": "keep",
    },
    {
        "input.mean": [127.5, 127.5, 127.5],
        "input.std": [1, 1, 1],
        "training.initializer": "xavier_caffe",
        "training.last_batch": "wrap",
    },
)


def bench_factors(
    before=None,
    after=None,
    *,
    data=None,
    tests=None,
    settings=None,
    seeds=5,
    threads=1,
    replicates=200,
    progress=None,
):
    """Train two recipes and everything between them that differs in one factor.

    ``before``, ``after``: recipes (names, ``.toml`` files or `Recipe`); left out, the small case.
    ``settings``: {key: value} that both get. ``data``: what to train on, as for
    `facebench.training.train`; ``tests``: `cases.Test`; left out, synthetic people. Returns a dict
    that `facebench.timing.write_bench` writes: for each metric the two recipes' means over the
    seeds, and for each factor the difference it makes, with the interval of the paired differences.
    """
    before, after = _recipes(before, after, settings or {})
    factors = differing_factors(before, after)
    if not factors:
        raise ValueError("the two recipes do not differ")
    with tempfile.TemporaryDirectory(prefix="facebench-factors-") as folder:
        if data is None:
            data = synthetic_training(Path(folder) / "train.h5", 40, 10, progress=progress)
        if tests is None:
            tests = synthetic_tests(Path(folder) / "tests", ["lfw"], progress=progress)
        variants = {
            "before": before,
            **{name: _exchanged(before, after, keys) for name, keys in factors.items()},
            "after": after,
        }
        runs = {name: [] for name in variants}
        progress = sink(progress)
        if progress:
            progress.begin("trainings", seeds * len(variants), "trainings")
        try:
            for seed in range(seeds):
                for i, (name, recipe) in enumerate(variants.items()):
                    runs[name].append(
                        train_and_test(
                            recipe, data, tests, seed=seed, threads=threads, replicates=replicates
                        )
                    )
                    if progress:
                        progress.update(seed * len(variants) + i + 1, name)
        finally:
            if progress:
                progress.end()
    return {
        "kind": "factors",
        "options": {
            "before": before.to_dict(),
            "after": after.to_dict(),
            "names": [before.id, after.id],
            "factors": {
                name: {k: [_value(before, k), _value(after, k)] for k in keys}
                for name, keys in factors.items()
            },
            "seeds": seeds,
            "threads": threads,
            "protocols": [t.protocol for t in tests],
        },
        "machine": _full.machine_facts(),
        "rows": attribute(runs, list(factors)),
        "undefined": [" ".join(k) for k in everywhere(runs)[1]],
    }


def _recipes(before, after, settings):
    if (before is None) != (after is None):
        raise ValueError("give two recipes, or none for the small case")
    if before is None:
        base, common, first, second = SMALL_CASE
        pair = [training.load_recipe(base), training.load_recipe(base)]
        changes = [{**common, **first}, {**common, **second}]
    else:
        pair = [
            r.copy() if hasattr(r, "copy") else training.load_recipe(r) for r in (before, after)
        ]
        changes = [{}, {}]
    for recipe, own in zip(pair, changes, strict=True):
        for key, value in {**own, **settings}.items():
            recipe.set(key, value_text(value))
    return pair


def _flat(recipe):
    """{"table.option": value} of all that decides the result."""
    result = {}
    for table, content in recipe.to_dict().items():
        if isinstance(content, dict):
            result |= {f"{table}.{k}": v for k, v in content.items()}
        else:
            result[table] = content
    return result


def _value(recipe, key):
    return _flat(recipe).get(key)


def differing_factors(before, after):
    """{factor: [keys]} of what differs between two recipes, seeds left out.

    >>> from facebench import training
    >>> a = training.load_recipe("small4.softmax")
    >>> b = training.load_recipe("small4.softmax", lr=0.01, last_batch="wrap")
    >>> differing_factors(a, b)
    {'last batch': ['training.last_batch'], 'optimizer': ['optimizer.lr']}
    """
    a, b = _flat(before), _flat(after)
    found = {}
    for key in sorted({*a, *b}):
        if key == "training.seed" or a.get(key) == b.get(key):
            continue
        factor = next(f for f, starts in FACTORS.items() if key.startswith(starts))
        found.setdefault(factor, []).append(key)
    return {f: found[f] for f in FACTORS if f in found}


def _exchanged(before, after, keys):
    """`before` with the named values of `after`."""
    recipe, values = before.copy(), _flat(after)
    for key in keys:
        if key.split(".")[0] in ("network", "loss") and key.endswith("name"):
            recipe.set(key.split(".")[0], value_text(values[key]))
    known = set(recipe.keys())
    for key in keys:
        if key in known and key in values:
            recipe.set(key, value_text(values[key]))
    return recipe


def attribute(runs, factors):
    """A row for each metric: means of both ends, the whole difference, each factor's, the rest."""
    rows = []
    for key in [("training", "", "loss"), *everywhere(runs)[0]]:
        values = {
            name: [r["loss"] if key[0] == "training" else r["metrics"][key]["value"] for r in own]
            for name, own in runs.items()
        }
        whole = paired(values["before"], values["after"])
        parts = {f: paired(values["before"], values[f]) for f in factors}
        sums = [
            sum(values[f][s] - values["before"][s] for f in factors)
            for s in range(len(values["before"]))
        ]
        ends = [b - a for a, b in zip(values["before"], values["after"], strict=True)]
        rows.append(
            {
                "protocol": key[0],
                "track": key[1],
                "metric": key[2],
                "status": "ok",
                "before": seed_mean(key[2], values["before"]),
                "after": seed_mean(key[2], values["after"]),
                "difference": whole,
                "factors": parts,
                "interaction": paired(sums, ends),
                "values": values,
            }
        )
    return rows
