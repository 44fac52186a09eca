"""Studies that are shorter to say than to write down: models under protocols, training sets,
factors of two recipes. Each function here writes a `Study`."""

import hashlib
import json
import os
from pathlib import Path

from facebench import analysis
from facebench.core import Error
from facebench.core._arguments import mapping, of_kind
from facebench.core._files import read_json, write_text
from facebench.core._inside import below
from facebench.io import canonical_json
from facebench.io._toml import check_keys, check_kinds, read_toml
from facebench.lab.studies.cells import reasons
from facebench.lab.studies.description import Study, Table, same_slugs, slug
from facebench.lab.studies.plan import DRAWN_PROTOCOLS, python_name
from facebench.lab.studies.whole import StudyResult, as_written, make_study, read_before
from facebench.protocols import EvaluationOptions, load_protocol
from facebench.protocols._evaluate import BACKEND_OPTIONS

# What a model may say of its own images; keywords of `facebench.run`.
MODEL_SETTINGS = (
    *("detector", "detector_options", "selection", "crop", "crop_size", "mean", "std", "color"),
    *("flip", "normalization", "micro_batch", "precision", "device", "executor"),
    *("output", "providers", *BACKEND_OPTIONS),
)
# What a set may say of its images; its detector takes the place of a model's.
SET_SETTINGS = ("root", "images", "lists", "detector", "detector_options", "selection",
                "exif_orientation", "max_pixels")  # fmt: skip
# What a model costs, and its headings.
COSTS = {"images_per_second": "images a second", "parameters": "parameters",
         "macs": "multiply-adds", "memory_bytes": "memory"}  # fmt: skip
_COST_NOTE = (
    "Cost: of embedding alone, crops given. Multiply-adds: of convolutions and matrix products for "
    "one image, without mirroring. Memory: by how much the process grew."
)
_GENERAL = ("title", "replicates", "seed", "level")

_BACKEND_KINDS = {"backend train normalise cohort": str, "allow_overlap": bool}


# --- models under protocols -------------------------------------------------------------------


def suite(
    description=None,
    *,
    models=None,
    sets=None,
    add=None,
    name="",
    out,
    cost=True,
    device="cpu",
    **how,
) -> StudyResult:
    """Every model under every protocol: a study of rows that are models, columns that are sets.

    ``description``: a TOML file with models and sets (docs/studies.md); or ``models`` (a list of
    what `facebench.run` takes or of texts ``NAME=FILE``, or a dict with their names) and ``sets``
    (a dict {protocol: folder}, or texts ``PROTOCOL=FOLDER``; several protocols of one folder have
    commas between). ``add``: a run folder from elsewhere, called ``name``, that is to stand in the
    tables of ``out``, too;
    `facebench.Error` says why where it is not comparable. What was added stays when the suite is
    run again. ``cost``: measure what each model costs. ``device``: of models that do not say
    another (cpu, cuda, cuda:N). ``how``: jobs, executor, threads, command,
    progress, say of `facebench.study`.

    >>> import pathlib, tempfile, facebench
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> few = facebench.datasets.SyntheticOptions(people=40, images=2, size=64, pairs_per_fold=4)
    >>> _ = facebench.datasets.write_synthetic_dataset(few, folder / "faces")
    >>> def colours(batch):
    ...     return batch[:, ::16, ::16].reshape(len(batch), -1)
    >>> found = facebench.suite(
    ...     models={"colours": colours}, sets={"lfw": folder / "faces"}, out=folder / "suite",
    ...     cost=False)
    >>> [row["name"] for row in found["suite"]["rows"]]
    ['colours']
    """
    out = Path(out)
    kinds = None
    if add is not None:
        kinds = ("copy",)  # what the folder names as models and sets is not run from there
        if description is not None or models is not None or sets is not None:
            raise ValueError("add= puts one run into a suite; give nothing else to run")
        described = _with_run(out, Path(add), name)
    else:
        described = suite_study(description, models, sets, cost)
        if device != "cpu":
            for row in described.tables[0].rows:
                row["prepare"] = {"device": device} | row["prepare"]
        described.tables[0].rows += _added(out)
    result = make_study(described, kinds, out=out, device=device, **how)
    content = vars(described) | {"tables": [vars(table) for table in described.tables]}
    # Of a model that is a Python object its name is kept.
    write_text(out / "suite.json", json.dumps(content, indent=1, default=_plain) + "\n")
    return result


def _plain(value):
    return os.fspath(value) if isinstance(value, os.PathLike) else python_name(value)


