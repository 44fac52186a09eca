"""Two packages, ``facebench`` and ``facebench-eval``, install the same folder; pip lets the second
overwrite files of the first without a word, and removing one then takes files of the other."""

from pathlib import Path

_PACKAGES = {"facebench": "facebench", "facebench_eval": "facebench-eval"}


def refuse_two(site: Path) -> None:
    """Raise ImportError where both packages are installed in the folder ``site``."""
    installed = [
        name for folder, name in _PACKAGES.items() if any(site.glob(f"{folder}-*.dist-info"))
    ]
    if len(installed) > 1:
        raise ImportError(
            f"both {' and '.join(installed)} are installed in {site}: they share the folder "
            "facebench, and one has overwritten files of the other. facebench holds all of "
            "facebench-eval: pip uninstall --yes facebench facebench-eval, then install the one "
            "that you want"
        )


refuse_two(Path(__file__).parents[1])
