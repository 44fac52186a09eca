"""Which jobs a cell of a study's tables needs, and what is not there to make them."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from facebench.core import cuda_devices
from facebench.core._arguments import brief, did_you_mean
from facebench.io import sha256_file
from facebench.lab.engines import ENGINES, absent
from facebench.lab.studies.description import Study
from facebench.lab.studies.engine import Job
from facebench.lab.timing.scale import ENGINES as PARALLEL_ENGINES
from facebench.protocols import load_protocol
from facebench.protocols._evaluate import BACKEND_OPTIONS

# Drawn test sets, by the layout of their lists: the protocols that each serves, people, images of
# each. Sizes as in the demo: seconds, and still able to tell one system from another.
DRAWN = {
    "lfw": (("lfw",), 100, 4),
    "vggface2": (("vggface2_pose", "vggface2_age"), 20, 50),
    "ijba_quality": (("ijba_quality",), 50, 9),
    "dfw": (("dfw",), 50, 8),
    "umdfaces": (("umdfaces",), 50, 12),
}
DRAWN_PROTOCOLS = [name for names, *_ in DRAWN.values() for name in names]
# Of drawn people to train on, unless a study's data says otherwise.
DRAWN_PEOPLE = {"people": 60, "images": 10}
NOT_ENGINES = {"caffe": "Caffe 1.0, which cannot be installed any more; its recipes imitate it"}


class Missing(Exception):
    """What a cell needs and is not there, and where to ask for it."""


@dataclass
class Plan:
    """A study and what there is for it. ``train``, ``test``: {name: folder or file}, or
    {name: {"root": ..., and what else `facebench.run` takes}}."""

    study: Study
    train: dict = field(default_factory=dict)
    test: dict = field(default_factory=dict)
    rehearse: bool = False
    device: str = "cpu"
    how: dict = field(default_factory=dict)

    def __post_init__(self):
        self.train, self.test = (
            {k: v if isinstance(v, dict) else {"root": v} for k, v in sets.items()}
            for sets in (self.train, self.test)
        )
        known = {*self.study.data, *_protocols(self.study)}
        known |= {row.get("training_set") for t in self.study.tables for row in t.rows}
        known |= {row.get("images") for t in self.study.tables for row in t.rows}
        for name in (*self.train, *self.test):
            if name not in known:
                hint = did_you_mean(name, sorted(map(str, known)))
                raise ValueError(f"{self.study.id} has no data set '{name}'{hint}")

    def job(self, table, row: dict, column: dict, seed: int) -> Job:
        """The job whose result a cell shows. `Missing` says what is not there."""
        if "needs" in row:
            raise Missing(f"needs {row['needs']}")
        if "cost" in column:
            return self._cost(row)
        if "protocol" in column:
            return self._run(table, row, column, seed)
        if "photo" in row:
            request = {"crop": "paper"}
            return self._job("picture", row["name"], request, {"photo": self._test(row["photo"])})
        if "images" in row:
            return self._classify(row, seed)
        if "processes" in row:
            return self._scale(row)
        if "network" in row:
            return self._step(table, row)
        if "recipe" in row and column["result"] in ("loss", "iterations", "epochs", "classes"):
            return self._model(table, row, seed)
        if "training_set" in row:
            return self._overlap(table, row)
        raise ValueError(f"row '{row['name']}' of {table.id} has nothing that gives '{column}'")

    def _job(self, kind, name, request, places=None, how=None):
        """A job; of ``places`` those that are jobs are needed, the others are asked for."""
        needs = {k: v for k, v in (places or {}).items() if isinstance(v, Job)}
        paths = {k: str(v) for k, v in (places or {}).items() if k not in needs}
        return Job(kind, name, request | paths, needs, {"threads": 0} | self.how | (how or {}))

    # --- data ---------------------------------------------------------------------------------

    def _absent(self, name, option):
        about = self.study.data.get(name, {})
        title, ask = about.get("title", name), about.get("ask", "")
        return Missing(f"needs {title}: {option} {name}=FOLDER." + (f" {ask}" if ask else ""))

    def _drawn(self, name, layout, people, images, first):
        options = {"people": people, "images": images, "first_person": first}
        return self._job("draw", name, options | {"protocol": layout, "pairs_per_fold": people})

    def _served(self, protocol):
        """The data set that a protocol is tested on: its own name, or what the study says."""
        data = self.study.data.items()
        return next((n for n, a in data if protocol in a.get("serves", ())), protocol)

    def _test(self, protocol):
        """A test set's place. `Missing` where it was not given."""
        name = protocol if protocol in self.test else self._served(protocol)
        if name in self.test:
            return self.test[name].get("root", "")
        if not self.rehearse:
            raise self._absent(name, "--test")
        for number, (layout, (names, people, images)) in enumerate(DRAWN.items()):
            if protocol in names:
                people = self.study.data.get(name, {}).get("people", people)
                first = 100_000 + 1000 * number  # nobody who is trained on
                return self._drawn(layout, layout, people, images, first)
        raise Missing(f"needs {name}: no faces are drawn for protocol '{protocol}'")

    def _pack(self, row, size):
        """The pack of a training set, or the job that makes it."""
        name = row["training_set"]
        about = self.study.data.get(name, {})
        prepare = {"crop_size": size} | row.get("prepare", {})
        if name in self.train:
            root = self.train[name]["root"]
            if str(root).endswith(".h5"):
                return root
            reader = about.get("reader", "folder")
        elif self.rehearse:
            number = 1 + list(self.study.data).index(name) if name in self.study.data else 0
            sizes = DRAWN_PEOPLE | {k: about[k] for k in DRAWN_PEOPLE if k in about}
            root, reader = self._drawn(name, "lfw", first=1000 * number, **sizes), "lfw"
        else:
            raise self._absent(name, "--train")
        return self._job("pack", name, {"reader": reader, "prepare": prepare}, {"root": root})

    def _overlap(self, table, row):
        size = _crop_size(_recipe(row, 0)[0]) if "recipe" in row else None
        training_set = self.train.get(row["training_set"], {})
        tests: list[str] = []
        places: dict = {}
        embeddings: dict = {}
        asked = row.get("without_test_people", [])
        for protocol in _protocols(table) if asked is True else asked or []:
            try:
                place = self._test(protocol)
            except Missing:
                continue
            if place not in places.values():
                name = self._served(protocol)
                tests.append(name)
                places[name] = place
                embeddings[name] = self.test.get(protocol, {}).get("embeddings")
        request = {"tests": tests, "test_embeddings": embeddings}
        request |= {
            k: training_set[k]
            for k in ("names", "embeddings", "exclude", "only")
            if training_set.get(k)
        }
        places["pack"] = self._pack(row, size)
        return self._job("overlap", row["training_set"], request, places)

    # --- models -------------------------------------------------------------------------------

    def _model(self, table, row, seed):
        recipe, how = _recipe(row, seed)
        request = {"trained": recipe.to_dict(), "seed": seed, "device": self._device(row)}
        request |= _trainer(row)
        needs = {"pack": self._pack(row, _crop_size(recipe))}
        chosen = self.train.get(row["training_set"], {})
        if row.get("without_test_people") or chosen.get("exclude") or chosen.get("only"):
            needs["overlap"] = self._overlap(table, row)
        by = f"-{request['engine']}" if "engine" in request else ""
        return self._job("train", f"{recipe.id}-{row['training_set']}{by}", request, needs, how)

    def _run(self, table, row, column, seed):
        protocol = column["protocol"]
        name = column.get("name") or protocol
        if "run" in row:  # one from elsewhere
            if row["run"]["column"] != name:
                raise Missing("")
            request = {"content": row["run"]["sha256"]}
            return self._job("copy", row["name"], request, how={"run": row["run"]["folder"]})
        data = column.get("data") or self.test.get(protocol)
        data = data or self.test.get(self._served(protocol)) or {}
        settings = dict(row.get("prepare", {})) if "model" in row else {}
        changed = {k: v for k, v in data.items() if k not in ("root", "embeddings")}
        changed |= column.get("options", {})
        if "detector" in changed:
            for entry in ("detector", "detector_options", "selection"):
                settings.pop(entry, None)
        places, how = {}, {}
        request = {"protocol": protocol, "settings": settings | changed}
        if column.get("data") is None:
            places["root"] = self._test(protocol)
        elif "root" in data:
            places["root"] = data["root"]
        if "model" in row:
            request["model"], how["model"] = _said_of(row), row["model"]
            title = row["name"]
        else:
            places["model"] = self._model(table, row, seed)
            title = places["model"].name
        return self._job("run", f"{Path(name).stem}-{title}", request, places, how)

    def _cost(self, row):
        if "run" in row:  # one from elsewhere, without its model
            raise Missing("")
        prepare = row.get("prepare", {})
        # A back end is nothing that embedding alone costs.
        settings = {k: v for k, v in prepare.items() if k not in BACKEND_OPTIONS}
        request = {"model": _said_of(row), "settings": settings}
        return self._job("cost", row["name"], request, how={"model": row["model"]})

    # --- what is timed ------------------------------------------------------------------------

    def _device(self, row):
        device = row.get("device", self.device)
        if device.startswith("cuda") and not cuda_devices()["devices"]:
            raise Missing(f"needs a GPU: device {device} ({cuda_devices()['reason']})")
        return device

    def _classify(self, row, seed):
        recipe, how = _recipe(row, seed)
        images = row["images"]
        root = {**self.train, **self.test}.get(images, {}).get("root")
        if root is None and not self.rehearse and "drawn" not in row:
            raise self._absent(images, "--test")
        request = {
            "trained": recipe.to_dict(),
            "images": images,
            "root": root and str(root),
            "drawn": None if root else row.get("drawn", {"train": 6000, "test": 1000}),
            "held_out": row.get("held_out", {}) if root else {},
            "seed": seed,
            "threads": int(row.get("threads", 1)),
            "device": self._device(row),
            **_trainer(row),
        }
        return self._job("classify", row["name"], request, how=how)

    def _step(self, table, row):
        same = ("network", "batch", "device", "threads", "options")
        alike = [r for r in table.rows if all(r.get(k) == row.get(k) for k in same)]
        _there(row.get("engine"))
        _there(row.get("over"))
        for engine in row.get("engines", ()):
            if engine not in NOT_ENGINES:
                _there(engine)
        engines = row.get("engines") or dict.fromkeys(r.get("engine", "facebench") for r in alike)
        request = {
            "networks": row["network"],
            "batches": [row.get("batch", 16)],
            "engines": [e for e in engines if e not in NOT_ENGINES],
            "threads": row.get("threads", 0),
            "device": self._device(row),
            **row.get("options", {}),
        }
        return self._job("step", f"{row['network']}-{row.get('batch', 16)}", request)

    def _scale(self, row):
        engine = row.get("engine", "facebench")
        if engine not in PARALLEL_ENGINES:
            raise Missing(
                f"needs several processes of {NOT_ENGINES.get(engine, engine)}; those of "
                f"{' and '.join(PARALLEL_ENGINES)} alone are started"
            )
        request = {
            "network": row["network"],
            "processes": row["processes"],
            "scalings": ["weak"],
            "engines": [engine],
            "batch": row.get("batch", 16),
            "device": self._device(row),
            **row.get("options", {}),
        }
        return self._job("scale", row["network"], request)


