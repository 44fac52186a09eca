"""Trainings of a second, on blocks of colours in place of faces."""

import json
import warnings

import facebench
import numpy as np
from facebench import training


def faces(people=4, images=3, size=16, seed=7):
    """Blocks of a colour of each person's own, with noise."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(people), images)
    colours = rng.integers(40, 215, (people, 4, 4, 3))
    base = np.kron(colours[labels], np.ones((1, size // 4, size // 4, 1)))
    noise = rng.integers(-20, 20, base.shape)
    return (base + noise).clip(0, 255).astype(np.uint8), labels.tolist()


def run(out, data, name="small4_quick.softmax", **options):
    """The result, and the warnings."""
    recipe = training.load_recipe(name, **options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = facebench.train(recipe, data, out, progress=False, threads=1)
    told = [str(w.message) for w in caught]
    assert result["notes"] == told
    assert json.loads((out / "run.json").read_text())["content"].get("notes", []) == told
    return result, told
