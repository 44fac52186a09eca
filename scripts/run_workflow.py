"""Runs the jobs of a workflow here as they are written: each step in a clean clone of the last
commit, without those that need a network service (``uses:``, and names that begin with "network:").

run_workflow.py .github/workflows/test.yml [JOB ...]     prints the seconds of each step
run_workflow.py FILE "versions 3.11 none light 1"        one run of a job with a matrix
run_workflow.py FILE --list                              the steps, without running them
"""

import argparse
import itertools
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]


def variants(job: dict) -> list[dict]:
    """The values of each run of a job with a matrix; one without a matrix has none."""
    matrix = job.get("strategy", {}).get("matrix", {})
    axes = {k: v for k, v in matrix.items() if k not in ("include", "exclude")}
    runs = [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
    return (runs if axes else []) + matrix.get("include", []) or [{}]


def value(expression: str, known: dict) -> str:
    """An expression of a workflow: a name, or the first of names and texts by || that is not
    empty. KeyError for what is known only where it runs."""
    for part in expression.split("||"):
        part = part.strip()
        literal = re.fullmatch("'(.*)'", part)
        found = literal[1] if literal else known[part]
        if found:
            return str(found)
    return ""


def steps_of(workflow: dict, job: dict, variant: dict) -> list[tuple[str, str, dict]]:
    """(title, commands, environment) of each step; commands are "" where it is left out."""
    known = {f"matrix.{name}": v for name, v in variant.items()}
    triggers = workflow.get("on", workflow.get(True)) or {}  # YAML 1.1 reads `on` as true
    inputs = triggers.get("workflow_dispatch") or {} if isinstance(triggers, dict) else {}
    known |= {f"inputs.{n}": i.get("default", "") for n, i in inputs.get("inputs", {}).items()}
    known |= {"github.ref_name": "v0.0.0", "github.workspace": "."}
    fill = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
    steps = []
    for step in job["steps"]:
        title = step.get("name") or step.get("run", step.get("uses", "")).split("\n")[0]
        left_out = "run" not in step or title.startswith("network:")
        commands = "" if left_out else fill.sub(lambda m: value(m[1], known), step["run"])
        of_all = {**workflow.get("env", {}), **job.get("env", {}), **step.get("env", {})}
        environment = {} if left_out else of_all
        said = {k: fill.sub(lambda m: value(m[1], known), str(v)) for k, v in environment.items()}
        steps.append((fill.sub(lambda m: m[1], title), commands, said))
    return steps


def run_job(name: str, steps, folder: Path) -> bool:
    """Whether every step passed, in a clone of the last commit below the folder."""
    clone = folder / "facebench"
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, clone], check=True)
    begun = time.monotonic()
    for title, commands, environment in steps:
        if not commands:
            print(f"{name}: left out: {title}", flush=True)
            continue
        started = time.monotonic()
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", commands]
        here = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
        done = subprocess.run(shell, cwd=clone, env={**here, "CI": "true", **environment})
        outcome = "passed" if done.returncode == 0 else f"failed ({done.returncode})"
        print(f"{name}: {outcome} in {time.monotonic() - started:.0f} s: {title}", flush=True)
        if done.returncode:
            return False
    print(f"{name}: all of it in {(time.monotonic() - begun) / 60:.1f} minutes", flush=True)
    return True


def chosen(workflow: dict, asked: list[str]) -> list[tuple[str, dict, dict]]:
    """(title, job, variant) of all runs, or of those that are asked by a job's name or their title.
    KeyError for one that is not there."""
    titled = [
        (name, " ".join([name, *(str(v) for v in variant.values() if v != "")]), job, variant)
        for name, job in workflow["jobs"].items()
        for variant in variants(job)
    ]
    for one in asked:
        if not any(one in (name, title) for name, title, _, _ in titled):
            raise KeyError(one)
    return [
        (title, job, variant)
        for name, title, job, variant in titled
        if not asked or name in asked or title in asked
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("workflow", type=Path)
    parser.add_argument("jobs", nargs="*", help="or their titles; default: all")
    parser.add_argument("--list", action="store_true")
    asked = parser.parse_args()
    workflow = yaml.safe_load(asked.workflow.read_text())
    try:
        runs = chosen(workflow, asked.jobs)
    except KeyError as one:
        parser.error(f"no job {one}: {', '.join(title for title, _, _ in chosen(workflow, []))}")
    failed = False
    for title, job, variant in runs:
        steps = steps_of(workflow, job, variant)
        if asked.list:
            for step, commands, _ in steps:
                print(f"{title}: {'run' if commands else 'left out'}: {step}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            failed |= not run_job(title, steps, Path(folder))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
