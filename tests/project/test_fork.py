"""Processes forked while other threads read HDF5 files, and too few threads."""

import os
import pathlib
import shutil
import subprocess
import sys
import threading
import warnings

import facebench
import facebench.io as fio
import numpy as np
import pytest


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


# In a process of its own: torch's tensors stay in memory that is reused.
REUSED_MEMORY = """
import os, signal, sys, threading
import torch
from facebench import training
torch.set_num_threads(1)
done = threading.Event()
def fill():
    while not done.is_set():
        torch.empty(1 << 18)
with training.reuse_memory():
    threads = [threading.Thread(target=fill) for _ in range(3)]
    for t in threads:
        t.start()
    for _ in range(100):
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            os._exit(0 if torch.ones(1 << 20).sum().item() == 1 << 20 else 1)
        if os.waitpid(child, 0)[1] != 0:
            done.set()
            sys.exit(1)
    done.set()
    for t in threads:
        t.join()
"""


def test_a_fork_while_memory_is_reused_can_take_some_too():
    pytest.importorskip("torch")
    pytest.importorskip("facebench._full")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", REUSED_MEMORY],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


# In a process of its own: GNU's OpenMP keeps threads for the thread that computed.
AFTER_USE = """
import os, pathlib, signal, sys, tempfile
import facebench, torch
from facebench import nn, training
folder = pathlib.Path(sys.argv[1])
model, pack, root = folder / "model.safetensors", folder / "pack.h5", folder / "lfw"

def run():
    few = dict(detector="none", crop_size=32, replicates=20, threads=2)
    return repr(facebench.run("lfw", model=model, root=root, **few))

def embed():
    return facebench.embed(model, pack, threads=2).values.tobytes()

def infer():
    network = nn.build_network("small4", height=32, width=32, classes=4)
    return network.infer(torch.ones(16, 3, 32, 32), "embedding").numpy().tobytes()

def train():
    out = pathlib.Path(tempfile.mkdtemp(dir=folder)) / "run"
    recipe = training.load_recipe("small4.softmax", epochs=1, batch=8)
    facebench.train(recipe, pack, out, threads=2, data_threads=1)
    return (out / "model.safetensors").read_bytes()

torch.set_num_threads(2)
torch.ones(500, 500) @ torch.ones(500, 500)
for work in (run, embed, infer, train):
    first = work()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(60)
        os._exit(0 if work() == first else 1)
    print(work.__name__, os.waitpid(child, 0)[1], work() == first)
"""


