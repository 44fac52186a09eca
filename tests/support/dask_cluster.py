"""A Dask scheduler and its workers as processes of this machine, which tests kill."""

import json
import os
import subprocess
import sys

from dask.distributed import Client


class Cluster:
    """`scheduler` and `workers` are processes, `address` the scheduler's, `executor` runs on it.
    `missed`: after how long a worker that says nothing is taken for gone. Workers import the
    package before they register: on a busy machine they say nothing for ten seconds meanwhile."""

    def __init__(self, folder, workers=2, missed="5 minutes"):
        self.folder, self.count, self.missed = folder, workers, missed
        self.processes = []

    def start(self, module, *words):
        command = [sys.executable, "-m", f"distributed.cli.{module}", *words, "--no-dashboard"]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": self.missed,
        }
        with open(self.folder / f"{len(self.processes)}.log", "wb") as log:
            process = subprocess.Popen(
                command, env=environment, cwd=self.folder, stdout=log, stderr=log
            )
        self.processes.append(process)
        return process

    def __enter__(self):
        place = str(self.folder / "scheduler.json")
        words = ("--host", "127.0.0.1", "--port", "0", "--scheduler-file", place)
        self.scheduler = self.start("dask_scheduler", *words)
        words = ("--scheduler-file", place, "--no-nanny", "--nthreads", "1")
        words += ("--preload", "facebench.embedding")
        self.workers = [self.start("dask_worker", *words) for _ in range(self.count)]
        self.client = Client(scheduler_file=place, timeout=60, set_as_default=False)
        self.client.wait_for_workers(self.count, timeout=60)
        with open(place) as file:
            self.address = json.load(file)["address"]
        self.executor = self.client.get_executor(pure=False, retries=1)
        return self

    def __exit__(self, *_):
        self.client.close(timeout=1)
        for process in self.processes:
            process.kill()
            process.wait()
