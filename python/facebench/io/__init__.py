"""Files: embeddings, safetensors, hashes, manifests, MATLAB lists.

>>> import tempfile, pathlib, numpy as np
>>> from facebench.io import EmbeddingSet, read_embeddings, sha256_file, write_embeddings
>>> folder = tempfile.TemporaryDirectory()
>>> path = pathlib.Path(folder.name) / "e.h5"
>>> made = EmbeddingSet(np.eye(2, dtype=np.float32), ["a.jpg", "b.jpg"])
>>> write_embeddings(path, made)
>>> read_embeddings(path)
EmbeddingSet(2 x 2, 2 ok)
>>> len(sha256_file(path))
64
>>> folder.cleanup()
"""

from facebench import _eval
from facebench._eval import EmbeddingSet, SampleStatus
from facebench.io import _embedding_files

__all__ = [
    "EmbeddingSet",
    "SampleStatus",
    "canonical_json",
    "confine_readers",
    "read_embeddings",
    "read_h5_manifest",
    "read_manifest",
    "read_mat5",
    "read_safetensors",
    "sha256_file",
    "sha256_hex",
    "write_embeddings",
    "write_safetensors",
]


def read_embeddings(path, names=None):
    """Read an embeddings file: HDF5, ``.npz``, ``.npy`` with names, ``.csv`` or ``.parquet``.

    What a file is, its first bytes say. HDF5: ``/embedding`` float32 (N, D) and ``/name``;
    ``/status`` and ``/manifest`` may be absent: then every row is ok. npz: arrays ``embeddings``
    and ``names``. npy: numbers (N, D) and ``names``, a sequence or a text file with one a line (of
    ``x.npy`` also ``x.txt`` beside it). csv, parquet: a column ``name`` and one for each number.
    float64 is taken and rounded, of all but HDF5 float16 and integers too. Raises
    :class:`facebench.Error` for a damaged file, NaN in an ok row, or a name given twice.

    >>> import tempfile, numpy as np
    >>> from facebench.io import read_embeddings
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(folder + "/e.npz", embeddings=np.eye(2), names=["a.jpg", "b.jpg"])
    ...     read_embeddings(folder + "/e.npz")
    EmbeddingSet(2 x 2, 2 ok)
    """
    return _embedding_files.read(path, names)


def confine_readers(on=True):
    """Parse HDF5, TOML and JSON files from now on in confined child processes.

    For files from strangers: the HDF5 library is not safe with malicious files, and no parser is
    free of errors. A child answers this process and computes; it has no file open, can open none,
    and gets memory, processor time and time by the clock in proportion to the file. If it fails, or
    if the system cannot confine a process, a :class:`facebench.Error` is raised here. The numbers
    are the same. Returns the previous setting. ``facebench --untrusted VERB`` does this.

    >>> import tempfile, numpy as np
    >>> from facebench.io import EmbeddingSet, confine_readers, read_embeddings, write_embeddings
    >>> before = confine_readers()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_embeddings(folder + "/e.h5", EmbeddingSet(np.ones((1, 4)), ["a.jpg"]))
    ...     read_embeddings(folder + "/e.h5").names
    ['a.jpg']
    >>> confine_readers(before)
    True
    """
    return _eval.confine_readers(on)


def write_embeddings(path, embeddings):
    """Write an :class:`EmbeddingSet`, whole or not at all. The same content gives the same bytes.

    >>> import tempfile, numpy as np
    >>> from facebench.io import EmbeddingSet, read_embeddings, write_embeddings
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_embeddings(folder + "/e.h5", EmbeddingSet(np.ones((1, 4)), ["a.jpg"]))
    ...     read_embeddings(folder + "/e.h5").dim
    4
    """
    _eval.write_embeddings(path, embeddings)


def read_safetensors(path):
    """All tensors of a safetensors file as ``({name: array}, {metadata key: text})``.

    bfloat16, which numpy lacks, comes as float32 (exactly). Raises :class:`facebench.Error` where
    header and data disagree in any way.
    """
    return _eval.read_safetensors(path)


def write_safetensors(path, tensors, metadata=None):
    """Write a dict of numpy arrays, whole or not at all. The same content gives the same bytes.

    >>> import tempfile, numpy as np
    >>> from facebench.io import read_safetensors, write_safetensors
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_safetensors(folder + "/m.safetensors", {"w": np.arange(3.0)}, {"network": "toy"})
    ...     tensors, metadata = read_safetensors(folder + "/m.safetensors")
    >>> tensors["w"], metadata
    (array([0., 1., 2.]), {'network': 'toy'})
    """
    _eval.write_safetensors(path, tensors, {} if metadata is None else metadata)


def sha256_file(path, progress=None):
    """The SHA-256 of a file, 64 lower-case digits."""
    return _eval.sha256_file(path, progress)


def sha256_hex(data):
    """The SHA-256 of bytes.

    >>> from facebench.io import sha256_hex
    >>> sha256_hex(b"abc")[:8]
    'ba7816bf'
    """
    return _eval.sha256_hex(data)


def canonical_json(value):
    """The canonical JSON text that facebench hashes: keys in order, no spaces.

    >>> from facebench.io import canonical_json
    >>> canonical_json({"b": 1, "a": [0.1, None]})
    '{"a":[0.1,null],"b":1}'
    """
    return _eval.canonical_json(value)


def read_h5_manifest(path):
    """The ``/manifest`` of a pack or an embeddings file, as a dict."""
    return _eval.read_h5_manifest(path)


def read_manifest(path):
    """A run's ``run.json``: ``{"content": ..., "circumstance": ...}``."""
    return _eval.read_manifest(path)


def read_mat5(path):
    """The variables of a MAT file, versions 5 to 7.

    Numeric arrays are float64, rows of characters are ``str``, cell arrays are object arrays of
    them, a structure is a ``dict`` (several of one shape: a list); anything else is ``None``.
    """
    return _eval.read_mat5(path)
