"""Modules of the user's: what losses and networks of their own have in common."""

import hashlib
import inspect

from facebench._torch import torch


def description(custom) -> dict:
    """What a manifest says of a module, a class or a function. A resume refuses another one."""
    what = type(custom) if isinstance(custom, torch.nn.Module) else custom
    name = f"{what.__module__}.{getattr(what, '__qualname__', type(what).__name__)}"
    try:
        source = hashlib.sha256(inspect.getsource(what).encode()).hexdigest()
    except (OSError, TypeError):  # typed at a prompt, or compiled
        source = None
    return {"name": "own", "python": name, "source_sha256": source}


def first_output(output):
    """Of a network with several outputs the first."""
    return output[0] if isinstance(output, (tuple, list)) and output else output


def make(factory, seed, **arguments):
    """``factory(**arguments)`` with torch's generator at ``seed``, so that first values are the
    same in each run."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return factory(**arguments)


def keep_buffers(module, kept: dict) -> None:
    """A buffer that was replaced, not changed in place, goes back into the trainer's tensor."""
    for name, tensor in kept.items():
        owner, _, last = name.rpartition(".")
        part = module.get_submodule(owner)
        now = getattr(part, last)
        if now is not tensor:
            with torch.no_grad():
                tensor.copy_(now)
            setattr(part, last, tensor)
