"""What frameworks raise where memory ran out; they share no class for it."""

_OUT_OF_MEMORY = (
    "can't allocate memory",
    "out of memory",
    "resource_exhausted",
    "resource exhausted",
    "bad_alloc",
    "failed to allocate",
    "alloc_failed",
    "not enough memory",
    "cannot allocate memory",
    "allocation failed",
    "oom when allocating",
    "failed to map segment",  # of a library, by the loader
)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an exception of any framework means that memory ran out.

    >>> from facebench.core._out_of_memory import is_out_of_memory
    >>> is_out_of_memory(MemoryError()), is_out_of_memory(ValueError("wrong shape"))
    (True, False)
    """
    if isinstance(error, MemoryError) or "OutOfMemory" in type(error).__name__:
        return True
    return any(text in str(error).lower() for text in _OUT_OF_MEMORY)
