"""The floors: a file includes (imports) its own floor and lower ones, nothing else."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# The floors by door, lowest first.
DOORS = {
    "eval": [
        "core",
        "io",
        "guard",
        "metrics",
        "backends",
        "trials",
        "lists",
        "evaluation",
        "runs",
        "analysis",
    ],
    "vision": [
        "archives",
        "images",
        "detection",
        "crops",
        "datasets",
        "nn",
        "embedding",
        "training",
        "pipeline",
    ],
    "lab": ["claims", "timing", "synthetic"],
}
FLOORS = [floor for floors in DOORS.values() for floor in floors]
TORCH = {"nn", "embedding", "training", "pipeline", "timing", "synthetic"}
# Which floors may include an outside library. A name that is not listed is allowed to none.
LIBRARIES = {
    "fmt/": set(FLOORS),
    "Eigen/": {"core", "backends"},
    "nlohmann/": set(FLOORS) - {"core", "metrics"},
    "toml++/": {"io"},
    "hdf5.h": {"io", "guard"},
    "zlib.h": {"io", "images"},
    "opencv2/": {"images", "detection", "crops", "datasets", "embedding", "pipeline", "synthetic"},
    "jpeglib.h": {"images"},
    "webp/": {"images"},
    "png.h": {"images"},
    "dlib/": {"detection"},
    "torch/": TORCH,
    "ATen/": TORCH,
    "c10/": TORCH,
}
# Not public, and used above their floor all the same. Vectors have internal linkage and ask for a
# set of instructions: the kernels of every floor are made of them, and chosen in one way. The list
# of torch's operations serves every floor that has torch. Archives are unfolded as lists of pairs
# are, and TIFF files unpacked as MAT files. What io asks of its guard is declared in io. Files of
# scores are read as lists are, and a track's parts measured where they are scored. A calibration is
# made of the ROC's hull. The lab asks runs as reports do.
SHARED = {
    f"facebench/{floor}/internal/{name}.h"
    for floor, names in {
        "core": "kernel_choice vectors",
        "io": "confined_child hdf5_library hdf5_source inflate memory_number packed unfold",
        "metrics": "measures",
        "trials": "columns tail_of_pairs tail_shards trial_parts",
        "lists": "bee_matrix class_words file_listing list_file pair_collector",
        "analysis": "counted_list shortened",
        "nn": "aten",
    }.items()
    for name in names.split()
}
# What public headers may include from outside: what they cost, everybody who uses the library pays.
# Options are described in sources (core/options_fwd.h), tensors are declared without operations.
OF_PUBLIC_HEADERS = {
    *("array", "atomic", "cmath", "concepts", "condition_variable", "cstddef", "cstdint"),
    *("exception", "filesystem", "functional", "initializer_list", "limits", "map", "memory"),
    *("mutex", "optional", "set", "span", "stdexcept", "string", "string_view", "system_error"),
    *("thread", "type_traits", "unordered_map", "utility", "variant", "vector"),
    *("ATen/core/Tensor.h", "c10/core/Device.h"),
}
# The one place of a costly header.
COSTLY = {
    "Eigen/Core": ["core/matrix.h"],
    "nlohmann/json.hpp": ["io/json.h"],
    "torch/csrc/distributed/c10d/ProcessGroup.hpp": ["training/process_group.h"],
    "facebench/core/options.h": ["io/json.h", "io/toml.h"],
}
# In one file only, so that replacing the library means replacing the file.
ONE_FILE = {
    "dlib/": 1,
    "jpeglib.h": 2,
    "webp/": 1,
    "png.h": 2,
    "hdf5.h": 2,
    "zlib.h": 4,
    "lzma.h": 1,
    "toml++/": 2,
}


def includes(path: Path) -> list[str]:
    return re.findall(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', path.read_text(), re.MULTILINE)


def all_cpp(root: Path = ROOT) -> list[tuple[str, Path]]:
    """Every C++ file, cpp/DOOR/facebench/FLOOR/..., with its floor; FLOOR as DOOR/FLOOR where the
    floor is not of that door."""
    files = []
    for path in sorted((root / "cpp").rglob("*")):
        if path.suffix in {".h", ".cc", ".cu"}:
            door, _, floor = path.relative_to(root / "cpp").parts[:3]
            files.append((floor if floor in DOORS.get(door, []) else f"{door}/{floor}", path))
    return files


def included_as(path: Path) -> str:
    """facebench/FLOOR/x.h"""
    return path.as_posix().split("/cpp/")[1].partition("/")[2]


def is_public(include: str) -> bool:
    """Whether a header lies in its floor's folder; what lies deeper is internal."""
    return include.count("/") == 2


