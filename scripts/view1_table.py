#!/usr/bin/env python3
"""Trains recipes on LFW View 1 and prints the table of docs/training-results.md.

Needs the full package and FACEBENCH_DATA (LFW):
`PYTHONPATH=build/python python scripts/view1_table.py small4.softmax small4.cosface --seeds 0 1`
"""

import argparse
import importlib.util
import tempfile
import time
from pathlib import Path

from facebench import embedding, training

spec = importlib.util.spec_from_file_location(
    "view1", Path(__file__).resolve().parents[1] / "tests/support/view1.py"
)
view1 = importlib.util.module_from_spec(spec)
spec.loader.exec_module(view1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recipes", nargs="+")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--size", type=int, nargs=2, default=[64, 64], help="height and width")
    parser.add_argument("--crop", default="arcface112")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], help="KEY=VALUE of the recipes")
    options = parser.parse_args()
    print("| recipe | seed | AUC | EER | accuracy | training accuracy | CPU seconds |")
    print("|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        height, width = options.size
        faces = view1.make(Path(folder), height, width, options.crop, options.threads)
        for name in options.recipes:
            for seed in options.seeds:
                recipe = training.load_recipe(name, seed=seed)
                for setting in options.set:
                    recipe.set(*setting.split("=", 1))
                started = time.process_time()
                result = training.train(
                    recipe,
                    faces.train,
                    Path(folder) / f"{name}-{seed}",
                    threads=options.threads,
                )
                seconds = time.process_time() - started
                m = view1.measure(faces, embedding.load_model(result["model"]))
                print(
                    f"| `{name}` | {seed} | {m['auc']:.4f} | {m['eer']:.4f} | "
                    f"{m['accuracy']:.4f} | {result['accuracy']:.4f} | {seconds:.0f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
