"""Every key of a study's and a suite's TOML with a value of every kind: it is taken, or a sentence
says what is wrong."""

import itertools

import facebench
import pytest

pytest.importorskip("torch")
pytest.importorskip("facebench._full")
from facebench.lab.studies import description, shorter
from facebench.lab.studies.cells import cell_jobs
from facebench.lab.studies.conditions import check_statements
from facebench.lab.studies.plan import Plan, check_names
from facebench.protocols import EvaluationOptions

VALUES = (
    *({}, {"a": 1}, [], [1], ["x"], [{"a": 1}], [[]], [["a"]], 5, -1, 0, -1.5, 1e300, 2**62),
    *(True, "", "x", "x" * 100_000, "\u202e\x1b[31m", "../../x"),
)
COLUMN = {"protocol": "lfw", "track": "view2", "metric": "accuracy"}
STUDIES = {
    "trained": (
        [{"name": "a", "recipe": "small4.softmax", "training_set": "w"}, {"model": "m.onnx"}],
        [COLUMN],
    ),
    "timed": (
        [
            {"name": "a", "network": "small4", "batch": 2, "engine": "facebench"},
            {"name": "b", "network": "small4", "processes": [2]},
        ],
        [{"result": "user"}],
    ),
}
TOP = (*description._STUDY, "level", "data", "rehearsal", "tables", "all", "columns")
TABLE = (*description._TABLE, "all", "axes", "rows", "columns")
OF_DATA = ("title", "ask", "serves", "people", "images", "reader", "published")


def study(kind):
    rows, columns = STUDIES[kind]
    table = {"id": "t", "rows": [dict(row) for row in rows], "columns": [dict(c) for c in columns]}
    data = {"w": {"title": "W"}, "lfw": {"title": "LFW"}}
    rehearsal = {"recipe": {"batch": 2}, "network": {"batch": 2}}
    return {"id": "s", "tables": [table], "data": data, "rehearsal": rehearsal}


def places(document):
    """(table, key) of every place of a study."""
    table = document["tables"][0]
    yield from itertools.product([document], TOP)
    yield from itertools.product([table], TABLE)
    for row in table["rows"]:
        yield from itertools.product([row], (*description.ROW, "training.batch"))
    yield from itertools.product([table["columns"][0]], description.COLUMN)
    yield from itertools.product([document["data"]["w"]], OF_DATA)
    for part in ("recipe", "network"):
        yield from itertools.product(
            [document["rehearsal"][part]], ("batch", "at_most", "shrink", "settings", "engine")
        )
    yield from itertools.product([document["rehearsal"]], ("recipe", "network", "model", "images"))


def planned(described, rehearsed=True):
    check_names(described)
    check_statements(described)
    for one in (described, described.rehearsed()) if rehearsed else (described,):
        cell_jobs(Plan(one, {"w": "w.h5"}, {}, one is not described))


def said(made, *how):
    """What is said of a document; None: it is taken."""
    text = None
    try:
        made(*how)
    except (facebench.Error, ValueError) as error:
        text = f"UnicodeError {error}" * 100 if isinstance(error, UnicodeError) else str(error)
    assert text is None or (len(text) < 1500 and len(text.splitlines()) == 1), text[:300]
    return text


@pytest.mark.parametrize("kind", STUDIES)
def test_every_key_of_a_study(kind):
    refused = 0
    numbers = range(sum(1 for _ in places(study(kind))))
    for number, value in itertools.product(numbers, VALUES):
        document = study(kind)
        table, key = next(itertools.islice(places(document), number, None))
        table[key] = value
        where = (key, repr(value)[:40])
        try:
            text = said(lambda d: planned(description.read_study(d, "s.toml")), document)
        except Exception as error:
            raise AssertionError(f"{where}: {type(error).__name__}: {error}") from error
        refused += text is not None
    assert refused > 1000


def test_every_key_of_a_suite(tmp_path):
    evaluation = [field["name"] for field in EvaluationOptions.fields()]
    keys = [("models", k) for k in ("name", "model", *shorter.MODEL_SETTINGS)]
    keys += [("sets", k) for k in ("name", "protocol", "track", "metric", *shorter.SET_SETTINGS)]
    keys += [("sets", k) for k in evaluation] + [("", k) for k in (*shorter._GENERAL, "models")]
    path = tmp_path / "suite.toml"
    for (part, key), value in itertools.product(keys, VALUES):
        document = {
            "models": [{"name": "a", "model": "m.safetensors"}],
            "sets": [{"protocol": "lfw", "root": "lfw"}],
        }
        (document[part][0] if part else document)[key] = value
        path.write_text("".join(f"{k} = {toml(v)}\n" for k, v in document.items()))
        try:
            said(lambda: planned(shorter.suite_study(path), rehearsed=False))
        except Exception as error:
            where = (part, key, repr(value)[:40])
            raise AssertionError(f"{where}: {type(error).__name__}: {error}") from error


def toml(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {toml(v)}" for k, v in value.items()) + " }"
    return facebench.io.canonical_json(value) if isinstance(value, str) else repr(value)
