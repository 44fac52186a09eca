"""What is known of a row's system by the names of published conditions, and what it states."""

from facebench import _eval
from facebench.core import Error
from facebench.core._arguments import did_you_mean

# How a batch, a network or a data set that is timed says what it is.
_OF_ROWS = {"network": "network", "batch": "batch_size", "threads": "threads", "images": "dataset"}


def planned_conditions(row: dict, data: dict) -> dict:
    """What a row says of its own system, by the names of published conditions: of its recipe, its
    network, its data and the engine that trains it. ``data``: of the study."""
    known = {}
    if "recipe" in row:
        from facebench.lab.studies.work import load_recipe

        recipe = load_recipe({"settings": {}, "seed": 0} | row)
        settings = recipe.to_dict()
        known = {
            "network": settings["network"]["name"],
            "loss": recipe.loss,
            "training": recipe.id + (", changed" if row.get("settings") or row.get("own") else ""),
            "optimizer": settings["optimizer"]["name"],
            "batch_size": settings["training"]["batch"],
        }
    known |= {name: row[key] for key, name in _OF_ROWS.items() if key in row}
    if known:
        known["framework"] = row.get("engine", "facebench")
    if "device" in row:
        known["device"] = row["device"]
    if "training_set" in row:
        known["training_set"] = published_name(row["training_set"], data)
        known["test_people"] = "removed" if row.get("without_test_people") else "kept"
    return {name: str(value) for name, value in known.items()}


def published_name(training_set: str, data: dict) -> str:
    """What published tables call a training set of a study."""
    return data.get(training_set, {}).get("published", training_set)


def check_statements(study) -> None:
    """`facebench.Error` for a row whose ``conditions`` state something else than what it trains or
    times, or have a name that published tables do not know. Both are named."""
    names = [c["name"] for c in _eval.list_conditions()]
    for table in study.tables:
        for row in table.rows:
            stated = row.get("conditions", {})
            where = f"study {study.id}: row '{row['name']}' of {table.id}"
            planned = planned_conditions(row, study.data) if stated else {}
            for name, value in stated.items():
                if name not in names:
                    raise Error(f"{where}: conditions: no '{name}'{did_you_mean(name, names)}")
                if name in planned and contradicts(name, planned[name], str(value)):
                    raise Error(
                        f"{where} states {name} '{value}', but is made with '{planned[name]}'. "
                        "Leave the statement out: what is made here is recorded"
                    )


def contradicts(name: str, known: str, stated: str) -> bool:
    """Whether two words for a condition cannot both be true.

    >>> from facebench.lab.studies.conditions import contradicts
    >>> contradicts("framework", "facebench", "caffe"), contradicts("device", "cuda", "Titan Xp")
    (True, False)
    """
    return bool(_eval.condition_difference(name, known, stated))


def unrecorded_conditions(row: dict, plan) -> dict:
    """What a study knows of a row's system beside its run, whose manifest holds all else."""
    stated = {}
    if "training_set" in row and "recipe" in row:
        drawn = plan.rehearse and row["training_set"] not in plan.train
        name = published_name(row["training_set"], plan.study.data)
        stated = {"training_set": "drawn faces" if drawn else name}
    return stated | {name: str(value) for name, value in row.get("conditions", {}).items()}


def timed_differences(printed: dict, row: dict, job, result: dict) -> list[str]:
    """By which conditions something that was timed is not what a table prints. ``printed``: the
    conditions of the published row."""
    known = planned_conditions(row, {})
    device = job.request.get("device", "")
    cards = result.get("machine", {}).get("gpu", {}).get("devices", ())
    if device:
        known["device"] = cards[0]["name"] if device.startswith("cuda") and cards else device
    if job.request.get("drawn"):
        known["dataset"] = f"drawn, in the form of {known['dataset']}"
    return [
        difference
        for name, value in printed.items()
        if name in known and (difference := _eval.condition_difference(name, known[name], value))
    ]
