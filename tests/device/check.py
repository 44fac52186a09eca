"""What scripts/gpu_check.sh runs: checks of a device against the processor, then times on it.

    python tests/device/check.py --device cuda --out gpu_check.json
    python tests/device/check.py --dry-run        the same on the processor, small, in one process

Each stage is a process of its own with a limit of its own, so that one that hangs or crashes takes
neither the others nor their figures along. The exit status is 0 where none has failed; stages for
which no time was left are named.
"""

import argparse
import json
import platform
import subprocess
import sys
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]

# Module, function, seconds at most. The checks come first.
STAGES = [
    ("checks", "check_losses", 60),
    ("checks", "check_networks", 60),
    ("checks", "check_embeddings", 40),
    ("checks", "check_mtcnn", 60),
    ("checks", "check_run", 60),
    ("checks", "check_sanitizer", 40),
    ("checks", "check_training", 60),
    ("checks", "check_graph", 40),
    ("races", "race_mtcnn", 60),
    ("races", "race_heads", 60),
    ("races", "race_embedding", 120),
    ("races", "race_run", 60),
    ("races", "race_steps", 240),
]
BUDGET = 460.0  # seconds in all: under eight minutes


def machine(device):
    import torch

    about = {"torch": torch.__version__, "python": platform.python_version()}
    if device != "cpu":
        about |= {"device": torch.cuda.get_device_name(), "cuda": torch.version.cuda}
    return about


def run_stage(module, function, device, dry):
    """Its figures, or what went wrong."""
    started = time.perf_counter()
    try:
        result = {"status": "ok", "found": getattr(__import__(module), function)(device, dry)}
    except Exception as error:
        lines = traceback.format_exc().splitlines()[-12:]
        result = {"status": "failed", "error": str(error)[-2000:], "traceback": lines}
    return result | {"seconds": time.perf_counter() - started}


def run_apart(module, function, device, limit):
    command = [sys.executable, str(HERE / "check.py"), "--device", device]
    command += ["--stage", f"{module}.{function}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
        return json.loads(done.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired:
        return {"status": "failed", "error": f"it ran past {limit:.0f} s", "seconds": limit}
    except (ValueError, IndexError):
        error = f"it ended with status {done.returncode}: {done.stderr[-2000:]}"
        return {"status": "failed", "error": error, "seconds": None}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--out", type=Path, default=Path("gpu_check.json"))
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--stage", help=argparse.SUPPRESS)
    settings = parser.parse_args()
    if settings.stage:
        print(json.dumps(run_stage(*settings.stage.split("."), settings.device, False)))
        return 0
    device = "cpu" if settings.dry_run else settings.device
    report = {"dry_run": settings.dry_run, "machine": machine(device), "stages": {}}
    started = time.perf_counter()
    for module, function, limit in STAGES:
        left = BUDGET - (time.perf_counter() - started)
        if left < 10:
            result = {"status": "no time left"}
        elif settings.dry_run:
            result = run_stage(module, function, device, True)
        else:
            result = run_apart(module, function, device, min(limit, left))
        report["stages"][function] = result
        print(f"{function}: {result['status']}", result.get("error", ""), flush=True)
        # What is known so far, should this process be ended.
        settings.out.write_text(json.dumps(report, indent=1))
    bad = [name for name, result in report["stages"].items() if result["status"] == "failed"]
    print(f"{settings.out}: " + (f"failed: {', '.join(bad)}" if bad else "nothing failed"))
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
