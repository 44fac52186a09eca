"""What a study is made of: tables of rows and columns, read from a TOML file (docs/studies.md)."""

import itertools
import os
import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from facebench.core import Error
from facebench.core._arguments import brief, did_you_mean, type_text
from facebench.io._toml import check_keys, check_kinds, read_toml

# protocols/studies of the sources: the build links it here, a wheel holds it.
FOLDER = Path(__file__).parents[2] / "_studies"

# What a row may say. A key with a dot ("training.batch") is one of its recipe.
ROW = (
    *("name", "printed", "conditions", "seeds", "device", "threads", "needs"),
    *("recipe", "recipes", "settings", "training_set", "without_test_people", "prepare"),
    *("images", "drawn", "held_out", "model", "run", "network", "engine", "batch", "processes"),
    *("options", "engines", "own", "over", "photo", "framework"),
)
# What a column measures (one of the first line), and what it says of that.
COLUMN = (
    *("protocol", "result", "fact", "cost", "printed"),
    *("id", "title", "name", "track", "metric", "row", "column", "block", "of", "unit", "data"),
    *("options", "stands_for"),
)
# Of rows that train on small images, where a table says none.
_OF_IMAGES = [
    {"result": name, "title": title}
    for name, title in (
        ("accuracy", "accuracy"),
        ("training_seconds", "training"),
        ("seconds_an_iteration", "an iteration"),
        ("testing_seconds", "testing"),
        ("first_epoch_seconds", "first epoch"),
        ("later_epoch_seconds", "later epochs"),
        ("user", "CPU user"),
        ("system", "CPU system"),
        ("iowait", "CPU I/O wait"),
        ("total", "CPU"),
        ("others", "CPU of others"),
        ("memory_mean", "memory, mean"),
        ("memory_max", "memory, highest"),
        ("loss", "last loss"),
    )
]
_TABLE = ("id", "title", "printed", "layout", "notes", "plot", "order", "baseline", "rehearsal")
_STUDY = ("id", "version", "title", "publication", "citations", "notes", "replicates", "seed")

_KINDS_OF_STUDY = {
    "id title publication": str, "citations notes": [str], "rehearsal all": dict,
    "data": {dict}, "columns": {list}, "version replicates seed": int, "level": float,
}  # fmt: skip
_KINDS_OF_DATA = {"title ask published reader": str, "serves": [str], "people images": int}
_KINDS_OF_TABLE = {
    "id title printed layout baseline": str, "notes": [str], "plot rehearsal all axes": dict,
    "order": bool, "rows": [dict], "columns": (str, [dict]),
}  # fmt: skip
_KINDS_OF_ROW = {
    "name device needs recipe training_set images model network engine over photo framework": str,
    "own engines": [str], "processes": [int], "seeds threads batch": int, "recipes": {str},
    "conditions settings prepare drawn held_out options run": dict, "printed": (str, dict),
    "without_test_people": (bool, [str]),
}  # fmt: skip
_KINDS_OF_COLUMN = {
    "protocol result fact cost printed id title name track metric row column of unit": str,
    "stands_for": str, "block": [str], "data options": dict,
}  # fmt: skip
MOST_SEEDS = 1000


@dataclass
class Table:
    """Rows and columns, all combinations a cell. ``printed``: the table of the publication whose
    values stand beside. ``layout``: "blocks" prints a matrix as its paper does, "factors" takes
    the difference of the first and the last row apart. ``order``: whether the order of the rows is
    tested. ``baseline``: the row to which differences are taken."""

    id: str
    title: str
    rows: list[dict]
    columns: list[dict]
    printed: str = ""
    layout: str = ""
    notes: list[str] = field(default_factory=list)
    plot: dict = field(default_factory=dict)
    order: bool = False
    baseline: str = ""
    rehearsal: dict = field(default_factory=dict)


