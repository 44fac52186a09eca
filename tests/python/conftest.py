"""What several test files share."""

import facebench
import facebench.io as fio
import numpy as np
import pytest


@pytest.fixture(scope="session")
def confinable(tmp_path_factory):
    """Skips where the kernel does not confine processes."""
    path = tmp_path_factory.mktemp("confined") / "e.h5"
    fio.write_embeddings(path, fio.EmbeddingSet(np.ones((1, 4)), ["a.jpg"]))
    before = fio.confine_hdf5()
    try:
        fio.read_embeddings(path)
    except facebench.Error as error:
        pytest.skip(str(error))
    finally:
        fio.confine_hdf5(before)


@pytest.fixture
def confined(confinable):
    """HDF5 files are read by confined children."""
    before = fio.confine_hdf5()
    yield
    fio.confine_hdf5(before)
