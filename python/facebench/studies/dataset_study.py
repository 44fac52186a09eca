"""``bench_compare_datasets``: which training set is better, as the paper's tables 14 to 16 ask."""

import statistics
import tempfile
from pathlib import Path

import numpy as np

from facebench import datasets, training
from facebench._torch import full as _full
from facebench.studies.cases import (
    synthetic_protocols,
    synthetic_tests,
    synthetic_training,
    train_and_test,
)
from facebench.studies.seeds import everywhere, seed_mean

# Where no packs are given: as many images each in breadth and in depth, and a small set (people,
# images of each).
SYNTHETIC = {"broad": (60, 5), "deep": (20, 15), "small": (20, 5)}
SMALL_RECIPE = (
    "small4.cosface",
    {
        "network.channel_multiplier": 0.5,
        "training.iterations": 150,
        "training.batch": 32,
        "loss.s": 30,
        "loss.m": 0.2,
    },
)


def bench_compare_datasets(
    packs=None,
    *,
    recipe=None,
    tests=None,
    seeds=3,
    remove_overlap=True,
    threads=1,
    replicates=200,
    scale=1.0,
    progress=None,
):
    """Train one network by one recipe on several packs, and test each on all protocols.

    ``packs``: {name: path}; left out, synthetic sets that differ in breadth and depth. ``tests``:
    `cases.Test`; left out, synthetic test sets of all protocols. ``remove_overlap``: people of a
    pack who are in a test set (`facebench.datasets.find_overlap`) are not trained on. Returns a
    dict that `facebench.timing.write_bench` writes: each pack's people and images, and for each
    metric the mean over seeds with its interval.
    """
    with tempfile.TemporaryDirectory(prefix="facebench-sets-") as folder:
        folder = Path(folder)
        if packs is None:
            packs, first = {}, 0
            for name, (people, images) in SYNTHETIC.items():
                packs[name] = synthetic_training(
                    folder / f"{name}.h5", people, images, first_person=first, progress=progress
                )
                first += people
        if tests is None:
            tests = synthetic_tests(
                folder / "tests", synthetic_protocols(), scale=scale, progress=progress
            )
        if recipe is None:
            recipe = training.load_recipe(SMALL_RECIPE[0])
            for key, value in SMALL_RECIPE[1].items():
                recipe.set(key, str(value))
        elif not hasattr(recipe, "copy"):
            recipe = training.load_recipe(recipe)
        sets, lists, runs = {}, {}, {name: [] for name in packs}
        for number, (name, path) in enumerate(packs.items()):
            dropped = _overlap(path, tests) if remove_overlap else {}
            sets[name] = _without(path, dropped)
            if dropped:
                lists[name] = folder / f"left-out-{number}.txt"
                lists[name].write_text("".join(f"person\t{person}\n" for person in dropped))
        if progress:
            progress.begin("trainings", seeds * len(packs), "trainings")
        try:
            for seed in range(seeds):
                for i, name in enumerate(packs):
                    runs[name].append(
                        train_and_test(
                            recipe,
                            packs[name],
                            tests,
                            seed=seed,
                            threads=threads,
                            replicates=replicates,
                            exclude=lists.get(name),
                        )
                    )
                    if progress:
                        progress.update(seed * len(packs) + i + 1, name)
        finally:
            if progress:
                progress.end()
    return {
        "kind": "compare-datasets",
        "options": {
            "recipe": recipe.to_dict(),
            "seeds": seeds,
            "packs": list(runs),
            "remove_overlap": remove_overlap,
            "protocols": [t.protocol for t in tests],
        },
        "machine": _full.machine_facts(),
        "sets": sets,
        "rows": _rows(runs),
        "undefined": [" ".join(k) for k in everywhere(runs)[1]],
    }


def _overlap(path, tests):
    """{person: why} of the people who are in a test set."""
    dropped = {}
    for pack in dict.fromkeys(t.pack for t in tests):
        found = datasets.find_overlap(path, pack)
        for entry in found.entries:
            dropped[entry["person"]] = f"{entry['match']} ({entry['why']})"
    return dropped


def _without(path, dropped):
    """How much there is in a pack, and how much without the people who are dropped."""
    pack = datasets.Pack(path)
    labels = np.array(pack.labels, np.int64)
    usable = np.array(pack.statuses) == 0
    names = list(pack.label_names)
    out = {i for i, name in enumerate(names) if name in dropped}
    removed = np.isin(labels, list(out)) & usable
    kept = usable & ~removed
    return {
        "people": len(set(labels[kept].tolist())),
        "images": int(kept.sum()),
        "people_removed": len(set(labels[removed].tolist())),
        "images_removed": int(removed.sum()),
        "removed": {name: dropped[name] for name in names if name in dropped},
    }


def _rows(runs):
    rows = []
    for key in everywhere(runs)[0]:
        cells = {}
        for name, own in runs.items():
            values = [r["metrics"][key]["value"] for r in own]
            widths = [
                (c["interval"][1] - c["interval"][0]) / 2
                for c in (r["metrics"][key] for r in own)
                if c.get("interval") and c["interval"][0] is not None
            ]
            cells[name] = {
                **seed_mean(key[2], values),
                "values": values,
                "protocol_half_width": statistics.fmean(widths) if widths else None,
            }
        rows.append(
            {
                "protocol": key[0],
                "track": key[1],
                "metric": key[2],
                "status": "ok",
                "sets": cells,
            }
        )
    return rows
