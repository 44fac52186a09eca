"""Processes forked while other threads read HDF5 files, and too few threads."""

import os
import subprocess
import sys
import threading
import warnings

import facebench.io as fio
import numpy as np


def test_a_fork_while_hdf5_is_busy_can_read_too(tmp_path):
    path = tmp_path / "e.h5"
    names = [f"{k}.jpg" for k in range(2000)]
    fio.write_embeddings(path, fio.EmbeddingSet(np.ones((2000, 8), np.float32), names))
    done = threading.Event()

    def read():
        while not done.is_set():
            fio.read_embeddings(path)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for t in threads:
        t.start()
    try:
        for _ in range(12):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # threads and fork
                child = os.fork()
            if child == 0:
                # An alarm ends a child that hangs.
                import signal

                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                signal.alarm(20)
                os._exit(0 if len(fio.read_embeddings(path).names) == 2000 else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        done.set()
        for t in threads:
            t.join()


# As a user who may start no further process or thread (root may always).
NO_THREADS = """
import os, resource, sys
import numpy as np
from facebench import metrics
labels = np.arange(4000) % 2 == 0
scores = np.random.default_rng(0).normal(size=4000) + labels
if sys.argv[1] == "few":
    os.setuid(61234)
    resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
    import threading
    try:
        threading.Thread(target=int).start()
        print("threads may be started")
        sys.exit(0)
    except RuntimeError:
        pass
print(metrics.auc(scores, labels))
print(metrics.compare_paired.__name__)
"""


def test_without_further_threads_the_work_is_done_all_the_same():
    if os.getuid() != 0:
        import pytest

        pytest.skip("needs root to become another user")
    said = []
    for how in ("many", "few"):
        done = subprocess.run(
            [sys.executable, "-c", NO_THREADS, how],
            capture_output=True, text=True, timeout=120,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        said.append(done.stdout)
    assert said[1] in (said[0], "threads may be started\n")
