"""MTCNN against facenet-pytorch and ncnn: same weights, images, thresholds and threads, one run.

    python tests/bench/detect.py --images lfw/images

The peers live in a folder of their own, because facenet-pytorch pins an old torch:

    pip install --no-deps --target peers facenet-pytorch==2.6.0 ncnn requests urllib3 idna certifi
        charset-normalizer tqdm
    PYTHONPATH=peers python tests/bench/detect.py ...

Larger images are made of enlarged LFW photographs. Faces are compared before anything is timed.
Each pair times the peer, then us; the ratio is taken pair by pair. `--clock cpu` counts processor
time of one thread, for a machine that others use at the same time.

ncnn has no MTCNN of its own: its time is that of the three networks alone on the inputs that
facenet-pytorch gives them, one thread, so it is less than what a detector made of it would need.
The limit is the time that the multiplications of the networks take at the rate of fma_peak.cc.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import ncnn_mtcnn
import numpy as np
import torch
from facebench import detection, images

SIZES = [(150, 150), (250, 250), (640, 480), (1920, 1080)]
COUNTS = {150: 24, 250: 16, 640: 6, 1920: 2}


def photographs(folder, width, height, count):
    """Sheets of LFW photographs, enlarged so that two rows fill the height."""
    paths = sorted(Path(folder).glob("*/*.jpg"))
    paths = paths[:: max(1, len(paths) // 400)]
    result, used = [], 0
    for _ in range(count):
        if width == height:
            result.append(images.resize(images.read(paths[used]), width, height, "bicubic"))
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


def fma_peak():
    """GFLOP/s of one core, or None without a compiler."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "fma_peak"
        source = Path(__file__).with_name("fma_peak.cc")
        command = ["c++", "-O3", "-march=native", "-std=c++20", source, "-o", program]
        try:
            subprocess.run(command, check=True, capture_output=True)
            return float(subprocess.run([program], check=True, capture_output=True).stdout)
        except (OSError, subprocess.CalledProcessError):
            return None


class Inputs:
    """What facenet-pytorch feeds its networks, for one image: shapes and values."""

    def __init__(self, peer):
        self.seen = {"pnet": [], "rnet": [], "onet": []}
        for name, calls in self.seen.items():
            getattr(peer, name).register_forward_pre_hook(
                lambda _, args, calls=calls: calls.append(args[0].detach().numpy().copy())
            )

    def of(self, peer, image):
        for calls in self.seen.values():
            calls.clear()
        peer.detect(image)
        return {name: list(calls) for name, calls in self.seen.items()}


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


def check_equal(ours, boxes):
    """Every box of the peer has ours at 0.99. Ties in the last suppression may differ: counted."""
    boxes = [] if boxes is None else list(boxes)
    if len(ours) != len(boxes):
        raise SystemExit(f"facebench finds {len(ours)} faces, facenet-pytorch {len(boxes)}")
    return sum(max(overlap(f.box, b) for f in ours) < 0.99 for b in boxes), len(boxes)


clock = time.perf_counter


