"""A run folder as it is at one moment: what is hashed, parsed and rendered of it are then the same
bytes, whatever somebody writes into it meanwhile."""

import contextlib
import os
import stat
import tempfile
from pathlib import Path

from facebench import _eval
from facebench.analysis._signatures import SIGNATURE
from facebench.core import Error
from facebench.core._arguments import brief
from facebench.core._files import copy_file, said_of
from facebench.reports.results import FILES


@contextlib.contextmanager
def snapshot(run):
    """A copy of a run folder, which has its name: each file of a run is opened once. Of other files
    only the names are there. facebench.Error where one cannot be read, or the disk is full; under
    --untrusted for a link that leads out of the folder. What is not a folder stays what it is."""
    if not os.path.isdir(run):
        yield run
        return
    with tempfile.TemporaryDirectory(prefix="facebench-verify-") as work:
        copy = Path(work) / (os.path.basename(os.path.abspath(os.fsdecode(run))) or "run")
        copy.mkdir()
        for name in sorted(os.listdir(run)):
            _take(run, name, copy)
        with said_of(Path(run), copy):
            yield copy


def _take(run, name, copy):
    source, target = os.path.join(run, name), copy / name
    if name not in FILES | {SIGNATURE}:
        if os.path.isdir(source):
            target.mkdir()
        else:
            _eval.write_file(target, b"")
        return
    _inside(run, source, source)
    try:
        kind = os.stat(source).st_mode
    except FileNotFoundError:
        target.symlink_to("nothing")  # as there, a link to what is not there
        return
    except OSError as error:
        raise Error(f"{brief(source)}: cannot be read: {error.strerror}") from None
    if stat.S_ISDIR(kind):
        target.mkdir()
    elif not stat.S_ISREG(kind):
        os.mkfifo(target)  # which every reader refuses, as it does a device
    else:
        # The file that is opened may not be the one that was looked at.
        copy_file(source, target, opened=lambda path: _inside(run, source, path))


def _inside(run, source, path):
    if not _eval.may_open(path, [run]):
        raise Error(
            f"{brief(source)}: is a link that leads out of the run folder. Nothing outside it is "
            "opened under --untrusted."
        )