@dataclass
class Study:
    """Tables, and what they share. ``data``: what each data set is called, where to ask for it,
    which protocols it serves. ``replicates``, ``seed``, ``level``: of comparisons between rows."""

    id: str
    title: str
    tables: list[Table]
    publication: str = ""
    citations: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    data: dict = field(default_factory=dict)
    rehearsal: dict = field(default_factory=dict)
    replicates: int = 1000
    seed: int = 0
    level: float = 0.95

    def only(self, table: str) -> "Study":
        """The study with one of its tables. ValueError names the others."""
        chosen = [t for t in self.tables if t.id == table]
        if not chosen:
            known = [t.id for t in self.tables]
            hint = did_you_mean(table, known)
            there = ", ".join(known)
            raise ValueError(f"{self.id} has no '{brief(table)}'{hint} (there are: {there})")
        return replace(self, tables=chosen)

    def rehearsed(self) -> "Study":
        """The same with what its rehearsal puts in place of networks, recipes and sizes."""
        tables = []
        for table in self.tables:
            changes = _merged(self.rehearsal, table.rehearsal)
            kinds = {k: v for k, v in changes.items() if isinstance(v, dict) and k in _KINDS}
            rows = []
            for row in table.rows:
                change = next((kinds[k] for k in _KINDS if k in row and k in kinds), {})
                caps, shrink = change.get("at_most", {}), change.get("shrink", 1)
                if not isinstance(caps, dict):
                    raise Error(f"{self.id}: the rehearsal's at_most is not a table of numbers.")
                given = {k: row["settings"].get(k, most) for k, most in caps.items()}
                for key, value in [*caps.items(), *given.items(), ("shrink", shrink)]:
                    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
                        raise Error(
                            f"{self.id}: the rehearsal needs a number above 0 as {brief(key)}, "
                            f"not {type_text(value)}."
                        )
                smaller = _merged(row, {k: v for k, v in change.items() if k not in _SMALLER})
                check_kinds(self.id, f"a rehearsed row of table '{table.id}'", smaller,
                            _KINDS_OF_ROW)  # fmt: skip
                if "batch" in smaller:
                    smaller["batch"] = max(2, smaller["batch"] // shrink)
                capped = {k: min(given[k], most) for k, most in caps.items()}
                smaller["settings"] = smaller["settings"] | capped
                smaller.pop("conditions", None)  # they are those of what is not made here
                rows.append(_named_by_what_ran(row, smaller))
            notes = [*table.notes, *_rehearsed_with(table.rows, rows)]
            tables.append(replace(table, rows=rows, notes=notes))
        return replace(self, tables=tables, replicates=min(self.replicates, 100))


# What a rehearsal changes, by what a row has: [rehearsal.recipe], [rehearsal.network], ... Its
# `at_most` are the largest values of settings; batches that are timed are divided by `shrink`.
_SMALLER = ("at_most", "shrink")
_KINDS = ("network", "images", "recipe", "model")


def _named_by_what_ran(asked: dict, ran: dict) -> dict:
    """A rehearsed row whose name says the batch that ran: "VGG-16, batch 2, for 64". Printed beside
    it is what its own name has."""
    if "batch" not in asked or asked["batch"] == ran["batch"]:
        return ran
    said = f"batch {ran['batch']}, for {asked['batch']}"
    parts, own = asked["name"].split(", "), (str(asked["batch"]), f"batch {asked['batch']}")
    parts = [said if part in own else part for part in parts]
    name = ", ".join(parts if said in parts else [*parts, said])
    printed = asked.get("printed", asked["name"])
    return ran | {"name": name, "asked_batch": asked["batch"], "printed": printed}


def _rehearsed_with(asked: list[dict], ran: list[dict]) -> list[str]:
    """A sentence on the settings that the rehearsal of a table puts in place of its own."""
    values: dict[str, dict] = {}
    for before, after in zip(map(_flat, asked), map(_flat, ran), strict=True):
        for key, value in after.items():
            if before.get(key) != value and key not in ("name", "printed", "asked_batch"):
                values.setdefault(key.removeprefix("settings."), {})[str(value)] = None
    said = [f"{key} {' or '.join(of_key)}" for key, of_key in values.items()]
    return [f"Rehearsed with {', '.join(said)}."] if said else []


def _flat(row: dict, prefix: str = "") -> dict:
    """{"options.rounds": 5, ...} of a row."""
    flat: dict = {}
    for key, value in row.items():
        inner = isinstance(value, dict)
        flat |= _flat(value, f"{prefix}{key}.") if inner else {prefix + key: value}
    return flat


def _merged(first: dict, second: dict) -> dict:
    """``second`` over ``first``; tables in both are merged, too."""
    both = {k: _merged(first[k], v) for k, v in second.items()
            if isinstance(v, dict) and isinstance(first.get(k), dict)}  # fmt: skip
    return first | second | both


def slug(name: str) -> str:
    """A name as that of a folder.

    >>> slug("MobileFaceNet, arcface112 (ours)")
    'mobilefacenet-arcface112-ours'
    """
    return re.sub(r"[^a-z0-9_.]+", "-", name.lower()).strip("-.") or "x"


def same_slugs(names: list[str]) -> str:
    """Two names whose folders would be one, and what to do; "" where there are none."""
    names_by_slug: dict[str, str] = {}
    for name in names:
        other = names_by_slug.setdefault(slug(name), name)
        if other is not name:
            return (
                f"'{other}' and '{name}'; give names that differ in letters or digits (name = ...)"
            )
    return ""


def study_names() -> list[str]:
    """The built-in studies.

    >>> from facebench.lab.studies import study_names
    >>> "wang-guo-2019" in study_names()
    True
    """
    return sorted(p.stem for p in FOLDER.glob("*.toml"))


def load_study(name_or_path) -> Study:
    """A study by name (`study_names`) or from a ``.toml`` file; ``NAME/TABLE`` takes one table.

    ValueError for an unknown name or table, `facebench.Error` for a file that is not a study.

    >>> from facebench.lab.studies import load_study
    >>> [table.id for table in load_study("wang-guo-2019/table-14").tables]
    ['table-14']
    """
    text = os.fspath(name_or_path)
    stem, toml, table = text.rpartition(".toml")
    if toml:
        path = Path(stem + toml)
    else:
        name, _, table = text.partition("/")
        if name not in study_names():
            hint, known = did_you_mean(name, study_names()), ", ".join(study_names())
            raise ValueError(f"no study '{brief(name)}'{hint} (known: {known})")
        path = FOLDER / f"{name}.toml"
    study = read_study(read_toml(path), path)
    return study.only(table.strip("/")) if table.strip("/") else study


def read_study(source: dict, path) -> Study:
    """A study out of what its TOML says; ``path`` stands in messages."""
    if not isinstance(source, dict):
        raise TypeError(f"source must be a dict, not {type_text(source)}")
    name = str(source.get("id", Path(path).stem))
    path, shared = brief(path), ("all", "columns")
    check_keys(path, "a study", source, (*_STUDY, "level", "data", "rehearsal", "tables", *shared))
    if source.get("version", 1) != 1:
        raise Error(f"{path}: this library reads studies of version 1.")
    tables = source.get("tables")
    if not isinstance(tables, list) or not tables:
        raise Error(f"{path}: no [[tables]]: nothing to do.")
    check_kinds(path, "a study", source, _KINDS_OF_STUDY)
    for data, about in source.get("data", {}).items():
        check_kinds(path, f"data set '{brief(data)}'", about, _KINDS_OF_DATA)
    without = ("id", "version", "title", "tables", *shared)
    fields = {k: source[k] for k in source if k not in without}
    tables_read = [_table(path, t, *(source.get(k, {}) for k in shared)) for t in tables]
    study = Study(name, source.get("title", name), tables_read, **fields)
    ids = [t.id for t in study.tables]
    if len(set(ids)) < len(ids):
        raise Error(f"{path}: two tables have one id.")
    return study


def _table(path, table, of_all, lists) -> Table:
    """A table; ``of_all``: what the study says of all rows, ``lists``: its lists of columns."""
    if not isinstance(table, dict):
        raise Error(f"{path}: tables are tables; each begins with [[tables]].")
    name = str(table.get("id", "table"))
    where = f"table '{brief(name)}'"
    check_keys(path, where, table, (*_TABLE, "all", "axes", "rows", "columns"))
    check_kinds(path, where, table, _KINDS_OF_TABLE)
    rows = [_row(path, where, _merged(of_all, row)) for row in _rows(path, where, table)]
    columns = table.get("columns", _OF_IMAGES if all("images" in r for r in rows) else None)
    columns = lists.get(columns) if isinstance(columns, str) else columns
    if not isinstance(columns, list) or not all(isinstance(c, dict) for c in columns):
        raise Error(f"{path}: {where} needs [[tables.columns]].")
    fields = {k: table[k] for k in _TABLE if k in table and k not in ("id", "title")}
    names = [row["name"] for row in rows]
    baseline = table.get("baseline", "")
    if baseline and baseline not in names:
        raise Error(
            f"{path}: baseline of {where}: no row is called '{brief(baseline)}'"
            f"{did_you_mean(baseline, names)}"
        )
    same = same_slugs(names)
    if same:
        raise Error(f"{path}: two rows of {where} are called {same}")
    columns = [c for column in columns for c in _columns(path, where, column)]
    return Table(name, table.get("title", name), rows, columns, **fields)


def _rows(path, where, table) -> list[dict]:
    """The rows one by one, then those of the axes, crossed; each with what all of them say."""
    rows, axes = table.get("rows", []), table.get("axes", {})
    if not isinstance(rows, list) or not all(isinstance(r, dict) for r in rows):
        raise Error(f"{path}: rows of {where} are tables; each begins with [[tables.rows]].")
    for key, values in axes.items():
        if not isinstance(values, list) or not values:
            raise Error(f"{path}: axis '{key}' of {where} is not a list of values.")
    if axes:
        crossed = [dict(zip(axes, v, strict=True)) for v in itertools.product(*axes.values())]
        # An axis of one value tells no row from another.
        telling = [key for key, values in axes.items() if len(values) > 1] or list(axes)
        rows = rows + [{"name": ", ".join(_said(k, r[k]) for k in telling), **r} for r in crossed]
    if not rows:
        raise Error(f"{path}: {where} has neither [[tables.rows]] nor axes: nothing to do.")
    return _named_by_what_differs([_merged(table.get("all", {}), row) for row in rows])


def _said(key, value) -> str:
    """A value in a row's name; of a recipe's key, which ends in a number mostly, with its name.

    >>> _said("engine", "pytorch"), _said("optimizer.lr", 0.1)
    ('pytorch', 'lr 0.1')
    """
    return f"{key.rpartition('.')[2]} {value}" if "." in key else str(value)


def _named_by_what_differs(rows: list[dict]) -> list[dict]:
    """Rows without a name are called by the values in which they differ."""
    nameless = [_flat(row) for row in rows if "name" not in row]
    keys = dict.fromkeys(key for row in nameless for key in row)
    telling = [k for k in keys if any(row.get(k) != nameless[0].get(k) for row in nameless)]
    if not telling:
        return rows  # one row, or rows that are refused as they are called the same

    def name(row):
        said = _flat(row)
        numbers = [k for k in telling if isinstance(said.get(k), int | float)]
        of_row = (
            f"{k.rpartition('.')[2]} {said[k]}" if k in numbers else str(said[k])
            for k in telling
            if k in said
        )
        return ", ".join(of_row) or str(row.get("recipe", "row"))

    return [row if "name" in row else {"name": name(row), **row} for row in rows]


def _row(path, where, source) -> dict:
    dotted = {k: v for k, v in source.items() if "." in k}
    row = {k: v for k, v in source.items() if k not in dotted}
    check_keys(path, f"a row of {where}", row, ROW)
    check_kinds(path, f"a row of {where}", row, _KINDS_OF_ROW)
    if not 1 <= row.get("seeds", 1) <= MOST_SEEDS:
        raise Error(f"{path}: 'seeds' of a row of {where} is 1 to {MOST_SEEDS}, not {row['seeds']}")
    if "run" in row:
        keys = dict.fromkeys(("folder", "column", "sha256"), str)
        if {*row["run"]} != {*keys}:
            raise Error(f"{path}: 'run' of a row of {where} has {', '.join(keys)}, and no others")
        check_kinds(path, f"'run' of a row of {where}", row["run"], keys)
    if "name" not in row:
        named = [str(v) for k, v in source.items() if isinstance(v, str | int | float)
                 and k not in ("recipe", "images", "seeds")]  # fmt: skip
        row["name"] = ", ".join(named) or str(source.get("recipe", "row"))
    row["settings"] = row.get("settings", {}) | dotted
    return row


def _columns(path, where, column):
    """A column, or those of a block: an entry for each pair of its groups."""
    check_keys(path, f"a column of {where}", column, COLUMN)
    check_kinds(path, f"a column of {where}", column, _KINDS_OF_COLUMN)
    if ("row" in column) != ("column" in column):
        raise Error(f"{path}: a column of {where} says row and column, or neither.")
    kinds = [k for k in COLUMN[:5] if k in column]
    if len(kinds) != 1:
        raise Error(f"{path}: a column of {where} says one of {', '.join(COLUMN[:5])}.")
    if "block" not in column:
        return [column]
    return [column | {"row": a, "column": b} for a in column["block"] for b in column["block"]]