def timed(action):
    start = clock()
    action()
    return clock() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    default = Path(os.environ.get("FACEBENCH_DATA", ".")) / "lfw" / "images"
    parser.add_argument("--images", default=default, help="folder of LFW")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--sizes", nargs="*", help="such as 640x480")
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall")
    parser.add_argument("--json", help="also write the rows to this file")
    options = parser.parse_args()
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
        if name in os.environ:
            parser.error(f"unset {name}: it slows the peer down")
    if options.clock == "cpu":
        if options.threads != 1:
            parser.error("processor time is compared on one thread: add --threads 1")
        global clock
        clock = time.process_time
    from facenet_pytorch import MTCNN

    torch.set_num_threads(options.threads)
    peer = MTCNN(keep_all=True)
    inputs = Inputs(peer)
    detector = detection.make_detector("mtcnn")
    isa = detection.description(detector)["instruction_set"]
    peak = fma_peak()
    print(f"threads {options.threads}, {options.clock} time, {options.pairs} pairs, {isa}")
    print(f"peak {peak} GFLOP/s a core, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"torch {torch.__version__}, ncnn {ncnn_mtcnn.version()}")

    wanted = options.sizes or [f"{w}x{h}" for w, h in SIZES]
    rows = []
    for width, height in SIZES:
        if f"{width}x{height}" not in wanted:
            continue
        pixels = photographs(options.images, width, height, COUNTS[width])
        differ = total = 0
        for image, faces in zip(pixels, detection.detect(pixels, detector), strict=True):
            bad, n = check_equal(faces, peer.detect(image)[0])
            differ, total = differ + bad, total + n
        gflop = statistics.mean(flops(inputs.of(peer, image)) for image in pixels) / 1e9

        batch = np.stack(pixels)
        ways = {
            "single": lambda: [peer.detect(image) for image in pixels],  # noqa: B023
            "batched": lambda: peer.detect(batch),  # noqa: B023
        }
        for calls in inputs.seen.values():
            calls.clear()
        best = min(ways, key=lambda way: min(timed(ways[way]) for _ in range(2)))
        ours = lambda: detection.detect(  # noqa: E731
            pixels,  # noqa: B023
            detector,
            threads=options.threads,
        )
        timed(ours)
        pairs = []
        for _ in range(options.pairs):
            for calls in inputs.seen.values():
                calls.clear()
            pairs.append((timed(ways[best]), timed(ours)))
        ratios = sorted(a / b for a, b in pairs)
        a, b = (statistics.median(p[k] for p in pairs) / len(pixels) for k in (0, 1))
        row = {
            "size": f"{width}x{height}",
            "faces": total,
            "boxes_differing": differ,
            "peer": best,
            "facenet_pytorch_per_s": 1 / a,
            "facebench_per_s": 1 / b,
            "ratio": statistics.median(ratios),
            "ratio_range": [ratios[0], ratios[-1]],
            "gflop": gflop,
            # Of the best run, as the peak is the best that was seen.
            "share_of_limit": gflop
            * len(pixels)
            / (options.threads * peak)
            / min(p[1] for p in pairs)
            if peak
            else None,
        }
        row["ncnn_ratio"] = ncnn_ratio(inputs, peer, detector, pixels, options.pairs)
        rows.append(row)
        share = "" if peak is None else f", {row['share_of_limit']:.0%} of the FMA limit"
        ncnn = "" if row["ncnn_ratio"] is None else f", {row['ncnn_ratio']:.2f}x ncnn's networks"
        print(
            f"{row['size']:>9}: {1 / a:7.1f} -> {1 / b:7.1f} images/s = {row['ratio']:.1f}x "
            f"{best} ({ratios[0]:.1f} to {ratios[-1]:.1f}){ncnn}; {gflop:.2f} GFLOP{share}; "
            f"{differ} of {total} boxes differ",
            flush=True,
        )
    if rows and all(r["ncnn_ratio"] for r in rows):
        product = float(np.prod([r["ncnn_ratio"] for r in rows])) ** (1 / len(rows))
        print(f"geometric mean over ncnn's networks: {product:.2f}x")
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")


def ncnn_ratio(inputs, peer, detector, pixels, pairs):
    """How much longer ncnn needs for the networks alone, one thread each; None without ncnn."""
    if ncnn_mtcnn.version() is None:
        return None
    networks = ncnn_mtcnn.Networks(detection.default_mtcnn_weights())
    image = pixels[0]
    seen = inputs.of(peer, image)
    networks.check(peer, seen)
    detection.detect(image, detector)
    ratios = []
    for _ in range(pairs + 1):
        theirs = timed(lambda: networks.run(seen))
        ratios.append(theirs / timed(lambda: detection.detect(image, detector)))
    return statistics.median(ratios[1:])


if __name__ == "__main__":
    main()