def test_a_fork_after_use_computes_the_same(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    pytest.importorskip("facebench._full")
    monkeypatch.syspath_prepend(pathlib.Path(__file__).parents[1] / "faults")
    from faults import make_inputs

    make_inputs(tmp_path)
    facebench.pack(
        "folder", tmp_path / "lfw/images", tmp_path / "pack.h5", detector="none", crop_size=32
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", AFTER_USE, tmp_path],
        capture_output=True, text=True, timeout=400,
    )  # fmt: skip
    assert done.stdout == "run 0 True\nembed 0 True\ninfer 0 True\ntrain 0 True\n", done.stderr


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


def limited(most, folder, *words):
    """The command as a user with at most so many processes and threads; it reads like root."""
    for tool in ("setpriv", "prlimit"):
        if os.getuid() != 0 or not shutil.which(tool):
            pytest.skip("needs root, setpriv and prlimit")
    drop = [f"--{kind}-caps=-all,+dac_override,+dac_read_search" for kind in ("inh", "ambient")]
    folder.chmod(0o777)  # os.access() does not count what a user may do besides
    user = ["setpriv", "--reuid=61234", "--regid=61234", "--clear-groups", *drop]
    packages = pathlib.Path(facebench.__file__).absolute().parents[1]
    limit = ["prlimit", f"--nproc={most}:{most}"]
    return subprocess.run(
        [*user, *limit, sys.executable, "-m", "facebench", *map(str, words)],
        capture_output=True, text=True, timeout=120, cwd=folder,
        env=os.environ | {"PYTHONPATH": str(packages)},
    )  # fmt: skip


@pytest.fixture
def lists(tmp_path):
    (tmp_path / "pairs.txt").write_text(
        "2\t1\nAnn\t1\t2\nAnn\t1\tBob\t1\nCat\t1\t2\nCat\t1\tDan\t1\n"
    )
    (tmp_path / "scores.csv").write_text("score\n0.9\n0.1\n0.8\n0.2\n")
    return tmp_path


def test_a_command_that_may_start_no_thread_says_so_and_works(lists):
    words = ("eval", "lfw", "--root", ".", "--scores", "scores.csv", "--out")
    done = limited(1, lists, *words, "few")
    assert done.returncode == 0, done.stderr
    assert "only 0 further threads may be started here" in done.stderr
    done = limited(1, lists, "--untrusted", "report", "few")
    assert done.returncode == 1
    assert "no process to read it in" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("most", [1, 2, 3, 5])
def test_verbs_with_few_threads_give_the_same(tmp_path, most, monkeypatch):
    pytest.importorskip("torch")
    pytest.importorskip("facebench._full")
    monkeypatch.syspath_prepend(pathlib.Path(__file__).parents[1] / "faults")
    from faults import make_inputs

    # A training's bits belong to its number of compute threads (docs/training.md).
    runs = (
        "pack folder --root lfw/images --detector none --crop-size 32 --out p.h5",
        "embed model.safetensors p.h5 --out e.h5",
        "train small4.softmax --threads 1 --set epochs=1 --set batch=8 --pack p.h5 --out t",
    )
    many, few = folders = [tmp_path / "many", tmp_path / "few"]
    for folder, limit in zip(folders, (500, most), strict=True):
        folder.mkdir()
        make_inputs(folder)
        for words in runs:
            done = limited(limit, folder, *words.split())
            assert done.returncode == 0, done.stderr
    for name in ("p.h5", "e.h5", "t/model.safetensors"):
        assert (many / name).read_bytes() == (few / name).read_bytes(), name


@pytest.mark.parametrize("work", ["metrics.auc(scores, labels)", "bootstrap()"])
def test_the_process_ends_while_daemon_threads_compute(work):
    """Python unwinds such threads when they come back; that aborted the process (code 134)."""
    program = f"""
import threading, time
import numpy as np
from facebench import metrics
scores = np.random.default_rng(0).normal(size=20000)
labels = (scores > 0).astype(np.uint8)
pairs = metrics.Comparisons(scores[:2000], labels[:2000])
people = np.arange(2000) % 50, np.arange(2000) % 49
def bootstrap():
    metrics.dyadic_bootstrap([metrics.statistic("auc", pairs)], *people, None)
def for_ever():
    while True:
        {work}
for _ in range(3):
    threading.Thread(target=for_ever, daemon=True).start()
time.sleep(0.3)
"""
    for _ in range(4):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=120)
        assert (done.returncode, done.stderr) == (0, b"")


def test_calls_end_before_what_they_use():
    """While calls of daemon threads computed, the process destroyed its static objects: one exit
    in some thousands crashed. What is registered before facebench is asked after it."""
    program = """
import atexit, os, threading
import numpy as np

def late():
    # This thread, and those that called: their calls' own threads have ended.
    tasks = {int(name) for name in os.listdir("/proc/self/task")}
    print(len(tasks - {thread.native_id for thread in threading.enumerate()}))
    finished.set()
    call = ""
    while call.split()[:1] != ["34"]:  # pause(), in which the second thread is for good
        call = open(f"/proc/self/task/{second.native_id}/syscall").read()
    print(metrics.auc([0.1, 0.2], [0, 1]), later)

atexit.register(late)
from facebench import metrics
begun, finished, later = threading.Event(), threading.Event(), []

def compute():
    pairs = metrics.Comparisons(np.arange(2000.0), np.arange(2000) % 2)
    statistic = metrics.statistic("auc", pairs)
    people = np.arange(2000) % 50
    options = metrics.BootstrapOptions(replicates=10_000_000)
    metrics.dyadic_bootstrap([statistic], people, people, None, options=options, threads=3,
                             progress=lambda _, done, *more: done and begun.set())

def call_later():
    finished.wait()
    metrics.auc([0.1, 0.2], [0, 1])
    later.append("came back")

second = threading.Thread(target=call_later, daemon=True)
second.start()
threading.Thread(target=compute, daemon=True).start()
begun.wait()
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"}, capture_output=True, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, b"0\n1.0 []\n", b"")


def test_a_reader_that_somebody_kills_is_not_called_malicious(tmp_path):
    """As the kernel does where memory is short."""
    path = tmp_path / "e.h5"
    fio.write_embeddings(path, fio.EmbeddingSet(np.ones((2, 8), np.float32), ["a", "b"]))
    program = f"""
import os, signal, threading
import facebench
import facebench.io as fio

fio.confine_readers()
children = f"/proc/self/task/{{os.getpid()}}/children"
done = False

def kill():
    while not done:
        for child in open(children).read().split():
            os.kill(int(child), signal.SIGKILL)

thread = threading.Thread(target=kill)
thread.start()
for _ in range(2000):
    try:
        fio.read_embeddings({str(path)!r})
    except facebench.Error as error:
        print(error)
        break
done = True
thread.join()
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert "e.h5" in done.stdout and "was killed. Where memory is short" in done.stdout