def _trainer(row):
    """What a request says of the framework that trains; nothing of this library."""
    engine = _there(row.get("engine", "facebench"))
    if engine == "facebench":
        return {}
    if lacking := absent(engine):
        raise Missing(
            f"needs {', '.join(lacking)}: make engines, and "
            "FACEBENCH_ENGINE_PYTHON=.venv-engines/bin/python"
        )
    return {"engine": engine, "own": row.get("own", [])}


def _there(engine):
    """An engine that exists today; `Missing` for another, ValueError for one that never did."""
    if engine in NOT_ENGINES:
        raise Missing(f"needs {NOT_ENGINES[engine]}")
    if engine is not None and engine not in ENGINES:
        known = [*ENGINES]
        raise ValueError(f"no engine '{brief(engine)}'{did_you_mean(engine, known)} (known: "
                         f"{', '.join(known)})")  # fmt: skip
    return engine


def _recipe(row, seed):
    from facebench.lab.studies.work import load_recipe

    if "recipe" not in row:
        raise ValueError(f"row '{brief(row['name'])}' trains, and says no recipe")
    how = {"recipe": row["recipe"], "settings": row.get("settings", {})}
    return load_recipe(how | {"seed": seed}), how


def _crop_size(recipe):
    """The side, or (width, height), of the crops that a recipe trains on; None: the crop's own."""
    settings = recipe.to_dict()
    for part, prefix in (("input", "image_"), ("network", "")):
        width, height = settings[part][f"{prefix}width"], settings[part][f"{prefix}height"]
        if width and height:
            return width if width == height else (width, height)
    return None