def suite_study(description=None, models=None, sets=None, cost=True) -> Study:
    """The study of `suite`.

    >>> from facebench.lab.studies import suite_study
    >>> suite_study(models={"raw": "mine:embed"}, sets=["lfw,lfw_view1=LFW"]).tables[0].columns[1]
    {'protocol': 'lfw_view1', 'name': 'lfw_view1', 'data': {'root': 'LFW'}}
    """
    general: dict = {}
    if description is not None:
        if models is not None or sets is not None:
            raise ValueError("give a description, or models and sets; not both")
        rows, columns, general = _read_suite(Path(description))
    elif models is None or sets is None:
        raise ValueError("give a suite's TOML file, or models and sets")
    else:
        of_kind(models, (dict, list, tuple), "models")
        pairs = models.items() if isinstance(models, dict) else map(_named, models)
        rows = _told_apart([{"name": n, "model": m, "prepare": {}} for n, m in pairs])
        for row in rows:
            of_kind(row["name"], str, "models: a name")
        if len({row["name"] for row in rows}) < len(models):
            raise ValueError("two models have one name; name them: NAME=FILE, or a dict")
        columns = _columns_of(sets)
    kind, where = (ValueError, "") if description is None else (Error, f"{description}: ")
    for what, things in (("models", rows), ("sets", columns)):
        same = same_slugs([thing["name"] for thing in things])
        if same:
            raise kind(f"{where}two {what} are called {same}")
    if not rows or not columns:
        raise kind(f"{where}a suite needs a model and a set")
    columns += [{"cost": name, "title": title} for name, title in COSTS.items()] if cost else []
    table = Table("suite", "Models by sets", rows, columns, order=True, plot={"cost": cost})
    table.notes = [_COST_NOTE] if cost else []
    title = general.pop("title", "Suite")
    return Study("suite", title, [table], **general)


def _named(model):
    """(name, model) of a model, or of a text ``NAME=FILE``."""
    name, equals, rest = model.partition("=") if isinstance(model, str) else ("", "", "")
    return (name, rest) if equals and name and rest else (None, model)


def _told_apart(rows):
    """Rows with a name for each that has None: its model's, of several alike with the settings and
    the folders in which they differ.

    >>> from facebench.lab.studies.shorter import _told_apart
    >>> files = [{"name": None, "model": f"{run}/face.onnx", "prepare": {}} for run in "ab"]
    >>> [row["name"] for row in _told_apart(files)]
    ['a, face', 'b, face']
    """
    alike: dict[str, list] = {}
    for row in rows:
        if row["name"] is None:
            alike.setdefault(model_name(row["model"]), []).append(row)
    for name, several in alike.items():
        keys = dict.fromkeys(key for row in several for key in row["prepare"])
        telling = [k for k in keys if len({str(r["prepare"].get(k)) for r in several}) > 1]
        folders = [_folders(row["model"]) for row in several]
        stems = [Path(r["model"]).stem if f else "" for r, f in zip(several, folders, strict=True)]
        for row, folder, stem in zip(several, folders, stems, strict=True):
            others = [f for f in folders if f is not folder and f != folder]
            own = [part for k, part in enumerate(folder) if any(f[k : k + 1] != folder[k : k + 1]
                   for f in others)]  # fmt: skip
            said = [stem] * (len(set(stems)) > 1 and bool(stem))  # model and best of one training
            said += [str(row["prepare"][k]) for k in telling if k in row["prepare"]]
            row["name"] = ", ".join(
                ["/".join(reversed(own)), name, *said] if own else [name, *said]
            )
    return rows


def _folders(model):
    """The folders of a model's file, the nearest first; none of what is not a file."""
    is_file = isinstance(model, (str, os.PathLike)) and ":" not in os.fspath(model)
    return [p for p in Path(model).parent.parts[::-1] if p != "/"] if is_file else []


def model_name(model) -> str:
    """How a model is called that was given without a name: one of a training as its folder.

    >>> from facebench.lab.studies.shorter import model_name
    >>> [model_name(m) for m in ("nets/face.onnx", "mine:embed", "runs/a/best.safetensors")]
    ['face', 'mine:embed', 'a']
    """
    if isinstance(model, (str, os.PathLike)):
        text, path = os.fspath(model), Path(model)
        if ":" in text:
            return text
        of_training = path.stem in ("model", "best") and path.parent.name
        return path.parent.name if of_training else path.stem
    return getattr(model, "__name__", type(model).__name__)


