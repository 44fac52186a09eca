"""What stands in the cells of a study: measured values, printed ones beside, what differs."""

from pathlib import Path

from facebench import _eval, claims, protocols, reports
from facebench.core import Error
from facebench.reports.headlines import cells_of, headline
from facebench.studies.facts import fact
from facebench.studies.plan import Missing
from facebench.studies.seeds import seed_mean

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
        rows = []
        for r, row in enumerate(self.spec.rows):
            cells = [self._cell(r, row, column) for column in columns]
            differs = dict.fromkeys(d for cell in cells for d in cell.get("differs", ()))
            rows.append({"name": row["name"], "cells": cells, "differs": list(differs)})
        table = {"id": self.spec.id, "title": self.spec.title, "layout": self.spec.layout,
                 "place": self.printed.place if self.printed else "", "plot": self.spec.plot,
                 "notes": [*self.spec.notes, *self._errata()], "columns": columns, "rows": rows,
                 "baseline": self.spec.baseline, "order": []}  # fmt: skip
        if self.spec.order:
            table["order"] = [
                o for o in (self._order(i, c, rows) for i, c in enumerate(columns)) if o
            ]
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
        base = {"kind": "metric", "spec": number, "protocol": protocol.id,
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
        for track, metric in chosen:
            title = _eval.metric_title(metric) if metric else ""
            several = len({t for m in there for t in m["tracks"]}) > 1
            names = [base["name"], track if several else "", title]
            yield base | {
                "track": track,
                "metric": metric,
                "rate": bool(metric) and _eval.metric_is_rate(metric),
                "metric_title": title,
                "title": column.get("title") or ", ".join(n for n in names if n),
                "id": column.get("id", ""),
            }

    def _jobs(self, number, row):
        return self.cells.get((self.number, row, number))

    def _metrics(self, number, row, seed):
        """``metrics.json`` of a cell's run; None where there is none."""
        jobs = self._jobs(number, row)
        if not isinstance(jobs, list) or self.outcomes[jobs[seed].key].status == "failed":
            return None
        job = jobs[seed]
        if job.key not in self.metrics:
            self.metrics[job.key] = reports.read_run(self._run(job), check=False)
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
        failed = [o for o in (self.outcomes[j.key] for j in jobs) if o.status == "failed"]
        if failed:
            return cell | {"why": f"failed: {failed[0].reason}", "failed": True}
        cell |= {"jobs": [j.folder("").as_posix() for j in jobs]}
        if column["kind"] == "metric":
            return cell | self._measured(r, row, column, jobs, cell)
        values = []
        for job in jobs:
            value, why = _of_result(self.outcomes[job.key].result, job, row, column)
            if why:
                return cell | {"why": why}
            values.append(value)
        if not all(isinstance(v, (int, float)) for v in values):
            return cell | {"text": str(values[0]), "value": None}
        mean = seed_mean(column["name"], values)
        cell |= {"value": mean["mean"], "interval": mean["interval"], "values": values}
        cell["timed"] = jobs[0].kind in ("classify", "step", "scale", "cost") and (
            column["name"] not in _EXACT
        )
        if column["name"] == "training_seconds":
            cell["warnings"] = [
                f"others used {100 * used['others']:.0f} % of the processors"
                for used in (self.outcomes[job.key].result for job in jobs)
                if used.get("busy")
            ]
        return cell | self._compared(cell, column, mean["mean"], "")

    def _measured(self, r, row, column, jobs, cell):
        numbers = [self._number(column, r, seed) for seed in range(len(jobs))]
        if None in numbers:
            return {"why": f"has no number {column['metric']!r} in track {column['track']!r}"}
        first = jobs[0]
        run = self.metrics[first.key]
        values = [c["value"] for c in numbers]
        mean = {"mean": values[0], "interval": numbers[0]["interval"]}
        if None not in values and len(values) > 1:
            mean = seed_mean(column["metric"], values)
        part = run["metrics"]["tracks"][column["track"]]
        counts = part["counts"]
        details = {
            "value": mean["mean"],
            "interval": mean["interval"],
            "level": numbers[0]["level"],
            "no_interval": numbers[0].get("no_interval", ""),
            "values": values,
            "own_interval": numbers[0]["interval"],
            "run": self._run(first).relative_to(self.out).as_posix(),
            "failure_to_enrol_rate": counts["failure_to_enrol_rate"],
            "warnings": run["content"].get("warnings", []),
        }
        if why := self._not_comparable(column, r, first):
            return {"why": f"not comparable with the others: {why}", "failed": True}
        details |= self._compared(cell | details, column, mean["mean"], "")
        if cell["printed"]:
            details["differs"] = self._differs(row, column, first)
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
                     and self.outcomes[j[0].key].status != "failed")[0]  # fmt: skip
        if first.key == job.key:
            return ""
        return reasons(reports.why_not_comparable(self._run(first), self._run(job)))

    # --- what is printed ----------------------------------------------------------------------

    def _printed(self, row, column):
        """What the paper prints in a cell: {"text", "value", "half_unit", "scale"}; None where it
        prints nothing."""
        stated = row.get("printed", row["name"])
        if isinstance(stated, dict):  # in the study itself
            text = stated.get(column["id"])
            unit = "%" if column["id"] == "accuracy" else ""
            return None if text is None else _as_printed(str(text), unit)
        rows = [] if self.printed is None else self.printed.rows
        texts = next((r["printed"] for r in rows if r["name"] == stated), [])
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

    def _differs(self, row, column, job):
        """By which conditions a run is not the printed system; empty: it is the same."""
        if job.key not in self.beside:
            stated = conditions_of(row, self.plan.rehearse)
            try:
                beside = claims.against(self._run(job), self.study.publication, stated)
            except (Error, ValueError) as error:
                return [str(error)]
            self.beside[job.key] = beside["same"] + beside["other_systems"]
        if column["stands_for"]:
            return [f"{column['protocol']}'s comparisons are not those of {column['stands_for']}"]
        name, address = row.get("printed", row["name"]), _address(column)
        for value in self.beside[job.key]:
            here = value["table"] == self.spec.printed and value["row"] == name
            if here and value["measures"] == address:
                return value["differs"]
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
            comparison["ranking"] = reports.rank_runs(
                [self.out / rows[k]["cells"][number]["run"] for k in there],
                column["track"], column["metric"], replicates=study.replicates,
                seed=study.seed, level=study.level, threads=self.threads,
            )  # fmt: skip
        except (ValueError, Error) as error:
            comparison["no_ranking"] = str(error)
        return comparison


