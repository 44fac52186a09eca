"""Files on object stores and web servers, by fsspec: what C++ and the tables ask for them."""

import contextlib
import os
import re
import tempfile
from collections.abc import Iterator

from facebench._full import remote_address
from facebench.core import Error
from facebench.core._arguments import cut

_MOST = 8 << 30  # bytes of a file that is held in memory
# What fsspec needs beside itself for the commonest schemes.
_PACKAGES = {
    "s3": "s3fs",
    "s3a": "s3fs",
    "gs": "gcsfs",
    "gcs": "gcsfs",
    "hf": "huggingface_hub",
    "http": "aiohttp",
    "https": "aiohttp",
    "abfs": "adlfs",
    "az": "adlfs",
}


def _found(address):
    """The file system of an address, and the path in it."""
    scheme = address.partition("://")[0]
    try:
        import fsspec
    except ImportError:
        raise Error(
            f"{address}: '{scheme}://' is read with fsspec, which is not installed: "
            "pip install 'facebench[remote]'"
        ) from None
    inner = scheme.rpartition("::")[2]
    try:
        return fsspec.core.url_to_fs(address)
    except ImportError as error:
        package = _PACKAGES.get(inner)
        how = f"pip install {package}" if package else cut(_one_line(error))
        raise Error(
            f"{address}: for '{inner}://' fsspec needs a package that is not installed: {how}"
        ) from None
    except ValueError as error:
        raise Error(f"{address}: is not understood by fsspec: {cut(_one_line(error))}") from None


def _one_line(error):
    return " ".join(str(error).split()) or type(error).__name__


class _Told:
    """Turns what a file system raises, which is of any kind, into one sentence."""

    def __init__(self, address, what="fetched"):
        self._address, self._what = address, what

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if isinstance(error, FileNotFoundError):
            raise Error(f"{self._address}: is not there") from None
        if isinstance(error, Exception) and not isinstance(error, Error):
            raise Error(
                f"{self._address}: cannot be {self._what}: {cut(_one_line(error))}"
            ) from None
        return False


def fetch(address: str) -> bytes:
    """The bytes of a file. Error where it cannot be fetched, or has more than 8 GiB."""
    system, path = _found(address)
    with _Told(address):
        with system.open(path, "rb") as file:
            data = file.read(_MOST + 1)
        if len(data) > _MOST:
            raise Error(f"{address}: has more than 8 GiB: pass on smaller shards")
        return data


class RemoteFile:
    """A file that is read in ranges, as pyarrow takes one: what goes wrong is an Error."""

    def __init__(self, address):
        system, path = _found(address)
        self._told = _Told(address)
        with self._told:
            self._file = system.open(path, "rb")

    closed = False

    def close(self):
        self._file.close()

    def readable(self):
        return True

    def seekable(self):
        return True

    def tell(self):
        return self._file.tell()

    def seek(self, offset, whence=0):
        return self._file.seek(offset, whence)

    def read(self, size=-1):
        with self._told:
            return self._file.read(size)


def _is_pattern(text: str) -> bool:
    return re.search(r"[*?\[]", text) is not None


@contextlib.contextmanager
def _passing(there: str) -> Iterator[str]:
    """A path of the same name in a temporary folder, which is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="facebench-") as folder:
        yield os.path.join(folder, os.path.basename(there.rstrip("/")) or "file")


def listed(address: str) -> list[str]:
    """The addresses of all files below one, or that a pattern with ``*`` names, in order."""
    system, path = _found(address)
    scheme = address.partition("://")[0]
    with _Told(address):
        system.invalidate_cache()
        paths = system.glob(path) if _is_pattern(path) else system.find(path)
    return sorted(p if "://" in p else f"{scheme}://{p.lstrip('/')}" for p in paths)


@contextlib.contextmanager
def on_this_machine(path) -> Iterator:
    """The path of a file; of an address, that of a copy in a temporary folder."""
    address = remote_address(path)
    if address is None:
        yield path
        return
    system, there = _found(address)
    with _passing(there) as copy:
        with _Told(address):
            system.get_file(there, copy)
        yield copy


@contextlib.contextmanager
def written_to(out) -> Iterator:
    """Where to write a file. Of an address that is a temporary folder, from which the file is sent
    when the block has ended well."""
    address = remote_address(out) if isinstance(out, str | os.PathLike) else None
    if address is None:
        yield out
        return
    system, there = _found(address)
    with _passing(there) as file:
        yield file
        with _Told(address, "sent"):
            system.put_file(file, there)


def one_by_one(paths) -> list:
    """The paths, with the files that an address with ``*`` names in its place."""
    found: list = []
    for path in paths:
        address = remote_address(path) if isinstance(path, str | os.PathLike) else None
        if address is None or not _is_pattern(address):
            found.append(path)
            continue
        named = listed(address)
        if not named:
            raise Error(f"{address}: names no file")
        found += named
    return found
