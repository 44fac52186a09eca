"""Which libraries of threads and of linear algebra a process has loaded."""

import re
from pathlib import Path

# What a library's file is called, and what people call the library.
_THREADS = {
    "libgomp": "GNU OpenMP",
    "libiomp5": "Intel OpenMP",
    "libomp": "LLVM OpenMP",
    "libtbb": "oneTBB",
}
_ALGEBRA = {
    "libmkl": "Intel MKL",
    "libopenblas": "OpenBLAS",
    "libscipy_openblas": "OpenBLAS",
    "libblis": "BLIS",
    "libarmpl": "Arm Performance Libraries",
    "libnvpl_blas": "NVPL BLAS",
    "libcublas": "cuBLAS",
    "libatlas": "ATLAS",
    "libblas": "reference BLAS",
}


def loaded_libraries(maps: str | None = None) -> dict:
    """{"thread_libraries": [...], "blas": [...]} of this process, or of the text of a
    ``/proc/PID/maps``. What a framework has compiled into itself (torch's MKL, Eigen) has no file
    of its own, and is not seen here.

    >>> loaded_libraries("7f0 r-xp 0 08:01 5 /x/torch.libs/libgomp-a34b3233.so.1.0.0")
    {'thread_libraries': ['GNU OpenMP (libgomp-a34b3233.so.1.0.0)'], 'blas': []}
    """
    if maps is None:
        try:
            maps = Path("/proc/self/maps").read_text()
        except OSError:
            maps = ""
    files = sorted({line.rsplit("/", 1)[1] for line in maps.splitlines() if "/" in line})

    def named(names):
        return [
            f"{title} ({file})"
            for file in files
            for stem, title in names.items()
            if re.match(rf"{stem}[-_.\d]", file)
        ]

    return {"thread_libraries": named(_THREADS), "blas": named(_ALGEBRA)}


def torch_libraries() -> dict:
    """The same of torch, with what it has compiled in and how it shares work between threads."""
    import torch

    libraries = loaded_libraries()
    parallel_info = torch.__config__.parallel_info()
    backend = re.search(r"ATen parallel backend: (.*)", parallel_info)
    compiled_in = re.search(r"(Intel\(R\) oneAPI Math Kernel Library Version \S+)", parallel_info)
    blas = re.search(r"BLAS_INFO=(\w+)", torch.__config__.show())
    if not libraries["blas"] or compiled_in:
        built = compiled_in[1] if compiled_in else blas[1] if blas else "unknown"
        libraries["blas"].insert(0, f"{built} (in torch)")
    if backend:
        libraries["parallel_backend"] = backend[1].strip()
    return libraries
