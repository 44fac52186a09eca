"""What stands in the cells of a study: measured values, printed ones beside, what differs."""

from pathlib import Path

from facebench import _eval, analysis, protocols
from facebench.analysis.headlines import cells_of, headline
from facebench.core import Error
from facebench.lab import claims
from facebench.lab.studies.conditions import timed_differences, unrecorded_conditions
from facebench.lab.studies.differences import row_differences
from facebench.lab.studies.facts import fact
from facebench.lab.studies.plan import Missing
from facebench.lab.studies.seeds import mean_ends, seed_mean

# Published units, and how many of ours they hold.
_SCALES = {"%": 100.0, "million": 1e-6, "MB": 2.0**-20}


def collect(plan, cells, outcomes, out, threads=0) -> list[dict]:
    """The tables of ``study.json``. ``cells``: {(table, row, column): list of jobs, one a seed, or
    the text of what is missing}, by numbers."""
    return [
        _Collected(plan, number, cells, outcomes, out, threads).table()
        for number in range(len(plan.study.tables))
    ]


class _Collected:
    def __init__(self, plan, number, cells, outcomes, out, threads):
        self.plan, self.study, self.number = plan, plan.study, number
        self.spec = plan.study.tables[number]
        self.cells, self.outcomes = cells, outcomes
        self.out, self.threads = Path(out), threads
        self.metrics, self.beside = {}, {}
        self.printed = None
        if self.study.publication and self.spec.printed:
            paper = claims.load_published(self.study.publication)
            self.printed = paper[self.spec.printed]

    def table(self) -> dict:
        columns = [c for n, column in enumerate(self.spec.columns) for c in self._shown(n, column)]
        _tell_apart(columns)
        rows = []
        for r, row in enumerate(self.spec.rows):
            cells = [self._cell(r, row, column) for column in columns]
            differs = dict.fromkeys(d for cell in cells for d in cell.get("differs", ()))
            rows.append({"name": row["name"], "cells": cells, "differs": list(differs),
                         "trained": "recipe" in row})  # fmt: skip
        table = {"id": self.spec.id, "title": self.spec.title, "layout": self.spec.layout,
                 "place": self.printed.place if self.printed else "", "plot": self.spec.plot,
                 "notes": [*self.spec.notes, *self._errata()], "columns": columns, "rows": rows,
                 "baseline": self.spec.baseline, "order": []}  # fmt: skip
        if self.spec.order:
            table["order"] = [
                o for o in (self._order(i, c, rows) for i, c in enumerate(columns)) if o
            ]
        else:  # the order has the differences of all pairs
            table["differences"] = row_differences(table, self.study, self.out, self.threads)
        return table

    # --- columns ------------------------------------------------------------------------------

    def _shown(self, number, column):
        """A column as it is shown; where no single number is named, what the runs have."""
        if "protocol" not in column:
            kind = next(k for k in ("result", "fact", "cost", "printed") if k in column)
            name = column[kind]
            title = column.get("title", name.replace("_", " "))
            yield {"kind": kind, "name": name, "id": column.get("id", name), "title": title,
                   "of": column.get("of", ""), "unit": column.get("unit", ""),
                   "spec": number}  # fmt: skip
            return
        protocol = protocols.load_protocol(column["protocol"])
        base: dict = {"kind": "metric", "spec": number, "protocol": protocol.id,
                "protocol_title": protocol.title, "version": protocol.version,
                "name": column.get("name") or Path(column["protocol"]).stem,
                "stands_for": column.get("stands_for", "")}  # fmt: skip
        first = [self._metrics(number, r, 0) for r in range(len(self.spec.rows))]
        there = [m for m in first if m]
        metric_name = column.get("metric", "")
        if metric_name == "*":
            names = [(t, n) for t, n, _ in (c for m in there for c in cells_of(m))]
            chosen = list(dict.fromkeys(names)) or [("", "")]
        elif "row" in column:
            chosen = [
                (column.get("track", ""), f"{metric_name}[{column['row']},{column['column']}]")
            ]
            base |= {k: column[k] for k in ("row", "column")} | {"matrix": metric_name}
        else:
            stated = (column.get("track", ""), metric_name)
            chosen = [headline(there[0], column)[:2] if there else stated]
        stated_tracks = {c.get("track", "") for c in self.spec.columns
                         if c.get("protocol") == column["protocol"]}  # fmt: skip
        for track, metric in chosen:
            title = _eval.metric_title(metric) if metric else ""
            measured = {t for m in there for t in m["tracks"]}
            several = len(measured) > 1 or len(stated_tracks) > 1
            parts = [base["name"], track if several else "", title]
            yield base | {
                "track": track,
                "metric": metric,
                "rate": bool(metric) and _eval.metric_is_rate(metric),
                "metric_title": title,
                "title": column.get("title") or ", ".join(part for part in parts if part),
                "id": column.get("id", ""),
            }

    def _jobs(self, number, row):
        return self.cells.get((self.number, row, number))

    def _metrics(self, number, row, seed):
        """``metrics.json`` of a cell's run; None where there is none."""
        jobs = self._jobs(number, row)
        if not isinstance(jobs, list) or not self.outcomes[jobs[seed].key].is_there:
            return None
        job = jobs[seed]
        if job.key not in self.metrics:
            self.metrics[job.key] = analysis.read_run(self._run(job), check=False)
        return self.metrics[job.key]["metrics"]

    def _run(self, job):
        return job.folder(self.out) / "run"

    # --- cells --------------------------------------------------------------------------------

    def _cell(self, r, row, column) -> dict:
        if column["kind"] == "printed":
            stated = row.get("printed", {}).get(column["name"])
            shown = {} if stated is None else {"text": str(stated), "value": None}
            return {"printed": None} | shown
        cell = {"printed": self._printed(row, column)}
        if column["kind"] == "fact":
            return cell | self._compared(cell, column, *fact(row, column["name"], column["of"]))
        jobs = self._jobs(column["spec"], r)
        if not isinstance(jobs, list):
            return cell | {"why": jobs}
        absent = [o for o in (self.outcomes[j.key] for j in jobs) if not o.is_there]
        if absent:
            first = next((o for o in absent if o.status == "failed"), absent[0])
            why = {"why": f"{first.status}: {first.reason}"}
            return cell | why | ({"failed": True} if first.status == "failed" else {})
        cell |= {"jobs": [j.folder("").as_posix() for j in jobs]}
        if column["kind"] == "metric":
            return cell | self._measured(r, row, column, jobs, cell)
        return cell | self._found(row, column, jobs, cell)

    def _found(self, row, column, jobs, cell) -> dict:
        """A cell of what jobs found beside the numbers of a run."""
        results = [self.outcomes[job.key].result for job in jobs]
        if column["name"] == "status" and (why := _not_tried(row, cell["printed"])):
            return {"why": why}
        found = [_of_result(r, j, row, column) for r, j in zip(results, jobs, strict=True)]
        if why := next((why for _, why in found if why), ""):
            return {"why": why}
        values = [value for value, _ in found]
        timed = jobs[0].kind in ("classify", "step", "scale", "cost")
        details: dict
        if not all(isinstance(v, (int, float)) for v in values):
            details = {"text": str(values[0]), "value": None}
        else:
            mean = seed_mean(column["name"], values)
            details = {"value": mean["mean"], "values": values, "seeds": len(values)}
            interval, over = mean["interval"], "seeds"
            if len(values) == 1:
                interval, over = _interval_of(results[0], jobs[0], row, column["name"])
            details |= {"interval": interval, "interval_over": over if interval else ""}
            details["timed"] = timed and column["name"] not in _EXACT
            details["warnings"] = _load(results, row) if _is_time(column["name"]) else []
            details |= self._compared(cell | details, column, mean["mean"], "")
        if timed and cell["printed"]:
            stated = row.get("printed", row["name"])
            conditions = (
                [r["conditions"] for r in self.printed.rows if r["name"] == stated]
                if self.printed and isinstance(stated, str)
                else []
            )
            if conditions:
                details["differs"] = timed_differences(conditions[0], row, jobs[0], results[0])
        return details

    def _measured(self, r, row, column, jobs, cell):
        numbers = [self._number(column, r, seed) for seed in range(len(jobs))]
        if None in numbers:
            return {"why": f"has no number {column['metric']!r} in track {column['track']!r}"}
        first = jobs[0]
        run = self.metrics[first.key]
        values = [c["value"] for c in numbers]
        mean, over_seeds = values[0], None
        over_people = numbers[0]["interval"]
        if len(values) > 1:
            over_people = mean_ends([c["interval"] for c in numbers])
            known = seed_mean(column["metric"], values) if None not in values else {}
            mean, over_seeds = known.get("mean"), known.get("interval")
        over = "people" if over_people else "seeds" if over_seeds else ""
        part = run["metrics"]["tracks"][column["track"]]
        counts = part["counts"]
        details = {
            "value": mean,
            "interval": over_people or over_seeds,
            "interval_over": over,
            "seed_interval": over_seeds,
            "seeds": len(values),
            "level": numbers[0]["level"],
            "no_interval": numbers[0].get("no_interval", ""),
            "values": values,
            "intervals": [c["interval"] for c in numbers],
            "run": self._run(first).relative_to(self.out).as_posix(),
            "runs": [self._run(job).relative_to(self.out).as_posix() for job in jobs],
            "failure_to_enrol_rate": counts["failure_to_enrol_rate"],
            "warnings": run["content"].get("warnings", []),
        }
        if why := self._not_comparable(column, r, first):
            return {"why": f"not comparable with the others: {why}", "failed": True}
        details |= self._compared(cell | details, column, mean, "")
        if cell["printed"] or row.get("conditions"):
            beside = self._beside(row, first)
            if isinstance(beside, str) and row.get("conditions"):
                return {"why": f"refused: {beside}", "failed": True}
            if cell["printed"]:
                details["differs"] = self._differs(row, column, beside)
        return details

    def _number(self, column, r, seed):
        metrics = self._metrics(column["spec"], r, seed)
        return next((c for t, n, c in cells_of(metrics)
                     if n == column["metric"] and column["track"] in ("", t)), None)  # fmt: skip

    def _not_comparable(self, column, r, job):
        """Why a run may not stand beside the first of its column; "" where it may."""
        if not self.spec.order:
            return ""
        first = next(j for j in (self._jobs(column["spec"], k) for k in range(r + 1))
                     if isinstance(j, list)
                     and self.outcomes[j[0].key].is_there)[0]  # fmt: skip
        if first.key == job.key:
            return ""
        return reasons(analysis.why_not_comparable(self._run(first), self._run(job)))

    # --- what is printed ----------------------------------------------------------------------

    def _printed(self, row, column):
        """What the paper prints in a cell: {"text", "value", "half_unit", "scale"}; None where it
        prints nothing."""
        stated = row.get("printed", row["name"])
        if isinstance(stated, dict):  # in the study itself
            text = stated.get(column["id"])
            unit = "%" if column["id"] == "accuracy" else ""
            return None if text is None else _as_printed(str(text), unit)
        if self.printed is None:
            return None
        texts: list = next((r["printed"] for r in self.printed.rows if r["name"] == stated), [])
        for text, c in zip(texts, self.printed.columns if texts else [], strict=True):
            if c["id"] == column["id"] or (c["measures"] and _address(column) == c["measures"]):
                return _as_printed(text, c["unit"]) | {"column": c["id"]} if text else None
        return None

    def _compared(self, cell, column, value, text):
        """A value beside the printed one: their difference in the printed unit, and where the
        printed one lies of our interval."""
        result = {"value": value} | ({"text": text} if text else {})
        printed = cell.get("printed")
        if not printed or printed["value"] is None or not isinstance(value, (int, float)):
            return result
        scale = printed["scale"]
        result["difference"] = round(value * scale - printed["value"], 9)
        ends = cell.get("interval")
        if ends and None not in ends:
            low, high = (e * scale for e in ends)
            half = printed["half_unit"]
            above, below = printed["value"] - half > high, printed["value"] + half < low
            result["printed_lies"] = "above" if above else "below" if below else "inside"
        return result

    def _beside(self, row, job) -> list[dict] | str:
        """A run beside every printed value of its measures, or why what is stated is refused."""
        stated = unrecorded_conditions(row, self.plan)
        key = job.key, *sorted(stated.items())
        if key not in self.beside:
            publication = self.study.publication or "wang-guo-2019"
            try:
                beside = claims.against(self._run(job), publication, stated)
                self.beside[key] = beside["same"] + beside["other_systems"]
            except (Error, ValueError) as error:
                self.beside[key] = str(error)
        return self.beside[key]

    def _differs(self, row, column, beside):
        """By which conditions a run is not the printed system; empty: it is the same."""
        if isinstance(beside, str):
            return [beside]
        if column["stands_for"]:
            return [f"{column['protocol']}'s comparisons are not those of {column['stands_for']}"]
        name, address = row.get("printed", row["name"]), _address(column)
        for value in beside:
            here = value["table"] == self.spec.printed and value["row"] == name
            if here and value["measures"] == address:
                unknown = [f"{name} is not known of the run" for name in value["unchecked"]]
                return [*value["differs"], *unknown]
        return ["the paper's number is of another measure"]

    def _errata(self):
        if self.printed is None:
            return []
        return [
            f"{', '.join(e['rows']) or 'All rows'}: {e['kind'].replace('_', ' ')}: {e['note']}"
            for e in self.printed.errata
        ]

    # --- order --------------------------------------------------------------------------------

    def _order(self, number, column, rows):
        """Which row is the best of a column, and how sure that is."""
        there = [k for k, row in enumerate(rows) if row["cells"][number].get("run")]
        if column["kind"] != "metric" or len(there) < 2:
            return None
        comparison = {"column": number, "rows": there, "ranking": None}
        study = self.study
        try:
            comparison["ranking"] = analysis.rank_runs(
                [self.out / rows[k]["cells"][number]["run"] for k in there],
                column["track"], column["metric"], replicates=study.replicates,
                seed=study.seed, level=study.level, threads=self.threads,
            )  # fmt: skip
        except (ValueError, Error) as error:
            comparison["no_ranking"] = str(error)
        return comparison


