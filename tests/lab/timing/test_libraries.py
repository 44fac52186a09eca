"""The libraries that a process has loaded, by its maps."""

import pytest

pytest.importorskip("torch")
from facebench.lab.engines import libraries


def test_loaded_libraries():
    maps = "7f r-xp 0 08:01 5 /x/libopenblas64_-4b.so\n7f r-xp 0 08:01 6 /x/libblasted.so\n8f rw-p"
    found = libraries.loaded_libraries(maps + "\n7f r-xp 0 08:01 5 /x/libiomp5.so")
    assert found == {
        "thread_libraries": ["Intel OpenMP (libiomp5.so)"],
        "blas": ["OpenBLAS (libopenblas64_-4b.so)"],
    }
