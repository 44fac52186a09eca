"""What the instruction set changes: one run from photographs to numbers on each that the processor
has, and the largest change of a landmark, an embedding, a score and every metric from the first.

    .venv/bin/python tests/bench/isa_change.py lfw --root LFW --model m.safetensors --limit 1500

FACEBENCH_ISA chooses the instruction set, and the manifest of each run says which it was. Prints a
table in Markdown. With all of LFW this takes half an hour, for `plain` is slow.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

SETS = ("avx512bf16", "avx512", "avx2", "plain")


def run(options, folder):
    """One run on the instruction set of this process, into `folder`/values.npz."""
    import facebench
    from facebench import io
    from facebench.datasets import Pack

    result = facebench.run(
        options.protocol,
        model=options.model,
        root=options.root,
        limit=options.limit,
        out=folder / "run",
        interval="none",
    )
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
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.into:
        run(options, options.into)
        return
    table = {}
    for isa in SETS:
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "FACEBENCH_ISA": isa}
            command = [sys.executable, *sys.argv, "--into", folder]
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, check=False
            )
            if done.returncode:
                last = (done.stderr.strip().splitlines() or ["it ended"])[-1]
                print(f"{isa} is left out: {last}", file=sys.stderr)
                continue
            table[isa] = dict(np.load(f"{folder}/values.npz"))
    best = next(iter(table))
    print(f"| largest change from `{best}` | " + " | ".join(f"`{isa}`" for isa in table) + " |")
    print("|---" * (1 + len(table)) + "|")
    for name, values in table[best].items():
        moved = [np.abs(other[name] - values) for other in table.values()]
        if name == "embeddings":  # of unit length: the length of the difference
            moved = [np.linalg.norm(other[name] - values, axis=1) for other in table.values()]
        shown = name if values.ndim else f"{name} ({values:.6g})"
        print(f"| {shown} | " + " | ".join(f"{m.max():.2g}" for m in moved) + " |")


if __name__ == "__main__":
    main()