# What a timed job finds that is not a time: the same in every run.
_EXACT = ("accuracy", "validation_accuracy", "loss", "iterations", "parameters", "macs")


def _tell_apart(columns):
    """Gives columns of one title their tracks, and what is alike still their numbers."""
    for more in ("track", "metric"):
        titles = [c["title"] for c in columns]
        for column in columns:
            if titles.count(column["title"]) > 1 and column.get(more):
                column["title"] += f", {column[more]}"
    seen: dict[str, int] = {}
    for column in columns:
        seen[column["title"]] = seen.get(column["title"], 0) + 1
        if "row" not in column and seen[column["title"]] > 1:
            column["title"] += f" ({seen[column['title']]})"


def _is_time(name):
    return any(part in name for part in ("seconds", "second", "gain", "speedup"))


def _load(results, row):
    """That others used the machine while something was timed, once for each time."""
    said = []
    for result in results:
        measured = result
        if result.get("kind") == "step":
            measured = _of_engine(result, row.get("engine", "facebench"))
        rows = result["rows"] if result.get("kind") == "scale" else [measured]
        shares = [(r.get("processors") or {}).get("others", r.get("others")) for r in rows
                  if r.get("busy")]  # fmt: skip
        if shares:
            said.append(f"others used {100 * max(s or 0 for s in shares):.0f} % of the processors")
    return said