def _columns_of(columns_given):
    """Columns from ``{"lfw": "LFW"}`` or from texts ``PROTOCOL,PROTOCOL=FOLDER``. Capitals do not
    matter."""
    columns = []
    of_kind(columns_given, (dict, list, tuple), "sets")
    if isinstance(columns_given, dict):
        columns_given = [f"{name}={folder}" for name, folder in columns_given.items()]
    for one in columns_given:
        protocols, equals, root = of_kind(one, str, "sets: one of them").partition("=")
        if not equals or not root:
            raise ValueError(f"'{one}' is not of the form PROTOCOL=FOLDER")
        for protocol in protocols.split(","):
            if not protocol.endswith(".toml"):
                protocol = protocol.lower()
                load_protocol(protocol)  # did you mean
            named = {"protocol": protocol, "name": Path(protocol).stem}
            columns.append(named | {"data": {"root": root}})
    return columns


def _read_suite(path):
    """Rows, columns and general words of a suite's TOML file; paths are below its folder."""
    suite, here = read_toml(path), path.parent
    check_keys(path, "the file", suite, (*_GENERAL, "models", "sets"))
    numbers = {"replicates seed": int, "level": float}
    check_kinds(path, "the file", suite, {"title": str, **numbers})
    rows, columns = [], []
    for table in _tables(path, suite, "models"):
        check_keys(path, "[[models]]", table, ("name", "model", *MODEL_SETTINGS))
        check_kinds(path, "[[models]]", table, {"name": str} | _BACKEND_KINDS)
        model = table.get("model")
        if not isinstance(model, str):
            raise Error(f"{path}: [[models]] needs model = a file, or 'module:function'")
        settings = _placed(here, {k: v for k, v in table.items() if k in MODEL_SETTINGS})
        place = str(here / model) if model.endswith((".onnx", ".safetensors")) else model
        named = {"name": table.get("name") or None, "model": place}
        rows.append(named | {"prepare": settings})
    _told_apart(rows)
    evaluation = [f["name"] for f in EvaluationOptions.fields()]
    of_the_column = ("name", "protocol", "track", "metric")
    for table in _tables(path, suite, "sets"):
        check_keys(path, "[[sets]]", table, (*of_the_column, *SET_SETTINGS, *evaluation))
        check_kinds(
            path, "[[sets]]", table, {"name track metric root images lists": str} | _BACKEND_KINDS
        )
        data = {k: v for k, v in table.items() if k not in of_the_column}
        data = _placed(here, data)
        asked, name = table.get("protocol"), table.get("name")
        several = asked if isinstance(asked, list) else [asked]
        if not several or not all(isinstance(p, str) and p for p in several):
            raise Error(
                f"{path}: [[sets]] needs protocol = a name, a .toml file, or a list of them"
            )
        for protocol in several:
            title = Path(protocol).stem
            title = f"{name}, {title}" if name and len(several) > 1 else name or title
            place = str(here / protocol) if protocol.endswith(".toml") else protocol
            number = {k: table[k] for k in ("track", "metric") if k in table}
            columns.append({"protocol": place, "name": title, "data": data} | number)
    return rows, columns, {k: suite[k] for k in _GENERAL if k in suite}


def _placed(here, settings):
    """The settings with their files and folders below ``here``."""
    places = [k for k in ("root", "images", "lists", "train", "cohort") if k in settings]
    if str(settings.get("backend", "")).endswith(".backend"):
        places.append("backend")
    return settings | {k: str(here / settings[k]) for k in places}


def _tables(path, suite, name):
    tables = suite.get(name, [])
    if not isinstance(tables, list) or not all(isinstance(t, dict) for t in tables):
        raise Error(f"{path}: '{name}' is not a list of tables; each begins with [[{name}]]")
    return tables


def _before(out):
    """The study that a suite's folder holds; a new one where it holds none."""
    path = out / "suite.json"
    if read_before(out) is None or not path.is_file():
        return Study("suite", "Suite", [Table("suite", "Models by sets", [], [], order=True)])
    try:
        content = read_json(path)
        numbers = [content[name] for name in ("replicates", "seed", "level")]
        if not as_written(content) or not all(isinstance(n, int | float) for n in numbers):
            raise ValueError(path)
        described = Study(**content | {"tables": [Table(**t) for t in content["tables"]]})
        _check_added(path, described.tables[0].rows)
        return described
    except (Error, ValueError, TypeError, KeyError, IndexError):
        raise Error(f"{path}: is not what facebench suite writes; remove it") from None


