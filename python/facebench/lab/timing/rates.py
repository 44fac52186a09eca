"""``bench_load``, ``bench_detect``, ``bench_eval``: how many a second, by number of threads."""

import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from facebench import datasets, detection, images, metrics
from facebench._torch import full
from facebench.core._arguments import check_numbers, of_kind, path_text
from facebench.core._progress import stage

SIZES = {"250x250": (250, 250), "640x480": (640, 480), "1920x1080": (1920, 1080)}


def bench_load(
    *,
    pack=None,
    files=None,
    threads=(1, 0),
    size=112,
    batch=64,
    seconds=2.0,
    rounds=5,
    race=False,
    progress=None,
):
    """Images a second: files decoded, files made into batches, a pack made into batches.

    ``files``: a folder of images; None: synthetic faces of 250 x 250 pixels as JPEG. ``pack``: one;
    None: images of ``size`` in memory. ``threads``: numbers to try, 0: one a processor.
    ``seconds``: about this long for each measurement, in ``rounds`` rounds. ``race``: the same
    images out of files, ``.rec``, tar and a pack, beside torchvision and cv2 in torch's DataLoader
    with as many workers, and DALI's CPU reader where it is installed; up to 2,000 of ``files``,
    brought to ``size``.
    """
    check_numbers(size=size, batch=batch, seconds=seconds, rounds=rounds)
    of_kind(race, bool, "race")
    timed = (threads, seconds, rounds, progress)
    with tempfile.TemporaryDirectory(prefix="facebench-bench-") as folder:
        if files is None:
            synthetic = Path(folder) / "faces"
            options = datasets.SyntheticOptions(people=20, images=2, size=250, protocol="lfw")
            datasets.write_synthetic_dataset(options, synthetic, 0, False)
            files = synthetic / "images"
        if race:
            return _race(files, Path(folder) / "race", size, batch, timed)
        paths = [s.path for s in datasets.read_dataset("folder", files).samples]
        height, width = (size, size) if pack is None else datasets.Pack(pack).images.shape[1:3]
        work = {
            "decode": lambda t: _decode_work(paths, t),
            "files to batches": lambda t: _input_work("files", files, batch, size, size, t),
        }
        pack_path = path_text(pack, "pack")
        kept, source = ("memory", "preloaded") if pack is None else ("pack", "pack")
        work[f"{kept} to batches"] = lambda t: _input_work(
            source, pack_path, batch, height, width, t
        )
        options = {"size": size, "batch": batch, "files": len(paths), "pack": pack_path}
        return _rates("load", "images", ["work"], work, options, *timed)


def _race(files, folder, size, batch, timed):
    from facebench.lab.timing import loaders

    forms = loaders.prepare(files, folder, size, most=2000)
    paths = [s.path for s in datasets.read_image_folder(forms["folder"]).samples]
    work = {"decode": partial(_decode_work, paths)}
    for form, path in forms.items():
        source = "pack" if form == "pack" else "files"
        work[form] = partial(_input_work, source, path, batch, size, size)
    for name in loaders.OTHERS:
        work[name] = partial(loaders.data_loader_work, name, paths, batch)
    if loaders.dali_is_there():
        work[loaders.DALI] = partial(loaders.dali_work, paths, batch)
    options = {"size": size, "batch": batch, "files": len(paths), "race": True}
    options["largest_difference"] = loaders.check_equal(forms)
    return _rates("load", "images", ["work"], work, options, *timed)


def _decode_work(paths, threads):
    def run(rounds):
        return len(paths) * rounds / full.decode_rate(paths, threads, rounds)

    return run, len(paths)


def _input_work(source, path, batch, height, width, threads):
    # One thread: the batch is made on the calling thread, so that only one core works.
    data_threads = 0 if threads == 1 else threads

    def run(rounds):
        times = full.time_input(source, str(path), batch, height, width, data_threads, rounds)
        return sum(times)

    return run, batch


def bench_detect(
    *, detectors=("mtcnn", "hog"), sizes=tuple(SIZES), threads=(1, 0), seconds=4.0, rounds=5,
    faces=None, progress=None,
):  # fmt: skip
    """Images a second of detectors, by size of the image; each image shows synthetic faces.

    ``sizes``: of "250x250", "640x480", "1920x1080" or WIDTHxHEIGHT. ``faces``: images (H, W, 3) to
    use in place of synthetic ones; they are resized.
    """
    check_numbers(seconds=seconds, rounds=rounds)
    faces = _faces() if faces is None else [images.pixels(face) for face in faces]
    if not faces:
        raise ValueError("faces: no image is there")
    work = {}
    for name in detectors:
        detector = detection.make_detector(name)
        for size in sizes:
            width, height = _size(size)
            pictures = [_picture(faces, width, height, k) for k in range(4)]
            work[(size, name)] = partial(_detect_work, detector, pictures)
    options = {"detectors": list(detectors), "sizes": list(sizes)}
    timed = (threads, seconds, rounds, progress)
    return _rates("detect", "images", ["size", "detector"], work, options, *timed)


