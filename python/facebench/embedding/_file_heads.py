"""What the head of a safetensors file says of the network in it, read without its tensors."""

import json

from facebench.core import Error
from facebench.core._files import open_file

OWN_MODEL = "facebench-own-model"  # the format of a file that holds a module of PyTorch
TIMM = "timm:"  # begins the names of networks that the package timm makes


def head_of(path) -> dict:
    """The texts in the head of a safetensors file; none where it cannot be read: who reads it whole
    says why."""
    try:
        with open_file(path) as file:
            length = int.from_bytes(file.read(8), "little")
            return json.loads(file.read(min(length, 1 << 26))).get("__metadata__") or {}
    except (OSError, ValueError, AttributeError, Error):
        return {}


def network_of_timm(path) -> str | None:
    """The name that timm makes the file's network by; None: another network."""
    head = head_of(path)
    try:
        name = json.loads(head["model"])["network"]
    except (KeyError, TypeError, ValueError):
        return None
    ours = head.get("format") == OWN_MODEL and isinstance(name, str)
    return name if ours and name.startswith(TIMM) else None