def headers() -> list[tuple[str, Path]]:
    return [(f, p) for f, p in all_cpp() if p.suffix == ".h" and is_public(included_as(p))]


def test_public_headers_include_what_is_cheap():
    for _, path in headers():
        name = included_as(path).removeprefix("facebench/")
        for include in includes(path):
            if include in COSTLY:
                assert name in COSTLY[include], f"{name} includes {include}"
            elif not include.startswith("facebench/"):
                assert include in OF_PUBLIC_HEADERS, f"{name} includes {include}"


def test_the_floors_are_those_of_the_build():
    text = (ROOT / "cpp/cmake/Floors.cmake").read_text()
    sets = dict(re.findall(r"set\(FACEBENCH_(EVAL|TORCH|VISION|LAB)_FLOORS ([^)]+)\)", text))
    vision = sets["VISION"].replace("${FACEBENCH_TORCH_FLOORS}", sets["TORCH"])
    assert [sets["EVAL"].split(), vision.split(), sets["LAB"].split()] == list(DOORS.values())


def test_every_cpp_file_lies_on_a_floor():
    assert all_cpp()
    assert [str(p) for floor, p in all_cpp() if floor not in FLOORS] == []


def wrong_includes(floor: str, path: Path, root: Path = ROOT) -> list[str]:
    """The includes of a file of `floor` that reach a higher floor, or an internal header of another
    floor or from a public header."""
    public = path.suffix == ".h" and "/cpp/" in path.as_posix() and is_public(included_as(path))
    wrong = []
    for include in includes(path):
        first, _, rest = include.partition("/")
        if first != "facebench":
            continue
        other = rest.partition("/")[0]
        above = other not in FLOORS or FLOORS.index(other) > FLOORS.index(floor)
        internal = not is_public(include) and include not in SHARED
        if above or (internal and (public or other != floor)):
            wrong.append(f"{path.relative_to(root)} includes {include}")
    return wrong


def layer_violations(root: Path) -> list[str]:
    return [w for floor, path in all_cpp(root) for w in wrong_includes(floor, path, root)]


def test_files_include_their_own_floor_and_public_headers_of_lower_ones():
    assert layer_violations(ROOT) == []


def test_the_check_sees_what_is_wrong(tmp_path):
    planted = {
        "cpp/eval/facebench/core/error.h": "#pragma once\n",
        "cpp/eval/facebench/core/low.cc": '#include "facebench/pipeline/run.h"\n'
        '#include "facebench/nowhere/x.h"\n',
        "cpp/lab/facebench/timing/bench.cc": '#include "facebench/training/learner.h"\n'
        '  #  include "facebench/training/internal/own.h"\n',
        "cpp/vision/facebench/pipeline/run.cc": '#include "facebench/timing/series.h"\n',
        "cpp/vision/facebench/training/internal/own.h": '#include "facebench/core/error.h"\n',
        "cpp/vision/facebench/training/learner.h": '#include "facebench/training/internal/own.h"\n',
        "cpp/vision/facebench/training/own.cc": '#include "facebench/training/internal/own.h"\n'
        "#include <vector>\n",
    }
    for name, text in planted.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert layer_violations(tmp_path) == [
        "cpp/eval/facebench/core/low.cc includes facebench/pipeline/run.h",
        "cpp/eval/facebench/core/low.cc includes facebench/nowhere/x.h",
        "cpp/lab/facebench/timing/bench.cc includes facebench/training/internal/own.h",
        "cpp/vision/facebench/pipeline/run.cc includes facebench/timing/series.h",
        "cpp/vision/facebench/training/learner.h includes facebench/training/internal/own.h",
    ]


def includers(root: Path = ROOT) -> dict[str, set[str]]:
    """What each file includes of ours, a source and its header being one file."""
    found: dict[str, set[str]] = {}
    for _, path in all_cpp(root):
        own = included_as(path).rpartition(".")[0]
        ours = {i.rpartition(".")[0] for i in includes(path) if i.startswith("facebench/")}
        found.setdefault(own, set()).update(ours - {own})
    return found


