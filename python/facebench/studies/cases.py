"""What studies train and test on, and one training with its tests."""

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from facebench import datasets, embedding, pipeline, protocols, training

CROP = 64


@dataclass
class Test:
    """A protocol, its data set, and the crops of its images."""

    protocol: str
    root: Path
    pack: Path


# The synthetic sets and the protocols that each serves: people, images of each. Sizes as in the
# demo: seconds, and still able to tell one system from another.
_SYNTHETIC = {
    "lfw": (("lfw",), 100, 4),
    "vggface2": (("vggface2_pose", "vggface2_age"), 20, 50),
    "ijba_quality": (("ijba_quality",), 50, 9),
    "dfw": (("dfw",), 50, 8),
    "umdfaces": (("umdfaces",), 50, 12),
}


def synthetic_protocols():
    """The protocols that synthetic data serve."""
    return [name for names, *_ in _SYNTHETIC.values() for name in names]


def synthetic_tests(folder, wanted, *, first_person=100_000, scale=1.0, threads=0, progress=None):
    """Test sets of synthetic faces in the official formats, packed."""
    folder, tests = Path(folder), []
    known = synthetic_protocols()
    for name in wanted:
        if name not in known:
            raise ValueError(f"no synthetic data for protocol '{name}' (known: {', '.join(known)})")
    for layout, (names, people, images) in _SYNTHETIC.items():
        served = [n for n in names if n in wanted]
        if not served:
            continue
        people = max(int(people * scale), 20)
        options = datasets.SyntheticOptions(
            protocol=layout,
            people=people,
            images=images,
            first_person=first_person,
            pairs_per_fold=people,
        )
        first_person += 2 * people
        datasets.write_synthetic_dataset(options, folder / layout, threads, progress)
        pack = folder / f"{layout}.h5"
        tests += [Test(name, folder / layout, pack) for name in served]
        read = "lfw" if layout == "lfw" else "folder"
        pipeline.pack(
            read,
            folder / layout / "images",
            pack,
            crop_size=CROP,
            threads=threads,
            progress=progress,
        )
    return tests


def synthetic_training(path, people, images, *, first_person=0, threads=0, progress=None):
    """A pack of synthetic people to train on."""
    options = datasets.SyntheticOptions(people=people, images=images, first_person=first_person)
    with tempfile.TemporaryDirectory(prefix="facebench-study-") as folder:
        root = Path(folder) / "faces"
        datasets.write_synthetic_dataset(options, root, threads, progress)
        pipeline.pack("lfw", root, path, crop_size=CROP, threads=threads, progress=progress)
    return Path(path)


def train_and_test(recipe, data, tests, *, seed, threads=1, replicates=200, exclude=None):
    """One training and its tests: {"loss", "seconds", "metrics"}.

    ``data``, ``exclude``: as for `facebench.training.train`. ``metrics``: {(protocol, track,
    metric): cell of ``metrics.json``}.
    """
    recipe = recipe.copy()
    recipe.set("training.seed", str(seed))
    with tempfile.TemporaryDirectory(prefix="facebench-study-") as folder:
        started = time.perf_counter()
        trained = training.train(
            recipe, data, Path(folder) / "run", threads=threads, exclude=exclude
        )
        seconds = time.perf_counter() - started
        model = embedding.load_model(trained["model"])
        metrics = {}
        for test in tests:
            embeddings = pipeline.embed(model, test.pack, threads=threads)
            result = protocols.evaluate(
                test.protocol, embeddings, root=test.root, replicates=replicates, threads=threads
            )
            for track, content in result.to_dict()["tracks"].items():
                for metric, cell in content["metrics"].items():
                    if isinstance(cell["value"], (int, float)):
                        metrics[test.protocol, track, metric] = cell
    return {"loss": trained["loss"], "seconds": seconds, "metrics": metrics}
