"""Files with bytes changed, each read in a child process, which a reader's fault would end."""

import json
import subprocess
import sys

CODE = """
import json, sys
import facebench.io as fio
from facebench import Error
source, target, reading = sys.argv[1:]
fio.confine_readers(reading == "confined")
data = open(source, "rb").read()
for offset, changed in json.load(sys.stdin):
    changed = bytes.fromhex(changed)
    with open(target, "wb") as file:
        file.write(data[:offset] + changed + data[offset + len(changed) :])
    try:
        fio.read_embeddings(target)
    except Error:
        pass
print("done")
"""


def check_embeddings(path, changes, reading):
    """Every file with one of ``changes`` (offset, bytes) is read or refused by `read_embeddings`.

    ``reading``: here or confined.
    """
    changed = path.with_name(f"changed-{path.name}")
    result = subprocess.run(
        [sys.executable, "-c", CODE, path, changed, reading],
        input=json.dumps([(offset, data.hex()) for offset, data in changes]),
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == "done\n"


def words(data, step, values):
    """Changes: each word of eight bytes that are not all zeros in turn as each of ``values``."""
    for offset in range(0, len(data), step):
        if any(data[offset : offset + 8]):
            for value in values:
                yield offset, value.to_bytes(8, "little")
