"""Prints requirements of the environment, one a line.

requirements.py packages       what building, testing and running need, but for torch
requirements.py alone TORCH    what is installed without its own requirements, which could bring
                               another torch: the face detector's weights, and torchvision (the
                               tests' reference for networks) as it goes with TORCH
"""

import re
import sys
import tomllib
from pathlib import Path


def packages() -> list[str]:
    with open(Path(__file__).resolve().parents[1] / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)
    listed = project["project"]
    wanted = project["build-system"]["requires"] + listed["dependencies"]
    # The build converts mtcnn's weights once, from files that take joblib and lz4 to read.
    return wanted + listed["optional-dependencies"]["test"] + ["joblib>=1.4.2", "lz4>=4.3.3"]


def alone(torch: str) -> list[str]:
    minor = re.match(r"2\.(\d+)\.", torch)  # 0.26 goes with 2.11, one for one
    return ["mtcnn==1.0.0", *([f"torchvision==0.{int(minor[1]) + 15}.*"] if minor else [])]


if __name__ == "__main__":
    print("\n".join({"packages": packages, "alone": alone}[sys.argv[1]](*sys.argv[2:])))