def knots(graph: dict[str, set[str]]) -> list[set[str]]:
    """Files each of which includes all others of its knot, over however many steps."""
    reached: dict[str, set[str]] = {}
    for start in graph:
        seen, todo = set(), [start]
        while todo:
            for other in graph.get(todo.pop(), set()) - seen:
                seen.add(other)
                todo.append(other)
        reached[start] = seen
    found = {frozenset(b for b in reached[a] if a in reached.get(b, set())) for a in graph}
    return sorted((set(k) for k in found if len(k) > 1), key=sorted)


def test_a_circle_of_files_has_three_at_most():
    """What a registry lists includes the registry's header, so these may be more."""
    registries = {"facebench/detection/detector"}
    large = [sorted(k) for k in knots(includers()) if len(k) > 3 and not k & registries]
    assert large == []


def test_a_circle_is_seen_through_a_source(tmp_path):
    base = tmp_path / "cpp/eval/facebench/io"
    base.mkdir(parents=True)
    for name, included in {"a": "b", "b": "c", "c": "d", "d": "a"}.items():
        (base / f"{name}.h").write_text("#pragma once\n")
        (base / f"{name}.cc").write_text(f'#include "facebench/io/{included}.h"\n')
    assert knots(includers(tmp_path)) == [{f"facebench/io/{n}" for n in "abcd"}]


def test_outside_libraries_are_included_where_they_may_be():
    wrong = []
    for floor, path in all_cpp():
        for include in includes(path):
            for library, allowed in LIBRARIES.items():
                if include.startswith(library) and floor not in allowed:
                    wrong.append(f"{path.relative_to(ROOT)} includes {include}")
    assert wrong == []


@pytest.mark.parametrize("library", sorted(ONE_FILE))
def test_replaceable_libraries_stay_in_few_files(library):
    users = {
        str(p.relative_to(ROOT))
        for _, p in all_cpp()
        if any(i.startswith(library) for i in includes(p))
    }
    assert len(users) <= ONE_FILE[library], sorted(users)


def test_public_headers_do_not_pull_in_heavy_libraries():
    heavy = ("torch/torch.h", "torch/extension.h", "opencv2/", "dlib/", "hdf5.h", "toml++/", "fmt/")
    wrong = [
        f"{p.relative_to(ROOT)} includes {i}"
        for _, p in headers()
        for i in includes(p)
        if i.startswith(heavy)
    ]
    assert wrong == []


def is_header_only(text: str) -> bool:
    """Declares nothing that a source would have to define."""
    code = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    code = re.sub(r"=\s*(default|delete|0)\s*;", "{}", code)
    # A function declared and not defined: `name(...) qualifiers ;` that is not a macro or cast.
    depth_free = re.sub(r"\{[^{}]*\}", "{}", code)
    while (again := re.sub(r"\{[^{}]*\}", "{}", depth_free)) != depth_free:
        depth_free = again
    found = re.findall(r"([^;{}]*)\b\w+\([^;{}]*\)\s*(?:const)?\s*(?:noexcept)?\s*;", depth_free)
    # What is assigned or returned is a call within a function.
    return all(re.search(r"=|\breturn\b", before) for before in found)


def test_every_header_has_its_source_or_is_header_only():
    wrong = []
    for _, path in headers():
        base = path
        if any(base.with_suffix(s).exists() for s in (".cc", ".cu")):
            continue
        # A header may be answered by several sources in a folder of its name.
        if base.with_suffix("").is_dir() or (path.parent / "internal" / f"{path.stem}.cc").exists():
            continue
        if not is_header_only(path.read_text()):
            wrong.append(str(path.relative_to(ROOT)))
    assert wrong == []


def test_every_public_header_carries_comments():
    wrong = [
        str(p.relative_to(ROOT))
        for _, p in headers()
        if len(re.findall(r"^\s*//", p.read_text(), re.MULTILINE)) < 2
    ]
    assert wrong == []


def test_headers_guard_by_pragma_once_and_use_one_namespace():
    wrong = []
    for _, path in headers():
        text = path.read_text()
        if not text.startswith("#pragma once"):
            wrong.append(f"{path.relative_to(ROOT)}: does not start with #pragma once")
        for name in re.findall(r"^namespace (\S+) \{", text, re.MULTILINE):
            if name != "facebench":
                wrong.append(f"{path.relative_to(ROOT)}: namespace {name}")
    assert wrong == []


