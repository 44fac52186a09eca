"""Files that are read: what a file is and how large is seen before anything is read, so that no
pipe or device is waited for and no file fills the memory. Nothing else of the package opens any.
And texts that are written, whole or not at all."""

import contextlib
import errno
import json
import os
import shutil
import stat

from facebench._eval import Error, write_file
from facebench.core._arguments import brief, of_kind

# Where packs and embeddings of runs are kept, unless something else is said. None: nowhere.
KEPT: str | None = os.path.join("runs", "cache")
MOST = 1 << 30  # bytes of a file that is read whole
_CHUNK = 1 << 20


def open_file(path, most=None):
    """A regular file, opened to read its bytes, of at most ``most`` where given.

    facebench.Error for what cannot be opened, is not a regular file or is larger.
    """
    try:
        # What would wait for its other side (a pipe) is refused below.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        advice = ""
        if error.errno in (errno.EMFILE, errno.ENFILE):
            advice = ". Allow more open files (ulimit -n), or use fewer threads"
        raise Error(f"{brief(path)}: cannot be read: {error.strerror}{advice}") from None
    try:
        facts = os.fstat(descriptor)
        if stat.S_ISDIR(facts.st_mode):
            raise Error(f"{brief(path)}: is a folder, not a file")
        if not stat.S_ISREG(facts.st_mode):
            raise Error(f"{brief(path)}: is not a regular file")
        if most is not None and facts.st_size > most:
            raise Error(f"{brief(path)}: has {facts.st_size} bytes; at most {most} are read here")
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


@contextlib.contextmanager
def said_of(path, copy):
    """facebench.Error about a copy names the file or folder that it is of."""
    try:
        yield
    except Error as error:
        raise type(error)(in_place(str(error), copy, path)) from None


def in_place(text: str, copy, path) -> str:
    """What is said of a copy, as of the file or folder that it is of."""
    return text.replace(str(copy), str(path))


def copy_file(path, to, most=None, opened=None):
    """The bytes of a regular file, opened once, as a new file. ``opened``: called with the path of
    what was opened. facebench.Error as of `open_file`, and where there is no room."""
    with open_file(path, most) as file:
        if opened is not None:
            opened(f"/proc/self/fd/{file.fileno()}")
        try:
            with open(to, "xb") as out:
                shutil.copyfileobj(file, out, _CHUNK)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                size, folder = os.fstat(file.fileno()).st_size, os.path.dirname(to)
                raise Error(
                    f"{brief(path)}: has {size} bytes, for whose copy there is no room in "
                    f"{brief(folder)}. Name another folder for temporary files: TMPDIR"
                ) from None
            raise Error(f"{brief(path)}: cannot be read: {error.strerror}") from None


def read_bytes(path, most=MOST) -> bytes:
    """The bytes of a regular file; facebench.Error as of `open_file`."""
    with open_file(path, most) as file:
        # A file of /proc says that it holds nothing, and may never end.
        try:
            return file.read(os.fstat(file.fileno()).st_size)
        except OSError as error:
            raise Error(f"{brief(path)}: cannot be read: {error.strerror}") from None


def read_text(path, most=MOST) -> str:
    """The text of a file in UTF-8, with or without a byte order mark. Errors name the line."""
    try:
        return read_bytes(path, most).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise Error(f"{brief(path)}:{line}: is not UTF-8. Convert the file to UTF-8") from None


def read_json(path, most=MOST):
    """What a file of JSON of ours holds; ValueError where it is none."""
    return json.loads(read_text(path, most))


def write_text(path, text):
    """Write a text file, whole or not at all; missing folders are made."""
    of_kind(text, str, "text")
    write_file(path, text.encode("utf-8"))
