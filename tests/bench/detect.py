"""MTCNN against facenet-pytorch and ncnn: same weights, images, thresholds and threads, in one run.
Then the default mode, which pads, against that of facenet-pytorch.

    scripts/bench.sh detect                    in the environment that it makes
    scripts/bench.sh detect --sizes 640x480 --pairs 9
    scripts/bench.sh detect --device cuda      where there is a GPU; from the bytes of JPEG files

Larger images are made of enlarged LFW photographs. Faces are compared before anything is timed.
Each pair times the peer (the better of single and batched calls), then us; the ratio is taken pair
by pair. `--clock cpu` counts processor time of one thread, for a machine that others use too.

ncnn has no MTCNN of its own: its time is that of the three networks on the inputs that
facenet-pytorch gives them, one thread, once alone and once with ncnn's own resizing of the image to
the pyramid's levels and of the crops. Both leave out suppression and all other work on boxes, so a
detector made of it would need more.
The limit is the time that the multiplications of the networks take at the rate of the benchmark
limit/fma of the C++ benchmarks.
"""

import argparse
import json
import os
import statistics
import time
from pathlib import Path

import harness  # first: it unsets what would slow the peers down
import ncnn_mtcnn
import numpy as np
import torch
from facebench import detection, images

# How many images, on the processor and (times 16) on a device.
SIZES = {(150, 150): 24, (250, 250): 16, (640, 480): 6, (1920, 1080): 4}
GOAL_PEER, GOAL_NCNN, GOAL_SHARE = 8.0, 2.5, 0.6
PEER_MODE, GOAL_MODE = "facenet_pytorch", 1.05  # the default mode's time, of that mode's
GOAL_DEVICE = {(150, 150): 15, (250, 250): 15, (640, 480): 8, (1920, 1080): 8}