def _not_tried(row, printed):
    """Why a row says nothing of the batch that its column is about; "" where it tried that one."""
    asked = row.get("asked_batch", row.get("batch"))
    tried = f"batch {row.get('batch')}" + (f", for {asked}" if asked != row.get("batch") else "")
    about = printed["value"] if printed else None
    if asked != row.get("batch") or (about is not None and about != row.get("batch")):
        return f"not tried: {tried} was run"
    return ""


def _as_printed(text, unit):
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return {"text": text, "value": None, "scale": 1}
    decimals = len(text.partition(".")[2])
    shown = f"{text} %" if unit == "%" else text
    return {"text": shown, "value": value, "half_unit": 0.5 * 10**-decimals,
            "scale": _SCALES.get(unit, 1)}  # fmt: skip


def _address(column):
    """A metric column as publications say what they measure."""
    if column["kind"] != "metric":
        return None
    metric = column.get("matrix", column["metric"])
    place = {k: column.get(k, "") for k in ("track", "row", "column")}
    place["protocol"] = column.get("stands_for") or column["protocol"]
    return place | {"metric": metric}


def _of_engine(result, engine):
    """What steps found of one engine."""
    absent = {"status": "absent", "message": "was not timed"}
    return next((r for r in result["rows"] if r["engine"] == engine), absent)


