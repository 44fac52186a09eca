"""What the runs of a suite say together: numbers, order and its uncertainty, failures."""

import hashlib
from pathlib import Path

from facebench import _eval, reports
from facebench.core import Error
from facebench.io import canonical_json
from facebench.suites.description import SuiteDescription, SuiteSet
from facebench.suites.running import Outcome, Place, places


def collect(
    out: Path, description: SuiteDescription, outcomes: list[Outcome], threads=0, progress=None
) -> dict:
    """The content of ``suite.json``: of every whole run in the folder, whoever put it there.

    ``sets``: for each set its protocol, the number that stands for it, the runs with that number
    and its interval, and their ``ranking`` (see `facebench.reports.rank_runs`) where there are two
    or more. ``failures``: set, model, reason. Nothing in it depends on when or how often the suite
    was started.
    """
    failed = {(o.set, o.model): o.reason for o in outcomes if o.status == "failed"}
    found = {}
    for place in places(out):
        note = place.read_note()
        if note is None or (note["set"], note["model"]) in failed:
            continue
        found.setdefault(note["set"], []).append((note["model"], place))
    order = [m.name for m in description.models] if description else []
    wanted = {s.name: s for s in description.sets} if description else {}
    options = {
        "replicates": description.replicates,
        "seed": description.seed,
        "level": description.level,
    }
    content = {"title": description.title, "comparisons": options, "sets": [], "failures": []}
    for name in [*wanted, *sorted(set(found) - set(wanted))]:
        runs = sorted(found.get(name, []), key=lambda run: _rank(order, run[0]))
        asked = wanted.get(name)
        part, refused = _collect_set(Path(out), name, runs, asked, options, threads, progress)
        if part is not None:
            content["sets"].append(part)
        content["failures"] += refused
    content["failures"] += [
        {"set": data, "model": model, "reason": reason}
        for (data, model), reason in sorted(failed.items())
    ]
    return content


def _rank(order, name):
    return (order.index(name), name) if name in order else (len(order), name)


def _collect_set(out, name, runs, asked, options, threads, progress):
    rows, refused = [], []
    for model, place in runs:
        reason, row = _read_row(out, model, place, rows[0] if rows else None, asked)
        if reason:
            refused.append({"set": name, "model": model, "reason": reason})
            continue
        rows.append(row)
    if not rows:
        return None, refused
    track, metric = rows[0]["track"], rows[0]["metric"]
    part = {
        "name": name,
        "protocol": rows[0]["protocol"],
        "track": track,
        "metric": metric,
        "title": _eval.metric_title(metric),
        "runs": [{k: row[k] for k in _ROW} for row in rows],
        "ranking": None,
    }
    if len(rows) > 1:
        folders = [out / row["folder"] for row in rows]
        try:
            part["ranking"] = reports.rank_runs(
                folders, track, metric, **options, threads=threads, progress=progress
            )
        except (ValueError, Error) as error:
            part["no_ranking"] = str(error)
    return part, refused


_ROW = (
    "model",
    "folder",
    "run_sha256",
    "value",
    "interval",
    "level",
    "failed",
    "failure_to_enrol_rate",
    "system",
    "warnings",
    "numbers",
)


def _read_row(out: Path, model: str, place: Place, first: dict | None, asked):
    """(why it is left out, None), or ("", what the tables need of a run)."""
    try:
        run = reports.read_run(place.folder)
        differences = (
            reports.why_not_comparable(out / first["folder"], place.folder) if first else []
        )
    except Error as error:
        return str(error), None
    if differences:
        return "not comparable with the others: " + reasons(differences), None
    metrics = run["metrics"]
    if first:  # all runs of a set by one number
        asked = SuiteSet("", "", {}, first["track"], first["metric"])
    track, metric, cell = headline(metrics, asked)
    if cell is None:
        return f"it has no number {metric!r} in track {track!r}", None
    content = run["content"]
    counts = metrics["tracks"][track]["counts"]
    preparation = content.get("preparation", {})
    return "", {
        "model": model,
        "folder": place.folder.relative_to(out).as_posix(),
        "run_sha256": _sha256(content),
        "protocol": {k: content["protocol"][k] for k in ("id", "title", "version")},
        "track": track,
        "metric": metric,
        "value": cell["value"],
        "interval": cell["interval"],
        "level": cell["level"],
        "failed": counts["failed_enrolments"],
        "failure_to_enrol_rate": counts["failure_to_enrol_rate"],
        "system": {
            "detector": preparation.get("detector", {}).get("detector"),
            "crop": preparation.get("crop", {}).get("name"),
            "model_sha256": content.get("embeddings", {}).get("manifest", {}).get("model_sha256"),
        },
        "warnings": content.get("warnings", []),
        "numbers": _numbers(metrics),
    }


def _sha256(content):
    return hashlib.sha256(canonical_json(content).encode()).hexdigest()


def reasons(differences: list[dict]) -> str:
    """What `facebench.reports.why_not_comparable` found, as one sentence."""
    return "; ".join(
        d["what"] + (f" ({d['b']} here, {d['a']} there)" if d["a"] or d["b"] else "")
        for d in differences
    )


# What stands for a protocol in a table, the first that it has: a family of numbers.
_HEADLINES = (
    "accuracy",
    "tar@far=",
    "dir@fpir=",
    "rank@1",
    "auc",
    "eer",
    "accuracy_at_",
    "dprime[",
)


def headline(metrics: dict, asked=None):
    """(track, metric, cell): the number asked for, else the first of a protocol's families; of TARs
    that at the lowest FAR at which ten false accepts or more are expected, of d' that of the first
    group against the last."""
    cells = [c for c in _cells(metrics) if not (asked and asked.track) or c[0] == asked.track]
    if asked and asked.metric:
        return next((c for c in cells if c[1] == asked.metric), (asked.track, asked.metric, None))
    for family in _HEADLINES:
        found = [c for c in cells if c[1].startswith(family)]
        found.sort(key=lambda c: (c[2].get("reliable") is False, _target(c[1])))
        if found:
            return found[0]
    return cells[0] if cells else ("", "", None)


def _cells(metrics: dict):
    """(track, name, cell) of every number; a matrix gives one for each entry, named as
    ``dprime[frontal,profile]``, the first group against the last before the others."""
    for track, part in metrics["tracks"].items():
        for name, cell in sorted(part["metrics"].items()):
            if not isinstance(cell["value"], list):
                yield track, name, cell
                continue
            for i, row in enumerate(cell["rows"]):
                for j, column in reversed(list(enumerate(cell["columns"]))):
                    interval = cell["interval"] and cell["interval"][i][j]
                    entry = {**cell, "value": cell["value"][i][j], "interval": interval}
                    yield track, f"{name}[{row},{column}]", entry


def _target(name):
    text = name.rpartition("=")[2]
    try:
        return float(text)
    except ValueError:
        return 0.0


def _numbers(metrics):
    """Every single number with its interval, for exports."""
    return [
        {"track": track, "metric": name, **{k: cell[k] for k in ("value", "interval", "level")}}
        for track, name, cell in _cells(metrics)
    ]