def _size(text):
    width, _, height = str(text).partition("x")
    if not (width.isdigit() and height.isdigit()):
        raise ValueError(f"'{text}' is not a size (WIDTHxHEIGHT)")
    return int(width), int(height)


def _faces():
    return [full.render_sheet(datasets.SheetOptions(people=2, seed=k), 0, None) for k in range(2)]


def _picture(faces, width, height, number):
    """A picture of the size with a face or several, by ``number`` another one each time."""
    face = faces[number % len(faces)]
    scale = min(width / face.shape[1], height / face.shape[0])
    size = max(int(face.shape[1] * scale), 1), max(int(face.shape[0] * scale), 1)
    small = images.resize(face, *size, "area" if scale < 1 else "bilinear")
    picture = np.full((height, width, 3), 96 + number, np.uint8)
    picture[: size[1], : size[0]] = small
    return picture


def _detect_work(detector, pictures, threads):
    count, names = len(pictures), [""] * len(pictures)
    return _repeated(lambda: detector.detect_all(pictures, names, "rgb", threads, False), count)


def bench_eval(
    *, templates=4000, pairs=200_000, dimension=512, threads=(1, 0), seconds=4.0, rounds=5, seed=0,
    progress=None,
):  # fmt: skip
    """Comparisons a second: listed pairs scored, all pairs scored, TAR at FAR of scores."""
    check_numbers(
        templates=templates, pairs=pairs, dimension=dimension, seconds=seconds, rounds=rounds
    )
    random = np.random.default_rng(seed)
    rows = random.standard_normal((templates, dimension), np.float32)
    identities = np.arange(templates, dtype=np.int64) // 4
    first, second = random.integers(0, templates, (2, pairs))
    scores = random.standard_normal(pairs)
    labels = (random.random(pairs) < 0.1).astype(np.uint8)
    scores[labels == 1] += 2
    everything, fars = templates * (templates - 1) // 2, [1e-2, 1e-3, 1e-4]
    work = {
        "listed pairs": lambda t: _repeated(
            lambda: metrics.listed_pair_scores(rows, first, second, threads=t, progress=False),
            pairs,
        ),
        "all pairs, exact tail": lambda t: _repeated(
            lambda: metrics.all_pairs(rows, identities, threads=t, progress=False), everything
        ),
        "TAR at three FARs": lambda t: _repeated(
            lambda: metrics.tar_at_fars(scores, labels, fars, threads=t), pairs
        ),
    }
    options = {"templates": templates, "pairs": pairs, "dimension": dimension, "seed": seed}
    timed = (threads, seconds, rounds, progress)
    return _rates("eval", "comparisons", ["work"], work, options, *timed)


def _repeated(call, count):
    """(function of how often: the seconds of so many calls, ``count``: the things of each)."""

    def run(rounds):
        started = time.perf_counter()
        for _ in range(rounds):
            call()
        return time.perf_counter() - started

    return run, count


def _rates(kind, unit, columns, work, options, threads, seconds, rounds, progress):
    """``work``: name(s) -> function of threads: (run(repeats) -> seconds, things of each)."""
    if rounds < 1 or not seconds > 0:
        raise ValueError("rounds is at least 1 and seconds above 0")
    allowed = full.machine_facts()["cpu"]["allowed"]
    numbers = list(dict.fromkeys(t or allowed for t in threads))
    going: list[tuple[dict, int, Callable, int, int, list[float], list[dict]]] = []
    for name, make in work.items():
        for t in numbers:
            run, count = make(t)
            once = run(1)  # warm
            repeats = max(1, int(seconds / rounds / max(once, 1e-6)))
            keys = dict(zip(columns, name if isinstance(name, tuple) else (name,), strict=True))
            going.append((keys, t, run, count, repeats, [], []))
    with stage(progress, "timing", rounds * len(going), "measurements") as moved:
        # In turns, so that other load on the machine affects all of them.
        for r in range(rounds):
            for i, (_, _, run, count, repeats, rates, uses) in enumerate(going):
                meter = full.ProcessMeter(0)
                rates.append(count * repeats / run(repeats))
                uses.append(meter.stop())
                moved(r * len(going) + i + 1)
    rows = [_rate_row(*g) for g in going]
    shown = {"columns": [*columns, "threads"], "unit": unit}
    return {
        "kind": kind,
        "options": {**options, **shown, "seconds": seconds, "rounds": rounds},
        "machine": full.machine_facts(),
        "rows": rows,
    }


def _rate_row(keys, threads, run, count, repeats, rates, uses):
    others = [u["processors"]["others"] for u in uses if u["processors"]["others"] is not None]
    share = sum(others) / len(others) if others else 0.0
    summary = full.summarize_times([1 / r for r in rates], full.SeriesOptions(skip=0))
    interval = summary["median_interval"]
    return {
        **keys,
        "threads": threads,
        "status": "ok",
        "rate": 1 / summary["median"],
        "interval": interval and [1 / interval[1], 1 / interval[0]],
        "rates": rates,
        "repeat_spread": full.repeat_spread(rates),
        "processors": {"others": share},
        "busy": share > full.busy_share,
        "memory": {"peak": max(u["memory"]["peak"] for u in uses)},
    }
