"""torch and the compiled module whose functions take and return its tensors."""

# isort: off
from facebench._library import full  # says which torch is wanted, before it is imported
import torch
# isort: on

__all__ = ["full", "torch"]
