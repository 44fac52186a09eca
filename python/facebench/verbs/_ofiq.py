"""OFIQ, ISO/IEC 29794-5: the file that its sample program writes, and its Python package."""

import csv
import importlib
import math
import os
from pathlib import Path, PurePosixPath

from facebench import _eval
from facebench._eval import read_run
from facebench.core import Error
from facebench.core._arguments import brief, did_you_mean
from facebench.core._files import open_file, read_text

_NAME, _SCORE = "Filename", ".scalar"


def is_ofiq(path) -> bool:
    """Whether a file has the columns of OFIQ: Filename;...;UnifiedQualityScore.scalar;..."""
    with open_file(path) as file:
        header = file.readline(100_000).decode("utf-8-sig", "replace").strip().split(";")
    return header[0] == _NAME and any(name.endswith(_SCORE) for name in header)


def read(path, columns, known) -> dict[str, tuple[list[str], list[float]]]:
    """{measure: (names, values)} of a file of OFIQ: the quality components 0 to 100 of ISO/IEC
    29794-5, by default UnifiedQualityScore. ``known``: the names of the run, which the file's paths
    end with. -1, which OFIQ gives where it has none, is NaN.
    """
    rows = list(csv.reader(read_text(path).removeprefix("\ufeff").splitlines(), delimiter=";"))
    header = [name.strip() for name in rows[0]]
    measures = [name.removesuffix(_SCORE) for name in header if name.endswith(_SCORE)]
    asked = [name.removesuffix(_SCORE) for name in columns] or ["UnifiedQualityScore"]
    for name in asked:
        if name not in measures:
            raise ValueError(
                f"{path}: OFIQ gives no {brief(name)}: it has {', '.join(measures)}"
                + did_you_mean(name, measures)
            )
    at = {_eval.compared_name(name): name for name in known}
    names: list[str] = []
    values: dict[str, list[float]] = {name: [] for name in asked}
    places = {name: header.index(name + _SCORE) for name in asked}
    found = 0
    for number, row in enumerate(rows[1:], 2):
        if not row:
            continue
        if len(row) < max(places.values()) + 1:
            raise Error(f"{path}, line {number}: {len(row)} of {len(header)} columns")
        parts = PurePosixPath(row[0].strip().replace("\\", "/")).parts
        ends = ("/".join(parts[k:]) for k in range(len(parts)))
        name = next((at[e] for e in map(_eval.compared_name, ends) if e in at), None)
        found += name is not None
        names.append(name or row[0])
        for measure, place in places.items():
            try:
                value = float(row[place])
            except ValueError:
                text = brief(row[place])
                raise Error(f"{path}, line {number}: {measure}{_SCORE} is {text}") from None
            values[measure].append(value if 0 <= value <= 100 else math.nan)
    if not found:
        first = brief(names[0]) if names else "nothing"
        raise Error(f"{path}: no Filename ends with a name of the run; the first is {first}")
    return {name: (names, column) for name, column in values.items()}


MEASURE = "ofiq"


def measure(run, names, columns) -> dict[str, tuple[list[str], list[float]]]:
    """{measure: (names, values)} as `read` has them, computed by the package python-ofiq of the
    photographs of a run, where they lie as then. An image without a face is NaN."""
    from facebench import images  # needs OpenCV

    folder = read_run(run, False)["circumstance"].get("images")
    if not folder or not os.path.isdir(folder):
        raise Error(
            f"{run}: its photographs are not there ({folder or 'the run does not name them'}); "
            "OFIQ looks at photographs, not at crops. Give its file by csv (--csv)"
        )
    try:
        ofiq = importlib.import_module("ofiq")
    except ImportError:
        raise ImportError(
            "the measure 'ofiq' needs python-ofiq: pip install python-ofiq, then python-ofiq setup "
            "for its models; or give the file of OFIQ's sample program by csv (--csv)"
        ) from None
    asked = [name.removesuffix(_SCORE) for name in columns] or ["UnifiedQualityScore"]
    engine = ofiq.OFIQ()
    values: dict[str, list[float]] = {name: [] for name in asked}
    for name in names:
        try:
            found = engine.vector_quality(images.read(Path(folder) / name))
        except (ofiq.OFIQError, Error):  # no face, or no image
            found = dict.fromkeys(asked, math.nan)
        for one in asked:
            if one not in found:
                raise ValueError(
                    f"OFIQ gives no {brief(one)}: it has {', '.join(found)}"
                    + did_you_mean(one, list(found))
                )
            values[one].append(found[one] if 0 <= found[one] <= 100 else math.nan)
    if not any(math.isfinite(v) for column in values.values() for v in column):
        raise Error(f"{folder}: OFIQ finds a face in none of {len(names)} photographs")
    return {name: (list(names), column) for name, column in values.items()}
