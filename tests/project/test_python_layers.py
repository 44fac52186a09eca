"""The rooms of the Python half: a module imports its own room and lower ones, nothing else.

An import within a function is an import; so is what importlib loads by a name that stands there.
"""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# What everything stands on: the compiled modules, torch, and what must be set before they load.
GROUND = {
    *("_one_package", "_eval", "_full", "_threads", "_library", "_torch"),
    "__version__",  # of the package
}
# Modules and packages of python/facebench, lowest first.
ROOMS = [
    *("core", "io", "metrics", "backends", "protocols", "analysis", "_onnx"),
    *("images", "_frte", "detection", "crops", "datasets", "nn", "losses", "embedding", "training"),
    *("reports", "plots", "pipeline", "verbs", "cli"),
    *("lab", "lab.claims", "lab.engines", "lab.timing", "lab.planning", "lab.diagnosis"),
    *("lab.studies", "lab.verbs"),
    "torchmetrics",  # metrics for that package, which needs torch
    *("claims", "studies", "timing"),  # short names of rooms of lab
]
# Neither torch nor OpenCV is needed for these.
LIGHT = ["core", "io", "metrics", "backends", "protocols", "analysis", "reports"]


def imported(path: Path, base: Path) -> set[str]:
    """The modules and names of facebench that a file imports, at load time or later."""
    package = ["facebench", *path.relative_to(base).parent.parts]
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            names |= {f"{module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Call) and node.args:
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            (first, *_) = node.args
            if called in ("import_module", "__import__") and isinstance(first, ast.Constant):
                names.add(str(first.value))
    return names


def room(path: Path, base: Path) -> str:
    inside = path.relative_to(base).parts
    if inside[0] == "lab" and len(inside) > 2:
        return f"lab.{inside[1]}"
    return inside[0].removesuffix(".py")


def room_of(name: str) -> str:
    """The room of what is imported, "" where it is none of facebench."""
    first, *rest = name.split(".")
    if first != "facebench" or not rest:
        return ""
    return ".".join(rest[:2]) if rest[0] == "lab" and len(rest) > 1 else rest[0]


def sources(base: Path) -> list[Path]:
    return [p for p in sorted(base.rglob("*.py")) if p.parent != base or not p.stem.startswith("_")]


def offences(base: Path) -> set[str]:
    """ "FILE imports ROOM" for each room that lies above the file's own, or is not known."""
    wrong = set()
    for path in sources(base):
        own = room(path, base)
        for name in imported(path, base):
            other = room_of(name)
            if not other or other in GROUND:
                continue
            known = own in ROOMS and other in ROOMS
            if not known or ROOMS.index(other) > ROOMS.index(own):
                wrong.add(f"{path.relative_to(base)} imports {other}")
    return wrong


def test_every_module_imports_its_own_room_and_lower_ones():
    assert offences(ROOT / "python/facebench") == set()


def test_every_room_is_known():
    base = ROOT / "python/facebench"
    there = {room(p, base) for p in sources(base)}
    assert there == set(ROOMS)


def test_the_check_sees_what_is_wrong(tmp_path):
    planted = {
        "core/_rows.py": "import json\nfrom facebench import _eval\n",
        "io/_toml.py": "import facebench.cli.app\nfrom facebench.studies import study\n",
        "io/lazy.py": "def read():\n    from facebench import protocols\n    return protocols\n",
        "io/named.py": "from importlib import import_module\n"
        'def read():\n    return import_module("facebench.nn")\n',
        "io/relative.py": "from .. import plots\nfrom . import _toml\n",
        "cli/verbs/run.py": "from facebench.lab import studies\nfrom ...core import _rows\n",
        "lab/timing/step.py": "from facebench.lab import claims, studies\n",
        "nowhere.py": "from facebench import core\n",
        "verbs/_light.py": "if True:\n    import facebench.cli.common as common\n",
    }
    for name, text in planted.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert offences(tmp_path) == {
        "io/_toml.py imports cli",
        "io/_toml.py imports studies",
        "io/lazy.py imports protocols",
        "io/named.py imports nn",
        "io/relative.py imports plots",
        "cli/verbs/run.py imports lab.studies",
        "lab/timing/step.py imports lab.studies",
        "nowhere.py imports core",
        "verbs/_light.py imports cli",
    }


def test_light_modules_do_not_import_torch():
    base = ROOT / "python/facebench"
    wrong = []
    for path in (p for p in sources(base) if room(p, base) in LIGHT):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            wrong += [
                f"{path.relative_to(base)} imports {n}"
                for n in names
                if n.split(".")[0] in {"torch", "cv2"}
            ]
        private = {"facebench._library", "facebench._torch"}
        wrong += [
            f"{path.relative_to(base)} imports {n}"
            for n in imported(path, base)
            if any(n == p or n.startswith(p + ".") for p in private)
        ]
    assert wrong == []


def opened_sessions(base: Path) -> list[str]:
    """ "FILE in FUNCTION" of each use of the name InferenceSession."""
    found = []
    for path in sorted(base.rglob("*.py")):
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, ast.FunctionDef):
                found += [
                    f"{path.relative_to(base)} in {function.name}"
                    for node in ast.walk(function)
                    if "InferenceSession" in (getattr(node, "attr", ""), getattr(node, "id", ""))
                ]
    return found


def test_one_function_opens_sessions_of_onnxruntime():
    assert opened_sessions(ROOT / "python/facebench") == ["_onnx/sessions.py in session"]


def test_who_opens_a_session_of_a_file_of_a_stranger_checks_it():
    """Files of others come in through these two, which call `trial.check_file`."""
    base = ROOT / "python/facebench"
    calling = [p for p in sorted(base.rglob("*.py")) if "sessions.session(" in p.read_text()]
    ours = {"_onnx/trial.py", "embedding/_graph_pixels.py", "embedding/_onnx_comparison.py"}
    ours |= {"lab/engines/onnxruntime_engine.py"}
    strangers = {str(p.relative_to(base)) for p in calling} - ours
    assert strangers == {"embedding/_onnx_embedder.py", "detection/_onnx_detectors.py"}
    assert all("trial.check_file(" in (base / name).read_text() for name in strangers)
