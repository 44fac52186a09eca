"""``bench_compare_datasets``: which training set is better, as the paper's tables 14 to 16 ask."""

import statistics
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from facebench import datasets, training
from facebench._progress import sink
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
    exclude=None,
    names=None,
    train_embeddings=None,
    test_embeddings=None,
    audit=None,
    threads=1,
    replicates=200,
    scale=1.0,
    progress=None,
):
    """Train one network by one recipe on several packs, and test each on all protocols.

    ``packs``: {name: path}; left out, synthetic sets that differ in breadth and depth. ``tests``:
    `cases.Test`; left out, synthetic test sets of all protocols. ``remove_overlap``: people of a
    pack who are in a test set (`facebench.datasets.find_overlap`) are not trained on: by name
    (``names``: {pack: table of names} where people are called by identifiers), and by similar
    images where ``train_embeddings`` ({pack: path}) and ``test_embeddings`` ({protocol: path}) are
    given. ``exclude``: {pack: list} of what else is left out. ``audit``: a folder for the lists of
    who was found and why, one for each pack and test set. Returns a dict that
    `facebench.timing.write_bench` writes: each pack's people and images, and for each metric the
    mean over seeds with its interval.
    """
    how = _Removal(exclude or {}, names or {}, train_embeddings or {}, test_embeddings or {}, audit)
    how.check(packs, tests)
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
            found = how.overlap(name, path, tests) if remove_overlap else _Found()
            samples = how.add_list(name, found)
            sets[name] = _without(path, found.dropped, samples)
            sets[name]["identifiers"] = found.identifiers
            sets[name]["compared_images"] = found.compared_images
            if found.dropped or samples:
                lists[name] = folder / f"left-out-{number}.txt"
                lines = [f"person\t{p}\n" for p in found.dropped]
                lists[name].write_text("".join(lines + [f"sample\t{s}\n" for s in samples]))
        progress = sink(progress)
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


@dataclass
class _Found:
    """People of a pack who are in the tests: {person: why}; how many are called by identifiers, and
    so were not compared by name; whether images were compared."""

    dropped: dict = field(default_factory=dict)
    identifiers: int = 0
    compared_images: bool = False


@dataclass
class _Removal:
    """How people are found who are in a test set, each by the name of a pack or protocol."""

    exclude: dict
    names: dict
    train_embeddings: dict
    test_embeddings: dict
    audit: Path | None

    def check(self, packs, tests):
        known = {"exclude": packs, "names": packs, "train_embeddings": packs}
        known["test_embeddings"] = {t.protocol for t in tests} if tests else ()
        for what, there in known.items():
            for name in getattr(self, what):
                if name not in (there or ()):
                    raise ValueError(f"{what}: there is no '{name}' in this comparison")

    def overlap(self, name, path, tests):
        found = _Found()
        for test in {t.pack: t for t in tests}.values():
            here = datasets.find_overlap(
                path,
                test.pack,
                train_names=self.names.get(name),
                train_embeddings=self.train_embeddings.get(name),
                test_embeddings=self.test_embeddings.get(test.protocol),
            )
            found.identifiers = here.train["identifiers"]
            found.compared_images |= here.compared_images
            for entry in here.entries:
                found.dropped[entry["person"]] = f"{entry['match']} ({entry['why']})"
            if self.audit is not None:
                Path(self.audit).mkdir(parents=True, exist_ok=True)
                (Path(self.audit) / f"{name}-{test.protocol}.csv").write_text(here.csv)
        return found

    def add_list(self, name, found):
        """Adds the people of the caller's list; returns its samples."""
        if name not in self.exclude:
            return []
        listed = datasets.read_exclusion(self.exclude[name])
        for person in listed["people"]:
            found.dropped.setdefault(person, "the caller's list")
        return listed["samples"]


def _without(path, dropped, samples=()):
    """How much there is in a pack, and how much without the people and samples that are dropped."""
    pack = datasets.Pack(path)
    labels = np.array(pack.labels, np.int64)
    usable = np.array(pack.statuses) == 0
    names = list(pack.label_names)
    people = {i for i, name in enumerate(names) if name in dropped}
    out = np.isin(labels, list(people)) | np.isin(np.array(pack.names), list(samples))
    removed, kept = out & usable, usable & ~out
    return {
        "people": len(set(labels[kept].tolist())),
        "images": int(kept.sum()),
        "people_removed": len(set(labels[removed].tolist()) & people),
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
