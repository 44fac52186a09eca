"""What the instruction set changes: one run from photographs to numbers on each that the processor
has, and the largest change of a landmark, an embedding, a score and every metric from the first.
With --precisions the same of the precision that embeddings of one pack are computed in.

    python tests/bench/arithmetic_change.py lfw --root LFW --model m.safetensors --limit 1500

FACEBENCH_ISA chooses the instruction set, and the manifest of each run says which it was. Prints a
table in Markdown. With all of LFW this takes half an hour, for `plain` is slow.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SETS = ("avx512bf16", "avx512", "avx2", "plain")
PRECISIONS = ("float32", "bfloat16", "int8")


def run(options, folder):
    """One run on the instruction set of this process, into `folder`/values.npz. Its time goes to
    standard error."""
    import facebench
    from facebench import io
    from facebench.datasets import Pack

    started = time.perf_counter()
    result = facebench.run(
        options.protocol,
        model=options.model,
        root=options.root,
        limit=options.limit,
        out=folder / "run",
        interval="none",
        precision=options.precision,
        cache=options.cache,
    )
    print(f"{options.precision}: {time.perf_counter() - started:.1f} s", file=sys.stderr)
    values = {
        "landmarks": Pack(folder / "run" / "pack.h5").landmarks,
        "embeddings": io.read_embeddings(folder / "run" / "embeddings.h5").values,
    }
    for name, track in result.tracks.items():
        values[f"scores of {name}"] = np.asarray(track.scores)
    for row in result.to_rows():
        values[f"{row['track']} {row['metric']}"] = np.float64(row["value"])
    np.savez(folder / "values.npz", **values)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("protocol")
    parser.add_argument("--root", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--limit", type=int, help="comparisons; default: all")
    parser.add_argument("--precisions", action="store_true", help="of these, not instruction sets")
    parser.add_argument("--cache", help="folder of packs and embeddings, for --precisions")
    parser.add_argument("--precision", default="float32", help=argparse.SUPPRESS)
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.into:
        run(options, options.into)
        return
    table = {}
    for kind in PRECISIONS if options.precisions else SETS:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, *sys.argv, "--into", folder]
            environment = dict(os.environ)
            if options.precisions:
                command += ["--precision", kind]
            else:
                environment["FACEBENCH_ISA"] = kind
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, check=False
            )
            last = (done.stderr.strip().splitlines() or ["it ended"])[-1]
            print(last if not done.returncode else f"{kind} is left out: {last}", file=sys.stderr)
            if not done.returncode:
                table[kind] = dict(np.load(f"{folder}/values.npz"))
    best = next(iter(table))
    print(f"| largest change from `{best}` | " + " | ".join(f"`{kind}`" for kind in table) + " |")
    print("|---" * (1 + len(table)) + "|")
    for name, values in table[best].items():
        moved = [np.abs(other[name] - values) for other in table.values()]
        if name == "embeddings":  # of unit length: the length of the difference
            moved = [np.linalg.norm(other[name] - values, axis=1) for other in table.values()]
        shown = name if values.ndim else f"{name} ({values:.6g})"
        print(f"| {shown} | " + " | ".join(f"{m.max():.2g}" for m in moved) + " |")


if __name__ == "__main__":
    main()
