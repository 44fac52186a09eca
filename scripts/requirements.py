"""Prints requirements of the environment, one a line.

requirements.py run TORCH     what building and running need
requirements.py test TORCH    what the tests need beside that
requirements.py EXTRA TORCH   the same of another extra of pyproject.toml: lint, docs

TORCH is a version of torch, or "none". With LOWEST=1 in the environment every range is its lowest
version: what "numpy>=1.26" promises is tried.
"""

import os
import re
import sys
import tomllib
from pathlib import Path


def packages(group: str, torch: str) -> list[str]:
    with open(Path(__file__).resolve().parents[1] / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)
    listed = project["project"]
    extras = listed["optional-dependencies"]
    if group == "run":
        wanted = [] if torch == "none" else [f"torch=={torch}"]
        wanted += project["build-system"]["requires"] + listed["dependencies"]
        # Frames and plots cost little. The build converts mtcnn's weights, once.
        return [*wanted, *extras["frame"], *extras["plot"], "mtcnn==1.0.0"]
    minor = re.match(r"2\.(\d+)\.", torch)
    if group == "test" and minor:
        # The reference for networks, as it goes with torch: 0.26 with 2.11, one for one.
        return [*extras["test"], f"torchvision==0.{int(minor[1]) + 15}.*"]
    return extras[group]


def lowest(requirement: str) -> str:
    """The lowest version of a range: "numpy>=1.26" is "numpy==1.26.*"."""
    name, least, rest = requirement.partition(">=")
    version = rest.partition(",")[0]
    return f"{name}=={version}{'.*' if version.count('.') < 2 else ''}" if least else requirement


if __name__ == "__main__":
    listed = packages(*sys.argv[1:])
    print("\n".join(map(lowest, listed) if os.environ.get("LOWEST") == "1" else listed))
