"""Which errors say that memory ran out."""

import pytest
from facebench.core._out_of_memory import is_out_of_memory


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (MemoryError(), True),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: tried"), True),
        (RuntimeError("std::bad_alloc"), True),
        (RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"), True),
        (RuntimeError("shapes differ"), False),
    ],
)
def test_what_counts_as_out_of_memory(error, expected):
    assert is_out_of_memory(error) is expected
