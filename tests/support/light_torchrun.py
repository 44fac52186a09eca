"""What `torchrun --standalone` does for the tests, without torch, whose import takes it seconds: an
interpreter for the command lines that start with ``-m torch.distributed.run``."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path


def interpreter(folder):
    """The path of a program to be called in place of Python's."""
    path = Path(folder) / "python"
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{Path(__file__).resolve()}" "$@"\n')
    path.chmod(0o755)
    return str(path)


def main(module, launcher, standalone, option, count, *words):
    asked = module, launcher, standalone, option
    assert asked == ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node"), asked
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = os.environ | {
        "TORCHELASTIC_RUN_ID": "light",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "WORLD_SIZE": count,
        "LOCAL_WORLD_SIZE": count,
    }
    environment.setdefault("OMP_NUM_THREADS", "1")
    running = [
        subprocess.Popen(
            [sys.executable, *words], env=environment | {"RANK": str(k), "LOCAL_RANK": str(k)}
        )
        for k in range(int(count))
    ]
    try:
        # One that fails takes the others along.
        while None in (ended := [process.poll() for process in running]) and not any(ended):
            time.sleep(0.02)
    finally:
        for process in running:
            process.kill()
            process.wait()
    return int(any(ended))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