# What a timed job finds that is no time: the same in every run.
_EXACT = ("accuracy", "validation_accuracy", "loss", "iterations", "parameters", "macs")


def conditions_of(row, rehearse=False) -> dict:
    """What is known of a row's system beside its run, by the names of published conditions."""
    stated = {}
    if "recipe" in row:
        from facebench.studies.work import load_recipe

        recipe = load_recipe({"settings": {}, "seed": 0} | row)
        changed = ", changed" if row.get("settings") else ""
        stated = {"loss": recipe.loss, "framework": "facebench", "training": recipe.id + changed}
        stated["training_set"] = row.get("training_set", "")
    stated |= row.get("conditions", {})
    if rehearse and "training_set" in stated:
        stated["training_set"] = "drawn faces"
    return {k: v for k, v in stated.items() if v}


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


def _of_result(result, job, row, column):
    """(value, "") of a job's result, or (None, why there is none)."""
    name = column["name"]
    if "diverged" in result:
        return None, f"diverged: {result['diverged']}"
    if job.kind == "step":
        engine = row.get("engine", "facebench")
        measured = next(r for r in result["rows"] if r["engine"] == engine)
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
        measured = measured | means
        if name != "gain":
            return measured[name], ""
        others = [r for r in result["rows"] if r["engine"] == row["over"]]
        other = others[0] if others else {"status": "absent"}
        if other["status"] != "ok":
            return None, f"{row['over']}: {other['status']}: {other.get('message', '')}"
        return measured["images_per_second"] / other["images_per_second"] - 1, ""
    if job.kind == "scale":  # "images_per_second 2": of two processes
        name, _, count = name.rpartition(" ")
        measured = next((r for r in result["rows"] if str(r["processes"]) == count), {})
        if measured.get(name) is not None:
            return measured[name], ""
        return None, f"not measured with {count} processes"
    value = result.get(name)
    return (value, "") if value is not None else (None, "not known")


def reasons(differences: list[dict]) -> str:
    """What `facebench.reports.why_not_comparable` found, as one sentence."""
    return "; ".join(
        d["what"] + (f" ({d['b']} here, {d['a']} there)" if d["a"] or d["b"] else "")
        for d in differences
    )


def cell_jobs(plan) -> dict:
    """{(table, row, column): the jobs of a cell, one a seed, or what is missing}, by numbers."""
    jobs_of = {}
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