def _said_of(row):
    """What is known of a row's model: the hash of a file, the name of a Python object."""
    model = row["model"]
    if isinstance(model, dict):  # of a Python object that is not at hand: its run is
        return model | {"row": row["name"]}
    if not isinstance(model, (str, os.PathLike)):
        return python_name(model) | {"row": row["name"]}
    record = {"name": os.fspath(model)}
    if (public := _public_model(record["name"])) is not None:
        return record | {"sha256": public.find()[1]}
    return record | ({"sha256": sha256_file(model)} if os.path.isfile(model) else {})


def _public_model(name):
    """The row of the table of public models; None for anything else."""
    from facebench.embedding import _public_models  # needs torch

    return _public_models.public_model(name)


def python_name(model) -> dict:
    """What is known of a model that is a Python object."""
    kind = model if hasattr(model, "__qualname__") else type(model)
    return {"python": f"{kind.__module__}.{kind.__qualname__}"}


def _protocols(what):
    """The protocols of a table, or of a study."""
    tables = what.tables if isinstance(what, Study) else [what]
    return list(dict.fromkeys(c["protocol"] for t in tables for c in t.columns if "protocol" in c))


def check_names(study: Study) -> None:
    """ValueError for a protocol that does not exist, with the nearest that does."""
    for protocol in _protocols(study):
        if not protocol.endswith(".toml"):
            load_protocol(protocol)