def _added(out):
    """The rows of a suite that were added from elsewhere."""
    return [row for row in _before(out).tables[0].rows if "run" in row]


def _check_added(path, rows):
    """facebench.Error for a row of a run from elsewhere that says anything but where it is from."""
    for row in rows:
        if "run" not in row:
            continue
        texts = [row.get("name"), *row["run"].values()] if isinstance(row["run"], dict) else []
        known = {*row} == {"name", "run"} and {*row["run"]} == {"folder", "column", "sha256"}
        if not known or not all(isinstance(text, str) for text in texts):
            raise Error(f"{path}: a row is not what facebench suite writes; remove it")


def _with_run(out, run, name):
    """The study of a suite's folder and a row for a run folder, if it may stand beside others."""
    described, added = _before(out), analysis.read_run(run)
    protocol, name = added["metrics"]["protocol"]["id"], name or run.resolve().name
    table, refused = described.tables[0], ""
    if slug(name) in [slug(row["name"]) for row in table.rows]:
        raise Error(f"{out}: the suite has a model '{name}' already; give another name")
    before, column = read_before(out), None
    shown = before["content"]["tables"][0] if before else {"columns": [], "rows": []}
    for number, described_column in enumerate(shown["columns"]):
        if described_column.get("protocol") != protocol:
            continue
        first = next((r for r in shown["rows"] if r["cells"][number].get("run")), None)
        differences = []
        if first:
            there = below(out, first["cells"][number]["run"], out / "study.json")
            differences = analysis.why_not_comparable(there, run)
        if first is None or not differences:
            column = described_column["name"]
            break
        refused = refused or (
            f"{run}: cannot be compared with {first['name']} in {described_column['name']}: "
            f"{reasons(differences)}"
        )
    if refused and column is None:
        raise Error(refused)
    if column is None:  # the first run under it
        column = protocol
        table.columns.insert(0, {"protocol": protocol, "name": protocol, "data": {}})
    sha256 = hashlib.sha256(canonical_json(added["content"]).encode()).hexdigest()
    source = {"folder": os.path.abspath(run), "column": column, "sha256": sha256}
    table.rows.append({"name": name, "run": source})
    return described


# --- training sets ----------------------------------------------------------------------------

# Where no packs are given: as many images each in breadth and in depth, and a small set.
DRAWN_SETS = {
    "broad": {"people": 60, "images": 5},
    "deep": {"people": 20, "images": 15},
    "small": {"people": 20, "images": 5},
}
SMALL_RECIPE = "small4.cosface"
SMALL_SETTINGS = {
    **{"network.channel_multiplier": 0.5, "training.iterations": 150, "training.batch": 32},
    **{"loss.s": 30, "loss.m": 0.2},
}


def datasets_study(
    names=(), protocols=(), *, recipe=None, settings=None, seeds=3, remove_overlap=True,
    replicates=200,
) -> Study:  # fmt: skip
    """One network trained by one recipe on several training sets, tested by all protocols.

    ``names``: of training sets (`facebench.study` is given their packs); none: drawn sets that
    differ in breadth and depth. ``remove_overlap``: people who are in a test set are not trained
    on; the lists of who and why lie in the study's folder.

    >>> from facebench.lab.studies import datasets_study
    >>> [row["training_set"] for row in datasets_study(["web", "umd"], ["lfw"]).tables[0].rows]
    ['web', 'umd']
    """
    recipe, recipe_settings = (SMALL_RECIPE, SMALL_SETTINGS) if recipe is None else (recipe, {})
    shared = {
        "recipe": recipe,
        "settings": recipe_settings | mapping(settings, "settings"),
        "seeds": seeds,
    }
    shared["without_test_people"] = remove_overlap
    rows = [shared | {"name": n, "training_set": n} for n in names or DRAWN_SETS]
    counted = [{"result": c} for c in ("people", "images", "people_removed", "images_removed")]
    counted.append({"result": "identifiers", "title": "people called by identifiers: not compared"})
    protocols = list(protocols) or DRAWN_PROTOCOLS
    options = {"replicates": replicates}
    columns = [{"protocol": p, "metric": "*", "options": options} for p in protocols]
    note = (
        f"One network and one recipe, {seeds} seeds for each training set; each interval (95 %) "
        "says over what it is. "
        + ("People who are in a test set too were not trained on; the lists of who and why lie "
           "below jobs/overlap. People who are called by identifiers are found by a table of names "
           "or by embeddings only." if remove_overlap else
           "People who are in a test set too were not looked for.")
    )  # fmt: skip
    table = Table("sets", "Training sets compared", rows, counted + columns, notes=[note])
    return Study("compare-datasets", "Training sets compared", [table], data=dict(DRAWN_SETS))