def _of_result(result, job, row, column):
    """(value, "") of a job's result, or (None, why there is none)."""
    if "diverged" in result:
        return None, f"diverged: {result['diverged']}"
    name = column["name"]
    if job.kind == "step":
        return _of_steps(result, row, name)
    if job.kind == "scale":  # "images_per_second 2": of two processes
        name, _, count = name.rpartition(" ")
        value = _of_processes(result, count).get(name)
        return value, "" if value is not None else f"not measured with {count} processes"
    value = result.get(name)
    return value, "" if value is not None else "not known"


def _of_steps(result, row, name):
    engine = row.get("engine", "facebench")
    measured = _of_engine(result, engine)
    if name == "status":
        return measured["status"].replace("_", " "), ""
    if measured["status"] != "ok":
        return None, f"{measured['status'].replace('_', ' ')}: {measured['message']}"
    taken = measured["memory"]  # of the process
    if result["options"]["device"] != "cpu":
        taken = measured["device_memory"]
        if name == "memory" and taken is None:
            return None, f"{engine} does not say what it takes of a card"
    means = {"seconds": measured["seconds"]["mean"], "memory": taken and taken["peak"]}
    if name == "joules_an_image":
        of = "processors" if result["options"]["device"] == "cpu" else "card"
        joules = measured["joules_an_image"][of]
        return joules, "" if joules is not None else f"this machine does not say what its {of} took"
    if name != "gain":
        return (measured | means)[name], ""
    other = _of_engine(result, row["over"])
    if other["status"] != "ok":
        return None, f"{row['over']}: {other['status']}: {other.get('message', '')}"
    return measured["images_per_second"] / other["images_per_second"] - 1, ""


