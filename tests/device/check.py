"""What scripts/gpu_check.sh runs: checks of a device against the processor, then times on it.

    python tests/device/check.py --device cuda --out gpu_check.json
    python tests/device/check.py --only check_mtcnn race_mtcnn    some stages
    python tests/device/check.py --only figure_2_vgg16     what a paper prints, under ten minutes
    python tests/device/check.py --dry-run        the same on the processor, small, in one process

Each stage is a process of its own with a limit of its own, so that one that hangs or crashes takes
neither the others nor their figures along: rows that it has measured are kept. Checks run side by
side, races alone. The exit status is 0 where none has failed; stages for which no time was left are
named.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]

# Module, function, seconds at most.
CHECKS = [
    ("checks", "check_losses", 120),
    ("checks", "check_networks", 180),
    ("checks", "check_more_networks", 180),
    ("checks", "check_embeddings", 180),
    ("checks", "check_onnx", 60),
    ("checks", "check_mtcnn", 120),
    ("checks", "check_run", 120),
    ("checks", "check_sanitizer", 100),
    ("checks", "check_training", 120),
    ("checks", "check_graph", 60),
    ("checks", "check_compiled_inference", 150),
    ("checks", "check_compiled_training", 150),
]
RACES = [
    ("races", "race_mtcnn", 60),
    ("races", "race_processor", 30),
    ("races", "race_run", 60),
    ("races", "race_crops", 60),
    ("races", "race_steps", 150),
    ("races", "race_embedding", 150),
    ("races", "race_heads", 60),
    ("races", "race_graph", 40),
]
BUDGET = 460.0  # seconds in all: under eight minutes
# Figures that papers print: asked for by --only, each a call of its own of under ten minutes.
PAPERS = [
    ("papers", "figure_2_vgg16", 560),
    ("papers", "figure_2_inception_v3", 560),
    ("papers", "figure_2_resnet50", 560),
    ("papers", "figure_2_densenet121", 560),
    ("papers", "largest_batch", 560),
    ("papers", "liu_figures", 560),
    ("papers", "shi_table_7", 300),
    ("papers", "embed_layouts", 120),
]
PAPERS_BUDGET = 570.0  # of a call of some of them


def machine(device):
    import torch

    about = {"torch": torch.__version__, "python": platform.python_version()}
    if device != "cpu":
        about |= {"device": torch.cuda.get_device_name(), "cuda": torch.version.cuda}
    return about


def run_stage(module, function, device, dry, told=lambda row: None):
    """Its figures, or what went wrong. A race's rows are ``told`` as they come."""
    started = time.perf_counter()
    try:
        found = getattr(__import__(module), function)(device, dry)
        if not isinstance(found, dict):
            rows = []
            for row in found:
                rows.append(row)
                told(row)
            found = {"rows": rows}
        result = {"status": "ok", "found": found}
    except Exception as error:
        lines = traceback.format_exc().splitlines()[-12:]
        result = {"status": "failed", "error": str(error)[-2000:], "traceback": lines}
    return result | {"seconds": time.perf_counter() - started}


def run_apart(module, function, device, limit, threads):
    """The same in a process of its own, whose lines are rows and, last, the result. ``threads``:
    of its arithmetic on the processor."""
    settings = {**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive"}
    command = [sys.executable, str(HERE / "check.py"), "--device", device]
    command += ["--stage", f"{module}.{function}"]
    try:
        done = subprocess.run(
            command, env=settings, capture_output=True, text=True, timeout=limit, check=False
        )
        printed, error = (
            done.stdout,
            f"it ended with status {done.returncode}: {done.stderr[-2000:]}",
        )
    except subprocess.TimeoutExpired as stopped:
        printed, error = (stopped.stdout or b"").decode(), f"it ran past {limit:.0f} s"
    lines = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    if lines and "status" in lines[-1]:
        rows, result = lines[:-1], lines[-1]
    else:
        rows, result = lines, {"status": "failed", "error": error}
    return {"found": {"rows": rows}} | result if rows else result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--out", type=Path, default=Path("gpu_check.json"))
    parser.add_argument("--only", nargs="+", metavar="STAGE")
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--stage", help=argparse.SUPPRESS)
    settings = parser.parse_args()
    if settings.stage:
        stage = settings.stage.split(".")
        result = run_stage(
            *stage, settings.device, False, lambda row: print(json.dumps(row), flush=True)
        )
        print(json.dumps(result))
        return 0
    device = "cpu" if settings.dry_run else settings.device
    report = {"dry_run": settings.dry_run, "machine": machine(device), "stages": {}}
    papers = [stage for stage in PAPERS if stage[1] in (settings.only or ())]
    budget = PAPERS_BUDGET if papers else BUDGET
    if not settings.dry_run:
        os.environ["GPU_CHECK_PAPERS"] = str(settings.out.absolute().with_suffix("")) + "_papers"
    started = time.perf_counter()

    processors = len(os.sched_getaffinity(0))
    side_by_side = 1 if settings.dry_run else max(1, processors // 2)

    def carry_out(stage, threads=processors):
        module, function, limit = stage
        if settings.only and function not in settings.only:
            return
        left = budget - (time.perf_counter() - started)
        if left < 10:
            result = {"status": "no time left"}
        elif settings.dry_run:
            result = run_stage(module, function, device, True)
        else:
            result = run_apart(module, function, device, min(limit, left), threads)
        report["stages"][function] = result
        print(f"{function}: {result['status']}", result.get("error", ""), flush=True)
        # What is known so far, should this process be ended.
        settings.out.write_text(json.dumps(dict(report), indent=1))

    with ThreadPoolExecutor(side_by_side) as pool:
        list(pool.map(lambda check: carry_out(check, threads=2), CHECKS))
    for race in [*RACES, *papers]:
        carry_out(race)
    bad = [name for name, result in report["stages"].items() if result["status"] == "failed"]
    print(f"{settings.out}: " + (f"failed: {', '.join(bad)}" if bad else "nothing failed"))
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
