"""How PyTorch modules of any kind are called: in evaluation mode, and which of their outputs is
taken."""

import contextlib
from collections.abc import Iterator, Mapping

from facebench.core import _log
from facebench.core._arguments import brief, cut, did_you_mean, type_text


@contextlib.contextmanager
def evaluating(module) -> Iterator[None]:
    """The module in evaluation mode for a while. A frozen TorchScript has no mode, and a program of
    torch.export has the one that it was exported in."""
    was_training = getattr(module, "training", None)
    try:
        module.eval()
    except NotImplementedError:  # of torch.export
        was_training = None
    try:
        yield
    finally:
        if was_training is not None:
            module.train(was_training)


def _numbers(output) -> int:
    """Of one image; 0 where that is not a tensor of rows."""
    return output[0].numel() if hasattr(output, "numel") and output.ndim and len(output) else 0


def _shown(parts: Mapping) -> str:
    counts = {name: _numbers(part) for name, part in parts.items()}
    return cut(", ".join(f"{name} ({n})" if n else name for name, n in counts.items()))


def _parts(out) -> dict | None:
    """Outputs by their names, or by their numbers where they have none; None: one output."""
    if isinstance(out, Mapping):
        return {str(name): part for name, part in out.items()}
    if isinstance(out, tuple | list):
        names = getattr(out, "_fields", range(len(out)))
        return {str(name): part for name, part in zip(names, out, strict=True)}
    return None


def taken(out, images: int, title: str, name: str | None, told: bool):
    """The tensor of an output that is the embedding: the one of that name; else of a dict the only
    one with several numbers for an image (a UserWarning says so unless ``told``), of a tuple the
    first. ValueError where that cannot be said."""
    parts = _parts(out)
    if parts is None:
        if name is not None:
            raise ValueError(f"{title}: has one output, which has no name; leave out output=")
        chosen = out
    elif name is not None:
        if name not in parts:
            raise ValueError(
                f"{title}: has no output '{brief(name)}'{did_you_mean(name, parts)}; it has "
                f"{_shown(parts) or 'none'}"
            )
        chosen = parts[name]
    elif isinstance(out, Mapping):
        many = [n for n, part in parts.items() if _numbers(part) > 1]
        if len(many) != 1:
            raise ValueError(
                f"{title}: its output is a dict of {_shown(parts) or 'nothing'}; name the "
                "embedding: output= (--set output=NAME)"
            )
        chosen = parts[many[0]]
        if len(parts) > 1 and not told:
            _log.warn(
                f"{title}: of its outputs {_shown(parts)} {many[0]} is taken. Another: output=",
                stacklevel=2,
            )
    else:
        chosen = next(iter(parts.values()), None)
        if len(parts) > 1 and _numbers(chosen) == 1:
            others = dict([*parts.items()][1:])
            raise ValueError(
                f"{title}: its output {next(iter(parts))} has one number for each image; others: "
                f"{_shown(others)}. Name the embedding: output= (--set output=NAME)"
            )
    if chosen is None or not hasattr(chosen, "is_complex"):
        raise ValueError(
            f"{title}: its output is {type_text(chosen)}, expected a tensor ({images}, D)"
        )
    if chosen.is_complex():
        raise ValueError(f"{title}: its output is complex, expected real numbers")
    return chosen