def photographs(folder, width, height, count):
    """Sheets of LFW photographs, enlarged so that two rows fill the height."""
    paths = sorted(Path(folder).glob("*/*.jpg"))
    paths = paths[:: max(1, len(paths) // 400)]
    if not paths:
        raise SystemExit(f"no photographs in {folder}: give LFW's folder by --images")
    result, used = [], 0
    for _ in range(count):
        if width == height:
            photo = images.read(paths[used % len(paths)])
            result.append(images.resize(photo, width, height, "bicubic"))
            used += 1
            continue
        side = height // 2
        sheet = np.zeros((height, width, 3), np.uint8)
        for y in range(0, height - side + 1, side):
            for x in range(0, width, side):
                tile = images.resize(images.read(paths[used % len(paths)]), side, side, "bicubic")
                sheet[y : y + side, x : x + side] = tile[:, : width - x]
                used += 1
        result.append(sheet)
    return result


class Inputs:
    """What facenet-pytorch feeds its networks, for one image, and what it resizes to make that."""

    def __init__(self, peer):
        from facenet_pytorch.models.utils import detect_face

        self.seen = {"pnet": [], "rnet": [], "onet": []}
        self.resized = []  # (height, width) before and after
        for name, calls in self.seen.items():
            getattr(peer, name).register_forward_pre_hook(
                lambda _, args, calls=calls: calls.append(args[0].detach().cpu().numpy().copy())
            )
        self.module, self.resample = detect_face, detect_face.imresample

        def resample(values, size):
            self.resized.append((tuple(values.shape[2:]), tuple(size)))
            return self.resample(values, size)

        detect_face.imresample = resample

    def of(self, peer, image):
        self.resized.clear()
        for calls in self.seen.values():
            calls.clear()
        peer.detect(image)
        return {name: list(calls) for name, calls in self.seen.items()}

    def close(self, peer):
        self.module.imresample = self.resample
        for network in (peer.pnet, peer.rnet, peer.onet):
            network._forward_pre_hooks.clear()


def flops(inputs):
    """Multiplications and additions of the networks' layers."""
    total = 0.0
    for level in inputs["pnet"]:
        h, w = level.shape[2] - 2, level.shape[3] - 2
        total += 2 * h * w * 270
        h, w = (h + 1) // 2 - 2, (w + 1) // 2 - 2
        total += 2 * h * w * 1440
        h, w = h - 2, w - 2
        total += 2 * h * w * (4608 + 192)
    rnet = 484 * 756 + 81 * 12096 + 9 * 12288 + 576 * 128 + 128 * 6
    onet = 2116 * 864 + 441 * 18432 + 64 * 36864 + 9 * 32768 + 1152 * 256 + 256 * 16
    total += 2 * rnet * sum(len(x) for x in inputs["rnet"])
    total += 2 * onet * sum(len(x) for x in inputs["onet"])
    return total


def overlap(a, b):
    w, h = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    both = max(0, w) * max(0, h)
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)


def differing(found, peer, pixels, strict):
    """Boxes of the peer that have none of ours at 0.99, and how many it has. Ties in the last
    suppression may differ; a GPU's networks (TF32 and the like) may also lose or find a face."""
    differ = total = 0
    for image, faces in zip(pixels, found, strict=True):
        boxes = peer.detect(image)[0]
        boxes = [] if boxes is None else list(boxes)
        if strict and len(faces) != len(boxes):
            raise SystemExit(f"facebench finds {len(faces)} faces, facenet-pytorch {len(boxes)}")
        differ += sum(max((overlap(f.box, b) for f in faces), default=0) < 0.99 for b in boxes)
        total += len(boxes)
    if differ > 0.02 * total:
        raise SystemExit(f"{differ} of {total} boxes differ")
    return differ, total


def timed(action, clock):
    start = clock()
    action()
    return clock() - start


def compare(size, peer, detector, default, settings, peak):
    """One size: a row of results."""
    width, height = size
    clock = time.process_time if settings.clock == "cpu" else time.perf_counter
    on_device = settings.device == "cuda"
    pixels = photographs(settings.images, width, height, SIZES[size] * (16 if on_device else 1))
    found = detection.detect(pixels, detector, threads=settings.threads)
    differ, total = differing(found, peer, pixels, not on_device)
    files = [images.encode_jpeg(image, 90) for image in pixels] if on_device else []

    # On a device from the bytes of files, as both read them.
    def read(item):
        return images.decode(item) if on_device else item

    sources = files or pixels
    whole = np.stack(pixels)
    parts = [slice(i, i + 16) for i in range(0, len(pixels), 16)]
    ways = {
        "single": lambda: [peer.detect(read(item)) for item in sources],
        "batched": lambda: [
            peer.detect(np.stack([read(item) for item in sources[part]]) if files else whole[part])
            for part in parts
        ],
    }

    def ours(finder=detector):
        if files:
            detection.detect([read(item) for item in files], finder, threads=settings.threads)
        else:
            detection.detect(pixels, finder, threads=settings.threads)

    best = min(ways, key=lambda way: min(timed(ways[way], clock) for _ in range(2)))
    timed(ours, clock)
    pairs = [(timed(ways[best], clock), timed(ours, clock)) for _ in range(settings.pairs)]
    ratios = [theirs / own for theirs, own in pairs]
    theirs, own = (statistics.median(column) / len(pixels) for column in zip(*pairs, strict=True))
    row = {
        "size": f"{width}x{height}",
        "images": len(pixels),
        "faces": total,
        "boxes_differing": differ,
        "peer": best,
        "facenet_pytorch_per_s": 1 / theirs,
        "facebench_per_s": 1 / own,
        "ratio": statistics.median(ratios),
        "ratio_range": [min(ratios), max(ratios)],
        "goal": GOAL_DEVICE[size] if on_device else GOAL_PEER,
    }
    text = (
        f"{row['size']:>9}: {1 / theirs:7.1f} -> {1 / own:7.1f} images/s = "
        f"{harness.spread(ratios)}x {best}, goal {row['goal']:g}x"
    )
    modes = mode_ratios(lambda: ours(detector), lambda: ours(default), settings.pairs, clock)
    row["mode_ratio"] = statistics.median(modes)
    row["mode_ratio_range"] = [min(modes), max(modes)]
    text += f"; mode facenet takes {harness.spread(modes)}x as long, goal {GOAL_MODE:g}x"
    if not on_device:
        # After the timing: the hooks that count would slow the peer down.
        inputs = Inputs(peer)
        row["gflop"] = statistics.mean(flops(inputs.of(peer, image)) for image in pixels) / 1e9
        text += f"; {row['gflop']:.2f} GFLOP"
        if peak:
            # Of the best run, as the limit is the best that was seen.
            fastest = min(p[1] for p in pairs)
            row["share_of_limit"] = row["gflop"] * 1e9 * len(pixels) / peak / fastest
            text += f", {row['share_of_limit']:.0%} of the FMA limit"
        found = ncnn_ratios(inputs, peer, detector, pixels, settings.pairs, clock)
        inputs.close(peer)
        if found:
            row["ncnn_networks_ratio"], row["ncnn_ratio"] = found
            text += f"; {found[0]:.2f}x ncnn's networks, {found[1]:.2f}x with its resizing"
    print(f"{text}; {differ} of {total} boxes differ", flush=True)
    return row


def mode_ratios(peer_mode, default, pairs, clock):
    """How much longer the default mode takes: A B B A, so that a drift of the clock rate counts for
    both."""
    timed(default, clock)
    ratios = []
    for _ in range(pairs):
        a, b, c, d = (timed(way, clock) for way in (peer_mode, default, default, peer_mode))
        ratios.append((b + c) / (a + d))
    return ratios


def ncnn_ratios(inputs, peer, detector, pixels, pairs, clock):
    """How much longer ncnn needs, one thread each: its networks, and with resizing."""
    if ncnn_mtcnn.version() is None:
        return None
    networks = ncnn_mtcnn.Networks(detection.default_mtcnn_weights())
    alone, resizing = [], []
    for image in pixels[:2]:
        seen = inputs.of(peer, image)
        sizes = list(inputs.resized)
        networks.check(peer, seen)
        actions = (
            lambda: networks.run(seen),  # noqa: B023
            lambda: ncnn_mtcnn.resize(image, sizes),  # noqa: B023
            lambda: detection.detect(image, detector),  # noqa: B023
        )
        for action in actions:
            timed(action, clock)
        for _ in range(pairs):
            run, resized, own = (timed(action, clock) for action in actions)
            alone.append(run / own)
            resizing.append((run + resized) / own)
    return statistics.median(alone), statistics.median(resizing)


def main():
    names = [f"{w}x{h}" for w, h in SIZES]
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    default = Path(os.environ.get("FACEBENCH_DATA", ".")) / "lfw" / "images"
    parser.add_argument("--images", default=default, help="folder of LFW")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--sizes", nargs="*", choices=names, default=names)
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall")
    parser.add_argument("--limits", help="the program facebench_bench")
    parser.add_argument("--json", type=Path, help="also write the rows to this file")
    settings = parser.parse_args()
    if settings.clock == "cpu" and settings.threads != 1:
        parser.error("processor time is compared on one thread: add --threads 1")
    if settings.clock == "cpu" and settings.device != "cpu":
        parser.error("a device's time is not processor time")
    from facenet_pytorch import MTCNN

    torch.set_num_threads(settings.threads)
    peer = MTCNN(keep_all=True, device=settings.device)
    options = {"device": "cuda"} if settings.device == "cuda" else {}
    detector = detection.make_detector("mtcnn", mode=PEER_MODE, **options)
    default = detection.make_detector("mtcnn", **options)
    limits = harness.Limits(settings.limits)
    limits.measure()
    # limit/fma is of all processors.
    share = settings.threads / len(os.sched_getaffinity(0))
    peak = limits.best.get("fma", 0) * min(share, 1)
    print(
        f"MTCNN: {settings.threads} threads, {settings.clock} clock, {settings.pairs} pairs, "
        f"{detection.description(detector)['instruction_set']}, load {os.getloadavg()[0]:.1f}, "
        f"torch {torch.__version__}, ncnn {ncnn_mtcnn.version()}"
    )
    limits.show()
    rows = []
    for size in SIZES:
        if f"{size[0]}x{size[1]}" not in settings.sizes:
            continue
        limits.measure()
        peak = max(peak, limits.best.get("fma", 0) * min(share, 1))
        rows.append(compare(size, peer, detector, default, settings, peak))
    reached = all(row["ratio"] >= row["goal"] for row in rows)
    print(f"  goals against facenet-pytorch: {'reached' if reached else 'NOT REACHED'}")
    reached = all(row["mode_ratio"] <= GOAL_MODE for row in rows)
    print(f"  mode facenet against {PEER_MODE}: {'reached' if reached else 'NOT REACHED'}")
    if rows and all(row.get("ncnn_ratio") for row in rows):
        alone = statistics.geometric_mean(row["ncnn_networks_ratio"] for row in rows)
        mean = statistics.geometric_mean(row["ncnn_ratio"] for row in rows)
        word = "reached" if mean >= GOAL_NCNN else "NOT REACHED"
        print(
            f"  ncnn's networks and resizing, geometric mean: {mean:.2f}x ({alone:.2f}x its "
            f"networks alone), goal {GOAL_NCNN:g}x, {word}"
        )
    if shares := [row["share_of_limit"] for row in rows if row.get("share_of_limit")]:
        word = "reached" if min(shares) >= GOAL_SHARE else "NOT REACHED"
        print(f"  least share of the FMA limit: {min(shares):.0%}, aim {GOAL_SHARE:.0%}, {word}")
    if settings.json:
        settings.json.parent.mkdir(parents=True, exist_ok=True)
        settings.json.write_text(json.dumps(rows, indent=1, default=float) + "\n")


if __name__ == "__main__":
    main()
