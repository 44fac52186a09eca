"""What installed packages bring under names of their own: protocols, models, detectors."""

from importlib.metadata import EntryPoint, entry_points
from importlib.resources import as_file, files
from pathlib import Path

PROTOCOLS, MODELS, DETECTORS = "facebench.protocols", "facebench.models", "facebench.detectors"


def brought(group) -> dict[str, EntryPoint]:
    """The entry points of a group by their names. ValueError where two packages bring one name."""
    points: dict[str, EntryPoint] = {}
    for point in entry_points(group=group):
        other = points.setdefault(point.name, point)
        if other.value != point.value:
            raise ValueError(
                f"'{point.name}' is brought by two packages, as {other.value} and as "
                f"{point.value}; uninstall one"
            )
    return points


def protocol_file(point: EntryPoint) -> Path:
    """The file of a protocol: NAME.toml in the package that the entry point names."""
    try:
        with as_file(files(point.value) / f"{point.name}.toml") as path:
            there = path.is_file()
    except ModuleNotFoundError:
        path, there = Path(f"{point.name}.toml"), False
    if not there:
        raise ValueError(
            f"'{point.name}': the package {point.value}, which brings this protocol, has no "
            f"{point.name}.toml; it has to be among its package data"
        )
    return path