# --- factors ----------------------------------------------------------------------------------

# Which keys of a recipe make up a factor, by their beginnings.
FACTORS = {
    "pre-processing": ("input.", "augmentation."),
    "initialisation": ("training.initializer",),
    "last batch": ("training.last_batch",),
    "batch norm": ("training.batch_norm", "network.batch_norm"),
    "network": ("network",),
    "loss": ("loss",),
    "optimizer": ("optimizer.",),
    "schedule": ("schedule.",),
    "other": ("",),
}


def factors_study(
    before="small4_quick.pytorch", after="small4_quick.caffe", protocols=("lfw",), *,
    settings=None, seeds=5, replicates=200,
) -> Study:  # fmt: skip
    """Two recipes and everything between them that differs in one factor: a row for the first, one
    for it with each factor of the second, one for the second; their differences are paired by seed.

    ``before``, ``after``: names or files of recipes. ``settings``: {key: value} that both get.
    ValueError where they do not differ.

    >>> from facebench.lab.studies import factors_study
    >>> [row["name"] for row in factors_study().tables[0].rows]
    ['before', 'pre-processing', 'initialisation', 'last batch', 'after']
    """
    from facebench.lab.studies.work import load_recipe

    settings = mapping(settings, "settings")
    ends = [load_recipe({"recipe": name, "settings": settings, "seed": 0})
            for name in (before, after)]  # fmt: skip
    factors = differing_factors(*ends)
    if not factors:
        raise ValueError("the two recipes do not differ")
    shared = {"training_set": "faces", "seeds": seeds}
    rows = [{"name": "before", "recipe": before, "settings": settings} | shared]
    for name, keys in factors.items():
        changed = settings | _exchanged(ends, keys)
        rows.append({"name": name, "recipe": before, "settings": changed} | shared)
    rows.append({"name": "after", "recipe": after, "settings": settings} | shared)
    a, b = map(_flat, ends)
    notes = [f"{name}: {key} is {a.get(key)} before, {b.get(key)} after"
             for name, keys in factors.items() for key in keys]  # fmt: skip
    options = {"replicates": replicates}
    columns = [{"protocol": p, "metric": "*", "options": options} for p in protocols]
    columns.insert(0, {"result": "loss", "title": "training loss"})
    table = Table("factors", "Factors of a recipe", rows, columns, layout="factors", notes=notes,
                  baseline="before")  # fmt: skip
    data = {"faces": {"people": 40, "images": 10}}
    return Study("factors", f"{ends[0].id} and {ends[1].id}, factor by factor", [table], data=data)


def _flat(recipe):
    """{"table.option": value} of all that decides the result."""
    result: dict = {}
    for table, content in recipe.to_dict().items():
        if isinstance(content, dict):
            result |= {f"{table}.{k}": v for k, v in content.items()}
        else:
            result[table] = content
    return result


def differing_factors(before, after) -> dict[str, list[str]]:
    """{factor: [keys]} of what differs between two recipes, seeds left out.

    >>> from facebench import training
    >>> from facebench.lab.studies.shorter import differing_factors
    >>> a = training.load_recipe("small4.softmax")
    >>> b = training.load_recipe("small4.softmax", lr=0.01, last_batch="wrap")
    >>> differing_factors(a, b)
    {'last batch': ['training.last_batch'], 'optimizer': ['optimizer.lr']}
    """
    a, b = _flat(before), _flat(after)
    keys_of: dict[str, list[str]] = {}
    for key in sorted({*a, *b}):
        if key == "training.seed" or a.get(key) == b.get(key):
            continue
        factor = next(f for f, starts in FACTORS.items() if key.startswith(starts))
        keys_of.setdefault(factor, []).append(key)
    return {f: keys_of[f] for f in FACTORS if f in keys_of}


def _exchanged(ends, keys):
    """The settings that give the first recipe the named values of the second."""
    recipe, values, settings = ends[0].copy(), _flat(ends[1]), {}
    for key in keys:
        table = key.split(".")[0]
        if table in ("network", "loss") and key.endswith("name"):
            settings[table] = values[key]
            recipe.set(table, values[key])
    known = set(recipe.keys())
    return settings | {k: values[k] for k in keys if k in known and k in values}