def _interval_of(result, job, row, name):
    """The interval of one measured time, and over what it is; (None, "") where it has none."""
    if job.kind == "cost":
        ends = [result["slowest"], result["fastest"]] if name == "images_per_second" else None
        return ends, "rounds, slowest to fastest"
    measured = {}
    if job.kind == "step":
        measured = _of_engine(result, row.get("engine", "facebench"))
    elif job.kind == "scale":
        name, _, count = name.rpartition(" ")
        measured = _of_processes(result, count)
    of_rate, over = measured.get("images_per_second_interval"), "iterations"
    if name == "gain" and of_rate:
        other = _of_engine(result, row["over"]).get("images_per_second_interval")
        # Of slow ends over fast ones, so wider than an interval of the quotient.
        return other and [of_rate[0] / other[1] - 1, of_rate[1] / other[0] - 1], over
    of_time = (measured.get("seconds") or {}).get("mean_interval")
    return {"seconds": of_time, "images_per_second": of_rate}.get(name), over


def _of_processes(result, count):
    """What steps found of so many processes."""
    return next((r for r in result["rows"] if str(r["processes"]) == count), {})


def reasons(differences: list[dict]) -> str:
    """What `facebench.analysis.why_not_comparable` found, as one sentence."""
    return "; ".join(
        d["what"] + (f" ({d['b']} here, {d['a']} there)" if d["a"] or d["b"] else "")
        for d in differences
    )


def cell_jobs(plan) -> dict:
    """{(table, row, column): the jobs of a cell, one a seed, or what is missing}, by numbers."""
    jobs_of: dict[tuple[int, int, int], list | str] = {}
    for t, table in enumerate(plan.study.tables):
        for r, row in enumerate(table.rows):
            for c, column in enumerate(table.columns):
                if "fact" in column or "printed" in column:
                    continue
                seeds = range(int(row.get("seeds", 1)))
                try:
                    jobs_of[t, r, c] = [plan.job(table, row, column, seed) for seed in seeds]
                except Missing as missing:
                    jobs_of[t, r, c] = str(missing)
    return jobs_of