def test_files_can_be_read_in_a_sitting():
    long = [
        f"{p.relative_to(ROOT)}: {n} lines"
        for p in [
            *(p for _, p in all_cpp()),
            *(p for p in (ROOT / "bindings").rglob("*") if p.is_file()),
            *(ROOT / "python").rglob("*.py"),
        ]
        if (n := p.read_text().count("\n")) > 700
    ]
    assert long == []


def test_bindings_hold_the_floor_of_their_name():
    # Beside the floors: the two modules and the helpers. DOOR/FLOOR.cc, and DOOR/FLOOR/*.cc of a
    # large one.
    base = ROOT / "bindings"
    allowed = {"eval_module", "full_module", "finish_module"}
    allowed |= {"common", "arrays", "modules", "result_class", "text_signature", "without_gil"}
    wrong = []
    for path in base.rglob("*.cc"):
        parts = path.relative_to(base).with_suffix("").parts
        if parts[0] in allowed:
            continue
        floor = {"losses": "nn"}.get(parts[1], parts[1])
        if floor not in DOORS.get(parts[0], []):
            wrong.append(f"{path.relative_to(base)}: no floor of that name")
        else:
            wrong += wrong_includes(floor, path)
    assert wrong == []


def test_calls_without_the_gil_are_counted():
    """By WithoutGil, which ends them before the process does."""
    sources = [*(ROOT / "bindings").rglob("*.cc"), *(ROOT / "bindings").rglob("*.h")]
    naming = {p.stem for p in sources if "gil_scoped_release" in p.read_text()}
    assert naming == {"without_gil"}


def test_nothing_names_the_machine_it_was_written_on():
    places = [r"/ro" + r"ot/", r"/ho" + r"me/\w+/", r"/tm" + r"p/w/", r"/wo" + r"rk/"]
    wrong = []
    for folder in (
        "cpp",
        "bindings",
        "python",
        "protocols",
        "docs",
        "examples",
        "tests",
        "scripts",
    ):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in {".h", ".cc", ".cu", ".py", ".toml", ".md", ".sh", ".cmake", ".txt"}:
                text = path.read_text(errors="replace")
                wrong += [f"{path.relative_to(ROOT)}: {p}" for p in places if re.search(p, text)]
    assert wrong == []


# What reads or writes numbers and letters by the locale of the process, or has no bound.
BY_LOCALE = re.compile(
    r"\b(std::)?(stod|stof|stold|stoi|stol|stoll|stoul|stoull)\("
    r"|\b(atof|atoi|atol|strtod|strtof|strtold|strtol|strtoll|strtoul|strtoull|sscanf|setlocale)\("
    r"|\b(tolower|toupper|isspace|isdigit|isalpha|isalnum|isprint|ispunct)\("
)


def test_numbers_and_letters_do_not_follow_the_locale():
    """core/numbers.h and std::from_chars instead; a decimal comma once made 0.0 of every score."""
    files = [p for p in (ROOT / "bindings").rglob("*") if p.suffix in {".h", ".cc"}]
    files += [p for _, p in all_cpp()]
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in files
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if BY_LOCALE.search(line.split("//")[0])
    ]
    assert not found, found


def test_only_one_header_includes_the_json_library():
    """There an absent key of a constant object is an error; elsewhere undefined behaviour."""
    base = ROOT / "cpp"
    files = [p for p in base.rglob("*") if p.suffix in {".h", ".cc", ".cu"}]
    files += list((ROOT / "bindings").rglob("*.cc")) + list((ROOT / "bindings").rglob("*.h"))
    users = [p for p in files if any(i.startswith("nlohmann/") for i in includes(p))]
    assert users == [base / "eval/facebench/io/json.h"]


PUBLIC = (
    "core io metrics protocols analysis reports images detection crops datasets nn losses embedding"
)
PUBLIC += " training pipeline claims timing studies lab.diagnosis lab.planning plots"


@pytest.mark.parametrize("module", PUBLIC.split())
def test_a_public_module_has_at_most_40_names(module):
    names = importlib.import_module(f"facebench.{module}").__all__
    assert len(names) <= 40
    assert len(set(names)) == len(names)
