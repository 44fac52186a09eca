"""torch and the compiled module whose functions take and return its tensors."""

# isort: off
from facebench.core._held import held_signals
from facebench._library import full  # says which torch is wanted, before it is imported

with held_signals():
    import torch
# isort: on

__all__ = ["full", "torch"]
