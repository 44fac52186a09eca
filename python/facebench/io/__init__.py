"""Files: embeddings, safetensors, hashes, manifests, MATLAB lists.

>>> import tempfile, pathlib, numpy as np
>>> from facebench.io import EmbeddingSet, read_embeddings, sha256_file, write_embeddings
>>> folder = tempfile.TemporaryDirectory()
>>> path = pathlib.Path(folder.name) / "e.h5"
>>> rows = EmbeddingSet(np.eye(2, dtype=np.float32), ["a.jpg", "b.jpg"])
>>> write_embeddings(path, rows)
>>> read_embeddings(path)
EmbeddingSet(2 x 2, 2 ok)
>>> len(sha256_file(path))
64
>>> folder.cleanup()
"""

from facebench import _eval
from facebench._eval import (
    EmbeddingSet,
    SampleStatus,
    canonical_json,
    confine_readers,
    read_h5_manifest,
    read_manifest,
    read_mat5,
    read_safetensors,
    sha256_file,
    sha256_hex,
    write_embeddings,
)
from facebench.core._shards import missing_shards
from facebench.io import _embedding_files

__all__ = [
    "EmbeddingSet",
    "SampleStatus",
    "canonical_json",
    "confine_readers",
    "missing_shards",
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


def read_embeddings(path, names=None, columns=None):
    """Read an embeddings file: HDF5, ``.npz``, ``.npy`` with names, ``.csv`` or ``.parquet``.

    What a file is, its first bytes say. HDF5: ``/embedding`` float32 (N, D) and ``/name``;
    ``/status`` and ``/manifest`` may be absent: then every row is ok. npz: arrays ``embeddings``
    and ``names``. npy: numbers (N, D) and ``names``, a sequence or a text file with one a line (of
    ``x.npy`` also ``x.txt`` beside it). csv, parquet: a column ``name`` and one for each number
    (``e0``, ``e1``, ...) or one of lists. Other columns are refused, unless ``columns`` names those
    that are read: that of the names first, then the numbers, where ``"e0..e15"`` stands for all of
    them; the manifest has which were read. float64 is taken and rounded, of all but HDF5 float16
    and integers too. Raises :class:`facebench.Error` for a damaged file, NaN in an ok row, or a
    name given twice.

    >>> import tempfile, numpy as np
    >>> from facebench.io import read_embeddings
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(folder + "/e.npz", embeddings=np.eye(2), names=["a.jpg", "b.jpg"])
    ...     read_embeddings(folder + "/e.npz")
    EmbeddingSet(2 x 2, 2 ok)
    """
    return _embedding_files.read(path, names, columns)


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
